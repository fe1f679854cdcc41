/** `npm run bench`: the core beside its peers, in one run; README.md of this folder says how. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureNodeModules, runMain, SetupError } from '../../wasm/toolchain/setup.mjs';
import { buildPackage, buildSite } from '../../wasm/toolchain/site.mjs';
import { buildWasm } from '../../wasm/toolchain/wasm.mjs';
import { cases } from './cases.mjs';
import { printCase, rowsOf } from './report.mjs';

const usage =
  'Usage: npm run bench -- [--browser chromium|firefox|node] [--suite NAME] [--case NAME] [--json FILE], or with --start or --pages in place of the cases';

await runMain(async () => {
  const { start, pages, json, ...options } = readOptions();
  // Before anything is built.
  const chosen = start || pages ? [] : chosenCases(options);
  // What is imported here needs node_modules, which the set-up makes.
  buildWasm('bench_modules');
  ensureNodeModules(fileURLToPath(new URL('.', import.meta.url)));
  /** @type {object[]} */
  const rows = [];
  if (start || pages) {
    buildSite();
    if (start) rows.push(...(await (await import('./start.mjs')).measureStart()));
    if (pages) rows.push(...(await (await import('./pages.mjs')).measurePages()));
  } else {
    buildPackage();
    rows.push(...(await measureCases(chosen, options.browser)));
  }
  if (json) writeFileSync(json, `${JSON.stringify(rows, null, 2)}\n`);
});

/** @param {{ browser: string, suite?: string, case?: string }} options */
function chosenCases({ browser, suite, case: name }) {
  if (!['chromium', 'firefox', 'node'].includes(browser)) throw new SetupError(usage);
  const chosen = cases.filter(
    (item) => (!suite || item.suite === suite) && (!name || item.name === name),
  );
  if (chosen.length === 0) {
    const known = cases.map((item) => `${item.suite} ${item.name}`).join(', ');
    throw new SetupError(`There is no such case; there are (suite and case): ${known}.`);
  }
  return chosen;
}

/** @param {import('./cases.mjs').Case[]} chosen @param {string} browser */
async function measureCases(chosen, browser) {
  const { hosts } = await import('./hosts.mjs');
  const host = await hosts[/** @type {keyof typeof hosts} */ (browser)]();
  const rows = [];
  try {
    for (const item of chosen) {
      const measurement = await host.measure({ problem: item.problem, field: item.field });
      const found = rowsOf(item, browser, measurement);
      printCase(item, found, measurement);
      rows.push(...found);
    }
  } finally {
    await host.close();
  }
  return rows;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        browser: { type: 'string', default: 'chromium' },
        suite: { type: 'string' },
        case: { type: 'string' },
        json: { type: 'string' },
        start: { type: 'boolean', default: false },
        pages: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new SetupError(`${/** @type {Error} */ (error).message}. ${usage}`);
  }
}
