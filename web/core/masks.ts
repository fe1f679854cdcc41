/** Masks and valid lengths on their way into the core. */
import { placeOf, requireWhole } from './boundary.ts';
import { AttentionError } from './errors.ts';
import type { AttentionConfig } from './types.ts';

/**
 * Puts the valid lengths where the next configuration finds them: `make` has room made for so many.
 * Also without any, as those of a configuration that was refused must not stay.
 */
export function writeLengths(
  make: (count: number) => Int32Array,
  { validLengths: lengths }: AttentionConfig,
): void {
  for (const length of lengths ?? []) requireWhole('validLength', length);
  if (lengths?.length === 0) throw new AttentionError('sizeMismatch', 'validLengths', 0, 1);
  const view = make(lengths?.length ?? 0);
  if (!lengths) return;
  if (view.length === 0)
    throw new AttentionError('outOfMemory', 'validLengths', 4 * lengths.length);
  // Beyond a whole number of 32 bits there is no legal length; the core names the bound.
  view.set(lengths.map((length) => Math.max(-1, Math.min(length, 2 ** 31 - 1))));
}

/** How many numbers a mask of this shape has. */
export function cellsOf(shape: readonly number[]): number {
  for (const extent of shape) requireWhole('mask', extent);
  return shape.reduce((product, extent) => product * extent, 1);
}

/** A flat place in a mask of this shape, as `[0, 1]`. */
export function placeInMask(at: number, shape: readonly number[]): string {
  return `[${placeOf(at, shape.slice(1)).slice(0, shape.length).join(', ')}]`;
}
