/** Makes problems, and knows the shapes of their inputs. */
import {
  extent,
  type InputId,
  inputAxes,
  type Problem,
  type ProblemParts,
  type Rows,
  type Shown,
  type SizeName,
  type Sizes,
} from './types.ts';

/** Builds a problem from literal rows; sizes and switches follow from the matrices that are there. */
export function problemFrom(parts: ProblemParts): Problem {
  const { inputs } = parts;
  const sizes: Record<SizeName, number> = {
    ...{ batch: 1, heads: 1, kvHeads: 1, tq: 0, tk: 0, dModel: 0, dK: 0, dV: 0 },
    ...parts.sizes,
  };
  const outputProjection = inputs.wo !== undefined;
  for (const [id, rows] of Object.entries(inputs) as [InputId, Rows][]) {
    const { rows: down, cols: across } = inputAxes(id, outputProjection);
    setLast(sizes, down, rows.length);
    setLast(sizes, across, rows[0]?.length ?? 0);
  }
  const source = parts.source ?? (inputs.x ? 'x' : 'qkv');
  const context = inputs.xContext !== undefined;
  if (keysFollow({ source, context })) sizes.tk = sizes.tq;
  return {
    source,
    context,
    outputProjection,
    scale: parts.scale ?? null,
    softcap: parts.softcap ?? null,
    masked: inputs.mask !== undefined,
    causal: parts.causal ?? false,
    gradients: false,
    sizes,
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([id, rows]) => [id, Float32Array.from((rows as Rows).flat())]),
    ),
    seeds: parts.seeds ?? {},
    names: parts.names ?? {},
  };
}

/** The size of the last axis, when all of them together count `count`; null where that is none. */
export function lastSize(names: readonly SizeName[], count: number, sizes: Sizes): number | null {
  const others = extent(names.slice(0, -1), sizes);
  return others > 0 && count % others === 0 ? count / others : null;
}

function setLast(sizes: Record<SizeName, number>, names: readonly SizeName[], count: number): void {
  const name = names.at(-1) as SizeName;
  sizes[name] = lastSize(names, count, sizes) ?? 0;
}

export type Shaped = Pick<Problem, 'outputProjection' | 'sizes'>;

/** Rows and columns of one matrix of an input, and how many such matrices there are. */
export function inputShape(id: InputId, { outputProjection, sizes }: Shaped) {
  const { matrices, rows, cols } = inputAxes(id, outputProjection);
  return {
    matrices: extent(matrices, sizes),
    rows: extent(rows, sizes),
    cols: extent(cols, sizes),
  };
}

export function lengthOf(id: InputId, problem: Shaped): number {
  const { matrices, rows, cols } = inputShape(id, problem);
  return matrices * rows * cols;
}

/** Which of an input's matrices belongs to a batch and one of its own heads. */
export function matrixIndex(
  id: InputId,
  { outputProjection, sizes }: Shaped,
  { batch, head }: Shown,
): number {
  const { matrices } = inputAxes(id, outputProjection);
  const heads = matrices[1];
  if (!heads) return matrices.length === 0 ? 0 : batch;
  return batch * sizes[heads] + head;
}

/** With X and no xContext there are as many keys as queries. */
export const keysFollow = ({ source, context }: Pick<Problem, 'source' | 'context'>): boolean =>
  source === 'x' && !context;
