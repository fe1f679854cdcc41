/** Turns the rounds of a case into rows, and prints these with the targets beside them. */
import { flopsOf } from './cases.mjs';

/**
 * `ratio` is how many times as fast as the fastest peer of the same round, `shareOfPeak` the part of
 * the peak measured in the same round, both as medians over the rounds; `spread` is the interquartile
 * range of the milliseconds over their median. `memoryMB` is the WASM memory, where it is known;
 * `overOneThread` is how many times as fast workers are as one thread, the median over the rounds.
 * @typedef {object} Row
 * @property {string} suite
 * @property {string} case
 * @property {string} contestant
 * @property {string} browser
 * @property {number} medianMs
 * @property {number} bestMs
 * @property {number} gflops
 * @property {number | null} shareOfPeak
 * @property {number | null} ratio
 * @property {number} spread
 * @property {number} [memoryMB]
 * @property {number} [overOneThread]
 *
 * @typedef {import('./measure.mjs').Sample} Sample
 */

/**
 * @param {import('./cases.mjs').Case} item
 * @param {string} browser
 * @param {import('./measure.mjs').Measurement} measurement
 * @returns {Row[]}
 */
export function rowsOf({ suite, name, problem }, browser, { samples }) {
  const peers = samples.filter(({ role }) => role === 'peer');
  return samples.map((sample) => {
    const flops = sample.flops ?? flopsOf(problem);
    const peak = samples.find(({ role, peak }) => role === 'peak' && peak === sample.peak);
    const medianMs = quantile(sample.ms, 0.5);
    const ratios = sample.ms.map((ms, round) => {
      const fastest = Math.min(...peers.map((peer) => peer.ms[round] ?? Number.POSITIVE_INFINITY));
      return ms === null || !Number.isFinite(fastest) ? null : fastest / ms;
    });
    const oneThread = samples.find(({ name }) => name === sample.name.replace('workers', 'fused'));
    const gains = sample.ms.map((ms, round) => {
      const alone = oneThread?.ms[round];
      return ms && alone ? alone / ms : null;
    });
    const shares = sample.ms.map((ms, round) => {
      const atPeak = peak?.ms[round];
      return ms && atPeak && peak.flops ? flops / ms / (peak.flops / atPeak) : null;
    });
    return {
      suite,
      case: name,
      contestant: sample.name,
      browser,
      medianMs,
      bestMs: quantile(sample.ms, 0),
      gflops: flops / medianMs / 1e6,
      shareOfPeak: medianOrNull(shares),
      ratio: sample.role === 'peak' ? null : medianOrNull(ratios),
      spread: (quantile(sample.ms, 0.75) - quantile(sample.ms, 0.25)) / medianMs,
      ...(sample.name.startsWith('workers') ? { overOneThread: quantile(gains, 0.5) } : {}),
      ...(sample.memory === null ? {} : { memoryMB: sample.memory / 2 ** 20 }),
    };
  });
}

/** @type {(values: (number | null)[]) => number | null} */
function medianOrNull(values) {
  return values.some((value) => value !== null) ? quantile(values, 0.5) : null;
}

/** @type {(values: (number | null)[], part: number) => number} interpolated between neighbours */
export function quantile(values, part) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/**
 * @param {import('./cases.mjs').Case} item
 * @param {Row[]} rows
 * @param {import('./measure.mjs').Measurement} measurement
 */
export function printCase({ suite, name, targets }, rows, { samples, absent }) {
  const rounds = samples[0]?.ms.length ?? 0;
  console.log(`\n${suite} ${name}: ${rounds} rounds in ${rows[0]?.browser}`);
  printTable([
    [
      'contestant',
      'median ms',
      'best ms',
      'GF/s',
      'of peak',
      'ratio',
      '1 thread',
      'spread',
      'memory',
    ],
    ...rows.map((row) => [
      row.contestant,
      row.medianMs.toPrecision(3),
      row.bestMs.toPrecision(3),
      row.gflops.toFixed(1),
      row.shareOfPeak === null ? '' : percent(row.shareOfPeak),
      row.ratio === null ? '' : `${row.ratio.toFixed(2)}×`,
      row.overOneThread === undefined ? '' : `${row.overOneThread.toFixed(2)}×`,
      percent(row.spread),
      row.memoryMB === undefined ? '' : `${row.memoryMB.toFixed(0)} MB`,
    ]),
  ]);
  for (const { name: who, reason } of absent)
    console.log(`  without ${who}: ${reason.split('\n')[0]}`);
  // The targets are those of Chromium.
  if (rows[0]?.browser !== 'chromium') return;
  for (const line of verdicts(targets, rows)) console.log(`  ${line}`);
}

/** @type {(lines: string[][]) => void} the first column to the left, the others to the right */
export function printTable(lines) {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of lines) {
    const cells = line.map((text, column) =>
      column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('  ')}`.trimEnd());
  }
}

export const percent = (/** @type {number} */ part) => `${(100 * part).toFixed(0)} %`;

/**
 * A line for every target that applies to a row of the fused path.
 * @param {import('./cases.mjs').Targets} targets
 * @param {Row[]} rows
 */
function verdicts(targets, rows) {
  return /** @type {const} */ (['relaxed', 'simd128']).flatMap((build) => {
    const fused = rows.find(({ contestant }) => contestant === `fused-${build}`);
    const staged = rows.find(({ contestant }) => contestant === `staged-${build}`);
    if (!fused) return [];
    const lines = [];
    if (targets.ratio && fused.ratio !== null) {
      const text = (/** @type {number} */ ratio) => `${ratio.toFixed(2)}×`;
      const name = `fused-${build}, times as fast as the fastest peer`;
      lines.push(verdict(name, fused.ratio, targets.ratio[build], text, 'more'));
    }
    if (targets.share && fused.shareOfPeak !== null) {
      const name = `fused-${build}, share of the measured peak`;
      lines.push(verdict(name, fused.shareOfPeak, targets.share[build], percent, 'more'));
    }
    if (targets.staged && staged) {
      const text = (/** @type {number} */ factor) => `${factor.toFixed(2)}×`;
      const name = `staged-${build}, time of fused-${build}`;
      lines.push(
        verdict(name, staged.medianMs / fused.medianMs, targets.staged[build], text, 'less'),
      );
    }
    const shared = rows.find(({ contestant }) => contestant === `workers-${build}`);
    if (targets.workers && shared?.overOneThread !== undefined) {
      const text = (/** @type {number} */ gain) => `${gain.toFixed(2)}×`;
      const name = `workers-${build}, times as fast as one thread`;
      lines.push(verdict(name, shared.overOneThread, targets.workers[build], text, 'more'));
    }
    if (targets.memory && fused.memoryMB !== undefined) {
      const text = (/** @type {number} */ size) => `${size.toFixed(1)} MB`;
      lines.push(
        verdict(`fused-${build}, WASM memory`, fused.memoryMB, targets.memory[build], text, 'less'),
      );
    }
    return lines;
  });
}

/**
 * @param {string} name
 * @param {number} found
 * @param {[must: number, aim: number]} bounds
 * @param {(value: number) => string} text
 * @param {'more' | 'less'} better
 */
export function verdict(name, found, [must, aim], text, better) {
  const reached = (/** @type {number} */ bound) =>
    better === 'less' ? found <= bound : found >= bound;
  const judged = reached(aim) ? 'aim met' : reached(must) ? 'must met' : 'NOT met';
  return `${name}: ${text(found)} (must ${text(must)}, aim ${text(aim)}): ${judged}`;
}
