/** What a matrix of another shape would do to the sizes, and who else has them. */
import { inputShape, keysFollow, lastSize } from './problem.ts';
import { type InputId, inputAxes, inputsOf, type Problem, type SizeName } from './types.ts';

export interface SizeConflict {
  readonly size: SizeName;
  readonly along: 'rows' | 'columns';
  readonly found: number;
  readonly expected: number;
  /** The size that would fit, null where none does. */
  readonly wanted: number | null;
  /** The other inputs that have this size. */
  readonly shared: readonly InputId[];
}

/** Sizes that a matrix of this shape would change, each with who else has that size. */
export function sizeConflicts(
  problem: Problem,
  id: InputId,
  rows: number,
  cols: number,
): SizeConflict[] {
  const own = inputAxes(id, problem.outputProjection);
  const shape = inputShape(id, problem);
  const conflict = (
    along: SizeConflict['along'],
    names: readonly SizeName[],
    found: number,
    expected: number,
  ): SizeConflict => {
    const size = names.at(-1) as SizeName;
    const shared = inputsOf(problem).filter((other) => {
      const { matrices, rows, cols } = inputAxes(other, problem.outputProjection);
      return other !== id && [...matrices, ...rows, ...cols].includes(size);
    });
    return { size, along, found, expected, wanted: lastSize(names, found, problem.sizes), shared };
  };
  const columns = conflict('columns', own.cols, cols, shape.cols);
  // Where T_k follows T_q, only a square mask fits.
  const square = keysFollow(problem) && id === 'mask' && rows !== cols;
  return [
    conflict('rows', own.rows, rows, shape.rows),
    square ? { ...columns, expected: rows, wanted: null } : columns,
  ].filter(({ found, expected }) => found !== expected);
}
