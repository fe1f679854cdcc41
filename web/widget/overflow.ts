/** Finds the number that was too large for float32 behind one that is no ordinary number. */
import type { CellRef, CellTerms, Session } from '../core/types.ts';

/** A number that passed the largest float32, and what it became. */
export interface Overflow {
  readonly cell: CellRef;
  readonly value: number;
}

/** Where ±∞ or NaN in a cell began, or null where it is finite or comes from a mask. */
export function overflowBehind(cell: CellTerms, session: Session): Overflow | null {
  if (Number.isFinite(cell.value) || cell.operation === 'given') return null;
  const operands = cell.terms.flatMap((term) => term.operands);
  const infinite = operands.filter(({ value }) => !Number.isFinite(value));
  if (infinite.length === 0) return { cell: cell.cell, value: cell.value };
  for (const { ref } of infinite) {
    const found = ref && overflowBehind(session.terms(ref), session);
    if (found) return found;
  }
  return null;
}
