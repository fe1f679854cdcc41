/** The reader's hands on the matrices: pointing, focus, arrow keys, typing, pinning. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { CellRef, ForwardSession, StageId } from '../core/types.ts';
import { fullPrecision } from '../format/number-text.ts';
import { indexPhrase } from '../format/stage-text.ts';
import { parseNumber } from '../io/expression.ts';
import { inputShape, matrixIndex } from '../state/problem.ts';
import type { Store } from '../state/store.ts';
import { draftKey, type InputId, inputIds, isGiven, type Problem } from '../state/types.ts';
import { cellOf, focusable, inReadingOrder, isArrow, neighbour } from './grid-keys.ts';

export interface GridHost extends ReactiveControllerHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly store: Store;
  readonly session: ForwardSession | null;
  /** A text with more than one number was pasted into a cell of this input. */
  offerMatrix(stage: InputId, text: string): void;
  /** Tells those who hear the page what was done. */
  say(text: string): void;
  /** Puts the focus on the first link of the explanation. */
  goToPanel(): void;
}

interface Typing {
  readonly cell: HTMLTableCellElement;
  readonly input: HTMLInputElement;
  readonly place: string;
  readonly key: string;
  /** The text of the number that Escape brings back. */
  original: string;
  /** The text as it is now. */
  text: string;
  /** The number in the state, as it was when the field showed it or took it. */
  value: number;
  /** What stood in the field before. */
  readonly rounded: string;
  /** Something was typed that Enter or Tab is still to take. */
  pending: boolean;
  /** The problem that what is being typed has led to, if it has led to one. */
  problem: Problem | null;
}

export class GridController implements ReactiveController {
  hovered: CellRef | null = null;
  focused: CellRef | null = null;
  /** The cell whose text is being typed. */
  editing: Typing | null = null;
  /** The cell of each matrix that Tab reaches. */
  readonly stops = new Map<string, string>();

  /** Between a press on a cell and its click. */
  #pressed = false;
  /** While an arrow key moves the focus: a pin goes along. Tab passes by and leaves it. */
  #moving = false;
  readonly #host: GridHost;
  readonly #untouched: WeakMap<HTMLInputElement, string>;

  /** `untouched`: fields that got the focus before this was there, with their text at that time. */
  constructor(host: GridHost, untouched: WeakMap<HTMLInputElement, string>) {
    this.#host = host;
    this.#untouched = untouched;
    host.addController(this);
    host.renderRoot.addEventListener('focusout', this.#onPanelFocusOut);
    // Before the button that is clicked, which may pin another cell.
    host.renderRoot.addEventListener('click', this.#onPanelClick, true);
  }

  hostDisconnected(): void {
    this.hovered = null;
    this.focused = null;
    this.editing = null;
  }

  /** A number that comes from elsewhere, with Back for one, takes the place of one not typed here. */
  hostUpdated(): void {
    const { editing } = this;
    if (!editing || editing.pending || !editing.input.isConnected) return;
    const { cell, input, value } = editing;
    const { problem } = this.#host.store.state;
    if (!Object.is(givenValue(problem, refOf(cell)), value)) this.#beginTyping(cell, input);
  }

  /** Any event of the matrices that means something to the reader's hands. */
  handle(event: Event): void {
    this.#handlers[event.type]?.(event as never);
  }

  /** Whether Escape would take back what was typed. */
  get typed(): boolean {
    return this.editing !== null && this.editing.text !== this.editing.original;
  }

  readonly pin = (cell: CellRef): void => {
    this.#host.store.dispatch({ type: 'pin', cell });
  };

  /** Enter pins a cell; on the pinned one it goes on to what is said of it. */
  readonly enter = (cell: CellRef): void => {
    const { pinned } = this.#host.store.state;
    if (pinned && keyOf(pinned) === keyOf(cell)) this.#host.goToPanel();
    else this.pin(cell);
  };

  readonly release = (): void => {
    this.#host.store.dispatch({ type: 'pin', cell: null });
    this.#host.requestUpdate();
  };

  /** For cells that are no elements: those of a heat map. */
  readonly hover = (cell: CellRef): void => {
    this.hovered = cell;
    this.#host.requestUpdate();
  };

  readonly focus = (cell: CellRef, place: string): void => {
    this.focused = cell;
    this.stops.set(place, `${cell.row} ${cell.col}`);
    this.hovered = null;
    if (this.#host.store.state.pinned?.stage === cell.stage) this.pin(cell);
    this.#host.requestUpdate();
  };

  /** Only a pointer that moves points at something, not a page that scrolls under it. */
  readonly #onPointerMove = (event: PointerEvent): void => {
    if (event.pointerType === 'touch' || event.target instanceof HTMLCanvasElement) return;
    const cell = cellOf(event.target);
    const ref = cell && refOf(cell);
    if (same(ref, this.hovered)) return;
    this.hovered = ref;
    this.#host.requestUpdate();
  };

  readonly #onPointerLeave = (): void => {
    this.hovered = null;
    this.#host.requestUpdate();
  };

  readonly #onPointerDown = (event: PointerEvent): void => {
    this.#pressed = cellOf(event.target) !== null;
  };

  readonly #onPointerCancel = (): void => {
    this.#pressed = false;
  };

  readonly #onFocusIn = (event: FocusEvent): void => {
    const cell = cellOf(event.target);
    if (!cell) return;
    this.focused = refOf(cell);
    this.stops.set(placeOf(cell), `${cell.dataset.row} ${cell.dataset.col}`);
    if (event.target instanceof HTMLInputElement) this.#beginTyping(cell, event.target);
    // A panel that came up now would lie under the finger and get the click that is to follow.
    if (this.#pressed) return;
    // Who moves on by the keys has left what the pointer lies on.
    this.hovered = null;
    const { pinned } = this.#host.store.state;
    if (pinned && this.#moving && !this.#watches(cell)) this.pin(this.focused);
    this.#host.requestUpdate();
  };

  readonly #onFocusOut = (event: FocusEvent): void => {
    this.#pressed = false;
    // A render that did not see the field being typed in need not draw it anew.
    if (this.editing && !this.typed && event.target instanceof HTMLInputElement) {
      event.target.value = this.editing.rounded;
    }
    // A press in the panel means the cell that it tells of.
    if (this.#host.store.state.pinned || !isInPanel(event.relatedTarget)) this.focused = null;
    this.editing = null;
    this.#host.requestUpdate();
  };

  /** A cell that was kept for the panel goes when the focus goes on from there. */
  readonly #onPanelFocusOut = (event: Event): void => {
    const { target, relatedTarget } = event as FocusEvent;
    if (!this.focused || !isInPanel(target) || isInPanel(relatedTarget)) return;
    this.focused = null;
    this.#host.requestUpdate();
  };

  /** Pinned only now: what a pin brings could move a button away between press and click. */
  readonly #onPanelClick = ({ target }: Event): void => {
    if (!this.focused || !isInPanel(target) || this.#host.store.state.pinned) return;
    this.pin(this.focused);
    this.focused = null;
  };

  readonly #onClick = (event: MouseEvent): void => {
    this.#pressed = false;
    const cell = cellOf(event.target);
    if (isPainted(event.target)) this.#paint(this.focused);
    if (!cell) return;
    if (isPaintable(cell)) {
      this.#paint(refOf(cell));
      return;
    }
    if (!this.#watches(cell)) this.pin(refOf(cell));
    // The panel that now comes up may lie over it.
    void this.#host.updateComplete.then(() => {
      cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  };

  readonly #onInput = (event: Event): void => {
    if (!(event.target instanceof HTMLInputElement)) return;
    if (this.editing) {
      this.editing.text = event.target.value;
      this.editing.pending = true;
    }
    this.#edit(event.target, true);
    this.#host.requestUpdate();
  };

  readonly #onChange = (event: Event): void => {
    if (event.target instanceof HTMLInputElement) this.#edit(event.target, false);
  };

  readonly #onPaste = (event: ClipboardEvent): void => {
    const cell = cellOf(event.target);
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!cell || !/[\s,;&]/.test(text.trim())) return;
    const { stage } = refOf(cell);
    // A decimal comma or an expression with spaces is still one number.
    if (!isInput(stage) || !/[\n\t;[&]|,.*,|\d\s+[\d.−-]/.test(text.trim())) return;
    event.preventDefault();
    this.#host.offerMatrix(stage, text);
  };

  readonly #onKeyDown = (event: KeyboardEvent): void => {
    const cell = cellOf(event.target);
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === ' ' && isPainted(event.target)) {
      this.#paint(this.focused);
      event.stopPropagation();
    }
    if (!cell) return;
    const input = event.target instanceof HTMLInputElement ? event.target : null;
    if (event.key === ' ' && isPaintable(cell)) {
      this.#paint(refOf(cell));
    } else if (event.key === 'Enter') {
      // A number that is typed is only taken; typing again replaces it.
      if (input && this.editing?.pending) {
        this.#edit(input, false);
        input.select();
      } else {
        this.enter(refOf(cell));
      }
    } else if (event.key === 'Escape') {
      this.#escape(input);
    } else if (
      event.key === 'Tab' ||
      (isArrow(event.key) && !(input && caretMoves(input, event)))
    ) {
      const target =
        event.key !== 'Tab'
          ? neighbour(this.#host.renderRoot, cell, event.key)
          : this.editing?.pending
            ? inReadingOrder(cell, event.shiftKey ? -1 : 1)
            : null;
      if (!target) return;
      if (input) this.#edit(input, false);
      this.#moving = true;
      focusable(target).focus();
      this.#moving = false;
    } else return;
    event.preventDefault();
    // A slide deck or a page around the element does not get keys that were used here.
    event.stopPropagation();
  };

  readonly #handlers: Readonly<Record<string, (event: never) => void>> = {
    pointermove: this.#onPointerMove,
    pointerleave: this.#onPointerLeave,
    pointerdown: this.#onPointerDown,
    pointercancel: this.#onPointerCancel,
    focusin: this.#onFocusIn,
    focusout: this.#onFocusOut,
    click: this.#onClick,
    input: this.#onInput,
    change: this.#onChange,
    paste: this.#onPaste,
    keydown: this.#onKeyDown,
  };

  /** A pinned result stays in view while inputs are edited: that is what it was pinned for. */
  #watches(cell: HTMLTableCellElement): boolean {
    const { pinned } = this.#host.store.state;
    const { problem } = this.#host.store.state;
    return (
      pinned !== null && !isGiven(problem, pinned.stage) && isGiven(problem, refOf(cell).stage)
    );
  }

  #paint(cell: CellRef | null): void {
    if (cell?.stage !== 'mask') return;
    const { row, col } = cell;
    const { store } = this.#host;
    if (store.state.problem.causal && col > row) {
      const notice = 'The causal mask hides this key already; your own mask changes nothing here.';
      store.dispatch({ type: 'notice', notice });
      return;
    }
    // Another number would be lost; it is changed in the panel.
    const before = givenValue(store.state.problem, cell);
    if (before !== 0 && before !== -Infinity) {
      this.#host.say(`${fullPrecision(before)} is kept: Space and a click change only 0 and −∞.`);
      return;
    }
    store.dispatch({ type: 'paint', row, col });
    const { problem } = store.state;
    const [query, key] = [
      indexPhrase('query', row, problem.names),
      indexPhrase('key', col, problem.names),
    ];
    const done = givenValue(problem, cell) === -Infinity ? 'hidden from' : 'shown to';
    this.#host.say(`${key} is now ${done} ${query}.`);
  }

  /** The input shows the number at full precision while it is edited. */
  #beginTyping(cell: HTMLTableCellElement, input: HTMLInputElement): void {
    const ref = refOf(cell);
    const key = keyOf(ref);
    const { store } = this.#host;
    // From the state: the numbers of the session may be a frame behind what was typed.
    const number = givenValue(store.state.problem, ref);
    const original = fullPrecision(number);
    // What was typed before this was there stays, even the very number that was selected.
    const untouched = this.#untouched.get(input);
    this.#untouched.delete(input);
    const { value, selectionStart, selectionEnd } = input;
    const selected = selectionStart === 0 && selectionEnd === value.length;
    const typed = untouched !== undefined && (value !== untouched || !selected);
    const text = typed ? input.value : (store.state.drafts[key]?.text ?? original);
    this.editing = {
      cell,
      input,
      place: placeOf(cell),
      key,
      original,
      text,
      value: number,
      rounded: untouched ?? value,
      pending: typed,
      problem: null,
    };
    if (typed) return;
    input.value = text;
    input.select();
  }

  #edit(input: HTMLInputElement, typing: boolean): void {
    const cell = cellOf(input);
    if (!cell) return;
    const ref = refOf(cell);
    const { stage } = ref;
    if (!isInput(stage)) return;
    const { store } = this.#host;
    // A text that is not a number yet is no fault while it is still being typed.
    if (typing && !parseNumber(input.value).ok) {
      store.dispatch({ ...ref, type: 'dropDraft', stage });
      return;
    }
    const before = store.state.problem;
    // Another problem that came meanwhile, an example for one, is a step of its own.
    const continues = this.editing?.problem === before;
    store.dispatch({ ...ref, type: 'edit', stage, text: input.value, continues });
    const { drafts, problem } = store.state;
    if (!this.editing) return;
    // Once the text is taken or refused for good, what is typed next is a step of its own.
    this.editing.pending = typing;
    this.editing.value = givenValue(problem, ref);
    this.editing.problem = typing && (continues || problem !== before) ? problem : null;
    if (!typing && !drafts[keyOf(ref)]) this.editing.original = input.value;
  }

  /** First takes back what is being typed, then lets go of the pinned cell. */
  #escape(input: HTMLInputElement | null): void {
    const { editing } = this;
    if (!input || !editing || !this.typed) {
      this.release();
      return;
    }
    input.value = editing.original;
    editing.text = editing.original;
    this.#edit(input, false);
    input.select();
    this.#host.requestUpdate();
  }
}

const same = (a: CellRef | null, b: CellRef | null): boolean =>
  a === b || (a !== null && b !== null && keyOf(a) === keyOf(b));

const keyOf = ({ stage, row, col, batch, head }: CellRef): string =>
  draftKey(stage, row, col, batch, head);

const isInput = (stage: StageId): stage is InputId =>
  (inputIds as readonly string[]).includes(stage);

function refOf(cell: HTMLTableCellElement): CellRef {
  const stage = cell.closest('figure')?.dataset.stage as StageId;
  const { batch, head } = cell.closest('figure')?.dataset ?? {};
  const { row, col } = cell.dataset;
  return {
    stage,
    batch: Number(batch),
    head: Number(head),
    row: Number(row),
    col: Number(col),
  };
}

function givenValue(problem: Problem, cell: CellRef): number {
  const { stage, row, col } = cell;
  if (!isInput(stage)) return 0;
  const { rows, cols } = inputShape(stage, problem);
  return (
    problem.inputs[stage]?.[(matrixIndex(stage, problem, cell) * rows + row) * cols + col] ?? 0
  );
}

const isInPanel = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('aside') !== null;

const isPaintable = (cell: HTMLElement): boolean => cell.classList.contains('paint');

/** A mask that is drawn has told its focused cell before the event comes here. */
const isPainted = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.dataset.paint !== undefined;

const placeOf = (cell: HTMLElement): string => cell.closest('figure')?.dataset.place ?? '';

/** Left and right stay in a text that is being typed, until they reach its end. */
function caretMoves(input: HTMLInputElement, event: KeyboardEvent): boolean {
  if (event.key === 'ArrowUp' || event.key === 'ArrowDown') return false;
  const { selectionStart: start, selectionEnd: end, value } = input;
  if (start === 0 && end === value.length) return event.shiftKey;
  return event.key === 'ArrowLeft' ? end !== 0 : start !== value.length;
}
