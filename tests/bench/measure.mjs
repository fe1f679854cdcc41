/** Measures one case: everybody computes it in turn, round after round. Runs in a page or in Node. */
import { attendRow, baselines } from './contestants/baselines.mjs';
import { onnx } from './contestants/onnx.mjs';
import { inWorkers, ours } from './contestants/ours.mjs';
import { preparePeak } from './contestants/peak.mjs';
import { tfjs } from './contestants/tfjs.mjs';

/**
 * @typedef {import('./cases.mjs').Problem} Problem
 * @typedef {import('./contestants/contestant.mjs').Contestant} Contestant
 * @typedef {import('./contestants/contestant.mjs').Inputs} Inputs
 * @typedef {import('./contestants/contestant.mjs').Prepared} Prepared
 */

/**
 * Milliseconds of one run in each round (null where it sat out), and for a peak its operations.
 * @typedef {object} Sample
 * @property {string} name
 * @property {Contestant['role'] | 'peak'} role
 * @property {'relaxed' | 'simd128'} peak
 * @property {(number | null)[]} ms
 * @property {number | null} flops of one run; null: those of the case
 * @property {number | null} memory bytes of WASM memory
 *
 * @typedef {{ samples: Sample[], absent: { name: string, reason: string }[] }} Measurement
 */

/** @typedef {Sample & { run: () => unknown, repeat: number, slow: boolean, bytes?: () => number }} Runner */

const fused = ours.filter(({ name }) => name.startsWith('fused'));
const fields = {
  all: [...ours, ...onnx, tfjs, ...baselines],
  fused,
  workers: [...fused, ...inWorkers],
};

// In milliseconds: how long the rounds of a case go on in all, and how long everybody warms up
// (compilers work meanwhile).
const budget = 20_000;
const warmUpTime = 300;
// How long a sample lasts at least: long against the clock's resolution, short against the moments
// that other programs take from it, so that most samples are undisturbed.
const sampleTime = 3;
const fewestRounds = 7;
const mostRounds = 101;
// Whoever needs so many times the fastest peer's time takes part in a few rounds only.
const slowFactor = 4;
const roundsOfSlow = 3;

/**
 * @param {Problem} problem
 * @param {import('./cases.mjs').Field} field
 * @returns {Promise<Measurement>}
 */
export async function measure(problem, field) {
  const inputs = randomInputs(problem);
  const contestants = fields[field];
  const check = checker(problem, inputs);
  /** @type {Runner[]} */
  const runners = [];
  const absent = [];
  for (const { name, role, peak, prepare } of contestants) {
    try {
      const { run, layout = 'heads', memory } = await prepare(problem, inputs);
      check(await run(), layout);
      runners.push({ ...newSample(name, role, peak), run, bytes: memory });
    } catch (error) {
      absent.push({ name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  for (const build of /** @type {const} */ (['relaxed', 'simd128'])) {
    const name = build === 'relaxed' ? 'peak-relaxed-madd' : 'peak-mul-add';
    try {
      const { run, flops } = await preparePeak(build);
      runners.push({ ...newSample(name, 'peak', build), run, flops });
    } catch (error) {
      absent.push({ name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  await playRounds(runners);
  const samples = runners.map(({ run, repeat, slow, bytes, ...sample }) => ({
    ...sample,
    // Where others take part, the paths of a build share its memory.
    memory: field === 'fused' ? (bytes?.() ?? null) : null,
  }));
  return { samples, absent };
}

/** @type {(name: string, role: Sample['role'], peak: Sample['peak']) => Omit<Runner, 'run'>} */
function newSample(name, role, peak) {
  return { name, role, peak, ms: [], flops: null, memory: null, repeat: 1, slow: false };
}

async function playRounds(/** @type {Runner[]} */ runners) {
  const times = new Map();
  for (const runner of runners) times.set(runner, await warmUp(runner));
  const peers = runners.filter(({ role }) => role === 'peer');
  const fastestPeer = Math.min(...peers.map((runner) => times.get(runner)));
  // A peak is measured for as long as we compute, so that what disturbs us disturbs it alike.
  const fastest = Math.min(
    ...runners.filter(({ role }) => role === 'ours').map((runner) => times.get(runner)),
  );
  let roundTime = 0;
  for (const runner of runners) {
    const time = times.get(runner);
    const least = runner.role === 'peak' ? Math.max(sampleTime, fastest) : sampleTime;
    runner.repeat = Math.max(1, Math.ceil(least / time));
    runner.slow = time > slowFactor * fastestPeer;
    if (!runner.slow) roundTime += runner.repeat * time;
  }
  const rounds = Math.min(mostRounds, Math.max(fewestRounds, Math.floor(budget / roundTime)));
  const stride = Math.ceil(rounds / roundsOfSlow);
  for (let round = 0; round < rounds; round += 1) {
    for (let i = 0; i < runners.length; i += 1) {
      // Each round begins with somebody else: what one leaves in the caches is not always for the same.
      const runner = /** @type {Runner} */ (runners[(i + round) % runners.length]);
      const sitsOut = runner.slow && round % stride > 0;
      runner.ms.push(sitsOut ? null : await timeOf(runner.run, runner.repeat));
    }
  }
}

/** Milliseconds of a run once it is warm. */
async function warmUp(/** @type {Runner} */ { run }) {
  const begin = performance.now();
  let time = await timeOf(run, 1);
  while (performance.now() - begin < warmUpTime) {
    time = await timeOf(run, Math.max(1, Math.ceil(warmUpTime / 4 / Math.max(time, 0.001))));
  }
  return time;
}

/** Milliseconds of one of `repeat` runs. Awaits only those that give a promise. */
async function timeOf(/** @type {() => unknown} */ run, /** @type {number} */ repeat) {
  const begin = performance.now();
  for (let i = 0; i < repeat; i += 1) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  return (performance.now() - begin) / repeat;
}

/** Inputs of the kind that attention meets: independent draws from N(0, 1), always the same. */
function randomInputs(/** @type {Problem} */ { heads, tq, tk, d }) {
  let state = 1;
  const uniform = () => {
    // A linear congruential generator modulo 2³², exact in double precision.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const draw = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const matrices = (/** @type {number} */ count) => Float32Array.from({ length: count }, draw);
  return {
    q: matrices(heads * tq * d),
    k: matrices(heads * tk * d),
    v: matrices(heads * tk * d),
  };
}

const checkedRows = 64;
// Outputs are of the order of 1, their errors of 1e-6; a wrong scale, mask or layout shows at 1e-2.
const tolerance = 2e-5;

/**
 * Throws unless an output agrees with the double-precision loop in rows spread over all of it.
 * @param {Problem} problem
 * @param {Inputs} inputs
 */
function checker(problem, inputs) {
  const { heads, tq, d } = problem;
  const rows = heads * tq;
  const count = Math.min(checkedRows, rows);
  const wanted = Array.from({ length: count }, (_, i) => {
    const row = Math.floor(((i + 1) * rows) / count) - 1;
    const out = new Float32Array(d);
    attendRow(problem, inputs, row, out);
    return { row, out };
  });
  return (/** @type {Float32Array} */ output, /** @type {'heads' | 'tokens'} */ layout) => {
    if (output.length !== rows * d) throw new Error(`it gives ${output.length} numbers`);
    for (const { row, out } of wanted) {
      const place = layout === 'heads' ? row : (row % tq) * heads + Math.floor(row / tq);
      for (let c = 0; c < d; c += 1) {
        const found = /** @type {number} */ (output[place * d + c]);
        const expected = /** @type {number} */ (out[c]);
        // Written so that NaN fails, too.
        if (!(Math.abs(found - expected) <= tolerance)) {
          throw new Error(`it computes ${found} where ${expected} is right (row ${row}, ${c})`);
        }
      }
    }
  };
}
