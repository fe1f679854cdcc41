/** Measures, in slices between which the page goes on, how fast attention is on this machine. */
import { pause } from '../core/pause.ts';
import type { Engine } from '../core/types.ts';
import type { Speed } from '../view/engine-panel.ts';
import { plainAttention } from './plain-loop.ts';

/** Queries, keys and their width in what is measured. */
const tokens = 256;
const width = 64;
/** Two for each multiply-add of Q·Kᵀ and of A·V; exponentials are not counted. */
const attentionFlops = 4 * tokens ** 2 * width;

/** Everybody takes turns: what disturbs the machine for a while disturbs all of them. */
const turns = 15;
/** A turn lasts at least so long, in milliseconds: browsers' clocks are coarse. */
const turnTime = 4;
const peakRounds = 100_000;

/** `onProgress` is told the part that is done, from 0 to 1. Rejects with the signal's reason. */
export async function measureSpeed(
  engine: Engine,
  signal: AbortSignal,
  onProgress: (part: number) => void,
): Promise<Speed> {
  const config = { tq: tokens, tk: tokens, dK: width, dV: width };
  const attention = engine.createAttention(config);
  try {
    const inputs = { q: waves(1), k: waves(2), v: waves(3) };
    attention.setInputs(inputs);
    const runners = {
      engine: [attentionFlops, () => attention.run()],
      peak: [engine.multiplyAdds(peakRounds), () => engine.multiplyAdds(peakRounds)],
      loop: [attentionFlops, () => plainAttention(inputs, tokens, width)],
    } as const;
    const names = Object.keys(runners) as (keyof typeof runners)[];
    const found = { engine: [] as number[], peak: [] as number[], loop: [] as number[] };
    // The first turn lets compilers do their work; it does not count.
    for (let turn = 0; turn <= turns; turn += 1) {
      for (const name of names) {
        const [flops, run] = runners[name];
        found[name].push(flops / secondsOf(run));
        await pause();
        signal.throwIfAborted();
      }
      onProgress(turn / turns);
    }
    const counted = (name: keyof typeof found) => found[name].slice(1);
    return {
      tokens,
      width,
      turns,
      engine: median(counted('engine')),
      peak: median(counted('peak')),
      loop: median(counted('loop')),
    };
  } finally {
    attention.dispose();
  }
}

/** Seconds of one run, of as many as fill a turn. */
function secondsOf(run: () => unknown): number {
  const begin = performance.now();
  let count = 0;
  let passed = 0;
  do {
    run();
    count += 1;
    passed = performance.now() - begin;
  } while (passed < turnTime);
  return passed / 1000 / count;
}

/** Numbers between −1 and 1 without a simple pattern. */
const waves = (frequency: number): Float32Array =>
  Float32Array.from({ length: tokens * width }, (_, i) => Math.sin(frequency * i * i));

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] as number;
}
