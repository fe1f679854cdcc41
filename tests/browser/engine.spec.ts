/** What runs and what is said when it cannot: builds, fallbacks, broken files, memory that grows. */
import type { Page } from '@playwright/test';
import { refuseRelaxed } from './chromium.mjs';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const output = [
  ['1.2384', '1.7616'],
  ['2.7616', '0.2384'],
];

interface Engine {
  readonly build: string;
  readonly fallbackReason: string;
  createSession(): Session;
}

interface Session {
  configure(config: object): void;
  setInput(stage: string, values: number[]): void;
  run(): void;
  view(stage: string): Float32Array;
  dispose(): void;
}

type Element = HTMLElement & { readonly engine: Engine | null };

const engine = (page: Page) =>
  page.locator('attention-lab').evaluate((element) => {
    const { build, fallbackReason } = (element as Element).engine!;
    return { build, fallbackReason };
  });

test('Chromium runs the relaxed build', async ({ page }) => {
  await Lab.open(page);
  expect(await engine(page)).toEqual({ build: 'relaxed', fallbackReason: '' });
});

test('without relaxed SIMD the other build gives the same numbers', async ({ page }) => {
  const fetched: string[] = [];
  page.on('request', (request) => fetched.push(request.url()));
  await page.addInitScript(refuseRelaxed);
  const lab = await Lab.open(page);
  await lab.expectTexts('heads', output);
  expect(await engine(page)).toMatchObject({ build: 'simd128' });
  expect(fetched.filter((url) => url.includes('relaxed'))).toEqual([]);
  await lab.edit('k', 0, 0, '2');
  await lab.expectTexts('heads', [
    ['1.0949', '1.9051'],
    ['2.7616', '0.2384'],
  ]);
});

test('a build that does not load is replaced by the other', async ({ page, problems }) => {
  await page.route('**/forward-relaxed-*.wasm', (route) => route.fulfill({ status: 404 }));
  const lab = await Lab.open(page);
  await lab.expectTexts('heads', output);
  const { build, fallbackReason } = await engine(page);
  expect(build).toBe('simd128');
  expect(fallbackReason).toContain('404');
  expect(problems.splice(0).join()).toContain('404');
});

test('the first numbers need the small module only; an explanation fetches the other', async ({
  page,
}) => {
  const fetched: string[] = [];
  page.on('request', (request) => fetched.push(request.url().replace(/^.*\//, '')));
  const lab = await Lab.open(page);
  await lab.expectTexts('heads', output);
  const modules = () => fetched.filter((file) => file.endsWith('.wasm'));
  expect(modules()).toEqual([expect.stringMatching(/^forward-relaxed/)]);
  await lab.cell('heads', 0, 0).hover();
  await expect(page.getByRole('complementary')).toContainText('1.2384');
  expect(modules()).toEqual([
    expect.stringMatching(/^forward-relaxed/),
    expect.stringMatching(/^attention-relaxed/),
  ]);
  await lab.expectTexts('heads', output);
});

test('without the larger module the numbers stay, and what needs it is refused with a reason', async ({
  page,
  problems,
}) => {
  await page.route('**/attention-*.wasm', (route) => route.fulfill({ status: 404 }));
  const lab = await Lab.open(page);
  const reason = /attention-relaxed\.wasm could not be loaded \(HTTP status 404\)/;
  await lab.cell('heads', 0, 0).hover();
  await expect(page.getByRole('alert')).toContainText(reason);
  await lab.expectTexts('heads', output);
  await lab.edit('k', 0, 0, '2');
  await lab.expectTexts('heads', [
    ['1.0949', '1.9051'],
    ['2.7616', '0.2384'],
  ]);
  const mask = page.getByLabel(/mask of your own/i);
  await mask.click();
  await expect(page.getByRole('alert')).toContainText(reason);
  await expect(mask).not.toBeChecked();
  await lab.expectTexts('heads', [
    ['1.0949', '1.9051'],
    ['2.7616', '0.2384'],
  ]);
  expect(problems.splice(0).every((problem) => problem.includes('404'))).toBe(true);
});

/** What must stand on the page when there are no numbers: the reason, and the static example. */
async function expectFallback(page: Page, reason: RegExp): Promise<void> {
  const alert = page.getByRole('alert');
  await expect(alert).toBeVisible();
  await expect(alert).toContainText(reason);
  await expect(alert).not.toContainText(/undefined|\[object|TypeError|LinkError|at http/);
  const example = page.getByRole('table', { name: /worked example/ });
  await expect(example).toBeVisible();
  await expect(example.getByRole('row', { name: /^Output/ })).toContainText('1.2384, 1.7616');
  await expect(example.getByRole('row', { name: /^Output/ })).toContainText('2.7616, 0.2384');
  await expect(page.locator('attention-lab figure')).toHaveCount(0);
}

const browsersWithout = {
  'no WebAssembly': ['delete globalThis.WebAssembly', /WebAssembly is missing/],
  'no SIMD': ['WebAssembly.validate = () => false', /lacks SIMD/],
} as const;

for (const [name, [script, reason]] of Object.entries(browsersWithout)) {
  test(`${name}: a readable message and the static example`, async ({ page }) => {
    await page.addInitScript(script);
    await page.goto('strict/lab/');
    await expectFallback(page, reason);
  });
}

test('a .wasm that is missing is named, with what the server said', async ({ page, problems }) => {
  await page.route('**/*.wasm', (route) =>
    route.fulfill({ status: 404, contentType: 'text/html', body: '<p>Not found</p>' }),
  );
  await page.goto('strict/lab/');
  await expectFallback(page, /forward-\w+\.wasm.*404/);
  expect(problems.splice(0).every((problem) => problem.includes('404'))).toBe(true);
});

test('a .wasm that is a web page is named, with its type', async ({ page }) => {
  await page.route('**/*.wasm', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><p>Welcome</p>' }),
  );
  await page.goto('strict/lab/');
  await expectFallback(page, /forward-\w+\.wasm is not a WebAssembly module.*text\/html/);
});

test('a policy that blocks WebAssembly is named', async ({ page, problems }) => {
  await page.route('**/strict/lab/', async (route) => {
    const response = await route.fetch();
    const headers = {
      ...response.headers(),
      'content-security-policy': "default-src 'self'; script-src 'self'; style-src 'self'",
    };
    await route.fulfill({ response, headers });
  });
  await page.goto('strict/lab/');
  await expectFallback(page, /policy blocks WebAssembly.*wasm-unsafe-eval/);
  expect(problems.splice(0).join()).toContain('policy: script-src');
});

test('the host page hears why there are no numbers', async ({ page }) => {
  await page.addInitScript(() => {
    delete (globalThis as { WebAssembly?: unknown }).WebAssembly;
    document.addEventListener('attn-error', (event) => {
      const { code, message } = (event as CustomEvent).detail;
      document.documentElement.dataset.heard = `${code}: ${message}`;
    });
  });
  await page.goto('strict/pages/bare.html');
  await expect(page.locator('html')).toHaveAttribute('data-heard', /^noWebAssembly: WebAssembly/);
});

test('a violation of the policy would be seen', async ({ page, problems }) => {
  await Lab.open(page);
  await page.evaluate(() => document.body.setAttribute('style', 'color: red'));
  await expect.poll(() => problems.join()).toContain('policy: style-src');
  problems.splice(0);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the static example is there', async ({ page }) => {
    await page.goto('strict/lab/');
    const example = page.getByRole('table', { name: /worked example/ });
    await expect(example).toBeVisible();
    await expect(example).toContainText('1.2384, 1.7616');
  });
});

test('numbers stay right when another session grows the memory', async ({ page }) => {
  await page.goto('strict/pages/two.html');
  const first = new Lab(page, page.locator('#first'));
  const second = new Lab(page, page.locator('#second'));
  await first.expectTexts('heads', output);
  await second.ready();

  const grown = await page.locator('#second').evaluate((element) => {
    const before = (element as Element).engine!.createSession();
    before.configure({ source: 'qkv', tq: 1, tk: 1, dK: 1, dV: 1 });
    const old = before.view('v');
    const large = (element as Element).engine!.createSession();
    // The stages that are kept need about 25 MB.
    large.configure({ source: 'qkv', tq: 1024, tk: 1024, dK: 8, dV: 8 });
    large.run();
    const weight = large.view('weights')[0]!;
    const grew = old.length === 0 && before.view('v').length === 1;
    large.dispose();
    before.dispose();
    return { grew, weight };
  });
  // 1024 equal keys; the old view of another session has lost its memory.
  expect(grown).toEqual({ grew: true, weight: 1 / 1024 });

  // A render that reads the old views, then a run that writes to them.
  await first.cell('weights', 0, 0).hover();
  await first.expectTexts('heads', output);
  await first.edit('k', 0, 0, '2');
  await first.expectTexts('heads', [
    ['1.0949', '1.9051'],
    ['2.7616', '0.2384'],
  ]);
  await second.cell('weights', 2, 0).hover();
  await expect(second.explanation).toContainText('33.3 %');
  await second.expectTexts('weights', [
    ['0.6652', '0.0900', '0.2447'],
    ['0.0900', '0.6652', '0.2447'],
    ['0.3333', '0.3333', '0.3333'],
  ]);
});
