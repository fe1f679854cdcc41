/** Writes a matrix as text that reads back as the same float32 values, bit for bit. */
import { shortestDecimal } from '../format/number-text.ts';

export type WriteFormat = 'csv' | 'tsv' | 'numpy' | 'latex' | 'json';

/**
 * `values` is row-major, rows × cols. −0, NaN and infinities stay what they are. JSON has no
 * literal for the latter three, so that they stand there as the strings "NaN", "Infinity" and
 * "-Infinity".
 */
export function writeMatrix(
  values: ArrayLike<number>,
  rows: number,
  cols: number,
  format: WriteFormat,
): string {
  if (values.length !== rows * cols) {
    throw new RangeError(
      `Expected ${rows} × ${cols} = ${rows * cols} values, found ${values.length}.`,
    );
  }
  const lines = (separator: string): string[] =>
    Array.from({ length: rows }, (_, row) =>
      Array.from({ length: cols }, (_, col) =>
        numberText(Math.fround(values[row * cols + col]!), format),
      ).join(separator),
    );
  switch (format) {
    case 'csv':
      return lines(',').join('\n');
    case 'tsv':
      return lines('\t').join('\n');
    case 'json':
      return `[${bracketed(lines(', ')).join(', ')}]`;
    case 'numpy':
      return `np.array([\n${bracketed(lines(', '))
        .map((row) => `    ${row},\n`)
        .join('')}], dtype=np.float32)`;
    case 'latex':
      return `\\begin{bmatrix}\n${lines(' & ').join(' \\\\\n')}\n\\end{bmatrix}`;
  }
}

function bracketed(rows: readonly string[]): string[] {
  return rows.map((row) => `[${row}]`);
}

function numberText(value: number, format: WriteFormat): string {
  if (Number.isNaN(value)) return nan[format];
  if (!Number.isFinite(value)) return infinite(value < 0, format);
  // As an integer, -0 would lose its sign in Python.
  if (Object.is(value, -0)) return '-0.0';
  const text = shortestDecimal(value);
  const [mantissa, exponent] = text.split('e');
  return format === 'latex' && exponent ? `${mantissa} \\times 10^{${exponent}}` : text;
}

const nan: Readonly<Record<WriteFormat, string>> = {
  csv: 'nan',
  tsv: 'nan',
  numpy: 'np.nan',
  latex: '\\mathrm{NaN}',
  json: '"NaN"',
};

const infinity: Readonly<Record<WriteFormat, string>> = {
  csv: 'inf',
  tsv: 'inf',
  numpy: 'np.inf',
  latex: '\\infty',
  json: 'Infinity',
};

function infinite(negative: boolean, format: WriteFormat): string {
  const text = (negative ? '-' : '') + infinity[format];
  return format === 'json' ? `"${text}"` : text;
}
