/** Sessions on both builds: configuration, views, inputs, terms, refusals and handles. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  AttentionError,
  type Build,
  type CellRef,
  type Engine,
  liveSessionCount,
  load,
  type Session,
  type SessionConfig,
  stageIds,
} from '../../../web/core/index.ts';

const worked: SessionConfig = { tq: 2, tk: 2, dK: 4, dV: 2, source: 'qkv' };
const layer: SessionConfig = { ...worked, dModel: 8, source: 'x', outputProjection: true };

/** Asks for more memory than any earlier configuration has. */
let rows = 10_000;
function grow(session: Session): void {
  rows *= 2;
  session.configure({ tq: rows, tk: 1, dK: 64, dV: 1, source: 'qkv' });
}

function cell(stage: CellRef['stage'], row: number, col: number): CellRef {
  return { stage, batch: 0, head: 0, row, col };
}

function errorOf(action: () => void): AttentionError {
  try {
    action();
  } catch (error) {
    if (error instanceof AttentionError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe.each<Build>(['simd128', 'relaxed'])('%s', (build) => {
  let engine: Engine;
  let session: Session;

  beforeAll(async () => {
    engine = await load({ build });
  });

  beforeEach(() => {
    session = engine.createSession();
    session.configure(worked);
    session.setInput('q', [2, 0, 2, 0, 0, 4, 0, 2]);
    session.setInput('k', [1, 0, 1, 0, 0, 1, 0, 0]);
    session.setInput('v', [1, 2, 3, 0]);
    session.run();
    return () => session.dispose();
  });

  test('stages follow the configuration', () => {
    expect(session.has('x')).toBe(false);
    expect(session.has('output')).toBe(false);
    expect(session.stage('q')).toMatchObject({ operation: 'given', operands: [] });
    expect(session.stage('rowMax').operands).toEqual(['scaledScores']);
    session.configure(layer);
    expect(session.has('output')).toBe(true);
    expect(session.stage('q')).toMatchObject({ operation: 'matmul', operands: ['x', 'wq'] });
    expect(session.stage('k').operands).toEqual(['x', 'wk']);
    session.configure({ ...layer, tk: 5, context: true });
    expect(session.stage('k').operands).toEqual(['xContext', 'wk']);
    expect(session.shape('xContext')).toEqual({ batch: 1, heads: 1, rows: 5, cols: 8 });
  });

  test('the scale is 1/√d_k unless given, and 0 is given', () => {
    expect(session.scale).toBe(0.5);
    session.configure({ ...worked, scale: 0 });
    expect(session.scale).toBe(0);
    session.configure({ ...worked, scale: undefined });
    expect(session.scale).toBe(0.5);
  });

  test('configure zeroes the inputs', () => {
    session.configure(worked);
    expect([...session.view('q')]).toEqual(new Array(8).fill(0));
  });

  test('views survive growth of the memory by another session', () => {
    const before = session.view('weights');
    const copy = [...before];
    const other = engine.createSession();
    grow(other);
    // The old view is detached, which is what makes the test a test.
    expect(before.length).toBe(0);
    expect([...session.view('weights')]).toEqual(copy);
    session.setInput('v', [5, 6, 7, 8]);
    expect([...session.view('v')]).toEqual([5, 6, 7, 8]);
    expect(session.terms(cell('rawScores', 0, 0)).value).toBe(4);
    other.dispose();
  });

  test('no call but configure makes memory grow', () => {
    session.configure({ tq: 100, tk: 100, dK: 50, dV: 50, source: 'qkv' });
    const { buffer } = session.view('q');
    for (let i = 0; i < 20; i += 1) {
      session.run();
      for (const stage of stageIds) {
        if (!session.has(stage)) continue;
        session.view(stage);
        session.terms(cell(stage, 0, 0));
      }
    }
    expect(session.view('q').buffer).toBe(buffer);
  });

  test('the terms of a raw score are its products', () => {
    const { operation, value, terms } = session.terms(cell('rawScores', 1, 1));
    expect(operation).toBe('matmul');
    expect(value).toBe(4);
    expect(terms.map(({ partial }) => partial)).toEqual([0, 4, 0, 0]);
    expect(terms[1]?.operands).toEqual([
      { ref: cell('q', 1, 1), value: 4 },
      { ref: cell('keyTransposed', 1, 1), value: 1 },
    ]);
  });

  test('a constant among the operands has no place', () => {
    expect(session.terms(cell('scaledScores', 0, 0))).toMatchObject({
      operation: 'scale',
      value: 2,
      terms: [
        {
          operands: [
            { ref: cell('rawScores', 0, 0), value: 4 },
            { ref: null, value: 0.5 },
          ],
          partial: 2,
        },
      ],
    });
    expect(session.terms(cell('q', 0, 0))).toMatchObject({ operation: 'given', terms: [] });
  });

  test('only the past is written as the past, and a view may be given back', () => {
    session.configure({ tq: 2, tk: 2, dK: 2, dV: 1, heads: 2, source: 'qkv' });
    expect(() => session.setPast('q' as never, [])).toThrow('Q is computed from');
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
    session.setInput('q', numbers);
    session.setInput('q', session.view('q'), 'tokens');
    expect([...session.view('q')]).toEqual([1, 2, 5, 6, 3, 4, 7, 8]);
  });

  test('more terms than one call of the core returns arrive in order', () => {
    session.configure({ tq: 1, tk: 1, dK: 100, dV: 1, source: 'qkv' });
    session.setInput(
      'q',
      Array.from({ length: 100 }, (_, i) => i),
    );
    session.setInput('k', new Array(100).fill(1));
    session.run();
    const { terms, value } = session.terms(cell('rawScores', 0, 0));
    expect(terms.map(({ partial }) => partial)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(value).toBe(4950);
  });

  test('an input is read from its own offset and left alone', () => {
    const whole = Float32Array.from({ length: 10 }, (_, i) => i);
    const part = new Float32Array(whole.buffer, 8, 4);
    session.setInput('v', part);
    session.run();
    expect([...session.view('v')]).toEqual([2, 3, 4, 5]);
    expect([...whole]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(whole.buffer.byteLength).toBe(40);
  });

  test.each<[string, SessionConfig, Partial<AttentionError>]>([
    ['a fraction', { ...worked, tq: 1.5 }, { code: 'badSize', subject: 'tq', found: 1.5 }],
    ['NaN', { ...worked, dV: Number.NaN }, { code: 'badSize', subject: 'dV', found: Number.NaN }],
    ['a negative size', { ...worked, dK: -1 }, { code: 'badSize', subject: 'dK', found: -1 }],
    ['no batch', { ...worked, batch: 0 }, { code: 'badSize', subject: 'batch', expected: 1 }],
    ['H and G', { ...worked, heads: 3, kvHeads: 2 }, { code: 'notMultiple', subject: 'heads' }],
    ['T_k ≠ T_q', { ...layer, tk: 3 }, { code: 'sizeMismatch', found: 3, expected: 2 }],
    ['a huge size', { ...worked, tq: 1e300 }, { code: 'tooLarge', subject: 'tq', found: 1e300 }],
    ['scale NaN', { ...worked, scale: Number.NaN }, { code: 'badNumber', subject: 'scale' }],
    ['scale 1e300', { ...worked, scale: 1e300 }, { code: 'badNumber', found: 1e300 }],
    [
      'one cell more than the arena',
      { tq: 0, tk: 2 ** 20 + 1, dK: 0, dV: 64, source: 'qkv' },
      { code: 'tooLarge', subject: 'arena', found: 2 ** 28 + 256, expected: 2 ** 28 },
    ],
  ])('%s is refused and the old numbers stay', (_name, config, facts) => {
    const weights = [...session.view('weights')];
    expect(errorOf(() => session.configure(config))).toMatchObject(facts);
    expect([...session.view('weights')]).toEqual(weights);
    expect(session.stage('q').operation).toBe('given');
  });

  test('nothing at all is a legal size', () => {
    session.configure({ tq: 0, tk: 0, dK: 0, dV: 0, source: 'qkv' });
    session.run();
    expect(session.view('weights').length).toBe(0);
    expect(session.shape('concat')).toEqual({ batch: 1, heads: 1, rows: 0, cols: 0 });
  });

  test('a full arena fits', () => {
    const large = engine.createSession();
    large.configure({ tq: 0, tk: 2 ** 20, dK: 0, dV: 64, source: 'qkv' });
    expect(large.view('v').length).toBe(2 ** 26);
    large.dispose();
  });

  test('wrong stages, lengths and cells are refused', () => {
    expect(errorOf(() => session.view('x'))).toMatchObject({ code: 'stageAbsent', subject: 'x' });
    expect(errorOf(() => session.setInput('weights', [1, 0, 0, 1])).code).toBe('notGiven');
    expect(errorOf(() => session.setInput('v', [1, 2, 3]))).toMatchObject({
      code: 'wrongLength',
      found: 3,
      expected: 4,
      message: 'V needs 4 numbers; found 3.',
    });
    for (const row of [2, -1, 0.5, Number.NaN]) {
      const error = errorOf(() => session.terms(cell('weights', row, 0)));
      expect(error.code).toBe('cellOutsideStage');
    }
  });

  test('a disposed session says so, and handles are counted', () => {
    const before = liveSessionCount();
    const other = engine.createSession();
    expect(liveSessionCount()).toBe(before + 1);
    other.dispose();
    other.dispose();
    expect(liveSessionCount()).toBe(before);
    expect(errorOf(() => other.run()).code).toBe('disposed');
  });

  test('a run in steps, however they are divided, gives the same bits', () => {
    const config: SessionConfig = {
      ...{ heads: 4, kvHeads: 2, tq: 300, tk: 300, dK: 24, dV: 17, dModel: 9, source: 'x' },
      ...{ outputProjection: true, masked: true, causal: true, gradients: true },
    };
    const fill = (one: Session) => {
      one.configure(config);
      for (const id of ['x', 'wq', 'wk', 'wv', 'wo', 'dOutput'] as const) one.fillNormal(id, 5);
      one.setMask({ kind: 'float', shape: [1], values: [0.5] });
    };
    fill(session);
    session.run();
    const parts = engine.createSession();
    fill(parts);
    // 4 heads of 300 rows, of which 2²¹ / (300 · 24) are one step of the raw scores: 2 steps a head.
    expect(parts.steps).toBe(session.steps);
    expect(parts.steps).toBeGreaterThan(2 * 4 * 8);
    for (let step = 0, size = 1; step < parts.steps; size = (size % 5) + 1) {
      const last = Math.min(step + size, parts.steps);
      parts.run(step, last);
      step = last;
    }
    for (const id of stageIds.filter((stage) => session.has(stage))) {
      const bits = (one: Session) => Buffer.from(one.view(id).slice().buffer);
      expect(bits(parts).equals(bits(session)), id).toBe(true);
    }
    parts.dispose();
  });

  test('steps outside the run are refused', () => {
    for (const [first, last] of [
      [-1, 1],
      [0, session.steps + 1],
      [0.5, 1],
    ] as const) {
      expect(errorOf(() => session.run(first, last)).message).toMatch(
        /^A range of steps must begin and end between 0 and \d+; found -?[\d.]+\.$/,
      );
    }
  });
});
