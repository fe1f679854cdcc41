/** The whole of Numbers by keyboard alone, and the way of somebody who reads the page for the first time. */
import type { Locator, Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

/** Goes on by Tab, or back, until the element has the focus. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let step = 0; step < 120; ++step) {
    if (
      await target.evaluate(
        (element) => (element.getRootNode() as ShadowRoot).activeElement === element,
      )
    ) {
      return;
    }
    await page.keyboard.press(key);
  }
  await expect(target, 'reached by Tab').toBeFocused();
}

/** The focus can be seen: an outline, or a thicker line, on what has it or on its cell. */
const focusIsSeen = (lab: Lab) =>
  lab.host.evaluate((host) => {
    const active = host.shadowRoot!.activeElement;
    const candidates = [active, active?.closest('td'), active?.closest('label')];
    return candidates.some((element) => {
      if (!element) return false;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
    });
  });

test('Numbers by keyboard alone', { tag: '@narrow' }, async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const lab = await Lab.open(page);
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());

  await test.step('choose an example', async () => {
    const example = lab.host.getByRole('combobox', { name: /^Example/ });
    await tabTo(page, example);
    expect(await focusIsSeen(lab)).toBe(true);
    await press('ArrowDown');
    await lab.expectNumbers('rawScores', [
      [4, 0, 2],
      [0, 4, 2],
      [1, 1, 1],
    ]);
    await expect(example).toBeFocused();
  });

  await test.step('set a size, the scale and the digits', async () => {
    await tabTo(page, lab.field(/number of keys/));
    expect(await focusIsSeen(lab)).toBe(true);
    await press('Control+A');
    await page.keyboard.type('2');
    await press('Enter');
    await expect(lab.matrix('k').locator('figcaption')).toContainText('2 × 4');
    await tabTo(page, lab.field(/^Scale/));
    await page.keyboard.type('1/4');
    await press('Enter');
    await lab.expectNumbers('scaledScores', [
      [1, 0],
      [0, 1],
      [0.25, 0.25],
    ]);
    await tabTo(page, lab.field(/How many digits/));
    await press('Control+A');
    await page.keyboard.type('2');
    await press('Enter');
    // e/(e + 1) = 0.731059
    await expect(lab.cell('weights', 0, 0)).toHaveText('0.73');
  });

  await test.step('name a token', async () => {
    await tabTo(page, lab.button('Names…'));
    await press('Enter');
    const names = lab.dialog.getByRole('textbox', { name: 'Query tokens' });
    await tabTo(page, names);
    await page.keyboard.type('red');
    await press('Tab', 'Escape');
    await expect(lab.dialog).toHaveCount(0);
    await expect(lab.button('Names…')).toBeFocused();
    await expect(lab.matrix('rawScores').getByRole('rowheader').first()).toHaveText('red');
  });

  await test.step('give a whole matrix, after a text that cannot be taken', async () => {
    await tabTo(page, lab.button('Paste, fill, copy…'), 'Shift+Tab');
    await press('Enter');
    const text = lab.dialog.getByRole('textbox', { name: /Paste or type/ });
    await tabTo(page, text);
    await page.keyboard.type('1 0; 0 b');
    await expect(lab.understood).toContainText(/expected a number/i);
    await press('Backspace');
    await page.keyboard.type('2; 3 3');
    await expect(lab.understood).toContainText(/Q has 2 columns, but K needs d_k = 4/);
    const take = lab.dialog.getByRole('button', { name: /^Take it and set/ });
    await tabTo(page, take);
    await press('Enter');
    await expect(lab.button('Paste, fill, copy…')).toBeFocused();
    await lab.expectNumbers('q', [
      [1, 0],
      [0, 2],
      [3, 3],
    ]);
  });

  await test.step('undo, redo', async () => {
    await tabTo(page, lab.button('Undo'));
    await press('Enter');
    await expect(lab.matrix('q').locator('figcaption')).toContainText('3 × 4');
    await tabTo(page, lab.button('Redo'));
    await press('Enter');
    await expect(lab.matrix('q').locator('figcaption')).toContainText('3 × 2');
    await tabTo(page, lab.button('Undo'), 'Shift+Tab');
    await press('Enter');
    await expect(lab.matrix('q').locator('figcaption')).toContainText('3 × 4');
  });

  await test.step('edit numbers, wrong and right', async () => {
    await tabTo(page, lab.input('q', 0, 0));
    expect(await focusIsSeen(lab)).toBe(true);
    await page.keyboard.type('x');
    await press('ArrowDown');
    await expect(lab.alerts).toContainText(/expected a number/i);
    await press('ArrowUp');
    await expect(lab.input('q', 0, 0)).toHaveValue('x');
    await press('Control+A');
    await page.keyboard.type('0');
    await press('Enter');
    await expect(lab.alerts).toHaveCount(0);
    // 0·1 + 2·1
    await expect(lab.cell('rawScores', 0, 0)).toHaveText('2');
    await expect(lab.pinned).toHaveCount(0);
    await press('Enter');
    await expect(lab.pinned).toHaveCount(1);
  });

  await test.step('follow a number to where it goes, and back to where it came from', async () => {
    // Tab passes other matrices and leaves the pin; Enter leads straight to the links.
    await press('Tab', 'Tab');
    await expect(lab.explanation.locator('.who')).toContainText(/Q\s*0,\s*0/);
    await press('Shift+Tab', 'Shift+Tab', 'Enter');
    await expect(lab.explanation.getByRole('button').first()).toBeFocused();
    await tabTo(page, lab.explanation.getByRole('button', { name: /^it goes into row 0 of S/ }));
    expect(await focusIsSeen(lab)).toBe(true);
    await press('Enter');
    expect(await lab.focus()).toMatchObject({ place: 'scores-rawScores', row: 0, col: 0 });
    await expect(lab.explanation).toContainText(/0·1 \+ 0·0 \+ 2·1 \+ 0·0/);
    await press('Enter');
    await tabTo(page, lab.explanation.getByRole('button', { name: 'row 0 of Q' }));
    await press('Enter');
    expect(await lab.focus()).toMatchObject({ row: 0, col: 0 });
    expect((await lab.focus())?.place).toMatch(/-q$/);
    await press('Enter', 'Escape');
    await expect(lab.pinned).toHaveCount(0);
    expect(await lab.focus()).toMatchObject({ row: 0, col: 0 });
  });

  await test.step('read the softmax by hand', async () => {
    const machine = lab.host.getByRole('radio', { name: /in the machine/ });
    await tabTo(page, machine);
    await press('ArrowDown');
    await expect(lab.host.getByRole('radio', { name: /by hand/ })).toBeChecked();
    await expect(lab.matrix('plainExponentials')).toBeVisible();
    await tabTo(page, lab.cell('weights', 0, 0));
    expect(await focusIsSeen(lab)).toBe(true);
    await press('ArrowRight');
    expect(await lab.focus()).toMatchObject({ place: 'softmax-weights', row: 0, col: 1 });
    await press('Enter');
    await expect(lab.pinned).toHaveCount(1);
    await press('Escape');
  });

  await test.step('go to a stage by the formula, and send a link', async () => {
    const bar = lab.host.getByRole('navigation', { name: /Formula/ });
    await tabTo(page, bar.getByRole('link', { name: /times V/ }), 'Shift+Tab');
    await press('Enter');
    await expect(lab.host.locator('#output').getByRole('heading').first()).toBeFocused();
    await expect(page).toHaveURL(/#output\?/);
    await page.getByRole('button', { name: 'Copy link' }).focus();
    await press('Enter');
    await expect(page.getByRole('status').getByText(/Link copied|address bar/)).toBeVisible();
  });
});

test.describe('a first-time reader', () => {
  test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

  test('changes, asks, evens out, pastes, undoes and sends', { tag: '@narrow' }, async ({
    page,
    context,
  }) => {
    const lab = await Lab.open(page);
    // Where does the 0.8808 come from?
    await lab.host.getByText('0.8808', { exact: true }).first().click();
    await expect(lab.explanation).toContainText(/1 ÷ 1\.1353 ≈ 0\.8808/);
    await expect(lab.explanation).toContainText(
      'Token 0 gives 88.1 % of its attention to token 0.',
    );
    await lab.explanation.getByRole('button', { name: /^E\[0,0\]/ }).click();
    await expect(lab.explanation).toContainText(/exp\(0\)/);
    await lab.explanation.getByRole('button', { name: 'Let go' }).click();

    // Both tokens attend equally: with equal keys every query's scores are equal.
    for (const [col, text] of ['1', '0', '1'].entries()) await lab.edit('k', 1, col, text);
    await lab.expectTexts('weights', [
      ['0.5', '0.5'],
      ['0.5', '0.5'],
    ]);
    await lab.expectNumbers('heads', [
      [2, 1],
      [2, 1],
    ]);
    await lab.cell('weights', 0, 1).click();
    await expect(lab.explanation).toContainText(/50(\.0)?\s%/);
    await lab.explanation.getByRole('button', { name: 'Let go' }).click();

    // A 3 × 3 from NumPy, pasted onto a number.
    await page.evaluate(() =>
      navigator.clipboard.writeText(
        'array([[1., 2., 3.],\n       [4., 5., 6.],\n       [7., 8., 9.]])',
      ),
    );
    await lab.input('q', 0, 0).focus();
    await page.keyboard.press('Control+V');
    await expect(lab.understood).toContainText('NumPy array, 3 × 3');
    await lab.dialog.getByRole('button', { name: /^Take it and set T_q = 3 and d_k = 3/ }).click();
    await lab.expectNumbers('q', [
      [1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
    ]);
    await lab.button('Undo').click();
    await lab.expectNumbers('q', [
      [2, 0, 2, 0],
      [0, 4, 0, 2],
    ]);

    await page.getByRole('button', { name: 'Copy link' }).click();
    await expect(page.getByRole('status').getByText('Link copied')).toBeVisible();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const other = await context.newPage();
    await other.goto(link);
    await new Lab(other).expectNumbers('heads', [
      [2, 1],
      [2, 1],
    ]);
  });
});

test('the last step undone or redone leaves the focus on its button', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.edit('q', 0, 0, '7');
  for (const name of ['Undo', 'Redo']) {
    await expect(lab.button(name)).toBeEnabled();
    await lab.button(name).focus();
    await page.keyboard.press('Enter');
    await expect(lab.button(name)).toBeDisabled();
    await expect(lab.button(name)).toBeFocused();
    // Once more does nothing, and nothing is said to have been done.
    await page.keyboard.press('Enter');
  }
  await expect(lab.input('q', 0, 0)).toHaveValue('7');
  await expect(lab.host.getByText('Steps left to redo: 0.')).toBeAttached();
});
