/** A run that takes longer than a frame: in slices, with progress, cancelled, never stale. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

/** 1024 seeded queries and few keys. */
const address = 'strict/lab/#?example=random&tq=1024&tk=16&q=normal:3&k=normal:4&v=normal:5';

interface Hold {
  /** Turns of the event loop that runs asked for. */
  turns: number;
  /** Set, it keeps these turns from coming. */
  held: boolean;
  /** Lets one turn come. */
  next: () => void;
}

/** Takes charge of the messages by which a run gives the thread back; Lit and the page post none. */
async function holdRuns(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const post = MessagePort.prototype.postMessage as (this: MessagePort, message: unknown) => void;
    const hold = { turns: 0, held: false, next: () => {} };
    Object.assign(window, { hold });
    MessagePort.prototype.postMessage = function (this: MessagePort, message: unknown) {
      hold.turns += 1;
      hold.next = () => post.call(this, message);
      if (!hold.held) hold.next();
    };
  });
}

const held = (page: Page, value: boolean): Promise<void> =>
  page.evaluate((value) => {
    const { hold } = window as unknown as { hold: Hold };
    hold.held = value;
    if (!value) hold.next();
  }, value);

/** Lets so many turns come, one after the other. */
const turns = (page: Page, count: number): Promise<void> =>
  page.evaluate(async (count) => {
    const { hold } = window as unknown as { hold: Hold };
    for (let turn = 0; turn < count; turn += 1) {
      const before = hold.turns;
      hold.next();
      while (hold.turns === before) await new Promise((resolve) => setTimeout(resolve));
    }
  }, count);

/** Asks for 1024 keys and stops the run in its midst, after the time from which it shows progress. */
async function stopMidway(page: Page, lab: Lab): Promise<void> {
  await held(page, true);
  const before = await page.evaluate(() => (window as unknown as { hold: Hold }).hold.turns);
  await lab.set(/number of keys/, '1024');
  await page.waitForFunction(
    (before) => (window as unknown as { hold: Hold }).hold.turns > before,
    before,
  );
  // The configuration, three inputs, one slice of at least four.
  await turns(page, 5);
  await page.waitForTimeout(200);
  await turns(page, 1);
}

test('what waits is done between the slices, before there are numbers', async ({ page }) => {
  await holdRuns(page);
  const lab = await Lab.open(page, address);
  const order = lab.host.evaluate(
    (host) =>
      new Promise<string[]>((resolve) => {
        const { hold } = window as unknown as { hold: Hold };
        const first = hold.turns;
        const seen: string[] = [];
        const look = () => {
          if (hold.turns > first) seen.push('task');
          setTimeout(look);
        };
        look();
        host.addEventListener('attn-change', () => {
          seen.push('numbers', String(hold.turns - first));
          resolve(seen);
        });
      }),
  );
  await lab.set(/number of keys/, '1024');
  const seen = await order;
  expect(seen[0]).toBe('task');
  // The configuration, three inputs, and at most 16 steps a slice: six stages of 2²⁰ cells, each of
  // which counts as 16 multiply-adds, are 48 steps of 2²¹.
  expect(Number(seen.at(-1))).toBeGreaterThan(4 + 48 / 16 - 1);
});

test('progress, Cancel and Redo', async ({ page }) => {
  await holdRuns(page);
  const lab = await Lab.open(page, address);
  const bar = lab.host.getByRole('progressbar', { name: 'Computing…' });
  const map = lab.host.getByRole('application', { name: /^A, weights, 1024 × 16/ }).first();
  await expect(map).toBeAttached();
  await expect(bar).toHaveCount(0);

  await stopMidway(page, lab);
  await expect(bar).toBeVisible();
  const done = await progressOf(page);
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(1);
  // Everything is still of the problem before.
  await expect(map).toBeAttached();

  await lab.button('Cancel').click();
  await expect(bar).toHaveCount(0);
  await expect(lab.alerts).toHaveText(/^Stopped: the numbers are those from before/);
  await expect(lab.field(/number of keys/)).toHaveValue('16');

  await held(page, false);
  await lab.button('Redo').click();
  await expect(
    lab.host.getByRole('application', { name: /^A, weights, 1024 × 1024/ }).first(),
  ).toBeAttached();
  await expect(lab.field(/number of keys/)).toHaveValue('1024');
  await expect(bar).toHaveCount(0);
});

test('of two problems in a row only the last is announced', async ({ page }) => {
  await holdRuns(page);
  const lab = await Lab.open(page, address);
  await lab.host.evaluate((host) => {
    const told: string[] = [];
    Object.assign(window, { told });
    host.addEventListener('attn-change', () => {
      const map = host.shadowRoot?.querySelector('figure[data-stage="weights"] canvas');
      told.push(map?.getAttribute('aria-label')?.match(/\d+ × \d+/)?.[0] ?? 'no map');
    });
  });
  await stopMidway(page, lab);
  await lab.set(/number of keys/, '768');
  await held(page, false);
  await expect(
    lab.host.getByRole('application', { name: /^A, weights, 1024 × 768/ }).first(),
  ).toBeAttached();
  const told = await page.evaluate(() => (window as unknown as { told: string[] }).told);
  expect(told).toEqual(['1024 × 768']);
});

const progressOf = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      document.querySelector('attention-lab')?.shadowRoot?.querySelector('progress')?.value ?? 0,
  );
