/** Computes the example that our page opens on, and shows the numbers. */

const problem = { heads: 1, tq: 2, tk: 2, d: 4, causal: false, resident: false };
const inputs = {
  q: new Float32Array([2, 0, 2, 0, 0, 4, 0, 2]),
  k: new Float32Array([1, 0, 1, 0, 0, 1, 0, 0]),
  // The example's values are two wide; the peers' models take one width for all.
  v: new Float32Array([1, 2, 0, 0, 3, 0, 0, 0]),
};

/** @param {import('../contestants/contestant.mjs').Contestant} contestant */
export async function showResult(contestant) {
  const { run } = await contestant.prepare(problem, inputs);
  const result = document.querySelector('#result');
  if (result) result.textContent = (await run()).join(' ');
}
