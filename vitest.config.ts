/** Runs the TypeScript tests in Node, with relaxed SIMD switched on where Node hides it. */
import { defineConfig } from 'vitest/config';

// A module whose one function is `f32x4.relaxed_madd(a, b, c)`.
const relaxedProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0,
  32, 0, 32, 1, 32, 2, 253, 133, 2, 11,
]);

export default defineConfig({
  test: {
    // A guard against hanging, not a measure of speed: machines are shared.
    testTimeout: 120_000,
    include: ['tests/web/**/*.test.ts'],
    // Node 20 knows the flag and needs it; newer ones have the feature and refuse the flag.
    execArgv:
      process.versions.node.startsWith('20.') && !WebAssembly.validate(relaxedProbe)
        ? ['--experimental-wasm-relaxed-simd']
        : [],
    // Their `new URL(…, import.meta.url)` must stay a file address under happy-dom, too.
    server: { deps: { external: [/\/core\/generated\//] } },
  },
});
