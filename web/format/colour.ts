/** Colour scales: how strongly a value tints its cell, and the legend of the same scale. */
import type { StageId } from '../core/types.ts';

export interface Scale {
  /** Signed scales run from −limit to limit about 0, shares from 0 to 1. */
  readonly kind: 'signed' | 'share';
  readonly limit: number;
}

export interface Tint {
  readonly sign: 'positive' | 'negative';
  /** 0 (the ground) to 1 (the end of the scale). */
  readonly strength: number;
}

/** Stages drawn on a signed scale; raw and later scores share the one made from the raw ones. */
export const signedStages: ReadonlySet<StageId> = new Set([
  'rawScores',
  'scaledScores',
  'cappedScores',
  'shifted',
]);

export const shareScale: Scale = { kind: 'share', limit: 1 };

/** The scale that covers all finite values of the given matrices. */
export function signedScale(matrices: readonly Float32Array[]): Scale {
  let limit = 0;
  for (const values of matrices) {
    // Millions of numbers: an iterator takes six times as long.
    for (let i = 0; i < values.length; i += 1) {
      const size = Math.abs(values[i] as number);
      if (size > limit && size < Infinity) limit = size;
    }
  }
  return { kind: 'signed', limit };
}

export function tint(value: number, scale: Scale): Tint {
  // An infinity lies on no scale; its text says what it is.
  if (!Number.isFinite(value) || scale.limit === 0) return { sign: 'positive', strength: 0 };
  const share = Math.max(-1, Math.min(1, value / scale.limit));
  return { sign: share < 0 ? 'negative' : 'positive', strength: Math.abs(share) };
}

/** Mid-tones that stand out on the light and on the dark ground. */
export const hues = { positive: [116, 88, 208], negative: [214, 109, 22] } as const;

/**
 * The colour of a value as the style sheet takes it; `most` is how opaque the end of the scale is,
 * less where a number stands on it. Literal, because a browser takes twenty times as long for a cell
 * whose colour is mixed from custom properties.
 */
export function colourOf(value: number, scale: Scale, most = 0.42): string {
  const { sign, strength } = tint(value, scale);
  return `rgb(${hues[sign].join(' ')} / ${(strength * most).toFixed(2)})`;
}
