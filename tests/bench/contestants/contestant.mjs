/** What a contestant is; they differ only in who computes. */

/**
 * Row-major, [heads, tokens, d].
 * @typedef {{ q: Float32Array, k: Float32Array, v: Float32Array }} Inputs
 */

/**
 * One case, ready to run. `run` takes the inputs from JavaScript's memory (with resident K and V:
 * only Q) and returns the output in a Float32Array that stays as it is.
 * @typedef {object} Prepared
 * @property {() => Float32Array | Promise<Float32Array>} run
 * @property {'heads' | 'tokens'} [layout] of the output: [heads, tq, d] or [tq, heads, d]
 * @property {() => number} [memory] bytes of WASM memory
 */

/**
 * `prepare` throws when it cannot do the case. A build of ours is compared with the peers; the
 * baselines show what plain code gives.
 * @typedef {object} Contestant
 * @property {string} name
 * @property {'ours' | 'peer' | 'baseline'} role
 * @property {'relaxed' | 'simd128'} peak the multiply-add that it could use at best
 * @property {(problem: import('../cases.mjs').Problem, inputs: Inputs) => Promise<Prepared>} prepare
 */

/** [heads, tokens, d] as [tokens, heads, d]. */
export function toTokens(
  /** @type {Float32Array} */ matrices,
  /** @type {number} */ heads,
  /** @type {number} */ d,
) {
  const tokens = matrices.length / (heads * d);
  const out = new Float32Array(matrices.length);
  for (let h = 0; h < heads; h += 1) {
    for (let t = 0; t < tokens; t += 1) {
      const row = (h * tokens + t) * d;
      out.set(matrices.subarray(row, row + d), (t * heads + h) * d);
    }
  }
  return out;
}

/** [t, t]: 0 where query i sees key j, else −Infinity. */
export function causalMask(/** @type {number} */ t) {
  const mask = new Float32Array(t * t);
  for (let i = 0; i < t; i += 1) mask.fill(Number.NEGATIVE_INFINITY, i * t + i + 1, (i + 1) * t);
  return mask;
}

/** A file's bytes, in a page or in Node. */
export async function readBytes(/** @type {URL} */ url) {
  if (url.protocol !== 'file:') return new Uint8Array(await (await fetch(url)).arrayBuffer());
  const { readFile } = await import('node:fs/promises');
  return new Uint8Array(await readFile(url));
}
