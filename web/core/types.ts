/** The public types of the core: stage ids, the rows of the stage table, cells and their terms. */

/**
 * Stage ids in pipeline order. Public: they stand in addresses, attributes, lessons and vectors.
 * The table itself lives in C++ (wasm/include/attn/stages.hpp); a contract test compares the two.
 */
export const stageIds = [
  'x',
  'xContext',
  'wq',
  'wk',
  'wv',
  'wo',
  'q',
  'k',
  'v',
  'presentKey',
  'presentValue',
  'keyTransposed',
  'rawScores',
  'scaledScores',
  'cappedScores',
  'mask',
  'maskedScores',
  'rowMax',
  'shifted',
  'exponentials',
  'rowSum',
  'plainExponentials',
  'plainRowSum',
  'weights',
  'heads',
  'concat',
  'output',
  'dOutput',
  'dConcat',
  'dWeights',
  'dScores',
  'dQ',
  'dK',
  'dV',
  'dWq',
  'dWk',
  'dWv',
  'dWo',
  'dX',
  'dXContext',
] as const;

export type StageId = (typeof stageIds)[number];

/**
 * What an index along one axis of a matrix counts. `one` is the single column of a row statistic;
 * `result` counts as the result does: d_model with an output projection, else H·d_v.
 */
export type Axis =
  | 'query'
  | 'key'
  | 'newKey'
  | 'model'
  | 'feature'
  | 'value'
  | 'headsFeature'
  | 'kvHeadsFeature'
  | 'kvHeadsValue'
  | 'headsValue'
  | 'result'
  | 'one';

/** How a cell of a stage is made from cells of its operands. */
export type Operation =
  | 'given'
  | 'matmul'
  | 'join'
  | 'transpose'
  | 'scale'
  | 'softcap'
  | 'addMask'
  | 'rowMax'
  | 'subtractRow'
  | 'exp'
  | 'rowSum'
  | 'divideByRow'
  | 'concatHeads'
  | 'sumOfProducts';

/** One row of the stage table. */
export interface StageInfo {
  readonly id: StageId;
  readonly rows: Axis;
  readonly cols: Axis;
  /** Whether there is one matrix a batch, and one a query head, a key/value head or for all heads. */
  readonly perBatch: boolean;
  readonly perHead: 'none' | 'heads' | 'kvHeads';
  readonly operation: Operation;
  /**
   * The stages whose cells go into a cell of this one, in the order of the formula. In the engine's
   * table alternatives stand side by side; `Session.stage` names those that apply.
   */
  readonly operands: readonly StageId[];
  /** Plain-text formula, such as `Q·Kᵀ`. */
  readonly formula: string;
}

/** Sizes and switches of one attention computation. Sizes are counts (>= 0; batch and heads >= 1). */
export interface SessionConfig {
  readonly batch?: number;
  /** Query heads, a multiple of kvHeads. */
  readonly heads?: number;
  /** Key/value heads; query head h reads floor(h·kvHeads/heads). */
  readonly kvHeads?: number;
  readonly tq: number;
  /** Past keys included. With `source: 'x'` and no context this must equal tq + past. */
  readonly tk: number;
  /** Keys and values from before, in front of the new ones; `setPast` gives them. */
  readonly past?: number;
  readonly dK: number;
  readonly dV: number;
  /** Needed with `source: 'x'` or an output projection. */
  readonly dModel?: number;
  /** `x`: Q, K and V are projected from X (and xContext); `qkv`: they are given. */
  readonly source: 'x' | 'qkv';
  /** K and V are projected from xContext (cross-attention). */
  readonly context?: boolean;
  /** W_o is given and `output` exists. */
  readonly outputProjection?: boolean;
  /** Multiplies the raw scores; unset means 1/√d_k. 0 and negative numbers are legal. */
  readonly scale?: number;
  /** c > 0 bends scaled scores to c·tanh(s/c), before any mask. */
  readonly softcap?: number;
  /** A mask is given, by `setMask`; until then nothing is hidden by it. */
  readonly masked?: boolean;
  /** Query i sees keys up to its own place: i + past, or i + length − tq with valid lengths. */
  readonly causal?: boolean;
  /** How many keys of each batch count, from the first on. Not together with a past. */
  readonly validLengths?: readonly number[];
  /** The stages from `dOutput` on exist: the gradients of all inputs for a given gradient of the result. */
  readonly gradients?: boolean;
}

/**
 * A mask of one to four axes, the last ones of [batch, heads, tq, tk]; an axis of 1 stands for all,
 * and a last axis that is longer than 1 and shorter than tk hides the keys beyond it.
 */
export interface Mask {
  /** `boolean`: true or 1 may attend; `float`: added to the scores, and −Infinity hides. */
  readonly kind: 'boolean' | 'float';
  readonly shape: readonly number[];
  /** Row-major. */
  readonly values: ArrayLike<number> | ArrayLike<boolean>;
}

/** [batch, heads, tokens, width], as views have it, or [batch, tokens, heads · width]. */
export type Layout = 'heads' | 'tokens';

/** rows × cols of one matrix of a stage, and how many such matrices there are. */
export interface StageShape {
  readonly batch: number;
  readonly heads: number;
  readonly rows: number;
  readonly cols: number;
}

/** One cell of one stage; every index counts from 0. */
export interface CellRef {
  readonly stage: StageId;
  readonly batch: number;
  readonly head: number;
  readonly row: number;
  readonly col: number;
}

/** A number that goes into a cell: another cell, or a constant (`ref` null) such as the scale. */
export interface Operand {
  readonly ref: CellRef | null;
  readonly value: number;
}

/** One summand: its operands and their combination (product, difference, quotient…), in float32. */
export interface Term {
  readonly operands: readonly Operand[];
  readonly partial: number;
}

/** Everything that makes one cell. For `given` the list of terms is empty. */
export interface CellTerms {
  readonly cell: CellRef;
  readonly operation: Operation;
  readonly value: number;
  readonly terms: readonly Term[];
}

/** What a row of weights is like, computed in float64 from the row's scores. */
export interface RowNumbers {
  /** The largest weight. */
  readonly maximum: number;
  /** −Σ a·ln a, in nats. */
  readonly entropy: number;
  /** exp(entropy): as many keys, equally attended, would have this entropy. */
  readonly effectiveKeys: number;
  /** Frobenius norm of diag(a) − a·aᵀ. */
  readonly jacobianNorm: number;
  /** 1 − entropy / ln n for n visible keys; 0 for one key. */
  readonly saturation: number;
}

/** A row without a visible key has 0 everywhere and NaN for its saturation. */
export interface RowStatistics extends RowNumbers {
  /** Σ a, which is 1, or 0 for a row without a visible key; of the float32 weights that are shown. */
  readonly sum: number;
}

/**
 * Many rows of weights taken together. Mean and largest are of each number by itself, over the rows
 * with a visible key, and NaN where there is no such row or one of them is NaN.
 */
export interface RowsSummary {
  readonly rows: number;
  /** Rows without a visible key. */
  readonly empty: number;
  readonly mean: RowNumbers;
  readonly largest: RowNumbers;
}

/** Sizes and switches of fused attention, which is given Q, K and V and keeps no stage. */
export interface AttentionConfig
  extends Pick<
    SessionConfig,
    | 'batch'
    | 'heads'
    | 'kvHeads'
    | 'tq'
    | 'tk'
    | 'past'
    | 'dK'
    | 'dV'
    | 'scale'
    | 'softcap'
    | 'causal'
    | 'validLengths'
  > {
  /** The kind and the axes of every mask to come; until one is set nothing is hidden by it. */
  readonly mask?: Pick<Mask, 'kind' | 'shape'>;
}

/** What fused attention reads; the shapes are those of the layout `heads`. */
export interface AttentionInputs {
  /** [batch, heads, tq, dK] */
  readonly q: ArrayLike<number>;
  /** [batch, kvHeads, tk − past, dK] */
  readonly k: ArrayLike<number>;
  /** [batch, kvHeads, tk − past, dV] */
  readonly v: ArrayLike<number>;
  /** [batch, kvHeads, past, dK]; `attend` needs it where there is a past. */
  readonly pastKey?: ArrayLike<number>;
  /** [batch, kvHeads, past, dV]; likewise. */
  readonly pastValue?: ArrayLike<number>;
  /** As many numbers as the configuration's mask has. */
  readonly mask?: Mask['values'];
  /** Of q, k and v. */
  readonly layout?: Layout;
}

/**
 * Where long work runs: in workers from the address of their script, in workers from a blob of it
 * (where that address is refused), or in slices on the calling thread (where both are).
 */
export type WorkerKind = 'url' | 'blob' | 'slices';

export type Build = 'simd128' | 'relaxed';

/** A running engine of forward passes: one WASM instance. */
export interface ForwardEngine {
  readonly build: Build;
  readonly version: string;
  /** Why a preferred build was not taken, empty when it was. */
  readonly fallbackReason: string;
  readonly stages: readonly StageInfo[];
  createSession(): ForwardSession;
}

/** A running engine of everything. */
export interface Engine extends ForwardEngine {
  /** The compiled module, a WebAssembly.Module, from which workers make instances of their own. */
  readonly compiled: object;
  /** Bytes that sessions hold, and bytes of WASM memory, which never shrinks. */
  memory(): { readonly inUse: number; readonly total: number };
  /**
   * Multiplies and adds on registers alone, so many rounds; gives how many floating-point operations
   * that took. Their number a second is the peak of this build on this machine.
   */
  multiplyAdds(rounds: number): number;
  createSession(): Session;
  /** Throws AttentionError, like its `configure`. */
  createAttention(config: AttentionConfig): Attention;
}

/**
 * Attention in one go: only inputs and output have memory, of T·d numbers. Inputs stay until they
 * are set anew. Views are read-only and valid until the next configure of anything.
 */
export interface Attention {
  /** Checks the limits and sizes the memory; every number is 0 afterwards. Throws AttentionError. */
  configure(config: AttentionConfig): void;
  /** Copies all of Q, or the new rows of K or V. */
  setInput(name: 'q' | 'k' | 'v', values: ArrayLike<number>, layout?: Layout): void;
  /** Copies the past keys or values, [batch, kvHeads, past, width]. */
  setPast(name: 'presentKey' | 'presentValue', values: ArrayLike<number>): void;
  /** Takes the mask in place of the former one, or throws AttentionError: then nothing is hidden by it. */
  setMask(values: Mask['values']): void;
  /** All of them at once. */
  setInputs(inputs: AttentionInputs): void;
  /** batch · heads · tq rows of the result. */
  readonly rows: number;
  /** Computes the rows first <= row < last of the result; all of them by default. */
  run(first?: number, last?: number): void;
  /** The result, [batch, heads, tq, dV]. */
  readonly output: Float32Array;
  /** The scale in force (given or 1/√d_k). */
  readonly scale: number;
  dispose(): void;
}

/**
 * One forward pass, without a given mask, valid lengths and gradients. Views are read-only and valid
 * until the next configure.
 */
export interface ForwardSession {
  /**
   * Checks the limits and sizes the arena. All that is given is 0 afterwards; what is computed means
   * nothing before `run`. Throws AttentionError.
   */
  configure(config: SessionConfig): void;
  /** Whether the stage applies under the present configuration. */
  has(stage: StageId): boolean;
  /** The stage's row as it reads now: without X, q is `given`; the mask is no operand without one. */
  stage(stage: StageId): StageInfo;
  shape(stage: StageId): StageShape;
  /** All matrices of the stage, row-major [batch, heads, rows, cols]. Fetch anew for each render. */
  view(stage: StageId): Float32Array;
  /** Copies values into an input stage. Throws AttentionError for a wrong length or a derived stage. */
  setInput(stage: StageId, values: ArrayLike<number>, layout?: Layout): void;
  /** Computes every derived stage from the inputs. */
  run(): void;
  /** Σ of the float32 weights of a row: about 1, or 0 for a row without a visible key. */
  rowSum(batch: number, head: number, row: number): number;
  /** The scale in force (given or 1/√d_k). */
  readonly scale: number;
  dispose(): void;
}

/** One attention computation. `setInput` takes a mask as a float mask of full size. */
export interface Session extends ForwardSession {
  /**
   * Steps of a run, each a bounded amount of work (some rows of one matrix); the configuration alone
   * says how many.
   */
  readonly steps: number;
  /**
   * Computes every derived stage from the inputs; or the steps first <= step < last of that, once all
   * before them are done. However the steps are divided, the numbers are the same bits.
   */
  run(first?: number, last?: number): void;
  /** Takes the mask in place of the former one, or throws AttentionError and keeps that. */
  setMask(mask: Mask): void;
  /** Copies the past keys or values, [batch, kvHeads, past, width]. */
  setPast(stage: 'presentKey' | 'presentValue', values: ArrayLike<number>): void;
  /**
   * Fills an input with draws from N(0, 1): the same numbers for the same seed (0 to 2³² − 1), stage
   * and count in every build. Throws AttentionError for a derived stage or another seed.
   */
  fillNormal(stage: StageId, seed: number): void;
  /** Statistics of the weights that query head `head` of batch `batch` gives, one entry a row. */
  rowStatistics(batch?: number, head?: number): readonly RowStatistics[];
  /** The same rows taken together: those of one head, or of all query heads of a batch. */
  headStatistics(batch?: number, head?: number): RowsSummary;
  batchStatistics(batch?: number): RowsSummary;
  /** The Jacobian diag(a) − a·aᵀ of one row of weights: entry [i][j] is ∂a_i/∂s_j. */
  softmaxJacobian(batch: number, head: number, row: number): readonly Float64Array[];
  terms(cell: CellRef): CellTerms;
}
