/** The page at every width: nothing sticks out, nothing is cut, nothing moves by itself. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { coverOf, Lab } from './lab.ts';

const widths = [320, 375, 768, 1280, 1920];

/** What makes the page scroll sideways: the outermost elements that reach beyond its edge. */
const overflow = (page: Page) =>
  page.evaluate(() => {
    const edge = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= edge) return [];
    const lab = document.querySelector('attention-lab')?.shadowRoot;
    const beyond = [...document.body.querySelectorAll('*'), ...(lab?.querySelectorAll('*') ?? [])];
    return beyond
      .filter((element) => element.getBoundingClientRect().right > edge + 0.5)
      .map((element) => `${element.tagName}.${element.className}`)
      .slice(0, 5);
  });

/** Cells whose number does not fit into them. */
const cut = (lab: Lab) =>
  lab.host.locator('td[data-row]').evaluateAll((cells) =>
    cells
      .filter((cell) => {
        const box = cell.querySelector('input') ?? cell;
        return box.scrollWidth > box.clientWidth + 1;
      })
      .map((cell) => {
        const { row, col } = (cell as HTMLElement).dataset;
        return `${cell.closest('figure')?.dataset.place} ${row} ${col}: ${cell.textContent}`;
      }),
  );

/** Sections out of sight while numbers are typed are laid out a frame after they were asked about. */
const settled = expect.configure({ soft: true });

const examples = [/^Worked example/, /whole layer/, /^Exercise 1/, /^Cross-attention/];

test('no width makes the page scroll sideways or cuts a number', async ({ page }) => {
  const lab = await Lab.open(page);
  for (const example of examples) {
    await lab.choose(example);
    const given = /layer|Cross/.test(example.source) ? 'x' : 'v';
    await lab.edit(given, 0, 0, '−1234.5678');
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      expect.soft(await overflow(page), `${example} at ${width}`).toEqual([]);
      await settled.poll(() => cut(lab), { message: `${example} at ${width}` }).toEqual([]);
    }
  }
});

test('nothing sticks out of a narrow screen in any example, gradients and heat maps included', async ({
  page,
}) => {
  test.slow();
  const lab = await Lab.open(page);
  const options = await lab.host
    .getByRole('combobox', { name: /^Example/ })
    .locator('option')
    .evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value));
  for (const state of [
    ...options.map((id) => `example=${id}&gradients=on`),
    'example=heads&batch=2&shown=1:1&softcap=2&masked=on&gradients=on',
    'example=random&tq=64&tk=64&q=normal:3&k=normal:4&v=normal:5&gradients=on',
  ]) {
    await page.goto('about:blank');
    const opened = await Lab.open(page, `strict/lab/#?${state}`);
    await expect(opened.matrix('dQ')).toBeAttached();
    await expect(opened.host.getByText('The heat map is loading.')).toHaveCount(0);
    for (const width of [320, 375]) {
      await page.setViewportSize({ width, height: 800 });
      expect.soft(await overflow(page), `${state} at ${width}`).toEqual([]);
      await settled.poll(() => cut(opened), { message: `${state} at ${width}` }).toEqual([]);
    }
  }
});

test('the sums of the weights stand beside their rows, also where the rows scroll', {
  tag: '@narrow',
}, async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#?example=exercise3&digits=8');
  const boxes = (selector: string) =>
    lab.host.locator(selector).evaluateAll((all) =>
      all.map((element) => {
        const { top, height } = element.getBoundingClientRect();
        return top + height / 2;
      }),
    );
  const rows = await boxes('[data-place="softmax-weights"] td[data-col="0"]');
  const sums = await boxes('.totals span');
  expect(sums).toHaveLength(rows.length);
  for (const [row, middle] of rows.entries()) {
    expect(Math.abs((sums[row] ?? Number.NaN) - middle), `row ${row}`).toBeLessThan(2);
  }
});

test('a matrix wider than the screen can be scrolled to its last number', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 800 });
  const lab = await Lab.open(page);
  await lab.choose(/whole layer/);
  for (const stage of ['wq', 'wo', 'weights', 'output']) {
    const last = lab.matrix(stage).locator('td[data-row]').last();
    await last.scrollIntoViewIfNeeded();
    await expect(last, stage).toBeInViewport({ ratio: 0.9 });
  }
  await lab.input('x', 0, 0).focus();
  for (let col = 1; col < 8; ++col) await page.keyboard.press('ArrowRight');
  await expect(lab.input('x', 0, 7)).toBeFocused();
  await expect(lab.input('x', 0, 7)).toBeInViewport({ ratio: 0.9 });
});

test('columns and rows of a product line up with its result', async ({ page }) => {
  const lab = await Lab.open(page);
  const box = async (place: string, row: number, col: number) =>
    (await lab.host
      .locator(`[data-place="${place}"] td[data-row="${row}"][data-col="${col}"]`)
      .boundingBox())!;
  for (const [left, upper, result] of [
    ['scores-q', 'scores-keyTransposed', 'scores-rawScores'],
    ['output-weights', 'output-v', 'output-heads'],
  ] as const) {
    for (const index of [0, 1]) {
      const cell = await box(result, index, index);
      expect.soft((await box(upper, 0, index)).x).toBeCloseTo(cell.x, 0);
      expect.soft((await box(left, index, 0)).y).toBeCloseTo(cell.y, 0);
    }
  }
});

test('the result of one head stands under the columns of that head', async ({ page }) => {
  for (const head of [0, 1]) {
    await page.goto('about:blank');
    const lab = await Lab.open(page, `strict/lab/#?example=heads&shown=0:${head}`);
    await expect(lab.matrix('q')).toContainText(`head ${head} of 2`);
    for (const width of [375, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const col of [0, 1]) {
        const upper = (await lab.cell('wq', 0, 2 * head + col).boundingBox())!;
        const result = (await lab.cell('q', 0, col).boundingBox())!;
        expect.soft(result.x, `head ${head}, column ${col} at ${width}`).toBeCloseTo(upper.x, 0);
      }
    }
  }
});

test('nothing covers the cell that has the focus', { tag: '@narrow' }, async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.input('q', 0, 0).focus();
  for (const _ of await lab.host.locator('figure').all()) {
    const at = await lab.focus();
    if (!at) continue;
    const cell = lab.host.locator(
      `[data-place="${at.place}"] td[data-row="${at.row}"][data-col="${at.col}"]`,
    );
    expect.soft(await coverOf(cell), at.place).toBe('');
    await page.keyboard.press('Tab');
  }
});

test('the bar stays in sight and leads to every stage', { tag: '@narrow' }, async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const lab = await Lab.open(page);
  const bar = lab.host.getByRole('navigation', { name: /Formula/ });
  const links = {
    output: /times V/,
    softmax: /softmax/,
    scores: /Q times K transposed/,
    inputs: /Q, K and V/,
  };
  for (const [section, name] of Object.entries(links)) {
    const link = bar.getByRole('link', { name });
    await link.click();
    const heading = lab.host.locator(`#${section}`).getByRole('heading').first();
    await expect(heading).toBeInViewport({ ratio: 1 });
    await expect(heading).toBeFocused();
    await expect(bar).toBeInViewport({ ratio: 1 });
    expect(await coverOf(heading), section).toBe('');
    await expect(link).toHaveAttribute('aria-current', 'true');
  }
});

test('nothing moves by itself, and nothing glides under reduced motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const lab = await Lab.open(page);
  const settled = await lab.host.evaluate((host) => {
    const root = host.shadowRoot!;
    const at = () => root.querySelector('#output h2')!.getBoundingClientRect().top;
    root.querySelector<HTMLElement>('a[href="#output"]')!.click();
    const atOnce = at();
    return new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(Math.abs(atOnce - at()) < 1), 400);
    });
  });
  expect(settled).toBe(true);
  await lab.edit('q', 0, 0, '3');
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
});

test('the theme button switches, and the page follows the system before', async ({ page }) => {
  const lab = await Lab.open(page);
  const ground = () => lab.host.evaluate((host) => getComputedStyle(host).backgroundColor);
  const light = await ground();
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await ground()).toBe('rgb(16, 20, 28)');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Dark' }).click();
  expect(await ground()).toBe('rgb(16, 20, 28)');
  await page.getByRole('button', { name: 'Light' }).click();
  expect(await ground()).toBe(light);
  // What was chosen counts from then on.
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await ground()).toBe(light);
});
