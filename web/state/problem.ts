/** Makes problems and changes their sizes; every function returns a new problem. */
import {
  type InputId,
  inputAxes,
  inputsOf,
  type Problem,
  type ProblemParts,
  type Rows,
  type SizeName,
  type Sizes,
} from './types.ts';

/** Builds a problem from literal rows; sizes and switches follow from the matrices that are there. */
export function problemFrom(parts: ProblemParts): Problem {
  const { inputs } = parts;
  const sizes: Record<SizeName, number> = { tq: 0, tk: 0, dModel: 0, dK: 0, dV: 0, ...parts.sizes };
  for (const [id, rows] of Object.entries(inputs) as [InputId, Rows][]) {
    const [rowSize, colSize] = inputAxes[id];
    sizes[rowSize] = rows.length;
    sizes[colSize] = rows[0]?.length ?? 0;
  }
  const source = parts.source ?? (inputs.x ? 'x' : 'qkv');
  const context = inputs.xContext !== undefined;
  if (source === 'x' && !context) sizes.tk = sizes.tq;
  return {
    source,
    context,
    outputProjection: inputs.wo !== undefined,
    scale: parts.scale ?? null,
    sizes,
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([id, rows]) => [id, Float32Array.from((rows as Rows).flat())]),
    ),
    seeds: parts.seeds ?? {},
    names: parts.names ?? {},
  };
}

export const lengthOf = (id: InputId, sizes: Sizes): number =>
  sizes[inputAxes[id][0]] * sizes[inputAxes[id][1]];

/** Sizes with T_k tied to T_q where K and V come from X. */
export function tiedSizes(
  problem: Pick<Problem, 'source' | 'context'>,
  wanted: Partial<Sizes>,
  sizes: Sizes,
): Sizes {
  const next = { ...sizes, ...wanted };
  const tied = problem.source === 'x' && !problem.context;
  return tied ? { ...next, tk: wanted.tk ?? next.tq, tq: wanted.tk ?? next.tq } : next;
}

/** Keeps the numbers that still fit; new cells are 0. */
export function resized(problem: Problem, wanted: Partial<Sizes>): Problem {
  const sizes = tiedSizes(problem, wanted, problem.sizes);
  const inputs: Partial<Record<InputId, Float32Array>> = {};
  for (const id of inputsOf(problem)) {
    const [rowSize, colSize] = inputAxes[id];
    const from = problem.inputs[id];
    // What the core has not drawn yet is drawn in its new size.
    if (!from && problem.seeds[id] !== undefined) continue;
    inputs[id] = from
      ? recut(from, problem.sizes[rowSize], problem.sizes[colSize], sizes[rowSize], sizes[colSize])
      : new Float32Array(lengthOf(id, sizes));
  }
  const seeds = { ...problem.seeds };
  for (const id of inputsOf(problem)) if (inputs[id] !== problem.inputs[id]) delete seeds[id];
  return { ...problem, sizes, inputs, seeds };
}

function recut(from: Float32Array, rows: number, cols: number, toRows: number, toCols: number) {
  if (rows === toRows && cols === toCols) return from;
  const to = new Float32Array(toRows * toCols);
  const width = Math.min(cols, toCols);
  for (let row = 0; row < Math.min(rows, toRows); ++row) {
    to.set(from.subarray(row * cols, row * cols + width), row * toCols);
  }
  return to;
}

/** Puts another matrix in the place of one input; sizes that it brings change the others. */
export function withMatrix(
  problem: Problem,
  id: InputId,
  rows: number,
  cols: number,
  values: Float32Array,
): Problem {
  const [rowSize, colSize] = inputAxes[id];
  const wanted: Partial<Record<SizeName, number>> = { [rowSize]: rows };
  wanted[colSize] = cols;
  const fitted = resized(problem, wanted);
  const { [id]: _old, ...seeds } = fitted.seeds;
  return { ...fitted, inputs: { ...fitted.inputs, [id]: values }, seeds };
}

/** What an input can be filled with; a seed draws from N(0, 1), which only the core does. */
export type Fill = 'zeros' | 'ones' | 'identity' | { readonly seed: number };

export function filled(problem: Problem, id: InputId, fill: Fill): Problem {
  const { [id]: _old, ...inputs } = problem.inputs;
  const { [id]: _drawn, ...seeds } = problem.seeds;
  if (typeof fill === 'object') return { ...problem, inputs, seeds: { ...seeds, [id]: fill.seed } };
  const cols = problem.sizes[inputAxes[id][1]];
  const values = new Float32Array(lengthOf(id, problem.sizes));
  if (fill === 'ones') values.fill(1);
  if (fill === 'identity') {
    for (let index = 0, row = 0; index < values.length && row < cols; index += cols + 1, ++row) {
      values[index] = 1;
    }
  }
  return { ...problem, inputs: { ...inputs, [id]: values }, seeds };
}

/** The next seed for everything that was drawn. */
export function reseeded(problem: Problem): Problem {
  const inputs = { ...problem.inputs };
  const seeds: Partial<Record<InputId, number>> = {};
  for (const id of inputsOf(problem)) {
    const seed = problem.seeds[id];
    if (seed === undefined) continue;
    delete inputs[id];
    seeds[id] = (seed + 1) % 2 ** 32;
  }
  return { ...problem, inputs, seeds };
}

/** Sizes that a matrix of this shape would change, each with who else has that size. */
export function sizeConflicts(
  problem: Problem,
  id: InputId,
  rows: number,
  cols: number,
): { size: SizeName; found: number; expected: number; shared: InputId[] }[] {
  const [rowSize, colSize] = inputAxes[id];
  const tied = problem.source === 'x' && !problem.context;
  return (
    [
      [rowSize, rows],
      [colSize, cols],
    ] as const
  )
    .filter(([size, found]) => problem.sizes[size] !== found)
    .map(([size, found]) => ({
      size,
      found,
      expected: problem.sizes[size],
      shared: inputsOf(problem).filter(
        (other) =>
          other !== id &&
          inputAxes[other].some(
            (axis) => axis === size || (tied && axis === 'tk' && size === 'tq'),
          ),
      ),
    }));
}
