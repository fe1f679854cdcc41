/**
 * What a workspace does once it has the whole module: it gives masks, has inputs drawn, and computes
 * what takes longer than a frame a slice at a time, beside the numbers that are shown.
 */
import { html, type TemplateResult } from 'lit';
import { pause } from '../core/pause.ts';
import type { Mask, Session } from '../core/types.ts';
import { type InputId, inputsOf, type Problem } from '../state/types.ts';
import { sessionConfig, type Workspace } from './workspace.ts';

/** A slice ends after so many steps of the core, or sooner: after so many milliseconds. */
export const stepsASlice = 16;
const sliceTime = 4;
/** A run that ends within so many milliseconds shows no progress. */
const patience = 150;

/**
 * Writes an input into a session, which draws it when only its seed is known; the problem with its
 * numbers.
 */
export function withInput(session: Session, id: InputId, problem: Problem): Problem {
  const values = problem.inputs[id];
  if (!values) {
    session.fillNormal(id, problem.seeds[id] ?? 0);
    return { ...problem, inputs: { ...problem.inputs, [id]: session.view(id).slice() } };
  }
  if (id === 'mask') session.setMask(maskOf(problem, values));
  else session.setInput(id, values);
  return problem;
}

/** The one mask that all heads of the page share. */
const maskOf = ({ sizes: { tq, tk } }: Problem, values: Float32Array): Mask => ({
  kind: 'float',
  shape: [tq, tk],
  values,
});

export class LongRun {
  /** Resolves when the run is over, whichever way. */
  readonly ended: Promise<void>;

  readonly #workspace: Workspace;
  readonly #problem: Problem;
  /** Not that of the workspace, whose numbers are shown as long as these are not complete. */
  readonly #session: Session;
  #dropped = false;
  /** Part of the work that is done, from 0 to 1. */
  #done = 0;
  #isLate = false;
  #bar: HTMLProgressElement | null = null;

  /** Begins to compute the problem, which a workspace with the whole module wants. */
  constructor(workspace: Workspace, problem: Problem) {
    const { whole } = workspace;
    if (!whole) throw new Error('A long run needs the whole module.');
    this.#workspace = workspace;
    this.#problem = problem;
    this.#session = whole.engine.createSession();
    this.ended = this.#run();
  }

  /** Ends the run without a result: another problem is wanted. */
  drop(): void {
    this.#dropped = true;
    this.#workspace.longRun = null;
    this.#session.dispose();
  }

  async #run(): Promise<void> {
    try {
      const complete = await this.#compute();
      if (complete) this.#show(complete);
    } catch (error) {
      if (this.#dropped) return;
      this.drop();
      this.#workspace.refuse(this.#workspace.computed, error);
    }
  }

  /** The problem with all its inputs, or null when it was dropped. */
  async #compute(): Promise<Problem | null> {
    const begun = performance.now();
    const session = this.#session;
    let problem = this.#problem;
    await pause();
    if (this.#dropped) return null;
    session.configure(sessionConfig(problem));
    // If memory grew, the views of the session that is shown are to be made anew.
    this.#workspace.tell('state');
    for (const id of inputsOf(problem)) {
      await pause();
      if (this.#dropped) return null;
      problem = withInput(session, id, problem);
    }
    const { steps } = session;
    for (let step = 0; step < steps; ) {
      await pause();
      if (this.#dropped) return null;
      const start = performance.now();
      const last = Math.min(step + stepsASlice, steps);
      do session.run(step, ++step);
      while (step < last && performance.now() - start < sliceTime);
      this.#tellProgress(step / steps, start - begun > patience);
    }
    return problem;
  }

  #tellProgress(done: number, isLate: boolean): void {
    this.#done = done;
    if (this.#bar) this.#bar.value = done;
    if (this.#isLate || !isLate) return;
    this.#isLate = true;
    this.#workspace.tell('state');
  }

  /** The numbers are complete: this session takes the place of the one before. */
  #show(complete: Problem): void {
    const workspace = this.#workspace;
    workspace.longRun = null;
    workspace.session?.dispose();
    workspace.session = this.#session;
    if (workspace.whole) workspace.whole = { ...workspace.whole, session: this.#session };
    workspace.take(complete, this.#problem);
  }

  /** Goes back to the numbers that are shown, or to the example when there are none. */
  #cancel = (): void => {
    const { computed, store } = this.#workspace;
    const problem = computed ?? this.#workspace.fallBack();
    if (!problem) return;
    const notice = 'Stopped: the numbers are those from before. Redo or Undo computes the others.';
    store.dispatch({ type: 'cancel', problem, notice });
  };

  /** How far it is, once it has taken long enough for somebody to wonder. */
  render(): TemplateResult | undefined {
    if (!this.#isLate) return undefined;
    this.#bar ??= document.createElement('progress');
    this.#bar.value = this.#done;
    return html`<div class="controls" role="group" aria-label="Computation">
      <label><span role="status">Computing…</span> ${this.#bar}</label>
      <button @click=${this.#cancel}>Cancel</button>
    </div>`;
  }
}
