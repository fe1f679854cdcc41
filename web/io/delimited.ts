/** Finds the cells of a matrix without brackets: separated values and rows of numbers. */
import { addMatlabRows } from './brackets.ts';
import type { Grid } from './grid.ts';
import type { MatrixKind } from './matrix-kind.ts';

export interface Delimited extends MatrixKind {
  /** Whether a first row of words would be column names. */
  readonly header: boolean;
  readonly note?: string;
}

export function readDelimited(grid: Grid, start: number): Delimited {
  const body = grid.text.slice(start);
  const lines = linesOf(grid, start);
  const separated = (separator: string) => {
    for (const [from, to] of lines) grid.addSeparated(from, to, separator);
  };
  // A tab behind a comma or semicolon only lines the columns up.
  if (body.includes('\t') && !/[,;] *\t/.test(body)) {
    separated('\t');
    return { format: 'tsv', formatName: 'Tab-separated values', header: true };
  }
  if (body.includes(';')) {
    if (hasSemicolonRows(body)) {
      addMatlabRows(grid, start, grid.text.length);
      return { format: 'matlab', formatName: 'MATLAB matrix', header: false };
    }
    separated(';');
    return { format: 'csv', formatName: 'CSV with semicolons', header: true };
  }
  if (body.includes(',') && !hasDecimalCommas(grid, lines)) {
    separated(',');
    const kind = { format: 'csv', formatName: 'CSV', header: true } as const;
    return looksLikeDecimals(grid, lines)
      ? { ...kind, note: 'Commas were read as separators, not as decimal signs.' }
      : kind;
  }
  for (const [from, to] of lines) grid.addSpaced(from, to);
  return { format: 'spaces', formatName: 'Numbers separated by spaces', header: false };
}

/** The offsets of the lines that are not blank. */
function linesOf(grid: Grid, start: number): [number, number][] {
  const lines: [number, number][] = [];
  let from = start;
  for (let at = start; at <= grid.text.length; at++) {
    const sign = grid.text[at];
    if (sign !== '\n' && sign !== '\r' && sign !== undefined) continue;
    if (!grid.isBlank(from, at)) lines.push([from, at]);
    from = at + 1;
  }
  return lines;
}

/** `1 2; 3 4` or `1, 2; 3, 4`: what stands between the semicolons is a row, not a number. */
function hasSemicolonRows(body: string): boolean {
  return /[\d.)] +[-+−\d.(]|, /.test(body);
}

/** `0,5 1,5`: every piece between spaces is a number in which a comma can only be a decimal sign. */
function hasDecimalCommas(grid: Grid, lines: readonly [number, number][]): boolean {
  let several = false;
  for (const [from, to] of lines) {
    const pieces = grid.text.slice(from, to).trim().split(/\s+/);
    if (!pieces.every((piece) => decimal.test(piece))) return false;
    several ||= pieces.length > 1;
  }
  return several;
}

const decimal = /^[-+−]?(?:\d+(?:\.\d*|,\d+)?|[.,]\d+)(?:[eE][-+−]?\d+)?$/;

/** `0,5` alone on every line: two numbers, or one with a decimal comma. */
function looksLikeDecimals(grid: Grid, lines: readonly [number, number][]): boolean {
  const texts = lines.map(([from, to]) => grid.text.slice(from, to).trim());
  return (
    texts.every((line) => /^[-+−]?\d+,\d+$/.test(line)) && texts.some((line) => /^\D?0,/.test(line))
  );
}
