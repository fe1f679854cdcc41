/** What the selects show is what the page shows: after a choice, undo, redo, Back and a new link. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

test('the example is named that the numbers are of', { tag: '@narrow' }, async ({ page }) => {
  const lab = await Lab.open(page);
  const example = lab.host.getByRole('combobox', { name: /^Example/ });
  await lab.choose(/^Exercise 2/);
  await lab.expectNumbers('heads', [[5, 10]]);
  await lab.choose(/^Second example/);
  await expect(lab.matrix('heads').locator('td[data-row]')).toHaveCount(6);
  for (const [name, expected] of [
    ['Undo', 'exercise2'],
    ['Undo', 'worked'],
    ['Redo', 'exercise2'],
    ['Redo', 'second'],
    ['Undo', 'exercise2'],
  ] as const) {
    await lab.button(name).click();
    await expect(example).toHaveValue(expected);
    await expect(page).toHaveURL(
      expected === 'worked' ? /#$|\/$/ : new RegExp(`example=${expected}`),
    );
  }
  // Reset goes back to the numbers of the example that is named.
  await lab.edit('v', 0, 0, '7');
  await lab.button('Reset').click();
  await lab.expectNumbers('heads', [[5, 10]]);
  await expect(example).toHaveValue('exercise2');
});

test('digits, batch, head and the row of the comparison follow Back and links', async ({
  page,
}) => {
  const lab = await Lab.open(page, 'strict/lab/#?example=heads&batch=2');
  const select = (name: string) => lab.host.getByRole('combobox', { name });
  const all = ['What the digits count', 'Show batch', 'Show head', 'Query'];
  const values = () => Promise.all(all.map((name) => select(name).inputValue()));
  await lab.host.locator('#scale').scrollIntoViewIfNeeded();
  await expect.poll(values).toEqual(['decimals', '0', '0', '0']);
  await select('What the digits count').selectOption('significant');
  await select('Show batch').selectOption('1');
  await select('Show head').selectOption('1');
  await select('Query').selectOption('2');
  await expect(page).toHaveURL(/digits=.*lab=random:64:1:2.*shown=1:1/);
  const link = page.url();
  await page.evaluate(() => {
    location.hash = '?example=heads&batch=2';
  });
  await expect.poll(values).toEqual(['decimals', '0', '0', '0']);
  await page.goBack();
  await expect(page).toHaveURL(link);
  await expect.poll(values).toEqual(['significant', '1', '1', '2']);
});

test('the dialog names the matrix that it was opened for', async ({ page }) => {
  const lab = await Lab.open(page);
  const matrix = lab.dialog.getByRole('combobox', { name: 'Matrix' });
  await lab.openTools('V');
  await expect(matrix).toHaveValue('v');
  await page.keyboard.press('Escape');
  await lab.openTools('Q');
  await expect(matrix).toHaveValue('q');
});
