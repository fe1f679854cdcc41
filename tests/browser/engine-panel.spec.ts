/** The panel at the end of the page: what runs here, where long work goes, and how fast it is. */
import { refuseRelaxed } from './chromium.mjs';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

/** The panel of a page, open, with what it found out about workers. */
async function openPanel(lab: Lab, workers: RegExp) {
  await lab.host.locator('#scale').scrollIntoViewIfNeeded();
  const panel = lab.host.getByRole('group').filter({ hasText: /^\s*Engine/ });
  await panel.getByText('Engine', { exact: true }).click();
  await expect(panel.getByRole('definition').filter({ hasText: workers })).toBeVisible();
  return panel;
}

test('the panel tells what runs, and measures it on demand', { tag: '@narrow' }, async ({
  page,
}) => {
  const lab = await Lab.open(page);
  const panel = await openPanel(lab, /in web workers, from the address/);
  const facts = panel.getByRole('definition');
  await expect(facts).toContainText([
    /^relaxed: four numbers at a time/,
    /^0\.1\.0$/,
    /^passed: a known answer came out right/,
    /^in web workers/,
    /^\d+ kB of WebAssembly, \d+ kB of it in use$/,
  ]);
  await expect(panel.getByRole('table')).toHaveCount(0);
  await panel.getByRole('button', { name: 'Measure the speed here' }).click();
  await expect(panel.getByRole('status')).toHaveText('Measured.', { timeout: 30_000 });
  const rows = panel.getByRole('row');
  await expect(rows).toHaveCount(4);
  for (const row of [1, 2, 3]) {
    await expect(rows.nth(row).getByRole('cell').first()).toHaveText(/^[\d.]+$/);
  }
  await expect(rows.nth(2)).toContainText('100 %');
  await expect(panel).toContainText(/the engine is \d+ times as fast as the loop/);
  const sticksOut = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(sticksOut).toBeLessThanOrEqual(0);
});

test('a measurement goes on between what the reader does, and can be cancelled', async ({
  page,
}) => {
  const lab = await Lab.open(page);
  const panel = await openPanel(lab, /in web workers/);
  // From within the page: it may all be over before a busy machine has found the button.
  const seen = await panel.evaluate(async (group) => {
    const button = (name: string) =>
      [...group.querySelectorAll('button')].find(({ textContent }) => textContent.includes(name));
    button('Measure the speed here')?.click();
    while (!button('Cancel')) await new Promise(requestAnimationFrame);
    const label = group.querySelector('progress')?.getAttribute('aria-label');
    button('Cancel')?.click();
    return label;
  });
  expect(seen).toBe('Measuring the speed');
  await expect(panel.getByRole('status')).toHaveText('Cancelled; nothing was measured.');
  await expect(panel.getByRole('table')).toHaveCount(0);
  await expect(panel.getByRole('button', { name: 'Measure the speed here' })).toBeVisible();
});

test('a measurement that fails says why', async ({ page }) => {
  const lab = await Lab.open(page);
  const panel = await openPanel(lab, /in web workers/);
  await lab.host.evaluate((host) => {
    const { engine } = host as unknown as { engine: { createAttention(): void } };
    engine.createAttention = () => {
      throw new Error('There is no memory left.');
    };
  });
  await panel.getByRole('button', { name: 'Measure the speed here' }).click();
  await expect(panel.getByRole('status')).toHaveText(
    'There is no memory left; nothing was measured.',
  );
});

test('without workers the panel says that long work is done on the page', async ({
  page,
  problems,
}) => {
  const lab = await Lab.open(page, 'no-workers/lab/');
  await openPanel(lab, /on this page, in slices: web workers are refused here/);
  for (const problem of problems) expect(problem).toContain('worker-src');
  problems.length = 0;
});

test('the other build says why it runs', async ({ page }) => {
  await page.addInitScript(refuseRelaxed);
  const lab = await Lab.open(page);
  const panel = await openPanel(lab, /in web workers/);
  await expect(panel.getByRole('definition').first()).toHaveText(/^simd128: four numbers/);
  await expect(panel).toContainText('Relaxed SIMD is not available here.');
});
