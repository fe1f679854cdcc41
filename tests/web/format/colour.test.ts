/** Colour scales: zero is the ground, both signs alike, the ends from the data. */
import { expect, test } from 'vitest';
import { shareScale, signedScale, tint } from '../../../web/format/colour.ts';

test('a signed scale ends at the largest size among all its matrices', () => {
  expect(signedScale([Float32Array.of(1, -4), Float32Array.of(3)])).toEqual({
    kind: 'signed',
    limit: 4,
  });
  expect(signedScale([])).toEqual({ kind: 'signed', limit: 0 });
});

test('infinities and NaN do not stretch a scale', () => {
  expect(signedScale([Float32Array.of(-Infinity, NaN, 2, Infinity)]).limit).toBe(2);
});

test('zero is the ground, and nothing else is', () => {
  const scale = { kind: 'signed', limit: 4 } as const;
  expect(tint(0, scale).strength).toBe(0);
  expect(tint(-0, scale).strength).toBe(0);
  expect(tint(0.01, scale).strength).toBeGreaterThan(0);
  expect(tint(0, shareScale).strength).toBe(0);
});

test('a scale is linear and symmetric', () => {
  const scale = { kind: 'signed', limit: 4 } as const;
  expect(tint(4, scale)).toEqual({ sign: 'positive', strength: 1 });
  expect(tint(-4, scale)).toEqual({ sign: 'negative', strength: 1 });
  expect(tint(1, scale)).toEqual({ sign: 'positive', strength: 0.25 });
  expect(tint(-1, scale)).toEqual({ sign: 'negative', strength: 0.25 });
});

test('what lies beyond the ends is drawn as the end, and what is no number as the ground', () => {
  const scale = { kind: 'signed', limit: 4 } as const;
  expect(tint(5, scale)).toEqual({ sign: 'positive', strength: 1 });
  expect(tint(-5, scale)).toEqual({ sign: 'negative', strength: 1 });
  for (const value of [Infinity, -Infinity, NaN]) expect(tint(value, scale).strength).toBe(0);
});

test('a matrix of zeros is all ground', () => {
  expect(tint(0, signedScale([new Float32Array(4)])).strength).toBe(0);
});

test('shares are measured against the whole', () => {
  expect(tint(0.75, shareScale)).toEqual({ sign: 'positive', strength: 0.75 });
  expect(tint(1, shareScale).strength).toBe(1);
});
