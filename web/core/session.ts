/** One attention computation in WASM memory: configuration, stage views and the terms of a cell. */
import { AttentionError, type ErrorCode } from './errors.ts';
import type { Session as Handle, MainModule, Outcome } from './generated/attention.mjs';
import {
  type CellRef,
  type CellTerms,
  type Layout,
  type Mask,
  type Operand,
  type RowStatistics,
  type Session,
  type SessionConfig,
  type StageId,
  type StageInfo,
  type StageShape,
  stageIds,
  type Term,
} from './types.ts';

/** The generated module with the one runtime export that its types leave out. */
export type Module = MainModule & { readonly wasmMemory: WebAssembly.Memory };

const sizeNames = ['batch', 'heads', 'kvHeads', 'tq', 'tk', 'dK', 'dV', 'dModel', 'past'] as const;

// A term as `terms` of wasm/bindings/bindings.cpp lays it out: operands and the partial result.
const operandNumbers = 6; // stage, batch, head, row, col, value
const termNumbers = 3 * operandNumbers + 1;
const operandPlaces = [0, 1, 2, 3, 4, 5];
// A row's statistics as `rowStatistics` of wasm/bindings/bindings.cpp lays them out.
const statisticsNumbers = 6;
const maxSeed = 2 ** 32 - 1;
const constantStage = -1;
const unusedStage = -2;

let liveSessions = 0;

/** How many sessions exist whose `dispose` has not been called. */
export function liveSessionCount(): number {
  return liveSessions;
}

export class WasmSession implements Session {
  readonly #module: Module;
  readonly #table: readonly StageInfo[];
  #handle: Handle | null;
  #views = new Map<StageId, Float32Array>();

  constructor(module: Module, table: readonly StageInfo[]) {
    this.#module = module;
    this.#table = table;
    this.#handle = new module.Session();
    liveSessions += 1;
  }

  configure(config: SessionConfig): void {
    const sizes = { batch: 1, heads: 1, kvHeads: 1, dModel: 0, past: 0, ...definedOnly(config) };
    for (const name of sizeNames) requireWhole(name, sizes[name]);
    if (config.validLengths) this.#writeLengths(config.validLengths);
    const outcome = this.#open.configure({
      batch: sizes.batch,
      heads: sizes.heads,
      kvHeads: sizes.kvHeads,
      tq: sizes.tq,
      tk: sizes.tk,
      dK: sizes.dK,
      dV: sizes.dV,
      dModel: sizes.dModel,
      past: sizes.past,
      fromX: config.source === 'x',
      context: config.context ?? false,
      outputProjection: config.outputProjection ?? false,
      masked: config.masked ?? false,
      causal: config.causal ?? false,
      gradients: config.gradients ?? false,
      limited: config.validLengths !== undefined,
      hasScale: config.scale !== undefined,
      hasSoftcap: config.softcap !== undefined,
      scale: config.scale ?? 0,
      softcap: config.softcap ?? 0,
    });
    if (outcome.code === 'ok' || outcome.code === 'outOfMemory') this.#views.clear();
    // The number as it was given: the core works with whole and float32 numbers.
    const own = (config as unknown as Record<string, unknown>)[outcome.subject as string];
    throwUnlessOk(typeof own === 'number' ? { ...outcome, found: own } : outcome);
  }

  has(stage: StageId): boolean {
    return this.#open.has(indexOf(stage));
  }

  stage(stage: StageId): StageInfo {
    const index = this.#indexOfPresent(stage);
    const info = this.#table[index] as StageInfo;
    if (this.#open.isGiven(index)) return { ...info, operation: 'given', operands: [] };
    const operands = operandPlaces.flatMap(
      (place) => stageIds[this.#open.operand(index, place)] ?? [],
    );
    return { ...info, operands };
  }

  shape(stage: StageId): StageShape {
    return this.#open.shape(this.#indexOfPresent(stage));
  }

  view(stage: StageId): Float32Array {
    const index = this.#indexOfPresent(stage);
    const known = this.#views.get(stage);
    // Any session's configure may have grown the memory, which empties every older view.
    if (known && known.buffer === this.#module.wasmMemory.buffer) return known;
    const view = this.#open.view(index);
    this.#views.set(stage, view);
    return view;
  }

  setInput(stage: StageId, values: ArrayLike<number>, layout: Layout = 'heads'): void {
    const view = this.view(stage);
    if (!this.#open.isGiven(indexOf(stage))) throw new AttentionError('notGiven', stage);
    requireLength(stage, values, view.length);
    const { batch, heads, rows, cols } = this.shape(stage);
    if (stage === 'mask') {
      this.setMask({ kind: 'float', shape: [batch, heads, rows, cols], values });
    } else if (layout === 'heads') {
      view.set(values);
    } else {
      for (let at = 0; at < view.length; at += 1) {
        const [b, h, row, col] = placeOf(at, [heads, rows, cols]);
        view[at] = values[((b * rows + row) * heads + h) * cols + col] as number;
      }
    }
  }

  setMask({ kind, shape, values }: Mask): void {
    this.#indexOfPresent('mask');
    if (!this.#open.isGiven(indexOf('mask'))) throw new AttentionError('notGiven', 'mask');
    for (const extent of shape) requireWhole('mask', extent);
    requireLength(
      'mask',
      values,
      shape.reduce((product, extent) => product * extent, 1),
    );
    const [a = 1, b = 1, c = 1, d = 1] = shape;
    const axes = [shape.length, a, b, c, d, values.length] as const;
    throwUnlessOk(this.#open.checkMask(...axes));
    // The core's memory for it is the stage that the next run computes from it.
    const staging = this.#open.maskStaging();
    if (staging.length === 0) return; // No score that a mask could change.
    for (let at = 0; at < values.length; at += 1) staging[at] = Number(values[at]);
    const outcome = this.#open.setMask(...axes, kind === 'boolean');
    if (outcome.code === 'badMask') {
      const place = placeOf(outcome.expected, shape.slice(1)).slice(0, shape.length);
      throw new AttentionError('badMask', 'mask', outcome.found, `[${place.join(', ')}]`);
    }
    throwUnlessOk(outcome);
  }

  setPast(stage: 'presentKey' | 'presentValue', values: ArrayLike<number>): void {
    const { batch, heads, rows, cols } = this.shape(stage);
    const view = this.view(stage);
    const past = rows - this.shape(stage === 'presentKey' ? 'k' : 'v').rows;
    requireLength(stage, values, batch * heads * past * cols);
    for (let at = 0; at < values.length; at += 1) {
      const [matrix, row, col] = placeOf(at, [past, cols]);
      view[(matrix * rows + row) * cols + col] = values[at] as number;
    }
  }

  fillNormal(stage: StageId, seed: number): void {
    if (!Number.isInteger(seed) || seed < 0 || seed > maxSeed) {
      throw new AttentionError('badSeed', stage, seed, maxSeed);
    }
    throwUnlessOk(this.#open.fillNormal(this.#indexOfPresent(stage), seed));
  }

  run(): void {
    this.#open.run();
  }

  rowStatistics(batch = 0, head = 0): RowStatistics[] {
    const { rows, cols, ...counts } = this.shape('weights');
    // Also names the index that is out of range, even where the matrix has no cell to ask for.
    if (rows > 0 && cols > 0) {
      const index = indexOf('weights');
      throwUnlessOk(this.#open.check(index, batch, head, 0, 0));
    } else if (batch >= counts.batch || head >= counts.heads) return [];
    const statistics: RowStatistics[] = [];
    while (statistics.length < rows) {
      const records = this.#open.rowStatistics(batch, head, statistics.length);
      for (let at = 0; at < records.length; at += statisticsNumbers) {
        statistics.push(readStatistics(records.subarray(at, at + statisticsNumbers)));
      }
    }
    return statistics;
  }

  softmaxJacobian(batch: number, head: number, row: number): Float64Array[] {
    const { cols } = this.shape('weights');
    throwUnlessOk(this.#open.check(indexOf('rowMax'), batch, head, row, 0));
    return Array.from({ length: cols }, (_, i) => {
      const entries = new Float64Array(cols);
      for (let first = 0; first < cols; ) {
        const part = this.#open.jacobian(batch, head, row, i, first);
        entries.set(part, first);
        first += part.length;
      }
      return entries;
    });
  }

  terms(cell: CellRef): CellTerms {
    const place = [indexOf(cell.stage), cell.batch, cell.head, cell.row, cell.col] as const;
    throwUnlessOk(this.#open.check(...place));
    const terms: Term[] = [];
    const count = this.#open.termCount(...place);
    while (terms.length < count) {
      const records = this.#open.terms(...place, terms.length);
      for (let at = 0; at < records.length; at += termNumbers) {
        terms.push(readTerm(records.subarray(at, at + termNumbers)));
      }
    }
    const { heads, rows, cols } = this.shape(cell.stage);
    const offset = ((cell.batch * heads + cell.head) * rows + cell.row) * cols + cell.col;
    return {
      cell: { ...cell },
      operation: this.stage(cell.stage).operation,
      value: this.view(cell.stage)[offset] as number,
      terms,
    };
  }

  get scale(): number {
    return this.#open.scale();
  }

  dispose(): void {
    if (!this.#handle) return;
    this.#handle.delete();
    this.#handle = null;
    this.#views.clear();
    liveSessions -= 1;
  }

  get #open(): Handle {
    if (!this.#handle) throw new AttentionError('disposed');
    return this.#handle;
  }

  #writeLengths(lengths: readonly number[]): void {
    for (const length of lengths) requireWhole('validLength', length);
    if (lengths.length === 0) throw new AttentionError('sizeMismatch', 'validLengths', 0, 1);
    const view = this.#open.lengths(lengths.length);
    if (view.length === 0) {
      throw new AttentionError('outOfMemory', 'validLengths', 4 * lengths.length);
    }
    // Beyond a whole number of 32 bits there is no legal length; the core names the bound.
    view.set(lengths.map((length) => Math.max(-1, Math.min(length, 2 ** 31 - 1))));
  }

  #indexOfPresent(stage: StageId): number {
    const index = indexOf(stage);
    if (!this.#open.has(index)) throw new AttentionError('stageAbsent', stage);
    return index;
  }
}

/** The place of a stage in the table; -1, which the core calls absent, for an unknown name. */
function indexOf(stage: StageId): number {
  return stageIds.indexOf(stage);
}

function requireWhole(name: string, size: number): void {
  if (!Number.isInteger(size)) throw new AttentionError('badSize', name, size, 0);
}

function requireLength(stage: StageId, values: ArrayLike<unknown>, expected: number): void {
  if (values.length !== expected) {
    throw new AttentionError('wrongLength', stage, values.length, expected);
  }
}

/** The indices of a flat place, the first of them over axes of these extents. */
function placeOf(at: number, extents: readonly number[]): [number, number, number, number] {
  const place: number[] = [];
  let rest = at;
  for (const extent of extents.toReversed()) {
    place.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  place.unshift(rest);
  return place as [number, number, number, number];
}

/** Without the members that are present but undefined, so that defaults can take their place. */
function definedOnly(config: SessionConfig): SessionConfig {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as unknown as SessionConfig;
}

function readTerm(record: Float64Array): Term {
  const operands: Operand[] = [];
  for (let at = 0; at + operandNumbers < termNumbers; at += operandNumbers) {
    const [stage, batch, head, row, col, value] = record.subarray(at) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    if (stage === unusedStage) continue;
    const ref =
      stage === constantStage ? null : { stage: stageIds[stage] as StageId, batch, head, row, col };
    operands.push({ ref, value });
  }
  return { operands, partial: record[termNumbers - 1] as number };
}

function readStatistics(record: Float64Array): RowStatistics {
  const [sum, maximum, entropy, effectiveKeys, jacobianNorm, saturation] = record as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { sum, maximum, entropy, effectiveKeys, jacobianNorm, saturation };
}

function throwUnlessOk({ code, subject, found, expected }: Outcome): void {
  if (code === 'ok') return;
  throw new AttentionError(code as ErrorCode, subject as string, found, expected);
}
