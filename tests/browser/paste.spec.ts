/** Whole matrices: pasted in any notation, filled, drawn from a seed, copied, and what is refused. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const worked = {
  q: [
    ['2', '0', '2', '0'],
    ['0', '4', '0', '2'],
  ],
  v: [
    ['1', '2'],
    ['3', '0'],
  ],
  heads: [
    ['1.2384', '1.7616'],
    ['2.7616', '0.2384'],
  ],
};

/** The same rows 1, 0.5, −2, 0.25 and 0, 3, 0, 1, as many programs write them. */
const notations: Record<string, [RegExp, string]> = {
  NumPy: [/NumPy array, 2 × 4/, 'np.array([[1, .5, -2, 0.25],\n          [0, 3, 0, 1]])'],
  'printed NumPy': [
    /NumPy array, 2 × 4/,
    '[[ 1.    0.5  -2.    0.25]\n [ 0.    3.    0.    1.  ]]',
  ],
  PyTorch: [/PyTorch tensor, 2 × 4/, 'tensor([[1., 0.5, -2., 0.25], [0., 3., 0., 1.]])'],
  'a Python list': [/list.*, 2 × 4/, '[[1, 1/2, -2, 1/4], [0, 3, 0, 1]]'],
  JSON: [/JSON.*, 2 × 4/, '[[1,0.5,-2,25e-2],[0,3,0,1]]'],
  MATLAB: [/MATLAB matrix, 2 × 4/, '[1 0.5 -2 0.25; 0 3 0 1]'],
  CSV: [/CSV, 2 × 4/, '1,0.5,-2,0.25\n0,3,0,1\n'],
  'CSV with decimal commas': [/CSV with semicolons, 2 × 4/, '1;0,5;-2;0,25\n0;3;0;1'],
  'a spreadsheet': [/Tab-separated values, 2 × 4/, '1\t0.5\t-2\t0.25\n0\t3\t0\t1'],
  LaTeX: [
    /LaTeX matrix, 2 × 4/,
    '\\begin{bmatrix} 1 & \\frac{1}{2} & -2 & 0.25 \\\\ 0 & 3 & 0 & 1 \\end{bmatrix}',
  ],
};

test('every notation says what it is taken for before it is taken', async ({ page }) => {
  const lab = await Lab.open(page);
  for (const [name, [interpretation, text]] of Object.entries(notations)) {
    await test.step(name, async () => {
      await lab.openTools('Q');
      await lab.give(text);
      await expect(lab.understood).toContainText(interpretation);
      await expect(lab.dialog.getByRole('table')).toContainText('−2');
      await lab.expectTexts('q', worked.q);
      await lab.dialog.getByRole('button', { name: 'Take it', exact: true }).click();
      await expect(lab.dialog).toHaveCount(0);
      await lab.expectNumbers('q', [
        [1, 0.5, -2, 0.25],
        [0, 3, 0, 1],
      ]);
      // 1·1 − 2·1 and 0.5·1; 0 and 3·1.
      await lab.expectNumbers('rawScores', [
        [-1, 0.5],
        [0, 3],
      ]);
      await lab.button('Undo').click();
      await lab.expectTexts('q', worked.q);
    });
  }
});

/** What is given to which matrix, and what must be said of it. */
const refused: Record<string, [string, string, RegExp]> = {
  'ragged rows': ['Q', '1, 2, 3, 4\n5, 6', /2nd row.*2.*(1st|first).*4|4.*2nd row.*2/i],
  letters: ['Q', '[[1, 2], [three, 4]]', /expected a number.*three.*line 1/i],
  'a missing cell': ['Q', '1,2,,4\n5,6,7,8', /expected a number.*(nothing|empty)/i],
  'only brackets': ['Q', '[]', /expected.*(found|empty)/i],
  'only space': ['Q', '[[ ]]', /expected.*(found|empty)/i],
  'NaN where it cannot be': ['Q', '[[1, nan], [2, 3]]', /expected a finite number.*nan/i],
  'infinity where it cannot be': ['V', '[[1, inf], [2, 3]]', /expected a finite number.*inf/i],
  'a number beyond float32': ['V', '[[1e39, 1], [2, 3]]', /3\.4028235e38.*1e39/],
  'an abbreviated print': ['Q', '[[1, 2, ..., 3], [4, 5, ..., 6]]', /abbreviated/],
};

test('what cannot be taken is named, keeps the old numbers and stays for correction', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  for (const [name, [letter, text, sentence]] of Object.entries(refused)) {
    await test.step(name, async () => {
      await lab.openTools(letter);
      await lab.give(text);
      await expect(lab.understood).toContainText(sentence);
      await expect(lab.understood).toHaveClass(/complaint/);
      await expect(lab.dialog.getByRole('button', { name: /^Take it/ })).toHaveCount(0);
      const box = lab.dialog.getByRole('textbox', { name: /Paste or type/ });
      await expect(box).toHaveValue(text);
      await expect(box).toHaveAccessibleDescription(sentence);
      await page.keyboard.press('Escape');
      await lab.expectTexts('q', worked.q);
      await lab.expectTexts('heads', worked.heads);
    });
  }
  await expect(lab.button('Undo')).toBeDisabled();

  await test.step('an empty text offers nothing', async () => {
    await lab.openTools('Q');
    await lab.give('  \n');
    await expect(lab.dialog.getByRole('button', { name: /^Take it/ })).toHaveCount(0);
  });
  await test.step('a refused text can be corrected where it stands', async () => {
    await lab.give('2 0 2 0\n0 4 0 y');
    await expect(lab.understood).toHaveClass(/complaint/);
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('3');
    await expect(lab.understood).not.toHaveClass(/complaint/);
    await lab.dialog.getByRole('button', { name: 'Take it', exact: true }).click();
    await expect(lab.input('q', 1, 3)).toHaveValue('3');
  });
});

test('a matrix of more rows or columns than the page draws is named and not taken', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  const rows = `[${Array(1025).fill('[1,2]').join()}]`;
  const wide = Array(1025).fill('1').join(' ');
  for (const [letter, text, sentence] of [
    ['V', rows, 'V cannot be taken: T_k is 1025, but at most 1024 was expected'],
    ['Q', wide, 'Q cannot be taken: d_k is 1025, but at most 1024 was expected'],
  ] as const) {
    await lab.openTools(letter);
    await lab.give(text);
    await expect(lab.understood).toContainText(sentence);
    await expect(lab.understood).toHaveClass(/complaint/);
    await expect(lab.dialog.getByRole('button', { name: /^Take it/ })).toHaveCount(0);
    await page.keyboard.press('Escape');
  }
  await lab.expectTexts('heads', worked.heads);
});

test('a text that was not taken is there again when the dialog is', async ({ page }) => {
  const lab = await Lab.open(page);
  const box = lab.dialog.getByRole('textbox', { name: /Paste or type/ });
  await lab.openTools('Q');
  await lab.give('1 2 3 x');
  await page.keyboard.press('Escape');
  await expect(lab.dialog).toHaveCount(0);
  await lab.openTools('Q');
  await expect(box).toHaveValue('1 2 3 x');
  await expect(lab.understood).toHaveClass(/complaint/);
  await lab.give('2 0 2 0\n0 4 0 3');
  await lab.dialog.getByRole('button', { name: 'Close' }).click();
  // Another example does not take it away either.
  await lab.choose(/^Second example/);
  await lab.openTools('Q');
  await expect(box).toHaveValue('2 0 2 0\n0 4 0 3');
  await lab.dialog.getByRole('button', { name: /^Take it/ }).click();
  await expect(lab.input('q', 1, 3)).toHaveValue('3');
  await lab.openTools('Q');
  await expect(box).toHaveValue('');
});

test('a K of another width and a V of other rows say whose sizes they contradict', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.openTools('K');
  await lab.give('[[1, 2, 3], [4, 5, 6]]');
  await expect(lab.understood).toContainText('K has 3 columns, but Q needs d_k = 4');
  await lab.expectTexts('heads', worked.heads);
  await page.keyboard.press('Escape');

  await lab.openTools('V');
  await lab.give('[[1, 2], [3, 4], [5, 6]]');
  await expect(lab.understood).toContainText('V has 3 rows, but K needs T_k = 2');
  await lab.expectTexts('heads', worked.heads);
  await expect(lab.button('Undo')).toBeDisabled();
  // Taking it all the same says what it does, and does that: a key of zeros, with score 0.
  await lab.dialog.getByRole('button', { name: 'Take it and set T_k = 3' }).click();
  await lab.expectTexts('k', [
    ['1', '0', '1', '0'],
    ['0', '1', '0', '0'],
    ['0', '0', '0', '0'],
  ]);
  // (e²·1 + 3 + 5)/(e² + 2) = 1.639043 and (e²·2 + 4 + 6)/(e² + 2) = 2.639043.
  await expect(lab.cell('heads', 0, 0)).toHaveText('1.6390');
  await expect(lab.cell('heads', 0, 1)).toHaveText('2.6390');
  await lab.button('Undo').click();
  await lab.expectTexts('heads', worked.heads);
});

test('an X of more rows makes more queries and keys', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#?example=catSat');
  await lab.openTools('X');
  await lab.give('[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]');
  await lab.dialog.getByRole('button', { name: 'Take it and set T_q = 4', exact: true }).click();
  // Each token is a unit row: q is W_q itself.
  await lab.expectNumbers('q', [
    [0.1, 0.4],
    [0.2, -0.1],
    [-0.3, 0.5],
    [0.6, 0.2],
  ]);
  await expect(lab.matrix('weights').locator('figcaption')).toContainText('4 × 4');
  await expect(lab.host.getByText(/T\s*k = 4, follows T\s*q/)).toBeVisible();
});

test.describe('with the clipboard', () => {
  test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

  const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
  const put = (page: Page, text: string) =>
    page.evaluate((value) => navigator.clipboard.writeText(value), text);

  test('a matrix pasted into a cell opens with its reading, one number goes into the cell', async ({
    page,
  }) => {
    const lab = await Lab.open(page);
    await put(page, '[[5, 6],\n [7, 8]]');
    await lab.input('v', 0, 0).focus();
    await page.keyboard.press('Control+V');
    await expect(lab.understood).toContainText(/2 × 2/);
    await expect(lab.dialog.getByRole('combobox', { name: 'Matrix' })).toHaveValue('v');
    await lab.expectTexts('v', worked.v);
    await lab.dialog.getByRole('button', { name: 'Take it', exact: true }).click();
    await lab.expectTexts('v', [
      ['5', '6'],
      ['7', '8'],
    ]);
    for (const [text, value] of [
      ['0,25', '0.25'],
      ['−1.5', '−1.5'],
      ['1/4', '0.25'],
      ['(1 + 3) / 8', '0.5'],
    ] as const) {
      await put(page, text);
      await lab.input('v', 0, 0).focus();
      await page.keyboard.press('Control+V');
      await expect(lab.dialog).toHaveCount(0);
      await page.keyboard.press('Enter');
      await expect(lab.alerts, text).toHaveCount(0);
      await lab.input('v', 1, 1).focus();
      await lab.input('v', 0, 0).focus();
      await expect(lab.input('v', 0, 0)).toHaveValue(value);
    }
  });

  test('every matrix can be copied, and what was copied reads back', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.openTools('V');
    const copies: Record<string, string> = {
      CSV: '1,2\n3,0',
      NumPy: 'np.array([\n    [1, 2],\n    [3, 0],\n], dtype=np.float32)',
      LaTeX: '\\begin{bmatrix}\n1 & 2 \\\\\n3 & 0\n\\end{bmatrix}',
    };
    for (const [name, text] of Object.entries(copies)) {
      await lab.dialog.getByRole('button', { name, exact: true }).click();
      await expect(lab.dialog.getByText('Copied.')).toBeVisible();
      await expect.poll(() => clipboard(page)).toBe(text);
    }
    await page.keyboard.press('Escape');

    // A result: its numbers at full precision, not as they are rounded on the page.
    await lab.openTools('A');
    await expect(lab.dialog.getByRole('textbox', { name: /Paste or type/ })).toHaveCount(0);
    await lab.dialog.getByRole('button', { name: 'CSV', exact: true }).click();
    await expect.poll(() => clipboard(page)).toMatch(/^0\.8807\d+,0\.1192\d+\n/);
    const weights = (await clipboard(page)).split(/[,\n]/).map(Number);
    // σ(2), a float32: within one unit of its last place.
    expect(Math.abs((weights[0] ?? 0) - 0.880797077977882)).toBeLessThan(1.2e-7);
    await page.keyboard.press('Escape');
    await lab.openTools('V');
    await lab.give(await clipboard(page));
    await lab.dialog.getByRole('button', { name: 'Take it', exact: true }).click();
    await lab.expectTexts('v', await lab.texts('weights'));
  });
});

test('where the clipboard is refused, the text stands there to be copied', async ({ page }) => {
  await page.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'));
  });
  const lab = await Lab.open(page);
  await lab.openTools('V');
  await lab.dialog.getByRole('button', { name: 'CSV', exact: true }).click();
  await expect(lab.dialog).toContainText('clipboard cannot be written');
  const text = lab.dialog.getByRole('textbox', { name: 'Text to copy' });
  await expect(text).toHaveValue('1,2\n3,0');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect(page.getByText('Copy it from the address bar')).toBeVisible();
});

test('a matrix is filled with zeros, ones, the identity, and one undo takes it back', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  const fills: Record<string, string[][]> = {
    Zeros: [
      ['0', '0', '0', '0'],
      ['0', '0', '0', '0'],
    ],
    Ones: [
      ['1', '1', '1', '1'],
      ['1', '1', '1', '1'],
    ],
    Identity: [
      ['1', '0', '0', '0'],
      ['0', '1', '0', '0'],
    ],
  };
  for (const [name, expected] of Object.entries(fills)) {
    await lab.openTools('Q');
    await lab.dialog.getByRole('button', { name, exact: true }).click();
    await expect(lab.dialog).toHaveCount(0);
    await lab.expectTexts('q', expected);
    await lab.button('Undo').click();
    await lab.expectTexts('q', worked.q);
    await expect(lab.button('Undo')).toBeDisabled();
  }
});

test('seeded numbers: the seed is seen, the same seed gives the same numbers, a bad one is named', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  const draw = async (seed: string) => {
    await lab.openTools('Q');
    await lab.dialog.getByRole('textbox', { name: /seed/ }).fill(seed);
    await lab.dialog.getByRole('button', { name: 'Draw', exact: true }).click();
  };
  await draw('7');
  await expect(lab.host.getByText('Seeds Q 7')).toBeVisible();
  await expect.poll(() => lab.texts('q')).not.toEqual(worked.q);
  const seven = await lab.texts('q');
  expect(new Set(seven.flat()).size).toBe(8);

  await lab.button('Next seeds').click();
  await expect(lab.host.getByText('Seeds Q 8')).toBeVisible();
  await expect.poll(() => lab.texts('q')).not.toEqual(seven);
  await draw('7');
  await lab.expectTexts('q', seven);

  for (const bad of ['seven', '4294967296', '-1', '']) {
    await draw(bad);
    await expect(lab.understood).toContainText('A seed is a whole number from 0 to 4294967295');
    if (bad) await expect(lab.understood).toContainText(bad);
    await expect(lab.dialog.getByRole('textbox', { name: /seed/ })).toHaveValue(bad);
    await page.keyboard.press('Escape');
    await lab.expectTexts('q', seven);
  }

  // A number typed into it makes it one that is given; reset is not a new seed.
  await lab.edit('q', 0, 0, '9');
  await expect(lab.host.getByText(/^Seeds/)).toHaveCount(0);
  await lab.button('Reset').click();
  await lab.expectTexts('q', worked.q);
  await lab.button('Undo').click();
  await expect(lab.input('q', 0, 0)).toHaveValue(/^9/);
  await lab.button('Undo').click();
  await lab.expectTexts('q', seven);
  await expect(lab.host.getByText('Seeds Q 7')).toBeVisible();
});
