/** Row statistics and seeded draws on both builds, against tests/vectors. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Build,
  load,
  type RowNumbers,
  type RowsSummary,
  type Session,
  stageIds,
} from '../../../web/core/index.ts';

type Text = number | string;

type Numbers = Readonly<Record<string, Text>>;

interface Row {
  readonly name: string;
  readonly scores: readonly Text[];
  readonly mask: readonly Text[];
  readonly expected: Numbers;
}

interface Summary {
  readonly rows: number;
  readonly empty: number;
  readonly mean: Numbers;
  readonly largest: Numbers;
}

interface Summaries {
  readonly name: string;
  readonly shape: readonly [number, number, number, number];
  readonly scores: readonly Text[];
  readonly nanRows: readonly number[];
  readonly heads: readonly Summary[];
  readonly batches: readonly Summary[];
}

interface Draws {
  readonly seed: number;
  readonly stream: number;
  readonly data: readonly number[];
}

const read = <T>(name: string): readonly T[] =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), 'utf8'));
const rows = read<Row>('statistics/rows.json');
const summaries = read<Summaries>('statistics/summaries.json');
const draws = read<Draws>('normal/draws.json');

function expectRow(found: RowNumbers | undefined, expected: Numbers): void {
  for (const [name, text] of Object.entries(expected)) {
    const right = Number(text);
    const value = found?.[name as 'maximum'] as number;
    if (Number.isNaN(right)) expect(value, name).toBeNaN();
    else expect(Math.abs(value - right), name).toBeLessThanOrEqual(2e-15 + 2e-13 * Math.abs(right));
  }
}

function expectSummary(found: RowsSummary, expected: Summary): void {
  expect(found).toMatchObject({ rows: expected.rows, empty: expected.empty });
  expectRow(found.mean, expected.mean);
  expectRow(found.largest, expected.largest);
}

describe.each<Build>(['simd128', 'relaxed'])('%s', (build) => {
  let session: Session;

  beforeAll(async () => {
    session = (await load({ build })).createSession();
  });
  afterAll(() => session.dispose());

  test.each(rows)('statistics of a row: $name', ({ scores, mask, expected }) => {
    // With a query and a width of 1 the keys are the scores.
    const sizes = { tq: 1, tk: scores.length, dK: 1, dV: 0 };
    session.configure({ ...sizes, source: 'qkv', scale: 1, masked: true });
    session.setInput('q', [1]);
    session.setInput('k', scores.map(Number));
    // The scores of a case have the finite numbers of its mask in them already.
    const finite = mask.map((m) => (m === '-Infinity' ? Number.NEGATIVE_INFINITY : 0));
    session.setMask({ kind: 'float', shape: [scores.length], values: finite });
    session.run();
    const [found] = session.rowStatistics();
    expectRow(found, expected);
    const sum = session.view('weights').reduce((total, weight) => total + weight, 0);
    expect(found?.sum).toBe(sum);
  });

  test('statistics have a row for each query of a batch and a head', () => {
    session.configure({
      batch: 2,
      heads: 2,
      kvHeads: 1,
      tq: 40,
      tk: 2,
      dK: 1,
      dV: 0,
      source: 'qkv',
      scale: 1,
    });
    const cells = session.view('q').length;
    session.setInput(
      'q',
      Array.from({ length: cells }, (_, i) => i / 100),
    );
    session.setInput('k', [0, 1, 0, 1]);
    session.run();
    const weights = [...session.view('weights')];
    for (const [batch, head] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ] as const) {
      const statistics = session.rowStatistics(batch, head);
      expect(statistics.length).toBe(40);
      for (const [row, { maximum }] of statistics.entries()) {
        const at = ((batch * 2 + head) * 40 + row) * 2;
        expect(maximum).toBeCloseTo(Math.max(...weights.slice(at, at + 2)), 6);
      }
    }
    expect(() => session.rowStatistics(2, 0)).toThrow(
      expect.objectContaining({ code: 'cellOutsideStage' }),
    );
    for (const [batch, head, row] of [
      [0, 0, 40],
      [0.5, 0, 0],
      [0, -1, 0],
    ] as const) {
      expect(() => session.rowSum(batch, head, row)).toThrow(
        expect.objectContaining({ code: 'cellOutsideStage', subject: 'weights' }),
      );
    }
    expect(() => session.rowStatistics(0, 2)).toThrow(
      expect.objectContaining({ code: 'cellOutsideStage' }),
    );
  });

  test.each(summaries)('statistics of heads and batches: $name', (item) => {
    const [batch, heads, tq, tk] = item.shape;
    // Queries and keys of 0 leave the scores to the mask, and a query of NaN makes all its own NaN.
    const sizes = { batch, heads, kvHeads: heads, tq, tk, dK: 1, dV: 0 };
    session.configure({ ...sizes, source: 'qkv', masked: true });
    const rows = Array.from({ length: batch * heads * tq }, (_, i) => i);
    session.setInput(
      'q',
      rows.map((row) => (item.nanRows.includes(row) ? Number.NaN : 0)),
    );
    session.setInput('mask', item.scores.map(Number));
    session.run();
    for (const [b, expected] of item.batches.entries()) {
      expectSummary(session.batchStatistics(b), expected);
    }
    for (const [index, expected] of item.heads.entries()) {
      expectSummary(session.headStatistics(Math.floor(index / heads), index % heads), expected);
    }
    if (tq === 0) return;
    for (const wrong of [batch, -1, 0.5]) {
      expect(() => session.batchStatistics(wrong)).toThrow(
        expect.objectContaining({ code: 'cellOutsideStage', subject: 'weights' }),
      );
    }
    expect(() => session.headStatistics(0, heads)).toThrow(
      expect.objectContaining({ code: 'cellOutsideStage', found: heads, expected: heads }),
    );
  });

  // A stage draws from the stream of its place in the table.
  test.each(draws.filter(({ stream }) => ['q', 'k', 'v'].includes(stageIds[stream] ?? '')))(
    'seed $seed, stream $stream: every bit',
    ({ seed, stream, data }) => {
      const count = data.length;
      session.configure({ tq: count, tk: count, dK: 1, dV: 1, source: 'qkv' });
      const stage = stageIds[stream] as 'q';
      session.fillNormal(stage, seed);
      expect([...session.view(stage)]).toEqual(data.map(Math.fround));
    },
  );

  test('a seed is a whole number of 32 bits, and a computed stage takes none', () => {
    session.configure({ tq: 1, tk: 1, dK: 1, dV: 1, source: 'qkv' });
    for (const seed of [-1, 0.5, 2 ** 32, Number.NaN]) {
      expect(() => session.fillNormal('q', seed)).toThrow(
        expect.objectContaining({ code: 'badSeed' }),
      );
    }
    expect(() => session.fillNormal('weights', 1)).toThrow(
      expect.objectContaining({ code: 'notGiven' }),
    );
    expect(() => session.fillNormal('x', 1)).toThrow(
      expect.objectContaining({ code: 'stageAbsent' }),
    );
  });
});
