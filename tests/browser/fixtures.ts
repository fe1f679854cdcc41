/**
 * The `test` of every browser test: the built site on a port of its own, and a failure for whatever
 * the browser complains of.
 */
import { test as base, expect } from '@playwright/test';
import { startSite } from './server.mjs';

export { expect };

interface TestFixtures {
  /**
   * Console errors, uncaught exceptions and policy violations so far; the test fails unless the list
   * is empty at its end. A test that provokes one checks it and empties the list.
   */
  problems: string[];
}

interface WorkerFixtures {
  /** `page.goto('strict/lab/')` is relative to its address. */
  site: { address: string };
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  site: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern.
    async ({}, use) => {
      const site = await startSite();
      await use(site);
      await site.close();
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ site }, use) => {
    await use(site.address);
  },
  problems: [
    async ({ page }, use) => {
      const problems: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(`console: ${message.text()}`);
      });
      page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
      await page.exposeFunction('reportViolation', (text: string) => problems.push(text));
      await page.addInitScript(() => {
        const { reportViolation } = window as unknown as { reportViolation(text: string): void };
        addEventListener('securitypolicyviolation', (event) => {
          reportViolation(`policy: ${event.violatedDirective} ${event.blockedURI}`);
        });
      });
      await use(problems);
      expect(problems).toEqual([]);
    },
    { auto: true },
  ],
});
