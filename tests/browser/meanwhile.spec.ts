/** What the reader or the page around the element does while a part is fetched or a frame awaited. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { holdBack, Lab } from './lab.ts';

type Element = HTMLElement & {
  readonly store: {
    ready(): Promise<void>;
    dispatch(action: object): void;
  };
  readonly updateComplete: Promise<unknown>;
};

const output = [
  ['1.2384', '1.7616'],
  ['2.7616', '0.2384'],
];

/** Counts the listeners of the window for what begins loading or drawing for the printer. */
async function countListeners(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const counted = window as unknown as { held: Set<string> };
    const names = new Map<unknown, number>();
    const nameOf = (type: string, listener: unknown) => {
      if (!names.has(listener)) names.set(listener, names.size);
      return `${type} ${names.get(listener)}`;
    };
    counted.held = new Set();
    const { addEventListener: add, removeEventListener: remove } = window;
    Object.assign(window, {
      addEventListener(type: string, listener: never, options?: AddEventListenerOptions) {
        if (type === 'beforeprint' || type === 'keydown') {
          counted.held.add(nameOf(type, listener));
          options?.signal?.addEventListener('abort', () =>
            counted.held.delete(nameOf(type, listener)),
          );
        }
        add.call(window, type, listener, options);
      },
      removeEventListener(type: string, listener: never) {
        counted.held.delete(nameOf(type, listener));
        remove.call(window, type, listener);
      },
    });
  });
  return () => page.evaluate(() => (window as unknown as { held: Set<string> }).held.size);
}

const frames = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
  });

/** Removes the element for a while, so that it lets go of everything; `act` happens just before. */
const removeAndPutBack = (page: Page, act: 'nothing' | 'edit' = 'nothing'): Promise<void> =>
  page.evaluate(async (act) => {
    const element = document.querySelector('attention-lab') as Element;
    const { parentElement } = element;
    if (act === 'edit') {
      element.store.dispatch({ type: 'edit', stage: 'k', row: 0, col: 0, text: '2' });
      // The update has begun to wait for its frame.
      await Promise.resolve();
    }
    element.remove();
    for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
    dispatchEvent(new KeyboardEvent('keydown', { key: 'Control' }));
    await new Promise((resolve) => setTimeout(resolve, 300));
    parentElement?.append(element);
  }, act);

test.describe('an element that is put back', () => {
  test('explains its numbers again', async ({ page }) => {
    await page.goto('strict/pages/bare.html');
    const lab = new Lab(page);
    await lab.ready();
    await lab.cell('rawScores', 0, 0).hover();
    await expect(lab.explanation).toContainText('key of token 0');
    await page.mouse.move(0, 0);
    await removeAndPutBack(page);
    await lab.expectTexts('heads', output);
    await lab.cell('rawScores', 0, 1).hover();
    await expect(lab.explanation).toContainText('key of token 1');
  });

  test('loads the comparison when it comes into view', async ({ page }) => {
    await page.goto('strict/pages/bare.html');
    const lab = new Lab(page);
    await lab.ready();
    await lab.host.evaluate((host) => (host as Element).store.ready());
    await removeAndPutBack(page, 'edit');
    await expect(lab.cell('heads', 0, 0)).toHaveText('1.0949');
    await lab.host.locator('#scale').scrollIntoViewIfNeeded();
    await expect(lab.host.getByText(/effective keys/i).first()).toBeAttached();
  });

  test('keeps a number that was not in the address yet', async ({ page }) => {
    const lab = await Lab.open(page, 'strict/lab/#?k=3,0,1,0;0,1,0,0');
    await expect(lab.input('k', 0, 0)).toHaveValue('3');
    await lab.edit('k', 0, 0, '2');
    await page.evaluate(() => {
      const element = document.querySelector('attention-lab');
      element?.parentElement?.append(element);
    });
    await expect(lab.cell('heads', 0, 0)).toHaveText('1.0949');
    await page.waitForTimeout(1000);
    await expect(lab.input('k', 0, 0)).toHaveValue('2');
    expect(decodeURIComponent(page.url())).toContain('k=2,0,1,0;0,1,0,0');
  });
});

test('an element that is removed leaves no listeners on the window', async ({ page }) => {
  const listeners = await countListeners(page);
  await page.goto('strict/pages/bare.html');
  const lab = new Lab(page);
  await lab.ready();
  await lab.set(/number of queries/, '17');
  await expect(lab.host.locator('canvas').first()).toBeAttached();
  await lab.host.locator('#scale').scrollIntoViewIfNeeded();
  await expect(lab.host.getByText(/effective keys/i).first()).toBeAttached();
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(300);
  // Without anything loaded: the same.
  await page.evaluate(() => document.body.append(document.createElement('attention-lab')));
  await expect(lab.host.nth(1).locator('figure').first()).toBeAttached();
  await page.waitForTimeout(300);
  expect(await listeners()).toBeGreaterThan(0);
  await page.evaluate(() => {
    for (const element of document.querySelectorAll('attention-lab')) element.remove();
  });
  await frames(page);
  expect(await listeners()).toBe(0);
});

test('heat maps that give way to numbers leave no listeners on the window', async ({ page }) => {
  const listeners = await countListeners(page);
  const lab = await Lab.open(page);
  await frames(page);
  const before = await listeners();
  await lab.set(/number of queries/, '17');
  await expect(lab.host.locator('canvas').first()).toBeAttached();
  for (const canvas of await lab.host.locator('canvas').all())
    await canvas.scrollIntoViewIfNeeded();
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(200);
  await lab.button('Undo').click();
  await expect(lab.host.locator('#softmax canvas')).toHaveCount(0);
  await page.waitForTimeout(200);
  expect(await listeners()).toBeLessThanOrEqual(before);
});

test('Reset does not wait for other examples, and takes nothing that is typed after it', async ({
  page,
}) => {
  const letThrough = await holdBack(page, /presets[^/]*\.js$/);
  const lab = await Lab.open(page);
  await lab.edit('k', 0, 0, '2');
  await expect(lab.cell('heads', 0, 0)).toHaveText('1.0949');
  await lab.button('Reset').click();
  await lab.expectTexts('heads', output);
  await lab.edit('k', 0, 0, '2');
  letThrough();
  await page.waitForTimeout(300);
  await expect(lab.cell('heads', 0, 0)).toHaveText('1.0949');
});

test('of two examples the one that was chosen last stands there', async ({ page }) => {
  const letThrough = await holdBack(page, /presets[^/]*\.js$/);
  const lab = await Lab.open(page);
  await lab.select(/^Exercise 2/);
  await lab.select(/^Worked/);
  letThrough();
  await page.waitForTimeout(300);
  await lab.expectTexts('heads', output);
});

test('Undo gives back an example that came while a number was typed', async ({ page }) => {
  const letThrough = await holdBack(page, /presets[^/]*\.js$/);
  const lab = await Lab.open(page);
  await lab.select(/^Exercise 2/);
  await lab.type('q', 0, 0, '7');
  await expect(lab.input('q', 0, 0)).toHaveValue('7');
  letThrough();
  await expect
    .poll(() =>
      lab.host.evaluate(
        (host) => (host as unknown as { store: { state: { preset: string } } }).store.state.preset,
      ),
    )
    .toBe('exercise2');
  const example = await lab.host.evaluate(
    (host) =>
      (host as unknown as { store: { state: { problem: { inputs: { q: number[] } } } } }).store
        .state.problem.inputs.q[0],
  );
  await page.keyboard.type('5');
  await page.keyboard.press('Tab');
  await lab.button('Undo').click();
  await expect(lab.input('q', 0, 0)).toHaveValue(String(example));
});

test('a cell that is entered and left within a frame shows its rounded number again', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.edit('q', 0, 0, '1/3');
  await lab.input('q', 0, 0).focus();
  await lab.input('v', 0, 0).focus();
  await expect(lab.input('q', 0, 0)).toHaveValue('0.3333');
  await lab.host.evaluate(async (host) => {
    const find = (stage: string) =>
      host.shadowRoot?.querySelector<HTMLInputElement>(`figure[data-stage="${stage}"] input`);
    (host as Element).store.dispatch({ type: 'edit', stage: 'k', row: 1, col: 0, text: '3' });
    find('q')?.focus();
    find('v')?.focus();
  });
  await frames(page);
  await expect(lab.input('q', 0, 0)).toHaveValue('0.3333');
});

test('a link that is followed is not lost to an edit before it', async ({ page }) => {
  const letThrough = await holdBack(page, /presets[^/]*\.js$/);
  const lab = await Lab.open(page);
  await lab.edit('v', 0, 0, '3');
  await expect.poll(() => page.url()).toContain('v=');
  await lab.edit('v', 0, 0, '4');
  await page.evaluate(() => {
    location.hash = '#?k=2,0,1,0;0,1,0,0';
  });
  await page.waitForTimeout(700);
  letThrough();
  await expect(lab.input('k', 0, 0)).toHaveValue('2');
});

test('of two links in a row the last one counts, however long the first takes', async ({
  page,
}) => {
  const lab = await Lab.open(page, 'strict/lab/#?k=1,0,1,0;0,1,0,0');
  await page.evaluate(async () => {
    // `k=5,0,1,0;0,1,0,0`, deflated; the stream that unpacks it is slow.
    const bytes = await new Response(
      new Blob(['k=5,0,1,0;0,1,0,0']).stream().pipeThrough(new CompressionStream('deflate-raw')),
    ).arrayBuffer();
    const packed = btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/=+$/, '');
    const { arrayBuffer } = Response.prototype;
    Response.prototype.arrayBuffer = async function () {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return arrayBuffer.call(this);
    };
    location.hash = `#?z=${packed}`;
    await new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
    location.hash = '#?k=2,0,1,0;0,1,0,0';
  });
  await page.waitForTimeout(500);
  await expect(lab.input('k', 0, 0)).toHaveValue('2');
});

test('a link whose examples cannot be fetched is said', async ({ page, problems }) => {
  const lab = await Lab.open(page);
  await lab.edit('v', 0, 0, '3');
  await expect.poll(() => page.url()).toContain('v=');
  await page.route(/presets[^/]*\.js$/, (route) => route.abort());
  await page.evaluate(() => {
    location.hash = '#?example=exercise2';
  });
  await expect(lab.alerts).toContainText('A part of the page could not be loaded');
  for (const problem of problems) expect(problem).toContain('Failed to load resource');
  problems.length = 0;
});

test('an element that is removed while its address is read leaves the address alone', async ({
  page,
}) => {
  const letThrough = await holdBack(page, /address-bar[^/]*\.js$/);
  await page.goto('strict/lab/#?k=2,0,1,0;0,1,0,0');
  await expect(page.locator('attention-lab')).toBeAttached();
  await page.waitForTimeout(300);
  await page.evaluate(() => document.querySelector('attention-lab')?.remove());
  letThrough();
  await page.waitForTimeout(300);
  await page.evaluate(() => {
    location.hash = '#/elsewhere?x=1';
  });
  await page.waitForTimeout(600);
  expect(page.url()).toMatch(/#\/elsewhere\?x=1$/);
});

test('an element that is removed while its address is read makes no session', async ({ page }) => {
  const letThrough = await holdBack(page, /address-bar[^/]*\.js$/);
  await page.goto('strict/lab/#?k=2,0,1,0;0,1,0,0');
  await expect(page.locator('attention-lab')).toBeAttached();
  await page.waitForTimeout(300);
  const session = await page.evaluateHandle(() => {
    const element = document.querySelector('attention-lab') as Element & { session: unknown };
    element.remove();
    return element;
  });
  letThrough();
  await page.waitForTimeout(500);
  expect(await session.evaluate((element) => element.session)).toBeNull();
});

test('a number that comes while its cell has the focus is shown there, and kept', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  await lab.input('q', 0, 0).focus();
  await expect(lab.input('q', 0, 0)).toHaveValue('2');
  await page.evaluate(() => {
    location.hash = '#?q=9,0,2,0;0,4,0,2';
  });
  await expect(lab.cell('rawScores', 0, 0)).toHaveText('11');
  await page.keyboard.press('ArrowDown');
  await frames(page);
  await expect(lab.input('q', 0, 0)).toHaveValue('9');
  await expect(lab.cell('rawScores', 0, 0)).toHaveText('11');
});

test('heat maps are not drawn before their style sheet is there', async ({ page }) => {
  const letThrough = await holdBack(page, /later-styles[^/]*\.js$/);
  const fetched = page.waitForResponse(/heat-map[^/]*\.js$/);
  const lab = await Lab.open(page, 'strict/lab/#?example=random&tq=20&tk=20&q=normal:3');
  await (await fetched).finished();
  // Drawn once more, as it happens at any time.
  await lab.host.evaluate((host) => {
    const element = host as unknown as { requestUpdate(): void; updateComplete: Promise<unknown> };
    element.requestUpdate();
    return element.updateComplete;
  });
  await expect(lab.host.getByText('The heat map is loading.').first()).toBeVisible();
  await expect(lab.host.locator('canvas')).toHaveCount(0);
  letThrough();
  await expect(lab.host.locator('canvas').first()).toBeVisible();
  await expect(lab.host.getByText('The heat map is loading.')).toHaveCount(0);
});
