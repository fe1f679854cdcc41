/** Reads what somebody types into a cell: a number or a small expression, rounded once to float32. */
import { quoted } from './sentence.ts';

export interface NumberOptions {
  /** Which numbers that are not finite may stand: none (the default), −Infinity (a mask), or all. */
  readonly nonFinite?: 'none' | 'minusInfinity' | 'all';
}

export type NumberResult =
  | {
      readonly ok: true;
      /** A float32. */
      readonly value: number;
      /** How the text was taken, where it could have meant something else. */
      readonly note?: string;
    }
  | { readonly ok: false; readonly message: string };

/** Also linear on hostile text: no two repetitions in it can match the same characters. */
const plainDecimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A decimal that is not 0, so that a value of 0 was too small even for a float64. */
const vanishedDecimal = /^[+-]?[0.]*[1-9][\d.]*[eE]-\d+$/;

/**
 * Evaluates a number, or numbers joined by + − × ÷ ^ and parentheses, with sqrt (√), exp, pi (π)
 * and e. One decimal comma is a decimal sign. Works in float64 and rounds the result to float32.
 */
export function parseNumber(text: string, options: NumberOptions = {}): NumberResult {
  const source = text.trim();
  try {
    if (source === '') throw new ReadError('Expected a number, found nothing.');
    if (plainDecimal.test(source)) return finish(Number(source), false, source, options);
    const parser = new Parser(source);
    const result = finish(parser.parse(), parser.namedNonFinite, source, options);
    return parser.note && result.ok && !result.note ? { ...result, note: parser.note } : result;
  } catch (error) {
    if (error instanceof ReadError) return { ok: false, message: error.message };
    throw error;
  }
}

class ReadError extends Error {}

function finish(
  value: number,
  namedNonFinite: boolean,
  source: string,
  options: NumberOptions,
): NumberResult {
  const allowed = options.nonFinite ?? 'none';
  const rounded = Math.fround(value);
  if (Number.isFinite(rounded)) {
    const vanished = rounded === 0 && (value !== 0 || vanishedDecimal.test(source));
    if (!vanished) return { ok: true, value: rounded };
    const note = `${quoted(source)} is too small for a 32-bit float and became 0.`;
    return { ok: true, value: rounded, note };
  }
  if (!namedNonFinite) throw outOfRange(source);
  if (allowed === 'all' || (allowed === 'minusInfinity' && rounded === -Infinity)) {
    return { ok: true, value: rounded };
  }
  const expected = allowed === 'none' ? 'a finite number' : 'a finite number or −Infinity';
  throw new ReadError(`Expected ${expected}, found ${quoted(source)}.`);
}

function outOfRange(source: string): ReadError {
  return new ReadError(
    `Expected a number within ±3.4028235e38, the range of 32-bit floats, found ${quoted(source)}.`,
  );
}

const constants: Readonly<Record<string, number>> = {
  pi: Math.PI,
  π: Math.PI,
  e: Math.E,
  inf: Infinity,
  infinity: Infinity,
  '∞': Infinity,
  nan: NaN,
};

/** The float names are what Python prints and writes around a number, as in `float('-inf')`. */
const functions: Readonly<Record<string, (x: number) => number>> = {
  sqrt: Math.sqrt,
  exp: Math.exp,
  float: (x) => x,
  float32: (x) => x,
  float64: (x) => x,
};

const operators = {
  plus: ['+'],
  minus: ['-', '−', '–'],
  times: ['*', '×', '·', '⋅'],
  over: ['/', '÷', '∕'],
  power: ['^', '**'],
} as const;

const deepest = 64;

/** Recursive descent: sum → product → signed → power → primary. */
class Parser {
  /** Whether infinity or NaN was written, so that one in the result is no overflow. */
  namedNonFinite = false;
  note: string | undefined;
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): number {
    const value = this.#sum();
    if (this.#at < this.#source.length) this.#fail('an operator such as +, −, × or /');
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#take('plus')) value = this.#checked(value + this.#product());
      else if (this.#take('minus')) value = this.#checked(value - this.#product());
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#take('times')) value = this.#checked(value * this.#signed());
      else if (this.#take('over')) value = this.#checked(value / this.#nonZero(this.#signed()));
      else return value;
    }
  }

  #signed(): number {
    let negative = false;
    for (;;) {
      if (this.#take('minus')) negative = !negative;
      else if (!this.#take('plus')) break;
    }
    const value = this.#power();
    return negative ? -value : value;
  }

  #power(): number {
    const base = this.#primary();
    if (!this.#take('power')) return base;
    const exponent = this.#nested(() => this.#signed());
    if (exponent < 0) this.#nonZero(base);
    return this.#checked(base ** exponent);
  }

  #primary(): number {
    this.#space();
    const digits = this.#match(/[\d.,]+/y);
    if (digits) return this.#number(digits);
    if (this.#match(/√/y))
      return this.#apply(
        'sqrt',
        this.#nested(() => this.#primary()),
      );
    if (this.#match(/\(/y)) return this.#parenthesised();
    const start = this.#at;
    const word = this.#match(/∞|[\p{L}_][\p{L}\p{N}_.]*/uy);
    if (!word) return this.#fail('a number');
    const bare = word.replace(/^(?:np|numpy|math|torch)\./, '');
    const name = bare.length > 1 ? bare.toLowerCase() : bare;
    if (Object.hasOwn(functions, name)) {
      this.#space();
      if (!this.#match(/\(/y)) return this.#fail('an opening parenthesis');
      return this.#apply(name, this.#parenthesised());
    }
    const constant = Object.hasOwn(constants, name) ? constants[name] : undefined;
    if (constant === undefined) {
      this.#at = start;
      return this.#fail('a number');
    }
    if (!Number.isFinite(constant)) this.namedNonFinite = true;
    return constant;
  }

  /** Digits with at most one decimal sign, then perhaps an exponent. */
  #number(digits: string): number {
    const signs = digits.match(/[.,]/g)?.length ?? 0;
    if (signs > 1) {
      throw new ReadError(
        `Expected one decimal sign and no thousands separators, found ${quoted(digits)}.`,
      );
    }
    if (digits.length === signs) {
      this.#at -= digits.length;
      return this.#fail('a number');
    }
    const decimal = digits.replace(',', '.');
    if (/^[1-9]\d{0,2},\d{3}$/.test(digits)) {
      this.note = `${quoted(digits)} was read as ${decimal}: the comma is a decimal sign.`;
    }
    const exponent = this.#match(/[eE][+\-−–]?\d+/y) ?? '';
    const value = Number(decimal + exponent.replace(/[−–]/, '-'));
    if (value === Infinity) throw outOfRange(digits + exponent);
    return value;
  }

  /** The rest of a parenthesis that has been opened; quotes may stand inside, as Python has them. */
  #parenthesised(): number {
    return this.#nested(() => {
      this.#space();
      const quote = this.#match(/['"]/y);
      const value = this.#sum();
      if (quote && this.#match(/['"]/y) !== quote) return this.#fail('a closing quote');
      this.#space();
      return this.#match(/\)/y) ? value : this.#fail('a closing parenthesis');
    });
  }

  #apply(name: string, argument: number): number {
    if (name === 'sqrt' && argument < 0) {
      const found = String(argument).replaceAll('-', '−');
      throw new ReadError(`Expected a number that is not negative under the root, found ${found}.`);
    }
    return this.#checked(functions[name]!(argument));
  }

  #nonZero(value: number): number {
    if (value === 0) {
      throw new ReadError(
        `Expected a divisor other than 0, found a division by 0 in ${quoted(this.#source)}.`,
      );
    }
    return value;
  }

  /** Refuses an overflow or an undefined power on the way, unless infinity itself was written. */
  #checked(value: number): number {
    if (Number.isFinite(value) || this.namedNonFinite) return value;
    if (Number.isNaN(value)) {
      throw new ReadError(`Expected a real number, found ${quoted(this.#source)}, which is none.`);
    }
    throw outOfRange(this.#source);
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > deepest) {
      throw new ReadError(
        `Expected at most ${deepest} levels of nesting, found more in ${quoted(this.#source)}.`,
      );
    }
    const result = read();
    this.#depth--;
    return result;
  }

  #take(operator: keyof typeof operators): boolean {
    this.#space();
    for (const sign of operators[operator]) {
      if (!this.#source.startsWith(sign, this.#at)) continue;
      if (sign === '*' && this.#source[this.#at + 1] === '*') continue;
      this.#at += sign.length;
      return true;
    }
    return false;
  }

  #space(): void {
    this.#match(/\s+/y);
  }

  /** What a sticky pattern matches here, stepped over. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #fail(expected: string): never {
    this.#space();
    const before = this.#source.slice(0, this.#at).trimEnd();
    const rest = this.#source.slice(this.#at);
    const shown = before.length > 24 ? `…${before.slice(-22)}` : before;
    const after = before ? ` after ${quoted(shown)}` : '';
    throw new ReadError(`Expected ${expected}${after}, found ${rest ? quoted(rest) : 'the end'}.`);
  }
}
