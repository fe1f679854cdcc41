/** Attention as plain JavaScript writes it, only to be timed beside the engine. */

/** softmax(Q·Kᵀ/√d)·V for Q, K and V of [t, d], in double precision without SIMD. */
export function plainAttention(
  { q, k, v }: Readonly<Record<'q' | 'k' | 'v', Float32Array>>,
  t: number,
  d: number,
): Float32Array {
  const output = new Float32Array(t * d);
  const row = new Float64Array(t);
  for (let i = 0; i < t; i += 1) {
    let largest = Number.NEGATIVE_INFINITY;
    for (let j = 0; j < t; j += 1) {
      let score = 0;
      for (let c = 0; c < d; c += 1) score += (q[i * d + c] as number) * (k[j * d + c] as number);
      row[j] = score / Math.sqrt(d);
      largest = Math.max(largest, row[j] as number);
    }
    let sum = 0;
    for (let j = 0; j < t; j += 1) {
      row[j] = Math.exp((row[j] as number) - largest);
      sum += row[j] as number;
    }
    for (let c = 0; c < d; c += 1) {
      let total = 0;
      for (let j = 0; j < t; j += 1) total += (row[j] as number) * (v[j * d + c] as number);
      output[i * d + c] = total / sum;
    }
  }
  return output;
}
