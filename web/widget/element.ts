/** The <attention-lab> element: wires the workspace, the views and the reader's hands together. */
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { type LoadOptions, loadForward } from '../core/load.ts';
import type { CellRef, ForwardSession, StageId, StageInfo } from '../core/types.ts';
import { type Scale, shareScale, signedScale, signedStages } from '../format/colour.ts';
import { fullPrecision } from '../format/number-text.ts';
import { exampleNames, type PresetId, presetIds, worked } from '../lessons/examples.ts';
import type { presets } from '../lessons/presets.ts';
import { initialState } from '../state/initial.ts';
import { keysFollow, problemFrom } from '../state/problem.ts';
import type { Action } from '../state/reducer.ts';
import { partMissing, type Reduce, type Store } from '../state/store.ts';
import {
  type InputId,
  isGiven,
  type Problem,
  type ProblemParts,
  type Shown,
  type SizeName,
  type State,
} from '../state/types.ts';
import { controls } from '../view/controls.ts';
import { formulaNavigation } from '../view/formula.ts';
import type { gradients as drawGradients } from '../view/gradients.ts';
import type { coloured } from '../view/heat-map.ts';
import { isWritten } from '../view/matrix.ts';
import { shownWithin } from '../view/shown.ts';
import { sectionIds, stages } from '../view/stages.ts';
import { styles } from '../view/styles.ts';
import type { AddressBar } from './address-bar.ts';
import type { EnginePanel } from './engine-panel.ts';
import type { GridController } from './grid-controller.ts';
import { Hands } from './hands.ts';
import type { Insight, insight } from './insight.ts';
import type { ScaleLabRunner } from './scale-lab.ts';
import type { Tools } from './tools.ts';
import { Workspace } from './workspace.ts';

export const tagName = 'attention-lab';

const explanationId = 'explanation';

const emptyPanel = html`<aside class="inspect empty" aria-label="Why this number">
  <p class="eyebrow">Why this number</p>
  <p class="sentence" id=${explanationId}>
    Tap a number, point at it or move to it with the keys: how it was made comes here. Dotted ones can
    be changed.
  </p>
</aside>`;

/**
 * Attributes: `preset` (an example's id), `wasm-url` (where the folder of .wasm files is, when not
 * beside the script), `address` (the state is kept in the page's address). Events, all composed: `attn-ready` once there are numbers, `attn-change` after
 * every recomputation, `attn-error` with `detail.message` when something failed. Children of the
 * element are shown until there are numbers and when there never will be.
 */
export class AttentionLabElement extends LitElement {
  static override properties = {
    preset: { type: String },
    wasmUrl: { type: String, attribute: 'wasm-url' },
    address: { type: Boolean },
  };
  static override styles = styles;

  declare preset: string;
  declare wasmUrl: string | undefined;
  declare address: boolean;

  #workspace: Workspace | null = null;
  #ready = false;
  /** The first frame with numbers is to come soon: it has the top of the page only. */
  #isFirst = true;
  #firstFrame: Promise<void> | null = null;
  /** The reader's hands on the matrices. */
  readonly #hands = new Hands(this);
  #tools: Tools | null = null;
  #addressBar: AddressBar | null = null;
  #address: Promise<AddressBar> | null = null;
  /** Ends whatever listens to the address or waits for the first change. */
  #forgetAddress = (): void => {};
  #scaleLab: ScaleLabRunner | null = null;
  #enginePanel: EnginePanel | null = null;
  #drawGradients: typeof drawGradients | null = null;
  #insight: typeof insight | null = null;
  /** Its loading, which is tried once. */
  #explaining: Promise<void> | null = null;
  /** The same of heat maps and gradients. */
  #colouring: Promise<void> | null = null;
  #differentiating: Promise<void> | null = null;
  #examples: typeof presets | null = null;
  #loadingExamples: Promise<void> | null = null;
  #coloured: typeof coloured | null = null;
  #section = '';
  /** What was done where the effect cannot be heard. */
  #said = '';
  /** The heading that was gone to; its section is the one in view as long as it can be seen. */
  #destination: HTMLElement | null = null;
  #scales = { revision: -1, of: new Map<StageId, Scale>() };
  #observer: IntersectionObserver | null = null;
  #loadEnd: (() => Promise<void>) | null = null;
  /** Ends what waits for the end of the page to be wanted. */
  #endWatch: AbortController | null = null;

  constructor() {
    super();
    this.preset = 'worked';
    this.wasmUrl = undefined;
    this.address = false;
  }

  /** The engine that runs, or null before there is one: which build, and why not another. */
  get engine() {
    return this.#workspace?.engine ?? null;
  }

  override connectedCallback(): void {
    // Before anything is drawn: its bytes are what the first numbers wait for.
    void loadForward(this.#loadOptions).catch(() => {});
    super.connectedCallback();
    void this.#begin();
  }

  async #begin(): Promise<void> {
    if (this.preset !== 'worked') await this.loadExamples();
    if (!this.isConnected) return;
    this.#workspace ??= this.#open();
    const workspace = this.#workspace;
    if (this.address) await this.#attempt(this.#startAddress(workspace.store));
    if (!this.isConnected) return;
    await workspace.start(this.#loadOptions);
    if (this.#addressBar) void this.#attempt(this.arrive(this.#addressBar.section));
  }

  get #loadOptions(): LoadOptions {
    return this.wasmUrl ? { wasmUrl: this.wasmUrl } : {};
  }

  #open(): Workspace {
    const state = this.stateOf(this.preset) ?? stateFrom('worked', worked);
    const workspace = new Workspace(
      state,
      (preset) => this.stateOf(preset)?.problem ?? null,
      () => this.#fetchHands(),
    );
    if (state.preset !== this.preset) workspace.store.dispatch(noExample(this.preset));
    workspace.addEventListener('state', () => this.requestUpdate());
    workspace.addEventListener('numbers', () => this.#numbersCame(workspace));
    return workspace;
  }

  /** What changes a state comes together with the reader's hands, so that both keep one order. */
  async #fetchHands(): Promise<Reduce> {
    const [{ reduce }, { GridController: Controller }] = await Promise.all([
      import('../state/reducer.ts'),
      import('./grid-controller.ts'),
    ]);
    this.#hands.take(Controller);
    return reduce;
  }

  /** An address that says nothing costs nothing: its reader is fetched with the first change. */
  async #startAddress(store: Store): Promise<void> {
    this.#forgetAddress();
    if (this.#addressBar || location.hash.length > 1) {
      await this.#openAddress();
      return;
    }
    const open = () => {
      this.#forgetAddress();
      void this.#attempt(this.#openAddress());
    };
    const unsubscribe = store.subscribe(open);
    addEventListener('hashchange', open);
    this.#forgetAddress = () => {
      unsubscribe();
      removeEventListener('hashchange', open);
      this.#forgetAddress = () => {};
    };
  }

  #openAddress(): Promise<AddressBar> {
    this.#address ??= (async () => {
      const bar = this.#addressBar ?? new (await import('./address-bar.ts')).AddressBar(this);
      this.#forgetAddress();
      await bar.start();
      this.#forgetAddress = () => {
        bar.stop();
        this.#address = null;
      };
      this.#addressBar = bar;
      if (!this.isConnected) this.#forgetAddress();
      return bar;
    })();
    return this.#address;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#forgetAddress();
    // Moving an element in the document also disconnects it; only one that stays away lets go.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#observer?.disconnect();
      this.#observer = null;
      this.#endWatch?.abort();
      this.#loadEnd = null;
      this.#explaining = null;
      this.#scaleLab?.dispose();
      this.#scaleLab = null;
      this.#enginePanel?.cancel();
      this.#enginePanel = null;
      this.#workspace?.release();
    });
  }

  #numbersCame(workspace: Workspace): void {
    this.requestUpdate();
    if (workspace.error) {
      this.#announce('attn-error', {
        code: workspace.error.code,
        message: workspace.error.message,
      });
    } else {
      const first = !this.#ready;
      this.#ready = true;
      void this.updateComplete.then(() => {
        this.#announce(first ? 'attn-ready' : 'attn-change', { revision: workspace.revision });
      });
    }
  }

  #announce(type: string, detail: Record<string, unknown>): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  // ---- what is shown -------------------------------------------------------------------------

  /**
   * Nothing is drawn over what the reader did before it is taken; what it changes is drawn once,
   * together with the numbers that come with the next frame.
   */
  protected override async scheduleUpdate(): Promise<void> {
    const workspace = this.#workspace;
    if (workspace?.store.isWaiting) await workspace.store.ready();
    if (workspace?.computed && workspace.computed !== workspace.store.state.problem) {
      await new Promise(requestAnimationFrame);
    }
    super.scheduleUpdate();
  }

  protected override render(): TemplateResult {
    const workspace = this.#workspace;
    const session = workspace?.session;
    const problem = workspace?.computed;
    if (!workspace || !session || !problem) return this.#withoutNumbers(workspace?.error?.message);
    const { state } = workspace.store;
    const { table } = this;
    const labels = problem.names;
    const shown = shownWithin(session, state.shown);
    const active = this.#active(state, session);
    const told = this.#tell(active, problem, state, shown);
    return html`
      <div class="bar">
        <div class="wrap">
          <slot name="bar-start"></slot>
          ${formulaNavigation(this.#section, problem.scale === null ? null : fullPrecision(problem.scale), this.#onFormulaLink)}
          <slot name="bar-end"></slot>
        </div>
      </div>
      <div class="wrap">
        <slot name="intro"></slot>
        ${this.#controls(state)}
        <p class="visually-hidden" role="status">${this.#said}</p>
        ${workspace.longRun?.render()}
        ${state.notice ? html`<p class="complaint" role="alert">${state.notice}</p>` : nothing}
        <div class="cols">
          <div
            class=${this.#hands.grid?.editing ? 'stages typing' : 'stages'}
            @pointermove=${this.#hands.handle}
            @pointerleave=${this.#hands.handle}
            @pointerdown=${this.#hands.handle}
            @pointercancel=${this.#hands.handle}
            @focusin=${this.#hands.handle}
            @focusout=${this.#hands.handle}
            @click=${this.#hands.handle}
            @keydown=${this.#hands.handle}
            @input=${this.#hands.handle}
            @change=${this.#hands.handle}
            @paste=${this.#hands.handle}
          >
            ${stages({
              labels,
              heads: problem.sizes.heads,
              format: state.format,
              drafts: state.drafts,
              active,
              pinned: active !== null && active === state.pinned,
              operands: told?.operands ?? new Set(),
              coloured: this.#colouredFor(session),
              operandBoxes: told?.boxes ?? new Map(),
              revision: workspace.revision,
              scaleOf: (stage) => this.#scaleOf(stage, workspace),
              onHover: this.#hands.hover,
              onFocus: this.#hands.focus,
              onPin: this.#hands.pin,
              onEnter: this.#hands.enter,
              onRelease: this.#hands.release,
              shown,
              gradients: this.#gradients(problem),
              onSwitch: (switches) => workspace.store.dispatch({ type: 'switch', switches }),
              reading: state.reading,
              scaleLab:
                (workspace.whole &&
                  this.#scaleLab?.render(workspace.whole.session, workspace.revision, shown)) ??
                html`<p class="waiting">The comparison loads when it comes into view.</p>`,
              onReading: (reading) => workspace.store.dispatch({ type: 'reading', reading }),
              editing: this.#hands.grid?.editing ?? null,
              stops: this.#hands.grid?.stops ?? noStops,
              explanationId,
              problem,
              wanted: state.problem,
              session,
              table,
              isFirst: this.#isFirst,
            })}
          </div>
          ${told?.panel ?? emptyPanel}
        </div>

      </div>
      ${[this.#enginePanel, this.#tools].map((part) => part?.render())}
    `;
  }

  /** Before there are numbers, and when there never will be: the host page's own content. */
  #withoutNumbers(message: string | undefined): TemplateResult {
    return html`<div class="wrap">
      ${
        message
          ? html`<div class="failure" role="alert">
              <p><b>The numbers cannot be worked here.</b></p>
              <p>${message}</p>
            </div>`
          : html`<p class="visually-hidden" role="status">The engine is loading.</p>`
      }
      ${this.#workspace?.longRun?.render()}
      <slot></slot>
    </div>`;
  }

  /** The explanation of the active cell; its words are fetched when they are first asked for. */
  #tell(cell: CellRef | null, problem: Problem, state: State, shown: Shown): Insight | null {
    if (!cell) return null;
    const whole = this.#workspace?.whole;
    if (!this.#insight || !whole) {
      this.#explaining ??= this.#attempt(this.#loadInsight());
      return null;
    }
    return this.#insight({
      id: explanationId,
      cell,
      session: whole.session,
      problem,
      state,
      shown,
      typed: this.#hands.grid?.typed ?? false,
      host: this,
      onTools: this.#openMatrix,
    });
  }

  /** Says so when a part of the page cannot be fetched; everything else goes on. */
  async #attempt(loading: Promise<unknown> | undefined): Promise<void> {
    try {
      await loading;
    } catch (error) {
      this.store.dispatch({ type: 'notice', notice: partMissing(error) });
    }
  }

  /** The part, once there is also what all such parts need. */
  async #withWhole<T>(loading: Promise<T>): Promise<T> {
    const [part] = await Promise.all([
      loading,
      this.#workspace?.needWhole(),
      this.#addLaterStyles(),
    ]);
    return part;
  }

  async #loadInsight(): Promise<void> {
    const { insight } = await this.#withWhole(import('./insight.ts'));
    this.#insight = insight;
    this.requestUpdate();
  }

  /** Heat maps are fetched with the first matrix that is too large for numbers. */
  #colouredFor(session: ForwardSession): typeof coloured | null {
    const large = () =>
      this.engine?.stages.some(({ id }) => session.has(id) && !isWritten(session.shape(id)));
    if (!this.#coloured && large()) {
      this.#colouring ??= this.#attempt(
        Promise.all([import('../view/heat-map.ts'), this.#addLaterStyles()]).then(([part]) => {
          this.#coloured = part.coloured;
          this.requestUpdate();
        }),
      );
    }
    return this.#coloured;
  }

  /** The style sheet of what is fetched later comes with the first such part. */
  async #addLaterStyles(): Promise<void> {
    const { laterStyles } = await import('../view/later-styles.ts');
    const root = this.renderRoot as ShadowRoot;
    const sheet = laterStyles.styleSheet;
    if (sheet && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
    this.requestUpdate();
  }

  /** The gradient mode is a part of its own, fetched when it is first switched on. */
  #gradients(problem: Problem): typeof drawGradients | null {
    if (problem.gradients) {
      this.#differentiating ??= this.#attempt(
        import('../view/gradients.ts').then(({ gradients }) => {
          this.#drawGradients = gradients;
          this.requestUpdate();
        }),
      );
    }
    return this.#drawGradients;
  }

  /** The first one is there already; yet it comes after an example that was asked for before it. */
  async #openExample(preset: string): Promise<void> {
    if (preset !== 'worked' || this.#loadingExamples) await this.loadExamples();
    const problem = this.stateOf(preset)?.problem;
    this.store.dispatch(problem ? { type: 'open', preset, problem } : noExample(preset));
  }

  #controls(state: State): TemplateResult {
    const { source, outputProjection } = state.problem;
    const sizes: SizeName[] = ['tq', 'tk'];
    if (source === 'x' || outputProjection) sizes.push('dModel');
    sizes.push('dK', 'dV');
    const { store } = this;
    return controls({
      state,
      examples: presetIds.map((id) => ({ id, name: exampleNames[id] })),
      sizes,
      shown: shownWithin(this.session as ForwardSession, state.shown),
      onShow: (shown) => store.dispatch({ type: 'show', shown }),
      keysFollow: keysFollow(state.problem),
      onExample: (id) => void this.#attempt(this.#openExample(id)),
      onField: (field, text) => store.dispatch({ type: 'field', field, text }),
      onMode: (mode) =>
        store.dispatch({
          type: 'format',
          format: { mode, digits: Math.max(1, store.state.format.digits) },
        }),
      onReseed: () => store.dispatch({ type: 'reseed' }),
      onTools: () => this.#openMatrix(state.pinned?.stage ?? (source === 'x' ? 'x' : 'q')),
      onNames: () => this.#openTools((tools) => tools.openNames()),
      onUndo: () => {
        store.dispatch({ type: 'undo' });
        this.say(`Undone. Steps left to undo: ${store.state.past.length}.`);
      },
      onRedo: () => {
        store.dispatch({ type: 'redo' });
        this.say(`Redone. Steps left to redo: ${store.state.future.length}.`);
      },
      onReset: () => {
        void this.#attempt(this.#openExample(store.state.preset));
        this.say('Reset: the example stands there as it was.');
      },
    });
  }

  /** Made once for each revision: a large matrix is not searched for every movement of a pointer. */
  #scaleOf(stage: StageId, workspace: Workspace): Scale {
    const { session, revision } = workspace;
    if (this.#scales.revision !== revision) this.#scales = { revision, of: new Map() };
    const known = this.#scales.of.get(stage);
    if (known) return known;
    // A mask may hold much larger numbers than the scores; those lie beyond their scale.
    if (stage === 'maskedScores') return this.#scaleOf('rawScores', workspace);
    const stages: readonly StageId[] = signedStages.has(stage) ? [...signedStages] : [stage];
    const scale =
      stage === 'weights' || stage === 'exponentials'
        ? shareScale
        : signedScale(
            stages
              .filter((id) => session?.has(id))
              .map((id) => session?.view(id) ?? new Float32Array()),
          );
    for (const id of stages) this.#scales.of.set(id, scale);
    return scale;
  }

  /**
   * The explained cell: a pinned result, else the one pointed at, else a pinned input, which was
   * clicked to be edited, else the one with the focus.
   */
  #active({ pinned, problem }: State, session: ForwardSession): CellRef | null {
    const { hovered = null, focused = null } = this.#hands.grid ?? {};
    const held = pinned !== null && !isGiven(problem, pinned.stage);
    const cell = held ? pinned : (hovered ?? pinned ?? focused);
    return cell && isInside(cell, session) ? cell : null;
  }

  /** Everything is drawn when the rest is, too. */
  protected override async getUpdateComplete(): Promise<boolean> {
    const done = await super.getUpdateComplete();
    if (!this.#isFirst || !this.#firstFrame) return done;
    await this.#firstFrame;
    return this.getUpdateComplete();
  }

  /** Draws the rest after the first frame. */
  async #goOn(): Promise<void> {
    // A page that is not seen has no frames.
    if (!document.hidden) await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    this.#isFirst = false;
    this.requestUpdate();
  }

  protected override updated(changed: PropertyValues): void {
    // The first value is opened at the start.
    if (changed.get('preset') && this.#workspace)
      void this.#attempt(this.#openExample(this.preset));
    if (this.#ready && this.#isFirst) this.#firstFrame ??= this.#goOn();
    // Without numbers there are no sections, as after an element was removed.
    if (this.#observer || this.#isFirst || !this.#workspace?.computed) return;
    if (typeof IntersectionObserver === 'undefined') return;
    const seen = new Map<string, boolean>();
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          seen.set((entry.target as HTMLElement).dataset.section ?? '', entry.isIntersecting);
        }
        const goneTo = this.#destination && isInSight(this.#destination);
        if (!goneTo) this.#destination = null;
        const current =
          this.#destination?.closest('section')?.dataset.section ??
          sectionIds.find((id) => seen.get(id)) ??
          '';
        if (current === this.#section) return;
        this.#section = current;
        this.requestUpdate();
      },
      { rootMargin: '-25% 0px -60% 0px' },
    );
    for (const section of this.renderRoot.querySelectorAll('section')) {
      this.#observer.observe(section);
    }
    this.#loadEndInView();
  }

  /** The comparison and the engine's panel are parts of their own, fetched only by those who come near. */
  #loadEndInView(): void {
    const section = this.renderRoot.querySelector('#scale');
    if (!section || this.#scaleLab) return;
    const load = async () => {
      if (this.#scaleLab) return;
      near.disconnect();
      const { ScaleLabRunner, EnginePanel } = await this.#withWhole(import('./page-end.ts'));
      const whole = this.#workspace?.whole;
      if (!whole || !this.isConnected || this.#scaleLab) return;
      const onChange = () => this.requestUpdate();
      this.#scaleLab = new ScaleLabRunner(whole.engine, this.store, onChange);
      this.#enginePanel = new EnginePanel(whole.engine, onChange);
      onChange();
    };
    this.#loadEnd = load;
    const near = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) void this.#attempt(load());
      },
      { rootMargin: '400px 0px' },
    );
    near.observe(section);
    // A page is printed as a whole. Its copy is taken as soon as it is asked for, so that loading has
    // to begin with the key that the shortcut starts with.
    const loadNow = () => void this.#attempt(load());
    // As the options of a listener it brings its signal.
    this.#endWatch = new AbortController();
    addEventListener('beforeprint', loadNow, this.#endWatch);
    addEventListener(
      'keydown',
      ({ key }) => (key === 'Control' || key === 'Meta') && loadNow(),
      this.#endWatch,
    );
  }

  // ---- what the reader does ------------------------------------------------------------------

  /** The state behind the element; there once it was connected. */
  get store(): Store {
    return (this.#workspace as Workspace).store;
  }

  get session(): ForwardSession | null {
    return this.#workspace?.session ?? null;
  }

  get table(): ReadonlyMap<StageId, StageInfo> {
    return new Map(this.engine?.stages.map((info) => [info.id, info]));
  }

  get shown(): Shown {
    const { shown } = this.store.state;
    return this.session ? shownWithin(this.session, shown) : shown;
  }

  say(text: string): void {
    this.#said = text;
    this.requestUpdate();
  }

  offerMatrix(stage: InputId, text: string): void {
    this.#openTools((tools) => tools.openMatrix(stage, text));
  }

  #openMatrix = (stage: StageId): void => {
    this.#openTools((tools) => tools.openMatrix(stage));
  };

  #openTools(open: (tools: Tools) => void): void {
    const load = async () => {
      const { Tools: Dialogs } = await import('./tools.ts');
      await this.#addLaterStyles();
      this.#tools ??= new Dialogs(this);
      open(this.#tools);
    };
    void this.#attempt(load());
  }

  goToPanel(): void {
    this.renderRoot.querySelector<HTMLElement>('aside.inspect :is(button, input)')?.focus();
  }

  #onFormulaLink = (section: string, event: Event): void => {
    event.preventDefault();
    if (this.address) void this.#attempt(this.#openAddress().then((bar) => bar.enter(section)));
    this.goToSection(section);
  };

  /** Brings a section into view; a browser does not find targets inside a shadow root. */
  goToSection(section: string): void {
    if (!sectionIds.some((id) => id === section)) return;
    const heading = this.renderRoot.querySelector<HTMLElement>(`#${section} h2`);
    if (!heading) return;
    heading.focus({ preventScroll: true });
    this.reveal(heading, 'start');
    // The last sections may be too short to reach the top.
    this.#destination = heading;
    this.#section = section;
    this.requestUpdate();
  }

  /** Where an address leads: to the cell that it pins, else to its section. */
  async arrive(section: string): Promise<void> {
    await this.updateComplete;
    const { pinned, problem } = this.store.state;
    // What is fetched on the way to them would push them out of sight.
    if (problem.gradients) await this.#attempt(this.#loadEnd?.());
    await this.updateComplete;
    if (!pinned) {
      this.goToSection(section);
      return;
    }
    const { elementOf } = await import('./insight.ts');
    // The panel, which may take room from the cells, comes first.
    await this.#explaining;
    await this.updateComplete;
    const cell = elementOf(this, pinned);
    if (cell) this.reveal(cell, 'center');
  }

  /**
   * Fetches the examples but the first; `stateOf` knows them from then on. One promise for all who
   * wait, so that who asked first goes on first: two imports may end in either order.
   */
  loadExamples(): Promise<void> {
    this.#loadingExamples ??= import('../lessons/presets.ts').then(
      ({ presets }) => {
        this.#examples = presets;
      },
      (error) => {
        this.#loadingExamples = null;
        throw error;
      },
    );
    return this.#loadingExamples;
  }

  /** The state of an example, null for an unknown one and for one that is not loaded. */
  stateOf(preset: string): State | null {
    const id = presetIds.find((known) => known === preset);
    const parts = id && (this.#examples?.[id].parts ?? (id === 'worked' ? worked : undefined));
    return id && parts ? stateFrom(id, parts) : null;
  }

  get initialPreset(): string {
    return this.preset;
  }

  /** The address of this page with the state as it is now; only with the attribute `address`. */
  async link(): Promise<string> {
    return this.address ? (await this.#openAddress()).link() : location.href;
  }

  reveal(target: HTMLElement, block: ScrollLogicalPosition): void {
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    target.scrollIntoView({ block, inline: 'nearest', behavior: calm ? 'auto' : 'smooth' });
  }
}

const noStops: GridController['stops'] = new Map();

function isInSight(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

const stateFrom = (id: PresetId, parts: ProblemParts): State =>
  initialState(id, problemFrom(parts));

const noExample = (preset: string): Action => ({
  type: 'notice',
  notice: `There is no example “${preset}”. The examples are ${presetIds.join(', ')}.`,
});

function isInside(cell: CellRef, session: ForwardSession): boolean {
  if (!session.has(cell.stage)) return false;
  const { batch, heads, rows, cols } = session.shape(cell.stage);
  return cell.batch < batch && cell.head < heads && cell.row < rows && cell.col < cols;
}
