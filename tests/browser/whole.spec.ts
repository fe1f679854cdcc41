/** Whole matrices, addresses, masks, heads, gradients, the comparison and heat maps. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const paste = (lab: Lab, text: string) =>
  lab.host.getByRole('textbox', { name: /Paste or type/ }).fill(text);

test('a matrix of another width is named, and taken only with the sizes it brings', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.host.getByRole('button', { name: 'Paste, fill, copy…' }).click();
  const dialog = lab.host.getByRole('dialog');
  await paste(lab, '[[1, 2], [3]]');
  await expect(dialog.getByRole('status').first()).toContainText(/2nd row/);
  await expect(dialog.getByRole('button', { name: /^Take it/ })).toHaveCount(0);
  await paste(lab, 'np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])');
  await expect(dialog).toContainText('NumPy array, 3 × 3');
  await expect(dialog).toContainText('Q has 3 columns, but K needs d_k = 4');
  await dialog.getByRole('button', { name: 'Take it and set T_q = 3 and d_k = 3' }).click();
  await lab.expectTexts('q', [
    ['1', '2', '3'],
    ['4', '5', '6'],
    ['7', '8', '9'],
  ]);
  await lab.expectTexts('k', [
    ['1', '0', '1'],
    ['0', '1', '0'],
  ]);
  await lab.host.getByRole('button', { name: 'Undo' }).click();
  await lab.expectTexts('k', [
    ['1', '0', '1', '0'],
    ['0', '1', '0', '0'],
  ]);
});

test('the address brings back numbers, sizes and the pinned cell after a reload', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.edit('q', 0, 0, '-0.1');
  await lab.cell('weights', 0, 1).click();
  await expect(page).toHaveURL(/q=-0\.1,0,2,0;0,4,0,2.*cell=weights:0:1/);
  const weights = await lab.texts('weights');
  await page.reload();
  await lab.ready();
  await lab.expectTexts('weights', weights);
  await expect(lab.pinned).toBeVisible();
  await lab.choose(/^Second example/);
  await expect(page).toHaveURL(/example=second/);
  await page.goBack();
  await lab.expectTexts('weights', weights);
});

test('a link of a newer version gives what is known of it, and says so', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#softmax?ver=9&example=catSat&spin=1');
  await expect(lab.alerts).toContainText('newer version (9)');
  await expect(lab.alerts).toContainText('spin');
  await expect(lab.matrix('q')).toContainText('sat');
});

test('a cell of the mask is painted by click and by Space, and hides its key exactly', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.host.getByLabel('a mask of your own').check();
  await lab.cell('mask', 0, 1).click();
  await lab.expectTexts('weights', [
    ['1.0000', '0.0000'],
    ['0.1192', '0.8808'],
  ]);
  await lab.cell('mask', 0, 1).focus();
  await page.keyboard.press('Space');
  await expect(lab.cell('weights', 0, 1)).toHaveText('0.1192');
  await lab.host.getByLabel('causal mask').check();
  await expect(lab.cell('mask', 0, 1)).toHaveText('−∞');
});

test('heads are shown one at a time, and side by side before W_o', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.choose(/^Two query heads/);
  await expect(lab.matrix('weights')).toContainText('head 0 of 2');
  const first = await lab.texts('heads');
  await lab.host.getByRole('combobox', { name: 'Show head' }).selectOption('1');
  await expect(lab.matrix('weights')).toContainText('head 1 of 2');
  const second = await lab.texts('heads');
  expect(second).not.toEqual(first);
  await lab.expectTexts(
    'concat',
    first.map((row, i) => [...row, ...(second[i] ?? [])]),
  );
});

test('gradients come with the switch, and explain themselves', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.host.getByLabel('Show the gradients').check();
  // dV = Aᵀ·dO with every dO = 1: the columns of A added up.
  await lab.expectTexts('dV', [
    ['1.0000', '1.0000'],
    ['1.0000', '1.0000'],
  ]);
  await lab.cell('dV', 0, 0).click();
  await expect(lab.explanation).toContainText('How much the loss grows');
});

test('the comparison divides by √d_k on one side only', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#scale');
  const raw = lab.host.getByRole('table', { name: /^Without the division/ });
  await expect(raw).toBeVisible();
  const column = (name: RegExp) =>
    lab.host
      .getByRole('table', { name })
      .locator('tbody td:nth-child(2)')
      .evaluateAll((cells) => cells.map((cell) => Number(cell.textContent?.replace('−', '-'))));
  const [scores, scaled] = await Promise.all([column(/^Without/), column(/^Divided/)]);
  for (const [index, score] of scores.entries()) {
    expect(Math.abs(score / 8 - (scaled[index] ?? NaN))).toBeLessThan(0.01);
  }
  await lab.host.getByRole('button', { name: 'Next seed', exact: true }).click();
  await expect(async () => expect(await column(/^Without/)).not.toEqual(scores)).toPass();
});

test('a large matrix is drawn, and tells its numbers one at a time', async ({ page }) => {
  const lab = await Lab.open(page);
  const field = lab.host.getByRole('textbox', { name: /number of keys/ });
  await field.fill('1024');
  await field.press('Enter');
  const map = lab.host.getByRole('application', { name: /^A, weights, 2 × 1024/ });
  await map.first().focus();
  await page.keyboard.press('ArrowRight');
  await expect(lab.explanation).toContainText('of its attention to token 1');
  await page.keyboard.press('End');
  await expect(lab.explanation).toContainText('token 1023');
});

test('more cells than the arena holds are refused, and the old numbers stay', async ({ page }) => {
  const lab = await Lab.open(page);
  const field = lab.host.getByRole('textbox', { name: /number of keys/ });
  await field.fill('9000000');
  await field.press('Enter');
  await expect(lab.alerts.first()).toContainText(/at most/);
  await expect(field).toHaveValue('9000000');
  await expect(lab.cell('weights', 0, 0)).toHaveText('0.8808');
});
