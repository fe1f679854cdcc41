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

test('the page without numbers', async ({ page }) => {
  await page.addInitScript('delete globalThis.WebAssembly');
  await page.goto('strict/lab/');
  await expect(page.getByRole('alert')).toBeVisible();
  await expectClean(page, 'a failure');
});
