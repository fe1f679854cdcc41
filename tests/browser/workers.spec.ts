/**
 * Work in other threads of a browser, through the package as it is published: workers from their
 * address, from a blob, or none, by what the page may do; and a worker that dies.
 */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';

type Core = typeof import('../../web/core/index.ts');

interface Found {
  readonly kind: string;
  readonly workers: number;
  readonly ofBlobs: number;
  readonly sameBits: boolean;
  readonly first: number;
  /** Messages that other code of the page got between two reports of progress. */
  readonly heard: number;
}

/** 1024 queries and keys of zeros: every row is the mean of 0 … 1023. */
const attendIn = (page: Page, address: string): Promise<Found> =>
  page.evaluate(async (from): Promise<Found> => {
    const made: string[] = [];
    const Original = Worker;
    window.Worker = class extends Original {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        made.push(String(url));
      }
    };
    const { load, attend, attendAsync, workerKind }: Core = await import(from);
    const engine = await load();
    const config = { tq: 1024, tk: 1024, dK: 64, dV: 64 };
    const numbers = new Float32Array(1024 * 64);
    const inputs = { q: numbers, k: numbers, v: numbers.map((_, i) => Math.floor(i / 64)) };
    let heard = 0;
    const channel = new MessageChannel();
    channel.port1.onmessage = () => channel.port2.postMessage(null);
    channel.port2.onmessage = () => {
      heard += 1;
      channel.port1.postMessage(null);
    };
    channel.port1.postMessage(null);
    const found = await attendAsync(engine, inputs, config, { workers: 2 });
    channel.port1.close();
    const expected = attend(engine, inputs, config);
    return {
      kind: await workerKind(engine),
      workers: made.length,
      ofBlobs: made.filter((url) => url.startsWith('blob:')).length,
      sameBits: expected.every((value, i) => value === found[i]),
      first: found[0] ?? Number.NaN,
      heard,
    };
  }, address);

const mean = expect.closeTo(511.5, 3);

test('under the strict policy, workers come from the address of their script', async ({
  page,
  site,
}) => {
  await page.goto('strict/pages/empty.html');
  const found = await attendIn(page, `${site.address}strict/core/index.js`);
  expect(found).toMatchObject({ kind: 'url', workers: 2, ofBlobs: 0, sameBits: true, first: mean });
});

test('from another origin, workers come from a blob', async ({ page, site }) => {
  await page.goto(`${site.address.replace('127.0.0.1', 'localhost')}open/pages/empty.html`);
  const found = await attendIn(page, `${site.address}open/core/index.js`);
  expect(found).toMatchObject({ kind: 'blob', ofBlobs: 2, sameBits: true, first: mean });
});

test('where workers are refused, the page does the work in slices', async ({
  page,
  site,
  problems,
}) => {
  await page.goto('no-workers/pages/empty.html');
  const found = await attendIn(page, `${site.address}no-workers/core/index.js`);
  expect(found).toMatchObject({ kind: 'slices', sameBits: true, first: mean });
  expect(found.heard).toBeGreaterThan(0);
  // The browser tells of every refusal.
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) expect(problem).toContain('worker-src');
  problems.length = 0;
});

/** Opens a page whose later work, in so many workers, is the mean of ones; or the error's text. */
const ready = async (page: Page, address: string) => {
  await page.goto('open/pages/empty.html');
  await page.evaluate(async (from) => {
    const core: Core = await import(from);
    const config = { tq: 1024, tk: 1024, dK: 64, dV: 64 };
    const numbers = new Float32Array(1024 * 64).fill(1);
    const inputs = { q: numbers, k: numbers, v: numbers };
    const engine = await core.load();
    const run = (workers: number) => core.attendAsync(engine, inputs, config, { workers });
    Object.assign(window, { run });
  }, `${address}open/core/index.js`);
  return (workers: number) =>
    page.evaluate(async (count) => {
      try {
        const { run } = window as unknown as { run(workers: number): Promise<Float32Array> };
        return String((await run(count))[0]);
      } catch (error) {
        return `${(error as { code?: string }).code}: ${(error as Error).message}`;
      }
    }, workers);
};

const one = /^(1|1\.0000\d+|0\.99999\d+)$/;

test('a worker that dies of an error is told of, and the next call has new ones', async ({
  page,
  site,
  problems,
}) => {
  let isDying = true;
  await page.route('**/core/generated/worker.js', async (route) => {
    const script = await (await route.fetch()).text();
    const dying = `addEventListener('message', ({ data }) => {
      if (data.type === 'rows') throw new Error('as a test wants it');
    });`;
    const body = isDying ? `${dying}${script}` : script;
    await route.fulfill({ contentType: 'text/javascript', body });
  });
  const run = await ready(page, site.address);
  expect(await run(2)).toMatch(/^workerDied: .*as a test wants it/);
  isDying = false;
  // The other one, of the same script, may have died only after it was asked again.
  await expect.poll(() => run(2)).toMatch(one);
  problems.length = 0;
});

test('a worker that dies while another is started holds nothing up', async ({
  page,
  site,
  problems,
}) => {
  let started = 0;
  await page.route('**/core/generated/worker.js', async (route) => {
    const script = await (await route.fetch()).text();
    const dying = `new BroadcastChannel('die').onmessage = () => {
      throw new Error('as a test wants it');
    };`;
    started += 1;
    if (started > 1) {
      const [first] = page.workers();
      const ended = first?.waitForEvent('close');
      await page.evaluate(() => new BroadcastChannel('die').postMessage(null));
      await ended;
    }
    await route.fulfill({ contentType: 'text/javascript', body: `${dying}${script}` });
  });
  const run = await ready(page, site.address);
  expect(await run(1)).toMatch(one);
  expect(await run(2)).toMatch(one);
  expect(started).toBe(2);
  problems.length = 0;
});
