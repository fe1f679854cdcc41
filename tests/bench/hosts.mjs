/** Where cases are measured: Chromium, Firefox or Node, each case in a page or process of its own. */
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { ensureChromium, ensureFirefox, projectRoot } from '../../wasm/toolchain/setup.mjs';
import { chromiumArguments } from '../browser/chromium.mjs';
import { isolated, serve } from './server.mjs';

/**
 * @typedef {import('./measure.mjs').Measurement} Measurement
 * @typedef {{ problem: import('./cases.mjs').Problem, field: import('./cases.mjs').Field }} Task
 * @typedef {{ measure: (task: Task) => Promise<Measurement>, close: () => Promise<void> }} Host
 */

/** @satisfies {Record<string, () => Promise<Host>>} */
export const hosts = {
  async chromium() {
    const executablePath = await ensureChromium();
    const browser = await chromium.launch({ executablePath, args: chromiumArguments });
    return inPages(
      async (address) => {
        const page = await browser.newPage();
        await page.goto(address);
        return () => page.close();
      },
      () => browser.close(),
    );
  },

  async firefox() {
    const program = ensureFirefox();
    return inPages(
      async (address) => {
        const profile = mkdtempSync(join(tmpdir(), 'attention-bench-'));
        writeFileSync(join(profile, 'user.js'), firefoxPreferences);
        const browser = spawn(
          program,
          ['--headless', '--no-remote', '--profile', profile, address],
          {
            stdio: 'ignore',
          },
        );
        const ended = new Promise((resolve) => browser.once('exit', resolve));
        return async () => {
          browser.kill();
          await ended;
          rmSync(profile, { recursive: true, force: true });
        };
      },
      async () => {},
    );
  },

  async node() {
    // Node 20 hides relaxed SIMD behind a flag that newer ones do not know and do not need.
    const execArgv = process.versions.node.startsWith('20.')
      ? ['--experimental-wasm-relaxed-simd']
      : [];
    return {
      measure: (task) =>
        new Promise((resolve, reject) => {
          const child = fork(fileURLToPath(new URL('node.mjs', import.meta.url)), { execArgv });
          child.once('message', (measurement) => resolve(/** @type {Measurement} */ (measurement)));
          child.once('exit', (code) => reject(new Error(`Node ended with status ${code}`)));
          child.send(task);
        }),
      close: async () => {},
    };
  },
};

// No first-run pages, nothing over the network, and a clock as fine as an isolated page may have.
const firefoxPreferences = `
user_pref("app.update.enabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("privacy.reduceTimerPrecision", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
`;

/**
 * A host that opens the measuring page for each task; the page sends its outcome to the server.
 * @param {(address: string) => Promise<() => Promise<void>>} open gives what closes the page again
 * @param {() => Promise<void>} close
 * @returns {Promise<Host>}
 */
async function inPages(open, close) {
  let arrived = (/** @type {string} */ _body) => {};
  const server = await serve(projectRoot, isolated, (body) => arrived(body));
  return {
    async measure(task) {
      const outcome = new Promise((resolve) => {
        arrived = resolve;
      });
      const query = encodeURIComponent(JSON.stringify(task));
      const closePage = await open(`${server.address}tests/bench/page.html?${query}`);
      const { measurement, error } = JSON.parse(await outcome);
      await closePage();
      if (error) throw new Error(error);
      return measurement;
    },
    async close() {
      await close();
      await server.close();
    },
  };
}
