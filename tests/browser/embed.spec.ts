/** The widget as others embed it: one script tag on a bare page, under either policy. */
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

for (const policy of ['open', 'strict']) {
  test(`one script tag makes the element work (${policy} policy)`, async ({ page }) => {
    const response = await page.goto(`${policy}/pages/bare.html`);
    const sent = response?.headers()['content-security-policy'] !== undefined;
    expect(sent).toBe(policy === 'strict');
    // σ(2): the first weight of the worked example.
    await expect(page.locator('attention-lab')).toContainText('0.8808');
  });
}

test('an example is opened whenever its name is given', async ({ page }) => {
  await page.goto('strict/pages/two.html');
  const first = new Lab(page, page.locator('#first'));
  await first.ready();
  const give = (preset: string) =>
    page
      .locator('#first')
      .evaluate((element, name) => element.setAttribute('preset', name), preset);
  await give('equal');
  await expect(first.cell('weights', 0, 0)).toHaveText('0.3333');
  await give('second');
  const second = new Lab(page, page.locator('#second'));
  await expect.poll(() => first.texts('weights')).toEqual(await second.texts('weights'));
  await give('none');
  await expect(first.alerts).toContainText('There is no example “none”.');
});

test('how a lesson is written does not reach the matrices', async ({ page }) => {
  await page.goto('strict/pages/two.html');
  const first = new Lab(page, page.locator('#first'));
  await first.ready();
  const place = () =>
    first.cell('weights', 0, 1).evaluate((cell) => {
      const row = (cell.parentElement as Element).getBoundingClientRect();
      return { x: cell.getBoundingClientRect().x - row.x, width: row.width };
    });
  const before = await place();
  await page.evaluate(() => {
    document.documentElement.dir = 'rtl';
    Object.assign(document.body.style, {
      textTransform: 'uppercase',
      letterSpacing: '4px',
      wordSpacing: '20px',
      whiteSpace: 'nowrap',
      textIndent: '2em',
    });
  });
  expect(await place()).toEqual(before);
  for (const [property, value] of [
    ['text-transform', 'none'],
    ['word-spacing', '0px'],
    ['white-space', 'normal'],
    ['text-indent', '0px'],
  ] as const) {
    await expect(first.host.locator('h2').first()).toHaveCSS(property, value);
  }
  // What is hidden with its surroundings stays hidden.
  await page.evaluate(() => {
    document.body.style.visibility = 'hidden';
  });
  await expect(first.host.locator('h2').first()).toBeHidden();
});
