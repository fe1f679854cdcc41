/** Fused attention in WASM memory: resident inputs, one result, no stages. */
import { constantOf, Held, requireLength, setRows, sizesOf } from './boundary.ts';
import { AttentionError } from './errors.ts';
import { cellsOf, placeInMask, requireChoice, writeLengths, writeMask } from './masks.ts';
import type { Module } from './session.ts';
import type { Attention, AttentionConfig, AttentionInputs, Engine, Layout, Mask } from './types.ts';

/** The module's functions that give an array of the attention's own. */
type Place = 'queries' | 'keys' | 'values' | 'maskOfAttention' | 'output';

const placeOfInput = { q: 'queries', k: 'keys', v: 'values' } as const;
const placeOfPast = { presentKey: 'keys', presentValue: 'values' } as const;

export class WasmAttention extends Held<Module> implements Attention {
  #views = new Map<Place, Float32Array>();
  /** None when there was no memory for the last one. */
  #config: AttentionConfig | null = null;

  constructor(module: Module, config: AttentionConfig) {
    super(module, module.createAttention());
    try {
      this.configure(config);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  configure(config: AttentionConfig): void {
    const sizes = sizesOf(config);
    const kind = config.mask?.kind ?? 'float';
    const shape = config.mask?.shape ?? [];
    requireChoice('maskKind', kind);
    cellsOf(shape);
    const [a = 1, b = 1, c = 1, d = 1] = shape;
    writeLengths((count) => this.module.lengthsOfAttention(this.handle, count), config);
    const done = this.module.configureAttention(
      this.handle,
      sizes.batch,
      sizes.heads,
      sizes.kvHeads,
      sizes.tq,
      sizes.tk,
      sizes.dK,
      sizes.dV,
      sizes.past,
      config.mask !== undefined,
      config.causal ?? false,
      constantOf(config, 'scale'),
      constantOf(config, 'softcap'),
      shape.length,
      a,
      b,
      c,
      d,
      kind === 'boolean',
    );
    if (done || this.failure === 'outOfMemory') {
      this.#views.clear();
      this.#config = null;
    }
    this.require(done, config);
    this.#config = { ...config };
  }

  setInput(name: 'q' | 'k' | 'v', values: ArrayLike<number>, layout: Layout = 'heads'): void {
    const { tq, past = 0 } = this.#configFor(name);
    this.#setRows(name, placeOfInput[name], values, name === 'q' ? [0, tq] : [past], layout);
  }

  setPast(name: 'presentKey' | 'presentValue', values: ArrayLike<number>): void {
    this.#setRows(name, placeOfPast[name], values, [0, this.#configFor(name).past ?? 0]);
  }

  setInputs(inputs: AttentionInputs): void {
    for (const name of ['q', 'k', 'v'] as const) this.setInput(name, inputs[name], inputs.layout);
    if (inputs.pastKey) this.setPast('presentKey', inputs.pastKey);
    if (inputs.pastValue) this.setPast('presentValue', inputs.pastValue);
    if (inputs.mask) this.setMask(inputs.mask);
  }

  setMask(values: Mask['values']): void {
    const { mask } = this.#configFor('mask');
    if (!mask) throw new AttentionError('stageAbsent', 'mask');
    const staging = this.#view('maskOfAttention');
    requireLength('mask', values, staging.length);
    writeMask(staging, values);
    const done = this.module.setMaskOfAttention(this.handle);
    if (!done && this.failure === 'badMask') {
      const found = this.module.failureFound(this.handle);
      const place = placeInMask(this.module.failureExpected(this.handle), mask.shape);
      throw new AttentionError('badMask', 'mask', found, place);
    }
    this.require(done);
  }

  get rows(): number {
    return this.module.rows(this.handle);
  }

  run(first = 0, last = this.rows): void {
    for (const row of [first, last]) {
      if (!Number.isInteger(row) || row < 0 || row > this.rows) {
        throw new AttentionError('rowOutside', 'output', row, this.rows);
      }
    }
    this.#configFor('output');
    this.module.attend(this.handle, first, last);
  }

  get output(): Float32Array {
    this.#configFor('output');
    return this.#view('output');
  }

  get scale(): number {
    this.#configFor('scale');
    return this.module.scaleOfAttention(this.handle);
  }

  override dispose(): void {
    super.dispose();
    this.#views.clear();
  }

  #configFor(name: string): AttentionConfig {
    if (!this.#config) throw new AttentionError('stageAbsent', name);
    return this.#config;
  }

  #view(place: Place): Float32Array {
    const known = this.#views.get(place);
    if (this.isFresh(known)) return known;
    const view = this.module[place](this.handle);
    this.#views.set(place, view);
    return view;
  }

  /** Copies the rows `from` … `to` (to the last) of every matrix of an input. */
  #setRows(
    name: 'q' | 'k' | 'v' | 'presentKey' | 'presentValue',
    place: 'queries' | 'keys' | 'values',
    values: ArrayLike<number>,
    [from, to]: readonly [from: number, to?: number],
    layout: Layout = 'heads',
  ): void {
    if (!place) throw new AttentionError('notGiven', name);
    requireChoice('layout', layout);
    const { batch = 1, heads = 1, kvHeads = 1, tq, tk, dK, dV } = this.#configFor(name);
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

/**
 * With a copy of what is a part of a larger buffer: it may be the view of a session, which is empty
 * once the memory has grown.
 */
function apart(inputs: AttentionInputs): AttentionInputs {
  const entries = Object.entries(inputs).map(([name, value]) => [
    name,
    value instanceof Float32Array && value.byteLength < value.buffer.byteLength
      ? value.slice()
      : value,
  ]);
  return Object.fromEntries(entries);
}

/** Refuses past keys without numbers: as zeros they would take their share. */
export function requirePast(inputs: AttentionInputs, config: AttentionConfig): void {
  const { batch, kvHeads, past, dK, dV } = sizesOf(config);
  const rows = batch * kvHeads * past;
  if (rows === 0) return;
  requireLength('presentKey', inputs.pastKey ?? [], rows * dK);
  requireLength('presentValue', inputs.pastValue ?? [], rows * dV);
}

/** Runs attention once and returns a copy of the result, [batch, heads, tq, dV]. */
export function attend(
  engine: Engine,
  inputs: AttentionInputs,
  config: AttentionConfig,
): Float32Array {
  requirePast(inputs, config);
  const own = apart(inputs);
  const attention = engine.createAttention(config);
  try {
    attention.setInputs(own);
    attention.run();
    return attention.output.slice();
  } finally {
    attention.dispose();
  }
}
