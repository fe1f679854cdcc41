/** One forward pass in WASM memory: configuration, inputs and the views of every stage. */
import {
  constantOf,
  type ForwardModule,
  Held,
  requireLength,
  setRows,
  sizesOf,
} from './boundary.ts';
import { AttentionError } from './errors.ts';
import {
  type ForwardSession,
  type Layout,
  type SessionConfig,
  type StageId,
  type StageInfo,
  type StageShape,
  stageIds,
} from './types.ts';

const operandPlaces = [0, 1, 2, 3, 4, 5];

let liveSessions = 0;

/** How many sessions exist whose `dispose` has not been called. */
export function liveSessionCount(): number {
  return liveSessions;
}

export class WasmForwardSession<M extends ForwardModule> extends Held<M> implements ForwardSession {
  readonly #table: readonly StageInfo[];
  #views = new Map<StageId, Float32Array>();

  constructor(module: M, table: readonly StageInfo[]) {
    super(module, module.createSession());
    this.#table = table;
    liveSessions += 1;
  }

  configure(config: SessionConfig): void {
    const sizes = sizesOf(config);
    const done = this.module.configure(
      this.handle,
      sizes.batch,
      sizes.heads,
      sizes.kvHeads,
      sizes.tq,
      sizes.tk,
      sizes.dK,
      sizes.dV,
      sizes.dModel,
      sizes.past,
      config.source === 'x',
      config.context ?? false,
      config.outputProjection ?? false,
      config.masked ?? false,
      config.causal ?? false,
      config.gradients ?? false,
      constantOf(config, 'scale'),
      constantOf(config, 'softcap'),
    );
    // Without memory for the new stages the old ones are gone, too.
    if (done || this.failure === 'outOfMemory') this.#views.clear();
    this.require(done, config);
  }

  has(stage: StageId): boolean {
    return this.module.has(this.handle, indexOf(stage));
  }

  stage(stage: StageId): StageInfo {
    const index = this.indexOfPresent(stage);
    const info = this.#table[index] as StageInfo;
    if (this.isGiven(stage)) return { ...info, operation: 'given', operands: [] };
    const operands = operandPlaces.flatMap(
      (place) => stageIds[this.module.operand(this.handle, index, place)] ?? [],
    );
    return { ...info, operands };
  }

  shape(stage: StageId): StageShape {
    const index = this.indexOfPresent(stage);
    const extent = (axis: number) => this.module.extent(this.handle, index, axis);
    return { batch: extent(0), heads: extent(1), rows: extent(2), cols: extent(3) };
  }

  view(stage: StageId): Float32Array {
    const index = this.indexOfPresent(stage);
    const known = this.#views.get(stage);
    if (this.isFresh(known)) return known;
    const view = this.module.view(this.handle, index);
    this.#views.set(stage, view);
    return view;
  }

  setInput(stage: StageId, values: ArrayLike<number>, layout: Layout = 'heads'): void {
    const view = this.view(stage);
    if (!this.isGiven(stage)) throw new AttentionError('notGiven', stage);
    requireLength(stage, values, view.length);
    const { heads, rows, cols } = this.shape(stage);
    setRows(view, values, { heads, from: 0, count: rows, rows, cols }, layout);
  }

  run(): void {
    this.module.run(this.handle);
  }

  rowSum(batch: number, head: number, row: number): number {
    this.requireRow(batch, head, row);
    return this.shape('weights').cols === 0 ? 0 : this.module.rowSum(this.handle, batch, head, row);
  }

  get scale(): number {
    return this.module.scale(this.handle);
  }

  override dispose(): void {
    if (this.isDisposed) return;
    super.dispose();
    this.#views.clear();
    liveSessions -= 1;
  }

  protected isGiven(stage: StageId): boolean {
    return this.module.isGiven(this.handle, indexOf(stage));
  }

  protected indexOfPresent(stage: StageId): number {
    if (!this.has(stage)) throw new AttentionError('stageAbsent', stage);
    return indexOf(stage);
  }

  /** Refuses a row of weights that is not there, also where rows have no cell. */
  protected requireRow(batch: number, head: number, row: number): void {
    const shape = this.shape('weights');
    for (const [index, count] of [
      [batch, shape.batch],
      [head, shape.heads],
      [row, shape.rows],
    ] as const) {
      if (!(Number.isInteger(index) && index >= 0 && index < count)) {
        throw new AttentionError('cellOutsideStage', 'weights', index, count);
      }
    }
  }
}

/** The place of a stage in the table; -1, which the core calls absent, for an unknown name. */
export function indexOf(stage: StageId): number {
  return stageIds.indexOf(stage);
}
