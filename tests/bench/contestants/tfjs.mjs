/** TensorFlow.js with its WASM backend, on one thread; Kᵀ by an explicit transposition. */

import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { causalMask } from './contestant.mjs';

// Written out, so that a bundler sees them.
const files = {
  'tfjs-backend-wasm.wasm': new URL(
    '../node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm',
    import.meta.url,
  ),
  'tfjs-backend-wasm-simd.wasm': new URL(
    '../node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm',
    import.meta.url,
  ),
  'tfjs-backend-wasm-threaded-simd.wasm': new URL(
    '../node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-threaded-simd.wasm',
    import.meta.url,
  ),
};

/** @type {import('./contestant.mjs').Contestant} */
export const tfjs = {
  name: 'tfjs-wasm',
  role: 'peer',
  peak: 'simd128',
  async prepare({ heads, tq, tk, d, causal, resident }, inputs) {
    setThreadsCount(1);
    const paths = Object.entries(files).map(([name, { protocol, pathname, href }]) => [
      name,
      protocol === 'file:' ? pathname : href,
    ]);
    setWasmPaths(Object.fromEntries(paths));
    await tf.setBackend('wasm');
    const one = heads === 1;
    const shape = (/** @type {number} */ t) => (one ? [t, d] : [heads, t, d]);
    const key = () => tf.tensor(inputs.k, shape(tk));
    const value = () => tf.tensor(inputs.v, shape(tk));
    const transposed = (/** @type {tf.Tensor} */ k) => tf.transpose(k, one ? [1, 0] : [0, 2, 1]);
    const kept = resident ? { kt: transposed(key()), v: value() } : null;
    const scale = tf.scalar(1 / Math.sqrt(d));
    const mask = causal ? tf.tensor(causalMask(tq), [tq, tk]) : null;
    return {
      run: () =>
        tf.tidy(() => {
          const q = tf.mul(tf.tensor(inputs.q, shape(tq)), scale);
          const scores = tf.matMul(q, kept?.kt ?? transposed(key()));
          const weights = tf.softmax(mask ? tf.add(scores, mask) : scores);
          return /** @type {Float32Array} */ (tf.matMul(weights, kept?.v ?? value()).dataSync());
        }),
    };
  },
};
