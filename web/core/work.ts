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
  | { readonly type: 'start'; readonly compiled: object }
  | {
      readonly type: 'job';
      readonly job: number;
      readonly config: AttentionConfig;
      readonly inputs: AttentionInputs;
    }
  | { readonly type: 'rows'; readonly job: number; readonly range: Range };

/** Every message to a worker gets one answer. */
export type FromWorker =
  | { readonly type: 'ready' }
  /** The inputs are in the worker's memory; what they came in is given back. */
  | { readonly type: 'taken'; readonly job: number; readonly buffers: readonly ArrayBuffer[] }
  | {
      readonly type: 'rows';
      readonly job: number;
      readonly range: Range;
      /** Those rows of the result, d_v numbers each. */
      readonly values: Float32Array<ArrayBuffer>;
    }
  /** Asked for rows of a job that failed, or after which another came. */
  | { readonly type: 'skipped'; readonly job: number }
  | { readonly type: 'failed'; readonly job: number; readonly failure: Failure };

/** Rows first <= row < last of batch · heads · T_q. */
export type Range = readonly [first: number, last: number];

/** Ranges that begin and end at multiples of this within a key/value head have the bits of a whole run. */
const rowBlock = 64;
/** A piece takes about half a millisecond, so that no thread waits long for the last one. */
const pieceFlops = 16e6;
/** A range takes up to about 12 ms: twice so long an aborted job may still keep a worker. */
const rangeFlops = 512e6;

/** What a score takes besides its products, in flops of the same time: its exponential, and a softcap. */
const flopsOfExponential = 20;
const flopsOfSoftcap = 350;

/** Two flops for each product in Q·Kᵀ and in A·V, and what every score takes besides. */
export function flopsOf(config: AttentionConfig): number {
  const { batch, heads, tq, tk, dK, dV } = sizesOf(config);
  const besides = flopsOfExponential + (config.softcap === undefined ? 0 : flopsOfSoftcap);
  return batch * heads * tq * tk * (2 * (dK + dV) + besides);
}

/** No arena holds Q, keys or values of more rows. */
const mostRows = 2 ** 26;

/** Whether the sizes can be cut into ranges; what else may be wrong with a configuration, a worker says. */
export function isDivisible(config: AttentionConfig): boolean {
  const { batch, heads, kvHeads, tq, tk, dK, dV } = sizesOf(config);
  const rows = batch * heads * tq;
  return (
    Math.min(batch, heads, kvHeads, tq, tk, dV) > 0 &&
    dK >= 0 &&
    heads % kvHeads === 0 &&
    rows <= mostRows
  );
}

/** The memory behind inputs that are float32 arrays. */
export const buffersOf = (inputs: AttentionInputs): ArrayBuffer[] =>
  Object.values(inputs).flatMap((value) =>
    value instanceof Float32Array ? [value.buffer as ArrayBuffer] : [],
  );

/** All rows of the result in their smallest pieces; neighbours can be worked as one range. */
export function piecesOf(config: AttentionConfig): Range[] {
  const { batch, heads, kvHeads, tq } = sizesOf(config);
  const rows = batch * heads * tq;
  // The query heads of one key/value head lie side by side.
  const rowsOfHead = (heads / kvHeads) * tq;
  const wanted = pieceFlops / (flopsOf(config) / rows);
  const pieces: Range[] = [];
  let first = 0;
  for (let head = 0; head < rows; head += rowsOfHead) {
    const end = head + rowsOfHead;
    for (let block = head; block < end; block += rowBlock) {
      const last = Math.min(block + rowBlock, end);
      if (last - first < wanted && last < rows) continue;
      pieces.push([first, last]);
      first = last;
    }
  }
  return pieces;
}

/**
 * The pieces as ranges in the order in which so many workers are to take them. Each turn gives every
 * worker the same part of three quarters of what is left: messages are few, which matters most where
 * workers and the calling thread share two processors, and the last ranges are small, so that all end
 * at about the same time (factoring, Hummel, Schonberg and Flynn 1992).
 */
export function rangesOf(
  config: AttentionConfig,
  pieces: readonly Range[],
  workers: number,
): Range[] {
  const most = Math.floor((rangeFlops * pieces.length) / flopsOf(config));
  const ranges: Range[] = [];
  let next = 0;
  while (next < pieces.length) {
    const part = Math.floor((0.75 * (pieces.length - next)) / workers);
    const count = Math.max(1, Math.min(most, part));
    for (let worker = 0; worker < workers; worker += 1) {
      const taken = pieces.slice(next, next + count);
      const [first, last] = [taken[0], taken.at(-1)];
      if (first && last) ranges.push([first[0], last[1]]);
      next += taken.length;
    }
  }
  return ranges;
}
