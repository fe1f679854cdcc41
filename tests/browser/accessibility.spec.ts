/** No violation that axe knows of, in any state a reader gets the page into, light and dark. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

async function expectClean(page: Page, state: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  const found = violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
  }));
  expect.soft(found, state).toEqual([]);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test(`the page in every state (${colorScheme})`, { tag: '@narrow' }, async ({ page }) => {
      // Nine audits of the whole page.
      test.slow();
      const lab = await Lab.open(page);
      await expectClean(page, 'as it opens');

      await lab.cell('rawScores', 1, 1).click();
      await expect(lab.pinned).toHaveCount(1);
      await expectClean(page, 'a pinned score');

      await lab.edit('q', 0, 0, 'abc');
      await lab.input('k', 1, 1).click();
      await page.keyboard.type('1/3');
      await expect(lab.alerts).toHaveCount(1);
      await expectClean(page, 'an error in a cell, and typing in another');

      await lab.set(/number of keys/, 'many');
      await expect(lab.alerts).toHaveCount(2);
      await expectClean(page, 'a size that was refused');

      await lab.openTools('Q');
      await lab.give('[[1, 2, 3], [4, 5, 6]]');
      await expect(lab.dialog.getByRole('table')).toBeVisible();
      await expectClean(page, 'a matrix that contradicts another, in the dialog');
      await lab.give('[[1, 2], [3]]');
      await expect(lab.understood).toHaveClass(/complaint/);
      await expectClean(page, 'ragged rows in the dialog');
      await page.keyboard.press('Escape');
      await lab.button('Names…').click();
      await expect(lab.dialog).toBeVisible();
      await expectClean(page, 'the dialog of names');
      await page.keyboard.press('Escape');

      await lab.host.getByRole('radio', { name: /by hand/ }).check();
      await expect(lab.matrix('plainExponentials')).toBeVisible();
      await expectClean(page, 'softmax by hand');

      await lab.host.locator('#scale').scrollIntoViewIfNeeded();
      await expect(lab.host.getByRole('table', { name: /^Without the division/ })).toBeVisible();
      await lab.host.getByText('Engine', { exact: true }).click();
      await expect(lab.host.getByText(/in web workers/)).toBeVisible();
      await lab.button('Measure the speed here').click();
      await expect(
        lab.host.getByRole('table', { name: /^Operations on one thread/ }),
      ).toBeVisible();
      await expectClean(page, 'the comparison and the engine, measured');
    });

    test(`heat maps (${colorScheme})`, { tag: '@narrow' }, async ({ page }) => {
      const lab = await Lab.open(page, 'strict/lab/#?example=random&tq=40&tk=40&k=normal:1');
      const map = lab.host.getByRole('application', { name: /^A, weights/ }).first();
      await map.focus();
      await page.keyboard.press('Enter');
      await expect(lab.pinned).toHaveCount(1);
      await expectClean(page, 'heat maps, a cell pinned');
      for (const key of '+++') await page.keyboard.press(key);
      await expect(lab.matrix('weights')).toContainText(/rows 0–\d+, columns 0–\d+/);
      await expectClean(page, 'a heat map enlarged');
      const input = lab.host.getByRole('application', { name: /^Q, queries/ }).first();
      await input.click();
      await lab.explanation.getByRole('textbox', { name: 'Number' }).fill('x');
      await page.keyboard.press('Tab');
      await expect(lab.explanation.getByRole('alert')).toBeVisible();
      await expectClean(page, 'an error in the panel');
    });
  });
}

test('a whole layer, with projections and W_o', { tag: '@narrow' }, async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.choose(/whole layer/);
  await expect(lab.matrix('output')).toBeAttached();
  await lab.cell('q', 0, 0).hover();
  await expectClean(page, 'a layer');
});

test.describe('forced colours', () => {
  test.use({ forcedColors: 'active' });

  test('operands, the cell and the focus are still marked', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.cell('rawScores', 1, 1).click();
    const outline = (place: string, row: number, col: number) =>
      lab.host
        .locator(`[data-place="${place}"] td[data-row="${row}"][data-col="${col}"]`)
        .evaluate((cell) => {
          const { outlineStyle, outlineWidth } = getComputedStyle(cell);
          return outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth);
        });
    await expect.poll(() => outline('scores-q', 1, 0)).toBeGreaterThan(0);
    expect(await outline('scores-keyTransposed', 3, 1)).toBeGreaterThan(0);
    expect(await outline('scores-q', 0, 0)).toBe(0);
    // The explained cell is told from its operands.
    expect(await outline('scores-rawScores', 1, 1)).toBeGreaterThan(
      await outline('scores-q', 1, 0),
    );
    await expectClean(page, 'forced colours');

    // A heat map's colours are its numbers, and its marks are seen on it.
    await lab.set(/number of keys/, '40');
    const map = lab.host.getByRole('application', { name: /^A, weights/ }).first();
    await map.focus();
    await page.keyboard.press('ArrowRight');
    const mark = lab.matrix('weights').locator('.heat-cell');
    await expect(mark).toBeVisible();
    const { borderStyle, outlineStyle } = await mark.evaluate((element) => {
      const { borderTopStyle, outlineStyle: outlined } = getComputedStyle(element);
      return { borderStyle: borderTopStyle, outlineStyle: outlined };
    });
    expect([borderStyle, outlineStyle]).toContain('solid');
  });
});

test('the page without numbers', async ({ page }) => {
  await page.addInitScript('delete globalThis.WebAssembly');
  await page.goto('strict/lab/');
  await expect(page.getByRole('alert')).toBeVisible();
  // The static example waits a second for numbers.
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expectClean(page, 'a failure');
});
