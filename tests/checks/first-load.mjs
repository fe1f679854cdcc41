/** Measures what a browser transfers to show the page from an empty cache, against its bound. */
import { brotliCompressSync, constants } from 'node:zlib';
import { chromium } from '@playwright/test';
import { findTestChromium } from '../../wasm/toolchain/setup.mjs';
import { chromiumArguments, refuseRelaxed } from '../browser/chromium.mjs';
import { startSite } from '../browser/server.mjs';

/** In bytes, brotli at its highest quality. */
const bound = 45_000;

/** @typedef {{ path: string, bytes: number }} Transfer */

/** Loads the built page once with each WASM build; throws when the larger load passes the bound. */
export async function firstLoad() {
  const site = await startSite();
  const browser = await chromium.launch({
    executablePath: (await findTestChromium()) ?? undefined,
    args: chromiumArguments,
  });
  try {
    for (const build of /** @type {const} */ (['relaxed', 'simd128'])) {
      const page = await browser.newPage();
      if (build === 'simd128') await page.addInitScript(refuseRelaxed);
      judge(build, await transfersOf(page, `${site.address}open/lab/`));
      await page.close();
    }
  } finally {
    await browser.close();
    await site.close();
  }
}

/**
 * Every response of one page load, compressed as a static host would send it.
 * @param {import('@playwright/test').Page} page
 * @param {string} address
 */
export async function transfersOf(page, address) {
  /** @type {Map<string, Promise<Transfer>>} */
  const transfers = new Map();
  page.on('response', (response) => {
    const path = response.url().slice(address.length) || 'index.html';
    transfers.set(
      path,
      response.body().then((body) => ({ path, bytes: brotliSize(body) })),
    );
  });
  await page.goto(address, { waitUntil: 'networkidle' });
  // A browser without a window asks for no icon.
  await page.evaluate(async () => {
    const icon = document.querySelector('link[rel=icon]');
    if (icon instanceof HTMLLinkElement) await (await fetch(icon.href)).text();
  });
  return Promise.all(transfers.values());
}

/** Prints the transfers; throws when they are not the whole page or pass the bound. */
export function judge(/** @type {string} */ build, /** @type {Transfer[]} */ transfers) {
  const modules = transfers.filter(({ path }) => path.endsWith('.wasm'));
  if (modules.length !== 1 || !modules[0]?.path.includes(build)) {
    const found = modules.map(({ path }) => path).join(', ') || 'none';
    throw new Error(`The page was to load the ${build} module and no other, but loaded: ${found}.`);
  }
  const total = transfers.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of transfers) console.log(`${String(bytes).padStart(8)}  ${path}`);
  console.log(`${String(total).padStart(8)}  first load with ${build}, of ${bound} bytes (brotli)`);
  if (total > bound) throw new Error(`The first load is ${total} bytes, more than ${bound}.`);
}

export function brotliSize(/** @type {Uint8Array} */ bytes) {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
}
