/** Where a number comes from and where it goes next, with what is said of the way there. */
import type {
  CellRef,
  CellTerms,
  ForwardSession,
  Operation,
  StageId,
  StageInfo,
} from '../core/types.ts';
import { shortText } from '../format/matrix-text.ts';
import type { NumberFormat } from '../format/number-text.ts';
import { nameOf, symbolOf } from '../format/stage-text.ts';
import { type State, stagesOfReading } from '../state/types.ts';
import { cellValue, softmaxInput } from '../view/shown.ts';

export interface CellLink {
  readonly cell: CellRef;
  readonly text: string;
}

/**
 * The stage table as one reading of the softmax goes through it: by hand the weights are made from
 * the plain exponentials.
 */
export function tableOfReading(
  table: ReadonlyMap<StageId, StageInfo>,
  reading: State['reading'],
): ReadonlyMap<StageId, StageInfo> {
  const hidden: readonly string[] = stagesOfReading[reading === 'hand' ? 'machine' : 'hand'];
  const left = new Map([...table].filter(([id]) => !hidden.includes(id)));
  const weights = table.get('weights');
  if (reading === 'hand' && weights) {
    left.set('weights', { ...weights, operands: stagesOfReading.hand });
  }
  return left;
}

/** The quotient that makes a weight by hand, of the exponentials and the sum without subtraction. */
export function weightByHand(machine: CellTerms, session: ForwardSession): CellTerms {
  const [exponential, sum] = stagesOfReading.hand;
  const operands = [
    { ...machine.cell, stage: exponential },
    { ...machine.cell, stage: sum, col: 0 },
  ].map((ref) => ({ ref, value: cellValue(session, ref) }));
  return { ...machine, terms: [{ operands, partial: machine.value }] };
}

/** Whether the query of this row sees no key: else an exponential of 1 or more, or NaN, is summed. */
export const seesNoKey = (cell: CellRef, session: ForwardSession): boolean =>
  cellValue(session, { ...cell, stage: 'rowSum', col: 0 }) === 0;

export function nextCell(
  from: CellRef,
  session: ForwardSession,
  table: ReadonlyMap<StageId, StageInfo>,
  { format, scale }: { readonly format: NumberFormat; readonly scale: number | null },
): CellLink | null {
  for (const info of table.values()) {
    // One head without an output projection is the result itself; nothing is set side by side.
    if (info.id === 'concat' && session.shape('weights').heads === 1 && !session.has('output')) {
      continue;
    }
    const position = info.operands.indexOf(from.stage);
    if (position < 0 || !session.has(info.id)) continue;
    const { rows, cols } = session.shape(info.id);
    const cell = used(session, info, position, from);
    if (cell.row >= rows || cell.col >= cols) continue;
    const symbol = symbolOf(info.id, scale);
    const ofHead = session.shape(info.id).heads > 1 ? `, head ${cell.head}` : '';
    const name = `${nameOf(info.id, session.shape('weights').heads)}${ofHead}`;
    if (info.operation === 'matmul') {
      const line = position === 0 ? `row ${cell.row}` : `column ${cell.col}`;
      return { cell, text: `it goes into ${line} of ${symbol}, the ${name}` };
    }
    if (info.cols === 'one' || info.operation === 'sumOfProducts')
      return { cell, text: `it counts for ${symbol}, the ${name}` };
    // A row's maximum and its sum go into every number of the row.
    const verb = ofWholeRow[info.operation];
    const whole =
      info.operation === 'subtractRow'
        ? softmaxInput(session)
        : info.operands.find((id) => id !== from.stage);
    if (verb && whole && table.get(from.stage)?.cols === 'one') {
      const row = `row ${cell.row} of ${symbolOf(whole, scale)}`;
      return { cell, text: `it ${verb} ${row}, which gives ${symbol}, the ${name}` };
    }
    const value = shortText(cellValue(session, cell), format);
    return { cell, text: `in ${symbol}, the ${name}, it becomes ${value}` };
  }
  return null;
}

const ofWholeRow: Partial<Record<Operation, string>> = {
  subtractRow: 'is subtracted from',
  divideByRow: 'divides',
};

/** A cell of the stage that the number goes into. */
function used(session: ForwardSession, info: StageInfo, position: number, from: CellRef): CellRef {
  const { operation, cols, id } = info;
  const shape = session.shape(id);
  const source = session.shape(from.stage);
  // From a key head to the first of the query heads that read it, and back.
  const head = Math.floor((from.head * shape.heads) / Math.max(1, source.heads));
  const at = (row: number, col: number, ownHead = head): CellRef => ({
    ...from,
    stage: id,
    head: ownHead,
    row,
    col,
  });
  if (operation === 'concatHeads') return at(from.row, from.head * source.cols + from.col, 0);
  if (operation === 'matmul' && position === 0) return at(from.row, 0);
  if (operation === 'matmul') {
    // A grid of weights holds the columns of all heads side by side.
    return source.cols > shape.cols
      ? at(0, from.col % shape.cols, Math.floor(from.col / shape.cols))
      : at(0, from.col);
  }
  if (operation === 'transpose') return at(from.col, from.row);
  return cols === 'one' ? at(from.row, 0) : at(from.row, from.col);
}

/** The matrices that a cell is made from, each by the first of its cells that goes into it. */
export function originsOf(
  cell: CellRef,
  boxes: ReadonlyMap<StageId, { top: number; left: number; bottom: number; right: number }>,
  scale: number | null,
): CellLink[] {
  return [...boxes].map(([stage, { top, left, bottom, right }]) => {
    const symbol = symbolOf(stage, scale);
    const one = top === bottom && left === right;
    const line = top === bottom ? `row ${top} of ${symbol}` : `column ${left} of ${symbol}`;
    return {
      cell: { ...cell, stage, row: top, col: left },
      text: one ? `${symbol}[${top},${left}]` : line,
    };
  });
}
