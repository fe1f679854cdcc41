/** How large a problem the page takes: as many rows and columns as its heat maps are drawn with. */
import { extent, type SizeName, type Sizes, sizeNames } from './types.ts';

/** Rows or columns of a matrix, batches and heads; a canvas of so many pixels is drawn by any browser. */
export const mostIndices = 1024;

export const sizeSymbols: Readonly<Record<SizeName, string>> = {
  tq: 'T_q',
  tk: 'T_k',
  dModel: 'd_model',
  dK: 'd_k',
  dV: 'd_v',
  batch: 'B',
  heads: 'H',
  kvHeads: 'G',
};

/** Every count of indices along a side of a matrix; a projection has those of all heads side by side. */
const counts: readonly (readonly SizeName[])[] = [
  ...sizeNames.map((name) => [name]),
  ['heads', 'dK'],
  ['heads', 'dV'],
  ['kvHeads', 'dK'],
  ['kvHeads', 'dV'],
];

/** What of these sizes passes the limit, in a sentence; empty when nothing does. */
export function beyondLimit(sizes: Sizes): string {
  const over = counts.find((names) => extent(names, sizes) > mostIndices);
  if (!over) return '';
  const name = over.map((size) => sizeSymbols[size]).join('·');
  return `${name} is ${extent(over, sizes)}, but at most ${mostIndices} was expected: the page draws no larger matrix.`;
}
