/** The state of one lab: what was given, how it is shown, and what can be undone. */
import type { CellRef, SessionConfig } from '../core/types.ts';
import type { NumberFormat } from '../format/number-text.ts';

/** Stages that a reader gives instead of the core computing them. */
export const inputIds = ['x', 'xContext', 'wq', 'wk', 'wv', 'wo', 'q', 'k', 'v'] as const;
export type InputId = (typeof inputIds)[number];

/** The sizes that can be set; T_k follows T_q when K comes from X alone. */
export const sizeNames = ['tq', 'tk', 'dModel', 'dK', 'dV'] as const;
export type SizeName = (typeof sizeNames)[number];
export type Sizes = Readonly<Record<SizeName, number>>;

/** Rows and columns of every input in terms of the sizes; a contract test compares it with the core. */
export const inputAxes: Readonly<Record<InputId, readonly [SizeName, SizeName]>> = {
  x: ['tq', 'dModel'],
  xContext: ['tk', 'dModel'],
  wq: ['dModel', 'dK'],
  wk: ['dModel', 'dK'],
  wv: ['dModel', 'dV'],
  wo: ['dV', 'dModel'],
  q: ['tq', 'dK'],
  k: ['tk', 'dK'],
  v: ['tk', 'dV'],
};

/** Everything that determines the numbers: sizes, switches and the given matrices (row-major). */
export interface Problem {
  readonly source: SessionConfig['source'];
  readonly context: boolean;
  readonly outputProjection: boolean;
  /** Multiplies the raw scores; null means 1/√d_k. */
  readonly scale: number | null;
  readonly sizes: Sizes;
  /** Never written to: a change makes a new array. Missing only while a seed waits for the core. */
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

export interface State {
  readonly preset: string;
  readonly problem: Problem;
  readonly past: readonly Problem[];
  readonly future: readonly Problem[];
  readonly drafts: Readonly<Record<string, Draft>>;
  readonly format: NumberFormat;
  readonly pinned: CellRef | null;
  /** Softmax as it is worked by hand, or as the machine does it after subtracting the maximum. */
  readonly reading: 'machine' | 'hand';
  readonly lab: ScaleLab;
  /** What the page has to say about the last change; empty when nothing. */
  readonly notice: string;
}

/** The numbers that stand above the matrices, each a field to type in. */
export type FieldName = SizeName | 'scale' | 'digits';
export const fieldKey = (name: FieldName): string => `field ${name}`;

/** Decimals and significant digits go up to here. */
export const mostDigits = 8;

/** Where a draft is kept. */
export const draftKey = (stage: string, row: number, col: number): string =>
  `${stage} ${row} ${col}`;

/** The inputs that a problem with these switches has, in pipeline order. */
export function inputsOf(
  problem: Pick<Problem, 'source' | 'context' | 'outputProjection'>,
): InputId[] {
  return inputIds.filter((id) => {
    if (id === 'wo') return problem.outputProjection;
    if (id === 'xContext') return problem.source === 'x' && problem.context;
    return (id === 'q' || id === 'k' || id === 'v') === (problem.source === 'qkv');
  });
}

/** A problem as data: literal rows, from which its sizes and switches follow. */
export type Rows = readonly (readonly number[])[];

export interface ProblemParts {
  readonly source?: Problem['source'];
  readonly scale?: number;
  /** Inputs that the core draws, and the sizes that no matrix tells. */
  readonly seeds?: Problem['seeds'];
  readonly sizes?: Partial<Sizes>;
  readonly inputs: Readonly<Partial<Record<InputId, Rows>>>;
  /** Keys are named like the queries unless they have names of their own. */
  readonly names?: Names;
}
