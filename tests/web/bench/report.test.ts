/** The figures of the benchmarks' tables, from rounds made by hand. */
import { expect, test } from 'vitest';
import { flopsOf } from '../../bench/cases.mjs';
import { rowsOf, verdict } from '../../bench/report.mjs';

const problem = { heads: 2, tq: 3, tk: 5, d: 7, causal: false, resident: false };
const item = { suite: 's', name: 'c', problem, targets: {}, field: 'all' } as const;

const sample = (
  name: string,
  role: 'ours' | 'peer' | 'baseline' | 'peak',
  ms: (number | null)[],
  flops: number | null = null,
) => ({ name, role, peak: 'simd128' as const, ms, flops, memory: null });

test('operations are counted for the pairs that are computed', () => {
  expect(flopsOf(problem)).toBe(4 * 2 * 3 * 5 * 7);
  // 1 + 2 + 3 + 4 keys are seen.
  expect(flopsOf({ ...problem, heads: 1, tq: 4, tk: 4, causal: true })).toBe(4 * 10 * 7);
});

test('a ratio compares with the fastest peer of each round, a share with the peak of each round', () => {
  const rows = rowsOf(item, 'chromium', {
    samples: [
      sample('ours', 'ours', [1, 2, 4]),
      sample('a', 'peer', [2, 8, 6]),
      sample('b', 'peer', [3, 4, 12]),
      sample('slow', 'baseline', [20, null, null]),
      sample('peak', 'peak', [0.5, 0.5, 2], 840),
    ],
    absent: [],
  });
  const [ours, a, , slow, peak] = rows;
  // Per round 2/1, 4/2, 6/4; the case has 840 operations, as many as a run of the peak.
  expect(ours).toMatchObject({ medianMs: 2, bestMs: 1, ratio: 2, shareOfPeak: 0.5 });
  expect(ours?.gflops).toBeCloseTo(840 / 2e6, 12);
  expect(ours?.spread).toBe((3 - 1.5) / 2);
  // 2/2, 4/8, 6/6
  expect(a?.ratio).toBe(1);
  expect(slow).toMatchObject({ medianMs: 20, ratio: 0.1, shareOfPeak: 0.025 });
  expect(peak).toMatchObject({ shareOfPeak: 1, ratio: null });
});

test('workers are compared with one thread of the same build, round by round', () => {
  const rows = rowsOf(item, 'chromium', {
    samples: [
      sample('fused-simd128', 'ours', [4, 6, 9]),
      sample('workers-simd128', 'ours', [2, 4, 3]),
    ],
    absent: [],
  });
  // 4/2, 6/4, 9/3
  expect(rows.map(({ overOneThread }) => overOneThread)).toEqual([undefined, 2]);
});

test('without peers there is no ratio', () => {
  const [row] = rowsOf(item, 'node', { samples: [sample('ours', 'ours', [1])], absent: [] });
  expect(row).toMatchObject({ ratio: null, shareOfPeak: null });
});

test('a target is met from the side that is better', () => {
  const text = String;
  expect(verdict('ratio', 1.5, [1.5, 2], text, 'more')).toMatch(/: must met$/);
  expect(verdict('ratio', 1.4, [1.5, 2], text, 'more')).toMatch(/: NOT met$/);
  expect(verdict('ratio', 2, [1.5, 2], text, 'more')).toMatch(/: aim met$/);
  expect(verdict('bytes', 40, [45, 38], text, 'less')).toMatch(/: must met$/);
  expect(verdict('bytes', 46, [45, 38], text, 'less')).toMatch(/: NOT met$/);
});
