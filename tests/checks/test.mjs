/** `npm test`: the native tests (three ways), Vitest, and the browser tests on the built site. */
import { ensurePackages, ensureTestChromium, run, runMain } from '../../wasm/toolchain/setup.mjs';
import { buildPackage, buildSite } from '../../wasm/toolchain/site.mjs';
import { buildWasm } from '../../wasm/toolchain/wasm.mjs';
import { runParts } from './parts.mjs';

await runMain(async () => {
  ensurePackages('native');
  buildWasm();
  await ensureTestChromium();
  const native = (/** @type {string} */ preset) => () =>
    run('cmake', ['--workflow', '--preset', preset]);
  await runParts({
    'native, ASan and UBSan': native('native-asan'),
    'native, optimised': native('native-release'),
    'native, optimised, without vectors': native('native-scalar'),
    'TypeScript and both WASM builds in Node': () => run('node_modules/.bin/vitest', ['run']),
    'the built site in Chromium': () => {
      buildSite();
      buildPackage();
      run('node_modules/.bin/playwright', ['test', '--config', 'tests/browser']);
    },
  });
});
