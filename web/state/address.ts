/** Writes the state as the readable text of an address and reads it back, by one table of parameters. */
import { type CellRef, stageIds } from '../core/types.ts';
import { shortestDecimal } from '../format/number-text.ts';
import { parseNumber } from '../io/expression.ts';
import { resized, switched, tiedSizes } from './changes.ts';
import { inputShape, lastSize, lengthOf } from './problem.ts';
import { beyondLimit } from './size-limit.ts';
import {
  extent,
  type InputId,
  inputAxes,
  inputIds,
  inputsOf,
  mostLabWidth,
  type NamedAxis,
  namedAxes,
  type SizeName,
  type State,
  sizeNames,
} from './types.ts';

/** Written into every address. A reader of a later version still takes what it knows. */
export const addressVersion = 1;

/** How a seeded matrix is written instead of its numbers: `normal:7`. */
const normal = /^normal:(\d+)$/;

/** What the parameters of an address say, before it is fitted together. */
interface Parts {
  sizes: Partial<Record<SizeName, number>>;
  inputs: Partial<Record<InputId, { rows: number; cols: number; values: Float32Array }>>;
  seeds: Partial<Record<InputId, number>>;
  state: Partial<State>;
  scale?: number | null;
  softcap?: number | null;
  switches: Partial<Record<Switch, boolean>>;
  names: Partial<Record<NamedAxis, readonly string[]>>;
}

interface Parameter {
  readonly name: string;
  /** Its text escapes parts of itself and is read as it stands. */
  readonly escaped?: boolean;
  /** The text that makes `base` into `state` in this respect, or null where they agree. */
  write(state: State, base: State): string | null;
  /** Takes the text, or returns what is wrong with it. */
  read(text: string, parts: Parts): string | null;
}

const sizeParameter = (name: SizeName): Parameter => ({
  name,
  write: ({ problem }, base) =>
    problem.sizes[name] === base.problem.sizes[name] ? null : String(problem.sizes[name]),
  read(text, parts) {
    if (!/^\d{1,6}$/.test(text)) return `${name} is a whole number, but “${text}” was found`;
    parts.sizes[name] = Number(text);
    return null;
  },
});

const inputParameter = (id: InputId): Parameter => ({
  name: id,
  write({ problem }, base) {
    const seed = problem.seeds[id];
    if (seed !== undefined) return `normal:${seed}`;
    const values = problem.inputs[id];
    if (!values || values.length === 0) return null;
    const old = base.problem.inputs[id];
    if (old && base.problem.seeds[id] === undefined && sameBits(values, old)) return null;
    return matrixText(values, inputShape(id, problem).cols);
  },
  read(text, parts) {
    const seed = normal.exec(text)?.[1];
    if (seed !== undefined) {
      parts.seeds[id] = Number(seed);
      return null;
    }
    const rows = text.split(';').map((row) => row.split(','));
    const cols = rows[0]?.length ?? 0;
    const values = new Float32Array(rows.length * cols);
    for (const [i, row] of rows.entries()) {
      if (row.length !== cols) {
        return `${id}: row ${i} has ${row.length} numbers where row 0 has ${cols}`;
      }
      for (const [j, cell] of row.entries()) {
        const parsed = parseNumber(cell, id === 'mask' ? { nonFinite: 'minusInfinity' } : {});
        if (!parsed.ok) return `${id}, row ${i}, column ${j}: ${parsed.message}`;
        values[i * cols + j] = parsed.value;
      }
    }
    parts.inputs[id] = { rows: rows.length, cols, values };
    return null;
  },
});

const namesParameter = (axis: NamedAxis): Parameter => ({
  name: `${axis}Names`,
  escaped: true,
  write({ problem }, base) {
    const text = namesText(problem.names[axis]);
    return text === namesText(base.problem.names[axis]) ? null : text;
  },
  read(text, parts) {
    parts.names[axis] = text === '' ? [] : text.split(',').map(decoded);
    return null;
  },
});

/** A number or `default`, which means none. */
const factorParameter = (name: 'scale' | 'softcap'): Parameter => ({
  name,
  write({ problem }, base) {
    const factor = problem[name];
    if (Object.is(factor, base.problem[name])) return null;
    return factor === null ? 'default' : shortestDecimal(factor);
  },
  read(text, parts) {
    const parsed = text === 'default' ? null : parseNumber(text);
    if (parsed && !parsed.ok) return `${name}: ${parsed.message}`;
    if (name === 'softcap' && parsed && !(parsed.value > 0)) {
      return `softcap is a number above 0, but “${text}” was found`;
    }
    parts[name] = parsed ? parsed.value : null;
    return null;
  },
});

type Switch = 'masked' | 'causal' | 'gradients';

const switchParameter = (name: Switch): Parameter => ({
  name,
  write: ({ problem }, base) =>
    problem[name] === base.problem[name] ? null : problem[name] ? 'on' : 'off',
  read(text, parts) {
    if (text !== 'on' && text !== 'off') return `${name} is on or off, but “${text}” was found`;
    parts.switches[name] = text === 'on';
    return null;
  },
});

const parameters: readonly Parameter[] = [
  ...sizeNames.map(sizeParameter),
  ...(['masked', 'causal', 'gradients'] as const).map(switchParameter),
  factorParameter('scale'),
  factorParameter('softcap'),
  ...inputIds.map(inputParameter),
  ...namedAxes.map(namesParameter),
  {
    name: 'decimals',
    write: ({ format }, base) =>
      format.mode === 'decimals' && format.digits !== base.format.digits
        ? String(format.digits)
        : null,
    read(text, parts) {
      if (!/^[0-8]$/.test(text)) return `decimals go from 0 to 8, but “${text}” was found`;
      parts.state = { ...parts.state, format: { mode: 'decimals', digits: Number(text) } };
      return null;
    },
  },
  {
    name: 'digits',
    write: ({ format }) => (format.mode === 'significant' ? String(format.digits) : null),
    read(text, parts) {
      if (!/^[1-8]$/.test(text)) return `digits go from 1 to 8, but “${text}” was found`;
      parts.state = { ...parts.state, format: { mode: 'significant', digits: Number(text) } };
      return null;
    },
  },
  {
    name: 'lab',
    write({ lab }, base) {
      const text = labText(lab);
      return text === labText(base.lab) ? null : text;
    },
    read(text, parts) {
      const found = /^(given|random):(\d{1,3}):(\d{1,10}):(\d{1,4})$/.exec(text);
      const [, source, dK, seed, row] = found ?? [];
      if (!found || Number(dK) < 1 || Number(dK) > mostLabWidth || Number(seed) >= 2 ** 32) {
        return `lab names a source, d_k, a seed and a row such as random:64:1:0, but “${text}” was found`;
      }
      const lab = { dK: Number(dK), seed: Number(seed), row: Number(row) };
      parts.state = { ...parts.state, lab: { source: source as 'given' | 'random', ...lab } };
      return null;
    },
  },
  {
    name: 'softmax',
    write: ({ reading }, base) => (reading === base.reading ? null : reading),
    read(text, parts) {
      if (text !== 'machine' && text !== 'hand') {
        return `softmax is machine or hand, but “${text}” was found`;
      }
      parts.state = { ...parts.state, reading: text };
      return null;
    },
  },
  {
    name: 'shown',
    write: ({ shown }, base) =>
      shown.batch === base.shown.batch && shown.head === base.shown.head
        ? null
        : `${shown.batch}:${shown.head}`,
    read(text, parts) {
      const [, batch, head] = /^(\d{1,6}):(\d{1,6})$/.exec(text) ?? [];
      if (batch === undefined)
        return `shown names a batch and a head such as 0:1, but “${text}” was found`;
      parts.state = { ...parts.state, shown: { batch: Number(batch), head: Number(head) } };
      return null;
    },
  },
  {
    name: 'cell',
    write: ({ pinned }) =>
      pinned &&
      [pinned.stage, pinned.row, pinned.col, pinned.batch, pinned.head]
        .join(':')
        .replace(/^([^:]+:[^:]+:[^:]+):0:0$/, '$1'),
    read(text, parts) {
      const [, name, row, col, batch, head] =
        /^(\w+):(\d{1,6}):(\d{1,6})(?::(\d{1,6}):(\d{1,6}))?$/.exec(text) ?? [];
      const stage = stageIds.find((id) => id === name);
      if (!stage) {
        return `cell names a stage, a row and a column such as weights:0:1, but “${text}” was found`;
      }
      const pinned: CellRef = {
        stage,
        batch: Number(batch ?? 0),
        head: Number(head ?? 0),
        row: Number(row),
        col: Number(col),
      };
      parts.state = { ...parts.state, pinned };
      return null;
    },
  },
];

const labText = ({ source, dK, seed, row }: State['lab']): string =>
  [source, dK, seed, row].join(':');

export interface StateRead {
  readonly state: State;
  /** What of the address could not be taken, a sentence each. */
  readonly messages: readonly string[];
}

/** `ver=1&example=catSat&decimals=2`; `base` is the state of the preset that the state names. */
export function writeState(state: State, base: State): string {
  const pairs = [`ver=${addressVersion}`, `example=${encodeURIComponent(state.preset)}`];
  for (const { name, write } of parameters) {
    const text = write(state, base);
    if (text !== null) pairs.push(`${name}=${text}`);
  }
  return pairs.join('&');
}

/** Reads what `writeState` wrote. `fallback` stands where no example is named; `stateOf` gives the state of a preset, null for an unknown one. */
export function readState(
  text: string,
  fallback: State,
  stateOf: (preset: string) => State | null,
): StateRead {
  const messages: string[] = [];
  const given = new Map<string, string>();
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    if (equals > 0) given.set(pair.slice(0, equals), pair.slice(equals + 1));
    else if (pair !== '') messages.push(`“${pair}” in the link has no value and was left out.`);
  }
  const version = Number(given.get('ver') ?? addressVersion);
  if (version > addressVersion) {
    messages.push(
      `The link was made by a newer version (${version}); what this version (${addressVersion}) knows of it was taken.`,
    );
  }
  given.delete('ver');
  const base = baseState(given.get('example'), fallback, stateOf, messages);
  given.delete('example');
  const parts: Parts = { sizes: {}, inputs: {}, seeds: {}, state: {}, names: {}, switches: {} };
  for (const { name, escaped, read } of parameters) {
    const value = given.get(name);
    given.delete(name);
    const wrong = value === undefined ? null : read(escaped ? value : decoded(value), parts);
    if (wrong) messages.push(`In the link, ${wrong}. That part was left out.`);
  }
  for (const name of given.keys()) {
    messages.push(`The link names “${name}”, which is not known here; it was left out.`);
  }
  return { state: fitted(base, parts, messages), messages };
}

function baseState(
  preset: string | undefined,
  fallback: State,
  stateOf: (preset: string) => State | null,
  messages: string[],
): State {
  if (preset === undefined) return fallback;
  const state = stateOf(decoded(preset));
  if (!state) messages.push(`The link names the example “${decoded(preset)}”, which is not known.`);
  return state ?? fallback;
}

/** Sizes follow from the matrices; a matrix that contradicts the sizes is left out, with a message. */
function fitted(base: State, parts: Parts, messages: string[]): State {
  const wanted: Partial<Record<SizeName, number>> = { ...parts.sizes };
  let problem = switched(base.problem, parts.switches);
  const present = inputsOf(problem);
  const taken: [InputId, Float32Array][] = [];
  for (const id of inputIds) {
    const given = parts.inputs[id];
    if (!given) continue;
    if (!present.includes(id)) {
      messages.push(`The link gives ${id}, which this example does not have; it was left out.`);
      continue;
    }
    const { matrices, rows, cols } = inputAxes(id, problem.outputProjection);
    const known = { ...problem.sizes, ...wanted };
    const down = [...matrices, ...rows];
    const [rowSize, colSize] = [down.at(-1), cols.at(-1)] as [SizeName, SizeName];
    const height = lastSize(down, given.rows, known);
    const width = lastSize(cols, given.cols, known);
    if (
      height !== (wanted[rowSize] ?? height) ||
      width !== (wanted[colSize] ?? width) ||
      height === null ||
      width === null
    ) {
      messages.push(
        `In the link, ${id} is ${given.rows} × ${given.cols}, but ${extent(down, known)} × ${extent(cols, known)} was expected. It was left out.`,
      );
      continue;
    }
    wanted[rowSize] = height;
    wanted[colSize] = width;
    taken.push([id, given.values]);
  }
  const sizes = tiedSizes(problem, wanted, problem.sizes);
  const tooLarge = beyondLimit(sizes);
  if (tooLarge) {
    messages.push(`In the link, ${tooLarge} Its sizes and matrices were left out.`);
    taken.length = 0;
  } else {
    problem = resized(problem, sizes);
  }
  const inputs = { ...problem.inputs };
  const seeds = { ...problem.seeds };
  for (const [id, values] of taken) {
    if (values.length !== lengthOf(id, problem)) {
      messages.push(`In the link, ${id} does not fit the other sizes. It was left out.`);
      continue;
    }
    inputs[id] = values;
    delete seeds[id];
  }
  for (const id of present) {
    if (parts.seeds[id] === undefined) continue;
    seeds[id] = parts.seeds[id];
    delete inputs[id];
  }
  problem = {
    ...problem,
    inputs,
    seeds,
    scale: parts.scale === undefined ? problem.scale : parts.scale,
    softcap: parts.softcap === undefined ? problem.softcap : parts.softcap,
    names: { ...problem.names, ...parts.names },
  };
  return { ...base, ...parts.state, problem };
}

function matrixText(values: Float32Array, cols: number): string {
  const rows: string[] = [];
  for (let start = 0; start < values.length; start += cols) {
    rows.push(Array.from(values.subarray(start, start + cols), shortestDecimal).join(','));
  }
  return rows.join(';');
}

const namesText = (names: readonly string[] = []): string =>
  names.map((name) => encodeURIComponent(name)).join(',');

/** A damaged escape is taken as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function sameBits(a: Float32Array, b: Float32Array): boolean {
  return a.length === b.length && a.every((value, index) => Object.is(value, b[index]));
}
