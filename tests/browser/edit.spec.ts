/** What happens to a text that is no number: it is named, kept for correction, and changes nothing. */
import { expect, test } from './fixtures.ts';
import { holdBack, Lab } from './lab.ts';

const output = [
  ['1.2384', '1.7616'],
  ['2.7616', '0.2384'],
];

const badTexts = {
  letters: ['abc', /Q.*token 0.*expected a number.*abc/is],
  'empty text': ['', /Q.*token 0.*expected a number.*nothing/is],
  'a number beyond float32': ['1e99', /Q.*token 0.*expected.*3\.4028235e38.*1e99/is],
  'not a number': ['NaN', /Q.*token 0.*expected a finite number.*NaN/is],
  'an unfinished sum': ['1+', /Q.*token 0.*expected a number.*end/is],
} as const;

for (const [name, [text, message]] of Object.entries(badTexts)) {
  test(`${name} in a cell: named, kept, correctable`, async ({ page }) => {
    const lab = await Lab.open(page);
    const input = lab.input('q', 0, 0);
    await lab.edit('q', 0, 0, text);

    await expect(lab.alerts).toHaveCount(1);
    await expect(lab.alerts).toContainText(message);
    await expect(input).toHaveValue(text);
    await expect(input).toHaveAttribute('aria-invalid', 'true');
    await expect(input).toHaveAccessibleDescription(message);
    await lab.expectTexts('heads', output);

    // Another cell can be edited meanwhile: the old number counts, the text stays.
    await lab.edit('v', 0, 0, '0');
    await lab.expectTexts('heads', [
      ['0.3576', '1.7616'],
      ['2.6424', '0.2384'],
    ]);
    await expect(input).toHaveValue(text);
    await expect(lab.alerts).toContainText(message);

    // S₀,₀ = 4·1 + 2·1 = 6: 0.047426·3 and 0.952574·2.
    await lab.edit('q', 0, 0, '4');
    await expect(lab.alerts).toHaveCount(0);
    await expect(input).not.toHaveAttribute('aria-invalid');
    await lab.expectTexts('heads', [
      ['0.1423', '1.9051'],
      ['2.6424', '0.2384'],
    ]);
  });
}

test('a bad text can be corrected where it stands', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.edit('q', 0, 0, '2x');
  await expect(lab.alerts).toHaveCount(1);
  await lab.input('q', 0, 0).focus();
  await expect(lab.input('q', 0, 0)).toHaveValue('2x');
  await page.keyboard.press('End');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Tab');
  await expect(lab.alerts).toHaveCount(0);
  await lab.expectTexts('heads', output);
});

test('every bad cell has its own message', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.edit('q', 0, 0, 'abc');
  await lab.edit('q', 1, 1, 'xyz');
  await expect(lab.alerts).toHaveCount(2);
  await expect(lab.input('q', 0, 0)).toHaveAccessibleDescription(/abc/);
  await expect(lab.input('q', 1, 1)).toHaveAccessibleDescription(/xyz/);
});

test('a text that is not a number yet is no fault while it is typed', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.type('q', 0, 0, '-');
  await expect(lab.alerts).toHaveCount(0);
  await lab.expectTexts('heads', output);
  await page.keyboard.type('2');
  // S₀,₀ = −2 + 2 = 0: equal scores, the mean of V.
  await lab.expectTexts('heads', [
    ['2.0000', '1.0000'],
    ['2.7616', '0.2384'],
  ]);
});

test('numbers may be written as people write them', async ({ page }) => {
  const lab = await Lab.open(page);
  const texts = { '1/2': '0.5', '0,25': '0.25', '−3': '−3', '1e-1': '0.1', 'sqrt(4)': '2' };
  for (const [text, value] of Object.entries(texts)) {
    await lab.edit('q', 0, 1, text);
    await expect(lab.alerts).toHaveCount(0);
    await lab.input('q', 0, 1).focus();
    await expect(lab.input('q', 0, 1)).toHaveValue(value);
  }
});

test('what is typed while the editing code is still on its way is taken when it comes', async ({
  page,
}) => {
  const letThrough = await holdBack(page, /(grid|reducer|expression)[^/]*\.js$/);
  const lab = new Lab(page);
  await page.goto('strict/lab/');
  await lab.ready();
  await lab.edit('q', 0, 0, '1/2');
  await lab.edit('k', 0, 0, '2');
  await lab.input('q', 0, 0).focus();
  await expect(lab.input('q', 0, 0)).toHaveValue('1/2');
  letThrough();
  await expect(lab.input('q', 0, 0)).toHaveValue('0.5');
  await expect(lab.input('k', 0, 0)).toHaveValue('2');
  // S₀,₀ = ½·2 + 2·1 = 3.
  await lab.expectTexts('rawScores', [
    ['3', '0'],
    ['0', '4'],
  ]);
  await lab.expectTexts('q', [
    ['0.5', '0.0', '2.0', '0.0'],
    ['0.0', '4.0', '0.0', '2.0'],
  ]);
});

test('what is done to the controls comes after what was typed, also before their code is there', async ({
  page,
}) => {
  const lab = new Lab(page);
  const letThrough = await holdBack(page, /(grid|expression)[^/]*\.js$/);
  await page.goto('strict/lab/');
  await lab.ready();
  await lab.edit('v', 0, 0, '7');
  const examples = page.waitForResponse(/presets[^/]*\.js$/);
  await lab.button('Reset').click();
  await lab.select(/^Exercise 2/);
  await (await examples).finished();
  letThrough();
  await lab.expectTexts('v', [
    ['10', '0'],
    ['0', '20'],
  ]);
  await lab.button('Undo').click();
  await expect(lab.input('v', 0, 0)).toHaveValue(/^1\b/);
  await lab.button('Undo').click();
  await expect(lab.input('v', 0, 0)).toHaveValue(/^7\b/);
});

test('Escape takes back what is being typed', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.type('q', 0, 0, '9');
  await expect(lab.cell('rawScores', 0, 0)).toHaveText('11');
  await page.keyboard.press('Escape');
  await expect(lab.input('q', 0, 0)).toHaveValue('2');
  await lab.expectTexts('heads', output);
});

test('a size grows with zeros and shrinks with a message when it cannot be', async ({ page }) => {
  const lab = await Lab.open(page);
  const width = lab.host.getByRole('textbox', { name: /number of keys/ });
  await width.fill('3');
  await width.press('Enter');
  await expect(lab.matrix('k').locator('figcaption')).toContainText('3 × 4');
  // The new key scores 0, as the dismissed one does: e²/(e² + 2) = 0.786986.
  await expect(lab.cell('weights', 0, 0)).toHaveText('0.7870');
  await width.fill('many');
  await width.press('Enter');
  await expect(lab.alerts).toContainText('many');
  await expect(lab.cell('weights', 0, 0)).toHaveText('0.7870');
  await width.fill('99999999');
  await width.press('Enter');
  await expect(lab.alerts).toContainText(/at most/);
  await expect(lab.cell('weights', 0, 0)).toHaveText('0.7870');
  await expect(lab.matrix('k').locator('figcaption')).toContainText('3 × 4');
});
