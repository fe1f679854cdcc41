/** Runs the comparison with and without √d_k in two sessions of its own. Loaded when it comes into view. */
import type { TemplateResult } from 'lit';
import { AttentionError } from '../core/errors.ts';
import type { Engine, RowStatistics, RowsSummary, Session, StageInfo } from '../core/types.ts';
import { signedScale } from '../format/colour.ts';
import { indexLabel } from '../format/stage-text.ts';
import type { Store } from '../state/store.ts';
import { mostLabWidth, type ScaleLab, type Shown } from '../state/types.ts';
import { type LabSide, type NamedSummary, scaleLab } from '../view/scale-lab.ts';
import { shownMatrix } from '../view/shown.ts';

/** Queries and keys of the random comparison. */
const randomTokens = 8;
const maxSeed = 2 ** 32 - 1;

/** A session with what the core says of its rows, asked for once a run. */
interface Side {
  readonly session: Session;
  rows: readonly RowStatistics[];
  summary: RowsSummary;
}

interface Sides {
  readonly raw: Side;
  readonly scaled: Side;
}

export class ScaleLabRunner {
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #onChange: () => void;
  #sides: Sides | null = null;
  #key = '';
  #own: { readonly key: string; readonly summaries: readonly NamedSummary[] } | null = null;
  #message = '';

  constructor(engine: Engine, store: Store, onChange: () => void) {
    this.#engine = engine;
    this.#store = store;
    this.#onChange = onChange;
  }

  dispose(): void {
    this.#sides?.raw.session.dispose();
    this.#sides?.scaled.session.dispose();
    this.#sides = null;
    this.#own = null;
    this.#key = '';
  }

  /** `main` holds the page's own numbers, which `revision` counts. */
  render(main: Session, revision: number, shown: Shown): TemplateResult {
    const { lab, format, problem } = this.#store.state;
    const sides = this.#run(lab, main, revision, shown);
    const raw = sides.raw.session;
    const { rows, cols } = raw.shape('rawScores');
    const row = Math.min(lab.row, Math.max(0, rows - 1));
    const labels = lab.source === 'given' ? problem.names : {};
    const name = (axis: 'query' | 'key') => (index: number) => indexLabel(axis, index, labels);
    return scaleLab({
      lab: { ...lab, row },
      dK: raw.shape('q').cols,
      rows: [...Array(rows).keys()].map(name('query')),
      keys: [...Array(cols).keys()].map(name('key')),
      raw: sideOf(sides.raw, row),
      scaled: sideOf(sides.scaled, row),
      own: lab.source === 'given' ? this.#summariesOf(main, revision, shown.batch) : [],
      scale: signedScale([raw.view('scaledScores'), sides.scaled.session.view('scaledScores')]),
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

  #run({ source, dK, seed }: ScaleLab, main: Session, revision: number, shown: Shown): Sides {
    const { batch, head } = shown;
    const key = source === 'random' ? `${dK} ${seed}` : `given ${revision} ${batch} ${head}`;
    this.#sides ??= { raw: this.#side(), scaled: this.#side() };
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
    for (const [side, scale] of [
      [this.#sides.scaled, undefined],
      [this.#sides.raw, 1],
    ] as const) {
      const { session } = side;
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
      side.rows = session.rowStatistics();
      side.summary = session.headStatistics();
    }
    this.#key = key;
    return this.#sides;
  }

  #side(): Side {
    return { session: this.#engine.createSession(), rows: [], summary: noRows };
  }

  /** Of the page's own weights, as masks, scale and softcap make them: each head and the batch. */
  #summariesOf(main: Session, revision: number, batch: number): readonly NamedSummary[] {
    const key = `${revision} ${batch}`;
    if (this.#own?.key === key) return this.#own.summaries;
    const { batch: batches, heads } = main.shape('weights');
    const summaries = [...Array(heads).keys()].map((head) => ({
      name: heads > 1 ? `Weights above, head ${head}` : 'Weights above',
      summary: main.headStatistics(batch, head),
    }));
    if (heads > 1) {
      const name =
        batches > 1 ? `Weights above, all heads of batch ${batch}` : 'Weights above, all heads';
      summaries.push({ name, summary: main.batchStatistics(batch) });
    }
    this.#own = { key, summaries };
    return summaries;
  }
}

const noRow: RowStatistics = {
  sum: 0,
  maximum: 0,
  entropy: 0,
  effectiveKeys: 0,
  jacobianNorm: 0,
  saturation: Number.NaN,
};

const noRows: RowsSummary = { rows: 0, empty: 0, mean: noRow, largest: noRow };

function sideOf({ session, rows, summary }: Side, row: number): LabSide {
  const { cols } = session.shape('weights');
  const rowOf = (stage: 'scaledScores' | 'weights') =>
    Array.from(session.view(stage).subarray(row * cols, (row + 1) * cols));
  return {
    scores: rowOf('scaledScores'),
    weights: rowOf('weights'),
    statistics: rows[row] ?? noRow,
    summary,
  };
}
