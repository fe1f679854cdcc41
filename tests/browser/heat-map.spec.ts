/** Matrices too large for numbers: drawn up to 1024 tokens, read one number at a time, edited too. */
import type { Locator, Page } from '@playwright/test';
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
  const [held, sides, wrong] = await lab.host.evaluate((host) => {
    const session = (host as HTMLElement & { session: { view(id: string): Float32Array } }).session;
    const canvas = host.shadowRoot!.querySelector<HTMLCanvasElement>(
      'figure[data-stage="weights"] canvas',
    )!;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    const weights = session.view('weights');
    const weight = (row: number, col: number) => weights[1024 * row + col] ?? Number.NaN;
    // A pixel has four cells and is as opaque as the largest of them.
    let differing = 0;
    for (let row = 0; row < 1024; row += 2) {
      for (let col = 0; col < 1024; col += 2) {
        const largest = Math.max(
          weight(row, col),
          weight(row, col + 1),
          weight(row + 1, col),
          weight(row + 1, col + 1),
        );
        const opaque = data[4 * (256 * row + col / 2) + 3];
        if (opaque !== Math.round(255 * largest)) ++differing;
      }
    }
    return [weight(0, 0), [canvas.width, canvas.height], differing] as const;
  });
  expect(told).toBe(Number(told.toPrecision(9)));
  expect(Math.fround(told)).toBe(held);
  expect(sides).toEqual([512, 512]);
  expect(wrong).toBe(0);
  await expect(lab.matrix('weights')).toContainText('2 × 2 cells are drawn as one');

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

/** What of a map is in view, as it says itself. */
const region = (lab: Lab, stage: string): Locator => lab.matrix(stage).locator('.heat-said');

/** Of 64 × 64 cells each has 8 pixels; with the names of the buttons on the map of S. */
async function open64(page: Page): Promise<{ lab: Lab; map: Locator; said: Locator }> {
  const lab = await Lab.open(page, link(64, 64));
  const map = heatMap(lab, /^S, raw scores, 64 × 64/);
  await map.scrollIntoViewIfNeeded();
  const said = region(lab, 'rawScores');
  await expect(said).toHaveText('all is shown');
  return { lab, map, said };
}

test('zoom by keyboard: the view follows the cell, to where its number is written', async ({
  page,
}) => {
  const { lab, map, said } = await open64(page);
  await page.evaluate(() => {
    const texts: string[] = [];
    Object.assign(window, { texts });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text: string, x: number, y: number) {
      texts.push(text);
      fillText.call(this, text, x, y);
    };
  });
  await map.focus();
  // A cell of 16 pixels, of 32 by the 18 that a number needs, of 64 by 18.
  for (const [key, shown] of [
    ['+', 'rows 0–31, columns 0–31'],
    ['+', 'rows 0–28, columns 0–15'],
    ['End', 'rows 0–28, columns 48–63'],
    ['ArrowLeft', 'rows 0–28, columns 48–63'],
    ['PageDown', 'rows 0–28, columns 48–63'],
    ['PageDown', 'rows 4–32, columns 48–63'],
    ['+', 'rows 4–32, columns 55–63'],
    ['-', 'rows 4–32, columns 48–63'],
    ['0', 'all is shown'],
    ['-', 'all is shown'],
  ] as const) {
    await page.keyboard.press(key);
    await expect(said, key).toHaveText(shown);
    if (shown.endsWith('55–63')) {
      const texts = await page.evaluate(() => (window as unknown as { texts: string[] }).texts);
      const told = (await lab.explanation.locator('.value').textContent())?.replace('= ', '') ?? '';
      const rounded = Number(told.replace('−', '-')).toFixed(4).replace('-', '−');
      expect(texts).toContain(rounded);
      expect(texts.length).toBeGreaterThanOrEqual(29 * 8);
    }
  }
  await expect(lab.explanation.locator('.who sub')).toHaveText('32,62');
});

test('zoom and pan by buttons, by dragging and by the wheel with Ctrl; the cell under the pointer is told', async ({
  page,
}) => {
  const { lab, map, said } = await open64(page);
  const who = lab.explanation.locator('.who sub');
  const figure = lab.matrix('rawScores');
  const button = (name: string) => figure.getByRole('button', { name: `${name}, S`, exact: true });
  await expect(button('Zoom out')).toBeDisabled();
  await expect(button('The whole matrix')).toBeDisabled();
  await button('Zoom in').click();
  await expect(said).toHaveText('rows 16–47, columns 16–47');
  // A button that has nothing left to do keeps the focus.
  await button('The whole matrix').press('Enter');
  await expect(button('The whole matrix')).toBeDisabled();
  await expect(button('The whole matrix')).toBeFocused();
  await button('Zoom in').click();
  await expect(said).toHaveText('rows 16–47, columns 16–47');

  // 16 pixels a cell: 48 to the left and 80 up are 3 columns and 5 rows.
  const at = async (x: number, y: number): Promise<[number, number]> => {
    const box = (await map.boundingBox())!;
    return [box.x + x, box.y + y];
  };
  await page.mouse.move(...(await at(200, 200)));
  await expect(who).toHaveText('28,28');
  await page.mouse.down();
  await page.mouse.move(...(await at(170, 150)), { steps: 3 });
  await page.mouse.move(...(await at(152, 120)), { steps: 3 });
  await page.mouse.up();
  await expect(said).toHaveText('rows 21–52, columns 19–50');
  await expect(lab.pinned).toHaveCount(0);
  await page.mouse.move(...(await at(8, 24)));
  await expect(who).toHaveText('22,19');
  // Beyond the edge there is nothing.
  await page.mouse.down();
  await page.mouse.move(...(await at(1000, 1000)), { steps: 5 });
  await page.mouse.up();
  await expect(said).toHaveText('rows 0–31, columns 0–31');

  // exp(0.005 · 138.63) = 2: the cell under the pointer stays there.
  await page.mouse.move(...(await at(264, 264)));
  await expect(who).toHaveText('16,16');
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, 138.63);
  await expect(said).toHaveText('all is shown');
  await page.mouse.wheel(0, -138.63);
  await page.keyboard.up('Control');
  // 33 of 64 cells and 33/2 into the view of 32: rows 16.5 to 48.5.
  await expect(said).toHaveText('rows 16–48, columns 16–48');
  const before = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 100);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(before);
  await expect(said).toHaveText('rows 16–48, columns 16–48');
  await button('The whole matrix').click();
  await expect(said).toHaveText('all is shown');
});

test('a view outlives what is typed, and not another shape', async ({ page }) => {
  const { lab, map, said } = await open64(page);
  await map.focus();
  await page.keyboard.press('+');
  await expect(said).toHaveText('rows 0–31, columns 0–31');
  await heatMap(lab, /^Q, queries/).focus();
  await page.keyboard.press('Enter');
  await lab.explanation.getByRole('textbox', { name: 'Number' }).fill('5');
  await page.keyboard.press('Enter');
  await expect(lab.explanation.locator('.value')).toHaveText('= 5');
  await map.scrollIntoViewIfNeeded();
  await expect(said).toHaveText('rows 0–31, columns 0–31');
  await lab.set(/number of keys/, '40');
  await heatMap(lab, /^S, raw scores, 64 × 40/).scrollIntoViewIfNeeded();
  await expect(region(lab, 'rawScores')).toHaveText('all is shown');
});

test.describe('by fingers', () => {
  test.use({ hasTouch: true });

  test('two zoom, one scrolls the page and pans what is zoomed', async ({ page }) => {
    const { lab, map, said } = await open64(page);
    const session = await page.context().newCDPSession(page);
    const box = (await map.boundingBox())!;
    type Finger = readonly [x: number, y: number];
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...fingers: Finger[]) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: fingers.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })),
      });
    const scrolled = () => page.evaluate(() => scrollY);
    const before = await scrolled();
    await touch('touchStart', [156, 256], [356, 256]);
    await touch('touchMove', [106, 256], [406, 256]);
    await touch('touchMove', [56, 256], [456, 256]);
    await touch('touchEnd');
    await expect(said).toHaveText('rows 16–47, columns 16–47');
    await touch('touchStart', [300, 300]);
    await touch('touchMove', [300, 280]);
    await touch('touchMove', [268, 236]);
    await touch('touchEnd');
    await expect(said).toHaveText('rows 20–51, columns 18–49');
    expect(await scrolled()).toBe(before);
    await expect(lab.pinned).toHaveCount(0);
    // A tap still pins: 8 + 32 pixels are half a cell and two.
    await page.touchscreen.tap(box.x + 40, box.y + 24);
    await expect(lab.explanation.locator('.who sub')).toHaveText('21,20');
    await lab.matrix('rawScores').getByRole('button', { name: 'The whole matrix, S' }).click();
    await expect(said).toHaveText('all is shown');
    await page.keyboard.press('Escape');
    const start = await scrolled();
    await touch('touchStart', [200, 300]);
    for (let y = 290; y >= 150; y -= 10) await touch('touchMove', [200, y]);
    await touch('touchEnd');
    await expect.poll(scrolled).toBeGreaterThan(start);
    await expect(said).toHaveText('all is shown');
  });
});

test('a map is drawn once a frame at most, and not out of sight', async ({ page }) => {
  await page.addInitScript(() => {
    const draws: { place: string; frame: number }[] = [];
    let frame = 0;
    const count = () => {
      ++frame;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    Object.assign(window, { draws });
    const { drawImage } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.drawImage = function (...given: unknown[]) {
      draws.push({ place: this.canvas.closest('figure')?.dataset.place ?? '', frame });
      (drawImage as (...all: unknown[]) => void).apply(this, given);
    };
  });
  const lab = await Lab.open(page, link(1024, 1024));
  const map = heatMap(lab, /^S, raw scores/);
  await map.scrollIntoViewIfNeeded();
  await expect(region(lab, 'rawScores')).toContainText('all is shown');
  const draws = await map.evaluate(async (canvas) => {
    const { draws } = window as unknown as { draws: { place: string; frame: number }[] };
    const nextFrame = () => new Promise(requestAnimationFrame);
    await nextFrame();
    draws.length = 0;
    const { left, top } = canvas.getBoundingClientRect();
    for (let step = 0; step < 12; ++step) {
      for (let event = 0; event < 20; ++event) {
        const at = {
          clientX: left + 200 + event,
          clientY: top + 100 + 5 * step,
          ctrlKey: true,
          deltaY: -5,
          bubbles: true,
          cancelable: true,
        };
        canvas.dispatchEvent(new WheelEvent('wheel', at));
        canvas.dispatchEvent(new PointerEvent('pointermove', { ...at, pointerType: 'mouse' }));
      }
      await nextFrame();
    }
    await nextFrame();
    return draws;
  });
  const ofMap = draws.filter(({ place }) => place === 'scores-rawScores').map(({ frame }) => frame);
  expect(ofMap.length).toBeGreaterThanOrEqual(12);
  expect(new Set(ofMap).size).toBe(ofMap.length);
  expect(draws.filter(({ place }) => /softmax|output/.test(place))).toEqual([]);

  // What is typed changes all of them; only those in sight are drawn.
  await heatMap(lab, /^Q, queries/).focus();
  await page.keyboard.press('Enter');
  await page.evaluate(() => {
    (window as unknown as { draws: unknown[] }).draws.length = 0;
  });
  await lab.explanation.getByRole('textbox', { name: 'Number' }).fill('5');
  await page.keyboard.press('Enter');
  await expect(lab.explanation.locator('.value')).toHaveText('= 5');
  const places = await page.evaluate(() =>
    (window as unknown as { draws: { place: string }[] }).draws.map(({ place }) => place),
  );
  expect(places).toContain('inputs-q');
  expect(places.filter((place) => /softmax|output/.test(place))).toEqual([]);
});

test('scores with a mask keep the colours of the scores', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#?example=random&tq=20&tk=20&causal=on');
  const legend = (stage: string) => lab.matrix(stage).locator('.legend');
  await lab.matrix('maskedScores').scrollIntoViewIfNeeded();
  await expect(legend('maskedScores')).toBeVisible();
  const numbers = (stage: string) => legend(stage).locator('.low, .high').allTextContents();
  expect(await numbers('maskedScores')).toHaveLength(2);
  expect(await numbers('maskedScores')).toEqual(await numbers('scaledScores'));
});

/**
 * Of each cell of a map that is drawn with nothing merged and nothing enlarged: `blank`, `even` or
 * `hatched`, by how many colours its pixels have; the number behind it beside it.
 */
const drawnCells = (lab: Lab, stage: string) =>
  lab.host.evaluate((host, stage) => {
    type Session = {
      view(id: string): Float32Array;
      shape(id: string): { rows: number; cols: number };
    };
    const { session } = host as HTMLElement & { session: Session };
    const canvas = host.shadowRoot!.querySelector<HTMLCanvasElement>(
      `figure[data-stage="${stage}"] canvas`,
    )!;
    const context = canvas.getContext('2d')!;
    const { rows, cols } = session.shape(stage);
    return [...session.view(stage)].map((value, index) => {
      const [row, col] = [Math.floor(index / cols), index % cols];
      // Without the edges, where the next cell shows through.
      const edge = (at: number, count: number, side: number) => Math.ceil((at * side) / count);
      const left = edge(col, cols, canvas.width);
      const top = edge(row, rows, canvas.height);
      const width = edge(col + 1, cols, canvas.width) - left - 1;
      const height = edge(row + 1, rows, canvas.height) - top - 1;
      const { data } = context.getImageData(left, top, width, height);
      const colours = new Set(new Uint32Array(data.buffer));
      const drawn = colours.size > 1 ? 'hatched' : colours.has(0) ? 'blank' : 'even';
      return { value: String(value), drawn };
    });
  }, stage);

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    for (const size of [20, 64]) {
      test(`what lies on no scale is hatched, and the legend names it, ${size} × ${size}`, async ({
        page,
      }) => {
        const lab = await Lab.open(page, `${link(size, size)}&causal=on`);
        for (const stage of ['mask', 'maskedScores', 'shifted']) {
          const figure = lab.matrix(stage);
          await figure.scrollIntoViewIfNeeded();
          await expect(figure.locator('.legend')).toContainText('−∞');
          await expect(figure.locator('.heat-said')).toHaveText('all is shown');
          const cells = await drawnCells(lab, stage);
          const hidden = cells.filter(({ value }) => value === '-Infinity');
          // All above the diagonal, by hand.
          expect(hidden.length, stage).toBe((size * (size - 1)) / 2);
          expect(new Set(hidden.map(({ drawn }) => drawn)), stage).toEqual(new Set(['hatched']));
          const shown = cells.filter(({ value }) => value !== '-Infinity');
          expect(
            shown.filter(({ drawn }) => drawn === 'hatched'),
            stage,
          ).toEqual([]);
        }
        // A weight of a hidden key is a 0 like any other.
        await expect(lab.matrix('weights').locator('.legend')).not.toContainText('∞');
      });
    }
  });
}

test('among cells that are drawn as one, a hidden key is still seen', async ({ page }) => {
  const lab = await Lab.open(page, `${link(1024, 1024)}&causal=on`);
  const figure = lab.matrix('mask');
  await figure.scrollIntoViewIfNeeded();
  await expect(figure.locator('.heat-said')).toContainText('hatched where one of them is');
  const opaque = await figure.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, 512, 512);
    let above = 0;
    let below = 0;
    for (let row = 0; row < 512; ++row) {
      for (let col = 0; col < 512; ++col) {
        if (data[4 * (512 * row + col) + 3] !== 0) col < row ? ++below : ++above;
      }
    }
    return [above, below];
  });
  // Each block of 2 × 2 on the diagonal has one hidden key: 512 · 513 / 2.
  expect(opaque).toEqual([131_328, 0]);
});

test('an infinity and NaN are hatched and named too', async ({ page }) => {
  const lab = await Lab.open(page, link(20, 20));
  await heatMap(lab, /^Q, queries/).focus();
  await page.keyboard.press('Enter');
  await lab.explanation.getByRole('textbox', { name: 'Number' }).fill('3e38');
  await page.keyboard.press('Enter');
  for (const [stage, name] of [
    ['rawScores', /−∞, ∞|∞, −∞/],
    ['weights', /NaN/],
  ] as const) {
    const figure = lab.matrix(stage);
    await figure.scrollIntoViewIfNeeded();
    await expect(figure.locator('.legend')).toContainText(name);
    await expect(figure.locator('.heat-said')).toHaveText('all is shown');
    const cells = await drawnCells(lab, stage);
    const beyond = cells.filter(({ value }) => !Number.isFinite(Number(value)));
    expect(beyond.length, stage).toBeGreaterThan(0);
    expect(
      cells.filter(({ drawn }) => drawn === 'hatched'),
      stage,
    ).toEqual(beyond);
  }
});

test('a mask that is drawn is painted by Space and by a click, not by a drag', async ({ page }) => {
  const lab = await Lab.open(page, `${link(20, 20)}&masked=on`);
  const map = heatMap(lab, /^M, .*Space hides a key/);
  const who = lab.explanation.locator('.who');
  await map.scrollIntoViewIfNeeded();
  const hidden = () =>
    lab.host.evaluate((host) => {
      const { session } = host as HTMLElement & { session: { view(id: string): Float32Array } };
      return [...session.view('mask')].flatMap((value, index) =>
        value === Number.NEGATIVE_INFINITY ? [`${Math.floor(index / 20)},${index % 20}`] : [],
      );
    });
  await map.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  const before = await page.evaluate(() => scrollY);
  await page.keyboard.press('Space');
  await expect.poll(hidden).toEqual(['1,1']);
  const said = lab.host.locator('.visually-hidden[role="status"]');
  await expect(said).toHaveText('token 1 is now hidden from token 1.');
  await expect(who).toContainText('−∞');
  const [drawn] = (await drawnCells(lab, 'mask')).filter(({ value }) => value === '-Infinity');
  expect(drawn?.drawn).toBe('hatched');
  await page.keyboard.press('Space');
  await expect.poll(hidden).toEqual([]);
  expect(await page.evaluate(() => scrollY)).toBe(before);

  const box = (await map.boundingBox())!;
  const at = (row: number, col: number) => ({
    x: ((col + 0.5) / 20) * box.width,
    y: ((row + 0.5) / 20) * box.height,
  });
  await map.click({ position: at(3, 7) });
  await expect.poll(hidden).toEqual(['3,7']);
  await expect(who).toContainText(/3,\s*7/);
  await expect(lab.pinned).toHaveCount(0);
  await map.hover({ position: at(5, 5) });
  await page.mouse.down();
  await map.hover({ position: at(5, 9) });
  await page.mouse.up();
  await map.click({ position: at(3, 7) });
  await expect.poll(hidden).toEqual([]);
  await lab.button('Undo').click();
  await expect.poll(hidden).toEqual(['3,7']);

  // A map that cannot be painted is explained by a click, as ever.
  const scores = heatMap(lab, /^S, raw scores/);
  await scores.click({ position: { x: 20, y: 20 } });
  await expect(lab.pinned).toHaveCount(1);
  await expect.poll(hidden).toEqual(['3,7']);
});

/** Where each map stands on the page with its caption and its legend; in CSS pixels. */
const placesOfMaps = (lab: Lab) =>
  lab.host.evaluate((host) =>
    [...host.shadowRoot!.querySelectorAll('figure:has(.heat)')].map((figure) => {
      const boxOf = (selector: string) => {
        const box = figure.querySelector(selector)!.getBoundingClientRect();
        return { top: box.top, left: box.left, right: box.right, bottom: box.bottom };
      };
      return {
        place: (figure as HTMLElement).dataset.place ?? '',
        map: boxOf('.heat'),
        symbol: boxOf('figcaption .symbol'),
        low: boxOf('.legend .low'),
        high: boxOf('.legend .high'),
      };
    }),
  );

// Three features, as few as a narrow map has, and so many that maps side by side are equally wide.
for (const features of [3, 16]) {
  test(`maps side by side stand on one line, under their captions, d_k = d_v = ${features}`, {
    tag: '@narrow',
  }, async ({ page }) => {
    for (const size of [20, 64]) {
      const address = `${link(size, size)}&dK=${features}&dV=${features}`;
      // The same page again would keep the numbers.
      await page.goto('about:blank');
      const lab = await Lab.open(page, address);
      await expect(lab.matrix('weights').locator('.heat')).toBeAttached();
      const figures = await placesOfMaps(lab);
      expect(figures.length).toBeGreaterThan(12);
      for (const { place, map, symbol, low, high } of figures) {
        expect.soft(Math.abs(symbol.left - map.left), `caption of ${place}`).toBeLessThan(4);
        expect.soft(low.top, `legend of ${place}`).toBe(high.top);
        expect.soft(low.right, `legend of ${place}`).toBeLessThanOrEqual(high.left);
      }
      // Row i stands opposite row i wherever two matrices have the rows of the queries.
      const rows = figures.filter(({ place }) => !/inputs|keyTransposed|output-v/.test(place));
      let pairs = 0;
      for (const a of rows) {
        for (const b of rows) {
          const beside = a.map.right < b.map.left && a.map.top < b.map.bottom;
          if (!beside || b.map.top >= a.map.bottom) continue;
          ++pairs;
          const which = `${a.place} and ${b.place}, ${size}`;
          expect.soft(Math.abs(a.map.top - b.map.top), which).toBeLessThan(1);
        }
      }
      if (page.viewportSize()!.width > 1000) expect(pairs).toBeGreaterThan(2);
    }
  });
}
