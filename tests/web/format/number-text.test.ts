/** Tests of number text: rounding, signs, exponents, alignment and sums, from hand arithmetic. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  alignParts,
  formatColumn,
  formatNumber,
  fullPrecision,
  percentText,
  shortestDecimal,
  shownSum,
} from '../../../web/format/number-text.ts';

const decimals = (digits: number) => ({ mode: 'decimals', digits }) as const;
const significant = (digits: number) => ({ mode: 'significant', digits }) as const;
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });

describe('formatNumber', () => {
  it.each([
    [0, 2, '0.00'],
    [-0, 2, '−0.00'],
    [-0, 0, '−0'],
    [1.5, 2, '1.50'],
    [-1.25, 2, '−1.25'],
    // Exact halves round away from 0; 1.005 lies below its half, as a double and as a float32.
    [0.125, 2, '0.13'],
    [-0.125, 2, '−0.13'],
    [2.5, 0, '3'],
    [1.005, 2, '1.00'],
    [Math.fround(1.005), 2, '1.00'],
    [Math.fround(0.1), 8, '0.10000000'],
    [0.8807970779778823, 4, '0.8808'],
    [0.004, 2, '4.00e−3'],
    [-0.004, 2, '−4.00e−3'],
    [0.005, 2, '0.01'],
    [1.2345e-7, 1, '1.2e−7'],
    [0.3, 0, '3e−1'],
    [123456.789, 1, '123456.8'],
    [1.06864745815245e13, 4, '1.0686e13'],
    [-3.4028234663852886e38, 1, '−3.4e38'],
    [NaN, 2, 'NaN'],
    [Infinity, 2, '∞'],
    [-Infinity, 2, '−∞'],
  ])('shows %d with %i decimals as %s', (value, digits, text) => {
    expect(formatNumber(value, decimals(digits))).toBe(text);
  });

  it.each([
    [0, 3, '0.00'],
    [1, 3, '1.00'],
    [-0.00012345, 3, '−0.000123'],
    [0.000012345, 3, '1.23e−5'],
    [1234, 2, '1.2e3'],
    [1234, 4, '1234'],
    [99.96, 3, '100'],
    [7, 0, '7'],
    [-Infinity, 3, '−∞'],
  ])('shows %d with %i significant digits as %s', (value, digits, text) => {
    expect(formatNumber(value, significant(digits))).toBe(text);
  });

  it('shows zeros for 0 only, and the sign of every negative number', () => {
    const format = fc.record({
      mode: fc.constantFrom('decimals' as const, 'significant' as const),
      digits: fc.integer({ min: 0, max: 8 }),
    });
    fc.assert(
      fc.property(float32, format, (value, how) => {
        const text = formatNumber(value, how);
        expect(/[1-9]/.test(text.split('e')[0]!)).toBe(value !== 0);
        expect(text.startsWith('−')).toBe(value < 0 || Object.is(value, -0));
        expect(text).not.toContain('-');
      }),
    );
  });

  it('is never off by more than half of the last decimal', () => {
    fc.assert(
      fc.property(
        fc.float({ min: -1000, max: 1000, noNaN: true }),
        fc.integer({ min: 0, max: 8 }),
        (value, digits) => {
          const text = formatNumber(value, decimals(digits));
          fc.pre(!text.includes('e'));
          const shown = Number(text.replace('−', '-'));
          // The text is exact, but reading it and the difference are rounded: 2 · eps · 1000.
          expect(Math.abs(shown - value)).toBeLessThanOrEqual(0.5 * 10 ** -digits + 5e-13);
        },
      ),
    );
  });
});

describe('fullPrecision and shortestDecimal', () => {
  it.each([
    [Math.fround(0.1), '0.1'],
    [Math.fround(1 / 3), '0.33333334'],
    [-0, '−0'],
    [16777216, '16777216'],
    [2 ** -149, '1e−45'],
    [3.4028234663852886e38, '3.4028235e38'],
    // Powers of two whose shortest decimal is not the nearest one of that length.
    [2 ** -96, '1.2621775e−29'],
    [2 ** 87, '1.5474251e26'],
    [2 ** 90, '1.2379401e27'],
    // A float64 statistic keeps all that it has.
    [0.1, '0.1'],
    [Math.LN2, '0.6931471805599453'],
    [NaN, 'NaN'],
    [Infinity, '∞'],
    [-Infinity, '−∞'],
  ])('writes %d as %s', (value, text) => {
    expect(fullPrecision(value)).toBe(text);
  });

  it('gives every float32 back', () => {
    fc.assert(
      fc.property(float32, (value) => {
        expect(Math.fround(Number(shortestDecimal(value)))).toBe(value);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves no digit out that is needed and none in that is not', () => {
    fc.assert(
      fc.property(float32, (value) => {
        fc.pre(value !== 0);
        const digits = shortestDecimal(value)
          .split('e')[0]!
          .replace(/[-.]/g, '')
          .replace(/^0+/, '');
        const length = digits.replace(/0+$/, '').length;
        // One digit less, rounded either way, is another float32.
        if (length > 1) {
          const shorter = Math.abs(value).toExponential(length - 2);
          const [mantissa, exponent] = shorter.split('e');
          const integer = Number(mantissa!.replace('.', ''));
          for (const near of [integer - 1, integer, integer + 1]) {
            const candidate = Number(`${near}e${Number(exponent) - (length - 2)}`);
            expect(Math.fround(candidate)).not.toBe(Math.abs(value));
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('alignment at the decimal sign', () => {
  it('cuts text before the decimal sign or the exponent', () => {
    expect(alignParts('−12.50')).toEqual({ text: '−12.50', integer: '−12', fraction: '.50' });
    expect(alignParts('1.2e−7')).toEqual({ text: '1.2e−7', integer: '1', fraction: '.2e−7' });
    expect(alignParts('3e−1')).toEqual({ text: '3e−1', integer: '3', fraction: 'e−1' });
    expect(alignParts('−∞')).toEqual({ text: '−∞', integer: '−∞', fraction: '' });
  });

  it('gives the widths of a column', () => {
    const column = formatColumn([1.5, -10, 1e-7, NaN], decimals(1));
    expect(column.cells.map((cell) => cell.text)).toEqual(['1.5', '−10.0', '1.0e−7', 'NaN']);
    expect(column.integerWidth).toBe(3);
    expect(column.fractionWidth).toBe(5);
    expect(formatColumn([], decimals(1))).toEqual({ cells: [], integerWidth: 0, fractionWidth: 0 });
  });
});

describe('percentText', () => {
  const nbsp = '\u00a0';
  it.each([
    [0.8807970779778823, 1, `88.1${nbsp}%`],
    [0.5, 0, `50${nbsp}%`],
    [0, 1, `0.0${nbsp}%`],
    [1, 1, `100.0${nbsp}%`],
    [0.99999989, 1, `>99.9${nbsp}%`],
    [0.0004, 1, `<0.1${nbsp}%`],
    [0.004, 0, `<1${nbsp}%`],
    [0.996, 0, `>99${nbsp}%`],
    [NaN, 1, `NaN${nbsp}%`],
  ])('writes %d with %i decimals as %s', (share, digits, text) => {
    expect(percentText(share, digits)).toBe(text);
  });
});

describe('shownSum', () => {
  it('adds what is shown, not what is meant', () => {
    const third = Math.fround(1 / 3);
    const thirds = [third, third, third];
    expect(shownSum(thirds, decimals(2))).toEqual({ text: '0.99', addsToOne: false });
    expect(shownSum(thirds, decimals(0))).toEqual({ text: '0.9', addsToOne: false });
    expect(shownSum([0.880797, 0.119203], decimals(4))).toEqual({ text: '1', addsToOne: true });
    // 0.125, three times, shows as 0.13: 0.62 + 0.39, where 0.625 shows as 0.63.
    expect(shownSum([0.625, 0.125, 0.125, 0.125], decimals(2))).toEqual({
      text: '1.02',
      addsToOne: false,
    });
  });

  it('is exact where float64 sums are not', () => {
    expect(shownSum(Array(10).fill(0.1), decimals(1))).toEqual({ text: '1', addsToOne: true });
  });

  it('counts tiny weights as they are shown, to 12 decimals', () => {
    expect(shownSum([1, 1.2e-7], decimals(1))).toEqual({ text: '1.00000012', addsToOne: false });
    expect(shownSum([1, 1e-30], decimals(2))).toEqual({ text: '1', addsToOne: true });
    // The 12th decimal is rounded, not cut.
    expect(shownSum([0.5, 6e-13], decimals(0)).text).toBe('1.000000000001');
  });

  it('knows negative and non-finite numbers and the empty row', () => {
    expect(shownSum([-1.5, 0.25], decimals(2))).toEqual({ text: '−1.25', addsToOne: false });
    expect(shownSum([-0.5, -0.5], decimals(1))).toEqual({ text: '−1', addsToOne: false });
    expect(shownSum([NaN, 1], decimals(2))).toEqual({ text: 'NaN', addsToOne: false });
    expect(shownSum([Infinity], decimals(2))).toEqual({ text: 'NaN', addsToOne: false });
    expect(shownSum([], decimals(2))).toEqual({ text: '0', addsToOne: false });
    expect(shownSum([-0, 1], decimals(2))).toEqual({ text: '1', addsToOne: true });
  });
});
