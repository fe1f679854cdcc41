/** Finds the cells of a matrix in brackets: Python, NumPy, PyTorch, JSON, MATLAB. */
import { abbreviated, type Grid, MatrixError } from './grid.ts';
import type { MatrixKind } from './matrix-kind.ts';
import { ordinal, quoted } from './sentence.ts';

const arrayCall = /(?:[A-Za-z_]\w*\.)*(array|asarray|matrix|tensor|Tensor|as_tensor)\s*\(/y;

/** Reads brackets that open at `start`, perhaps inside a call such as `np.array(`. */
export function readBrackets(grid: Grid, start: number): MatrixKind | undefined {
  arrayCall.lastIndex = start;
  const call = arrayCall.exec(grid.text);
  let at = grid.skipSpace(start + (call?.[0].length ?? 0));
  if (grid.text[at] !== '[') {
    if (!call) return undefined;
    throw expected(grid, `“[” after ${quoted(call[0])}`, at);
  }
  const layout = readList(grid, at);
  at = grid.skipSpace(call ? closeCall(grid, layout.end) : layout.end);
  if (grid.text[at] === ';' || grid.text[at] === ',') at = grid.skipSpace(at + 1);
  if (at < grid.text.length) throw expected(grid, 'the end of the text after the matrix', at);
  if (call) {
    return call[1]?.toLowerCase().endsWith('tensor')
      ? { format: 'tensor', formatName: 'PyTorch tensor' }
      : { format: 'numpy', formatName: 'NumPy array' };
  }
  if (layout.style === 'matlab') return { format: 'matlab', formatName: 'MATLAB matrix' };
  if (layout.style === 'printed') return { format: 'numpy', formatName: 'NumPy array' };
  return isJson(grid.text.slice(start))
    ? { format: 'json', formatName: 'Nested list (JSON or Python)' }
    : { format: 'python', formatName: 'Python list' };
}

interface Layout {
  readonly end: number;
  /** `list` has commas, `printed` only spaces, `matlab` rows without brackets of their own. */
  readonly style: 'list' | 'printed' | 'matlab';
}

/** `[[…] […]]`, or one level of brackets: a row, or rows as MATLAB writes them. */
function readList(grid: Grid, open: number): Layout {
  let at = grid.skipSpace(open + 1);
  if (grid.text[at] !== '[') return readOneLevel(grid, open);
  let comma = false;
  for (;;) {
    if (grid.text[at] !== '[') {
      throw expected(grid, `“[” or “]” after the ${ordinal(grid.rows.length)} row`, at);
    }
    const end = closing(grid, at);
    grid.addList(at + 1, end);
    comma ||= grid.text.slice(at, end).includes(',');
    at = grid.skipSpace(end + 1);
    if (grid.text[at] === ',') {
      comma = true;
      at = grid.skipSpace(at + 1);
    }
    if (grid.text[at] === ']') break;
  }
  const single = grid.rows.length === 1 && grid.rows[0]!.length <= 2;
  return { end: at + 1, style: comma || single ? 'list' : 'printed' };
}

function readOneLevel(grid: Grid, open: number): Layout {
  const close = closing(grid, open);
  const body = grid.text.slice(open + 1, close);
  const end = close + 1;
  const byLine = body.includes(';') || (!body.includes(',') && hasRowsByLine(body));
  if (!byLine) {
    grid.addList(open + 1, close);
    return { end, style: body.includes(',') ? 'list' : 'printed' };
  }
  addMatlabRows(grid, open + 1, close);
  return { end, style: 'matlab' };
}

/** Rows that end with a semicolon or with the line. */
export function addMatlabRows(grid: Grid, start: number, end: number): void {
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && !/[;\r\n]/.test(grid.text[at]!)) continue;
    if (!grid.isBlank(from, at)) grid.addList(from, at);
    from = at + 1;
  }
}

/** NumPy breaks a long row into lines near column 75; shorter lines are rows of their own. */
function hasRowsByLine(body: string): boolean {
  const lines = body.split(/[\r\n]/).filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.every((line) => line.length <= 60);
}

/** Where the bracket that opens at `open` closes; there may be none inside. */
function closing(grid: Grid, open: number): number {
  const row = `the ${ordinal(grid.rows.length + 1)} row`;
  for (let at = open + 1; at < grid.text.length; at++) {
    if (grid.text[at] === ']') return at;
    if (grid.text[at] === '[') {
      throw new MatrixError(
        `Expected numbers in ${row}, found a further bracket: a matrix has rows and columns only.`,
        at,
      );
    }
  }
  throw expected(grid, `“]” at the end of ${row}`, grid.text.length);
}

/** Steps over arguments such as `dtype=float32` to behind the parenthesis that closes the call. */
function closeCall(grid: Grid, start: number): number {
  let at = grid.skipSpace(start);
  if (grid.text[at] !== ',' && grid.text[at] !== ')') {
    throw expected(grid, '“)” after the matrix', at);
  }
  for (let depth = 1; at < grid.text.length; at++) {
    if (grid.text[at] === '(') depth++;
    if (grid.text[at] === ')' && --depth === 0) return at + 1;
  }
  throw expected(grid, '“)” at the end of the call', at);
}

function expected(grid: Grid, what: string, at: number): MatrixError {
  const rest = grid.text.slice(at, at + 400);
  const found = rest.trim() ? quoted(rest) : 'the end of the text';
  const hint = /^(?:\.\.\.|…)/.test(rest) ? `: ${abbreviated}` : '';
  return new MatrixError(`Expected ${what}, found ${found}${hint}.`, at);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
