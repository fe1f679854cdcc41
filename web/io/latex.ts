/** Finds the cells of a LaTeX matrix and turns them into expressions. */
import { type Grid, MatrixError } from './grid.ts';
import type { MatrixKind } from './matrix-kind.ts';
import { quoted } from './sentence.ts';

/** Cells end at `&`, rows at `\\`; without an environment the whole text is taken for its content. */
export function readLatex(grid: Grid, start: number): MatrixKind {
  const { text } = grid;
  begin.lastIndex = start;
  const opened = begin.exec(text);
  let from = start;
  let to = text.length;
  if (opened) {
    from = skipArguments(text, opened.index + opened[0].length, opened[1] === 'array');
    const end = `\\end{${opened[1]}${opened[2]}}`;
    to = text.indexOf(end, from);
    if (to < 0) {
      throw new MatrixError(
        `Expected ${end} after ${opened[0]}, found the end of the text.`,
        text.length,
      );
    }
    const before = text.slice(start, opened.index);
    refuseRest(before.slice(before.lastIndexOf('=') + 1), 'before', start);
    refuseRest(text.slice(to + end.length), 'after', to + end.length);
  }
  addRows(grid, from, to);
  return { format: 'latex', formatName: 'LaTeX matrix' };
}

const begin = /\\begin\{((?:[bpvVB]|small)?matrix|array)(\*?)\}/g;
const decoration = /\\(?:left|right|displaystyle|[[\]()])|[$[\]().,;]|\s/g;
const rowEnd = /\\\\\*?(?: ?\[[^\]\\\n]{0,20}\])?/y;

function refuseRest(part: string, side: 'before' | 'after', at: number): void {
  const rest = part.replace(decoration, '');
  if (rest) {
    throw new MatrixError(`Expected nothing ${side} the matrix, found ${quoted(rest)}.`, at);
  }
}

/** Steps over the column types of an array, or the alignment of a starred matrix. */
function skipArguments(text: string, start: number, columns: boolean): number {
  const [open, close] = columns ? ['{', '}'] : ['[', ']'];
  if (text[start] !== open) return start;
  for (let at = start, depth = 0; at < text.length; at++) {
    if (text[at] === open) depth++;
    if (text[at] === close && --depth === 0) return at + 1;
  }
  return start;
}

function addRows(grid: Grid, start: number, end: number): void {
  let from = start;
  const addRow = (to: number) => {
    const blank = /^(?:\s|\\hline)*$/.test(grid.text.slice(from, to));
    if (!blank) grid.addSeparated(from, to, '&');
  };
  for (let at = grid.text.indexOf('\\', start); at >= 0 && at < end; ) {
    rowEnd.lastIndex = at;
    const found = rowEnd.exec(grid.text)?.[0];
    if (found) {
      addRow(at);
      from = at + found.length;
    }
    // Behind the row's end, or behind a command's first letter.
    at = grid.text.indexOf('\\', at + (found?.length ?? 2));
  }
  addRow(end);
}

const token = /\\[A-Za-z]+|\\.|\s+|[^\\\s]/suy;

const commands: Readonly<Record<string, string>> = {
  '\\cdot': '*',
  '\\times': '*',
  '\\div': '/',
  '\\pi': 'π',
  '\\infty': '∞',
  '\\exp': 'exp',
  '\\sqrt': '√',
  '\\left': '',
  '\\right': '',
  '\\hline': '',
  '\\displaystyle': '',
  '\\mathrm': '',
  '\\mathbf': '',
  '\\text': '',
  '\\operatorname': '',
  '\\,': '',
  '\\;': '',
  '\\:': '',
  '\\!': '',
  '\\ ': '',
  '\\quad': '',
};

const fractions = ['\\frac', '\\dfrac', '\\tfrac'];
const deepest = 64;

/** `-\frac{1}{\sqrt{2}}` becomes `-((1)/(√(2)))`; a power of ten becomes an exponent. */
export function latexToExpression(cell: string): string {
  if (!/[\\{}]/.test(cell)) return cell;
  const expression = new CellConverter(cell).convert();
  // As 1.2e-7 it is rounded once, as a product twice.
  const scientific = /^([+-]?[\d.]+) ?\* ?10\^ ?\(?([+-]?\d+)\)?$/.exec(expression);
  return scientific ? `${scientific[1]}e${scientific[2]}` : expression;
}

class CellConverter {
  readonly #cell: string;
  #at = 0;
  #depth = 0;

  constructor(cell: string) {
    // A decimal comma that is kept from being spaced as punctuation.
    this.#cell = cell.replaceAll('{,}', '.');
  }

  convert(): string {
    return this.#group(false);
  }

  /** Everything up to the closing brace of the group, or to the end of the cell. */
  #group(braced: boolean): string {
    let expression = '';
    for (;;) {
      const next = this.#next();
      if (next === undefined && braced) throw this.#error('a closing brace');
      if (next === '}' && !braced) throw this.#error('an opening brace before the closing one');
      if (next === undefined || next === '}') break;
      const piece = this.#piece(next);
      // LaTeX writes 2√3 for 2·√3.
      const factor = /^[(√π∞]/.test(piece) && next.startsWith('\\') && /[\d.)π]$/.test(expression);
      expression += factor ? `*${piece}` : piece;
    }
    return expression;
  }

  #piece(next: string): string {
    if (++this.#depth > deepest) throw this.#error(`at most ${deepest} levels of nesting`);
    const piece = this.#read(next);
    this.#depth--;
    return piece;
  }

  #read(next: string): string {
    if (next === '{') return grouped(this.#group(true));
    if (fractions.includes(next)) return `(${this.#argument()}/${this.#argument()})`;
    if (!next.startsWith('\\')) return /^\s/.test(next) ? ' ' : next;
    const piece = Object.hasOwn(commands, next) ? commands[next] : undefined;
    if (piece === undefined) throw this.#error('a number', next);
    return piece;
  }

  /** A group in braces, a command, or one character, as in \frac12. */
  #argument(): string {
    let next = this.#next();
    while (next !== undefined && /^\s/.test(next)) next = this.#next();
    if (next === undefined || next === '}') throw this.#error('two parts after \\frac');
    const piece = this.#piece(next);
    return piece.startsWith('(') ? piece : `(${piece})`;
  }

  #next(): string | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.#cell)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #error(expected: string, found = this.#cell): MatrixError {
    return new MatrixError(`Expected ${expected}, found ${quoted(found)}.`, 0);
  }
}

/** Words keep no parentheses, so that \mathrm{NaN} is NaN. */
function grouped(content: string): string {
  return /^\p{L}+$/u.test(content) ? ` ${content} ` : `(${content})`;
}
