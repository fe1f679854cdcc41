/** The first thing a reader does: read the output, change a number, see every later stage follow. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const workedStages: Record<string, string[][]> = {
  q: [
    ['2', '0', '2', '0'],
    ['0', '4', '0', '2'],
  ],
  k: [
    ['1', '0', '1', '0'],
    ['0', '1', '0', '0'],
  ],
  v: [
    ['1', '2'],
    ['3', '0'],
  ],
  keyTransposed: [
    ['1', '0'],
    ['0', '1'],
    ['1', '0'],
    ['0', '0'],
  ],
  rawScores: [
    ['4', '0'],
    ['0', '4'],
  ],
  scaledScores: [
    ['2', '0'],
    ['0', '2'],
  ],
  shifted: [
    ['0', '−2'],
    ['−2', '0'],
  ],
  exponentials: [
    ['1.0000', '0.1353'],
    ['0.1353', '1.0000'],
  ],
  rowSum: [['1.1353'], ['1.1353']],
  weights: [
    ['0.8808', '0.1192'],
    ['0.1192', '0.8808'],
  ],
  heads: [
    ['1.2384', '1.7616'],
    ['2.7616', '0.2384'],
  ],
};

const laterThanK = ['keyTransposed', 'rawScores', 'scaledScores', 'shifted', 'exponentials'].concat(
  ['rowSum', 'weights', 'heads'],
);

test('the page opens on the worked example, every stage of it', async ({ page }) => {
  const lab = await Lab.open(page);
  for (const [stage, expected] of Object.entries(workedStages)) {
    await lab.expectTexts(stage, expected);
  }
});

test('every matrix shows its letter, name, shape and axes', async ({ page }) => {
  const lab = await Lab.open(page);
  const captions = {
    q: ['Q', 'queries', '2×4', 'query×feature'],
    keyTransposed: ['KT', 'keys,transposed', '4×2', 'feature×key'],
    rawScores: ['S=QKT', 'rawscores', '2×2', 'query×key'],
    scaledScores: ['S/dk', 'scaledscores', '2×2', 'query×key'],
    weights: ['A=E/ℓ', 'weights', '2×2', 'query×key'],
    heads: ['O=AV', '2×2', 'query×value'],
  };
  for (const [stage, parts] of Object.entries(captions)) {
    const caption = lab.matrix(stage).locator('figcaption');
    await expect(caption.locator('math')).toHaveCount(1);
    const text = ((await caption.textContent()) ?? '').replaceAll(/\s+/g, '');
    for (const part of parts) expect.soft(text, `caption of ${stage}`).toContain(part);
  }
  await expect(lab.matrix('rawScores').getByRole('columnheader')).toHaveText([
    'token 0',
    'token 1',
  ]);
  await expect(lab.matrix('rawScores').getByRole('rowheader')).toHaveText(['token 0', 'token 1']);
  await expect(lab.matrix('q').getByRole('columnheader')).toHaveText(['0', '1', '2', '3']);
});

test('the weights stand with their sum', async ({ page }) => {
  const lab = await Lab.open(page);
  await expect(lab.host.getByText('Σ = 1', { exact: true })).toHaveCount(2);
  // Three times 0.3333 is not 1, and the page says so.
  await lab.choose(/^Equal scores/);
  await expect(lab.host.getByText('Σ = 1', { exact: true })).toHaveCount(3);
  await expect(lab.host.getByText(/shown: 0\.9999/)).toHaveCount(3);
});

test('an edit changes every later stage, in its row only', async ({ page }) => {
  const lab = await Lab.open(page);
  const before = new Map<string, string[][]>();
  for (const stage of laterThanK) before.set(stage, await lab.texts(stage));

  // K₀,₀ from 1 to 2: S₀,₀ = 2·2 + 2·1 = 6, S₁,₀ = 0·2 + 0·1 = 0; row 0 becomes softmax(3, 0).
  await lab.edit('k', 0, 0, '2');
  await lab.expectTexts('keyTransposed', [
    ['2', '0'],
    ['0', '1'],
    ['1', '0'],
    ['0', '0'],
  ]);
  await lab.expectTexts('rawScores', [
    ['6', '0'],
    ['0', '4'],
  ]);
  await lab.expectTexts('scaledScores', [
    ['3', '0'],
    ['0', '2'],
  ]);
  await lab.expectTexts('shifted', [
    ['0', '−3'],
    ['−2', '0'],
  ]);
  await lab.expectTexts('exponentials', [
    ['1.0000', '0.0498'],
    ['0.1353', '1.0000'],
  ]);
  await lab.expectTexts('rowSum', [['1.0498'], ['1.1353']]);
  await lab.expectTexts('weights', [
    ['0.9526', '0.0474'],
    ['0.1192', '0.8808'],
  ]);
  // 0.952574·1 + 0.047426·3 and 0.952574·2.
  await lab.expectTexts('heads', [
    ['1.0949', '1.9051'],
    ['2.7616', '0.2384'],
  ]);
  for (const stage of laterThanK) {
    expect.soft(await lab.texts(stage), stage).not.toEqual(before.get(stage));
  }

  // A minus sign as the page itself writes it: −0.952574 + 0.142278.
  await lab.edit('v', 0, 0, '−1');
  await lab.expectTexts('heads', [
    ['−0.8103', '1.9051'],
    ['2.5232', '0.2384'],
  ]);
});

test('the host page hears of numbers and of changes', async ({ page }) => {
  await page.addInitScript(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    for (const type of ['attn-ready', 'attn-change', 'attn-error']) {
      document.addEventListener(type, (event) => {
        heard.push(`${event.type}${event.composed ? ' composed' : ''}`);
      });
    }
  });
  const lab = await Lab.open(page);
  const heard = () => page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  await expect.poll(heard).toEqual(['attn-ready composed']);
  await lab.edit('q', 0, 0, '7');
  await expect.poll(heard).toEqual(['attn-ready composed', 'attn-change composed']);
});

test('undo and redo bring numbers back', async ({ page }) => {
  const lab = await Lab.open(page);
  const undo = lab.host.getByRole('button', { name: 'Undo' });
  const redo = lab.host.getByRole('button', { name: 'Redo' });
  await expect(undo).toBeDisabled();
  await lab.edit('q', 0, 0, '12');
  await lab.expectTexts('rawScores', [
    ['14', '0'],
    ['0', '4'],
  ]);
  await undo.click();
  await lab.expectTexts('rawScores', workedStages.rawScores!);
  await expect(undo).toBeDisabled();
  await redo.click();
  await expect(lab.input('q', 0, 0)).toHaveValue('12');
  await lab.expectTexts('rawScores', [
    ['14', '0'],
    ['0', '4'],
  ]);
});

test('two widgets on one page keep their numbers apart', async ({ page }) => {
  await page.goto('strict/pages/two.html');
  const first = new Lab(page, page.locator('#first'));
  const second = new Lab(page, page.locator('#second'));
  const secondOutput = [
    ['0.9353', '2.3094'],
    ['2.0858', '1.1590'],
    ['1.3333', '2.0000'],
  ];
  await first.expectTexts('heads', workedStages.heads!);
  await second.expectTexts('heads', secondOutput);

  await first.edit('v', 0, 0, '0');
  // 0.119203·3 and 0.880797·3.
  await first.expectTexts('heads', [
    ['0.3576', '1.7616'],
    ['2.6424', '0.2384'],
  ]);
  await second.expectTexts('heads', secondOutput);

  await second.edit('v', 2, 1, '1');
  // Row 2 is uniform: (2 + 0 + 1)/3.
  await expect(second.cell('heads', 2, 1)).toHaveText('1.0000');
  await first.expectTexts('heads', [
    ['0.3576', '1.7616'],
    ['2.6424', '0.2384'],
  ]);
});

test('everything is fetched from the folder that the page is in', async ({ page, site }) => {
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await Lab.open(page);
  expect(requested.some((url) => url.endsWith('.wasm'))).toBe(true);
  const outside = requested.filter((url) => !url.startsWith(`${site.address}strict/lab/`));
  expect(outside).toEqual([]);
});

test('the first frame has the top of the page, and nothing is announced before the rest is there', async ({
  page,
}) => {
  await page.addInitScript(() => {
    const counts = { first: 0, announced: 0 };
    Object.assign(window, { counts });
    const sections = () =>
      document.querySelector('attention-lab')?.shadowRoot?.querySelectorAll('section').length ?? 0;
    const look = () => {
      counts.first = sections();
      if (counts.first === 0) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    document.addEventListener('attn-ready', () => {
      counts.announced = sections();
    });
  });
  const lab = await Lab.open(page);
  await expect(lab.matrix('heads')).toBeVisible();
  const counts = () => page.evaluate(() => (window as unknown as { counts: object }).counts);
  await expect.poll(counts).toEqual({ first: 2, announced: 6 });
});
