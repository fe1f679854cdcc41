/** Runs the comparison with and without √d_k in two sessions of its own. Loaded when it comes into view. */
import type { TemplateResult } from 'lit';
import { AttentionError } from '../core/errors.ts';
import type { Engine, ForwardSession, Session, StageInfo } from '../core/types.ts';
import { signedScale } from '../format/colour.ts';
import { indexLabel } from '../format/stage-text.ts';
import type { Store } from '../state/store.ts';
import { mostLabWidth, type ScaleLab, type Shown } from '../state/types.ts';
import { type LabSide, scaleLab } from '../view/scale-lab.ts';
import { shownMatrix } from '../view/shown.ts';

/** Queries and keys of the random comparison. */
const randomTokens = 8;
const maxSeed = 2 ** 32 - 1;

interface Sides {
  readonly raw: Session;
  readonly scaled: Session;
}

export class ScaleLabRunner {
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #onChange: () => void;
  #sides: Sides | null = null;
  #key = '';
  #message = '';

  constructor(engine: Engine, store: Store, onChange: () => void) {
    this.#engine = engine;
    this.#store = store;
    this.#onChange = onChange;
  }

  dispose(): void {
    this.#sides?.raw.dispose();
    this.#sides?.scaled.dispose();
    this.#sides = null;
    this.#key = '';
  }

  /** `main` holds the page's own numbers, which `revision` counts. */
  render(main: ForwardSession, revision: number, shown: Shown): TemplateResult {
    const { lab, format, problem } = this.#store.state;
    const sides = this.#run(lab, main, revision, shown);
    const { rows, cols } = sides.raw.shape('rawScores');
    const row = Math.min(lab.row, Math.max(0, rows - 1));
    const labels = lab.source === 'given' ? problem.names : {};
    const name = (axis: 'query' | 'key') => (index: number) => indexLabel(axis, index, labels);
    return scaleLab({
      lab: { ...lab, row },
      dK: sides.raw.shape('q').cols,
      rows: [...Array(rows).keys()].map(name('query')),
      keys: [...Array(cols).keys()].map(name('key')),
      raw: sideOf(sides.raw, row),
      scaled: sideOf(sides.scaled, row),
      scale: signedScale([sides.raw.view('scaledScores'), sides.scaled.view('scaledScores')]),
      format,
      message: this.#message,
      onLab: this.#onLab,
      onSeedText: (text) =>
        this.#take(text, 'A seed is a whole number', 0, maxSeed, (seed) => this.#onLab({ seed })),
      onWidthText: (text) =>
        this.#take(text, 'd_k is a whole number', 1, mostLabWidth, (dK) => this.#onLab({ dK })),
    });
  }

  #onLab = (lab: Partial<ScaleLab>): void => {
    this.#message = '';
    this.#store.dispatch({ type: 'lab', lab });
  };

  #take(text: string, what: string, least: number, most: number, go: (n: number) => void): void {
    const number = Number(text);
    if (/^\s*\d+\s*$/.test(text) && number >= least && number <= most) {
      go(number);
      return;
    }
    this.#message = `${what} from ${least} to ${most}, but “${text}” was found. The old one is kept.`;
    this.#onChange();
  }

  #run(
    { source, dK, seed }: ScaleLab,
    main: ForwardSession,
    revision: number,
    shown: Shown,
  ): Sides {
    const { batch, head } = shown;
    const key = source === 'random' ? `${dK} ${seed}` : `given ${revision} ${batch} ${head}`;
    this.#sides ??= { raw: this.#engine.createSession(), scaled: this.#engine.createSession() };
    if (key === this.#key) return this.#sides;
    const { rows: tq, cols } = main.shape('q');
    const { rows: tk } = main.shape('k');
    const sizes =
      source === 'random' ? { tq: randomTokens, tk: randomTokens, dK } : { tq, tk, dK: cols };
    const copy = (stage: 'q' | 'k') =>
      shownMatrix(
        main,
        this.#engine.stages.find(({ id }) => id === stage) as StageInfo,
        shown,
      ).values.slice();
    const given = source === 'given' ? { q: copy('q'), k: copy('k') } : null;
    for (const [session, scale] of [
      [this.#sides.scaled, undefined],
      [this.#sides.raw, 1],
    ] as const) {
      try {
        session.configure({
          ...sizes,
          dV: 1,
          source: 'qkv',
          ...(scale === undefined ? {} : { scale }),
        });
      } catch (error) {
        if (!(error instanceof AttentionError)) throw error;
        this.#message = error.message;
        return this.#sides;
      }
      for (const stage of ['q', 'k'] as const) {
        if (given) session.setInput(stage, given[stage]);
        else session.fillNormal(stage, seed);
      }
      session.run();
    }
    this.#key = key;
    return this.#sides;
  }
}

function sideOf(session: Session, row: number): LabSide {
  const { cols } = session.shape('weights');
  const rowOf = (stage: 'scaledScores' | 'weights') =>
    Array.from(session.view(stage).subarray(row * cols, (row + 1) * cols));
  const none = {
    sum: 0,
    maximum: 0,
    entropy: 0,
    effectiveKeys: 0,
    jacobianNorm: 0,
    saturation: Number.NaN,
  };
  return {
    scores: rowOf('scaledScores'),
    weights: rowOf('weights'),
    statistics: session.rowStatistics()[row] ?? none,
  };
}
