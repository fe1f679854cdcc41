/** A whole session in WASM memory: beside the forward pass masks, gradients, statistics and terms. */
import { type ForwardModule, placeOf, requireLength } from './boundary.ts';
import { AttentionError } from './errors.ts';
import { indexOf, WasmForwardSession } from './forward-session.ts';
import type { MainModule } from './generated/attention.mjs';
import { cellsOf, placeInMask, requireChoice, writeLengths, writeMask } from './masks.ts';
import {
  type CellRef,
  type CellTerms,
  type Layout,
  type Mask,
  type Operand,
  type RowNumbers,
  type RowStatistics,
  type RowsSummary,
  type Session,
  type SessionConfig,
  type StageId,
  stageIds,
  type Term,
} from './types.ts';

export type Module = ForwardModule & MainModule;

// A term as `terms` of wasm/bindings/bindings.cpp lays it out: operands and the partial result.
const operandNumbers = 6; // stage, batch, head, row, col, value
const termNumbers = 3 * operandNumbers + 1;
// The numbers of a row as wasm/bindings/bindings.cpp lays them out.
const rowNumbers = ['maximum', 'entropy', 'effectiveKeys', 'jacobianNorm', 'saturation'] as const;
const recordNumbers = 1 + rowNumbers.length; // behind their sum
const maxSeed = 2 ** 32 - 1;
const constantStage = -1;
const unusedStage = -2;

export class WasmSession extends WasmForwardSession<Module> implements Session {
  override configure(config: SessionConfig): void {
    writeLengths((count) => this.module.lengths(this.handle, count), config);
    super.configure(config);
  }

  override setInput(stage: StageId, values: ArrayLike<number>, layout: Layout = 'heads'): void {
    requireChoice('layout', layout);
    if (stage !== 'mask') {
      super.setInput(stage, values, layout);
      return;
    }
    const { batch, heads, rows, cols } = this.shape(stage);
    requireLength(stage, values, batch * heads * rows * cols);
    this.setMask({ kind: 'float', shape: [batch, heads, rows, cols], values });
  }

  setMask({ kind, shape, values }: Mask): void {
    this.indexOfPresent('mask');
    if (!this.isGiven('mask')) throw new AttentionError('notGiven', 'mask');
    requireChoice('maskKind', kind);
    requireLength('mask', values, cellsOf(shape));
    const [a = 1, b = 1, c = 1, d = 1] = shape;
    const axes = [shape.length, a, b, c, d, values.length] as const;
    this.require(this.module.checkMask(this.handle, ...axes));
    // The core's memory for it is the stage that the next run computes from it.
    const staging = this.module.maskStaging(this.handle);
    if (staging.length === 0) return; // No score that a mask could change.
    writeMask(staging, values);
    const done = this.module.setMask(this.handle, ...axes, kind === 'boolean');
    if (!done && this.failure === 'badMask') {
      const found = this.module.failureFound(this.handle);
      const place = placeInMask(this.module.failureExpected(this.handle), shape);
      throw new AttentionError('badMask', 'mask', found, place);
    }
    this.require(done);
  }

  setPast(stage: 'presentKey' | 'presentValue', values: ArrayLike<number>): void {
    if (stage !== 'presentKey' && stage !== 'presentValue') {
      throw new AttentionError('notGiven', stage);
    }
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
    this.require(this.module.fillNormal(this.handle, this.indexOfPresent(stage), seed));
  }

  get steps(): number {
    return this.module.steps(this.handle);
  }

  override run(first = 0, last = this.steps): void {
    for (const step of [first, last]) {
      if (!Number.isInteger(step) || step < 0 || step > this.steps) {
        throw new AttentionError('stepOutside', '', step, this.steps);
      }
    }
    this.module.runSteps(this.handle, first, last);
  }

  rowStatistics(batch = 0, head = 0): RowStatistics[] {
    const { rows } = this.shape('weights');
    if (rows > 0) this.requireRow(batch, head, 0);
    const statistics: RowStatistics[] = [];
    while (statistics.length < rows) {
      const records = this.module.rowStatistics(this.handle, batch, head, statistics.length);
      for (let at = 0; at < records.length; at += recordNumbers) {
        statistics.push({ sum: records[at] as number, ...readRow(records, at + 1) });
      }
    }
    return statistics;
  }

  headStatistics(batch = 0, head = 0): RowsSummary {
    return this.#summary(batch, head, 1);
  }

  batchStatistics(batch = 0): RowsSummary {
    return this.#summary(batch, 0, this.shape('weights').heads);
  }

  softmaxJacobian(batch: number, head: number, row: number): Float64Array[] {
    const { cols } = this.shape('weights');
    this.require(this.module.check(this.handle, indexOf('rowMax'), batch, head, row, 0));
    return Array.from({ length: cols }, (_, i) => {
      const entries = new Float64Array(cols);
      for (let first = 0; first < cols; ) {
        const part = this.module.jacobian(this.handle, batch, head, row, i, first);
        entries.set(part, first);
        first += part.length;
      }
      return entries;
    });
  }

  terms(cell: CellRef): CellTerms {
    const place = [indexOf(cell.stage), cell.batch, cell.head, cell.row, cell.col] as const;
    this.require(this.module.check(this.handle, ...place));
    const terms: Term[] = [];
    const count = this.module.termCount(this.handle, ...place);
    while (terms.length < count) {
      const records = this.module.terms(this.handle, ...place, terms.length);
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

  #summary(batch: number, first: number, heads: number): RowsSummary {
    if (this.shape('weights').rows > 0) this.requireRow(batch, first, 0);
    const record = this.module.summary(this.handle, batch, first, heads);
    const [rows, empty] = record as unknown as [number, number];
    const mean = readRow(record, 2);
    return { rows, empty, mean, largest: readRow(record, 2 + rowNumbers.length) };
  }
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

function readRow(record: Float64Array, at: number): RowNumbers {
  return Object.fromEntries(
    rowNumbers.map((name, index) => [name, record[at + index]]),
  ) as unknown as RowNumbers;
}
