/** `npm run bench -- --pages`: how smoothly the built page follows hands, beside the page left alone. */
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { ensureChromium, projectRoot } from '../../wasm/toolchain/setup.mjs';
import { chromiumArguments } from '../browser/chromium.mjs';
import { printTable, quantile } from './report.mjs';
import { serve } from './server.mjs';

/**
 * Of one scene and what was counted in it, over all repetitions: tasks of more than 50 ms, the longest
 * of them, frames that were shown, and frames that a display of 60 Hz would have shown in between.
 * @typedef {object} PagesRow
 * @property {'pages'} suite
 * @property {string} case
 * @property {'attention-lab' | 'idle'} contestant
 * @property {'chromium'} browser
 * @property {number} medianMs between two frames
 * @property {null} gflops
 * @property {null} shareOfPeak
 * @property {null} ratio
 * @property {number} spread
 * @property {number} longTasks
 * @property {number} longestTaskMs
 * @property {number} frames
 * @property {number} droppedFrames
 */

/**
 * @typedef {import('@playwright/test').Page} Page
 * @typedef {import('@playwright/test').Locator} Locator
 * @typedef {{ tasks: number[], gaps: number[] }} Counts milliseconds of long tasks; between frames
 */

/**
 * A state of the page, what is done before anything is counted, and what the hands then do.
 * @typedef {object} Scene
 * @property {string} name
 * @property {string} state
 * @property {(page: Page) => Promise<Locator>} prepare
 * @property {(page: Page, place: Locator) => Promise<void>} act
 */

const repetitions = 3;
const framePeriod = 1000 / 60;

const random = (/** @type {number} */ t) =>
  `#?example=random&tq=${t}&tk=${t}&q=normal:3&k=normal:4&v=normal:5`;

/** @type {Scene[]} */
const scenes = [
  {
    name: 'typing, 16 tokens',
    state: random(16),
    async prepare(page) {
      const cell = page.locator('figure[data-stage="q"]').first().getByRole('textbox').first();
      await cell.focus();
      return cell;
    },
    act: (page) => typeNumbers(page),
  },
  {
    name: 'typing, 64 tokens',
    state: random(64),
    async prepare(page) {
      await page
        .getByRole('application', { name: /^Q, queries/ })
        .first()
        .focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      const number = page.getByRole('textbox', { name: 'Number', exact: true });
      await number.focus();
      return number;
    },
    // A field takes what was typed when Enter says so; a cell takes every key.
    act: (page) => typeNumbers(page, 'Enter'),
  },
  {
    name: 'slider of d_k, dragged',
    state: '',
    async prepare(page) {
      const slider = page.getByRole('slider', { name: /^d k from 1/ });
      await page.locator('#scale').scrollIntoViewIfNeeded();
      await slider.scrollIntoViewIfNeeded();
      return slider;
    },
    act: (page, slider) => drag(page, slider, 0.5),
  },
  {
    name: 'heat map of 1024 tokens, pointed at',
    state: random(1024),
    prepare: findMap,
    act: (page, map) => drag(page, map, 0.9),
  },
  {
    name: 'heat map of 1024 tokens, enlarged and dragged',
    state: random(1024),
    async prepare(page) {
      const map = await findMap(page);
      await map.focus();
      for (const key of '++++') await page.keyboard.press(key);
      return map;
    },
    act: (page, map) => drag(page, map, 0.9),
  },
];

async function findMap(/** @type {Page} */ page) {
  const map = page.getByRole('application', { name: /^A, weights/ }).first();
  await map.scrollIntoViewIfNeeded();
  return map;
}

/** Numbers typed one over the other, as fast as quick fingers type. */
async function typeNumbers(/** @type {Page} */ page, /** @type {string[]} */ ...after) {
  for (const number of ['1.25', '-0.5', '3', '0.125', '2/3', '-1.75']) {
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(number, { delay: 80 });
    for (const key of after) await page.keyboard.press(key);
  }
}

/**
 * The pointer pressed and moved to and fro, a step a frame; `height` is how far down it goes.
 * @param {Page} page
 * @param {Locator} place
 * @param {number} height a part of the whole
 */
async function drag(page, place, height) {
  const box = await place.boundingBox();
  if (!box) throw new Error('There is nothing to drag.');
  const at = (/** @type {number} */ part) => ({
    x: box.x + box.width * (0.05 + 0.9 * part),
    y: box.y + box.height * (height > 0.5 ? 0.05 + (height - 0.05) * part : height),
  });
  const steps = 120;
  await page.mouse.move(at(0).x, at(0).y);
  await page.mouse.down();
  for (let step = 1; step <= steps; step += 1) {
    const { x, y } = at(1 - Math.abs(1 - (2 * step) / steps));
    await page.mouse.move(x, y);
    await page.evaluate('new Promise(requestAnimationFrame)');
  }
  await page.mouse.up();
}

/** Runs in the page, before its own scripts. */
const counter = `{
  let tasks = [];
  let gaps = [];
  let last = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration);
  }).observe({ type: 'longtask' });
  const frame = (time) => {
    gaps.push(time - last);
    last = time;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.countAnew = () => {
    const counts = { tasks, gaps };
    [tasks, gaps] = [[], []];
    return counts;
  };
}`;

/** @returns {Promise<PagesRow[]>} */
export async function measurePages() {
  const site = await serve(join(projectRoot, 'dist'));
  const browser = await chromium.launch({
    executablePath: await ensureChromium(),
    args: chromiumArguments,
  });
  const rows = [];
  try {
    for (const scene of scenes) {
      /** @type {Record<PagesRow['contestant'], Counts>} */
      const counts = {
        'attention-lab': { tasks: [], gaps: [] },
        idle: { tasks: [], gaps: [] },
      };
      for (let i = 0; i < repetitions; i += 1) {
        const { acted, idle } = await play(browser, site.address, scene);
        for (const name of /** @type {const} */ (['tasks', 'gaps'])) {
          counts['attention-lab'][name].push(...acted[name]);
          counts.idle[name].push(...idle[name]);
        }
      }
      rows.push(
        rowOf(scene.name, 'attention-lab', counts['attention-lab']),
        rowOf(scene.name, 'idle', counts.idle),
      );
    }
  } finally {
    await browser.close();
    await site.close();
  }
  print(rows);
  return rows;
}

/**
 * One page, first under hands and then left alone for as long.
 * @param {import('@playwright/test').Browser} browser
 * @param {string} address
 * @param {Scene} scene
 * @returns {Promise<{ acted: Counts, idle: Counts }>}
 */
async function play(browser, address, { state, prepare, act }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.addInitScript(counter);
  await page.goto(`${address}${state}`);
  await page.locator('figure[data-stage="heads"]').first().waitFor();
  const place = await prepare(page);
  const settle = () => page.waitForTimeout(500);
  const counted = () => /** @type {Promise<Counts>} */ (page.evaluate('countAnew()'));
  await settle();
  await counted();
  const begin = performance.now();
  await act(page, place);
  const took = performance.now() - begin;
  const acted = await counted();
  await settle();
  await counted();
  await page.waitForTimeout(took);
  const idle = await counted();
  await page.close();
  return { acted, idle };
}

/** @type {(name: string, contestant: PagesRow['contestant'], counts: Counts) => PagesRow} */
function rowOf(name, contestant, { tasks, gaps }) {
  const medianMs = quantile(gaps, 0.5);
  const dropped = gaps.map((gap) => Math.max(0, Math.round(gap / framePeriod) - 1));
  return {
    suite: 'pages',
    case: name,
    contestant,
    browser: 'chromium',
    medianMs,
    gflops: null,
    shareOfPeak: null,
    ratio: null,
    spread: (quantile(gaps, 0.75) - quantile(gaps, 0.25)) / medianMs,
    longTasks: tasks.length,
    longestTaskMs: Math.max(0, ...tasks),
    frames: gaps.length,
    droppedFrames: dropped.reduce((sum, count) => sum + count, 0),
  };
}

function print(/** @type {PagesRow[]} */ rows) {
  console.log(
    `\npages: ${repetitions} repetitions in chromium, each beside the same page left alone`,
  );
  printTable([
    ['scene', 'who', 'frames', 'dropped', 'long tasks', 'longest'],
    ...rows.map((row) => [
      row.case,
      row.contestant === 'idle' ? 'left alone' : 'under hands',
      String(row.frames),
      String(row.droppedFrames),
      String(row.longTasks),
      `${row.longestTaskMs.toFixed(0)} ms`,
    ]),
  ]);
}
