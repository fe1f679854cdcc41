/** Reads a matrix from whatever text was pasted, and says what it was taken for. */
import { readBrackets } from './brackets.ts';
import { readDelimited } from './delimited.ts';
import type { NumberOptions } from './expression.ts';
import { Grid, type GridReading, gridValues, MatrixError } from './grid.ts';
import { latexToExpression, readLatex } from './latex.ts';
import type { MatrixKind } from './matrix-kind.ts';

export type { MatrixFormat } from './matrix-kind.ts';

export interface MatrixRead extends MatrixKind {
  readonly ok: true;
  /** rows × cols, float32 values; at least one row and one column. */
  readonly values: number[][];
  /** What was decided or changed on the way, in sentences. */
  readonly note?: string;
}

export type MatrixResult =
  | MatrixRead
  | {
      readonly ok: false;
      readonly message: string;
      /** Where in the text, counted from 1. */
      readonly line?: number;
      readonly col?: number;
    };

/** The longest text that is looked at: 32 characters for each of the most cells. */
const maxCharacters = 2 ** 25;

const assignment = /[A-Za-z_]\w*\s*=/y;

export function readMatrix(text: string, options: NumberOptions = {}): MatrixResult {
  if (text.length > maxCharacters) {
    const message = `Expected at most ${maxCharacters} characters, found ${text.length}.`;
    return { ok: false, message };
  }
  const grid = new Grid(text);
  const start = matrixStart(grid);
  if (start === text.length) {
    return { ok: false, message: 'Expected a matrix, found empty text.' };
  }
  try {
    const { format, formatName, note, ...reading } = understand(grid, start);
    const { values, notes } = gridValues(grid, { ...options, ...reading });
    const said = [...(note ? [note] : []), ...notes].join(' ');
    return { ok: true, format, formatName, values, ...(said && { note: said }) };
  } catch (error) {
    if (!(error instanceof MatrixError)) throw error;
    return { ok: false, message: error.message, ...position(text, error.at) };
  }
}

/** What a text was taken for: `NumPy array, 3 × 4`. */
export function interpretation(matrix: MatrixRead): string {
  return `${matrix.formatName}, ${matrix.values.length} × ${matrix.values[0]?.length ?? 0}`;
}

/** Behind leading space and behind a name, as in `Q = [[1, 2]]`. */
function matrixStart(grid: Grid): number {
  const start = grid.skipSpace(0);
  assignment.lastIndex = start;
  const name = assignment.exec(grid.text)?.[0];
  return name ? grid.skipSpace(start + name.length) : start;
}

function understand(
  grid: Grid,
  start: number,
): MatrixKind & Omit<GridReading, 'nonFinite'> & { readonly note?: string } {
  if (grid.text.includes('\\', start)) {
    return { ...readLatex(grid, start), convert: latexToExpression };
  }
  return readBrackets(grid, start) ?? readDelimited(grid, start);
}

function position(text: string, at: number): { line: number; col: number } {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: lines.length, col: (lines.at(-1)?.length ?? 0) + 1 };
}
