/** The reader's hands on the matrices, also before their code is there: what they do then is kept. */
import type { CellRef } from '../core/types.ts';
import type { GridController, GridHost } from './grid-controller.ts';

const gridKeys = /^(Arrow\w+|Enter|Escape| )$/;

export class Hands {
  grid: GridController | null = null;

  readonly #host: GridHost;
  #Controller: typeof GridController | null = null;
  /** The texts of fields when they first got the focus, before the code was there. */
  readonly #untouched = new WeakMap<HTMLInputElement, string>();
  /** Where kept keys have moved the focus to from a cell. */
  readonly #moved = new Map<EventTarget, Element>();

  constructor(host: GridHost) {
    this.#host = host;
  }

  /** Any event of the matrices. */
  readonly handle = (event: Event): void => {
    if (this.#Controller) {
      this.#use((grid) => grid.handle(event));
      return;
    }
    const { target } = event;
    // The browser has then moved the focus already.
    if (event instanceof KeyboardEvent && event.key === 'Tab') return;
    if (target instanceof HTMLInputElement) this.#begin(event, target);
    if (event instanceof KeyboardEvent) this.#claim(event);
    const kept = this.#keep(event);
    this.#use((grid) => {
      const before = this.#focused;
      grid.handle(kept);
      if (target && this.#focused && this.#focused !== before) {
        this.#moved.set(target, this.#focused);
      }
    });
  };

  readonly hover = (cell: CellRef): void => this.#use((grid) => grid.hover(cell));
  readonly focus = (cell: CellRef, place: string): void =>
    this.#use((grid) => grid.focus(cell, place));
  readonly pin = (cell: CellRef): void => this.#use((grid) => grid.pin(cell));
  readonly enter = (cell: CellRef): void => this.#use((grid) => grid.enter(cell));
  readonly release = (): void => this.#use((grid) => grid.release());

  /** Their code is there; the store goes on with what was kept right after this. */
  take(Controller: typeof GridController): void {
    this.#Controller = Controller;
  }

  /** In turn with what is done outside the matrices: a number typed first is there before a reset. */
  #use(act: (grid: GridController) => void): void {
    this.#host.store.inTurn(() => {
      this.grid ??= this.#Controller && new this.#Controller(this.#host, this.#untouched);
      if (this.grid) act(this.grid);
    });
  }

  /** As it will be once the code is there: what is typed replaces the number. */
  #begin(event: Event, field: HTMLInputElement): void {
    const focuses = event.type === 'focusin';
    if (focuses && !this.#untouched.has(field)) this.#untouched.set(field, field.value);
    if (focuses || (event instanceof KeyboardEvent && event.key === 'Enter')) field.select();
  }

  /** A slide deck or a page around the element does not get keys that are used here. */
  #claim(event: KeyboardEvent): void {
    const { target } = event;
    if (!(target instanceof Element) || !target.closest('td') || !gridKeys.test(event.key)) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    event.stopPropagation();
    if (!(target instanceof HTMLInputElement)) event.preventDefault();
  }

  /** The event for later, with what it forgets once it is over: its target and what it carries. */
  #keep(event: Event): Event {
    const { target } = event;
    let clipboardData: Pick<DataTransfer, 'getData'> | undefined;
    if (event instanceof ClipboardEvent) {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      clipboardData = { getData: () => text };
      // A text of more than one number is no text for the field.
      if (/[\n\t;[]/.test(text)) event.preventDefault();
    }
    const moved = this.#moved;
    return new Proxy(event, {
      get(_, name) {
        if (name === 'target') return (target && moved.get(target)) ?? target;
        if (name === 'clipboardData') return clipboardData;
        const value = Reflect.get(event, name);
        return typeof value === 'function' ? value.bind(event) : value;
      },
    });
  }

  get #focused(): Element | null {
    return (this.#host.renderRoot as ShadowRoot).activeElement;
  }
}
