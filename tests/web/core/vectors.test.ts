/** Every vector of tests/vectors through both builds, every stage compared. */
import { describe, expect, test } from 'vitest';
import { type Build, load, type StageId, stageIds } from '../../../web/core/index.ts';
import { difference, vectors } from './vectors.ts';

describe.each<Build>(['simd128', 'relaxed'])('%s', (build) => {
  test.each(vectors)('$name', async ({ config, inputs, mask, past, expected }) => {
    const session = (await load({ build })).createSession();
    session.configure(config);
    for (const [stage, numbers] of Object.entries(inputs)) {
      session.setInput(stage as StageId, numbers.map(Number));
    }
    if (past) {
      session.setPast('presentKey', past.presentKey);
      session.setPast('presentValue', past.presentValue);
    }
    if (mask) session.setMask({ ...mask, values: mask.values.map(Number) });
    session.run();
    const present = stageIds.filter((stage) => session.has(stage));
    expect(present.sort()).toEqual([...Object.keys(inputs), ...Object.keys(expected)].sort());
    for (const [stage, right] of Object.entries(expected)) {
      const id = stage as StageId;
      const { batch, heads, rows, cols } = session.shape(id);
      expect([batch, heads, rows, cols], stage).toEqual(right.shape);
      expect(difference(stage, session.view(id), right)).toBe('');
    }
    session.dispose();
  });
});
