/** One lab behind any number of elements: its store, its session, and the sync between the two. */
import { AttentionError } from '../core/errors.ts';
import { type LoadOptions, load } from '../core/load.ts';
import type { Engine, Session, SessionConfig } from '../core/types.ts';
import { createStore, type Store } from '../state/store.ts';
import { inputsOf, type Problem, type State } from '../state/types.ts';

export class Workspace extends EventTarget {
  readonly store: Store;
  engine: Engine | null = null;
  session: Session | null = null;
  /** Why there is no session, or why the newest problem could not be computed. */
  error: AttentionError | null = null;
  /** Rises with every run; views are to be read anew. */
  revision = 0;

  /** The problem whose numbers the session holds. */
  #computed: Problem | null = null;
  #frame = 0;
  #wanted = false;
  /** The problem of an example: what stands there when a link asks for more than can be had. */
  readonly #exampleOf: (preset: string) => Problem | null;
  #fellBack = false;

  constructor(initial: State, exampleOf: (preset: string) => Problem | null) {
    super();
    this.#exampleOf = exampleOf;
    this.store = createStore(initial);
    this.store.subscribe((state, previous) => {
      if (state.problem !== previous.problem) this.#schedule();
      this.#tell('state');
    });
  }

  /** Loads the engine and computes; resolves when there are numbers or an error. */
  async start(options: LoadOptions): Promise<void> {
    this.#wanted = true;
    try {
      const engine = await load(options);
      if (!this.#wanted || this.session) return;
      this.engine = engine;
      this.session = engine.createSession();
      this.#sync();
    } catch (error) {
      if (!(error instanceof AttentionError)) throw error;
      this.error = error;
      this.#tell('numbers');
    }
  }

  /** Frees the session; start brings it back with the same state. */
  release(): void {
    this.#wanted = false;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.session?.dispose();
    this.session = null;
    this.#computed = null;
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
    if (!session || problem === this.#computed) return;
    const before = this.#computed;
    const { tq, tk } = problem.sizes;
    try {
      const sameShape = before !== null && configKey(before) === configKey(problem);
      this.#computed = null;
      if (!sameShape) session.configure(sessionConfig(problem));
      for (const id of inputsOf(problem)) {
        const values = problem.inputs[id];
        if (!values || (sameShape && before.inputs[id] === values)) continue;
        if (id === 'mask') session.setMask({ kind: 'float', shape: [tq, tk], values });
        else session.setInput(id, values);
      }
      const complete = this.#draw(session, problem);
      session.run();
      this.#computed = complete;
      this.error = null;
      if (complete !== problem) this.store.dispatch({ type: 'drawn', problem: complete });
    } catch (error) {
      if (!(error instanceof AttentionError)) throw error;
      const kept = before ?? this.#fallBack();
      if (kept) this.store.dispatch({ type: 'reject', problem: kept, notice: error.message });
      else this.error = error;
      return;
    }
    ++this.revision;
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
