/** Typing stays light: one render for what comes in a frame, and nothing done for what is out of sight. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const address = 'strict/lab/#?example=random&tq=16&tk=16&q=normal:3&k=normal:4&v=normal:5';

test('what is typed in a frame is rendered once, with its numbers', async ({ page }) => {
  const lab = await Lab.open(page, address);
  await lab.input('q', 0, 0).focus();
  await expect(lab.explanation.locator('.who')).toContainText('Q');
  await page.waitForLoadState('networkidle');
  const score = (await lab.texts('rawScores'))[0]?.[0];
  const { renders, shown } = await lab.host.evaluate(async (element) => {
    const host = element as HTMLElement & { update(changed: unknown): void };
    const field = host.shadowRoot!.activeElement as HTMLInputElement;
    const cell = host.shadowRoot!.querySelector('figure[data-stage="rawScores"] td[data-row]');
    const nextFrame = () => new Promise(requestAnimationFrame);
    const update = host.update.bind(host);
    const texts: string[] = [];
    await nextFrame();
    await nextFrame();
    host.update = (changed) => {
      update(changed);
      texts.push(cell?.textContent?.trim() ?? '');
    };
    for (const text of ['1', '12', '12.', '12.5', '12.50']) {
      field.value = text;
      field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
    }
    await nextFrame();
    await nextFrame();
    await nextFrame();
    return { renders: texts.length, shown: texts };
  });
  expect(renders).toBe(1);
  expect(shown[0]).not.toBe(score);
  // Changed by (12.5 − Q) times the first number of K.
  const [[q = 0] = [], [k = 0] = []] = [await lab.numbers('q'), await lab.numbers('k')].map(
    (rows) => rows[0] ?? [],
  );
  expect(q).toBe(12.5);
  expect(Math.sign(Number(shown[0]?.replace('−', '-')) - Number(score?.replace('−', '-')))).toBe(
    Math.sign(k),
  );
});

test('while a number is typed the sections out of sight wait, at their size', async ({ page }) => {
  const lab = await Lab.open(page, address);
  const output = lab.host.locator('#output');
  const state = () =>
    output.evaluate((section) => ({
      visibility: getComputedStyle(section).contentVisibility,
      height: section.getBoundingClientRect().height,
    }));
  const before = await state();
  expect(before.visibility).toBe('visible');
  await lab.input('q', 0, 0).focus();
  await expect.poll(async () => (await state()).visibility).toBe('auto');
  expect((await state()).height).toBe(before.height);
  await lab.input('q', 0, 0).blur();
  await expect.poll(async () => (await state()).visibility).toBe('visible');
});
