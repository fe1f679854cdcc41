/** Tests of the written text itself, and that it reads back bit for bit. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMatrix } from '../../../web/io/read-matrix.ts';
import { type WriteFormat, writeMatrix } from '../../../web/io/write-matrix.ts';

const formats: readonly WriteFormat[] = ['csv', 'tsv', 'numpy', 'latex', 'json'];

const special = Float32Array.of(1, -0, 0.1, 1.5e-7, NaN, -Infinity);

describe('the text', () => {
  it.each<[WriteFormat, string]>([
    ['csv', '1,-0.0,0.1\n1.5e-7,nan,-inf'],
    ['tsv', '1\t-0.0\t0.1\n1.5e-7\tnan\t-inf'],
    [
      'numpy',
      'np.array([\n    [1, -0.0, 0.1],\n    [1.5e-7, np.nan, -np.inf],\n], dtype=np.float32)',
    ],
    [
      'latex',
      '\\begin{bmatrix}\n1 & -0.0 & 0.1 \\\\\n1.5 \\times 10^{-7} & \\mathrm{NaN} & -\\infty\n\\end{bmatrix}',
    ],
    ['json', '[[1, -0.0, 0.1], [1.5e-7, "NaN", "-Infinity"]]'],
  ])('%s', (format, text) => {
    expect(writeMatrix(special, 2, 3, format)).toBe(text);
  });

  it('rounds a float64 to the float32 that the engine holds', () => {
    expect(writeMatrix([1 / 3, 16777217], 1, 2, 'csv')).toBe('0.33333334,16777216');
  });

  it('is JSON for every JSON reader', () => {
    expect(JSON.parse(writeMatrix(special, 2, 3, 'json'))).toEqual([
      [1, -0, 0.1],
      [1.5e-7, 'NaN', '-Infinity'],
    ]);
  });

  it('refuses values that do not fill the shape', () => {
    expect(() => writeMatrix([1, 2, 3], 2, 2, 'csv')).toThrow(
      'Expected 2 × 2 = 4 values, found 3.',
    );
  });
});

describe('what is written reads back bit for bit', () => {
  const bits = (values: ArrayLike<number>) => [
    ...new Uint32Array(Float32Array.from(values).buffer),
  ];
  const matrix = fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }))
    .chain(([rows, cols]) =>
      fc.record({
        rows: fc.constant(rows),
        cols: fc.constant(cols),
        values: fc.array(
          fc.oneof(fc.float(), fc.integer({ min: -9, max: 9 }), fc.constantFrom(-0, NaN, Infinity)),
          { minLength: rows * cols, maxLength: rows * cols },
        ),
      }),
    );

  it.each(formats)('%s', (format) => {
    fc.assert(
      fc.property(matrix, ({ rows, cols, values }) => {
        const result = readMatrix(writeMatrix(values, rows, cols, format), { nonFinite: 'all' });
        if (!result.ok) throw new Error(result.message);
        expect(result.values.map((row) => row.length)).toEqual(Array(rows).fill(cols));
        expect(bits(result.values.flat())).toEqual(bits(values));
      }),
      { numRuns: 500 },
    );
  });
});
