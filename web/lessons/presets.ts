/** The examples that can be opened, as data: literal matrices and their names. */
import type { ProblemParts } from '../state/types.ts';

interface Preset {
  readonly name: string;
  readonly parts: ProblemParts;
}

/** The grids of the walkthrough: [4, 2], [4, 2] and [4, 3]. */
const grids = {
  wq: [
    [0.1, 0.4],
    [0.2, -0.1],
    [-0.3, 0.5],
    [0.6, 0.2],
  ],
  wk: [
    [-0.2, 0.3],
    [0.5, 0.1],
    [0.4, -0.2],
    [-0.1, 0.6],
  ],
  wv: [
    [0.3, -0.2, 0.5],
    [-0.1, 0.4, 0.2],
    [0.6, 0.1, -0.3],
    [0.2, -0.5, 0.4],
  ],
};
const the = [-1, 0, 1, -1];
const cat = [0.5, -0.3, 0.8, 0.2];
const sat = [1, 1, -2, 2];

const repeat = (width: number, at: (index: number) => number): number[] =>
  Array.from({ length: width }, (_, index) => at(index));

const table = {
  worked: {
    name: 'Worked example: 2 tokens',
    parts: {
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
    },
  },
  second: {
    name: 'Second example: 3 tokens, where every mistake shows',
    parts: {
      inputs: {
        q: [
          [2, 0, 2, 0],
          [0, 4, 0, 2],
          [1, 1, 0, 0],
        ],
        k: [
          [1, 0, 1, 0],
          [0, 1, 0, 0],
          [1, 0, 0, 1],
        ],
        v: [
          [1, 2],
          [3, 0],
          [0, 4],
        ],
      },
    },
  },
  exercise1: {
    name: 'Exercise 1: a score of 16 at width 64',
    parts: {
      inputs: {
        q: [repeat(64, () => 0.5)],
        k: [repeat(64, () => 0.5), repeat(64, (index) => (index % 2 === 0 ? 0.5 : -0.5))],
        v: [
          [1, 0],
          [0, 1],
        ],
      },
      names: { query: ['query'], key: ['key 0', 'key 1'] },
    },
  },
  exercise2: {
    name: 'Exercise 2: one query, two equal keys, scale 1/2',
    parts: {
      scale: 0.5,
      inputs: {
        q: [[1, 2]],
        k: [
          [2, 1],
          [0, 2],
        ],
        v: [
          [10, 0],
          [0, 20],
        ],
      },
      names: { query: ['query'], key: ['key 0', 'key 1'] },
    },
  },
  exercise3: {
    name: 'Exercise 3: every shape, 4 tokens of width 8',
    parts: {
      inputs: {
        x: [
          [1, 0, 2, 0, 0, 1, 0, -1],
          [0, 1, 0, -1, 2, 0, 1, 0],
          [2, 0, 0, 1, 0, -1, 0, 1],
          [0, -1, 1, 0, 1, 0, 2, 0],
        ],
        wq: [
          [1, 0, 0, 0],
          [0, 1, 0, 0],
          [0, 0, 1, 0],
          [0, 0, 0, 1],
          [0.5, 0, 0, 0],
          [0, 0.5, 0, 0],
          [0, 0, 0.5, 0],
          [0, 0, 0, 0.5],
        ],
        wk: [
          [0, 1, 0, 0],
          [1, 0, 0, 0],
          [0, 0, 0, 1],
          [0, 0, 1, 0],
          [0, 0.5, 0, 0],
          [0.5, 0, 0, 0],
          [0, 0, 0, 0.5],
          [0, 0, 0.5, 0],
        ],
        wv: [
          [1, 0, 0, 1],
          [0, 1, 1, 0],
          [1, 0, 0, 0],
          [0, 1, 0, 0],
          [0, 0, 1, 0],
          [0, 0, 0, 1],
          [1, 1, 0, 0],
          [0, 0, 1, 1],
        ],
        wo: [
          [1, 0, 0, 0, 1, 0, 0, 0],
          [0, 1, 0, 0, 0, 1, 0, 0],
          [0, 0, 1, 0, 0, 0, 1, 0],
          [0, 0, 0, 1, 0, 0, 0, 1],
        ],
      },
    },
  },
  cat: {
    name: '“cat” alone, through three grids',
    parts: { inputs: { x: [cat], ...grids }, names: { query: ['cat'], key: ['cat'] } },
  },
  catSat: {
    name: '“the cat sat” through the same grids',
    parts: {
      inputs: { x: [the, cat, sat], ...grids },
      names: { query: ['the', 'cat', 'sat'], key: ['the', 'cat', 'sat'] },
    },
  },
  layer: {
    name: 'A whole layer that gives the worked example, W_o included',
    parts: {
      inputs: {
        x: [
          [1, 0, 1, 0, 0, 0, 1, 0],
          [0, 1, 0, 0, 1, 0, 0, 1],
        ],
        wq: ['1010', '0201', '1000', '0000', '0100', '0000', '0010', '0101'].map(digits),
        wk: ['1000', '0100', '0010', '0000', '0000', '0000', '0000', '0000'].map(digits),
        wv: ['10', '10', '01', '00', '10', '00', '01', '10'].map(digits),
        wo: ['10001001', '01000110'].map(digits),
      },
    },
  },
  equal: {
    name: 'Equal scores: every key gets the same share',
    parts: {
      inputs: {
        q: [
          [1, 2, 0, 1],
          [3, 0, 1, 0],
          [0, 1, 1, 2],
        ],
        k: [
          [1, 1, 2, 0],
          [1, 1, 2, 0],
          [1, 1, 2, 0],
        ],
        v: [
          [3, 0],
          [0, 6],
          [0, 0],
        ],
      },
    },
  },
  saturated: {
    name: 'A saturated row: one key takes nearly all',
    parts: {
      inputs: {
        q: [
          [8, 8, 0, 0],
          [1, 0, 0, 0],
        ],
        k: [
          [4, 4, 0, 0],
          [0, 0, 4, 4],
          [-1, 0, 0, 1],
        ],
        v: [
          [1, 0],
          [0, 1],
          [5, 5],
        ],
      },
    },
  },
  zeroQuery: {
    name: 'A query of zeros listens to everybody',
    parts: {
      inputs: {
        q: [
          [0, 0, 0, 0],
          [2, 0, 2, 0],
          [0, 4, 0, 2],
        ],
        k: [
          [1, 0, 1, 0],
          [0, 1, 0, 0],
          [1, 0, 0, 1],
        ],
        v: [
          [1, 2],
          [3, 0],
          [2, 4],
        ],
      },
    },
  },
  heads: {
    name: 'Two query heads, one key/value head, causal',
    parts: {
      sizes: { heads: 2, kvHeads: 1 },
      causal: true,
      inputs: {
        x: [the, cat, sat],
        wq: grids.wq.map((row) => [...row, ...[...row].reverse()]),
        wk: grids.wk,
        wv: grids.wv.map((row) => row.slice(0, 2)),
        wo: ['1001', '0110', '1010', '0101'].map(digits),
      },
      names: { query: ['the', 'cat', 'sat'], key: ['the', 'cat', 'sat'] },
    },
  },
  random: {
    name: 'Random numbers from a seed',
    parts: {
      inputs: {},
      seeds: { q: 1, k: 1, v: 1 },
      sizes: { tq: 4, tk: 4, dK: 4, dV: 3 },
    },
  },
  cross: {
    name: 'Cross-attention: 2 queries read 3 other tokens',
    parts: {
      inputs: {
        x: [
          [1, 0.5, -0.5, 0],
          [0, 1, 0.5, -1],
        ],
        xContext: [the, cat, sat],
        ...grids,
      },
      names: { query: ['le', 'chat'], key: ['the', 'cat', 'sat'] },
    },
  },
} satisfies Record<string, Preset>;

/** `'1010'` as the row 1, 0, 1, 0. */
function digits(row: string): number[] {
  return Array.from(row, Number);
}

export type PresetId = keyof typeof table;
export const presets: Readonly<Record<PresetId, Preset>> = table;
export const presetIds = Object.keys(table) as PresetId[];
