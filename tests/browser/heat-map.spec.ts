/** Matrices too large for numbers: drawn up to 1024 tokens, read one number at a time, edited too. */
import type { Locator } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const heatMap = (lab: Lab, name: RegExp): Locator =>
  lab.host.getByRole('application', { name }).first();

/** A link to seeded Q, K and V of these sizes. */
const link = (tq: number, tk: number) =>
  `strict/lab/#?example=random&tq=${tq}&tk=${tk}&q=normal:3&k=normal:4&v=normal:5`;

test('up to 16 are numbers, 17 are drawn', async ({ page }) => {
  const lab = await Lab.open(page, link(16, 16));
  await expect(lab.matrix('weights').locator('td[data-row]')).toHaveCount(256);
  await lab.set(/number of keys/, '17');
  await expect(heatMap(lab, /^A, weights, 16 × 17/)).toBeVisible();
  await expect(lab.matrix('weights').locator('td[data-row]')).toHaveCount(0);
  await expect(
    lab.matrix('weights').getByRole('img', { name: 'Colour scale from 0 to 1' }),
  ).toBeVisible();
});

test('1024 tokens: by keyboard, by pointer, pinned, and drawn from the numbers', async ({
  page,
}) => {
  const lab = await Lab.open(page, link(1024, 1024));
  const map = heatMap(lab, /^A, weights, 1024 × 1024/);
  const who = lab.explanation.locator('.who');
  await map.scrollIntoViewIfNeeded();

  await map.focus();
  await expect(who).toContainText(/0,\s*0/);
  for (const [key, place] of [
    ['ArrowRight', /0,\s*1\b/],
    ['ArrowDown', /1,\s*1\b/],
    ['PageDown', /17,\s*1\b/],
    ['End', /17,\s*1023\b/],
    ['ArrowRight', /17,\s*1023\b/],
    ['Home', /17,\s*0\b/],
    ['PageUp', /1,\s*0\b/],
    ['ArrowUp', /0,\s*0\b/],
    ['ArrowUp', /0,\s*0\b/],
  ] as const) {
    await page.keyboard.press(key);
    await expect(who, key).toContainText(place);
  }
  await expect(map).toHaveAccessibleDescription(/of its attention to/);
  // A share of 1024: its number is told at full precision.
  const told = Number(((await who.locator('.value').textContent()) ?? '').replace('=', ''));
  expect(told).toBeGreaterThan(0);
  expect(told).toBeLessThan(1);
  const [held, drawnAlpha] = await lab.host.evaluate((host) => {
    const session = (host as HTMLElement & { session: { view(id: string): Float32Array } }).session;
    const canvas = host.shadowRoot!.querySelector<HTMLCanvasElement>(
      'figure[data-stage="weights"] canvas',
    )!;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    const weights = session.view('weights');
    // Where the largest weight is, the most colour is.
    const largest = weights.indexOf(weights.reduce((a, b) => Math.max(a, b), 0));
    const alphas = data.filter((_, index) => index % 4 === 3);
    return [
      weights[0] ?? Number.NaN,
      (alphas[largest] ?? 0) === alphas.reduce((a, b) => Math.max(a, b), 0),
    ] as const;
  });
  expect(told).toBe(Number(told.toPrecision(9)));
  expect(Math.fround(told)).toBe(held);
  expect(drawnAlpha).toBe(true);

  const box = (await map.boundingBox())!;
  const at = (row: number, col: number) => ({
    x: ((col + 0.5) / 1024) * box.width,
    y: ((row + 0.5) / 1024) * box.height,
  });
  await map.hover({ position: at(512, 256) });
  await expect(who).toContainText(/51[0-3],\s*25[4-7]/);
  await map.click({ position: at(100, 200) });
  await expect(lab.pinned).toHaveCount(1);
  await expect(who).toContainText(/(98|99|100|101),\s*(199|200|201)/);
  const pinned = await who.textContent();
  await map.hover({ position: at(900, 900) });
  await expect(who).toHaveText(pinned ?? '');
  // The row of the query and all the keys' totals are what made it.
  await expect(lab.explanation.getByRole('button', { name: /ℓ|row/ }).first()).toBeVisible();
  await map.focus();
  await page.keyboard.press('Escape');
  await expect(lab.pinned).toHaveCount(0);
});

test.describe('by touch', () => {
  test.use({ hasTouch: true });

  test('a tap tells the number', { tag: '@narrow' }, async ({ page }) => {
    const lab = await Lab.open(page, link(64, 64));
    const map = heatMap(lab, /^A, weights, 64 × 64/);
    await map.scrollIntoViewIfNeeded();
    const { width, height } = (await map.boundingBox())!;
    await map.tap({ position: { x: width * (10.5 / 64), y: height * (20.5 / 64) } });
    await expect(lab.pinned).toHaveCount(1);
    await expect(lab.explanation.locator('.who')).toContainText(/20,\s*10\b/);
    await expect(lab.explanation).toContainText(/of its attention to token 10/);
    const sticksOut = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(sticksOut).toBeLessThanOrEqual(0);
  });
});

test('keys in a map go on from one another before the next render', async ({ page }) => {
  const lab = await Lab.open(page, link(20, 20));
  await heatMap(lab, /^Q, queries, 20 × 4/).evaluate((map: HTMLElement) => {
    map.focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'Enter']) {
      map.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    }
  });
  await expect(lab.pinned).toHaveCount(1);
  await expect(lab.explanation.locator('.who sub')).toHaveText('2,1');
});

test('an input that is drawn is edited in the panel, bad texts kept with what is wrong', async ({
  page,
}) => {
  const lab = await Lab.open(page, link(20, 20));
  const map = heatMap(lab, /^Q, queries, 20 × 4/);
  await map.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(lab.pinned).toHaveCount(1);
  const number = lab.explanation.getByRole('textbox', { name: 'Number' });
  const before = await number.inputValue();
  expect(Number(before.replace('−', '-'))).not.toBe(0);
  await number.fill('abc');
  await number.press('Tab');
  await expect(lab.explanation.getByRole('alert')).toContainText(/expected a number.*abc/i);
  await expect(number).toHaveValue('abc');
  await expect(number).toHaveAttribute('aria-invalid', 'true');
  await number.fill('1/4');
  await number.press('Tab');
  await expect(lab.explanation.getByRole('alert')).toHaveCount(0);
  await expect(number).toHaveValue('0.25');
  await expect(lab.explanation.locator('.value')).toHaveText(/= 0\.25/);
  await lab.button('Undo').click();
  await map.focus();
  await expect(lab.explanation.getByRole('textbox', { name: 'Number' })).toHaveValue(before);
});
