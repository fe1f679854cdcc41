/** The examples give, through the core, the numbers that the lessons state. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Engine, load, type Session, type StageId } from '../../../web/core/index.ts';
import { type PresetId, presetIds, presets } from '../../../web/lessons/presets.ts';
import { problemFrom } from '../../../web/state/problem.ts';
import { inputsOf, type Problem } from '../../../web/state/types.ts';

const presetProblem = (id: PresetId) => problemFrom(presets[id].parts);

let engine: Engine;
beforeAll(async () => {
  engine = await load();
});

function computed(problem: Problem): Session {
  const session = engine.createSession();
  const { sizes, source, context, outputProjection, scale } = problem;
  session.configure({
    ...sizes,
    source,
    context,
    outputProjection,
    ...(scale === null ? {} : { scale }),
  });
  for (const id of inputsOf(problem)) {
    const values = problem.inputs[id];
    if (values) session.setInput(id, values);
  }
  session.run();
  return session;
}

/**
 * Float32 carries about 7 digits; each number here is a sum of at most 64 products of numbers of at
 * most 20, so 2e-6 of the largest is ample room, and the 12 digits of the statements are beyond it.
 */
function expectNear(found: ArrayLike<number>, expected: number[]): void {
  expect(found.length).toBe(expected.length);
  const largest = Math.max(1, ...expected.map(Math.abs));
  for (const [index, value] of expected.entries()) {
    expect(Math.abs(found[index]! - value), `${index}: ${found[index]} for ${value}`).toBeLessThan(
      2e-6 * largest,
    );
  }
}

const row = (session: Session, stage: StageId, index: number): Float32Array => {
  const { cols } = session.shape(stage);
  return session.view(stage).slice(index * cols, (index + 1) * cols);
};

test.each(presetIds)('%s can be computed, and its numbers are finite', (id) => {
  expect(presets[id].name).not.toBe('');
  const session = computed(presetProblem(id));
  expect([...session.view('weights')].every(Number.isFinite)).toBe(true);
  expect([...session.view('heads')].every(Number.isFinite)).toBe(true);
  for (let query = 0; query < session.shape('weights').rows; ++query) {
    const sum = row(session, 'weights', query).reduce((total, weight) => total + weight, 0);
    expect(sum).toBeCloseTo(1, 6);
  }
  session.dispose();
});

const expected: Partial<Record<PresetId, Partial<Record<StageId, number[]>>>> = {
  worked: {
    keyTransposed: [1, 0, 0, 1, 1, 0, 0, 0],
    rawScores: [4, 0, 0, 4],
    scaledScores: [2, 0, 0, 2],
    weights: [0.880797077977882, 0.119202922022118, 0.119202922022118, 0.880797077977882],
    heads: [1.238405844, 1.761594156, 2.761594156, 0.238405844],
  },
  second: {
    rawScores: [4, 0, 2, 0, 4, 2, 1, 1, 1],
    heads: [0.935332675286, 2.30939579577, 2.08575344049, 1.15897503056, 1.33333333333, 2],
  },
  exercise1: {
    scaledScores: [2, 0],
    weights: [0.880797077978, 0.119202922022],
  },
  exercise2: {
    rawScores: [4, 4],
    scaledScores: [2, 2],
    weights: [0.5, 0.5],
    heads: [5, 10],
  },
  cat: {
    q: [-0.13, 0.67],
    k: [0.05, 0.08],
    v: [0.7, -0.24, 0.03],
    rawScores: [0.0471],
    scaledScores: [0.0333047293939],
    weights: [1],
    heads: [0.7, -0.24, 0.03],
  },
  layer: {
    q: [2, 0, 2, 0, 0, 4, 0, 2],
    k: [1, 0, 1, 0, 0, 1, 0, 0],
    v: [1, 2, 3, 0],
    heads: [1.238405844, 1.761594156, 2.761594156, 0.238405844],
  },
};

describe.each(Object.entries(expected))('%s', (id, stages) => {
  test.each(Object.entries(stages))('%s', (stage, values) => {
    const session = computed(presetProblem(id as PresetId));
    expectNear(session.view(stage as StageId), values);
    session.dispose();
  });
});

test('exercise 1 starts from a score of 16 at width 64', () => {
  const session = computed(presetProblem('exercise1'));
  expect(session.shape('q').cols).toBe(64);
  expect(session.view('rawScores')[0]).toBe(16);
  expect(session.scale).toBe(1 / 8);
  session.dispose();
});

test('exercise 2 keeps its numbers by a scale of its own', () => {
  const session = computed(presetProblem('exercise2'));
  expect(session.shape('q')).toMatchObject({ rows: 1, cols: 2 });
  expect(session.scale).toBe(0.5);
  session.dispose();
});

test('exercise 3 has every shape of its table', () => {
  const session = computed(presetProblem('exercise3'));
  const shapes: Partial<Record<StageId, [number, number]>> = {
    x: [4, 8],
    wq: [8, 4],
    wk: [8, 4],
    wv: [8, 4],
    q: [4, 4],
    k: [4, 4],
    keyTransposed: [4, 4],
    rawScores: [4, 4],
    scaledScores: [4, 4],
    weights: [4, 4],
    v: [4, 4],
    heads: [4, 4],
    wo: [4, 8],
    output: [4, 8],
  };
  for (const [stage, [rows, cols]] of Object.entries(shapes)) {
    expect(session.shape(stage as StageId), stage).toEqual({ batch: 1, heads: 1, rows, cols });
  }
  session.dispose();
});

test('“the cat sat”: who scores whom is not mutual', () => {
  const session = computed(presetProblem('catSat'));
  const [, cat, sat] = [0, 1, 2].map((query) => row(session, 'rawScores', query));
  expectNear(cat!, [-0.828, 0.0471, 1.431]);
  expect(sat![1]).toBeCloseTo(0.081, 6);
  expectNear(row(session, 'weights', 1), [0.128260648378, 0.238138789558, 0.633600562063]);
  expectNear(row(session, 'heads', 1), [-0.200637119709, -0.588145352855, 1.18379256597]);
  session.dispose();
});

test('the layer is as wide as its tokens, from X to the output', () => {
  const session = computed(presetProblem('layer'));
  expect(session.shape('x')).toMatchObject({ rows: 2, cols: 8 });
  expect(session.shape('wo')).toMatchObject({ rows: 2, cols: 8 });
  expect(session.shape('output')).toMatchObject({ rows: 2, cols: 8 });
  session.dispose();
});

test('equal scores share out evenly: the output is the mean of V', () => {
  const session = computed(presetProblem('equal'));
  const { rows, cols } = session.shape('weights');
  const values = session.view('v');
  const width = session.shape('v').cols;
  const means = Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let key = 0; key < cols; ++key) sum += values[key * width + column]!;
    return sum / cols;
  });
  expectNear(session.view('weights'), new Array(rows * cols).fill(1 / cols));
  expectNear(session.view('heads'), new Array(rows).fill(means).flat());
  session.dispose();
});

test('a saturated row gives nearly everything to one key', () => {
  const session = computed(presetProblem('saturated'));
  expect(Math.max(...row(session, 'weights', 0))).toBeGreaterThan(0.9999);
  session.dispose();
});

test('a query of zeros listens to everybody alike', () => {
  const session = computed(presetProblem('zeroQuery'));
  expect([...row(session, 'q', 0)].every((value) => value === 0)).toBe(true);
  const keys = session.shape('weights').cols;
  expectNear(row(session, 'weights', 0), new Array(keys).fill(1 / keys));
  expect(Math.max(...row(session, 'weights', 1))).toBeGreaterThan(0.5);
  session.dispose();
});

test('cross-attention has other keys than queries', () => {
  const crossed = computed(presetProblem('cross'));
  const own = computed(presetProblem('catSat'));
  expect(crossed.shape('weights')).toMatchObject({ rows: 2, cols: 3 });
  expect([...crossed.view('k')]).toEqual([...own.view('k')]);
  expect([...crossed.view('v')]).toEqual([...own.view('v')]);
  crossed.dispose();
  own.dispose();
});
