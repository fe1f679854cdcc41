/** What the dialogs do: reads pasted matrices, fills, copies, names. Loaded when first opened. */
import type { TemplateResult } from 'lit';
import { type ForwardSession, type StageId, type StageInfo, stageIds } from '../core/types.ts';
import { formatNumber } from '../format/number-text.ts';
import { stageText, symbolOf } from '../format/stage-text.ts';
import { interpretation, type MatrixResult, readMatrix } from '../io/read-matrix.ts';
import { writeMatrix } from '../io/write-matrix.ts';
import { type Fill, tiedSizes } from '../state/changes.ts';
import { keysFollow } from '../state/problem.ts';
import { sizeConflicts } from '../state/size-conflicts.ts';
import { beyondLimit, sizeSymbols } from '../state/size-limit.ts';
import type { Store } from '../state/store.ts';
import {
  type InputId,
  inputsOf,
  type NamedAxis,
  namedAxes,
  type Problem,
  type Shown,
} from '../state/types.ts';
import { type CopyFormat, matrixDialog, namesDialog } from '../view/dialogs.ts';
import { placeOf, shownMatrix } from '../view/shown.ts';

export interface ToolsHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly store: Store;
  readonly session: ForwardSession | null;
  readonly table: ReadonlyMap<StageId, StageInfo>;
  readonly shown: Shown;
  readonly updateComplete: Promise<boolean>;
  requestUpdate(): void;
}

/** Largest seed: the core takes 32 bits. */
const maxSeed = 2 ** 32 - 1;
const previewCells = 6;

const labelOf = (stage: StageId, session: ForwardSession, scale: number | null): string => {
  const { rows, cols } = session.shape(stage);
  return `${symbolOf(stage, scale)}: ${stageText[stage].name}, ${rows} × ${cols}`;
};

export class Tools {
  readonly #host: ToolsHost;
  #open: { kind: 'matrix'; stage: StageId } | { kind: 'names' } | null = null;
  /** What was typed or pasted for each matrix and not taken yet; closing the dialog keeps it. */
  readonly #texts = new Map<StageId, string>();
  #text = '';
  #read: MatrixResult | null = null;
  #seed = '1';
  #seedError = '';
  #copied = '';
  /** Whether keys are to have the names of the queries, where both are counted alike. */
  #same = true;
  #copyText = '';

  constructor(host: ToolsHost) {
    this.#host = host;
  }

  /** Opens the dialog of one matrix, with a text that was pasted elsewhere or what was typed for it. */
  openMatrix(stage: StageId, text = this.#texts.get(stage) ?? ''): void {
    this.#open = { kind: 'matrix', stage };
    this.#seedError = '';
    this.#copied = '';
    this.#copyText = '';
    this.#onText(text);
    void this.#show();
  }

  openNames(): void {
    this.#open = { kind: 'names' };
    const { query = [], key = [] } = this.#host.store.state.problem.names;
    this.#same = query.join() === key.join();
    void this.#show();
  }

  async #show(): Promise<void> {
    this.#host.requestUpdate();
    await this.#host.updateComplete;
    const dialog = this.#dialog();
    if (dialog && !dialog.open) dialog.showModal();
  }

  #dialog = (): HTMLDialogElement | null => this.#host.renderRoot.querySelector('dialog');

  #close = (): void => this.#dialog()?.close();

  /** The dialog's own close event: Escape, the button, or a thing taken. */
  #closed = (): void => {
    this.#open = null;
    this.#host.requestUpdate();
  };

  render(): TemplateResult | null {
    const open = this.#open;
    const { session, store } = this.#host;
    if (!open || !session) return null;
    if (open.kind === 'names') return this.#renderNames(store.state.problem);
    const { stage } = open;
    const { problem } = store.state;
    const input = inputsOf(problem).find((id) => id === stage);
    return matrixDialog({
      matrices: stageIds
        .filter((id) => session.has(id))
        .map((id) => ({ id, label: labelOf(id, session, problem.scale) })),
      stage,
      editable: input !== undefined,
      text: this.#text,
      ...this.#understood(problem, input),
      seed: this.#seed,
      copied: this.#copied,
      copyText: this.#copyText,
      onStage: (id) => this.#turnTo(stage, id),
      onText: this.#onText,
      onTake: () => input && this.#take(input),
      onFill: (fill) => input && this.#fill(input, fill),
      onSeed: (text) => {
        this.#seed = text;
      },
      onDraw: () => input && this.#draw(input),
      onCopy: (format) => void this.#copy(stage, format),
      onClose: this.#closed,
    });
  }

  #renderNames(problem: Problem): TemplateResult {
    const { names, source, outputProjection } = problem;
    const same = this.#mayDiffer(problem) ? this.#same : null;
    const shared = this.#shareNames(problem);
    // The newest problem, not the one that is drawn: the field before may have been left just now.
    const newest = () => this.#host.store.state.problem;
    return namesDialog({
      names,
      axes: namedAxes.filter(
        (axis) =>
          !(axis === 'key' && shared) &&
          !(axis === 'model' && source === 'qkv' && !outputProjection),
      ),
      onNames: (axis, text) => {
        const list = text.trim() === '' ? [] : text.split(',').map((name) => name.trim());
        const next: Partial<Record<NamedAxis, readonly string[]>> = {
          ...newest().names,
          [axis]: list,
        };
        if (axis === 'query' && this.#shareNames(newest())) next.key = list;
        this.#host.store.dispatch({ type: 'names', names: next });
      },
      same,
      onSame: (wanted) => {
        this.#same = wanted;
        if (wanted) {
          const { query = [] } = newest().names;
          this.#host.store.dispatch({ type: 'names', names: { ...newest().names, key: query } });
        }
        this.#host.requestUpdate();
      },
      onClose: this.#closed,
    });
  }

  /** Whether the reader may give keys other names than queries, or the same. */
  #mayDiffer(problem: Problem): boolean {
    const { context, sizes } = problem;
    return !keysFollow(problem) && !context && sizes.tq === sizes.tk;
  }

  #shareNames(problem: Problem): boolean {
    return keysFollow(problem) || (this.#mayDiffer(problem) && this.#same);
  }

  /** The reading of the text as the dialog shows it, with what taking it would change. */
  #understood(problem: Problem, input: InputId | undefined) {
    const nothing = { reading: null, preview: [], previewCut: false, take: null };
    if (this.#seedError) {
      return { ...nothing, reading: { ok: false, message: this.#seedError } };
    }
    if (!this.#read || this.#text.trim() === '' || !input) return nothing;
    if (!this.#read.ok) {
      const { message, line, col } = this.#read;
      const where = line === undefined ? '' : ` (line ${line}, character ${col})`;
      return { ...nothing, reading: { ok: false, message: `${message}${where}` } };
    }
    const { values, note } = this.#read;
    const rows = values.length;
    const cols = values[0]?.length ?? 0;
    const conflicts = sizeConflicts(problem, input, rows, cols);
    const shared = conflicts.filter((conflict) => conflict.shared.length > 0);
    const { symbol } = stageText[input];
    const clashes = conflicts.flatMap(
      ({ size, along, found, expected, wanted, shared: others }) => {
        const counted = found === 1 ? along.replace(/s$/, '') : along;
        const has = `${symbol} has ${found} ${counted}, but`;
        if (wanted === null) {
          return input === 'mask'
            ? `${has} as many as rows, ${expected}, are expected: T_k follows T_q.`
            : `${has} ${expected} or another multiple of the heads is expected.`;
        }
        if (others.length === 0) return [];
        const names = others.map((id) => stageText[id].symbol).join(' and ');
        return `${has} ${names} ${others.length > 1 ? 'need' : 'needs'} ${sizeSymbols[size]} = ${problem.sizes[size]}.`;
      },
    );
    const impossible = conflicts.some(({ wanted }) => wanted === null);
    const sizes = conflicts
      .map(({ size, wanted }) => `${sizeSymbols[size]} = ${wanted}`)
      .join(' and ');
    const other = [...new Set(shared.flatMap((conflict) => conflict.shared))];
    const tooLarge = beyondLimit(
      tiedSizes(
        problem,
        Object.fromEntries(conflicts.map(({ size, wanted }) => [size, wanted ?? 0])),
        problem.sizes,
      ),
    );
    const [kept, drawn] = [false, true].map((seeded) =>
      other
        .filter((id) => (problem.seeds[id] !== undefined) === seeded)
        .map((id) => stageText[id].symbol)
        .join(', '),
    );
    const resizes = [
      ...(kept ? [`Taking it resizes ${kept}: numbers that fit stay, new ones are 0.`] : []),
      ...(drawn ? [`Taking it draws ${drawn} again in the new size, from the same seed.`] : []),
    ];
    const consequences = tooLarge
      ? [`${symbol} cannot be taken: ${tooLarge}`]
      : [...clashes, ...resizes];
    const message = [
      `Understood as ${interpretation(this.#read)}.`,
      ...(note ? [note] : []),
      ...consequences,
    ].join(' ');
    return {
      reading: { ok: clashes.length === 0 && !tooLarge, message },
      preview: values
        .slice(0, previewCells)
        .map((row) =>
          row
            .slice(0, previewCells)
            .map((cell) => formatNumber(cell, { mode: 'significant', digits: 4 })),
        ),
      previewCut: rows > previewCells || cols > previewCells,
      take:
        impossible || tooLarge
          ? null
          : conflicts.length > 0
            ? `Take it and set ${sizes}`
            : 'Take it',
    };
  }

  /** Another matrix is chosen: a text goes along to an input that has none of its own. */
  #turnTo(from: StageId, to: StageId): void {
    const { problem } = this.#host.store.state;
    const text = this.#texts.get(from);
    if (text && !this.#texts.get(to) && inputsOf(problem).some((id) => id === to)) {
      this.#texts.delete(from);
      this.openMatrix(to, text);
    } else {
      this.openMatrix(to);
    }
  }

  #onText = (text: string): void => {
    this.#text = text;
    if (this.#open?.kind === 'matrix') this.#texts.set(this.#open.stage, text);
    this.#seedError = '';
    this.#read =
      text.trim() === ''
        ? null
        : readMatrix(
            text,
            this.#open?.kind === 'matrix' && this.#open.stage === 'mask'
              ? { nonFinite: 'minusInfinity' }
              : {},
          );
    this.#host.requestUpdate();
  };

  #take(stage: InputId): void {
    if (!this.#read?.ok) return;
    const { values } = this.#read;
    const cols = values[0]?.length ?? 0;
    this.#host.store.dispatch({
      type: 'matrix',
      stage,
      rows: values.length,
      cols,
      values: Float32Array.from(values.flat()),
      shown: this.#placeOf(stage),
    });
    this.#texts.delete(stage);
    this.#close();
  }

  /** The batch and the stage's own head that are shown. */
  #placeOf(stage: StageId): Shown {
    const { session, table, shown } = this.#host;
    const info = table.get(stage);
    return session && info ? placeOf(session, info, shown) : shown;
  }

  #fill(stage: InputId, fill: Fill): void {
    this.#host.store.dispatch({ type: 'fill', stage, fill });
    this.#close();
  }

  #draw(stage: InputId): void {
    const seed = Number(this.#seed);
    if (!/^\s*\d+\s*$/.test(this.#seed) || seed > maxSeed) {
      this.#seedError = `A seed is a whole number from 0 to ${maxSeed}, but “${this.#seed}” was found.`;
      this.#host.requestUpdate();
      return;
    }
    this.#fill(stage, { seed });
  }

  async #copy(stage: StageId, format: CopyFormat): Promise<void> {
    const session = this.#host.session as ForwardSession;
    const info = this.#host.table.get(stage) as StageInfo;
    const { shape, values } = shownMatrix(session, info, this.#host.shown);
    const text = writeMatrix(values, shape.rows, shape.cols, format);
    try {
      await navigator.clipboard.writeText(text);
      this.#copied = 'Copied.';
      this.#copyText = '';
    } catch {
      this.#copied = 'The clipboard cannot be written here; copy the text below.';
      this.#copyText = text;
    }
    this.#host.requestUpdate();
  }
}
