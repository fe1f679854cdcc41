/** How every test starts Chromium, and how one makes it a browser without relaxed SIMD. */

/** As root there is no sandbox to be had, and nothing here may reach the network. */
export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** For `addInitScript`: nothing that holds an `f32x4.relaxed_madd` is valid. */
export const refuseRelaxed = `{
  const { validate } = WebAssembly;
  WebAssembly.validate = (bytes) =>
    !new Uint8Array(bytes).join().includes('253,133,2') && validate(bytes);
}`;
