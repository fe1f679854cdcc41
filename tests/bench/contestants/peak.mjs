/** The most that one thread can multiply and add on registers alone, as each build does it. */
import { readBytes } from './contestant.mjs';

const rounds = 100_000;

/**
 * @param {'relaxed' | 'simd128'} build
 * @returns {Promise<{ run: () => number, flops: number }>} rejected where the build cannot run
 */
export async function preparePeak(build) {
  const bytes = await readBytes(new URL(`../generated/peak-${build}.wasm`, import.meta.url));
  const { instance } = await WebAssembly.instantiate(bytes);
  const { peak, peak_flops } =
    /** @type {Record<'peak' | 'peak_flops', (...args: number[]) => number>} */ (instance.exports);
  return { run: () => peak(rounds, 0.99, 0.01), flops: rounds * peak_flops() };
}
