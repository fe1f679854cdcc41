/** The links of a number lead along the stage table: to a cell that is made from it, and back. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type CellRef,
  type Engine,
  load,
  type Session,
  type SessionConfig,
  type StageId,
  stageIds,
} from '../../../web/core/index.ts';
import {
  nextCell,
  originsOf,
  tableOfReading,
  weightByHand,
} from '../../../web/widget/next-cell.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await load();
});

const format = { mode: 'decimals', digits: 4 } as const;

const configurations: Record<string, SessionConfig> = {
  given: { source: 'qkv', tq: 2, tk: 3, dK: 4, dV: 5 },
  projected: { source: 'x', tq: 3, tk: 3, dModel: 6, dK: 4, dV: 5, outputProjection: true },
  crossed: { source: 'x', context: true, tq: 2, tk: 3, dModel: 6, dK: 4, dV: 5 },
  'heads of a layer': {
    source: 'x',
    heads: 4,
    kvHeads: 2,
    tq: 2,
    tk: 2,
    dModel: 3,
    dK: 2,
    dV: 3,
    outputProjection: true,
  },
  'heads, masked and capped': {
    source: 'qkv',
    batch: 2,
    heads: 4,
    kvHeads: 2,
    tq: 3,
    tk: 3,
    dK: 2,
    dV: 2,
    dModel: 3,
    outputProjection: true,
    masked: true,
    causal: true,
    softcap: 5,
  },
};

function opened(config: SessionConfig): Session {
  const session = engine.createSession();
  session.configure(config);
  for (const id of stageIds) {
    if (session.has(id) && session.stage(id).operation === 'given' && id !== 'mask') {
      session.fillNormal(id, 1);
    }
  }
  session.run();
  return session;
}

const table = () => new Map(engine.stages.map((info) => [info.id, info]));

function cellsOf(session: Session, stage: StageId): CellRef[] {
  const { batch, heads, rows, cols } = session.shape(stage);
  const cells: CellRef[] = [];
  for (let b = 0; b < batch; ++b) {
    for (let head = 0; head < heads; ++head) {
      for (let row = 0; row < rows; ++row) {
        for (let col = 0; col < cols; ++col) cells.push({ stage, batch: b, head, row, col });
      }
    }
  }
  return cells;
}

const nameOf = ({ stage, batch, head, row, col }: CellRef) =>
  `${stage} ${batch} ${head} ${row} ${col}`;

describe.each(Object.entries(configurations))('%s', (_name, config) => {
  test.each(['machine', 'hand'] as const)(
    'every cell but those of the result leads to one that it goes into, in the %s reading',
    (reading) => {
      const session = opened(config);
      const told = tableOfReading(table(), reading);
      const termsOf = (cell: CellRef) =>
        reading === 'hand' && cell.stage === 'weights'
          ? weightByHand(session.terms(cell), session)
          : session.terms(cell);
      const ends = new Set<StageId>();
      for (const stage of stageIds) {
        if (!session.has(stage) || !told.has(stage)) continue;
        for (const cell of cellsOf(session, stage)) {
          const next = nextCell(cell, session, told, { format, scale: null });
          if (!next) {
            ends.add(stage);
            continue;
          }
          // The core says what the next cell is made of; this one is among it, or its copy in a join is.
          expect(told.has(next.cell.stage), next.cell.stage).toBe(true);
          const operands = termsOf(next.cell).terms.flatMap(({ operands }) =>
            operands.map(({ ref }) => (ref ? nameOf(ref) : '')),
          );
          expect(operands, `${nameOf(cell)} → ${nameOf(next.cell)}`).toContain(nameOf(cell));
          expect(next.text).toMatch(
            /^(it (goes into|is subtracted from|divides) (row|column) \d+ of|it counts for|in) \S/,
          );
        }
      }
      // Heads are set side by side only where there is more than one, or a projection to come.
      const { heads } = session.shape('weights');
      const last = session.has('output') ? 'output' : heads > 1 ? 'concat' : 'heads';
      expect([...ends]).toEqual(last === 'heads' ? ['heads', 'concat'] : [last]);
      session.dispose();
    },
  );
});

test('a row’s maximum and its sum go into the whole row, and heads are told apart', () => {
  const session = opened({ source: 'x', dModel: 2, tq: 2, tk: 2, dK: 1, dV: 1, heads: 2 });
  const text = (stage: StageId, col = 0) =>
    nextCell(
      { stage, batch: 0, head: 1, row: 1, col },
      session,
      tableOfReading(table(), 'machine'),
      {
        format,
        scale: null,
      },
    )?.text;
  expect(text('rowMax')).toBe(
    'it is subtracted from row 1 of S/√dₖ, which gives Z, the shifted scores, head 1',
  );
  expect(text('rowSum')).toBe('it divides row 1 of E, which gives A, the weights, head 1');
  const grid = { stage: 'wq', batch: 0, head: 0, row: 0, col: 1 } as const;
  expect(nextCell(grid, session, table(), { format, scale: null })?.text).toMatch(/head 1$/);
  session.dispose();
});

test('the origins of a cell are its operands, by row, column or single cell', () => {
  const cell: CellRef = { stage: 'rawScores', batch: 0, head: 0, row: 1, col: 2 };
  const links = originsOf(
    cell,
    new Map<StageId, { top: number; left: number; bottom: number; right: number }>([
      ['q', { top: 1, bottom: 1, left: 0, right: 3 }],
      ['keyTransposed', { top: 0, bottom: 3, left: 2, right: 2 }],
      ['rowMax', { top: 1, bottom: 1, left: 0, right: 0 }],
    ]),
    null,
  );
  expect(links.map(({ text }) => text)).toEqual(['row 1 of Q', 'column 2 of Kᵀ', 'm[1,0]']);
  expect(links.map(({ cell: { stage, row, col } }) => [stage, row, col])).toEqual([
    ['q', 1, 0],
    ['keyTransposed', 0, 2],
    ['rowMax', 1, 0],
  ]);
});
