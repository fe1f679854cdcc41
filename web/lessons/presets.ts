/** The examples that can be opened, as data: literal matrices and the names of their tokens. */
import type { ProblemParts } from '../state/types.ts';
import { exampleNames, type PresetId, presetIds, worked } from './examples.ts';

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
  worked: { parts: worked },
  second: {
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
    parts: { inputs: { x: [cat], ...grids }, names: { query: ['cat'], key: ['cat'] } },
  },
  catSat: {
    parts: {
      inputs: { x: [the, cat, sat], ...grids },
      names: { query: ['the', 'cat', 'sat'], key: ['the', 'cat', 'sat'] },
    },
  },
  layer: {
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
    parts: {
      inputs: {},
      seeds: { q: 1, k: 1, v: 1 },
      sizes: { tq: 4, tk: 4, dK: 4, dV: 3 },
    },
  },
  cross: {
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
} satisfies Record<PresetId, { readonly parts: ProblemParts }>;

/** `'1010'` as the row 1, 0, 1, 0. */
function digits(row: string): number[] {
  return Array.from(row, Number);
}

export { type PresetId, presetIds } from './examples.ts';

/** Every example: its name and its data. */
export const presets = Object.fromEntries(
  presetIds.map((id) => [id, { name: exampleNames[id], ...table[id] }]),
) as Readonly<Record<PresetId, { readonly name: string; readonly parts: ProblemParts }>>;
