/** What is measured, and what it is measured against: the suites, their cases, and the targets. */

/**
 * One attention problem: softmax(Q·Kᵀ/√d)·V of each head, Q [heads, tq, d], K and V [heads, tk, d].
 * @typedef {object} Problem
 * @property {number} heads
 * @property {number} tq
 * @property {number} tk
 * @property {number} d
 * @property {boolean} causal query i sees keys 0 to i
 * @property {boolean} resident K and V are where the contestant keeps them; only Q comes in anew
 */

/**
 * A figure that must be reached and one to aim at, for each of our builds. `ratio` is how many times
 * as fast as the fastest peer, `share` the part of the measured peak, `staged` the time of the
 * staged path in times of the fused one, `workers` how many times as fast two workers are as one
 * thread, `memory` the WASM memory in MB.
 * @typedef {{ relaxed: [must: number, aim: number], simd128: [must: number, aim: number] }} Bounds
 * @typedef {{ ratio?: Bounds, share?: Bounds, staged?: Bounds, workers?: Bounds, memory?: Bounds }} Targets
 */

/**
 * Who takes part: everybody, the fused path alone, or that and the same in two workers.
 * @typedef {'all' | 'fused' | 'workers'} Field
 */

/**
 * @typedef {object} Case
 * @property {string} suite
 * @property {string} name
 * @property {Problem} problem
 * @property {Targets} targets
 * @property {Field} field
 */

/** @type {Bounds} */
const large = { relaxed: [1.75, 1.9], simd128: [1.33, 1.4] };
/** @type {Bounds} */
const share = { relaxed: [0.86, 0.9], simd128: [0.85, 0.88] };
/** @type {Bounds} */
const decode = { relaxed: [1.2, 1.8], simd128: [1.1, 1.4] };

/** @type {Bounds} */
const twoWorkers = { relaxed: [1.6, 1.85], simd128: [1.6, 1.85] };

/** @type {Case[]} */
export const cases = [
  square('single', 64, 64, { ratio: { relaxed: [1.85, 2.2], simd128: [1.5, 1.8] } }),
  square('single', 256, 64, { ratio: { relaxed: [1.75, 1.9], simd128: [1.33, 1.45] } }),
  square('single', 1024, 64, {
    ratio: large,
    staged: { relaxed: [2.5, 1.8], simd128: [2.5, 1.8] },
  }),
  square('single', 2048, 64, { ratio: large, share }),
  square('single', 4096, 64, { ratio: large, share }),
  square('single', 1024, 128, { ratio: { relaxed: [1.55, 1.7], simd128: [1.18, 1.25] } }),
  {
    ...square('causal', 2048, 64, { ratio: { relaxed: [3, 3.5], simd128: [2.3, 2.7] } }),
    problem: { heads: 1, tq: 2048, tk: 2048, d: 64, causal: true, resident: false },
  },
  {
    suite: 'heads',
    name: '8x512x64',
    problem: { heads: 8, tq: 512, tk: 512, d: 64, causal: false, resident: false },
    targets: { ratio: { relaxed: [1.75, 1.9], simd128: [1.33, 1.45] } },
    field: 'all',
  },
  // Beside each other these two tell how time and memory grow.
  { ...square('long', 4096, 64, { share }), field: 'fused' },
  {
    ...square('long', 8192, 64, { share, memory: { relaxed: [24, 24], simd128: [24, 24] } }),
    field: 'fused',
  },
  ...[512, 1024].map((t) => ({
    ...square('workers', t, 64, {}),
    field: /** @type {Field} */ ('workers'),
  })),
  ...[2048, 4096].map((t) => ({
    ...square('workers', t, 64, { workers: twoWorkers }),
    field: /** @type {Field} */ ('workers'),
  })),
  {
    suite: 'decode',
    name: '8x8192x64-resident',
    problem: { heads: 8, tq: 1, tk: 8192, d: 64, causal: false, resident: true },
    targets: { ratio: decode },
    field: 'all',
  },
  {
    suite: 'decode',
    name: '8x8192x64-copied',
    problem: { heads: 8, tq: 1, tk: 8192, d: 64, causal: false, resident: false },
    targets: { ratio: decode },
    field: 'all',
  },
];

/** @type {(suite: string, t: number, d: number, targets: Targets) => Case} */
function square(suite, t, d, targets) {
  const problem = { heads: 1, tq: t, tk: t, d, causal: false, resident: false };
  return { suite, name: `${t}x${d}`, problem, targets, field: 'all' };
}

/** Two products of 2·d operations for every pair of a query and a key that it sees. */
export function flopsOf(/** @type {Problem} */ { heads, tq, tk, d, causal }) {
  const pairs = causal ? (tq * (tq + 1)) / 2 : tq * tk;
  return 4 * heads * pairs * d;
}
