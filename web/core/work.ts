/** What the calling thread and its workers tell each other, and how a job is cut into ranges of rows. */
import { sizesOf } from './boundary.ts';
import type { ErrorCode, Fact } from './errors.ts';
import type { AttentionConfig, AttentionInputs } from './types.ts';

/** What an AttentionError is made of; a worker sends this in place of the object. */
export interface Failure {
  readonly code: ErrorCode;
  readonly subject: string;
  readonly found: Fact;
  readonly expected: Fact;
}

export type ToWorker =
  | { readonly type: 'start'; readonly compiled: WebAssembly.Module }
  | {
      readonly type: 'job';
      readonly job: number;
      readonly config: AttentionConfig;
      readonly inputs: AttentionInputs;
    }
  | { readonly type: 'rows'; readonly job: number; readonly range: Range };

export type FromWorker =
  | { readonly type: 'ready' }
  | {
      readonly type: 'rows';
      readonly job: number;
      readonly range: Range;
      /** Those rows of the result, d_v numbers each. */
      readonly values: Float32Array<ArrayBuffer>;
    }
  | { readonly type: 'failed'; readonly job: number; readonly failure: Failure };

/** Rows first <= row < last of batch · heads · T_q. */
export type Range = readonly [first: number, last: number];

/** Ranges that begin and end at multiples of this within a key/value head have the bits of a whole run. */
const rowBlock = 64;
/** A range takes about half a millisecond, so that no thread waits long for the last one. */
const rangeFlops = 16e6;

/** 4·B·H·T_q·T_k·(d_k + d_v)/2: two flops for each product in Q·Kᵀ and in A·V. */
export function flopsOf(config: AttentionConfig): number {
  const { batch, heads, tq, tk, dK, dV } = sizesOf(config);
  return 2 * batch * heads * tq * tk * (dK + dV);
}

/** All rows of the result, in ranges that are worked one after another by one thread. */
export function rangesOf(config: AttentionConfig): Range[] {
  const { batch, heads, kvHeads, tq } = sizesOf(config);
  const rows = batch * heads * tq;
  // The query heads of one key/value head lie side by side.
  const rowsOfHead = (heads / kvHeads) * tq;
  const wanted = rangeFlops / (flopsOf(config) / rows);
  const ranges: Range[] = [];
  let first = 0;
  for (let head = 0; head < rows; head += rowsOfHead) {
    const end = head + rowsOfHead;
    for (let block = head; block < end; block += rowBlock) {
      const last = Math.min(block + rowBlock, end);
      if (last - first < wanted && last < rows) continue;
      ranges.push([first, last]);
      first = last;
    }
  }
  return ranges;
}
