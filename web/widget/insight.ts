/** What is said of the active cell: its explanation, its operands, its links. Loaded when first asked. */
import type { TemplateResult } from 'lit';
import type { CellRef, Session, StageId, StageInfo } from '../core/types.ts';
import { explainCell } from '../format/explain.ts';
import { fullPrecision } from '../format/number-text.ts';
import type { Store } from '../state/store.ts';
import { type InputId, isGiven, type Problem, type Shown, type State } from '../state/types.ts';
import type { Box } from '../view/heat-view.ts';
import { type InspectorProps, inspector } from '../view/inspector.ts';
import { cellKey, isWritten } from '../view/matrix.ts';
import { cellValue, placeOf } from '../view/shown.ts';
import { focusable } from './grid-keys.ts';
import { nextCell, originsOf, seesNoKey, tableOfReading, weightByHand } from './next-cell.ts';
import { overflowBehind } from './overflow.ts';

export interface InsightHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly store: Store;
  readonly table: ReadonlyMap<StageId, StageInfo>;
  readonly shown: Shown;
  /** Scrolls to it, calmly where the reader wants that. */
  reveal(target: HTMLElement, block: ScrollLogicalPosition): void;
}

export interface InsightProps extends Pick<InspectorProps, 'id' | 'onTools'> {
  readonly host: InsightHost;
  readonly cell: CellRef;
  readonly session: Session;
  readonly problem: Problem;
  readonly state: State;
  readonly shown: Shown;
  /** A text is being typed into a cell that Escape would take back. */
  readonly typed: boolean;
}

export interface Insight {
  /** Cells that go into the active one, by name, and their box in each stage. */
  readonly operands: ReadonlySet<string>;
  readonly boxes: ReadonlyMap<StageId, Box>;
  readonly panel: TemplateResult;
}

export function insight(props: InsightProps): Insight {
  const { host, cell, session, problem, state, shown, id, onTools } = props;
  const { table, store } = host;
  const { scale } = problem;
  const worked = session.terms(cell);
  const byHand = state.reading === 'hand' && cell.stage === 'weights';
  const terms = byHand ? weightByHand(worked, session) : worked;
  const operands = new Set<string>();
  const boxes = new Map<StageId, Box>();
  for (const term of terms.terms) {
    for (const { ref } of term.operands) {
      if (!ref) continue;
      // A sum over a group of heads has operands that are not on the page.
      const place = placeOf(session, table.get(ref.stage) as StageInfo, shown);
      if (ref.batch !== place.batch || ref.head !== place.head) continue;
      operands.add(cellKey(ref));
      const { row, col } = ref;
      const box = boxes.get(ref.stage) ?? { top: row, bottom: row, left: col, right: col };
      boxes.set(ref.stage, {
        top: Math.min(box.top, row),
        bottom: Math.max(box.bottom, row),
        left: Math.min(box.left, col),
        right: Math.max(box.right, col),
      });
    }
  }
  const explanation = explainCell(terms, {
    info: table.get(cell.stage) as StageInfo,
    labels: problem.names,
    format: state.format,
    dK: problem.sizes.dK,
    dV: problem.sizes.dV,
    heads: problem.sizes.heads,
    scale,
    overflow: overflowBehind(worked, session),
    noKey: seesNoKey(cell, session),
  });
  const panel = inspector({
    id,
    onTools,
    onGo: (to) => goToCell(host, to),
    onEdit: (at, text) => store.dispatch({ ...at, type: 'edit', stage: at.stage as InputId, text }),
    onRelease: (event) => letGo(host, event),
    cell,
    explanation,
    scale: scale === null ? null : fullPrecision(scale),
    pinned: cell === state.pinned,
    typed: props.typed,
    next: nextCell(cell, session, tableOfReading(table, state.reading), {
      format: state.format,
      scale,
    }),
    editable: isGiven(problem, cell.stage),
    edit: drawnCell(cell, session, state),
    from: originsOf(cell, boxes, scale),
  });
  return { operands, boxes, panel };
}

/** An input's cell that stands in a heat map is edited in the panel. */
function drawnCell(cell: CellRef, session: Session, state: State) {
  const { stage } = cell;
  if (!isGiven(state.problem, stage)) return null;
  // A click on a mask's cell paints it, so other numbers than 0 and −∞ are typed here too.
  if (isWritten(session.shape(stage)) && stage !== 'mask') return null;
  const draft = state.drafts[cellKey(cell)];
  const text = fullPrecision(cellValue(session, cell));
  return { text: draft?.text ?? text, message: draft?.message ?? '' };
}

/** Pins the cell that a link names and brings it into view, with the head that it belongs to. */
function goToCell(host: InsightHost, cell: CellRef): void {
  const { store, shown, table } = host;
  const { perHead } = table.get(cell.stage) as StageInfo;
  const head = perHead === 'heads' ? cell.head : shown.head;
  if (head !== shown.head) store.dispatch({ type: 'show', shown: { head } });
  store.dispatch({ type: 'pin', cell });
  const target = elementOf(host, cell);
  if (!target) return;
  target.focus({ preventScroll: true });
  host.reveal(target, 'center');
}

/** The panel's button and Escape in it; who came by the keyboard goes back to the cell. */
function letGo(host: InsightHost, event: Event): void {
  const { pinned } = host.store.state;
  host.store.dispatch({ type: 'pin', cell: null });
  const byKeyboard = event instanceof KeyboardEvent || (event as MouseEvent).detail === 0;
  if (pinned && byKeyboard) elementOf(host, pinned)?.focus();
}

/** What takes the focus for this cell: the first of its places on the page, or its heat map. */
export function elementOf(
  { renderRoot }: InsightHost,
  { stage, row, col }: CellRef,
): HTMLElement | null {
  const figure = `figure[data-stage="${stage}"]`;
  const cell = `${figure} td[data-row="${row}"][data-col="${col}"]`;
  const found = renderRoot.querySelector<HTMLElement>(`${cell}, ${figure} canvas`);
  return found && focusable(found);
}
