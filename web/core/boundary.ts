/** What a session and fused attention have in common: options, rows, masks and outcomes. */
import { AttentionError, type ErrorCode } from './errors.ts';
import type { Options, Outcome } from './generated/attention.mjs';
import type { AttentionConfig, Layout, SessionConfig, StageId } from './types.ts';

const sizeNames = ['batch', 'heads', 'kvHeads', 'tq', 'tk', 'dK', 'dV', 'dModel', 'past'] as const;

/** A handle that takes valid lengths. */
interface TakesLengths {
  lengths(count: number): Int32Array;
}

/** Puts the valid lengths, if there are any, where the next configuration finds them. */
export function writeLengths(handle: TakesLengths, { validLengths }: AttentionConfig): void {
  if (!validLengths) return;
  for (const length of validLengths) requireWhole('validLength', length);
  if (validLengths.length === 0) throw new AttentionError('sizeMismatch', 'validLengths', 0, 1);
  const view = handle.lengths(validLengths.length);
  if (view.length === 0) {
    throw new AttentionError('outOfMemory', 'validLengths', 4 * validLengths.length);
  }
  // Beyond a whole number of 32 bits there is no legal length; the core names the bound.
  view.set(validLengths.map((length) => Math.max(-1, Math.min(length, 2 ** 31 - 1))));
}

/** Sizes, constants and what else all configurations have; the other switches are off. */
export function optionsOf(config: AttentionConfig | SessionConfig): Options {
  const sizes = { batch: 1, heads: 1, kvHeads: 1, dModel: 0, past: 0, ...definedOnly(config) };
  for (const name of sizeNames) requireWhole(name, sizes[name]);
  return {
    batch: sizes.batch,
    heads: sizes.heads,
    kvHeads: sizes.kvHeads,
    tq: sizes.tq,
    tk: sizes.tk,
    dK: sizes.dK,
    dV: sizes.dV,
    dModel: sizes.dModel,
    past: sizes.past,
    fromX: false,
    context: false,
    outputProjection: false,
    masked: false,
    causal: config.causal ?? false,
    gradients: false,
    limited: config.validLengths !== undefined,
    hasScale: config.scale !== undefined,
    hasSoftcap: config.softcap !== undefined,
    scale: config.scale ?? 0,
    softcap: config.softcap ?? 0,
  };
}

/**
 * Copies rows `from` … `from + count` of every matrix, which has `rows` of them in the view. The
 * values are [batch, heads, count, cols], or [batch, count, heads · cols].
 */
export function setRows(
  view: Float32Array,
  values: ArrayLike<number>,
  place: { heads: number; from: number; count: number; rows: number; cols: number },
  layout: Layout = 'heads',
): void {
  const { heads, from, count, rows, cols } = place;
  if (layout === 'heads' && count === rows) {
    view.set(values);
    return;
  }
  const numbers = values instanceof Float32Array ? values : Float32Array.from(values);
  for (let at = 0; at < numbers.length; at += cols) {
    const [b, h, row] = placeOf(at, [heads, count, cols]);
    const source = layout === 'heads' ? at : ((b * count + row) * heads + h) * cols;
    view.set(numbers.subarray(source, source + cols), ((b * heads + h) * rows + from + row) * cols);
  }
}

/** How many numbers a mask of this shape has. */
export function cellsOf(shape: readonly number[]): number {
  for (const extent of shape) requireWhole('mask', extent);
  return shape.reduce((product, extent) => product * extent, 1);
}

export function requireWhole(name: string, size: number): void {
  if (!Number.isInteger(size)) throw new AttentionError('badSize', name, size, 0);
}

export function requireLength(stage: StageId, values: ArrayLike<unknown>, expected: number): void {
  if (values.length !== expected) {
    throw new AttentionError('wrongLength', stage, values.length, expected);
  }
}

/** The indices of a flat place, the first of them over axes of these extents. */
function placeOf(at: number, extents: readonly number[]): [number, number, number, number] {
  const place: number[] = [];
  let rest = at;
  for (const extent of extents.toReversed()) {
    place.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  place.unshift(rest);
  return place as [number, number, number, number];
}

/** Without the members that are present but undefined, so that defaults can take their place. */
function definedOnly<T extends object>(config: T): T {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}

export function throwUnlessOk({ code, subject, found, expected }: Outcome): void {
  if (code === 'ok') return;
  throw new AttentionError(code as ErrorCode, subject as string, found, expected);
}

/** Throws with the number as it was given: the core works with whole and float32 numbers. */
export function throwAsGiven(outcome: Outcome, config: object): void {
  const own = (config as Record<string, unknown>)[outcome.subject as string];
  throwUnlessOk(typeof own === 'number' ? { ...outcome, found: own } : outcome);
}

/** Throws with the place in the mask's own axes. */
export function throwBadMask(outcome: Outcome, shape: readonly number[]): void {
  if (outcome.code === 'badMask') {
    const place = placeOf(outcome.expected, shape.slice(1)).slice(0, shape.length);
    throw new AttentionError('badMask', 'mask', outcome.found, `[${place.join(', ')}]`);
  }
  throwUnlessOk(outcome);
}
