/** A known answer that a freshly loaded build must give before its numbers are trusted. */
import { AttentionError } from './errors.ts';
import type { ForwardEngine } from './types.ts';

// Two keys, two values and two queries, each repeated so often that whole vectors and every kind
// of remainder occur. Repeating all keys alike leaves the outputs as they are for one of each.
const queries = [
  [2, 0, 2, 0],
  [0, 4, 0, 2],
] as const;
const keys = [
  [1, 0, 1, 0],
  [0, 1, 0, 0],
] as const;
const values = [
  [1, 2],
  [3, 0],
] as const;
// w = e²/(e² + 1): the outputs are w·v₀ + (1 − w)·v₁ and the other way round.
const answers = [
  [1.2384058440442351, 1.7615941559557649],
  [2.7615941559557649, 0.2384058440442351],
] as const;
const tq = 5;
const tk = 22; // eleven of each key
const dV = 15;
const tolerance = 1e-6;

export function selfTest(engine: ForwardEngine): void {
  const session = engine.createSession();
  try {
    session.configure({ tq, tk, dK: 4, dV, source: 'qkv' });
    session.setInput('q', repeat(queries, tq, 4));
    session.setInput('k', repeat(keys, tk, 4));
    session.setInput('v', repeat(values, tk, dV));
    session.run();
    const found = session.view('concat');
    for (const [i, expected] of repeat(answers, tq, dV).entries()) {
      // Written so that NaN fails, too.
      if (!(Math.abs((found[i] as number) - expected) <= tolerance)) {
        throw new AttentionError('selfTestFailed', engine.build, found[i], expected);
      }
    }
  } finally {
    session.dispose();
  }
}

/** rows × cols numbers, the cells of `pattern` repeated downwards and to the right. */
function repeat(pattern: readonly (readonly number[])[], rows: number, cols: number): number[] {
  return Array.from({ length: rows * cols }, (_, i) => {
    const row = pattern[Math.floor(i / cols) % pattern.length] as readonly number[];
    return row[(i % cols) % row.length] as number;
  });
}
