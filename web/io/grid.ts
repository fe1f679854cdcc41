/** The cells that a reader has found in a text, kept as places in it until all of them are numbers. */
import { type NumberOptions, parseNumber } from './expression.ts';
import { ordinal, quoted } from './sentence.ts';

/** The most cells a text may hold: a 1024 × 1024 matrix. */
export const maxCells = 1024 * 1024;

/** NumPy and PyTorch leave out the middle of a large matrix when they print it. */
export const abbreviated = 'the text is abbreviated, print the matrix whole';

/** What is wrong with a text, and at which offset in it. */
export class MatrixError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

export class Grid {
  readonly text: string;
  /** A row is the start and end offsets of its cells, alternating. */
  readonly rows: number[][] = [];
  #count = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** A row whose cells stand between separators; inside double quotes a separator is text. */
  addSeparated(start: number, end: number, separator: string): void {
    const row = this.#newRow();
    if (this.isBlank(start, end)) return;
    let from = start;
    let inQuotes = false;
    for (let at = start; at < end; at++) {
      const sign = this.text[at];
      if (sign === '"') inQuotes = !inQuotes;
      if (sign !== separator || inQuotes) continue;
      this.#addCell(row, from, at);
      from = at + 1;
    }
    this.#addCell(row, from, end);
  }

  /** A row whose cells stand between spaces; inside parentheses a space is text. */
  addSpaced(start: number, end: number): void {
    const row = this.#newRow();
    for (let at = this.skipSpace(start, end); at < end; at = this.skipSpace(at, end)) {
      const from = at;
      for (let depth = 0; at < end; at++) {
        const sign = this.text[at];
        if (sign === '(') depth++;
        else if (sign === ')') depth = Math.max(0, depth - 1);
        else if (depth === 0 && isSpace(this.text, at)) break;
      }
      this.#addCell(row, from, at);
    }
  }

  /** A row with commas, the last of which may trail, or else with spaces. */
  addList(start: number, end: number): void {
    const last = this.trimEnd(start, end);
    const comma = this.text.slice(start, last).includes(',');
    if (!comma) this.addSpaced(start, last);
    else this.addSeparated(start, this.text[last - 1] === ',' ? last - 1 : last, ',');
  }

  /** The first place from `at` on, but not behind `end`, that holds no space. */
  skipSpace(at: number, end = this.text.length): number {
    let next = at;
    while (next < end && isSpace(this.text, next)) next++;
    return next;
  }

  isBlank(start: number, end: number): boolean {
    return this.skipSpace(start, end) === end;
  }

  trimEnd(start: number, end: number): number {
    let last = end;
    while (last > start && isSpace(this.text, last - 1)) last--;
    return last;
  }

  #newRow(): number[] {
    const row: number[] = [];
    this.rows.push(row);
    return row;
  }

  #addCell(row: number[], start: number, end: number): void {
    if (++this.#count > maxCells) {
      throw new MatrixError(
        `Expected at most ${maxCells} numbers (1024 × 1024), found more.`,
        start,
      );
    }
    const from = this.skipSpace(start, end);
    row.push(from, this.trimEnd(from, end));
  }
}

export interface GridReading extends NumberOptions {
  /** Turns the text of a cell into what parseNumber reads; may throw an Error with a sentence. */
  readonly convert?: (cell: string) => string;
  /** Whether a first row of words is the names of the columns. */
  readonly header?: boolean;
}

/** Parses every cell, row by row, and checks that all rows have the same length. */
export function gridValues(
  grid: Grid,
  reading: GridReading,
): { values: number[][]; notes: string[] } {
  const notes: string[] = [];
  let rows = grid.rows;
  if (reading.header && rows.length > 1 && isHeader(grid, rows[0]!)) {
    const names = cellTexts(grid, rows[0]!).join(', ');
    notes.push(`The first row (${quoted(names)}) was taken for column names and left out.`);
    rows = rows.slice(1);
  }
  let decimalCommas = false;
  let vanished = false;
  const first = grid.rows.length - rows.length;
  const cols = (rows[0]?.length ?? 0) / 2;
  if (cols === 0) throw new MatrixError('Expected a matrix, found no numbers in it.', 0);
  const values = rows.map((row, index) => {
    const read = cellTexts(grid, row).map((cell, col) => {
      const place = `The ${ordinal(col + 1)} number of the ${ordinal(first + index + 1)} row`;
      const number = parseCell(cell, place, row[2 * col]!, reading);
      if (cell.includes(',')) decimalCommas = true;
      else if (number.note) vanished = true;
      return number.value;
    });
    if (read.length !== cols) {
      throw new MatrixError(
        `Expected ${count(cols)} in the ${ordinal(first + index + 1)} row, ` +
          `as in the ${ordinal(first + 1)}, found ${read.length}.`,
        row[0] ?? 0,
      );
    }
    return read;
  });
  if (decimalCommas) notes.push('Commas inside numbers were read as decimal signs.');
  if (vanished) notes.push('Numbers too small for a 32-bit float became 0.');
  return { values, notes };
}

function parseCell(
  cell: string,
  place: string,
  at: number,
  reading: GridReading,
): { value: number; note?: string } {
  const fail = (sentence: string): never => {
    throw new MatrixError(`${place}: ${sentence[0]?.toLowerCase()}${sentence.slice(1)}`, at);
  };
  if (/^(?:\.\.\.|…|⋯)$/.test(cell)) {
    return fail(`Expected a number, found ${quoted(cell)}: ${abbreviated}.`);
  }
  let source = unquoted(cell);
  try {
    source = reading.convert?.(source) ?? source;
  } catch (error) {
    if (error instanceof MatrixError) return fail(error.message);
    throw error;
  }
  const result = parseNumber(source, reading);
  return result.ok ? result : fail(result.message);
}

function count(numbers: number): string {
  return numbers === 1 ? '1 number' : `${numbers} numbers`;
}

function cellTexts(grid: Grid, row: readonly number[]): string[] {
  return Array.from({ length: row.length / 2 }, (_, cell) =>
    grid.text.slice(row[2 * cell], row[2 * cell + 1]),
  );
}

/** All cells start as words do and at least one is no number such as `pi` or `nan`. */
function isHeader(grid: Grid, row: readonly number[]): boolean {
  const cells = cellTexts(grid, row).map(unquoted);
  return (
    cells.every((cell) => /^[\p{L}_]/u.test(cell)) &&
    cells.some((cell) => !parseNumber(cell, { nonFinite: 'all' }).ok)
  );
}

function unquoted(cell: string): string {
  const quote = cell[0];
  const closed = cell.length > 1 && cell.endsWith(quote ?? '');
  return closed && (quote === '"' || quote === "'") ? cell.slice(1, -1) : cell;
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Ordinary text is decided without a pattern: a megabyte of numbers passes here.
  return code === 32 || (code >= 9 && code <= 13) || (code >= 160 && /\s/.test(text[at]!));
}
