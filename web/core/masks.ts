/** Masks, valid lengths and what is chosen by name, on their way into the core. */
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
  view.set(lengths.map((length) => Math.max(-(2 ** 31), Math.min(length, 2 ** 31 - 1))));
}

/**
 * Writes the numbers of a mask. A finite number that float32 has not becomes the nearest that it has:
 * as an infinity it would be refused, or hide its key.
 */
export function writeMask(to: Float32Array, values: ArrayLike<number | boolean>): void {
  for (let at = 0; at < values.length; at += 1) {
    const value = Number(values[at]);
    to[at] = Number.isFinite(value) ? Math.max(-largest, Math.min(value, largest)) : value;
  }
}

/** Of float32. */
const largest = (2 - 2 ** -23) * 2 ** 127;

const choices = { maskKind: ['float', 'boolean'], layout: ['heads', 'tokens'] } as const;

/** Not every caller has the types, which allow nothing else. */
export function requireChoice(subject: keyof typeof choices, found: string): void {
  const known: readonly string[] = choices[subject];
  if (!known.includes(found))
    throw new AttentionError('badChoice', subject, found, known.join(' or '));
}

/** How many numbers a mask of this shape has. */
export function cellsOf(shape: readonly number[]): number {
  for (const extent of shape) {
    requireWhole('maskExtent', extent);
    if (extent < 0) throw new AttentionError('badSize', 'maskExtent', extent, 0);
  }
  return shape.reduce((product, extent) => product * extent, 1);
}

/** A flat place in a mask of this shape, as `[0, 1]`. */
export function placeInMask(at: number, shape: readonly number[]): string {
  return `[${placeOf(at, shape.slice(1)).slice(0, shape.length).join(', ')}]`;
}
