/** Changes of a problem; every function returns a new one. */
import { inputShape, keysFollow, lastSize, lengthOf, matrixIndex, type Shaped } from './problem.ts';
import {
  type InputId,
  inputAxes,
  inputsOf,
  type Problem,
  type Shown,
  type SizeName,
  type Sizes,
} from './types.ts';

/** Sizes with T_k tied to T_q where K and V come from X. */
export function tiedSizes(
  problem: Pick<Problem, 'source' | 'context'>,
  wanted: Partial<Sizes>,
  sizes: Sizes,
): Sizes {
  const next = { ...sizes, ...wanted };
  return keysFollow(problem)
    ? { ...next, tk: wanted.tk ?? next.tq, tq: wanted.tk ?? next.tq }
    : next;
}

/** Keeps the numbers that still fit; new cells are 0. What a seed drew is drawn again. */
export function resized(problem: Problem, wanted: Partial<Sizes>): Problem {
  const sizes = tiedSizes(problem, wanted, problem.sizes);
  return completed(problem, { ...problem, sizes });
}

/** Turns masks, gradients and the causal rule on or off; a new input starts as its plainest. */
export function switched(
  problem: Problem,
  switches: Partial<Pick<Problem, 'masked' | 'causal' | 'gradients'>>,
): Problem {
  return completed(problem, { ...problem, ...switches });
}

/** As many numbers as the core's memory holds at most; the other stages need some of it, too. */
const mostCells = 2 ** 26;

/** `next` with all inputs that it has, from those of `problem` as far as they go. */
function completed(problem: Problem, next: Problem): Problem {
  const inputs: Partial<Record<InputId, Float32Array>> = {};
  for (const id of inputsOf(next)) {
    const from = problem.inputs[id];
    const dims = extents(id, problem);
    const toDims = extents(id, next);
    if (problem.seeds[id] !== undefined) {
      // In another shape the core draws it again: the same as a link to this shape gives.
      if (from && sameShape(dims, toDims)) inputs[id] = from;
      continue;
    }
    // Left out, as the core will refuse it: there may not even be an array of this length.
    if (lengthOf(id, next) > mostCells) continue;
    inputs[id] = from ? recut(from, dims, toDims) : new Float32Array(lengthOf(id, next));
    // The loss is the first number of the result. Of equal gradients everywhere, rows of V with
    // equal sums would leave nothing but rounding.
    if (!from && id === 'dOutput') inputs[id].fill(1, 0, 1);
  }
  return { ...next, inputs };
}

function extents(id: InputId, { outputProjection, sizes }: Shaped): number[] {
  const { matrices, rows, cols } = inputAxes(id, outputProjection);
  return [...matrices, ...rows, ...cols].map((name) => sizes[name]);
}

const sameShape = (dims: readonly number[], toDims: readonly number[]): boolean =>
  dims.every((size, axis) => size === toDims[axis]);

/** The block that both shapes have, in an array of the new one; the same array for the same shape. */
function recut(from: Float32Array, dims: readonly number[], toDims: readonly number[]) {
  if (sameShape(dims, toDims)) return from;
  const to = new Float32Array(toDims.reduce((count, size) => count * size, 1));
  const last = dims.length - 1;
  const copy = (axis: number, source: number, target: number): void => {
    const size = dims[axis] as number;
    const toSize = toDims[axis] as number;
    const shared = Math.min(size, toSize);
    if (axis === last) {
      to.set(from.subarray(source * size, source * size + shared), target * toSize);
      return;
    }
    for (let i = 0; i < shared; ++i) copy(axis + 1, source * size + i, target * toSize + i);
  };
  copy(0, 0, 0);
  return to;
}

/** Puts another matrix in the place of one of an input's; sizes that it brings change the others. */
export function withMatrix(
  problem: Problem,
  id: InputId,
  rows: number,
  cols: number,
  values: Float32Array,
  shown: Shown = { batch: 0, head: 0 },
): Problem {
  const { rows: down, cols: across } = inputAxes(id, problem.outputProjection);
  // Drawn again, its other matrices would lose their numbers.
  const { [id]: _drawn, ...seeds } = problem.seeds;
  // Only these two: T_k, named as it was, would hold T_q back where it follows.
  const fitted = resized(
    { ...problem, seeds },
    {
      [down.at(-1) as SizeName]: lastSize(down, rows, problem.sizes) ?? 0,
      [across.at(-1) as SizeName]: lastSize(across, cols, problem.sizes) ?? 0,
    },
  );
  const { [id]: old, ...inputs } = fitted.inputs;
  const next = old?.slice() ?? new Float32Array(lengthOf(id, fitted));
  next.set(values, matrixIndex(id, fitted, shown) * rows * cols);
  return { ...fitted, inputs: { ...inputs, [id]: next } };
}

/** What an input can be filled with; a seed draws from N(0, 1), which only the core does. */
export type Fill = 'zeros' | 'ones' | 'identity' | { readonly seed: number };

export function filled(problem: Problem, id: InputId, fill: Fill): Problem {
  const { [id]: _old, ...inputs } = problem.inputs;
  const { [id]: _drawn, ...seeds } = problem.seeds;
  if (typeof fill === 'object') return { ...problem, inputs, seeds: { ...seeds, [id]: fill.seed } };
  const { matrices, rows, cols } = inputShape(id, problem);
  const values = new Float32Array(lengthOf(id, problem));
  if (fill === 'ones') values.fill(1);
  if (fill === 'identity') {
    for (let matrix = 0; matrix < matrices; ++matrix) {
      for (let i = 0; i < Math.min(rows, cols); ++i) values[(matrix * rows + i) * cols + i] = 1;
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
