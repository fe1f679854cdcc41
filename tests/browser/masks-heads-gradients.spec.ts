/** Masks, heads and gradients. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

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
  const said = lab.host.locator('.visually-hidden[role="status"]');
  await expect(said).toHaveText('token 1 is now hidden from token 0.');
  await lab.cell('mask', 0, 1).focus();
  await page.keyboard.press('Space');
  await expect(said).toHaveText('token 1 is now shown to token 0.');
  await expect(lab.cell('weights', 0, 1)).toHaveText('0.1192');
  await lab.host.getByLabel('causal mask').check();
  await expect(lab.cell('mask', 0, 1)).toHaveText('−∞');
});

test('a number that a mask adds is not lost by looking at it', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#softmax?ver=1&masked=on&mask=0.5,0;0,0');
  await lab.cell('mask', 0, 0).click();
  await expect(lab.explanation).toContainText('This is added to the score of token 0 for token 0');
  await expect(lab.cell('mask', 0, 0)).toHaveText('0.5');
  await lab.cell('mask', 0, 1).click();
  await expect(lab.cell('mask', 0, 1)).toHaveText('−∞');
  await expect(lab.cell('mask', 0, 0)).toHaveText('0.5');
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
  // dV = Aᵀ·dO, where only the first number of dO is 1: token 0's row of A, in the first column.
  await lab.expectNumbers('dV', [
    [0.8808, 0],
    [0.1192, 0],
  ]);
  await lab.cell('dV', 0, 0).click();
  await expect(lab.explanation).toContainText('How fast the loss grows');
});

test('a box that is ticked stays so when the page is drawn between the click and its change', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  for (const name of ['a mask of your own', 'Show the gradients']) {
    const ticked = await lab.host.getByLabel(name).evaluate((box: HTMLInputElement) => {
      // As a render does that was asked for by the click.
      box.addEventListener('input', () => {
        box.checked = false;
      });
      box.click();
      return box.checked;
    });
    expect(ticked, name).toBe(true);
  }
});

test('with a softcap the headings say what the numbers are made of', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#?example=worked&softcap=2&gradients=on');
  // The scores that are capped are the scaled ones: 2·tanh(2/2).
  await expect(lab.cell('cappedScores', 0, 0)).toHaveText('1.5232');
  await expect(lab.matrix('cappedScores').locator('figcaption math')).toHaveText(
    /C=ctanh\(S\/dk\/c\)/,
  );
  await lab.set(/^Scale/, '3');
  await expect(lab.matrix('cappedScores').locator('figcaption math')).toHaveText(
    /C=ctanh\(S·3\/c\)/,
  );
  await expect(lab.matrix('dScores').locator('.symbol')).toHaveText(/⊙\s*\(1−\(C\/c\)2\)\s*$/);
  await lab.set('Softcap, empty for none', '');
  await expect(lab.matrix('dScores').locator('.symbol')).not.toContainText('C');
});

test('where keys come from a context, that is said', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.choose(/^Cross-attention/);
  const lead = lab.host.locator('#inputs .lead');
  await expect(lead).toContainText('keys and values as rows of X′, the context');
  await lab.choose(/^A whole layer/);
  await expect(lead).not.toContainText('X′');
});
