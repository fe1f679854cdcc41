/** Reads tests/vectors: one computation a file, with the results it must have. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Mask, SessionConfig, StageId } from '../../../web/core/index.ts';

type Text = number | 'Infinity' | '-Infinity' | 'NaN';

interface Expected {
  readonly shape: readonly [number, number, number, number];
  readonly eps: { readonly absolute: number; readonly relative: number };
  readonly data: readonly Text[];
}

export interface Vector {
  readonly name: string;
  readonly config: SessionConfig;
  readonly inputs: Readonly<Partial<Record<StageId, readonly Text[]>>>;
  readonly mask?: Pick<Mask, 'kind' | 'shape'> & { readonly values: readonly Text[] };
  readonly past?: Readonly<Record<'presentKey' | 'presentValue', readonly number[]>>;
  readonly expected: Readonly<Partial<Record<StageId, Expected>>>;
}

const folder = new URL('../../vectors/', import.meta.url);

export const vectors: readonly Vector[] = readdirSync(folder)
  .filter((file) => file.endsWith('.json') && file !== 'schema.json')
  .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

/** k·eps·magnitude as the README of the vectors derives it; one subnormal step always is allowed. */
function tolerance({ eps }: Expected, value: number): number {
  return 2 ** -23 * (eps.absolute + eps.relative * Math.abs(value)) + 2 ** -149;
}

/** What is wrong with a stage, or an empty text. */
export function difference(stage: string, found: Float32Array, expected: Expected): string {
  if (found.length !== expected.data.length) {
    return `${stage} has ${found.length} cells, not ${expected.data.length}`;
  }
  let worst = -1;
  let worstExcess = 1;
  for (const [i, cell] of expected.data.entries()) {
    const right = Number(cell);
    const value = found[i] as number;
    if (Object.is(value, right) || value === right) continue;
    const excess = Math.abs(value - right) / tolerance(expected, right);
    // Written so that NaN is the worst of all.
    if (excess <= worstExcess) continue;
    worst = i;
    worstExcess = Number.isNaN(excess) ? Number.POSITIVE_INFINITY : excess;
  }
  if (worst < 0) return '';
  const first = expected.data.slice(0, 4).map((cell, i) => `${found[i]} (${cell})`);
  return `${stage} at ${worst}: ${found[worst]} instead of ${expected.data[worst]}, ${worstExcess} times what is allowed; first values ${first.join(', ')}`;
}
