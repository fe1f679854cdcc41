/** The examples by name, and the one that everybody sees first; the others are fetched when opened. */
import type { ProblemParts } from '../state/types.ts';

export const exampleNames = {
  worked: 'Worked example: 2 tokens',
  second: 'Second example: 3 tokens, where every mistake shows',
  exercise1: 'Exercise 1: a score of 16 at width 64',
  exercise2: 'Exercise 2: one query, two equal keys, scale 1/2',
  exercise3: 'Exercise 3: every shape, 4 tokens of width 8',
  cat: '“cat” alone, through three grids',
  catSat: '“the cat sat” through the same grids',
  layer: 'A whole layer that gives the worked example, W_o included',
  equal: 'Equal scores: every key gets the same share',
  saturated: 'A saturated row: one key takes nearly all',
  zeroQuery: 'A query of zeros listens to everybody',
  heads: 'Two query heads, one key/value head, causal',
  random: 'Random numbers from a seed',
  cross: 'Cross-attention: 2 queries read 3 other tokens',
} as const;

export type PresetId = keyof typeof exampleNames;
export const presetIds = Object.keys(exampleNames) as PresetId[];

export const worked: ProblemParts = {
  inputs: {
    q: [
      [2, 0, 2, 0],
      [0, 4, 0, 2],
    ],
    k: [
      [1, 0, 1, 0],
      [0, 1, 0, 0],
    ],
    v: [
      [1, 2],
      [3, 0],
    ],
  },
};
