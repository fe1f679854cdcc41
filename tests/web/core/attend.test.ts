/** Fused attention: every vector through both builds, ranges of rows, and bad input. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Attention,
  type AttentionConfig,
  AttentionError,
  attend,
  type Build,
  type Engine,
  load,
} from '../../../web/core/index.ts';
import { difference, type Vector, vectors } from './vectors.ts';

/** The numbers of a stage, given or computed by the generator. */
function stageOf({ inputs, expected }: Vector, stage: 'q' | 'k' | 'v'): number[] {
  return (inputs[stage] ?? expected[stage]?.data ?? []).map(Number);
}

describe.each<Build>(['simd128', 'relaxed'])('%s', (build) => {
  test.each(vectors)('$name', async (vector) => {
    const { config, mask, past, expected } = vector;
    const heads = attend(
      await load({ build }),
      {
        q: stageOf(vector, 'q'),
        k: stageOf(vector, 'k'),
        v: stageOf(vector, 'v'),
        ...(past ? { pastKey: past.presentKey, pastValue: past.presentValue } : {}),
        ...(mask ? { mask: mask.values.map(Number) } : {}),
      },
      { ...config, ...(mask ? { mask } : {}) },
    );
    if (!expected.heads) throw new Error('there are no heads');
    expect(difference('heads', heads, expected.heads)).toBe('');
  });

  describe('the object', () => {
    let engine: Engine;
    const open: Attention[] = [];
    const create = (config: AttentionConfig) => {
      const attention = engine.createAttention(config);
      open.push(attention);
      return attention;
    };
    beforeAll(async () => {
      engine = await load({ build });
    });
    afterEach(() => {
      for (const attention of open.splice(0)) attention.dispose();
    });

    const small = { tq: 2, tk: 3, dK: 1, dV: 2 } as const;
    const fill = (attention: Attention) => {
      attention.setInput('q', [1, 0]);
      attention.setInput('k', [0, 0, 0]);
      attention.setInput('v', [1, 2, 3, 4, 5, 6]);
    };

    test('inputs stay, and a range of rows leaves the others alone', () => {
      const attention = create(small);
      fill(attention);
      attention.run(1, 2);
      // Scores of 0 make every row the mean of the values.
      expect([...attention.output]).toEqual([0, 0, 3, 4]);
      attention.run();
      expect([...attention.output]).toEqual([3, 4, 3, 4]);
      attention.setInput('v', [0, 0, 0, 0, 3, 6]);
      attention.run(0, 1);
      expect([...attention.output]).toEqual([1, 2, 3, 4]);
      expect(attention.rows).toBe(2);
      expect(attention.scale).toBe(1);
    });

    test('tokens with their heads side by side are told apart', () => {
      const attention = create({ heads: 2, kvHeads: 2, tq: 1, tk: 2, dK: 1, dV: 1 });
      attention.setInput('q', [0, 0], 'tokens');
      attention.setInput('k', [0, 0, 0, 0], 'tokens');
      attention.setInput('v', [1, 10, 3, 30], 'tokens');
      attention.run();
      expect([...attention.output]).toEqual([2, 20]);
    });

    test('past rows stand in front, and a causal query sees them', () => {
      const attention = create({ tq: 2, tk: 4, past: 2, dK: 1, dV: 1, causal: true });
      attention.setInput('q', [0, 0]);
      attention.setInput('k', [0, 0]);
      attention.setPast('presentKey', [0, 0]);
      attention.setPast('presentValue', [3, 6]);
      attention.setInput('v', [9, 2]);
      attention.run();
      expect([...attention.output]).toEqual([6, 5]);
    });

    test('a refused mask hides nothing, a good one does', () => {
      const attention = create({ ...small, mask: { kind: 'boolean', shape: [2, 3] } });
      fill(attention);
      attention.setMask([true, false, false, false, false, false]);
      attention.run();
      expect([...attention.output]).toEqual([1, 2, 0, 0]);
      expect(() => attention.setMask([1, 0, 0, 1, 2, 0])).toThrow(
        'The mask holds 2 at [1, 1]; a boolean mask holds 0 and 1',
      );
      attention.run();
      expect([...attention.output]).toEqual([3, 4, 3, 4]);
    });

    test('a refused configuration keeps the former one', () => {
      const attention = create(small);
      fill(attention);
      const refused: [Partial<AttentionConfig>, string][] = [
        [
          { tq: 1.5 },
          'T_q, the number of queries, must be a whole number of at least 0; found 1.5.',
        ],
        [{ heads: 3, kvHeads: 2 }, 'The number of query heads must be a multiple of 2; found 3.'],
        [{ scale: Number.NaN }, 'The scale must be a finite float32 number; found NaN.'],
        [{ mask: { kind: 'float', shape: [4] } }, "The mask's axis of keys is 4"],
        [{ validLengths: [4] }, 'A valid length may be at most 3; found 4.'],
        [{ tk: 2 ** 26, dK: 64 }, 'at most 256 MB fit'],
      ];
      for (const [change, sentence] of refused) {
        expect(() => attention.configure({ ...small, ...change })).toThrow(sentence);
      }
      attention.run();
      expect([...attention.output]).toEqual([3, 4, 3, 4]);
    });

    test('bad input is named', () => {
      const attention = create(small);
      expect(() => attention.setInput('k', [1, 2])).toThrow('K needs 3 numbers; found 2.');
      expect(() => attention.setPast('presentKey', [1])).toThrow('The past keys needs 0 numbers');
      expect(() => attention.setMask([1])).toThrow('The mask does not exist');
      expect(() => attention.run(0, 3)).toThrow('must begin and end between 0 and 2; found 3.');
      expect(() => create({ ...small, dK: -1 })).toThrow(AttentionError);
      attention.dispose();
      expect(() => attention.run()).toThrow('disposed');
    });

    test('8192 tokens fit in 24 MB, and nothing but configure makes memory grow', async () => {
      // An instance of its own: memory never shrinks.
      const fresh = await load({
        build,
        wasmUrl: new URL('../../../web/core/generated/', import.meta.url),
      });
      const attention = fresh.createAttention({ tq: 8192, tk: 8192, dK: 64, dV: 64, causal: true });
      const { total } = fresh.memory();
      expect(total).not.toBeGreaterThan(24 * 2 ** 20);
      attention.setInput('v', new Float32Array(8192 * 64).fill(2));
      attention.run(8000, 8192);
      expect(attention.output.subarray(8000 * 64).every((cell) => cell === 2)).toBe(true);
      expect(fresh.memory().total).toBe(total);
      attention.dispose();
    });
  });
});
