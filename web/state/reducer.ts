/** The pure reducer: every way in which the state changes. */
import type { CellRef } from '../core/types.ts';
import type { NumberFormat } from '../format/number-text.ts';
import { parseNumber } from '../io/expression.ts';
import { type Fill, filled, reseeded, resized, switched, withMatrix } from './changes.ts';
import { inputShape, keysFollow, matrixIndex } from './problem.ts';
import { beyondLimit } from './size-limit.ts';
import {
  type Draft,
  draftKey,
  type FieldName,
  fieldKey,
  type InputId,
  mostDigits,
  type Names,
  type Problem,
  type ScaleLab,
  type Shown,
  type Sizes,
  type State,
  type Step,
  sizeNames,
  stagesOfReading,
} from './types.ts';

export type Action =
  | {
      type: 'edit';
      stage: InputId;
      row: number;
      col: number;
      batch?: number;
      head?: number;
      text: string;
      /** Set while typing goes on in one cell: all of it is one step for undo. */
      continues?: boolean;
    }
  | { type: 'dropDraft'; stage: InputId; row: number; col: number; batch?: number; head?: number }
  | { type: 'reject'; problem: Problem; notice: string }
  | { type: 'cancel'; problem: Problem; notice: string }
  | { type: 'notice'; notice: string }
  | {
      type: 'matrix';
      stage: InputId;
      rows: number;
      cols: number;
      values: Float32Array;
      shown?: Shown;
    }
  | { type: 'fill'; stage: InputId; fill: Fill }
  | { type: 'drawn'; problem: Problem }
  | { type: 'names'; names: Names }
  | { type: 'lab'; lab: Partial<ScaleLab> }
  | { type: 'reseed' }
  | { type: 'switch'; switches: Partial<Pick<Problem, 'masked' | 'causal' | 'gradients'>> }
  | { type: 'paint'; row: number; col: number }
  | { type: 'show'; shown: Partial<Shown> }
  | { type: 'reading'; reading: State['reading'] }
  | { type: 'field'; field: FieldName; text: string }
  | { type: 'resize'; sizes: Partial<Sizes> }
  | { type: 'open'; preset: string; problem: Problem }
  | { type: 'restore'; state: State; notice: string }
  | { type: 'undo' }
  | { type: 'redo' }
  | { type: 'format'; format: NumberFormat }
  | { type: 'pin'; cell: CellRef | null };

/** How many steps back are kept; a problem shares the arrays it has in common with its neighbours. */
export const undoDepth = 200;

/** A change that makes the problem too large for the page only leaves the sizes that were asked for. */
export function reduce(state: State, action: Action): State {
  const next = reduced(state, action);
  const wrong = next.problem === state.problem ? '' : beyondLimit(next.problem.sizes);
  return wrong ? withAsked(state, next.problem.sizes, wrong) : next;
}

function reduced(state: State, action: Action): State {
  switch (action.type) {
    case 'edit':
      return edit(state, action);
    case 'dropDraft':
      return withoutDraft(
        state,
        draftKey(action.stage, action.row, action.col, action.batch, action.head),
      );
    case 'reject':
      return rejected(state, action.problem, action.notice);
    case 'cancel':
      return { ...wentBack(state, action.problem), notice: action.notice };
    case 'notice':
      return { ...state, notice: action.notice };
    case 'matrix': {
      const { stage, rows, cols, values, shown } = action;
      return changed(state, withMatrix(state.problem, stage, rows, cols, values, shown));
    }
    case 'fill':
      return changed(state, filled(state.problem, action.stage, action.fill));
    case 'drawn':
      return { ...state, problem: action.problem };
    case 'names':
      return remembered(state, { ...state.problem, names: action.names });
    case 'lab':
      return { ...state, lab: { ...state.lab, ...action.lab } };
    case 'reseed':
      return remembered(state, reseeded(state.problem));
    case 'switch':
      return { ...changed(state, switched(state.problem, action.switches)), pinned: state.pinned };
    case 'paint':
      return painted(state, action.row, action.col);
    case 'show':
      return { ...state, shown: { ...state.shown, ...action.shown }, pinned: null };
    case 'reading':
      return { ...state, reading: action.reading, pinned: shownPin(state.pinned, action.reading) };
    case 'field':
      return field(state, action.field, action.text);
    case 'resize':
      return changed(state, resized(state.problem, action.sizes));
    case 'open':
      return { ...changed(state, action.problem), preset: action.preset };
    case 'restore': {
      const { preset, problem, format, pinned, shown, reading, lab } = action.state;
      const { notice } = action;
      return { ...changed(state, problem), preset, format, pinned, shown, reading, lab, notice };
    }
    case 'undo':
      return step(state, 'past', 'future');
    case 'redo':
      return step(state, 'future', 'past');
    case 'format':
      return { ...state, format: action.format };
    case 'pin':
      return { ...state, pinned: action.cell };
  }
}

/** The pinned cell, unless only the other reading of the softmax shows it. */
function shownPin(pinned: CellRef | null, reading: State['reading']): CellRef | null {
  const hidden: readonly string[] = stagesOfReading[reading === 'hand' ? 'machine' : 'hand'];
  return pinned && hidden.includes(pinned.stage) ? null : pinned;
}

/** Takes the text as a number, or keeps the old number and the text with what is wrong with it. */
function edit(state: State, action: Extract<Action, { type: 'edit' }>): State {
  const { stage, row, col, batch = 0, head = 0, text, continues } = action;
  const key = draftKey(stage, row, col, batch, head);
  const { problem } = state;
  const values = problem.inputs[stage];
  const { rows, cols } = inputShape(stage, problem);
  // While a long run goes on, cells are shown that the newest problem need not have.
  if (!values || row >= rows || col >= cols) return state;
  const index = (matrixIndex(stage, problem, { batch, head }) * rows + row) * cols + col;
  const parsed = parseNumber(text, stage === 'mask' ? { nonFinite: 'minusInfinity' } : {});
  if (!parsed.ok) {
    // What was taken on the way to this text was not meant: the number before the typing counts.
    const kept = continues ? withoutStep(state) : state;
    return { ...kept, drafts: { ...state.drafts, [key]: { text, message: parsed.message } } };
  }
  const clean = withoutDraft(state, key);
  if (Object.is(values[index], Math.fround(parsed.value))) return clean;
  const next = values.slice();
  next[index] = parsed.value;
  const { [stage]: _drawn, ...seeds } = problem.seeds;
  const changedProblem = { ...problem, inputs: { ...problem.inputs, [stage]: next }, seeds };
  return continues ? { ...clean, problem: changedProblem } : remembered(clean, changedProblem);
}

/** Hides the key from the query, or shows it again. */
function painted(state: State, row: number, col: number): State {
  const { problem } = state;
  const mask = problem.inputs.mask;
  if (!mask || row >= problem.sizes.tq || col >= problem.sizes.tk) return state;
  const index = row * problem.sizes.tk + col;
  const next = mask.slice();
  next[index] = next[index] === -Infinity ? 0 : -Infinity;
  const clean = withoutDraft(state, draftKey('mask', row, col));
  return remembered(clean, { ...problem, inputs: { ...problem.inputs, mask: next } });
}

/** As if the last step had not been taken. */
const withoutStep = (state: State): State => ({
  ...state,
  ...state.past.at(-1),
  past: state.past.slice(0, -1),
});

const fieldTitles: Readonly<Record<FieldName, string>> = {
  tq: 'T_q',
  tk: 'T_k',
  dModel: 'd_model',
  dK: 'd_k',
  dV: 'd_v',
  batch: 'The batch size',
  heads: 'H, the number of query heads,',
  kvHeads: 'G, the number of key/value heads,',
  scale: 'The scale',
  softcap: 'The softcap',
  digits: 'The number of digits',
};

/** Takes a text typed above the matrices, or keeps it beside the old number with what is wrong. */
function field(state: State, name: FieldName, text: string): State {
  const refuse = (message: string) => withDraft(state, fieldKey(name), { text, message });
  const clean = withoutDraft(state, fieldKey(name));
  if (name === 'scale' || name === 'softcap') {
    const parsed = text.trim() === '' ? null : parseNumber(text);
    if (parsed && !parsed.ok) return refuse(`${fieldTitles[name]}: ${parsed.message}`);
    const factor = parsed ? parsed.value : null;
    if (name === 'softcap' && factor !== null && factor <= 0) {
      return refuse(`${fieldTitles.softcap} is a number above 0, but “${text}” was found.`);
    }
    return Object.is(factor, state.problem[name])
      ? clean
      : remembered(clean, { ...state.problem, [name]: factor });
  }
  const number = Number(text);
  const whole = /^\s*\d+\s*$/.test(text);
  if (name === 'digits') {
    const least = state.format.mode === 'decimals' ? 0 : 1;
    return whole && number >= least && number <= mostDigits
      ? { ...clean, format: { ...state.format, digits: number } }
      : refuse(
          `${fieldTitles.digits} is a whole number from ${least} to ${mostDigits}, but “${text}” was found.`,
        );
  }
  if (!whole) {
    return refuse(`${fieldTitles[name]} is a whole number of 0 or more, but “${text}” was found.`);
  }
  return number === state.problem.sizes[name]
    ? clean
    : changed(clean, resized(state.problem, { [name]: number }));
}

/** Back to the problem before: the core refused the new one. */
function rejected(state: State, problem: Problem, notice: string): State {
  const { preset } = state.past.find((step) => step.problem === problem) ?? state;
  const next = { ...state, preset, problem, past: state.past.slice(0, -1) };
  return withAsked(next, state.problem.sizes, notice);
}

/** Back to an earlier problem, by Undo or Redo where they lead there; the other one returns. */
function wentBack(state: State, problem: Problem): State {
  for (const [from, to] of [
    ['past', 'future'],
    ['future', 'past'],
  ] as const) {
    if (!state[from].some((one) => one.problem === problem)) continue;
    let next = state;
    while (next.problem !== problem) next = step(next, from, to);
    return next;
  }
  return { ...state, problem, drafts: {}, pinned: null, future: [...state.future, stepOf(state)] };
}

/** Sizes that were asked for and cannot be had stay as drafts, with what is wrong. */
function withAsked(state: State, asked: Sizes, notice: string): State {
  const { problem } = state;
  let next: State = { ...state, notice };
  for (const name of sizeNames) {
    // Where T_k follows T_q, it has no field.
    if (asked[name] === problem.sizes[name] || (name === 'tk' && keysFollow(problem))) continue;
    next = withDraft(next, fieldKey(name), { text: String(asked[name]), message: notice });
    next = { ...next, notice: '' };
  }
  return next;
}

const withDraft = (state: State, key: string, draft: Draft): State => ({
  ...state,
  drafts: { ...state.drafts, [key]: draft },
});

function withoutDraft(state: State, key: string): State {
  if (!(key in state.drafts)) return state;
  const { [key]: _dropped, ...drafts } = state.drafts;
  return { ...state, drafts };
}

/** A new problem of possibly other sizes: drafts and pin belong to the old cells and go. */
const changed = (state: State, problem: Problem): State => ({
  ...remembered(state, problem),
  drafts: {},
  pinned: null,
  notice: '',
});

const remembered = (state: State, problem: Problem): State => ({
  ...state,
  problem,
  past: [...state.past, stepOf(state)].slice(-undoDepth),
  future: [],
});

const stepOf = ({ preset, problem }: State): Step => ({ preset, problem });

function step(state: State, from: 'past' | 'future', to: 'past' | 'future'): State {
  const last = state[from].at(-1);
  if (!last) return state;
  return {
    ...state,
    ...last,
    [from]: state[from].slice(0, -1),
    [to]: [...state[to], stepOf(state)],
    drafts: {},
    pinned: null,
    notice: '',
  };
}
