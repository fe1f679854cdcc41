/** Numbers as a page shows them: a matrix with one number of decimals, and a number in a sentence. */
import { alignParts, formatNumber, fullPrecision, type NumberFormat } from './number-text.ts';

/** Decimals that would show every value exactly, but never more than the reader asked for. */
function decimalsNeeded(values: Float32Array, atMost: number): number {
  let needed = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const exact = fullPrecision(value);
    const point = exact.indexOf('.');
    if (point >= 0) needed = Math.max(needed, exact.length - point - 1);
    if (needed >= atMost) return atMost;
  }
  return needed;
}

export function matrixTexts(values: Float32Array, format: NumberFormat): string[] {
  const digits = format.mode === 'decimals' ? decimalsNeeded(values, format.digits) : format.digits;
  const exact = { ...format, digits };
  const parts = Array.from(values, (value) => alignParts(formatNumber(value, exact)));
  const width = parts.reduce((most, { fraction }) => Math.max(most, fraction.length), 0);
  // Texts are set to the right in a font of one width: blanks at the end align the decimal signs.
  return parts.map(({ text, fraction }) =>
    /\d/.test(text) ? text + '\u00a0'.repeat(width - fraction.length) : text,
  );
}

/** A number in a sentence or a sum: exact where that is short, else rounded as matrices are. */
export function shortText(value: number, format: NumberFormat): string {
  const exact = fullPrecision(value);
  const length = exact.length - Number(value < 0);
  return length <= format.digits + 3 ? exact : formatNumber(value, format);
}

/** The width of the widest of these texts in characters, and never less than three. */
export const widestText = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, text.length), 3);
