/** Moves between cells by the arrow keys, within a matrix and from one matrix to the next. */

export interface CellPlace {
  readonly place: string;
  readonly row: number;
  readonly col: number;
}

/** The cell that an element in the grid belongs to. */
export function cellOf(target: EventTarget | null): HTMLTableCellElement | null {
  return target instanceof Element ? target.closest<HTMLTableCellElement>('td[data-row]') : null;
}

/** What of a cell takes the focus: its input, or the cell. */
export const focusable = (cell: HTMLElement): HTMLElement => cell.querySelector('input') ?? cell;

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

export const isArrow = (key: string): boolean => key in steps;

/** The cell that an arrow key leads to, or null at the outer edge. */
export function neighbour(
  root: ParentNode,
  from: HTMLTableCellElement,
  key: string,
): HTMLTableCellElement | null {
  const step = steps[key];
  const figure = from.closest('figure');
  if (!step || !figure) return null;
  const row = Number(from.dataset.row);
  const col = Number(from.dataset.col);
  const inside = cellAt(figure, row + step[0], col + step[1]);
  if (inside) return inside;
  const figures = [...root.querySelectorAll('figure')];
  const forward = step[0] + step[1] > 0;
  const next = figures[figures.indexOf(figure) + (forward ? 1 : -1)];
  if (!next) return null;
  const last = [...next.querySelectorAll<HTMLTableCellElement>('td[data-row]')].at(-1);
  if (!last) return null;
  const lastRow = Number(last.dataset.row);
  const lastCol = Number(last.dataset.col);
  return step[0] === 0
    ? cellAt(next, Math.min(row, lastRow), forward ? 0 : lastCol)
    : cellAt(next, forward ? 0 : lastRow, Math.min(col, lastCol));
}

/** The cell of the same matrix that comes next in reading order, or before; null beyond its ends. */
export function inReadingOrder(
  from: HTMLTableCellElement,
  step: 1 | -1,
): HTMLTableCellElement | null {
  const cells = [
    ...(from.closest('table')?.querySelectorAll<HTMLTableCellElement>('td[data-row]') ?? []),
  ];
  return cells[cells.indexOf(from) + step] ?? null;
}

const cellAt = (figure: Element, row: number, col: number): HTMLTableCellElement | null =>
  figure.querySelector(`td[data-row="${row}"][data-col="${col}"]`);
