/** Tests of what may be typed into a cell; expected values are literals worked out by hand. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fullPrecision } from '../../../web/format/number-text.ts';
import { parseNumber } from '../../../web/io/expression.ts';

function value(text: string): number {
  const result = parseNumber(text);
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

function message(text: string, options = {}): string {
  const result = parseNumber(text, options);
  return result.ok ? `no message, but ${result.value}` : result.message;
}

describe('numbers', () => {
  it.each([
    ['5', 5],
    [' 5 ', 5],
    ['+5', 5],
    ['-5', -5],
    ['−5', -5],
    ['–5', -5],
    ['0.5', 0.5],
    ['0,5', 0.5],
    [',5', 0.5],
    ['.5', 0.5],
    ['5.', 5],
    ['−0,25', -0.25],
    ['1e3', 1000],
    ['2.5E−1', 0.25],
    ['1,5e+2', 150],
    ['1e-3', 0.0010000000474974513],
    ['0.1', 0.10000000149011612],
    ['16777217', 16777216],
    ['3.4028235e38', 3.4028234663852886e38],
    ['1e-45', 1.401298464324817e-45],
  ])('reads %s', (text, expected) => {
    expect(value(text)).toBe(expected);
  });

  it('keeps the sign of zero', () => {
    for (const text of ['-0', '−0', '-0.0', '−0,0']) expect(value(text)).toBe(-0);
    expect(value('0')).toBe(0);
  });

  it('says how it took a comma that could part thousands', () => {
    expect(parseNumber('1,234')).toEqual({
      ok: true,
      value: 1.2339999675750732,
      note: '“1,234” was read as 1.234: the comma is a decimal sign.',
    });
    expect(parseNumber('0,234')).toEqual({ ok: true, value: 0.23399999737739563 });
  });

  it('says when a number vanishes', () => {
    const note = (text: string) => `“${text}” is too small for a 32-bit float and became 0.`;
    for (const text of ['1e-46', '0.001e-999', '1e-30*1e-30']) {
      expect(parseNumber(text)).toEqual({ ok: true, value: 0, note: note(text) });
    }
    expect(parseNumber('0e-5')).toEqual({ ok: true, value: 0 });
  });
});

describe('expressions', () => {
  it.each([
    ['1/4', 0.25],
    ['1/3', 0.3333333432674408],
    ['−1÷4', -0.25],
    ['sqrt(2)', 1.4142135381698608],
    ['√2', 1.4142135381698608],
    ['√(9)/2', 1.5],
    ['SQRT(16)', 4],
    ['1/sqrt(4)', 0.5],
    ['pi', 3.1415927410125732],
    ['π', 3.1415927410125732],
    ['e', 2.7182817459106445],
    ['exp(2)', 7.389056205749512],
    ['e^2', 7.389056205749512],
    ['1+2*3', 7],
    ['(1+2)*3', 9],
    ['10-2-3', 5],
    ['24/4/2', 3],
    ['2^3^2', 512],
    ['2**-1', 0.5],
    ['-2^2', -4],
    ['2·3×4⋅5', 120],
    ['--5', 5],
    ['2 − −3', 5],
    ['((((1))))', 1],
    ['0,5 + 0,25', 0.75],
    ['np.float32(1.5)', 1.5],
    ['np.sqrt(4)', 2],
    ['math.pi', 3.1415927410125732],
    // Rounded once at the end: in float32 steps this would be 0.
    ['16777216 + 1 - 16777216', 1],
  ])('evaluates %s', (text, expected) => {
    expect(value(text)).toBe(expected);
  });

  it('agrees with a tree evaluated by hand', () => {
    type Tree = { readonly text: string; readonly value: number };
    const leaf: fc.Arbitrary<Tree> = fc
      .integer({ min: 0, max: 99 })
      .map((n) => ({ text: String(n), value: n }));
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        tie('tree').map((a) => ({ text: `-(${a.text})`, value: -a.value })),
        fc.tuple(tie('tree'), tie('tree'), fc.constantFrom('+', '−', '×')).map(([a, b, sign]) => ({
          text: `(${a.text}) ${sign} (${b.text})`,
          value:
            sign === '+' ? a.value + b.value : sign === '−' ? a.value - b.value : a.value * b.value,
        })),
      ),
    }));
    fc.assert(
      fc.property(tree, (expression) => {
        fc.pre(Math.abs(expression.value) < 3e38);
        expect(value(expression.text)).toBe(Math.fround(expression.value));
      }),
    );
  });
});

describe('numbers that are not finite', () => {
  const inf = ['inf', '∞', 'Infinity', 'np.inf', 'math.inf', "float('inf')"];

  it('are refused with a sentence', () => {
    for (const text of ['nan', 'NaN', 'np.nan', ...inf, '-inf']) {
      expect(message(text)).toBe(`Expected a finite number, found “${text}”.`);
    }
  });

  it('are taken where the option says so', () => {
    for (const text of inf) {
      expect(parseNumber(text, { nonFinite: 'all' })).toEqual({ ok: true, value: Infinity });
      expect(message(text, { nonFinite: 'minusInfinity' })).toBe(
        `Expected a finite number or −Infinity, found “${text}”.`,
      );
    }
    for (const text of ['-inf', '−∞', "float('-inf')", 'float("-inf")', '-np.inf']) {
      expect(parseNumber(text, { nonFinite: 'minusInfinity' })).toEqual({
        ok: true,
        value: -Infinity,
      });
    }
    expect(parseNumber('nan', { nonFinite: 'all' })).toEqual({ ok: true, value: NaN });
  });

  it('do not open the door to an overflow', () => {
    expect(message('1e39', { nonFinite: 'all' })).toContain('the range of 32-bit floats');
    expect(message('1/0', { nonFinite: 'all' })).toContain('a division by 0');
  });
});

describe('what cannot be read', () => {
  const range = 'Expected a number within ±3.4028235e38, the range of 32-bit floats, found';
  const operator = 'Expected an operator such as +, −, × or / after';
  it.each([
    ['', 'Expected a number, found nothing.'],
    ['   ', 'Expected a number, found nothing.'],
    ['abc', 'Expected a number, found “abc”.'],
    ['.', 'Expected a number, found “.”.'],
    ['1/', 'Expected a number after “1/”, found the end.'],
    ['1/x', 'Expected a number after “1/”, found “x”.'],
    ['1 2', `${operator} “1”, found “2”.`],
    ['2sqrt(2)', `${operator} “2”, found “sqrt(2)”.`],
    ['5%', `${operator} “5”, found “%”.`],
    ['1)', `${operator} “1”, found “)”.`],
    ['(1', 'Expected a closing parenthesis after “(1”, found the end.'],
    ['sqrt 2', 'Expected an opening parenthesis after “sqrt”, found “2”.'],
    ['1,234,5', 'Expected one decimal sign and no thousands separators, found “1,234,5”.'],
    ['1.234,5', 'Expected one decimal sign and no thousands separators, found “1.234,5”.'],
    ['1/0', 'Expected a divisor other than 0, found a division by 0 in “1/0”.'],
    ['0^-1', 'Expected a divisor other than 0, found a division by 0 in “0^-1”.'],
    ['sqrt(-4)', 'Expected a number that is not negative under the root, found −4.'],
    ['(-8)^0.5', 'Expected a real number, found “(-8)^0.5”, which is none.'],
    ['1e39', `${range} “1e39”.`],
    ['-3.41e38', `${range} “-3.41e38”.`],
    ['1e999', `${range} “1e999”.`],
    ['exp(1000)', `${range} “exp(1000)”.`],
    ['1/1e999', `${range} “1e999”.`],
    ['1e300*1e300', `${range} “1e300*1e300”.`],
    ['constructor', 'Expected a number, found “constructor”.'],
    ['__proto__', 'Expected a number, found “__proto__”.'],
    ['x'.repeat(100), `Expected a number, found “${'x'.repeat(24)}…”.`],
  ])('%s', (text, expected) => {
    expect(message(text)).toBe(expected);
  });

  it('nests to a limit, whatever nests', () => {
    // Side by side is not nested.
    expect(value(`0${'+(1)'.repeat(200)}`)).toBe(200);
    expect(value(`${'('.repeat(60)}1${')'.repeat(60)}`)).toBe(1);
    for (const opening of ['(', 'sqrt(', '√', '2^', '-(']) {
      expect(message(`${opening.repeat(50_000)}1`)).toContain('Expected at most 64 levels');
    }
    expect(value(`${'-'.repeat(50_000)}1`)).toBe(1);
  });
});

describe('properties', () => {
  it('reads what fullPrecision writes as the same number', () => {
    fc.assert(
      fc.property(fc.float(), (float) => {
        expect(parseNumber(fullPrecision(float), { nonFinite: 'all' })).toEqual({
          ok: true,
          value: float,
        });
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws, and gives a float32 or a sentence', () => {
    const pieces = fc.constantFrom(
      ...'0123456789.,+-−*/^()√πe∞\'" \n',
      '**',
      'sqrt',
      'nan',
      'float',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (typed) => {
        const result = parseNumber(typed);
        if (result.ok) {
          expect(Number.isFinite(result.value)).toBe(true);
          expect(Math.fround(result.value)).toBe(result.value);
        } else {
          expect(result.message).toMatch(/^Expected .+, found .+\.$/s);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
