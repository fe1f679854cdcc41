/** Fused attention in WASM memory: resident inputs, one result, no stages. */
import {
  cellsOf,
  optionsOf,
  requireLength,
  setRows,
  throwAsGiven,
  throwBadMask,
  writeLengths,
} from './boundary.ts';
import { AttentionError } from './errors.ts';
import type { Attention as Handle } from './generated/attention.mjs';
import type { Module } from './session.ts';
import type { Attention, AttentionConfig, AttentionInputs, Engine, Layout, Mask } from './types.ts';

/** The names of the handle's own arrays. */
type Place = 'queries' | 'keys' | 'values' | 'maskStaging' | 'output';

const placeOfInput = { q: 'queries', k: 'keys', v: 'values' } as const;
const placeOfPast = { presentKey: 'keys', presentValue: 'values' } as const;

export class WasmAttention implements Attention {
  readonly #module: Module;
  #handle: Handle | null;
  #views = new Map<Place, Float32Array>();
  #config!: AttentionConfig;

  constructor(module: Module, config: AttentionConfig) {
    this.#module = module;
    this.#handle = new module.Attention();
    try {
      this.configure(config);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  configure(config: AttentionConfig): void {
    const options = { ...optionsOf(config), masked: config.mask !== undefined };
    const { kind = 'float', shape = [] } = config.mask ?? {};
    cellsOf(shape);
    writeLengths(this.#open, config);
    const [a = 1, b = 1, c = 1, d = 1] = shape;
    const outcome = this.#open.configure(options, shape.length, a, b, c, d, kind === 'boolean');
    if (outcome.code === 'ok' || outcome.code === 'outOfMemory') this.#views.clear();
    throwAsGiven(outcome, config);
    this.#config = { ...config };
  }

  setInput(name: 'q' | 'k' | 'v', values: ArrayLike<number>, layout: Layout = 'heads'): void {
    const { tq, past = 0 } = this.#config;
    this.#setRows(name, placeOfInput[name], values, name === 'q' ? [0, tq] : [past], layout);
  }

  setPast(name: 'presentKey' | 'presentValue', values: ArrayLike<number>): void {
    this.#setRows(name, placeOfPast[name], values, [0, this.#config.past ?? 0]);
  }

  setMask(values: Mask['values']): void {
    const { mask } = this.#config;
    if (!mask) throw new AttentionError('stageAbsent', 'mask');
    const staging = this.#view('maskStaging');
    requireLength('mask', values, staging.length);
    for (let at = 0; at < values.length; at += 1) staging[at] = Number(values[at]);
    throwBadMask(this.#open.setMask(), mask.shape);
  }

  get rows(): number {
    return this.#open.rows();
  }

  run(first = 0, last = this.rows): void {
    for (const row of [first, last]) {
      if (!Number.isInteger(row) || row < 0 || row > this.rows) {
        throw new AttentionError('rowOutside', 'output', row, this.rows);
      }
    }
    this.#open.run(first, last);
  }

  get output(): Float32Array {
    return this.#view('output');
  }

  get scale(): number {
    return this.#open.scale();
  }

  dispose(): void {
    this.#handle?.delete();
    this.#handle = null;
    this.#views.clear();
  }

  get #open(): Handle {
    if (!this.#handle) throw new AttentionError('disposed');
    return this.#handle;
  }

  #view(place: Place): Float32Array {
    const known = this.#views.get(place);
    // Any configure may have grown the memory, which empties every older view.
    if (known && known.buffer === this.#module.wasmMemory.buffer) return known;
    const view = this.#open[place]();
    this.#views.set(place, view);
    return view;
  }

  /** Copies the rows `from` … `to` (to the last) of every matrix of an input. */
  #setRows(
    name: 'q' | 'k' | 'v' | 'presentKey' | 'presentValue',
    place: 'queries' | 'keys' | 'values',
    values: ArrayLike<number>,
    [from, to]: readonly [from: number, to?: number],
    layout?: Layout,
  ): void {
    const { batch = 1, heads = 1, kvHeads = 1, tq, tk, dK, dV } = this.#config;
    const own = {
      heads: place === 'queries' ? heads : kvHeads,
      rows: place === 'queries' ? tq : tk,
    };
    const cols = place === 'values' ? dV : dK;
    const count = (to ?? own.rows) - from;
    const view = this.#view(place);
    requireLength(name, values, batch * own.heads * count * cols);
    setRows(view, values, { ...own, from, count, cols }, layout);
  }
}

/** Runs attention once and returns a copy of the result, [batch, heads, tq, dV]. */
export function attend(
  engine: Engine,
  inputs: AttentionInputs,
  config: AttentionConfig,
): Float32Array {
  const attention = engine.createAttention(config);
  try {
    for (const name of ['q', 'k', 'v'] as const) attention.setInput(name, inputs[name]);
    if (inputs.pastKey) attention.setPast('presentKey', inputs.pastKey);
    if (inputs.pastValue) attention.setPast('presentValue', inputs.pastValue);
    if (inputs.mask) attention.setMask(inputs.mask);
    attention.run();
    return attention.output.slice();
  } finally {
    attention.dispose();
  }
}
