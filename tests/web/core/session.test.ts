/** Sessions on both builds: configuration, views, inputs, terms, errors and handles. */
import { describe, expect, test } from 'vitest';
import { type Build, load } from '../../../web/core/index.ts';

describe.each<Build>(['simd128', 'relaxed'])('%s', (build) => {
  test('the worked example comes out', async () => {
    const session = (await load({ build })).createSession();
    session.configure({ tq: 2, tk: 2, dK: 4, dV: 2, source: 'qkv' });
    session.setInput('q', [2, 0, 2, 0, 0, 4, 0, 2]);
    session.setInput('k', [1, 0, 1, 0, 0, 1, 0, 0]);
    session.setInput('v', [1, 2, 3, 0]);
    session.run();
    expect([...session.view('keyTransposed')]).toEqual([1, 0, 0, 1, 1, 0, 0, 0]);
    expect([...session.view('scaledScores')]).toEqual([2, 0, 0, 2]);
    const output = [...session.view('concat')];
    for (const [i, value] of [1.238405844, 1.761594156, 2.761594156, 0.238405844].entries()) {
      expect(output[i]).toBeCloseTo(value, 6);
    }
    session.dispose();
  });
});
