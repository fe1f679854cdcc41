/** Fused attention: every vector through both builds, ranges of rows, and bad input. */
import { describe, expect, test } from 'vitest';
import { attend, type Build, load } from '../../../web/core/index.ts';
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
});
