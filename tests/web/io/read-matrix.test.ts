/** Tests of what may be pasted as a matrix and of the sentence that says how it was taken. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxCells } from '../../../web/io/grid.ts';
import { interpretation, type MatrixResult, readMatrix } from '../../../web/io/read-matrix.ts';

function taken(result: MatrixResult): unknown[] {
  if (!result.ok) throw new Error(result.message);
  return [result.format, interpretation(result), result.values];
}

const square = [
  [1, 2],
  [3, 4],
];

describe('formats', () => {
  it.each([
    // NumPy
    ['[[1. 2.]\n [3. 4.]]', 'numpy', 'NumPy array, 2 × 2', square],
    [
      '[[ 1.   2.5]\n [-3.   0. ]]',
      'numpy',
      'NumPy array, 2 × 2',
      [
        [1, 2.5],
        [-3, 0],
      ],
    ],
    ['[[1.e+00 2.e-01]]', 'numpy', 'NumPy array, 1 × 2', [[1, 0.20000000298023224]]],
    ['[1. 2. 3.]', 'numpy', 'NumPy array, 1 × 3', [[1, 2, 3]]],
    ['array([[1., 2.],\n       [3., 4.]], dtype=float32)', 'numpy', 'NumPy array, 2 × 2', square],
    ['Q = np.array([[1, 2], [3, 4]])', 'numpy', 'NumPy array, 2 × 2', square],
    ['numpy.asarray([[1, 2], [3, 4],], np.float32);', 'numpy', 'NumPy array, 2 × 2', square],
    ['matrix([[1, 2],\n        [3, 4]])', 'numpy', 'NumPy array, 2 × 2', square],
    // PyTorch
    ['tensor([[1., 2.],\n        [3., 4.]])', 'tensor', 'PyTorch tensor, 2 × 2', square],
    [
      "torch.tensor([[1, 2], [3, 4]], device='cuda:0', grad_fn=<MmBackward0(x)>)",
      'tensor',
      'PyTorch tensor, 2 × 2',
      square,
    ],
    ['torch.Tensor([1, 2])', 'tensor', 'PyTorch tensor, 1 × 2', [[1, 2]]],
    // Python and JSON
    ['[[1, 2], [3, 4]]', 'json', 'Nested list (JSON or Python), 2 × 2', square],
    ['\ufeff\n [1, 2, 3]\n', 'json', 'Nested list (JSON or Python), 1 × 3', [[1, 2, 3]]],
    ['[\n  1,\n  2\n]', 'json', 'Nested list (JSON or Python), 1 × 2', [[1, 2]]],
    ['[[5]]', 'json', 'Nested list (JSON or Python), 1 × 1', [[5]]],
    ['["1", "2"]', 'json', 'Nested list (JSON or Python), 1 × 2', [[1, 2]]],
    ['[[1., 2,], [3, 4,],]', 'python', 'Python list, 2 × 2', square],
    ['[[1/2, -sqrt(4)]]', 'python', 'Python list, 1 × 2', [[0.5, -2]]],
    ['[[np.float32(1.0), np.float32(2.0)]]', 'python', 'Python list, 1 × 2', [[1, 2]]],
    // MATLAB
    ['[1 2; 3 4]', 'matlab', 'MATLAB matrix, 2 × 2', square],
    ['A = [1, 2; 3, 4];', 'matlab', 'MATLAB matrix, 2 × 2', square],
    ['[1 2;\n 3 4;]', 'matlab', 'MATLAB matrix, 2 × 2', square],
    ['[1 2\n 3 4]', 'matlab', 'MATLAB matrix, 2 × 2', square],
    ['[1;2]', 'matlab', 'MATLAB matrix, 2 × 1', [[1], [2]]],
    ['1 2; 3 4', 'matlab', 'MATLAB matrix, 2 × 2', square],
    ['1, 2; 3, 4', 'matlab', 'MATLAB matrix, 2 × 2', square],
    // Separated values
    ['1,2\n3,4', 'csv', 'CSV, 2 × 2', square],
    ['1, 2\r\n3, 4\r\n', 'csv', 'CSV, 2 × 2', square],
    ['1,2\r3,4', 'csv', 'CSV, 2 × 2', square],
    ['"1","2"\n"3","4"', 'csv', 'CSV, 2 × 2', square],
    [
      '1 / 2, 2\n\n3, 4',
      'csv',
      'CSV, 2 × 2',
      [
        [0.5, 2],
        [3, 4],
      ],
    ],
    ['1;2\n3;4', 'csv', 'CSV with semicolons, 2 × 2', square],
    ['1\t2\n3\t4', 'tsv', 'Tab-separated values, 2 × 2', square],
    ['1,\t2\n3,\t4', 'csv', 'CSV, 2 × 2', square],
    ['1 2\n3 4', 'spaces', 'Numbers separated by spaces, 2 × 2', square],
    ['A =\n\n     1     2\n     3     4\n', 'spaces', 'Numbers separated by spaces, 2 × 2', square],
    ['(1 + 2) 4', 'spaces', 'Numbers separated by spaces, 1 × 2', [[3, 4]]],
    ['−5', 'spaces', 'Numbers separated by spaces, 1 × 1', [[-5]]],
    // LaTeX
    ['\\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}', 'latex', 'LaTeX matrix, 2 × 2', square],
    [
      '$$Q = \\begin{pmatrix}\n1 & 2 \\\\\n3 & 4 \\\\\n\\end{pmatrix}$$',
      'latex',
      'LaTeX matrix, 2 × 2',
      square,
    ],
    ['\\begin{matrix*}[r]1&2\\\\3&4\\end{matrix*}.', 'latex', 'LaTeX matrix, 2 × 2', square],
    [
      '\\[W^Q = \\left[\\begin{array}{@{}c|c@{}} 1 & 2 \\\\[2pt] \\hline 3 & 4 \\end{array}\\right]\\]',
      'latex',
      'LaTeX matrix, 2 × 2',
      square,
    ],
    ['1 & 2 \\\\ 3 & 4', 'latex', 'LaTeX matrix, 2 × 2', square],
    [
      '\\begin{bmatrix} \\frac{1}{4} & -\\frac12 & \\sqrt{4} & \\sqrt9 & 2\\sqrt{4} & 0{,}5 \\end{bmatrix}',
      'latex',
      'LaTeX matrix, 1 × 6',
      [[0.25, -0.5, 2, 3, 4, 0.5]],
    ],
    [
      '\\dfrac{\\sqrt{16}}{2} & 1.5 \\times 10^{-7} & 2 \\cdot 3 & \\left(1 + 1\\right)^{3} & 2^3 \\times 10^2',
      'latex',
      'LaTeX matrix, 1 × 5',
      [[2, 1.500000053056283e-7, 6, 8, 800]],
    ],
  ])('%j', (text, format, name, values) => {
    expect(taken(readMatrix(text))).toEqual([format, name, values]);
  });

  it('tells the wrapped lines of a long NumPy row from the rows of a MATLAB matrix', () => {
    const line = Array(25).fill('1.').join(' ');
    expect(taken(readMatrix(`[${line}\n ${line}]`))[1]).toBe('NumPy array, 1 × 50');
    expect(taken(readMatrix('[1. 2.\n 3. 4.]'))[1]).toBe('MATLAB matrix, 2 × 2');
  });
});

describe('notes', () => {
  const note = (text: string) => {
    const result = readMatrix(text);
    return result.ok ? [result.values, result.note] : result.message;
  };

  it('names decimal commas', () => {
    const said = 'Commas inside numbers were read as decimal signs.';
    const halves = [
      [0.5, 1.5],
      [2.5, 3.5],
    ];
    for (const text of [
      '0,5;1,5\n2,5;3,5',
      '0,5\t1,5\n2,5\t3,5',
      '0,5 1,5\n2,5 3,5',
      '"0,5","1,5"\n"2,5","3,5"',
    ]) {
      expect(note(text)).toEqual([halves, said]);
    }
  });

  it('says when lone pairs such as 0,5 were taken for two numbers', () => {
    expect(note('0,5\n1,5')).toEqual([
      [
        [0, 5],
        [1, 5],
      ],
      'Commas were read as separators, not as decimal signs.',
    ]);
    expect(note('1,2\n3,4')).toEqual([square, undefined]);
  });

  it('names a row of column names that it leaves out', () => {
    const said = (names: string) =>
      `The first row (“${names}”) was taken for column names and left out.`;
    expect(note('d0,d1\n1,2\n3,4')).toEqual([square, said('d0, d1')]);
    expect(note('the\tcat\n1\t2')).toEqual([[[1, 2]], said('the, cat')]);
    // Names that are also numbers.
    expect(note('d,e\n1,2')).toEqual([[[1, 2]], said('d, e')]);
    expect(note('pi,e\n1,2')).toEqual([
      [
        [3.1415927410125732, 2.7182817459106445],
        [1, 2],
      ],
      undefined,
    ]);
  });

  it('names numbers that vanish', () => {
    expect(note('1e-60 1')).toEqual([[[0, 1]], 'Numbers too small for a 32-bit float became 0.']);
  });
});

describe('what cannot be read', () => {
  it.each([
    ['', 'Expected a matrix, found empty text.', undefined, undefined],
    [' \n\t ', 'Expected a matrix, found empty text.', undefined, undefined],
    ['Q =', 'Expected a matrix, found empty text.', undefined, undefined],
    ['[]', 'Expected a matrix, found no numbers in it.', 1, 1],
    ['[[], []]', 'Expected a matrix, found no numbers in it.', 1, 1],
    ['[[1, 2], []]', 'Expected 2 numbers in the 2nd row, as in the 1st, found 0.', 1, 1],
    ['[[1, 2], [3]]', 'Expected 2 numbers in the 2nd row, as in the 1st, found 1.', 1, 11],
    ['1 2\n3 4\n5', 'Expected 2 numbers in the 3rd row, as in the 1st, found 1.', 3, 1],
    ['a,b\n1,2\n3', 'Expected 2 numbers in the 3rd row, as in the 2nd, found 1.', 3, 1],
    ['1\n2 3', 'Expected 1 number in the 2nd row, as in the 1st, found 2.', 2, 1],
    ['hello', 'The 1st number of the 1st row: expected a number, found “hello”.', 1, 1],
    ['[[1, 2], [3, x]]', 'The 2nd number of the 2nd row: expected a number, found “x”.', 1, 14],
    [
      '1,2\r\n3,4x',
      'The 2nd number of the 2nd row: expected an operator such as +, −, × or / after “4”, found “x”.',
      2,
      3,
    ],
    ['1,2\n3,', 'The 2nd number of the 2nd row: expected a number, found nothing.', 2, 3],
    ['1\t\t2', 'The 2nd number of the 1st row: expected a number, found nothing.', 1, 3],
    ['the,1,2\ncat,3,4', 'The 1st number of the 1st row: expected a number, found “the”.', 1, 1],
    ['[[1, nan]]', 'The 2nd number of the 1st row: expected a finite number, found “nan”.', 1, 6],
    [
      '[[1, 1e39]]',
      'The 2nd number of the 1st row: expected a number within ±3.4028235e38, the range of 32-bit floats, found “1e39”.',
      1,
      6,
    ],
    [
      '1.234,5;1',
      'The 1st number of the 1st row: expected one decimal sign and no thousands separators, found “1.234,5”.',
      1,
      1,
    ],
    [
      '[[1, 2 3]]',
      'The 2nd number of the 1st row: expected an operator such as +, −, × or / after “2”, found “3”.',
      1,
      6,
    ],
    ['[[1, 2', 'Expected “]” at the end of the 1st row, found the end of the text.', 1, 7],
    ['[[1, 2]', 'Expected “[” or “]” after the 1st row, found the end of the text.', 1, 8],
    ['[[1, 2], 3]', 'Expected “[” or “]” after the 1st row, found “3]”.', 1, 10],
    [
      '[1, [2]]',
      'Expected numbers in the 1st row, found a further bracket: a matrix has rows and columns only.',
      1,
      5,
    ],
    [
      '[[[1, 2]]]',
      'Expected numbers in the 1st row, found a further bracket: a matrix has rows and columns only.',
      1,
      3,
    ],
    ['[[1]] + 2', 'Expected the end of the text after the matrix, found “+ 2”.', 1, 7],
    ['np.array(5)', 'Expected “[” after “np.array(”, found “5)”.', 1, 10],
    ['np.array([[1]]', 'Expected “)” after the matrix, found the end of the text.', 1, 15],
    [
      'np.array([[1]], dtype=(',
      'Expected “)” at the end of the call, found the end of the text.',
      1,
      24,
    ],
    [
      '[[1. 2. ... 9.]]',
      'The 3rd number of the 1st row: expected a number, found “...”: the text is abbreviated, print the matrix whole.',
      1,
      9,
    ],
    [
      '[[1]\n ...\n [9]]',
      'Expected “[” or “]” after the 1st row, found “... [9]]”: the text is abbreviated, print the matrix whole.',
      2,
      2,
    ],
    [
      '\\begin{bmatrix} 1 & 2',
      'Expected \\end{bmatrix} after \\begin{bmatrix}, found the end of the text.',
      1,
      22,
    ],
    ['2 \\begin{bmatrix} 1 \\end{bmatrix}', 'Expected nothing before the matrix, found “2”.', 1, 1],
    [
      '\\begin{bmatrix} 1 \\end{bmatrix}^T',
      'Expected nothing after the matrix, found “^T”.',
      1,
      32,
    ],
    ['1 & \\alpha', 'The 2nd number of the 1st row: expected a number, found “\\alpha”.', 1, 5],
    [
      '1 & \\frac{1',
      'The 2nd number of the 1st row: expected a closing brace, found “\\frac{1”.',
      1,
      5,
    ],
    [
      '1 & \\frac{1}',
      'The 2nd number of the 1st row: expected two parts after \\frac, found “\\frac{1}”.',
      1,
      5,
    ],
    [
      '\\sqrt{2}}',
      'The 1st number of the 1st row: expected an opening brace before the closing one, found “\\sqrt{2}}”.',
      1,
      1,
    ],
  ])('%j', (text, message, line, col) => {
    expect(readMatrix(text)).toEqual({
      ok: false,
      message,
      ...(line === undefined ? {} : { line, col }),
    });
  });

  it('leaves out no first row where no names can stand', () => {
    expect(readMatrix('a b\n1 2')).toMatchObject({
      message: 'The 1st number of the 1st row: expected a number, found “a”.',
    });
    expect(readMatrix('[[a, b], [1, 2]]')).toMatchObject({ ok: false });
  });

  it('counts places as they are spoken', () => {
    const message = (n: number) => {
      const result = readMatrix(`${'1 '.repeat(n - 1)}x`);
      return result.ok ? '' : result.message.split(' ')[1];
    };
    expect([1, 2, 3, 4, 11, 12, 13, 21, 22, 111, 113, 123].map(message)).toEqual(
      '1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 111th 113th 123rd'.split(' '),
    );
  });

  it('rounds a power of ten in LaTeX once', () => {
    // 459705200 lies half way between two float32, and 459705216 is the even one. The float64
    // product 4.597052 · 10⁸ falls short of the half.
    expect(taken(readMatrix('4.597052 \\times 10^{8} & 4.597052\\cdot10^8'))[2]).toEqual([
      [459705216, 459705216],
    ]);
  });

  it('nests LaTeX to a limit, side by side without one', () => {
    const nested = (levels: number) => `\\sqrt{${'{'.repeat(levels)}4${'}'.repeat(levels)}}`;
    expect(taken(readMatrix(nested(20)))[2]).toEqual([[2]]);
    expect(readMatrix(nested(100_000))).toMatchObject({
      message: expect.stringContaining('expected at most 64 levels of nesting'),
    });
    expect(readMatrix('\\frac'.repeat(100_000))).toMatchObject({ ok: false });
    const sum = Array(200).fill('\\frac{1}{2}').join('+');
    expect(taken(readMatrix(sum))[2]).toEqual([[100]]);
  });

  it('takes −Infinity only where a mask may hold it', () => {
    expect(readMatrix('[[0, -inf]]').ok).toBe(false);
    expect(taken(readMatrix('[[0, -inf]]', { nonFinite: 'minusInfinity' }))[2]).toEqual([
      [0, -Infinity],
    ]);
    expect(readMatrix('[[0, inf]]', { nonFinite: 'minusInfinity' })).toMatchObject({ ok: false });
  });

  it('has a limit of cells and one of characters', () => {
    expect(readMatrix('1 '.repeat(maxCells))).toMatchObject({ ok: true });
    expect(readMatrix('1 '.repeat(maxCells + 1))).toMatchObject({
      message: 'Expected at most 1048576 numbers (1024 × 1024), found more.',
    });
    expect(readMatrix(' '.repeat(2 ** 25 + 1))).toEqual({
      ok: false,
      message: 'Expected at most 33554432 characters, found 33554433.',
    });
  });
});

describe('properties', () => {
  it('never throws, and gives a rectangle of float32 or a sentence', () => {
    const pieces = fc.constantFrom(
      ...'0123456789.,;+-−/^()[]{}\\&"\'√e \t\n=',
      ...['1', '2.5', '[[', ']]', 'np.array(', 'tensor(', ', dtype=float32)', '\\\\', '\\frac'],
      ...['\\begin{bmatrix}', '\\end{bmatrix}', '\\begin{array}{c}', '\\sqrt{', '...', 'nan', 'x'],
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (pasted) => {
        const result = readMatrix(pasted);
        if (!result.ok) {
          expect(result.message).toMatch(/[Ee]xpected .+, found .+\.$/s);
          return;
        }
        const cols = result.values[0]!.length;
        expect(cols).toBeGreaterThan(0);
        for (const row of result.values) {
          expect(row).toHaveLength(cols);
          for (const value of row) {
            expect(Number.isFinite(value) && Math.fround(value) === value).toBe(true);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('does not hang on a long text, whatever is repeated in it', () => {
    // In quadratic time one of these takes minutes, and all of them together seconds in linear time.
    const heads = ['', '[[', '1 ', '\\begin{bmatrix}'];
    const pieces = [
      ...'([{\\-"; \n\te.1a√&,0$',
      '1 ',
      '1,',
      '1+',
      '\\\\[',
      '\\frac',
      '\\frac{',
      '2^',
    ];
    for (const head of heads) {
      for (const piece of pieces) readMatrix(`${head}${piece.repeat(200_000)}x`);
    }
  }, 120_000);
});
