/** Tokens and features get names of their own, which are used wherever they are spoken of. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

test('names stand at the matrices, in the sentences and in the address', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.button('Names…').click();
  const field = (name: string) => lab.dialog.getByRole('textbox', { name });
  // As many keys as queries: they have the same names until they are to have others.
  const same = lab.dialog.getByRole('checkbox', { name: 'Keys have the same names' });
  await expect(same).toBeChecked();
  await expect(field('Key tokens')).toHaveCount(0);
  await field('Query tokens').fill('Anna, Bert');
  await page.keyboard.press('Tab');
  await expect(lab.matrix('rawScores').getByRole('columnheader')).toHaveText(['Anna', 'Bert']);
  await same.uncheck();
  await field('Query tokens').fill('Anna, 50 % off');
  await field('Key tokens').fill('hund');
  await field('Features').fill('colour, , size');
  await field('Value numbers').fill('left, right');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await expect(lab.dialog).toHaveCount(0);

  const heads = (stage: string, role: 'rowheader' | 'columnheader') =>
    lab.matrix(stage).getByRole(role);
  const check = async () => {
    await expect(heads('rawScores', 'rowheader')).toHaveText(['Anna', '50 % off']);
    await expect(heads('rawScores', 'columnheader')).toHaveText(['hund', 'token 1']);
    await expect(heads('q', 'columnheader')).toHaveText(['colour', '1', 'size', '3']);
    await expect(heads('v', 'columnheader')).toHaveText(['left', 'right']);
  };
  await check();
  await expect(lab.input('q', 1, 2)).toHaveAccessibleName('Q, “50 % off”, “size”');
  await lab.cell('weights', 0, 0).hover();
  await expect(lab.explanation).toContainText(/“Anna” gives 88\.1\s% of its attention to “hund”/);
  await expect(lab.host.locator('#output .lead').first()).toContainText(
    /“Anna” takes 88\.1\s% of “hund”’s value/,
  );

  await expect(page).toHaveURL(/queryNames=Anna,50%20%25%20off/);
  await page.reload();
  await lab.ready();
  await check();

  await lab.set(/number of keys/, '3');
  await expect(heads('rawScores', 'columnheader')).toHaveText(['hund', 'token 1', 'token 2']);
  await lab.button('Undo').click();
  await check();

  await lab.button('Names…').click();
  await expect(field('Query tokens')).toHaveValue('Anna, 50 % off');
  await field('Query tokens').fill('');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await expect(heads('rawScores', 'rowheader')).toHaveText(['token 0', 'token 1']);
  await lab.button('Undo').click();
  await check();
});

test('what is typed in several fields before the page is drawn again is all taken', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.button('Names…').click();
  await lab.dialog.evaluate((dialog) => {
    const fields = [...dialog.querySelectorAll('label')].map(
      (label) => [label.textContent?.trim() ?? '', label.querySelector('input')] as const,
    );
    const field = (name: string) => fields.find(([text]) => text.includes(name))?.[1];
    const same = field('Keys have the same names');
    same!.checked = false;
    same!.dispatchEvent(new Event('change', { bubbles: true }));
    for (const [name, text] of [
      ['Query tokens', 'a, b'],
      ['Features', 'one'],
      ['Value numbers', 'left'],
    ] as const) {
      field(name)!.value = text;
      field(name)!.dispatchEvent(new Event('change', { bubbles: true }));
    }
  });
  const heads = (stage: string, role: 'rowheader' | 'columnheader') =>
    lab.matrix(stage).getByRole(role);
  await expect(heads('rawScores', 'rowheader')).toHaveText(['a', 'b']);
  await expect(heads('rawScores', 'columnheader')).toHaveText(['token 0', 'token 1']);
  await expect(heads('q', 'columnheader')).toHaveText(['one', '1', '2', '3']);
  await expect(heads('v', 'columnheader')).toHaveText(['left', '1']);
});

test('where K comes from X, queries and keys have one list of names', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.choose(/^“the cat sat”/);
  await expect(lab.matrix('x')).toBeVisible();
  await lab.button('Names…').click();
  await expect(lab.dialog.getByRole('textbox', { name: 'Key tokens' })).toHaveCount(0);
  await lab.dialog.getByRole('textbox', { name: 'Query tokens' }).fill('a, b, c');
  await lab.dialog.getByRole('textbox', { name: 'Dials' }).fill('one, two');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await expect(lab.matrix('rawScores').getByRole('rowheader')).toHaveText(['a', 'b', 'c']);
  await expect(lab.matrix('rawScores').getByRole('columnheader')).toHaveText(['a', 'b', 'c']);
  await expect(lab.matrix('x').getByRole('columnheader')).toHaveText(['one', 'two', '2', '3']);
});

test('a long name leaves room for the numbers', { tag: '@narrow' }, async ({ page }) => {
  const name = 'the quick brown fox jumps over the lazy dog';
  const lab = await Lab.open(
    page,
    `strict/lab/#inputs?ver=1&example=second&queryNames=${encodeURIComponent(name)},b,c`,
  );
  for (const stage of ['q', 'weights']) {
    const row = lab.matrix(stage).first().getByRole('row').nth(1);
    await expect(row.getByRole('rowheader')).toHaveText(name);
    const [head, cell] = [
      await row.getByRole('rowheader').boundingBox(),
      await row.getByRole('gridcell').first().boundingBox(),
    ];
    expect(head?.width).toBeLessThan((page.viewportSize()?.width ?? 0) / 2);
    expect((head?.x ?? 0) + (head?.width ?? 0)).toBeLessThanOrEqual((cell?.x ?? 0) + 1);
  }
});
