/** Why √d_k: the same q and k with and without the division, with what the core measures of the rows. */
import { refuseRelaxed } from './chromium.mjs';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

type Side = 'Without the division' | 'Divided by √d_k';
const sides = ['Without the division', 'Divided by √d_k'] as const;

/** What a reader reads on one side. */
async function read(lab: Lab, side: Side) {
  const table = lab.host.getByRole('table', { name: new RegExp(`^${side}`) });
  const column = (index: number) =>
    table
      .locator(`tbody td:nth-of-type(${index})`)
      .evaluateAll((cells) => cells.map((cell) => Number(cell.textContent?.replace('−', '-'))));
  const figures = await table
    .locator('xpath=following-sibling::dl')
    .locator('dd')
    .evaluateAll((cells) => cells.map((cell) => Number.parseFloat(cell.textContent ?? '')));
  const [maximum, entropy, effective, jacobian] = figures;
  return {
    scores: await column(1),
    weights: await column(2),
    maximum,
    entropy,
    effective,
    jacobian,
  };
}

/** −Σ a·ln a, and the Frobenius norm of diag(a) − a·aᵀ. */
const entropyOf = (weights: number[]) =>
  -weights.reduce((sum, a) => sum + (a > 0 ? a * Math.log(a) : 0), 0);
const jacobianOf = (weights: number[]) =>
  Math.hypot(...weights.flatMap((a, i) => weights.map((b, j) => (i === j ? a : 0) - a * b)));

async function open(lab: Lab): Promise<void> {
  await lab.host.locator('#scale').scrollIntoViewIfNeeded();
  await expect(lab.host.getByRole('table', { name: /^Without the division/ })).toBeVisible();
}

/** Sets d_k by its field. */
async function width(lab: Lab, text: string): Promise<void> {
  const field = lab.host.locator('#scale').getByRole('textbox', { name: /width of queries/ });
  await field.fill(text);
  await field.press('Enter');
}

test('the figures are those of the weights, and one side is the other divided', async ({
  page,
}) => {
  const lab = await Lab.open(page, 'strict/lab/#?digits=8');
  await open(lab);
  for (const dK of [64, 1, 7, 512]) {
    await width(lab, String(dK));
    await expect(lab.host.locator('#scale .note')).toContainText(`= ${dK}`);
    const [raw, scaled] = [await read(lab, sides[0]), await read(lab, sides[1])];
    expect(raw.scores).toHaveLength(8);
    for (const [index, score] of raw.scores.entries()) {
      // Scores are shown with two decimals.
      expect(Math.abs(score / Math.sqrt(dK) - (scaled.scores[index] ?? NaN))).toBeLessThan(0.011);
    }
    for (const side of [raw, scaled]) {
      expect(Math.abs(side.weights.reduce((a, b) => a + b) - 1)).toBeLessThan(1e-6);
      expect(Math.abs((side.maximum ?? NaN) / 100 - Math.max(...side.weights))).toBeLessThan(
        0.0006,
      );
      expect(Math.abs((side.entropy ?? NaN) - entropyOf(side.weights))).toBeLessThan(1e-5);
      expect(Math.abs((side.effective ?? NaN) - Math.exp(entropyOf(side.weights)))).toBeLessThan(
        0.0051,
      );
      expect(Math.abs((side.jacobian ?? NaN) - jacobianOf(side.weights))).toBeLessThan(1e-5);
    }
    if (dK === 1) expect(scaled).toEqual(raw);
    if (dK === 512) {
      // Without the division one key takes nearly all, and the weights hardly move any more.
      expect(raw.entropy ?? NaN).toBeLessThan(scaled.entropy ?? NaN);
      expect(raw.jacobian ?? NaN).toBeLessThan(scaled.jacobian ?? NaN);
    }
  }
});

test('the slider goes from 1 to 512 by keyboard, and bad widths and seeds are named', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await open(lab);
  const section = lab.host.locator('#scale');
  const field = section.getByRole('textbox', { name: /width of queries/ });
  const slider = section.getByRole('slider');
  await expect(slider).toHaveAttribute('aria-valuetext', 'd k = 64');
  await slider.focus();
  await page.keyboard.press('End');
  await expect(field).toHaveValue('512');
  await page.keyboard.press('ArrowLeft');
  await expect(field).not.toHaveValue('512');
  await page.keyboard.press('Home');
  await expect(field).toHaveValue('1');
  await expect(slider).toHaveAttribute('aria-valuetext', 'd k = 1');

  const before = await read(lab, sides[0]);
  for (const bad of ['0', '513', 'wide', '']) {
    await width(lab, bad);
    await expect(section.getByRole('alert')).toContainText(
      `d_k is a whole number from 1 to 512, but “${bad}” was found`,
    );
    await expect(field).toHaveValue(bad);
    expect(await read(lab, sides[0])).toEqual(before);
  }
  await width(lab, '64');
  await expect(section.getByRole('alert')).toHaveCount(0);
  const seed = section.getByRole('textbox', { name: 'Seed' });
  await seed.fill('-3');
  await seed.press('Enter');
  await expect(section.getByRole('alert')).toContainText('A seed is a whole number from 0');
  await expect(seed).toHaveValue('-3');
  await seed.fill('9');
  await seed.press('Enter');
  await expect(section.getByRole('alert')).toHaveCount(0);
  await expect(page).toHaveURL(/lab=random:64:9:0/);
});

test('other rows and seeds, the page’s own numbers, and all of it after a reload', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await open(lab);
  const section = lab.host.locator('#scale');
  const first = await read(lab, sides[0]);
  await section.getByRole('combobox', { name: 'Query' }).selectOption('3');
  await expect.poll(async () => (await read(lab, sides[0])).scores).not.toEqual(first.scores);
  const fourth = await read(lab, sides[0]);
  await section.getByRole('button', { name: 'Next seed' }).click();
  await expect(section.getByRole('textbox', { name: 'Seed' })).toHaveValue('2');
  await expect.poll(async () => (await read(lab, sides[0])).scores).not.toEqual(fourth.scores);
  const second = await read(lab, sides[0]);
  await expect(page).toHaveURL(/lab=random:64:2:3/);
  await page.reload();
  await lab.ready();
  await open(lab);
  expect(await read(lab, sides[0])).toEqual(second);

  await section.getByRole('radio', { name: /numbers above/ }).check();
  // Row 0 of the worked example: raw 4 and 0, divided by 2.
  await expect.poll(async () => (await read(lab, sides[0])).scores).toEqual([4, 0]);
  const scaled = await read(lab, sides[1]);
  expect(scaled.scores).toEqual([2, 0]);
  expect(scaled.weights).toEqual([0.8808, 0.1192]);
  expect(scaled.maximum).toBe(88.1);
  // It follows an edit: 3·1 + 2·1 = 5.
  await lab.edit('q', 0, 0, '3');
  await expect.poll(async () => (await read(lab, sides[0])).scores).toEqual([5, 0]);
  await expect(section).toContainText(/drawn on one scale from −5\s+to 5/);
});

test('draws are bit-identical in both builds', async ({ page, context }) => {
  const link = 'strict/lab/#?digits=8&lab=random:64:123:5';
  const relaxed = await Lab.open(page, link);
  await open(relaxed);
  const other = await context.newPage();
  await other.addInitScript(refuseRelaxed);
  const simd128 = await Lab.open(other, link);
  await open(simd128);
  const [one, two] = [await read(relaxed, sides[0]), await read(simd128, sides[0])];
  // The draws are the same; sums may be rounded otherwise where the build fuses products and sums.
  expect(two.scores).toEqual(one.scores);
  for (const [index, weight] of one.weights.entries()) {
    // A score of size 30 is known to 30·64 units of 2⁻²⁴, and a weight changes as much as it does.
    expect(Math.abs(weight - (two.weights[index] ?? NaN))).toBeLessThan(30 * 64 * 2 ** -24);
  }
});

test('all queries together: means of the rows, and the page’s own weights by head, empty rows apart', async ({
  page,
}) => {
  const lab = await Lab.open(page, 'strict/lab/#?digits=8&lab=given:64:1:0');
  await open(lab);
  const table = lab.host.getByRole('table', { name: 'All queries together: mean (largest)' });
  const line = (name: string) => table.getByRole('row', { name: new RegExp(`^${name}`) });
  // The worked example: rows of scores [2, 0] and [0, 2], so that both queries measure alike.
  await expect(line('Divided by').getByRole('cell').nth(1)).toHaveText('88.1 % (88.1 %)');
  await expect(line('Weights above').getByRole('cell').nth(2)).toHaveText(
    '0.36533386 (0.36533386)',
  );
  await expect(line('Weights above').getByRole('cell').first()).toHaveText('2');

  // A query without a key counts apart and leaves the means alone.
  await lab.host.getByLabel('a mask of your own').check();
  await lab.cell('mask', 0, 0).click();
  await lab.cell('mask', 0, 1).click();
  await expect(lab.cell('weights', 0, 0)).toHaveText(/^0\.0+\s*$/);
  await open(lab);
  await expect(line('Weights above').getByRole('cell').first()).toHaveText(
    '2, 1 of them without a key',
  );
  await expect(line('Weights above').getByRole('cell').nth(1)).toHaveText('88.1 % (88.1 %)');
  await lab.cell('mask', 1, 0).click();
  await lab.cell('mask', 1, 1).click();
  await open(lab);
  await expect(line('Weights above').getByRole('cell').nth(1)).toHaveText('– (–)');
});

test('with more heads than one, a line for each and one for all', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/');
  await lab.choose(/^Two query heads/);
  await open(lab);
  await lab.host.getByRole('radio', { name: 'the numbers above' }).check();
  const table = lab.host.getByRole('table', { name: 'All queries together: mean (largest)' });
  await expect(table.getByRole('rowheader')).toHaveText([
    'Without the division',
    'Divided by √d_k',
    'Weights above, head 0',
    'Weights above, head 1',
    'Weights above, all heads',
  ]);
  const queries = await table.locator('tbody td:nth-child(2)').allTextContents();
  const [, , first, second, all] = queries.map(Number);
  expect(all).toBe((first ?? NaN) + (second ?? NaN));
});
