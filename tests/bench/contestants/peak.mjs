/** The most that one thread can multiply and add on registers alone, as each build does it. */

import { core } from './ours.mjs';

const rounds = 100_000;

/**
 * @param {'relaxed' | 'simd128'} build
 * @returns {Promise<{ run: () => number, flops: number }>} rejected where the build cannot run
 */
export async function preparePeak(build) {
  const engine = await (await core()).load({ build });
  const run = () => engine.multiplyAdds(rounds);
  return { run, flops: run() };
}
