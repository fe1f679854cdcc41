/** What a first-time reader stumbles over: typing, fields, what the page says of its own numbers, print. */
import { expect, test } from './fixtures.ts';
import { coverOf, Lab } from './lab.ts';

test.describe('typing', () => {
  test('Enter takes the number, stays, and lets the next one replace it', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.type('q', 0, 0, '4');
    await page.keyboard.press('Enter');
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await expect(lab.input('q', 0, 0)).toHaveValue('3');
    await expect(lab.input('q', 0, 0)).toBeFocused();
    // 3·1 + 2·1
    await expect(lab.cell('rawScores', 0, 0)).toHaveText('5');
    await page.keyboard.press('Enter');
    await expect(lab.pinned).toHaveCount(1);
    await page.keyboard.press('Enter');
    await expect(lab.explanation.getByRole('button').first()).toBeFocused();
  });

  test('Tab goes through a matrix while numbers are typed, and past it otherwise', async ({
    page,
  }) => {
    const lab = await Lab.open(page);
    await lab.input('q', 0, 2).focus();
    await expect(lab.explanation.locator('.who')).toBeVisible();
    for (const text of ['5', '6', '7']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await lab.expectNumbers('q', [
      [2, 0, 5, 6],
      [7, 4, 0, 2],
    ]);
    expect(await lab.focus()).toEqual({ place: 'inputs-q', row: 1, col: 1 });
    await page.keyboard.type('8');
    await page.keyboard.press('Shift+Tab');
    expect(await lab.focus()).toEqual({ place: 'inputs-q', row: 1, col: 0 });
    await page.keyboard.press('Tab');
    expect(await lab.focus()).toMatchObject({ place: 'inputs-k' });
    // From the last number on to the next matrix.
    await lab.type('q', 1, 3, '9');
    await page.keyboard.press('Tab');
    expect(await lab.focus()).toMatchObject({ place: 'inputs-k' });
    await lab.expectNumbers('q', [
      [2, 0, 5, 6],
      [7, 8, 0, 9],
    ]);
  });

  test('the hint says what Escape does now', async ({ page }) => {
    const lab = await Lab.open(page);
    const keys = lab.explanation.locator('.keys');
    await lab.input('q', 0, 0).focus();
    await expect(keys).toContainText(/Esc\s*let go/);
    await page.keyboard.type('-');
    await expect(keys).toContainText(/Esc\s*take back what\s+was typed/);
    await page.keyboard.press('Escape');
    await expect(keys).toContainText(/Esc\s*let go/);
  });

  test('a clicked input lets pointing preview another cell; a clicked result does not', async ({
    page,
  }) => {
    const lab = await Lab.open(page);
    await lab.input('q', 0, 0).click();
    await page.keyboard.type('3');
    await expect(lab.cell('rawScores', 0, 0)).toHaveText('5');
    await lab.cell('rawScores', 0, 0).hover();
    await expect(lab.explanation).toContainText('3·1 + 0·0 + 2·1 + 0·0');
    await expect(lab.pinned).toHaveCount(0);
    await lab.cell('weights', 0, 0).click();
    await lab.cell('rawScores', 0, 0).hover();
    await expect(lab.explanation).toContainText('of its attention');
  });

  test('a click into a field selects it, and four digits fit', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.choose(/^Random/);
    await expect(lab.field(/number of queries/)).toHaveValue('4');
    for (const name of [/number of queries/, /number of keys/, /width of queries/, /How many/]) {
      const field = lab.field(name).first();
      await field.click();
      await page.keyboard.type('3');
      await expect(field).toHaveValue('3');
      await page.keyboard.type('000');
      expect(await field.evaluate((el) => el.scrollWidth <= el.clientWidth), String(name)).toBe(
        true,
      );
      await field.fill('3');
      await page.keyboard.press('Enter');
    }
    await lab.host.getByText('Batch, heads, softcap').click();
    for (const name of [/^Scale/, /^Softcap/]) {
      const fits = await lab.field(name).evaluate((element) => {
        const field = element as HTMLInputElement;
        field.value = field.placeholder;
        return field.scrollWidth <= field.clientWidth;
      });
      expect(fits, String(name)).toBe(true);
    }
  });
});

test.describe('what is said is what is shown', () => {
  test('by hand, a weight comes from E′ and ℓ′, and all links lead to what is there', async ({
    page,
  }) => {
    const lab = await Lab.open(page);
    await lab.host.getByRole('radio', { name: /by hand/ }).check();
    await lab.cell('weights', 0, 0).click();
    // e² and e² + 1
    await expect(lab.explanation).toContainText(/7\.3891 ÷ 8\.3891 ≈ 0\.8808/);
    expect(await lab.operands()).toEqual(['plainExponentials 0 0', 'plainRowSum 0 0']);
    await expect(lab.matrix('weights').locator('.symbol')).toHaveText(/A\s*=\s*E′\s*\/\s*ℓ′/);
    await lab.explanation.getByRole('button', { name: /^ℓ′/ }).click();
    expect(await lab.focus()).toMatchObject({ place: 'softmax-plainRowSum', row: 0 });
    await lab.explanation
      .getByRole('button', { name: /divides row 0 of E′, which gives A/ })
      .click();
    expect(await lab.focus()).toMatchObject({ place: 'softmax-weights', row: 0 });
    await lab.cell('scaledScores', 0, 0).click();
    await lab.explanation.getByRole('button', { name: /in E′/ }).click();
    expect(await lab.focus()).toMatchObject({ place: 'softmax-plainExponentials' });
    // Back in the other reading nothing is said of what it does not show.
    await lab.host.getByRole('radio', { name: /in the machine/ }).check();
    await expect(lab.pinned).toHaveCount(0);
  });

  test('where exp overflows by hand, that is said', async ({ page }) => {
    const lab = await Lab.open(page);
    const note = lab.host.locator('#softmax .note');
    await expect(note).toContainText('Both ways give the same weights');
    // 200·1 ÷ 2 = 100 or more: e¹⁰⁰ is 2.7·10⁴³.
    await lab.edit('q', 0, 0, '200');
    await expect(note).toContainText('By hand fails here, in the row of token 0:');
    await expect(note).not.toContainText('Both ways');
    await lab.host.getByRole('radio', { name: /by hand/ }).check();
    await lab.cell('weights', 0, 0).click();
    await expect(lab.explanation).toContainText('∞ ÷ ∞');
    await expect(lab.explanation).toContainText(/By hand this fails/);
  });

  test('with a scale set, no letter and no sentence speaks of the root', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.choose(/^Exercise 2/);
    await expect(lab.matrix('scaledScores').locator('.symbol')).toHaveText(/S\s*·\s*0\.5/);
    await expect(lab.host.getByRole('navigation')).toHaveText(/·\s*0\.5/);
    const said = lab.host.locator('#inputs, #scores, #softmax, #output, nav');
    for (const text of await said.allInnerTexts()) expect(text).not.toMatch(/√|root/);
    await expect(lab.host.locator('#softmax msqrt, nav msqrt')).toHaveCount(0);
    for (const stage of ['rawScores', 'scaledScores', 'shifted', 'rowMax']) {
      await lab.cell(stage, 0, 0).hover();
      await expect(lab.explanation.locator('.who')).toBeVisible();
      await expect(lab.explanation).not.toContainText('√');
      await expect(lab.explanation.locator('msqrt')).toHaveCount(0);
    }
  });

  test('a number too large for float32 is named wherever it leads', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.edit('q', 0, 0, '3e38');
    await lab.edit('k', 0, 0, '2');
    await expect(lab.cell('rawScores', 0, 0)).toHaveText('∞');
    for (const stage of ['rawScores', 'scaledScores', 'weights', 'heads']) {
      await lab.cell(stage, 0, 0).hover();
      await expect(lab.explanation).toContainText('S[0,0] overflowed to ∞: too large for float32');
    }
    await expect(lab.host.locator('#output .lead').first()).toContainText(
      'The weights of token 0 have no value',
    );
    await expect(lab.host.locator('.lead')).not.toContainText(['NaN %']);
  });

  test('the gradient that stands there first teaches something', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.host.getByLabel('Show the gradients').check();
    await lab.expectNumbers('dOutput', [
      [1, 0],
      [0, 0],
    ]);
    // Of the first number of O alone: its weights, and V's first column.
    await lab.expectNumbers('dV', [
      [0.8808, 0],
      [0.1192, 0],
    ]);
    await lab.expectNumbers('dWeights', [
      [1, 3],
      [0, 0],
    ]);
    await expect(lab.host.locator('#gradients')).toContainText(
      'the loss is the first number of the result',
    );
    await expect(lab.host.locator('#gradients')).not.toContainText('side by side');
    await lab.cell('dWeights', 0, 0).hover();
    await expect(lab.explanation).toContainText(
      'How fast the loss grows when this number of the weights grows.',
    );
  });

  test('counts agree with their nouns, and B, H and G say what they count', async ({ page }) => {
    const lab = await Lab.open(page);
    await lab.openTools('V');
    await lab.give('[[1, 2]]');
    await expect(lab.understood).toContainText('V has 1 row, but');
    await lab.dialog.getByRole('button', { name: 'Close' }).click();
    const more = lab.host.locator('details.more');
    await more.getByText('Batch, heads, softcap').click();
    for (const text of ['Batches B', 'Query heads H', 'Key/value heads G']) {
      await expect(more.getByText(text)).toBeVisible();
    }
  });

  test('operators stand beside the middle of their matrix; heads of columns do not touch', async ({
    page,
  }) => {
    const lab = await Lab.open(page);
    const middle = async (selector: string) => {
      const box = (await lab.host.locator(selector).first().boundingBox())!;
      return box.y + box.height / 2;
    };
    const step = '.step:has([data-stage="shifted"])';
    expect(
      Math.abs((await middle(`${step} .operator`)) - (await middle(`${step} tbody`))),
    ).toBeLessThan(3);
    const gaps = await lab.host.locator('.matrix thead tr').evaluateAll((rows) =>
      rows.flatMap((row) => {
        const named = [...row.querySelectorAll('th')].filter((head) => head.textContent);
        const texts = named.map((head) => {
          const range = document.createRange();
          range.selectNodeContents(head);
          return range.getBoundingClientRect();
        });
        return texts.slice(1).map((box, index) => box.left - texts[index]!.right);
      }),
    );
    expect(Math.min(...gaps)).toBeGreaterThan(5);
  });
});

test.describe('the screen', () => {
  test('one that is low has no bar in its way and no sheet over the cell', async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 256 });
    const lab = await Lab.open(page);
    for (const [stage, row, col] of [
      ['q', 1, 3],
      ['weights', 1, 1],
      ['heads', 0, 0],
    ] as const) {
      const cell = lab.cell(stage, row, col);
      if (stage === 'q') await lab.input(stage, row, col).focus();
      else await cell.focus();
      await page.keyboard.press('Enter');
      await expect(lab.pinned).toHaveCount(1);
      await expect.poll(() => coverOf(cell), { message: stage }).toBe('');
      const sheet = (await lab.explanation.boundingBox())!;
      expect(sheet.height).toBeLessThanOrEqual(0.4 * 256 + 1);
      await page.keyboard.press('Escape');
    }
    await page.evaluate(() => scrollTo(0, 1500));
    await expect(lab.host.getByRole('navigation')).not.toBeInViewport();
  });

  test('a phone says that numbers can be tapped before one was', { tag: '@narrow' }, async ({
    page,
  }) => {
    const lab = await Lab.open(page);
    await expect(lab.host.getByText(/^\s*Tap a number/)).toBeInViewport();
  });

  test('no gradient makes a phone scroll sideways', async ({ page }) => {
    const lab = await Lab.open(page);
    for (const example of [/^Worked example/, /whole layer/]) {
      await lab.choose(example);
      // The example comes a moment after the choice, and without gradients.
      await expect(async () => {
        await lab.host.getByLabel('Show the gradients').check();
        await expect(lab.matrix('dV')).toBeVisible({ timeout: 2000 });
      }).toPass();
      for (const width of [320, 375]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      }
    }
  });

  test('on paper stand the stages and the comparison, without what only works', async ({
    page,
  }) => {
    const lab = await Lab.open(page);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const comparison = lab.host.getByRole('table', { name: /^Without the division/ });
    await expect(comparison).toBeAttached();
    await page.emulateMedia({ media: 'print' });
    await expect(comparison).toBeVisible();
    await expect(lab.matrix('weights')).toBeVisible();
    await expect(lab.host.getByRole('button').or(page.getByRole('button'))).not.toBeVisible();
    await expect(lab.host.getByRole('navigation')).toBeHidden();
    await expect(lab.host.getByRole('combobox', { name: /^Example/ })).toBeHidden();
  });
});

test.describe('the page', () => {
  test('keeps the theme that was chosen', async ({ page }) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await Lab.open(page);
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.reload();
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
    await expect(page.getByRole('button', { name: 'Light' })).toBeVisible();
  });

  test('says what its buttons did, and moves none of them', async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const lab = await Lab.open(page);
    const share = page.getByRole('button', { name: 'Copy link' });
    const before = await share.boundingBox();
    await share.click();
    await expect(page.getByRole('status').getByText('Link copied')).toBeVisible();
    expect(await share.boundingBox()).toEqual(before);
    const said = lab.host.locator('.visually-hidden[role="status"]');
    await lab.edit('q', 0, 0, '5');
    await lab.edit('q', 0, 1, '5');
    await lab.button('Undo').click();
    await expect(said).toHaveText('Undone. Steps left to undo: 1.');
    await lab.button('Redo').click();
    await expect(said).toHaveText('Redone. Steps left to redo: 0.');
    await lab.button('Reset').click();
    await expect(said).toHaveText(/^Reset/);
  });

  test('a link with a pinned cell leads to it', { tag: '@narrow' }, async ({ page }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const lab = await Lab.open(page);
    await lab.cell('heads', 1, 1).click();
    await expect(page).toHaveURL(/heads/);
    const link = page.url();
    await page.goto('about:blank');
    await page.goto(link);
    await lab.ready();
    await expect(lab.pinned).toHaveCount(1);
    await expect(lab.cell('heads', 1, 1)).toBeInViewport({ ratio: 1 });
    await expect.poll(() => coverOf(lab.cell('heads', 1, 1))).toBe('');
  });
});
