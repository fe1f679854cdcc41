/** Turns numbers into honest, readable text: what is shown never claims more than the value holds. */

/** Decimals after the point, or significant digits (at least 1). `digits` is a whole number, 0 to 8. */
export interface NumberFormat {
  readonly mode: 'decimals' | 'significant';
  readonly digits: number;
}

/** Text cut at the decimal sign, so that a view can align a column there. */
export interface AlignedText {
  readonly text: string;
  /** The sign and the digits before the decimal sign. */
  readonly integer: string;
  /** The decimal sign and what follows it, exponent included; may be empty. */
  readonly fraction: string;
}

/** The texts of a column and the widths, in characters, that align them. */
export interface AlignedColumn {
  readonly cells: readonly AlignedText[];
  readonly integerWidth: number;
  readonly fractionWidth: number;
}

/** What the shown decimals of a row add up to. */
export interface ShownSum {
  /** The sum as a decimal of at most 12 places, or `NaN` where a number shown is not finite. */
  readonly text: string;
  readonly addsToOne: boolean;
}

const minus = '\u2212';

/** From here on a number is wider than it is readable, and decimals-mode turns to an exponent. */
const hugeFrom = 1e9;

const smallestNormal = 2 ** -126;

/** Whether a positive result has left the range in which a float32 has all its digits, or is NaN. */
export const isBeyondRange = (value: number): boolean =>
  !(value >= smallestNormal && value < Infinity);

/** Below this a number in significant-mode would be mostly leading zeros. */
const tinyBelow = 1e-4;

/**
 * `−1.25`, `−0.00` (only for a true −0), `1.2e−7`, `∞`, `NaN`. Halves round away from 0.
 * A number that is not 0 never shows as zeros: it gets an exponent, written the way a cell reads it.
 */
export function formatNumber(value: number, format: NumberFormat): string {
  if (Number.isNaN(value)) return 'NaN';
  const magnitude = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? minus : '';
  if (magnitude === Infinity) return `${sign}∞`;
  // toFixed, toPrecision and toExponential round the exact binary value, so no digit is off.
  if (format.mode === 'decimals') {
    const fixed = magnitude < hugeFrom ? magnitude.toFixed(format.digits) : '';
    const shows = magnitude === 0 || /[1-9]/.test(fixed);
    return sign + (shows ? fixed : exponential(magnitude, format.digits));
  }
  const digits = Math.max(1, format.digits);
  const precise = magnitude.toPrecision(digits);
  const plain = !precise.includes('e') && (magnitude === 0 || magnitude >= tinyBelow);
  return sign + (plain ? precise : exponential(magnitude, digits - 1));
}

/** The shortest decimal that reads back as exactly this number: a float32 if it is one. */
export function fullPrecision(value: number): string {
  return shortestDecimal(value).replace('Infinity', '∞').replaceAll('-', minus);
}

/** As fullPrecision, in ASCII (`-0`, `1.5e-7`, `-Infinity`), for text that programs read. */
export function shortestDecimal(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const sign = value < 0 ? '-' : '';
  const decimal = shortestParse(Math.abs(value));
  const plain = decimal >= 1e-5 && decimal < hugeFrom;
  return sign + (plain ? String(decimal) : decimal.toExponential().replace('+', ''));
}

/** Cuts a number's text at its decimal sign, or before its exponent. */
export function alignParts(text: string): AlignedText {
  const cut = text.search(/[.e]/);
  return cut < 0
    ? { text, integer: text, fraction: '' }
    : { text, integer: text.slice(0, cut), fraction: text.slice(cut) };
}

/** The texts of numbers that stand in one column, with the widths that align them. */
export function formatColumn(values: ArrayLike<number>, format: NumberFormat): AlignedColumn {
  const cells = Array.from(values, (value) => alignParts(formatNumber(value, format)));
  return {
    cells,
    integerWidth: cells.reduce((width, cell) => Math.max(width, cell.integer.length), 0),
    fractionWidth: cells.reduce((width, cell) => Math.max(width, cell.fraction.length), 0),
  };
}

/**
 * A share as percent, `88.1 %`. A share that is neither 0 nor 1 never shows as `0 %` or `100 %`:
 * it shows as less than the smallest, or more than the largest, percentage of that many decimals.
 */
export function percentText(share: number, decimals = 1): string {
  const text = formatNumber(share * 100, { mode: 'decimals', digits: decimals });
  const step = 10 ** -decimals;
  if (share > 0 && share < 1 && text.includes('e')) return `<${step.toFixed(decimals)}\u00a0%`;
  if (share < 1 && text === (100).toFixed(decimals)) {
    return `>${(100 - step).toFixed(decimals)}\u00a0%`;
  }
  return `${text}\u00a0%`;
}

/** Adds the numbers as they are shown, exactly, to tell whether a weight row still shows a sum of 1. */
export function shownSum(values: ArrayLike<number>, format: NumberFormat): ShownSum {
  // Counted in units of 1e-20; what a tiny number shows below that cannot reach the 12th place.
  let units = 0n;
  for (const value of Array.from(values)) {
    const text = formatNumber(value, format).replaceAll(minus, '-');
    if (!Number.isFinite(Number(text))) return { text: 'NaN', addsToOne: false };
    units += decimalUnits(text, 20);
  }
  const negative = units < 0n;
  const rounded = ((negative ? -units : units) + 50_000_000n) / 100_000_000n;
  const digits = rounded.toString().padStart(13, '0');
  const fraction = digits.slice(-12).replace(/0+$/, '');
  const text = digits.slice(0, -12) + (fraction && `.${fraction}`);
  return {
    text: negative && rounded > 0n ? minus + text : text,
    addsToOne: !negative && text === '1',
  };
}

function exponential(magnitude: number, decimals: number): string {
  return magnitude.toExponential(decimals).replace('+', '').replace('-', minus);
}

/** The double with the fewest decimal digits that still rounds to the given float32 (> 0, finite). */
function shortestParse(value: number): number {
  // A statistic in float64: JavaScript's own text is the shortest.
  if (Math.fround(value) !== value) return value;
  // Six digits never fall between two normal floats, and Number drops the zeros among them.
  for (let digits = value < smallestNormal ? 1 : 6; digits < 9; digits++) {
    const nearest = value.toExponential(digits - 1);
    if (Math.fround(Number(nearest)) === value) return Number(nearest);
    // Above a power of two the floats lie twice as far apart as below it, so that the next decimal
    // up can be right where the nearest one, below, is not.
    if (Number.isInteger(Math.log2(value))) {
      const [mantissa = '', exponent] = nearest.split('e');
      const up = Number(
        `${Number(mantissa.replace('.', '')) + 1}e${Number(exponent) - digits + 1}`,
      );
      if (Math.fround(up) === value) return up;
    }
  }
  return Number(value.toExponential(8));
}

/** The number of 10^-places in a decimal text such as `-1.25` or `1.2e-7`, cut towards 0. */
function decimalUnits(text: string, places: number): bigint {
  const [mantissa = '', exponent = '0'] = text.split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const shift = places + Number(exponent) - fraction.length;
  const digits = BigInt(integer + fraction);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}
