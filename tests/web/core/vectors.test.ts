/** Every vector of tests/vectors through both builds of every module that can take it. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Build, load, type StageId, stageIds } from '../../../web/core/index.ts';
import { loadForward } from '../../../web/core/load.ts';
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

  const forward = vectors.filter(
    ({ config, mask, past }) => !config.gradients && !config.validLengths && !mask && !past,
  );

  test.each(forward)('the forward pass alone: $name', async ({ config, inputs, expected }) => {
    const session = (await loadForward({ build })).createSession();
    session.configure(config);
    for (const [stage, numbers] of Object.entries(inputs)) {
      session.setInput(stage as StageId, numbers.map(Number));
    }
    session.run();
    for (const [stage, right] of Object.entries(expected)) {
      expect(difference(stage, session.view(stage as StageId), right)).toBe('');
    }
    const { rows, cols } = session.shape('weights');
    const weights = session.view('weights').subarray(0, cols);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    if (rows > 0) expect(Math.abs(session.rowSum(0, 0, 0) - sum)).not.toBeGreaterThan(1e-6);
    session.dispose();
  });

  test('the forward module refuses gradients', async () => {
    const session = (await loadForward({ build })).createSession();
    const config = { tq: 1, tk: 1, dK: 1, dV: 1, source: 'qkv', gradients: true } as const;
    expect(() => session.configure(config)).toThrow(/gradients/);
    session.dispose();
  });
});

test('the two builds of the forward module have the same script', () => {
  const [relaxed, simd128] = ['forward-relaxed', 'forward-simd128'].map((name) =>
    readFileSync(
      new URL(`../../../web/core/generated/${name}.mjs`, import.meta.url),
      'utf8',
    ).replaceAll(name, 'forward'),
  );
  expect(relaxed).toBe(simd128);
});
