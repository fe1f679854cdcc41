/** Masks, causal order, valid lengths, past keys and heads through the typed API of both builds. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  AttentionError,
  type Build,
  type Engine,
  load,
  type Mask,
  type Session,
  type SessionConfig,
} from '../../../web/core/index.ts';

const hidden = Number.NEGATIVE_INFINITY;

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
    return () => session.dispose();
  });

  /** Queries, keys of 0, so that visible keys share equally; values 1, 2, 4, … of width 1. */
  function equal(config: Partial<SessionConfig> & { tq: number; tk: number }): void {
    session.configure({ dK: 1, dV: 1, source: 'qkv', ...config });
    const values = session.view('v').length;
    session.setInput(
      'v',
      Array.from({ length: values }, (_, i) => 2 ** i),
    );
  }

  const heads = () => [...session.view('heads')];
  const maskOf = (mask: Mask) => {
    session.setMask(mask);
    session.run();
    return [...session.view('mask')];
  };

  test('masks of every rank spread from the right', () => {
    equal({ batch: 2, heads: 2, kvHeads: 2, tq: 2, tk: 3, masked: true });
    const row = [0, 1, 2];
    expect(maskOf({ kind: 'float', shape: [3], values: row })).toEqual(
      new Array(8).fill(row).flat(),
    );
    const rows = [0, 1, 2, 3, 4, 5];
    expect(maskOf({ kind: 'float', shape: [2, 3], values: rows })).toEqual(
      new Array(4).fill(rows).flat(),
    );
    const perHead = Array.from({ length: 12 }, (_, i) => i);
    expect(maskOf({ kind: 'float', shape: [2, 2, 3], values: perHead })).toEqual([
      ...perHead,
      ...perHead,
    ]);
    const all = Array.from({ length: 24 }, (_, i) => i);
    expect(maskOf({ kind: 'float', shape: [2, 2, 2, 3], values: all })).toEqual(all);
    expect(maskOf({ kind: 'float', shape: [2, 1, 1, 1], values: [1, 2] })).toEqual([
      ...new Array(12).fill(1),
      ...new Array(12).fill(2),
    ]);
    expect(maskOf({ kind: 'float', shape: [1, 2, 1], values: [7, 8] }).slice(0, 6)).toEqual([
      7, 7, 7, 8, 8, 8,
    ]);
  });

  test('a short last axis hides the keys beyond it, and one of 1 does not', () => {
    equal({ tq: 1, tk: 4, masked: true });
    expect(maskOf({ kind: 'float', shape: [2], values: [0, 5] })).toEqual([0, 5, hidden, hidden]);
    expect(maskOf({ kind: 'boolean', shape: [3], values: [true, false, true] })).toEqual([
      0,
      hidden,
      0,
      hidden,
    ]);
    expect(heads()).toEqual([2.5]);
    expect(maskOf({ kind: 'boolean', shape: [1], values: [1] })).toEqual([0, 0, 0, 0]);
    expect(maskOf({ kind: 'boolean', shape: [1], values: [0] })).toEqual(new Array(4).fill(hidden));
    expect(heads()).toEqual([0]);
  });

  test('a mask written as an input is one of full size', () => {
    equal({ tq: 1, tk: 2, masked: true });
    session.setInput('mask', [hidden, 0]);
    session.run();
    expect(heads()).toEqual([2]);
    expect(errorOf(() => session.setInput('mask', [Number.NaN, 0])).code).toBe('badMask');
  });

  test('causal without a past, with one, and with valid lengths', () => {
    equal({ tq: 3, tk: 2, causal: true });
    session.run();
    expect(heads()).toEqual([1, 1.5, 1.5]);
    expect(session.stage('mask').operation).toBe('given');
    expect(errorOf(() => session.setMask({ kind: 'boolean', shape: [1], values: [1] })).code).toBe(
      'notGiven',
    );

    session.configure({ tq: 1, tk: 4, past: 3, dK: 1, dV: 1, source: 'qkv', causal: true });
    session.setInput('v', [8]);
    session.setPast('presentValue', [1, 2, 4]);
    session.run();
    expect(heads()).toEqual([3.75]);
    expect([...session.view('presentValue')]).toEqual([1, 2, 4, 8]);

    equal({ batch: 2, tq: 2, tk: 3, causal: true, validLengths: [1, 2] });
    session.run();
    // Batch 0: the first query stands before every key, the second at key 0.
    expect(heads()).toEqual([0, 1, 8, (8 + 16) / 2]);
    equal({ batch: 2, tq: 1, tk: 3, validLengths: [0, 2] });
    session.run();
    expect(heads()).toEqual([0, 12]);
    expect(session.rowStatistics(0, 0)[0]).toMatchObject({ maximum: 0, sum: 0, effectiveKeys: 0 });
    expect(session.rowStatistics(1, 0)[0]).toMatchObject({ maximum: 0.5, effectiveKeys: 2 });
  });

  test('a mask and causal order both hide, and the mask can be painted anew', () => {
    equal({ tq: 2, tk: 2, masked: true, causal: true });
    expect(maskOf({ kind: 'boolean', shape: [1, 2], values: [0, 1] })).toEqual([
      hidden,
      hidden,
      hidden,
      0,
    ]);
    expect(heads()).toEqual([0, 2]);
    expect(maskOf({ kind: 'boolean', shape: [2], values: [1, 1] })).toEqual([0, hidden, 0, 0]);
    expect(heads()).toEqual([1, 1.5]);
  });

  test('what is hidden has no influence, whatever stands there', () => {
    const config = { tq: 2, tk: 3, dK: 2, dV: 2, source: 'qkv', masked: true } as const;
    const run = (bad: number) => {
      session.configure(config);
      session.setInput('q', [0.3, -1.1, 0.7, 0.2]);
      session.setInput('k', [0.5, 1.5, bad, bad, -0.25, 2]);
      session.setInput('v', [0.1, 0.7, bad, bad, -3, 1.3]);
      session.setMask({ kind: 'boolean', shape: [3], values: [1, 0, 1] });
      session.run();
      return [...session.view('weights'), ...heads()];
    };
    const clean = run(0);
    expect(clean.every(Number.isFinite)).toBe(true);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, hidden, 3e38]) {
      expect(run(bad)).toEqual(clean);
      const { value, terms } = session.terms({ stage: 'heads', batch: 0, head: 0, row: 0, col: 1 });
      expect(value).toBe(clean[7]);
      expect(terms[1]?.partial).toBe(0);
    }
  });

  test('a visible NaN in V reaches its column in the rows that see it, even with a weight of 0', () => {
    session.configure({ tq: 2, tk: 2, dK: 1, dV: 2, source: 'qkv', scale: 1, masked: true });
    session.setInput('q', [1, 1]);
    session.setInput('k', [0, -1000]);
    session.setInput('v', [1, 2, Number.NaN, 3]);
    session.setMask({ kind: 'boolean', shape: [2, 2], values: [1, 1, 1, 0] });
    session.run();
    expect(session.view('weights')[1]).toBe(0);
    expect(heads()).toEqual([Number.NaN, 2, 1, 2]);
  });

  test('a row of NaN scores gives its hidden keys weights of 0', () => {
    session.configure({ tq: 2, tk: 3, dK: 1, dV: 1, source: 'qkv', masked: true });
    session.setInput('q', [Number.NaN, 0]);
    session.setInput('v', [1, 2, 4]);
    session.setMask({ kind: 'boolean', shape: [3], values: [1, 0, 1] });
    session.run();
    expect([...session.view('weights')]).toEqual([Number.NaN, 0, Number.NaN, 0.5, 0, 0.5]);
    expect(heads()).toEqual([Number.NaN, 2.5]);
  });

  test('a large finite mask does not hide', () => {
    equal({ tq: 1, tk: 2, masked: true });
    for (const low of [-1e9, Math.fround(-3.4e38)]) {
      maskOf({ kind: 'float', shape: [2], values: [low, low] });
      expect(heads()).toEqual([1.5]);
      maskOf({ kind: 'float', shape: [2], values: [0, low] });
      expect(heads()).toEqual([1]);
    }
  });

  test('no keys with a mask, and no queries', () => {
    equal({ tq: 2, tk: 0, masked: true });
    maskOf({ kind: 'boolean', shape: [1, 1], values: [1] });
    expect(heads()).toEqual([0, 0]);
    equal({ tq: 0, tk: 2, masked: true, causal: true });
    maskOf({ kind: 'boolean', shape: [1, 2], values: [1, 0] });
    expect(heads()).toEqual([]);
  });

  test('softcap comes before the mask', () => {
    equal({ tq: 1, tk: 2, masked: true, softcap: 0.5 });
    maskOf({ kind: 'float', shape: [2], values: [0, hidden] });
    expect(heads()).toEqual([1]);
    expect(session.stage('maskedScores').operands).toEqual(['cappedScores', 'mask']);
  });

  test('query heads share key/value heads in order', () => {
    equal({ heads: 4, kvHeads: 2, tq: 1, tk: 1 });
    session.run();
    expect(heads()).toEqual([1, 1, 2, 2]);
    expect([...session.view('concat')]).toEqual([1, 1, 2, 2]);
  });

  test('inputs with all heads of a token side by side are split, not reshaped', () => {
    session.configure({
      batch: 1,
      heads: 2,
      kvHeads: 2,
      tq: 2,
      tk: 2,
      dK: 1,
      dV: 1,
      source: 'qkv',
    });
    session.setInput('v', [1, 2, 3, 4], 'tokens');
    expect([...session.view('v')]).toEqual([1, 3, 2, 4]);
    session.run();
    expect([...session.view('concat')]).toEqual([2, 3, 2, 3]);
  });

  test('typed arrays of any kind are read from their offset and left alone', () => {
    // The numbers of tfjs#2998: an offset that is ignored gives 9.
    const whole = new Float32Array([9, 9, 9, 0, 0, 1, 2]);
    session.configure({ tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv' });
    session.setInput('q', whole.subarray(3, 4));
    session.setInput('k', whole.subarray(3, 5));
    session.setInput('v', whole.subarray(5, 7));
    session.run();
    expect(heads()).toEqual([1.5]);
    expect([...whole]).toEqual([9, 9, 9, 0, 0, 1, 2]);

    session.configure({ tq: 1, tk: 3, past: 2, dK: 1, dV: 1, source: 'qkv', masked: true });
    session.setPast('presentValue', new Float64Array([9, 1, 2]).subarray(1));
    session.setInput('v', new Int16Array([9, 9, 4]).subarray(2));
    session.setMask({
      kind: 'boolean',
      shape: [3],
      values: new Uint8Array([1, 1, 0, 1]).subarray(1),
    });
    session.run();
    expect(heads()).toEqual([2.5]);
  });

  test('valid lengths of a refused configuration are not those of the next one', () => {
    const sizes = { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv' } as const;
    expect(() => session.configure({ ...sizes, dK: 0.5, validLengths: [1] })).toThrow();
    session.configure(sizes);
    expect(session.has('mask')).toBe(false);
  });

  test.each<[string, SessionConfig, Partial<AttentionError>]>([
    [
      'more past keys than keys',
      { tq: 1, tk: 2, past: 3, dK: 1, dV: 1, source: 'qkv' },
      { code: 'sizeMismatch', subject: 'past', found: 3, expected: 2 },
    ],
    [
      'a negative past',
      { tq: 1, tk: 2, past: -1, dK: 1, dV: 1, source: 'qkv' },
      { code: 'badSize', subject: 'past', found: -1, expected: 0 },
    ],
    [
      'a past with valid lengths',
      { tq: 1, tk: 2, past: 1, dK: 1, dV: 1, source: 'qkv', validLengths: [1] },
      {
        code: 'excludes',
        subject: 'validLengths',
        found: 1,
        message: 'Valid lengths must stand without past keys; found 1 of these.',
      },
    ],
    [
      'valid lengths for another batch',
      { batch: 3, tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', validLengths: [1, 2] },
      {
        code: 'sizeMismatch',
        subject: 'validLengths',
        found: 2,
        expected: 3,
        message: 'The number of valid lengths is 2, but the other sizes need 3.',
      },
    ],
    [
      'no valid lengths at all',
      { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', validLengths: [] },
      { code: 'sizeMismatch', subject: 'validLengths', found: 0 },
    ],
    [
      'a valid length beyond the keys',
      { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', validLengths: [3] },
      {
        code: 'tooLarge',
        subject: 'validLength',
        found: 3,
        expected: 2,
        message: 'A valid length may be at most 2; found 3.',
      },
    ],
    [
      'a negative valid length',
      { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', validLengths: [-1] },
      { code: 'badSize', subject: 'validLength', found: -1, expected: 0 },
    ],
    [
      'half a valid length',
      { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', validLengths: [0.5] },
      { code: 'badSize', subject: 'validLength', found: 0.5 },
    ],
    [
      'a softcap of 0',
      { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', softcap: 0 },
      {
        code: 'badNumber',
        subject: 'softcap',
        found: 0,
        message: 'The softcap must be a finite float32 number above 0; found 0.',
      },
    ],
    [
      'a scale of NaN',
      { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', scale: Number.NaN },
      { message: 'The scale must be a finite float32 number; found NaN.' },
    ],
    [
      'a context beside given keys',
      { tq: 1, tk: 2, dK: 1, dV: 1, source: 'qkv', context: true },
      {
        code: 'excludes',
        subject: 'context',
        message: 'A context needs a projection from X; found Q, K and V given.',
      },
    ],
    [
      'keys that follow X and a past',
      { tq: 2, tk: 2, past: 1, dK: 1, dV: 1, dModel: 1, source: 'x' },
      { code: 'sizeMismatch', subject: 'tk', found: 2, expected: 3 },
    ],
    [
      'heads that do not divide',
      { heads: 3, kvHeads: 2, tq: 1, tk: 1, dK: 1, dV: 1, source: 'qkv' },
      {
        code: 'notMultiple',
        subject: 'heads',
        found: 3,
        expected: 2,
        message: 'The number of query heads must be a multiple of 2; found 3.',
      },
    ],
  ])('%s: refused, and the old numbers stay', (_name, config, facts) => {
    equal({ tq: 1, tk: 2 });
    session.run();
    expect(errorOf(() => session.configure(config))).toMatchObject(facts);
    expect(heads()).toEqual([1.5]);
  });

  test.each<[string, Mask, Partial<AttentionError>]>([
    [
      'no axis',
      { kind: 'float', shape: [], values: [0] },
      { code: 'badSize', subject: 'maskRank', found: 0 },
    ],
    [
      'five axes',
      { kind: 'float', shape: [1, 1, 1, 1, 1], values: [0] },
      { code: 'tooLarge', subject: 'maskRank', found: 5, expected: 4 },
    ],
    [
      'keys',
      { kind: 'float', shape: [4], values: [0, 0, 0, 0] },
      { code: 'sizeMismatch', subject: 'maskKeys', found: 4, expected: 3 },
    ],
    [
      'queries',
      { kind: 'float', shape: [3, 1], values: [0, 0, 0] },
      { code: 'sizeMismatch', subject: 'maskQueries', found: 3, expected: 2 },
    ],
    [
      'heads',
      { kind: 'float', shape: [3, 1, 1], values: [0, 0, 0] },
      {
        code: 'sizeMismatch',
        subject: 'maskHeads',
        found: 3,
        expected: 2,
        message: "The mask's axis of heads is 3, but the other sizes need 2.",
      },
    ],
    [
      'batches',
      { kind: 'float', shape: [3, 1, 1, 1], values: [0, 0, 0] },
      { code: 'sizeMismatch', subject: 'maskBatch', found: 3, expected: 1 },
    ],
    [
      'an empty axis',
      { kind: 'float', shape: [0], values: [] },
      { code: 'sizeMismatch', subject: 'maskKeys', found: 0 },
    ],
    [
      'the count',
      { kind: 'float', shape: [2, 3], values: [0] },
      { code: 'wrongLength', subject: 'mask', found: 1, expected: 6 },
    ],
    ['half an axis', { kind: 'float', shape: [0.5], values: [0] }, { code: 'badSize', found: 0.5 }],
    [
      'NaN',
      { kind: 'float', shape: [2, 3], values: [0, 0, 0, 0, Number.NaN, 0] },
      {
        code: 'badMask',
        found: Number.NaN,
        message:
          'The mask holds NaN at [1, 1]; a boolean mask holds 0 and 1, a float mask finite numbers and −Infinity.',
      },
    ],
    [
      '+Infinity',
      { kind: 'float', shape: [2, 1, 3], values: [0, 0, 0, 0, 0, Number.POSITIVE_INFINITY] },
      { code: 'badMask', found: Number.POSITIVE_INFINITY, expected: '[1, 0, 2]' },
    ],
    [
      'a boolean of 2',
      { kind: 'boolean', shape: [3], values: [1, 2, 0] },
      { code: 'badMask', found: 2, expected: '[1]' },
    ],
  ])('a mask with wrong %s is refused, and the old one stays', (_name, mask, facts) => {
    equal({ heads: 2, kvHeads: 1, tq: 2, tk: 3, masked: true });
    session.setMask({ kind: 'boolean', shape: [3], values: [1, 1, 0] });
    session.run();
    const before = [...session.view('maskedScores')];
    expect(errorOf(() => session.setMask(mask))).toMatchObject(facts);
    expect([...session.view('maskedScores')]).toEqual(before);
    session.run();
    expect(heads()).toEqual(new Array(4).fill(1.5));
  });

  test('what is not there cannot be given', () => {
    equal({ tq: 1, tk: 2 });
    const mask: Mask = { kind: 'boolean', shape: [1], values: [1] };
    expect(errorOf(() => session.setMask(mask))).toMatchObject({
      code: 'stageAbsent',
      subject: 'mask',
    });
    expect(errorOf(() => session.setPast('presentKey', [1])).code).toBe('stageAbsent');
    session.configure({ tq: 1, tk: 2, past: 1, dK: 1, dV: 1, source: 'qkv' });
    expect(errorOf(() => session.setPast('presentKey', [1, 2]))).toMatchObject({
      code: 'wrongLength',
      found: 2,
      expected: 1,
    });
  });

  test('masks and pasts do not make memory grow', () => {
    session.configure({ tq: 200, tk: 300, past: 100, dK: 8, dV: 8, source: 'qkv', masked: true });
    const { buffer } = session.view('q');
    for (let i = 0; i < 5; i += 1) {
      session.setMask({ kind: 'float', shape: [200, 300], values: new Float32Array(60_000) });
      session.setPast('presentKey', new Float32Array(800));
      session.run();
    }
    expect(session.view('q').buffer).toBe(buffer);
  });
});
