/** The state of one lab: what was given, how it is shown, and what can be undone. */
import type { CellRef, SessionConfig } from '../core/types.ts';
import type { NumberFormat } from '../format/number-text.ts';

/** Stages that a reader gives instead of the core computing them. */
export const inputIds = [
  'x',
  'xContext',
  'wq',
  'wk',
  'wv',
  'wo',
  'q',
  'k',
  'v',
  'mask',
  'dOutput',
] as const;
export type InputId = (typeof inputIds)[number];

/** The sizes that can be set; T_k follows T_q when K comes from X alone. */
export const sizeNames = ['batch', 'heads', 'kvHeads', 'tq', 'tk', 'dModel', 'dK', 'dV'] as const;
export type SizeName = (typeof sizeNames)[number];
export type Sizes = Readonly<Record<SizeName, number>>;

/** What the indices of an input count, in the order of memory: which matrix, which row, which column. */
export interface InputAxes {
  readonly matrices: readonly SizeName[];
  readonly rows: readonly SizeName[];
  readonly cols: readonly SizeName[];
}

const axes = (
  matrices: readonly SizeName[],
  rows: readonly SizeName[],
  cols: readonly SizeName[],
): InputAxes => ({ matrices, rows, cols });

/** A contract test compares this with the core. A mask is one for all batches and heads. */
const fixedAxes: Readonly<Record<Exclude<InputId, 'dOutput'>, InputAxes>> = {
  x: axes(['batch'], ['tq'], ['dModel']),
  xContext: axes(['batch'], ['tk'], ['dModel']),
  wq: axes([], ['dModel'], ['heads', 'dK']),
  wk: axes([], ['dModel'], ['kvHeads', 'dK']),
  wv: axes([], ['dModel'], ['kvHeads', 'dV']),
  wo: axes([], ['heads', 'dV'], ['dModel']),
  q: axes(['batch', 'heads'], ['tq'], ['dK']),
  k: axes(['batch', 'kvHeads'], ['tk'], ['dK']),
  v: axes(['batch', 'kvHeads'], ['tk'], ['dV']),
  mask: axes([], ['tq'], ['tk']),
};

/** The gradient of the result is as wide as the result, with W_o or without it. */
export function inputAxes(id: InputId, outputProjection: boolean): InputAxes {
  if (id !== 'dOutput') return fixedAxes[id];
  return axes(['batch'], ['tq'], outputProjection ? ['dModel'] : ['heads', 'dV']);
}

/** How many indices these axes have together. */
export const extent = (names: readonly SizeName[], sizes: Sizes): number =>
  names.reduce((count, name) => count * sizes[name], 1);

/** Everything that determines the numbers: sizes, switches and the given matrices (row-major). */
export interface Problem {
  readonly source: SessionConfig['source'];
  readonly context: boolean;
  readonly outputProjection: boolean;
  /** Multiplies the raw scores; null means 1/√d_k. */
  readonly scale: number | null;
  /** Bends scaled scores to c·tanh(s/c); null means no softcap. */
  readonly softcap: number | null;
  /** A mask is among the inputs: 0 shows a key, −∞ hides it, other numbers are added to the score. */
  readonly masked: boolean;
  /** A query sees only the keys up to its own place. */
  readonly causal: boolean;
  /** The gradient of the result is among the inputs, and the core works the others out. */
  readonly gradients: boolean;
  readonly sizes: Sizes;
  /** Never written to: a change makes a new array. Missing only while a seed or a refusal waits for the core. */
  readonly inputs: Readonly<Partial<Record<InputId, Float32Array>>>;
  /** Seeds of the inputs that the core drew from N(0, 1) and that nobody changed since. */
  readonly seeds: Readonly<Partial<Record<InputId, number>>>;
  readonly names: Names;
}

/** Axes whose indices a reader can name; an index without a name shows as a number. */
export const namedAxes = ['query', 'key', 'model', 'feature', 'value'] as const;
export type NamedAxis = (typeof namedAxes)[number];
export type Names = Readonly<Partial<Record<NamedAxis, readonly string[]>>>;

/** A text that was typed into a cell and could not be taken; it stays until it is corrected. */
export interface Draft {
  readonly text: string;
  readonly message: string;
}

export interface Shown {
  readonly batch: number;
  readonly head: number;
}

/** The comparison with and without the division by √d_k. */
export interface ScaleLab {
  /** The numbers of the page, or independent draws from N(0, 1) of any width. */
  readonly source: 'given' | 'random';
  readonly dK: number;
  readonly seed: number;
  /** The query whose row is shown. */
  readonly row: number;
}

/** The widest keys of the comparison. */
export const mostLabWidth = 512;

/** What undo and redo bring back. */
export type Step = Pick<State, 'preset' | 'problem'>;

export interface State {
  /** The example that the problem was made from; undo and redo bring it back with the problem. */
  readonly preset: string;
  readonly problem: Problem;
  readonly past: readonly Step[];
  readonly future: readonly Step[];
  readonly drafts: Readonly<Record<string, Draft>>;
  readonly format: NumberFormat;
  readonly pinned: CellRef | null;
  /** Which of several matrices of a stage are shown; `head` is a query head. */
  readonly shown: Shown;
  /** Softmax as it is worked by hand, or as the machine does it after subtracting the maximum. */
  readonly reading: 'machine' | 'hand';
  readonly lab: ScaleLab;
  /** What the page has to say about the last change; empty when nothing. */
  readonly notice: string;
}

/** The stages that only one of the two readings shows. */
export const stagesOfReading = {
  machine: ['rowMax', 'shifted', 'exponentials', 'rowSum'],
  hand: ['plainExponentials', 'plainRowSum'],
} as const;

/** The numbers that stand above the matrices, each a field to type in. */
export type FieldName = SizeName | 'scale' | 'softcap' | 'digits';
export const fieldKey = (name: FieldName): string => `field ${name}`;

/** Decimals and significant digits go up to here. */
export const mostDigits = 8;

/** Where the draft of a cell is kept; also the name of a cell in a set of cells. */
export const draftKey = (stage: string, row: number, col: number, batch = 0, head = 0): string =>
  `${stage} ${row} ${col} ${batch} ${head}`;

export type Switches = Pick<
  Problem,
  'source' | 'context' | 'outputProjection' | 'masked' | 'gradients'
>;

/** The inputs that a problem with these switches has, in pipeline order. */
export function inputsOf(problem: Switches): InputId[] {
  const projected = problem.source === 'x';
  const present: Readonly<Record<InputId, boolean>> = {
    x: projected,
    xContext: projected && problem.context,
    wq: projected,
    wk: projected,
    wv: projected,
    wo: problem.outputProjection,
    q: !projected,
    k: !projected,
    v: !projected,
    mask: problem.masked,
    dOutput: problem.gradients,
  };
  return inputIds.filter((id) => present[id]);
}

/** Whether the reader gives this stage, so that it can be edited. */
export const isGiven = (problem: Switches, stage: string): boolean =>
  inputsOf(problem).some((id) => id === stage);

/** A problem as data: literal rows, from which its sizes and switches follow. */
export type Rows = readonly (readonly number[])[];

export interface ProblemParts {
  readonly source?: Problem['source'];
  readonly scale?: number;
  readonly softcap?: number;
  readonly causal?: boolean;
  /** Inputs that the core draws, and the sizes that no matrix tells. */
  readonly seeds?: Problem['seeds'];
  readonly sizes?: Partial<Sizes>;
  readonly inputs: Readonly<Partial<Record<InputId, Rows>>>;
  /** Keys are named like the queries unless they have names of their own. */
  readonly names?: Names;
}
