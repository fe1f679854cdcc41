/** `npm run bench -- --start`: how soon a page shows its first computed numbers, and what it loads. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { chromium } from '@playwright/test';
import { build } from 'vite';
import { ensureChromium, projectRoot } from '../../wasm/toolchain/setup.mjs';
import { chromiumArguments } from '../browser/chromium.mjs';
import { percent, printTable, quantile, verdict } from './report.mjs';
import { serve } from './server.mjs';

/**
 * `medianMs` is from the navigation to the end of the first frame with the numbers; `timesEmpty` that
 * over the empty page's of the same round; `ratio` the faster peer's over that.
 * @typedef {object} StartRow
 * @property {'start'} suite
 * @property {'first-frame'} case
 * @property {string} contestant
 * @property {'chromium'} browser
 * @property {number} medianMs
 * @property {null} gflops
 * @property {null} shareOfPeak
 * @property {number} ratio
 * @property {number} spread
 * @property {number} timesEmpty
 * @property {{ raw: number, gzip: number, brotli: number }} bytes
 */

const rounds = 15;
const bounds = {
  /** Of the empty page's time. @type {[number, number]} */
  time: [2.2, 1.8],
  /** Brotli. @type {[number, number]} */
  bytes: [45_000, 38_000],
};

/** What a page says when the frame that shows numbers is done, before the time. */
const done = 'first numbers';
/** Runs in every page, before its own scripts. */
const watch = `{
  const shown = () =>
    document
      .querySelector('attention-lab')
      ?.shadowRoot?.querySelector('figure[data-stage="rawScores"] td[data-row]') ??
    document.querySelector('#result:not(:empty)');
  const channel = new MessageChannel();
  channel.port1.onmessage = () => console.log('${done}', performance.now());
  const look = () => {
    // A message is handled after the frame that is being made.
    if (shown()) channel.port2.postMessage('');
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;

/** @returns {Promise<StartRow[]>} */
export async function measureStart() {
  const peers = join(projectRoot, 'build/bench-start');
  await buildPeers(peers);
  const [ourSite, peerSite] = [await serve(join(projectRoot, 'dist')), await serve(peers)];
  const pages = {
    'empty-page': `${peerSite.address}empty.html`,
    'attention-lab': ourSite.address,
    'tfjs-wasm': `${peerSite.address}tfjs.html`,
    'onnxruntime-web': `${peerSite.address}onnx.html`,
  };
  const browser = await chromium.launch({
    executablePath: await ensureChromium(),
    args: chromiumArguments,
  });
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(Object.keys(pages).map((name) => [name, []]));
  /** @type {Record<string, StartRow['bytes']>} */
  const sizes = {};
  try {
    // One round more: in the first the browser itself is cold.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, address] of Object.entries(pages)) {
        const time = await firstNumbers(browser, address);
        if (round > 0) times[name]?.push(time);
      }
    }
    for (const [name, address] of Object.entries(pages)) {
      sizes[name] = await bytesOf(browser, address);
    }
  } finally {
    await browser.close();
    await ourSite.close();
    await peerSite.close();
  }
  const rows = Object.keys(pages).map((name) => {
    const ms = times[name] ?? [];
    const of = (/** @type {string} */ other, /** @type {number} */ round) =>
      times[other]?.[round] ?? Number.NaN;
    const faster = ms.map((_, round) =>
      Math.min(of('tfjs-wasm', round), of('onnxruntime-web', round)),
    );
    const medianMs = quantile(ms, 0.5);
    return {
      suite: /** @type {const} */ ('start'),
      case: /** @type {const} */ ('first-frame'),
      contestant: name,
      browser: /** @type {const} */ ('chromium'),
      medianMs,
      gflops: null,
      shareOfPeak: null,
      ratio: quantile(
        ms.map((time, round) => (faster[round] ?? Number.NaN) / time),
        0.5,
      ),
      spread: (quantile(ms, 0.75) - quantile(ms, 0.25)) / medianMs,
      timesEmpty: quantile(
        ms.map((time, round) => time / of('empty-page', round)),
        0.5,
      ),
      bytes: sizes[name] ?? { raw: 0, gzip: 0, brotli: 0 },
    };
  });
  print(rows);
  return rows;
}

/** The peers' pages as an application would ship them: bundled, with what is not used left out. */
function buildPeers(/** @type {string} */ outDir) {
  const page = (/** @type {string} */ name) =>
    fileURLToPath(new URL(`start/${name}.html`, import.meta.url));
  return build({
    configFile: false,
    root: fileURLToPath(new URL('start', import.meta.url)),
    base: './',
    logLevel: 'error',
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: { input: ['empty', 'tfjs', 'onnx'].map(page) },
    },
  });
}

/**
 * Milliseconds from the navigation to the first numbers, with nothing cached.
 * @param {import('@playwright/test').Browser} browser
 * @param {string} address
 */
async function firstNumbers(browser, address) {
  const page = await browser.newPage();
  await page.addInitScript(watch);
  // To ask the page would take time from what is measured.
  const said = page.waitForEvent('console', (message) => message.text().startsWith(done));
  await page.goto(address);
  const ms = Number((await said).text().slice(done.length));
  await page.close();
  return ms;
}

/**
 * All that a page loads.
 * @param {import('@playwright/test').Browser} browser
 * @param {string} address
 */
async function bytesOf(browser, address) {
  const page = await browser.newPage();
  /** @type {Promise<Buffer>[]} */
  const bodies = [];
  page.on('response', (response) => bodies.push(response.body()));
  await page.goto(address, { waitUntil: 'networkidle' });
  const bytes = { raw: 0, gzip: 0, brotli: 0 };
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  for (const body of await Promise.all(bodies)) {
    bytes.raw += body.length;
    bytes.gzip += gzipSync(body, { level: 9 }).length;
    bytes.brotli += brotliCompressSync(body, { params }).length;
  }
  await page.close();
  return bytes;
}

function print(/** @type {StartRow[]} */ rows) {
  console.log(`\nstart: ${rounds} rounds in chromium, from local servers, nothing cached`);
  const kilobytes = (/** @type {number} */ bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  printTable([
    ['page', 'first numbers', 'of empty', 'ratio', 'spread', 'raw', 'gzip', 'brotli'],
    ...rows.map(({ contestant, medianMs, timesEmpty, ratio, spread, bytes }) => [
      contestant,
      `${medianMs.toFixed(0)} ms`,
      `${timesEmpty.toFixed(2)}×`,
      `${ratio.toFixed(2)}×`,
      percent(spread),
      kilobytes(bytes.raw),
      kilobytes(bytes.gzip),
      kilobytes(bytes.brotli),
    ]),
  ]);
  const ours = rows.find(({ contestant }) => contestant === 'attention-lab');
  const tfjs = rows.find(({ contestant }) => contestant === 'tfjs-wasm');
  if (!ours || !tfjs) return;
  const times = (/** @type {number} */ factor) => `${factor.toFixed(2)}×`;
  console.log(`  ${verdict('time of an empty page', ours.timesEmpty, bounds.time, times, 'less')}`);
  console.log(
    `  ${verdict('first load, brotli', ours.bytes.brotli, bounds.bytes, kilobytes, 'less')}`,
  );
  const before = ours.medianMs < tfjs.medianMs ? 'met' : 'NOT met';
  console.log(`  before the first result of tfjs: ${before}`);
}
