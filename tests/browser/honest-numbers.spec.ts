/** Numbers as they are: two readings of softmax, digits, extremes, sums, and sizes at the bound. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

test('softmax by hand and in the machine: other steps, the same weights', {
  tag: '@narrow',
}, async ({ page }) => {
  const lab = await Lab.open(page);
  const weights = await lab.texts('weights');
  await expect(lab.matrix('shifted')).toBeVisible();
  await expect(lab.matrix('plainExponentials')).toHaveCount(0);
  await lab.host.getByRole('radio', { name: /by hand/ }).check();
  // exp(2) = 7.389056 and exp(0) = 1.
  await lab.expectTexts('plainExponentials', [
    ['7.3891', '1.0000'],
    ['1.0000', '7.3891'],
  ]);
  await lab.expectTexts('plainRowSum', [['8.3891'], ['8.3891']]);
  await expect(lab.matrix('shifted')).toHaveCount(0);
  await expect(lab.matrix('exponentials')).toHaveCount(0);
  await lab.expectTexts('weights', weights);
  await expect(lab.host.getByText(/Both ways give the same weights/)).toBeVisible();
  await lab.cell('plainExponentials', 0, 0).hover();
  await expect(lab.explanation).toContainText(/exp\(2\)/);

  // Where exp of the score is beyond float32, only the machine's way still works.
  await lab.edit('q', 0, 0, '200');
  await expect(lab.cell('plainExponentials', 0, 0)).toHaveText('∞');
  await expect(lab.cell('weights', 0, 0)).toHaveText(/^\s*1(\.0+)?\s*$/);
  await lab.host.getByRole('radio', { name: /in the machine/ }).check();
  await expect(lab.cell('exponentials', 0, 0)).toHaveText(/^\s*1(\.0+)?\s*$/);
});

test('a text that is being typed is not taken away by what happens meanwhile', async ({ page }) => {
  const lab = await Lab.open(page);
  const scale = lab.field(/^Scale/);
  await scale.focus();
  await page.keyboard.type('1/');
  // Pointing at a number draws the page anew.
  await lab.cell('weights', 0, 0).hover();
  await expect(lab.explanation).toContainText(/88\.1\s%/);
  await expect(scale).toHaveValue('1/');
  await page.keyboard.type('4');
  await page.keyboard.press('Enter');
  await lab.expectNumbers('scaledScores', [
    [1, 0],
    [0, 1],
  ]);
  await lab.field(/How many digits/).focus();
  await expect(scale).toHaveValue('0.25');
});

test('digits: decimals 0 to 8 or significant ones, bad ones named and kept', async ({ page }) => {
  const lab = await Lab.open(page);
  const digits = /How many digits/;
  const shown = { '0': '1', '1': '0.9', '8': '0.88079709' };
  for (const [count, text] of Object.entries(shown)) {
    await lab.set(digits, count);
    // σ(2) = 0.880797077977882; a float32 is known to 6e-8.
    const found = lab.cell('weights', 0, 0);
    await expect(found).toHaveText(count === '8' ? /^0\.880797\d\d$/ : text);
  }
  for (const bad of ['9', '-1', '1.5', 'all', '']) {
    await lab.set(digits, bad);
    await expect(lab.alerts).toContainText('The number of digits is a whole number from 0 to 8');
    await expect(lab.alerts).toContainText(`“${bad}” was found`);
    await expect(lab.field(digits)).toHaveValue(bad);
    await expect(lab.cell('weights', 0, 0)).toHaveText(/^0\.880797\d\d$/);
  }
  await lab.set(digits, '3');
  await expect(lab.alerts).toHaveCount(0);
  await lab.host
    .getByRole('combobox', { name: 'What the digits count' })
    .selectOption('significant');
  await expect(lab.cell('weights', 0, 0)).toHaveText('0.881');
  await expect(lab.cell('weights', 0, 1)).toHaveText('0.119');
  await lab.set(digits, '0');
  await expect(lab.alerts).toContainText('from 1 to 8');
});

test('−0, tiny and huge numbers are told apart, and stand under one another', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.edit('v', 0, 0, '-0');
  await expect(lab.input('v', 0, 0)).toHaveValue(/^−0/);
  await lab.edit('v', 0, 0, '1e-30');
  await expect(lab.input('v', 0, 0)).toHaveValue(/^1(\.0*)?e−30$/);
  await lab.edit('v', 0, 0, '3e38');
  await expect(lab.input('v', 0, 0)).toHaveValue(/^3(\.0*)?e38$/);
  await expect(lab.alerts).toHaveCount(0);
  // 3·10³⁸ twice is more than a float32 holds; what comes of it is shown, not hidden.
  await lab.edit('q', 0, 0, '3e38');
  await lab.edit('k', 0, 0, '3e38');
  await expect(lab.cell('rawScores', 0, 0)).toHaveText('∞');
  await lab.cell('rawScores', 0, 0).hover();
  await expect(lab.explanation).toContainText('∞');
  await lab.button('Undo').click();
  await lab.button('Undo').click();
  await lab.button('Undo').click();

  // One width and tabular figures: the decimal signs of a column are at one place.
  const v = lab.matrix('weights').locator('td[data-col="0"]');
  const [first, second] = await v.evaluateAll((cells) =>
    cells.map((cell) => {
      const range = document.createRange();
      const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode() as Text;
      const at = text.data.indexOf('.');
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect().x;
    }),
  );
  expect(first).toBeCloseTo(second ?? Number.NaN, 1);
});

test('a scale of one’s own, even 0 or negative, and a bad one named', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.set(/^Scale/, '0');
  await lab.expectNumbers('weights', [
    [0.5, 0.5],
    [0.5, 0.5],
  ]);
  await lab.set(/^Scale/, '−1/2');
  await lab.expectTexts('weights', [
    ['0.1192', '0.8808'],
    ['0.8808', '0.1192'],
  ]);
  for (const bad of ['wide', 'NaN', 'Infinity', '1e99']) {
    await lab.set(/^Scale/, bad);
    await expect(lab.alerts).toContainText(/The scale: expected a.*number/i);
    await expect(lab.alerts).toContainText(bad);
    await expect(lab.field(/^Scale/)).toHaveValue(bad);
    await expect(lab.cell('weights', 0, 0)).toHaveText('0.1192');
  }
  await lab.set(/^Scale/, '');
  await expect(lab.alerts).toHaveCount(0);
  await expect(lab.cell('weights', 0, 0)).toHaveText('0.8808');
});

/** The fields of the sizes, and a size that each of them does not take. */
const beyond: readonly (readonly [RegExp, string, string])[] = [
  [/number of queries/, '1025', 'T_q is 1025, but at most 1024 was expected'],
  [/number of keys/, '3000000', 'T_k is 3000000, but at most 1024 was expected'],
  [/width of queries and keys/, '1025', 'd_k is 1025, but at most 1024 was expected'],
  [
    /width of values/,
    '9'.repeat(20),
    'd_v is 100000000000000000000, but at most 1024 was expected',
  ],
  [/batch size/, '1025', 'B is 1025, but at most 1024 was expected'],
  [/number of query heads/, '257', 'H·d_k is 1028, but at most 1024 was expected'],
  [/number of key and value heads/, '1025', 'G is 1025, but at most 1024 was expected'],
];

test('a size beyond what the page draws is refused, with what was found and what is taken', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.host.getByText('Batch, heads, softcap').click();
  for (const [field, text, sentence] of beyond) {
    const before = await lab.field(field).inputValue();
    await lab.set(field, text);
    await expect(lab.alerts).toContainText(sentence);
    await expect(lab.alerts).toHaveCount(1);
    await expect(lab.field(field)).toHaveAttribute('aria-invalid', 'true');
    await expect(lab.field(field)).toHaveAccessibleDescription(new RegExp(sentence));
    await lab.set(field, before);
    await expect(lab.alerts).toHaveCount(0);
  }
  await lab.expectTexts('heads', [
    ['1.2384', '1.7616'],
    ['2.7616', '0.2384'],
  ]);
  await expect(lab.button('Undo')).toBeDisabled();
  for (const bad of ['-1', '1.5', 'two', '']) {
    await lab.set(/number of keys/, bad);
    await expect(lab.alerts).toContainText(`T_k is a whole number of 0 or more, but “${bad}”`);
    await expect(lab.field(/number of keys/)).toHaveValue(bad);
  }
  await lab.set(/number of keys/, '2');
  await expect(lab.alerts).toHaveCount(0);
  // The largest size itself is taken, and drawn.
  await lab.set(/number of keys/, '1024');
  await expect(lab.host.getByRole('application', { name: /^K, keys, 1024 × 4/ })).toBeVisible();
  const drawn = lab.matrix('keyTransposed');
  await drawn.scrollIntoViewIfNeeded();
  await expect(drawn).toContainText('all is shown; 1 × 2 cells are drawn as one');
});

test('one head more than the arena holds is refused with what is needed and what fits', async ({
  page,
}) => {
  // A quarter of a gigabyte is computed several times.
  test.slow();
  // Of 1024 tokens and 10 heads each matrix of scores has 40 MB: six of them, and some for the rest.
  const lab = await Lab.open(
    page,
    'strict/lab/#?example=random&tq=1024&tk=1024&dK=8&dV=8&heads=10&kvHeads=1',
  );
  const heads = lab.field(/number of query heads/);
  await expect(heads).toHaveValue('10');
  const map = lab.host.getByRole('application', { name: /^A, weights, 1024 × 1024/ }).first();
  await expect(map).toBeVisible();
  await lab.set(/number of query heads/, '12');
  await expect(lab.alerts).toContainText(/need 2[0-9]{2} MB; at most 256 MB fit/);
  await expect(heads).toHaveValue('12');
  await expect(heads).toHaveAttribute('aria-invalid', 'true');
  await expect(map).toBeVisible();
  // The old numbers are still those of ten heads, and smaller problems follow.
  await expect(lab.matrix('weights')).toContainText('head 0 of 10');
  await lab.set(/number of query heads/, '1');
  await expect(lab.alerts).toHaveCount(0);
  await expect(heads).toBeVisible();
  await lab.set(/number of query heads/, '10');
  await expect(lab.alerts).toHaveCount(0);
  await expect(lab.matrix('weights')).toContainText('head 0 of 10');
});

for (const reading of ['machine', 'hand']) {
  test(`a row that sees no key is said to be set, not worked (${reading})`, async ({ page }) => {
    const link = `example=second&softmax=${reading}&masked=on&mask=-inf,-inf,-inf;0,0,0;0,0,0`;
    const lab = await Lab.open(page, `strict/lab/#?${link}`);
    await lab.cell('weights', 0, 1).click();
    await expect(lab.explanation).toContainText(
      /No key is visible in the row of .*0 ÷ 0 has no value: the row is set to 0 by convention/,
    );
    await expect(lab.explanation.locator('.arith')).toHaveText('0 ÷ 0');
    await lab.cell('weights', 1, 1).click();
    await expect(lab.explanation).toContainText(/of its attention/);
    await expect(lab.explanation).not.toContainText('No key');
  });
}
