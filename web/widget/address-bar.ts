/** Keeps the state in the page's address: writes it after changes, restores it on load and on Back. */
import { readState, writeState } from '../state/address.ts';
import { pack, unpack } from '../state/packed.ts';
import { partMissing, type Store } from '../state/store.ts';
import type { State } from '../state/types.ts';

/** A state longer than this is packed; up to here a link can be read by eye. */
const readableLength = 1500;
/** Browsers and messengers cut or refuse longer addresses. */
const maxLength = 100_000;
const tooMany =
  'These numbers are too many for the page’s address to follow every change: a reload brings back what it held last. “Copy link” puts them there as they are at that moment, and “Paste, fill, copy…” copies single matrices.';
/** Changes within this time are written once; some browsers refuse more than 100 writes in 30 s. */
const settleMs = 350;

export interface AddressHost {
  readonly store: Store;
  /** The example that stands there when the address says nothing. */
  readonly initialPreset: string;
  /** After it, stateOf knows every example. */
  loadExamples(): Promise<void>;
  /** The state of an example, null for an unknown one. */
  stateOf(preset: string): State | null;
  arrive(section: string): void;
}

export class AddressBar {
  section = '';
  readonly #host: AddressHost;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: (() => void) | null = null;
  /** The preset and section of the entry that the history is at. */
  #entry = '';
  /** The part after # that was read or written last. */
  #known = '';
  /** The address that has been said to be behind the numbers. */
  #behind = '';
  /** Rises with every address that is to be read: only the newest one counts. */
  #reads = 0;

  constructor(host: AddressHost) {
    this.#host = host;
  }

  /**
   * Takes the state of the address, if there is one, and listens from then on. Started again, it
   * takes only an address that it does not know: the state may be newer than what was written.
   */
  async start(): Promise<void> {
    if (location.hash.length > 1 && location.hash !== this.#known) await this.#read();
    this.#entry = this.#entryKey();
    // What changed before this part was loaded is still to be written.
    this.#schedule();
    this.#unsubscribe = this.#host.store.subscribe((state, previous) => {
      if (state !== previous) this.#schedule();
    });
    globalThis.addEventListener('hashchange', this.#onHashChange);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#write(), settleMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#reads += 1;
    globalThis.removeEventListener('hashchange', this.#onHashChange);
  }

  /** A section was chosen by hand: it gets an entry of its own in the history. */
  enter(section: string): void {
    this.section = section;
    void this.#write();
  }

  /** The address of the state as it is now. */
  async link(): Promise<string> {
    const { store, initialPreset } = this.#host;
    const { state } = store;
    if (state.preset !== 'worked') await this.#host.loadExamples();
    const base = this.#host.stateOf(state.preset) ?? state;
    const text = writeState(state, base);
    const untouched = state.preset === initialPreset && text === writeState(base, base);
    const query = text.length > readableLength ? `z=${await pack(text)}` : text;
    const url = new URL(location.href);
    url.hash = untouched ? this.section : `${this.section}?${query}`;
    return url.href;
  }

  #entryKey = (): string => `${this.section} ${this.#host.store.state.preset}`;

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    const { store } = this.#host;
    const { state } = store;
    const href = await this.link();
    // What changed meanwhile is written in its turn.
    if (state !== store.state || !this.#unsubscribe) return;
    const held = location.href;
    if (href.length > maxLength && href !== held) {
      // Once for each address: an alert with every change would be in the way.
      if (this.#behind === held) return;
      this.#behind = held;
      store.dispatch({ type: 'notice', notice: `${state.notice} ${tooMany}`.trim() });
      return;
    }
    this.#behind = '';
    if (href === held) return;
    const entry = this.#entryKey();
    if (entry === this.#entry) history.replaceState(history.state, '', href);
    else history.pushState(null, '', href);
    this.#entry = entry;
    this.#known = location.hash;
  }

  #onHashChange = async (): Promise<void> => {
    try {
      if (!(await this.#read())) return;
    } catch (error) {
      this.#host.store.dispatch({ type: 'notice', notice: partMissing(error) });
      return;
    }
    this.#entry = this.#entryKey();
    this.#host.arrive(this.section);
  };

  /** Takes the state of the address as it is now; false when another one came meanwhile. */
  async #read(): Promise<boolean> {
    // What was to be written belongs to the address before.
    clearTimeout(this.#timer);
    const { hash } = location;
    this.#reads += 1;
    const turn = this.#reads;
    await this.#host.loadExamples();
    const { section, query, message } = await opened(hash);
    if (turn !== this.#reads) return false;
    const { store, initialPreset } = this.#host;
    const stateOf = (preset: string) => this.#host.stateOf(preset);
    const { state, messages } = readState(query, stateOf(initialPreset) ?? store.state, stateOf);
    this.section = section;
    this.#known = hash;
    const notice = [...(message ? [message] : []), ...messages].join(' ');
    store.dispatch({ type: 'restore', state, notice });
    return true;
  }
}

/** Section and readable state of an address, whether the state was packed or not. */
async function opened(hash: string): Promise<{ section: string; query: string; message?: string }> {
  const text = hash.replace(/^#/, '');
  const at = text.indexOf('?');
  const section = at < 0 ? text : text.slice(0, at);
  const query = at < 0 ? '' : text.slice(at + 1);
  if (!query.startsWith('z=')) return { section, query };
  try {
    return { section, query: await unpack(query.slice(2)) };
  } catch {
    return { section, query: '', message: 'The link is damaged: its numbers could not be read.' };
  }
}
