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
      expect(() => attention.setPast('presentKey', [1])).toThrow(
        'The array of past keys needs 0 numbers',
      );
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

test('a long cache is summed in blocks', async () => {
  const tk = 1e6;
  const v = new Float32Array(tk).fill(0.1);
  for (const tq of [1, 3, 4, 8]) {
    const zeros = { q: new Float32Array(tq), k: new Float32Array(tk) };
    const found = attend(await load(), { ...zeros, v }, { tq, tk, dK: 1, dV: 1 });
    // The mean of equal values, over sums of at most tk/96 blocks: k·eps·magnitude.
    for (const value of found)
      expect(Math.abs(value - 0.1)).toBeLessThan((tk / 96) * 2 ** -24 * 0.1);
  }
});

test('views of a session may be given, though the memory grows', async () => {
  const engine = await load({
    build: 'simd128',
    // An engine of its own, whose memory has not grown yet.
    wasmUrl: new URL('../../../web/core/generated/?views', import.meta.url),
  });
  const sizes = { tq: 1024, tk: 1024, dK: 64, dV: 64 };
  const session = engine.createSession();
  session.configure({ ...sizes, source: 'qkv' });
  session.setInput('v', new Float32Array(1024 * 64).fill(2));
  const [q, k, v] = [session.view('q'), session.view('k'), session.view('v')];
  const found = attend(engine, { q, k, v }, sizes);
  expect(v).toHaveLength(0);
  for (const value of found) expect(value).toBeCloseTo(2, 5);
  session.dispose();
});

test('a mask keeps numbers that float32 has not finite', async () => {
  const inputs = { q: [0], k: [0, 0], v: [1, 2] };
  const config = { tq: 1, tk: 2, dK: 1, dV: 1, mask: { kind: 'float', shape: [2] } } as const;
  const engine = await load();
  expect([...attend(engine, { ...inputs, mask: [-1e39, -Infinity] }, config)]).toEqual([1]);
  expect([...attend(engine, { ...inputs, mask: [1e39, 0] }, config)]).toEqual([1]);
  const session = engine.createSession();
  session.configure({ tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', masked: true });
  session.setInput('v', [1, 2]);
  session.setMask({ kind: 'float', shape: [2], values: [-1e39, -Infinity] });
  session.run();
  expect([...session.view('heads')]).toEqual([1]);
  session.dispose();
});

test.each([
  ['Q', { q: undefined }, {}, 'Q needs 1 numbers; found none.'],
  ['the layout', { layout: 'Heads' }, {}, 'The layout must be heads or tokens; found “Heads”.'],
  [
    'the mask',
    {},
    { mask: { kind: 'bool', shape: [1] } },
    'The kind of a mask must be float or boolean; found “bool”.',
  ],
])('what the types forbid is refused in words: %s', async (_, wrong, config, message) => {
  const inputs = { q: [1], k: [1], v: [1], ...wrong };
  const sizes = { tq: 1, tk: 1, dK: 1, dV: 1, ...config };
  expect(() => attend(engineOf, inputs as never, sizes as never)).toThrow(message);
});

test('a session refuses the same in the same words', () => {
  const session = engineOf.createSession();
  session.configure({ tq: 1, tk: 1, dK: 1, dV: 1, source: 'qkv', masked: true });
  expect(() => session.setInput('q', [1], 'Heads' as never)).toThrow(
    'The layout must be heads or tokens; found “Heads”.',
  );
  expect(() => session.setMask({ kind: 'bool' as never, shape: [1], values: [1] })).toThrow(
    'The kind of a mask must be float or boolean; found “bool”.',
  );
  session.dispose();
});

test('no name but those of the inputs is written', () => {
  const attention = engineOf.createAttention({ tq: 1, tk: 1, dK: 1, dV: 1 });
  expect(() => attention.setInput('mask' as never, [1])).toThrow(AttentionError);
  expect(() => attention.setPast('pastKey' as never, [1])).toThrow(AttentionError);
  attention.dispose();
});

test('a mask beyond all memory is too large, however its cells are counted', () => {
  const large = { heads: 4, tq: 32768, tk: 32768, dK: 1, dV: 1 };
  const mask = { kind: 'boolean', shape: [4, 32768, 32768] } as const;
  expect(() => engineOf.createAttention({ ...large, mask })).toThrow(
    expect.objectContaining({ code: 'tooLarge', subject: 'arena' }),
  );
});

let engineOf: Engine;
beforeAll(async () => {
  engineOf = await load();
});
