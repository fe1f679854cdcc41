/** One forward pass in WASM memory: configuration, inputs and the views of every stage. */
import { AttentionError, type ErrorCode } from './errors.ts';
import type { MainModule } from './generated/forward.mjs';
import {
  type ForwardSession,
  type Layout,
  type SessionConfig,
  type StageId,
  type StageInfo,
  type StageShape,
  stageIds,
} from './types.ts';

/** The generated module with the one runtime export that its types leave out. */
export type ForwardModule = MainModule & { readonly wasmMemory: WebAssembly.Memory };

const sizeNames = ['batch', 'heads', 'kvHeads', 'tq', 'tk', 'dK', 'dV', 'dModel', 'past'] as const;
const operandPlaces = [0, 1, 2, 3, 4, 5];

let liveSessions = 0;

/** How many sessions exist whose `dispose` has not been called. */
export function liveSessionCount(): number {
  return liveSessions;
}

export class WasmForwardSession<M extends ForwardModule> implements ForwardSession {
  protected readonly module: M;
  readonly #table: readonly StageInfo[];
  #handle: number;
  #views = new Map<StageId, Float32Array>();

  constructor(module: M, table: readonly StageInfo[]) {
    this.module = module;
    this.#table = table;
    this.#handle = module.createSession();
    if (!this.#handle) throw new AttentionError('outOfMemory', 'session', 2 ** 14);
    liveSessions += 1;
  }

  configure(config: SessionConfig): void {
    const sizes = { batch: 1, heads: 1, kvHeads: 1, dModel: 0, past: 0, ...definedOnly(config) };
    for (const name of sizeNames) requireWhole(name, sizes[name]);
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
      numberOrNone(config.scale, 'scale'),
      numberOrNone(config.softcap, 'softcap'),
    );
    // Without memory for the new stages the old ones are gone, too.
    if (done || this.module.failureCode(this.handle) === 'outOfMemory') this.#views.clear();
    // The number as it was given: the core works with whole and float32 numbers.
    this.require(done, config as unknown as Record<string, unknown>);
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
    // Any session's configure may have grown the memory, which empties every older view.
    if (known && known.buffer === this.module.wasmMemory.buffer) return known;
    const view = this.module.view(this.handle, index);
    this.#views.set(stage, view);
    return view;
  }

  setInput(stage: StageId, values: ArrayLike<number>, layout: Layout = 'heads'): void {
    const view = this.view(stage);
    if (!this.isGiven(stage)) throw new AttentionError('notGiven', stage);
    requireLength(stage, values, view.length);
    if (layout === 'heads') {
      view.set(values);
      return;
    }
    const { heads, rows, cols } = this.shape(stage);
    for (let at = 0; at < view.length; at += 1) {
      const [b, h, row, col] = placeOf(at, [heads, rows, cols]);
      view[at] = values[((b * rows + row) * heads + h) * cols + col] as number;
    }
  }

  run(): void {
    this.module.run(this.handle);
  }

  rowSum(batch: number, head: number, row: number): number {
    const { cols, ...shape } = this.shape('weights');
    for (const [index, count] of [
      [batch, shape.batch],
      [head, shape.heads],
      [row, shape.rows],
    ] as const) {
      if (!(index >= 0 && index < count)) {
        throw new AttentionError('cellOutsideStage', 'weights', index, count);
      }
    }
    return cols === 0 ? 0 : this.module.rowSum(this.handle, batch, head, row);
  }

  get scale(): number {
    return this.module.scale(this.handle);
  }

  dispose(): void {
    if (!this.#handle) return;
    this.module.deleteSession(this.#handle);
    this.#handle = 0;
    this.#views.clear();
    liveSessions -= 1;
  }

  /** What the core knows this session by. */
  protected get handle(): number {
    if (!this.#handle) throw new AttentionError('disposed');
    return this.#handle;
  }

  protected isGiven(stage: StageId): boolean {
    return this.module.isGiven(this.handle, indexOf(stage));
  }

  protected indexOfPresent(stage: StageId): number {
    if (!this.has(stage)) throw new AttentionError('stageAbsent', stage);
    return indexOf(stage);
  }

  /** Throws what the core says when its last call was not `done`; `given` has numbers as they came. */
  protected require(done: boolean, given: Readonly<Record<string, unknown>> = {}): void {
    if (done) return;
    const { module, handle } = this;
    const subject = module.failureSubject(handle);
    const own = given[subject];
    throw new AttentionError(
      module.failureCode(handle) as ErrorCode,
      subject,
      typeof own === 'number' ? own : module.failureFound(handle),
      module.failureExpected(handle),
    );
  }
}

/** The place of a stage in the table; -1, which the core calls absent, for an unknown name. */
export function indexOf(stage: StageId): number {
  return stageIds.indexOf(stage);
}

export function requireWhole(name: string, size: number): void {
  if (!Number.isInteger(size)) throw new AttentionError('badSize', name, size, 0);
}

export function requireLength(stage: StageId, values: ArrayLike<unknown>, expected: number): void {
  if (values.length !== expected) {
    throw new AttentionError('wrongLength', stage, values.length, expected);
  }
}

/** The indices of a flat place, the first of them over axes of these extents. */
export function placeOf(at: number, extents: readonly number[]): [number, number, number, number] {
  const place: number[] = [];
  let rest = at;
  for (const extent of extents.toReversed()) {
    place.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  place.unshift(rest);
  return place as [number, number, number, number];
}

/** NaN, which is no scale and no softcap, stands for none. */
function numberOrNone(value: number | undefined, name: string): number {
  if (Number.isNaN(value)) throw new AttentionError('badNumber', name, value);
  return value ?? Number.NaN;
}

/** Without the members that are present but undefined, so that defaults can take their place. */
function definedOnly(config: SessionConfig): SessionConfig {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as unknown as SessionConfig;
}
