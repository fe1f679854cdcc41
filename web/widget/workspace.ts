/** One lab behind any number of elements: its store, its session, and the sync between the two. */
import { AttentionError } from '../core/errors.ts';
import { type LoadOptions, load, loadForward } from '../core/load.ts';
import type {
  Engine,
  ForwardEngine,
  ForwardSession,
  Session,
  SessionConfig,
} from '../core/types.ts';
import { createStore, type Reduce, type Store } from '../state/store.ts';
import { inputsOf, type Problem, type State } from '../state/types.ts';
import type * as WholeRun from './whole-run.ts';

export class Workspace extends EventTarget {
  readonly store: Store;
  engine: ForwardEngine | null = null;
  session: ForwardSession | null = null;
  /** The same two once everything was fetched: see `needWhole`. */
  whole: ({ readonly engine: Engine; readonly session: Session } & typeof WholeRun) | null = null;
  /** The run that goes on, a slice at a time, while the numbers before it are shown. */
  longRun: WholeRun.LongRun | null = null;
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
      if (state.problem !== previous.problem) {
        this.longRun?.drop();
        this.#schedule();
      }
      this.tell('state');
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
      const [found, wholeRun] = await Promise.all([
        load({ ...this.#options, build: first.build }),
        import('./whole-run.ts').catch(({ message }) => {
          throw new AttentionError('wasmMissing', 'A part of the page', message);
        }),
      ]);
      if (!this.#wanted) return;
      const engine = { ...found, fallbackReason: first.fallbackReason };
      const session = engine.createSession();
      this.session?.dispose();
      this.engine = engine;
      this.session = session;
      this.whole = { ...wholeRun, engine, session };
      this.#filled = false;
      // What is shown meanwhile, if the newest problem is long.
      if (this.#computed) this.#compute(session, this.#computed);
      this.#sync();
      await this.longRun?.ended;
    } catch (error) {
      this.#fetching = null;
      if (needsWhole(this.store.state.problem)) this.refuse(this.#computed, error);
      else this.store.dispatch({ type: 'notice', notice: messageOf(error) });
    }
  }

  /** Frees the session; start brings it back with the same state. */
  release(): void {
    this.#wanted = false;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.longRun?.drop();
    this.session?.dispose();
    this.session = null;
    this.whole = null;
    this.#fetching = null;
    this.#computed = null;
    this.#filled = false;
    this.#fellBack = false;
  }

  /** However many changes come in, one run a frame. */
  #schedule(): void {
    if (this.#frame || !this.session) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#sync();
    });
  }

  /** Has the newest problem computed: at once, or in slices when that would be felt. */
  #sync(): void {
    const { session, whole } = this;
    const { problem } = this.store.state;
    if (!session || (this.#filled && problem === this.#computed)) return;
    if (!whole && needsWhole(problem)) void this.needWhole();
    else if (whole && isLong(problem)) this.longRun ??= new whole.LongRun(this, problem);
    else this.#compute(session, problem);
  }

  /** Writes the inputs that differ into the core and runs it. */
  #compute(session: ForwardSession, problem: Problem): void {
    const before = this.#computed;
    const held = this.#filled ? before : null;
    let complete = problem;
    try {
      const sameShape = held !== null && configKey(held) === configKey(problem);
      this.#computed = null;
      if (!sameShape) session.configure(sessionConfig(problem));
      for (const id of inputsOf(problem)) {
        const values = problem.inputs[id];
        if (values && sameShape && held.inputs[id] === values) continue;
        if (this.whole) complete = this.whole.withInput(this.whole.session, id, complete);
        else if (values) session.setInput(id, values);
      }
      session.run();
    } catch (error) {
      this.refuse(before, error);
      return;
    }
    this.take(complete, problem, before);
  }

  /** The session holds the numbers of a problem, which may have got inputs that were wanted drawn. */
  take(complete: Problem, wanted: Problem, before = this.#computed): void {
    this.#computed = complete;
    this.#filled = true;
    this.error = null;
    if (complete !== wanted) this.store.dispatch({ type: 'drawn', problem: complete });
    ++this.revision;
    // The same problem in another session has the same numbers.
    this.tell(complete === before ? 'state' : 'numbers');
  }

  /** Goes back to the problem before, or to the example, and says why. */
  refuse(before: Problem | null, error: unknown): void {
    if (!(error instanceof AttentionError)) throw error;
    const kept = before ?? this.fallBack();
    if (kept) this.store.dispatch({ type: 'reject', problem: kept, notice: error.message });
    else this.#fail(error);
  }

  #fail(error: unknown): void {
    if (!(error instanceof AttentionError)) throw error;
    this.error = error;
    this.tell('numbers');
  }

  /** The example's problem: once after each start, before there were any numbers. */
  fallBack(): Problem | null {
    if (this.#fellBack) return null;
    this.#fellBack = true;
    return this.#exampleOf(this.store.state.preset);
  }

  /** The problem that the session's numbers belong to; null while there are none. */
  get computed(): Problem | null {
    return this.#computed;
  }

  tell(type: 'state' | 'numbers'): void {
    this.dispatchEvent(new Event(type));
  }
}

/** Whether it takes more than the forward pass in one go: masks, gradients, draws, long runs. */
const needsWhole = (problem: Problem): boolean =>
  problem.masked ||
  problem.gradients ||
  isLong(problem) ||
  inputsOf(problem).some((id) => !problem.inputs[id]);

/**
 * More multiplications and additions than this go in slices: in a frame of 16 ms they would leave a
 * slow machine, which does 2 or 3 in a nanosecond with all that is stored, no time to draw.
 */
const longWork = 2 ** 24;

/** Whether a run takes more, roughly and rather too often: each row meets every key and X. */
const isLong = ({ sizes }: Problem): boolean =>
  sizes.batch *
    sizes.heads *
    (sizes.tq + sizes.tk) *
    (sizes.tk + sizes.dModel) *
    (sizes.dK + sizes.dV + 16) >
  longWork;

const messageOf = (error: unknown): string => {
  if (!(error instanceof AttentionError)) throw error;
  return error.message;
};

export const sessionConfig = ({ sizes, scale, softcap, ...switches }: Problem): SessionConfig => ({
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
