/** Every cell explains itself: by hover, by focus, by keyboard and by touch. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { coverOf, Lab } from './lab.ts';

/** Row 1 of Q and column 1 of Kᵀ make S₁,₁. */
const operandsOfScore = [
  ...[0, 1, 2, 3].map((feature) => `keyTransposed ${feature} 1`),
  ...[0, 1, 2, 3].map((feature) => `q 1 ${feature}`),
];

async function expectScoreExplained(lab: Lab): Promise<void> {
  await expect(lab.explanation).toContainText('0·0 + 4·1 + 0·0 + 2·0');
  await expect(lab.explanation).toContainText('= 0 + 4 + 0 + 0 = 4');
  await expect(lab.explanation).toContainText(
    'How well the query of token 1 matches the key of token 1: feature 1 alone makes the score.',
  );
  await expect.poll(() => lab.operands()).toEqual(operandsOfScore);
}

test('pointing at a cell explains it and marks its operands', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.cell('rawScores', 0, 0).hover();
  await expect(lab.explanation).toContainText('2·1 + 0·0 + 2·1 + 0·0');
  await lab.cell('rawScores', 1, 1).hover();
  await expectScoreExplained(lab);

  // Marked by an outline and bold text in the colour of the letter; a fill means a value only.
  const look = (row: number, col: number) =>
    lab.host
      .locator('[data-place="scores-q"]')
      .locator(`td[data-row="${row}"][data-col="${col}"]`)
      .evaluate((cell) => {
        const { fontWeight, color, boxShadow, outlineStyle, backgroundColor } =
          getComputedStyle(cell);
        return {
          bold: Number(fontWeight) >= 600,
          color,
          outlined: boxShadow !== 'none' || outlineStyle !== 'none',
          backgroundColor,
        };
      });
  const operand = await look(1, 0);
  const other = await look(0, 0);
  expect(operand).toMatchObject({ bold: true, outlined: true, color: 'rgb(51, 34, 136)' });
  expect(other).toMatchObject({ bold: false, outlined: false });
  expect(operand.backgroundColor).toBe(other.backgroundColor);
});

test('every stage of the softmax and the output explain themselves', async ({ page }) => {
  const lab = await Lab.open(page);
  const explanations: [string, string[], string[]][] = [
    ['keyTransposed 0 1', ['K[1,0] = 0'], ['k 1 0']],
    ['scaledScores 1 1', ['4 ÷ √4', '4 · 0.5 = 2'], ['rawScores 1 1']],
    ['shifted 1 0', ['0 − 2 = −2'], ['rowMax 1 0', 'scaledScores 1 0']],
    ['exponentials 1 0', ['exp(−2) ≈ 0.1353'], ['shifted 1 0']],
    ['rowSum 1 0', ['0.1353 + 1 ≈ 1.1353'], ['exponentials 1 0', 'exponentials 1 1']],
    [
      'weights 1 1',
      ['1 ÷ 1.1353 ≈ 0.8808', 'Token 1 gives 88.1 % of its attention to token 1.'],
      ['exponentials 1 1', 'rowSum 1 0'],
    ],
    [
      'heads 1 0',
      ['0.1192·1 + 0.8808·3', '= 0.1192 + 2.6424 ≈ 2.7616'],
      ['v 0 0', 'v 1 0', 'weights 1 0', 'weights 1 1'],
    ],
  ];
  for (const [cell, texts, operands] of explanations) {
    const [stage = '', row, col] = cell.split(' ');
    await lab.cell(stage, Number(row), Number(col)).hover();
    for (const text of texts) {
      const spaced = new RegExp(text.replaceAll(/[[\]().+·^]/g, '\\$&').replaceAll(' ', '\\s'));
      await expect(lab.explanation, cell).toContainText(spaced);
    }
    await expect.poll(() => lab.operands(), { message: cell }).toEqual(operands);
  }
});

test('the explanation follows the numbers under it', async ({ page }) => {
  // So high that typing does not scroll the cell away from under the pointer.
  await page.setViewportSize({ width: 1280, height: 1600 });
  const lab = await Lab.open(page);
  await lab.input('q', 1, 1).focus();
  await lab.cell('rawScores', 1, 1).hover();
  await expectScoreExplained(lab);
  await page.keyboard.type('5');
  await expect(lab.explanation).toContainText('0·0 + 5·1 + 0·0 + 2·0');
  await expect(lab.explanation).toContainText('= 5');
});

test('the focus explains a cell, and the screen reader hears it', async ({ page }) => {
  const lab = await Lab.open(page);
  const cell = lab.cell('rawScores', 1, 1);
  await cell.focus();
  await expectScoreExplained(lab);
  await expect(cell).toHaveAccessibleDescription(/0·0 \+ 4·1 \+ 0·0 \+ 2·0.*feature 1 alone/);
  await expect(lab.input('q', 1, 1)).toHaveAccessibleName('Q, token 1, feature 1');
});

test('arrows move inside a matrix and from one to the next', async ({ page }) => {
  const lab = await Lab.open(page);
  const walk = async (steps: [string, string][]) => {
    for (const [key, place] of steps) {
      await page.keyboard.press(key);
      const at = await lab.focus();
      expect(`${at?.place} ${at?.row} ${at?.col}`, key).toBe(place);
    }
  };
  await lab.input('q', 0, 0).focus();
  await walk([
    ['ArrowRight', 'inputs-q 0 1'],
    ['ArrowDown', 'inputs-q 1 1'],
    ['ArrowLeft', 'inputs-q 1 0'],
    ['ArrowUp', 'inputs-q 0 0'],
  ]);
  await lab.input('q', 1, 3).focus();
  await walk([
    ['ArrowRight', 'inputs-k 1 0'],
    ['ArrowLeft', 'inputs-q 1 3'],
  ]);
  await lab.cell('exponentials', 0, 1).focus();
  await walk([
    ['ArrowRight', 'softmax-rowSum 0 0'],
    ['ArrowRight', 'softmax-weights 0 0'],
    ['ArrowDown', 'softmax-weights 1 0'],
    ['ArrowLeft', 'softmax-rowSum 1 0'],
  ]);
  // Nowhere to go at the outer edge: the focus stays.
  await lab.input('q', 0, 0).focus();
  await walk([['ArrowUp', 'inputs-q 0 0']]);
});

test('Tab stops once at every matrix, where it was left', async ({ page }) => {
  const lab = await Lab.open(page);
  const places = await lab.host
    .locator('figure')
    .evaluateAll((figures) => figures.map((figure) => (figure as HTMLElement).dataset.place));
  await lab.input('q', 0, 0).focus();
  await page.keyboard.press('ArrowDown');
  // Other controls may stand between the matrices.
  const visited: (string | undefined)[] = ['inputs-q'];
  const leaves = () => page.evaluate(() => document.activeElement?.localName !== 'attention-lab');
  for (let step = 0; step < 100 && visited.length < places.length; ++step) {
    await page.keyboard.press('Tab');
    if (await leaves()) break;
    const at = await lab.focus();
    if (at) visited.push(at.place);
  }
  expect(visited).toEqual(places);

  await lab.cell('weights', 0, 0).focus();
  await page.keyboard.press('Shift+Tab');
  expect(await lab.focus()).toMatchObject({ place: 'softmax-rowSum' });
  await lab.input('k', 0, 0).focus();
  await page.keyboard.press('Shift+Tab');
  expect(await lab.focus()).toEqual({ place: 'inputs-q', row: 1, col: 0 });
});

test('Enter pins a cell and Escape lets go of it', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.cell('rawScores', 1, 1).focus();
  await page.keyboard.press('Enter');
  await expect(lab.pinned).toHaveCount(1);
  // Pinned: pointing elsewhere changes nothing.
  await lab.cell('weights', 0, 0).hover();
  await expectScoreExplained(lab);
  await page.keyboard.press('Escape');
  await expect(lab.pinned).toHaveCount(0);
  await lab.cell('weights', 0, 1).hover();
  await expect(lab.explanation).toContainText(/11\.9\s%/);
});

test('Enter takes a number that is typed; once more pins it, and Escape lets go', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.type('q', 0, 0, '4');
  await page.keyboard.press('Enter');
  await expect(lab.input('q', 0, 0)).toBeFocused();
  await expect(lab.pinned).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(lab.pinned).toHaveCount(1);
  await expect(lab.cell('rawScores', 0, 0)).toHaveText('6');
  await page.keyboard.press('Escape');
  await expect(lab.pinned).toHaveCount(0);
  await expect(lab.cell('rawScores', 0, 0)).toHaveText('6');
});

test('a click pins, and the button lets go', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.cell('weights', 0, 1).click();
  await expect(lab.pinned).toHaveCount(1);
  await lab.cell('rawScores', 0, 0).hover();
  await expect(lab.explanation).toContainText(/11\.9\s%/);
  await lab.explanation.getByRole('button', { name: 'Let go' }).click();
  await expect(lab.pinned).toHaveCount(0);
});

test('the panel leads to where the number goes next', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.cell('rawScores', 1, 1).click();
  await lab.explanation.getByRole('button', { name: /it becomes 2/ }).click();
  expect(await lab.focus()).toEqual({ place: 'softmax-scaledScores', row: 1, col: 1 });
  await expect(lab.explanation).toContainText('4 ÷ √4');
});

test.describe('a press in the panel keeps a cell that only has the focus', () => {
  const openAt = async (page: Page, address = 'strict/lab/#?example=second') => {
    const lab = await Lab.open(page, address);
    await page.mouse.move(0, 0);
    return lab;
  };
  const focusScore = async (lab: Lab) => {
    await lab.cell('rawScores', 0, 0).focus();
    await lab.page.keyboard.press('ArrowRight');
    await expect(lab.explanation.locator('.who')).toContainText('S0,1');
    await expect(lab.pinned).toHaveCount(0);
  };

  test('its links and buttons do what they say', async ({ page }) => {
    const lab = await openAt(page);
    await focusScore(lab);
    await lab.explanation.getByRole('button', { name: 'Copy this matrix…' }).click();
    await expect(lab.dialog).toBeVisible();
    await expect(lab.dialog.getByRole('combobox', { name: 'Matrix' })).toHaveValue('rawScores');
    await page.keyboard.press('Escape');
    await expect(lab.explanation.locator('.who')).toContainText('S0,1');
    await lab.explanation.getByRole('button', { name: 'Let go' }).click();
    await expect(lab.explanation).toContainText('Tap a number');

    await focusScore(lab);
    await lab.explanation.getByRole('button', { name: /^row 0 of Q/ }).click();
    expect(await lab.focus()).toEqual({ place: 'inputs-q', row: 0, col: 0 });
    await expect(lab.explanation.locator('.who')).toContainText('Q0,0');
  });

  test('a press on its text, until the focus goes elsewhere', async ({ page }) => {
    const lab = await openAt(page);
    await focusScore(lab);
    const { x, y } = (await lab.explanation.locator('.sentence').boundingBox())!;
    await page.mouse.move(x + 10, y + 10);
    await page.mouse.down();
    await expect.poll(() => lab.focus()).toBeNull();
    await expect(lab.explanation.locator('.who')).toContainText('S0,1');
    // Let go of outside it is no click in it.
    await page.mouse.move(0, 0);
    await page.mouse.up();
    await lab.field(/^Scale/).focus();
    await expect(lab.explanation).toContainText('Tap a number');

    await focusScore(lab);
    await lab.explanation.locator('.sentence').click();
    await expect(lab.pinned).toHaveCount(1);
    await expect(lab.explanation.locator('.who')).toContainText('S0,1');
  });

  test('the number of a cell that is drawn is typed', async ({ page }) => {
    const lab = await openAt(page, 'strict/lab/#?example=random&tq=20&tk=20');
    await lab.host
      .getByRole('application', { name: /^Q, queries/ })
      .first()
      .focus();
    await page.keyboard.press('ArrowDown');
    await expect(lab.explanation.locator('.who')).toContainText('Q1,0');
    const number = lab.explanation.getByRole('textbox', { name: 'Number' });
    await number.click();
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    await expect(lab.explanation.locator('.who')).toContainText(/Q1,0\s*= 5/);
    await expect(number).toHaveValue('5');
  });
});

test('keys used in the matrices do not reach the page around', async ({ page }) => {
  const lab = await Lab.open(page);
  await page.evaluate(() => {
    addEventListener('keydown', (event) => {
      document.documentElement.dataset.keys = `${document.documentElement.dataset.keys ?? ''} ${event.key}`;
    });
  });
  await lab.cell('rawScores', 0, 0).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.keyboard.press('PageDown');
  await expect(page.locator('html')).toHaveAttribute('data-keys', ' PageDown');
});

test.describe('by touch', () => {
  test.use({ hasTouch: true });

  test('a tap explains a cell, in sight of it', { tag: '@narrow' }, async ({ page }) => {
    const lab = await Lab.open(page);
    const cell = lab.cell('rawScores', 1, 1);
    // At the lower edge, where a sheet would come to lie over it.
    await cell.evaluate((td) => scrollBy(0, td.getBoundingClientRect().bottom - innerHeight + 8));
    const { x, y } = (await cell.boundingBox())!;
    await page.touchscreen.tap(x + 10, y + 10);
    await expectScoreExplained(lab);
    await expect(lab.pinned).toHaveCount(1);
    await expect(lab.explanation.getByText('0·0 + 4·1 + 0·0 + 2·0')).toBeInViewport({ ratio: 1 });
    await expect.poll(() => coverOf(cell)).toBe('');
    await lab.explanation.getByRole('button', { name: 'Let go' }).tap();
    await expect(lab.explanation).toContainText('Tap a number');
    await lab.cell('weights', 0, 1).tap();
    await expect(lab.explanation).toContainText(/11\.9\s%/);
  });
});
