/** One lab behind any number of elements: its store, its session, and the sync between the two. */
import { AttentionError } from '../core/errors.ts';
import { type LoadOptions, load, loadForward } from '../core/load.ts';
import type {
  Engine,
  ForwardEngine,
  ForwardSession,
  Mask,
  Session,
  SessionConfig,
} from '../core/types.ts';
import { createStore, type Reduce, type Store } from '../state/store.ts';
import { inputsOf, type Problem, type State } from '../state/types.ts';

export class Workspace extends EventTarget {
  readonly store: Store;
  engine: ForwardEngine | null = null;
  session: ForwardSession | null = null;
  /** The same two once everything was fetched: see `needWhole`. */
  whole: { readonly engine: Engine; readonly session: Session } | null = null;
  /** Why there is no session, or why the newest problem could not be computed. */
  error: AttentionError | null = null;
  /** Rises with every run; views are to be read anew. */
  revision = 0;

  /** The newest problem that was computed. */
  #computed: Problem | null = null;
  /** Whether the session holds its numbers; one that was just made holds none. */
  #filled = false;
  #frame = 0;
  #wanted = false;
  #options: LoadOptions = {};
  #fetching: Promise<void> | null = null;
  /** The problem of an example: what stands there when a link asks for more than can be had. */
  readonly #exampleOf: (preset: string) => Problem | null;
  #fellBack = false;

  constructor(
    initial: State,
    exampleOf: (preset: string) => Problem | null,
    fetchReducer: () => Promise<Reduce>,
  ) {
    super();
    this.#exampleOf = exampleOf;
    this.store = createStore(initial, fetchReducer);
    this.store.subscribe((state, previous) => {
      if (state.problem !== previous.problem) this.#schedule();
      this.#tell('state');
    });
  }

  /** Loads the engine and computes; resolves when there are numbers or an error. */
  async start(options: LoadOptions): Promise<void> {
    this.#wanted = true;
    this.#options = options;
    try {
      const engine = await loadForward(options);
      // What a link asks for is to be the first that is computed.
      if (this.store.isWaiting) await this.store.ready();
      if (!this.#wanted || this.session) return;
      this.engine = engine;
      this.session = engine.createSession();
      this.#sync();
      await this.#fetching;
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Fetches, once, the module that has more than the forward pass, and goes on with the same problem
   * in a session of it. Resolves also when it cannot be had; then `whole` stays null and the reader
   * is told.
   */
  async needWhole(): Promise<void> {
    if (!this.engine) return;
    this.#fetching ??= this.#fetchWhole(this.engine);
    await this.#fetching;
  }

  async #fetchWhole(first: ForwardEngine): Promise<void> {
    try {
      const found = await load({ ...this.#options, build: first.build });
      if (!this.#wanted) return;
      const engine = { ...found, fallbackReason: first.fallbackReason };
      const session = engine.createSession();
      this.session?.dispose();
      this.engine = engine;
      this.session = session;
      this.whole = { engine, session };
      this.#filled = false;
      this.#sync();
    } catch (error) {
      this.#fetching = null;
      if (needsWhole(this.store.state.problem)) this.#refuse(this.#computed, error);
      else this.store.dispatch({ type: 'notice', notice: messageOf(error) });
    }
  }

  /** Frees the session; start brings it back with the same state. */
  release(): void {
    this.#wanted = false;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.session?.dispose();
    this.session = null;
    this.whole = null;
    this.#fetching = null;
    this.#computed = null;
    this.#filled = false;
  }

  /** However many changes come in, one run a frame. */
  #schedule(): void {
    if (this.#frame || !this.session) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#sync();
    });
  }

  /** Writes the inputs that differ into the core and runs it. */
  #sync(): void {
    const { session } = this;
    const { problem } = this.store.state;
    if (!session || (this.#filled && problem === this.#computed)) return;
    if (!this.whole && needsWhole(problem)) {
      void this.needWhole();
      return;
    }
    const before = this.#computed;
    const held = this.#filled ? before : null;
    try {
      const sameShape = held !== null && configKey(held) === configKey(problem);
      this.#computed = null;
      if (!sameShape) session.configure(sessionConfig(problem));
      for (const id of inputsOf(problem)) {
        const values = problem.inputs[id];
        if (!values || (sameShape && held.inputs[id] === values)) continue;
        if (id === 'mask') this.whole?.session.setMask(maskOf(problem, values));
        else session.setInput(id, values);
      }
      const complete = this.whole ? this.#draw(this.whole.session, problem) : problem;
      session.run();
      this.#computed = complete;
      this.#filled = true;
      this.error = null;
      if (complete !== problem) this.store.dispatch({ type: 'drawn', problem: complete });
    } catch (error) {
      this.#refuse(before, error);
      return;
    }
    ++this.revision;
    // The same problem in another session has the same numbers.
    this.#tell(this.#computed === before ? 'state' : 'numbers');
  }

  /** Goes back to the problem before, or to the example, and says why. */
  #refuse(before: Problem | null, error: unknown): void {
    if (!(error instanceof AttentionError)) throw error;
    const kept = before ?? this.#fallBack();
    if (kept) this.store.dispatch({ type: 'reject', problem: kept, notice: error.message });
    else this.#fail(error);
  }

  #fail(error: unknown): void {
    if (!(error instanceof AttentionError)) throw error;
    this.error = error;
    this.#tell('numbers');
  }

  /** Once, before there were any numbers. */
  #fallBack(): Problem | null {
    if (this.#fellBack) return null;
    this.#fellBack = true;
    return this.#exampleOf(this.store.state.preset);
  }

  /** Has the core draw the inputs of which only a seed is known, and adds their numbers. */
  #draw(session: Session, problem: Problem): Problem {
    const missing = inputsOf(problem).filter((id) => !problem.inputs[id]);
    if (missing.length === 0) return problem;
    const inputs = { ...problem.inputs };
    for (const id of missing) {
      session.fillNormal(id, problem.seeds[id] ?? 0);
      inputs[id] = session.view(id).slice();
    }
    return { ...problem, inputs };
  }

  /** The problem that the session's numbers belong to; null while there are none. */
  get computed(): Problem | null {
    return this.#computed;
  }

  #tell(type: 'state' | 'numbers'): void {
    this.dispatchEvent(new Event(type));
  }
}

/** Whether it takes more than the forward pass: masks, gradients, draws of the core's generator. */
const needsWhole = (problem: Problem): boolean =>
  problem.masked || problem.gradients || inputsOf(problem).some((id) => !problem.inputs[id]);

/** The one mask that all heads of the page share. */
const maskOf = ({ sizes: { tq, tk } }: Problem, values: Float32Array): Mask => ({
  kind: 'float',
  shape: [tq, tk],
  values,
});

const messageOf = (error: unknown): string => {
  if (!(error instanceof AttentionError)) throw error;
  return error.message;
};

const sessionConfig = ({ sizes, scale, softcap, ...switches }: Problem): SessionConfig => ({
  ...sizes,
  source: switches.source,
  context: switches.context,
  outputProjection: switches.outputProjection,
  masked: switches.masked,
  causal: switches.causal,
  gradients: switches.gradients,
  ...(scale === null ? {} : { scale }),
  ...(softcap === null ? {} : { softcap }),
});

const configKey = (problem: Problem): string => JSON.stringify(sessionConfig(problem));
