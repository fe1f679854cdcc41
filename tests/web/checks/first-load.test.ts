/** The bound on the first load: what passes it, what fails it, and that a wrong module is noticed. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { brotliSize, judge } from '../../checks/first-load.mjs';

const wasm = { path: 'assets/attention-relaxed-1.wasm', bytes: 1000 };

test('43 KB that cannot be compressed pass, 45 KB beside the module fail', () => {
  const page = (length: number) => ({ path: 'a.js', bytes: brotliSize(randomBytes(length)) });
  expect(() => judge('relaxed', [page(43_000), wasm])).not.toThrow();
  expect(() => judge('relaxed', [page(45_000), wasm])).toThrow(/more than 45000/);
});

test('text counts compressed', () => {
  expect(brotliSize(Buffer.from('attention '.repeat(10_000)))).toBeLessThan(100);
});

test('a page without a module, or with the other one, is not a first load', () => {
  expect(() => judge('relaxed', [{ path: 'a.js', bytes: 1 }])).toThrow(/loaded: none/);
  expect(() => judge('simd128', [wasm])).toThrow(/simd128 module and no other/);
});
