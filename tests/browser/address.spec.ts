/** The address holds the whole state: reload, Back and a copied link restore it, damaged or not. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { holdBack, Lab } from './lab.ts';

const worked = [
  ['1.2384', '1.7616'],
  ['2.7616', '0.2384'],
];

const stages = ['q', 'k', 'v', 'rawScores', 'scaledScores', 'weights', 'heads'];

/** Everything that a reader sees of the numbers and can set. */
async function everything(lab: Lab) {
  const texts: Record<string, string[][]> = {};
  for (const stage of stages) texts[stage] = await lab.texts(stage);
  return {
    texts,
    rows: await lab.matrix('rawScores').getByRole('rowheader').allTextContents(),
    columns: await lab.matrix('rawScores').getByRole('columnheader').allTextContents(),
    features: await lab.matrix('q').getByRole('columnheader').allTextContents(),
    scale: await lab.field(/^Scale/).inputValue(),
    digits: await lab.field(/How many digits/).inputValue(),
    hand: await lab.host.getByRole('radio', { name: /by hand/ }).isChecked(),
    pinned: await lab.explanation.locator('.who').textContent(),
    seeds: await lab.host.getByText(/^Seeds/).allTextContents(),
  };
}

/** Names that an address has to escape. */
const names = '100 % sure, a&b=c#d, “ü”';

async function changeEverything(lab: Lab, page: Page): Promise<void> {
  await lab.choose(/^Second example/);
  await expect(lab.matrix('k').locator('figcaption')).toContainText('3 × 4');
  await lab.set(/number of keys/, '4');
  await lab.set(/^Scale/, '1/3');
  await lab.set(/How many digits/, '6');
  await lab.edit('q', 0, 0, '-0');
  await lab.edit('k', 1, 1, '1/3');
  await lab.edit('v', 3, 1, '-1e-7');
  await lab.host.getByRole('radio', { name: /by hand/ }).check();
  await lab.button('Names…').click();
  await lab.dialog.getByRole('textbox', { name: 'Query tokens' }).fill(names);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await lab.cell('weights', 2, 1).click();
  await expect(lab.pinned).toHaveCount(1);
}

test.describe('with the clipboard', () => {
  test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

  test('a link never shows other numbers first', async ({ page }) => {
    // The slower the code for it, the longer they could be seen.
    const letThrough = await holdBack(page, /(reducer|grid-controller)[^/]*\.js$/);
    await page.goto('strict/lab/#?example=exercise2');
    const lab = new Lab(page);
    await lab.host.evaluate((host) => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      const look = () => {
        const cell = host.shadowRoot?.querySelector('figure[data-stage="heads"] td[data-row]');
        const text = cell?.textContent?.trim();
        if (text && seen.at(-1) !== text) seen.push(text);
        requestAnimationFrame(look);
      };
      look();
    });
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /forward.*wasm$/.test(name)),
    );
    letThrough();
    await lab.expectNumbers('heads', [[5, 10]]);
    const seen = () => page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    await expect.poll(seen).not.toHaveLength(0);
    expect(await seen()).toEqual(['5']);
  });

  test('reload, a copied link and Back restore everything', async ({ page, context }) => {
    const lab = await Lab.open(page);
    await changeEverything(lab, page);
    const before = await everything(lab);
    expect(before.texts.q?.[0]?.[0]).toMatch(/^−0/);
    expect(before.rows).toEqual(['100 % sure', 'a&b=c#d', '“ü”']);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await expect(page.getByRole('status').getByText('Link copied')).toBeVisible();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(page.url()).toBe(link);

    await page.reload();
    await lab.ready();
    await expect(lab.pinned).toHaveCount(1);
    expect(await everything(lab)).toEqual(before);
    await expect(lab.alerts).toHaveCount(0);

    const other = await context.newPage();
    await other.goto(link);
    const received = new Lab(other);
    await received.ready();
    await expect(received.pinned).toHaveCount(1);
    expect(await everything(received)).toEqual(before);
    // Written again, it is the same address.
    await received.cell('weights', 0, 0).click();
    await received.cell('weights', 2, 1).click();
    await expect(other).toHaveURL(link);
    await other.close();

    await lab.choose(/^Exercise 2/);
    await lab.expectNumbers('heads', [[5, 10]]);
    await expect(page).toHaveURL(/example=exercise2/);
    await page.goBack();
    await expect(page).toHaveURL(link);
    await expect(lab.pinned).toHaveCount(1);
    await expect.poll(() => everything(lab)).toEqual(before);
    await page.goForward();
    await lab.expectNumbers('heads', [[5, 10]]);
  });

  test('numbers that are too many for the address: said once, and a copied link keeps them', async ({
    page,
    context,
  }) => {
    const lab = await Lab.open(page, 'strict/lab/#?example=random&tq=400&tk=400&dK=64&dV=64');
    const said = lab.alerts.filter({ hasText: 'too many for the page’s address to follow' });
    const number = lab.explanation.getByRole('textbox', { name: 'Number' });
    const typed = async (to: string) => {
      await number.fill(to);
      await number.press('Enter');
      await expect(lab.explanation.locator('.value')).toHaveText(`= ${to}`);
    };
    const map = lab.host.getByRole('application', { name: /^Q, queries/ }).first();
    await map.focus();
    await page.keyboard.press('Enter');
    const before = page.url();
    await typed('5');
    await expect(said).toHaveCount(1);
    await expect(said).toContainText('“Copy link”');
    expect(page.url()).toBe(before);
    // It stays as it is, and is not said a second time.
    const sentence = await said.textContent();
    await typed('6');
    await page.waitForTimeout(1000);
    await expect(said).toHaveText(sentence ?? '');
    await expect(lab.alerts).toHaveCount(1);

    await page.getByRole('button', { name: 'Copy link' }).click();
    await expect(page.getByRole('status').getByText('Link copied')).toBeVisible();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link.length).toBeGreaterThan(100_000);
    const other = await context.newPage();
    await other.goto(link);
    const received = new Lab(other);
    await received.ready();
    await received.host
      .getByRole('application', { name: /^Q, queries/ })
      .first()
      .focus();
    await expect(received.explanation.locator('.value')).toHaveText('= 6');
    // This address has all of them.
    await other.waitForTimeout(1000);
    await expect(received.alerts).toHaveCount(0);
    await other.close();

    // Once they fit again, it is said anew when they do not.
    await lab.button('Undo').click();
    await lab.button('Undo').click();
    await page.waitForTimeout(1000);
    await expect(lab.alerts).toHaveCount(0);
    await map.focus();
    await page.keyboard.press('Enter');
    await typed('7');
    await expect(said).toHaveCount(1);
  });
});

test('an untouched page has a plain address, and an edit that is undone gives it back', async ({
  page,
  site,
}) => {
  const lab = await Lab.open(page);
  await lab.edit('q', 0, 0, '3');
  await expect(page).toHaveURL(/q=3,0,2,0;0,4,0,2/);
  await lab.button('Undo').click();
  await expect(page).toHaveURL(`${site.address}strict/lab/`);
});

test('a long state is packed, and unpacked to the same numbers', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.openTools('Q');
  const cell = (row: number, col: number) => Math.sin(row * 20 + col).toFixed(6);
  const rows = [...Array(14).keys()].map((row) =>
    [...Array(16).keys()].map((col) => cell(row, col)).join(','),
  );
  await lab.give(rows.join('\n'));
  await lab.dialog.getByRole('button', { name: /^Take it and set/ }).click();
  await expect(lab.matrix('q').locator('figcaption')).toContainText('14 × 16');
  await expect(page).toHaveURL(/#\?z=[\w-]+$/);
  const q = await lab.texts('q');
  const weights = await lab.texts('weights');
  await page.reload();
  await lab.ready();
  await lab.expectTexts('q', q);
  await lab.expectTexts('weights', weights);
  await expect(lab.alerts).toHaveCount(0);

  // Cut off, as some messengers do.
  const cut = page.url().slice(0, -40);
  await page.goto('about:blank');
  await page.goto(cut);
  await lab.ready();
  await expect(lab.alerts).toContainText(/damaged/);
  await lab.expectTexts('heads', worked);
});

/** The valid part of a link is taken; what is said of the rest. */
const damaged: Record<string, [string, RegExp[]]> = {
  'packed text that is none': ['z=!!!&decimals=2', [/damaged/]],
  'a ragged matrix': ['q=1,2;3&decimals=2', [/q.*row 1 has 1 number.*row 0 has 2/]],
  'letters in a matrix': ['v=1,x;2,3&decimals=2', [/v, row 0, column 1.*expected a number.*x/i]],
  'NaN in a matrix': ['v=1,NaN;2,3&decimals=2', [/v, row 0, column 1.*finite number.*NaN/i]],
  'a matrix that contradicts another': [
    'q=1,2;3,4&k=1,2,3;4,5,6&decimals=2',
    [/k is 2 × 3, but 2 × 2 was expected/],
  ],
  'an unknown example': ['example=nonsense&decimals=2', [/nonsense/]],
  'an unknown part': ['spin=1&decimals=2', [/spin/]],
  'a part without a value': ['decimals=2&q', [/“q”/]],
  'a broken escape': ['queryNames=%E0%A4%A,b&decimals=2', []],
  'a size that is none': ['tq=-1&decimals=2', [/tq is a whole number.*-1/]],
  'digits beyond what is shown': ['digits=40&decimals=2', [/digits go from 1 to 8.*40/]],
  'a cell that is not there': ['cell=weights:40:40&decimals=2', []],
  'a stage that is not there': ['cell=magic:0:0&decimals=2', [/cell names a stage.*magic/]],
};

test('a damaged link gives the part that is valid, and says what is not', async ({ page }) => {
  const lab = await Lab.open(page);
  for (const [name, [query, sentences]] of Object.entries(damaged)) {
    await test.step(name, async () => {
      await page.goto('about:blank');
      await page.goto(`strict/lab/#?${query}`);
      await lab.ready();
      for (const sentence of sentences) await expect(lab.alerts).toContainText(sentence);
      if (sentences.length === 0) await expect(lab.alerts).toHaveCount(0);
      const weight = query.startsWith('z=') ? '0.8808' : /^q=1,2;3,4/.test(query) ? null : '0.88';
      if (weight) await expect(lab.cell('weights', 0, 0)).toHaveText(weight);
      // It works on.
      await lab.edit('q', 0, 0, '0');
      await expect(lab.input('q', 0, 0)).toHaveValue(/^0/);
    });
  }
});

test('a link of a newer version gives what is known here, and says so', async ({ page }) => {
  const lab = await Lab.open(page, 'strict/lab/#softmax?ver=2&example=second&rotary=on&decimals=2');
  await expect(lab.alerts).toContainText(/newer version \(2\)/);
  await expect(lab.alerts).toContainText('rotary');
  await lab.expectTexts('heads', [
    ['0.94', '2.31'],
    ['2.09', '1.16'],
    ['1.33', '2.00'],
  ]);
  await expect(lab.host.locator('#softmax').getByRole('heading').first()).toBeInViewport();
});

test('a link that asks for more than the page draws or the arena holds is named and leaves a page that works', async ({
  page,
}) => {
  for (const [query, sentence] of [
    ['tq=60000&tk=60000', /T_q is 60000, but at most 1024 was expected/],
    ['dK=999999', /d_k is 999999, but at most 1024 was expected/],
    // The arena's bound is the core's: the numbers of the example stand instead.
    ['tq=1024&tk=1024&heads=16', /need \d+ MB; at most 256 MB fit/],
    // More numbers than any array can hold.
    ['tq=1024&batch=1024&heads=256', /need \d+ [MG]B; at most 256 MB fit/],
  ] as const) {
    await page.goto('about:blank');
    await page.goto(`strict/lab/#?${query}&decimals=4`);
    const lab = new Lab(page);
    await lab.expectTexts('heads', worked);
    await expect(lab.alerts.first(), query).toContainText(sentence);
  }
  const lab = new Lab(page);
  await lab.edit('v', 0, 0, '0');
  await expect(lab.cell('heads', 0, 0)).toHaveText('0.3576');
});

test('a section in the address is gone to, and Back leads from section to section', async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const lab = await Lab.open(page, 'strict/lab/#output');
  const heading = (id: string) => lab.host.locator(`#${id}`).getByRole('heading').first();
  await expect(heading('output')).toBeInViewport();
  const bar = lab.host.getByRole('navigation', { name: /Formula/ });
  await bar.getByRole('link', { name: /softmax/ }).click();
  await expect(page).toHaveURL(/#softmax$/);
  await expect(heading('softmax')).toBeInViewport({ ratio: 1 });
  await page.goBack();
  await expect(page).toHaveURL(/#output$/);
  await expect(heading('output')).toBeInViewport({ ratio: 1 });
  // What was typed in the meantime is kept when only the section changes.
  await lab.edit('v', 0, 0, '0');
  await expect(page).toHaveURL(/#output\?.*&v=0,2;3,0$/);
  await bar.getByRole('link', { name: /softmax/ }).click();
  await expect(page).toHaveURL(/#softmax\?.*&v=0,2;3,0$/);
  await page.goBack();
  await expect(lab.cell('heads', 0, 0)).toHaveText('0.3576');
});

test('a link to the gradients lands on them, though the comparison above is fetched', async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const lab = await Lab.open(page, 'strict/lab/#gradients?ver=1&example=exercise3&gradients=on');
  await expect(lab.host.locator('#scale').getByRole('slider')).toBeAttached();
  const heading = lab.host.locator('#gradients').getByRole('heading').first();
  await expect(heading).toBeInViewport({ ratio: 1 });
});
