/** One attention computation in WASM memory: configuration, stage views and the terms of a cell. */
import {
  cellsOf,
  optionsOf,
  requireLength,
  setRows,
  throwAsGiven,
  throwBadMask,
  throwUnlessOk,
  writeLengths,
} from './boundary.ts';
import { AttentionError } from './errors.ts';
import type { Session as Handle, MainModule } from './generated/attention.mjs';
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
    const options = optionsOf(config);
    writeLengths(this.#open, config);
    const outcome = this.#open.configure({
      ...options,
      fromX: config.source === 'x',
      context: config.context ?? false,
      outputProjection: config.outputProjection ?? false,
      masked: config.masked ?? false,
      gradients: config.gradients ?? false,
    });
    if (outcome.code === 'ok' || outcome.code === 'outOfMemory') this.#views.clear();
    throwAsGiven(outcome, config);
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
    } else {
      setRows(view, values, { heads, from: 0, count: rows, rows, cols }, layout);
    }
  }

  setMask({ kind, shape, values }: Mask): void {
    this.#indexOfPresent('mask');
    if (!this.#open.isGiven(indexOf('mask'))) throw new AttentionError('notGiven', 'mask');
    requireLength('mask', values, cellsOf(shape));
    const [a = 1, b = 1, c = 1, d = 1] = shape;
    const axes = [shape.length, a, b, c, d, values.length] as const;
    throwUnlessOk(this.#open.checkMask(...axes));
    // The core's memory for it is the stage that the next run computes from it.
    const staging = this.#open.maskStaging();
    if (staging.length === 0) return; // No score that a mask could change.
    for (let at = 0; at < values.length; at += 1) staging[at] = Number(values[at]);
    throwBadMask(this.#open.setMask(...axes, kind === 'boolean'), shape);
  }

  setPast(stage: 'presentKey' | 'presentValue', values: ArrayLike<number>): void {
    const { batch, heads, rows, cols } = this.shape(stage);
    const view = this.view(stage);
    const past = rows - this.shape(stage === 'presentKey' ? 'k' : 'v').rows;
    requireLength(stage, values, batch * heads * past * cols);
    setRows(view, values, { heads, from: 0, count: past, rows, cols });
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
