/** Plain loops: scalar C++ in WebAssembly, and JavaScript. */
import { readBytes } from './contestant.mjs';

/** @type {import('./contestant.mjs').Contestant} */
const naiveWasm = {
  name: 'naive-wasm',
  role: 'baseline',
  peak: 'simd128',
  async prepare({ heads, tq, tk, d, causal, resident }, { q, k, v }) {
    const bytes = await readBytes(new URL('../generated/naive.wasm', import.meta.url));
    const { instance } = await WebAssembly.instantiate(bytes);
    const { memory, reserve, attend, _initialize } =
      /** @type {{ memory: WebAssembly.Memory } & Record<string, (...args: (number | boolean)[]) => number>} */ (
        instance.exports
      );
    _initialize?.();
    const place = (/** @type {number} */ floats) => {
      const address = reserve?.(floats);
      if (!address) throw new Error('the memory of the module is too small');
      return new Float32Array(memory.buffer, address, floats);
    };
    const [inQ, inK, inV, out, scores] = [q.length, k.length, v.length, q.length, tk].map(place);
    if (!inQ || !inK || !inV || !out || !scores) throw new Error('unreachable');
    inK.set(k);
    inV.set(v);
    const addresses = [inQ, inK, inV, out, scores].map(({ byteOffset }) => byteOffset);
    return {
      run() {
        inQ.set(q);
        if (!resident) {
          inK.set(k);
          inV.set(v);
        }
        attend?.(...addresses, heads, tq, tk, d, causal);
        return out.slice();
      },
    };
  },
};

/** @type {import('./contestant.mjs').Contestant} */
const jsLoop = {
  name: 'js-loop',
  role: 'baseline',
  peak: 'simd128',
  async prepare(problem, inputs) {
    const { heads, tq, d } = problem;
    return {
      run() {
        const out = new Float32Array(heads * tq * d);
        for (let row = 0; row < heads * tq; row += 1) {
          attendRow(problem, inputs, row, out.subarray(row * d, (row + 1) * d));
        }
        return out;
      },
    };
  },
};

export const baselines = [naiveWasm, jsLoop];

/**
 * Row `row` of the outputs [heads · tq, d], computed in double precision; also what all contestants
 * are checked against.
 * @param {import('../cases.mjs').Problem} problem
 * @param {import('./contestant.mjs').Inputs} inputs
 * @param {number} row
 * @param {Float32Array} out [d]
 */
export function attendRow({ tq, tk, d, causal }, { q, k, v }, row, out) {
  const scale = 1 / Math.sqrt(d);
  const first = Math.floor(row / tq) * tk;
  const keys = causal ? (row % tq) + 1 : tk;
  const scores = new Float64Array(keys);
  let maximum = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < keys; j += 1) {
    let dot = 0;
    for (let c = 0; c < d; c += 1) {
      dot +=
        /** @type {number} */ (q[row * d + c]) * /** @type {number} */ (k[(first + j) * d + c]);
    }
    scores[j] = dot * scale;
    maximum = Math.max(maximum, dot * scale);
  }
  let sum = 0;
  for (let j = 0; j < keys; j += 1) {
    const weight = Math.exp(/** @type {number} */ (scores[j]) - maximum);
    scores[j] = weight;
    sum += weight;
  }
  for (let c = 0; c < d; c += 1) {
    let total = 0;
    for (let j = 0; j < keys; j += 1) {
      total += /** @type {number} */ (scores[j]) * /** @type {number} */ (v[(first + j) * d + c]);
    }
    out[c] = total / sum;
  }
}
