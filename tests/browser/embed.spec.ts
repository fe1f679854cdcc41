/** The widget as others embed it: one script tag on a bare page, under either policy. */
import { expect, test } from './fixtures.ts';

for (const policy of ['open', 'strict']) {
  test(`one script tag makes the element work (${policy} policy)`, async ({ page }) => {
    const response = await page.goto(`${policy}/pages/bare.html`);
    const sent = response?.headers()['content-security-policy'] !== undefined;
    expect(sent).toBe(policy === 'strict');
    // σ(2): the first weight of the worked example.
    await expect(page.locator('attention-lab')).toContainText('0.8808');
  });
}
