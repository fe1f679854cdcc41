/** What everything behind the boundary has in common: a handle, its failures, sizes and rows. */
import { AttentionError, type ErrorCode } from './errors.ts';
import type { MainModule } from './generated/forward.mjs';
import type { AttentionConfig, Layout, StageId } from './types.ts';

/** The generated module with the one runtime export that its types leave out. */
export type ForwardModule = MainModule & {
  readonly wasmMemory: { readonly buffer: ArrayBufferLike };
};

/** Something that the core holds and knows by a number. */
export abstract class Held<M extends ForwardModule> {
  protected readonly module: M;
  #handle: number;

  constructor(module: M, handle: number) {
    if (!handle) throw new AttentionError('outOfMemory', 'session', 2 ** 14);
    this.module = module;
    this.#handle = handle;
  }

  dispose(): void {
    if (this.#handle) this.module.release(this.#handle);
    this.#handle = 0;
  }

  get isDisposed(): boolean {
    return this.#handle === 0;
  }

  protected get handle(): number {
    if (!this.#handle) throw new AttentionError('disposed');
    return this.#handle;
  }

  /** The code of the call that was not done. */
  protected get failure(): ErrorCode {
    return this.module.failureCode(this.handle) as ErrorCode;
  }

  /** Throws what the core says when its last call was not `done`; `given` has numbers as they came. */
  protected require(done: boolean, given: object = {}): void {
    if (done) return;
    const { module, handle } = this;
    const subject = module.failureSubject(handle);
    // The core works with whole and float32 numbers.
    const own = (given as Readonly<Record<string, unknown>>)[subject];
    throw new AttentionError(
      this.failure,
      subject,
      typeof own === 'number' ? own : module.failureFound(handle),
      module.failureExpected(handle),
    );
  }

  /** A view made before may be empty: any configure may have grown the memory since. */
  protected isFresh(view: Float32Array | undefined): view is Float32Array {
    return view?.buffer === this.module.wasmMemory.buffer;
  }
}

const sizeNames = ['batch', 'heads', 'kvHeads', 'tq', 'tk', 'dK', 'dV', 'dModel', 'past'] as const;

/** All sizes, each a whole number. */
export function sizesOf(config: AttentionConfig & { readonly dModel?: number }) {
  const sizes = { batch: 1, heads: 1, kvHeads: 1, dModel: 0, past: 0, ...definedOnly(config) };
  for (const name of sizeNames) requireWhole(name, sizes[name]);
  return sizes;
}

/** A constant as the core takes it: NaN, which is no scale and no softcap, stands for none. */
export function constantOf(config: AttentionConfig, name: 'scale' | 'softcap'): number {
  const value = config[name];
  if (Number.isNaN(value)) throw new AttentionError('badNumber', name, value);
  return value ?? Number.NaN;
}

/**
 * Copies rows `from` … `from + count` of every matrix, which has `rows` of them in the view. The
 * values are [batch, heads, count, cols], or [batch, count, heads · cols].
 */
export function setRows(
  view: Float32Array,
  values: ArrayLike<number>,
  place: { heads: number; from: number; count: number; rows: number; cols: number },
  layout: Layout = 'heads',
): void {
  const { heads, from, count, rows, cols } = place;
  if (layout === 'heads' && count === rows) {
    view.set(values);
    return;
  }
  // What lies in the core's own memory is moved while it is read.
  const isApart = values instanceof Float32Array && values.buffer !== view.buffer;
  const numbers = isApart ? values : Float32Array.from(values);
  for (let at = 0; at < numbers.length; at += cols) {
    const [b, h, row] = placeOf(at, [heads, count, cols]);
    const source = layout === 'heads' ? at : ((b * count + row) * heads + h) * cols;
    view.set(numbers.subarray(source, source + cols), ((b * heads + h) * rows + from + row) * cols);
  }
}

export function requireWhole(name: string, size: number): void {
  if (!Number.isInteger(size)) throw new AttentionError('badSize', name, size, 0);
}

export function requireLength(stage: StageId, values: ArrayLike<unknown>, expected: number): void {
  if (values?.length !== expected) {
    throw new AttentionError('wrongLength', stage, values?.length ?? 'none', expected);
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

/** Without the members that are present but undefined, so that defaults can take their place. */
function definedOnly<T extends object>(config: T): T {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}
