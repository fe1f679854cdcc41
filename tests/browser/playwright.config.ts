/** Runs the browser tests in the Chromium of this machine; those tagged @narrow at both widths. */
import { defineConfig } from '@playwright/test';
import { findTestChromium } from '../../wasm/toolchain/setup.mjs';
import { chromiumArguments } from './chromium.mjs';

const executablePath = (await findTestChromium()) ?? undefined;

export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results',
  fullyParallel: true,
  forbidOnly: true,
  workers: 2,
  // A busy machine is no failure.
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: 'list',
  use: {
    browserName: 'chromium',
    launchOptions: { executablePath, args: chromiumArguments },
  },
  projects: [
    { name: 'wide', use: { viewport: { width: 1280, height: 900 } } },
    {
      name: 'narrow',
      grep: /@narrow/,
      use: { viewport: { width: 375, height: 800 }, hasTouch: true },
    },
  ],
});
