/** Names, letters and identities of the stages: the words by which a page speaks of them. */
import type { Axis, StageId } from '../core/types.ts';
import { fullPrecision } from './number-text.ts';

/** Whose matrix it is, for colour; the letter always comes first. */
export type Identity = 'q' | 'k' | 'v' | 'none';

export interface StageText {
  /** Plain-text letter, such as `Kᵀ`; the view draws the same in MathML. */
  readonly symbol: string;
  readonly name: string;
  readonly identity: Identity;
}

const text = (symbol: string, name: string, identity: Identity = 'none'): StageText => ({
  symbol,
  name,
  identity,
});

export const stageText: Readonly<Record<StageId, StageText>> = {
  x: text('X', 'token rows'),
  xContext: text('X′', 'context rows'),
  wq: text('W_q', 'query weights', 'q'),
  wk: text('W_k', 'key weights', 'k'),
  wv: text('W_v', 'value weights', 'v'),
  wo: text('W_o', 'output weights'),
  q: text('Q', 'queries', 'q'),
  k: text('K', 'keys', 'k'),
  v: text('V', 'values', 'v'),
  presentKey: text('K', 'past and new keys', 'k'),
  presentValue: text('V', 'past and new values', 'v'),
  keyTransposed: text('Kᵀ', 'keys, transposed', 'k'),
  rawScores: text('S', 'raw scores'),
  scaledScores: text('S/√dₖ', 'scaled scores'),
  cappedScores: text('C', 'capped scores'),
  mask: text('M', 'mask'),
  maskedScores: text('B', 'masked scores'),
  rowMax: text('m', 'row maximum'),
  shifted: text('Z', 'shifted scores'),
  exponentials: text('E', 'exponentials'),
  rowSum: text('ℓ', 'row sum'),
  plainExponentials: text('E′', 'exponentials by hand'),
  plainRowSum: text('ℓ′', 'row sum by hand'),
  weights: text('A', 'weights'),
  heads: text('O', 'blended values'),
  concat: text('O', 'heads side by side'),
  output: text('Y', 'output'),
  dOutput: text('dY', 'gradient of the result'),
  dConcat: text('dO', 'gradient of the heads side by side'),
  dWeights: text('dA', 'gradient of the weights'),
  dScores: text('dS', 'gradient of the scores'),
  dQ: text('dQ', 'gradient of the queries', 'q'),
  dK: text('dK', 'gradient of the keys', 'k'),
  dV: text('dV', 'gradient of the values', 'v'),
  dWq: text('dW_q', 'gradient of the query weights', 'q'),
  dWk: text('dW_k', 'gradient of the key weights', 'k'),
  dWv: text('dW_v', 'gradient of the value weights', 'v'),
  dWo: text('dW_o', 'gradient of the output weights'),
  dX: text('dX', 'gradient of the token rows'),
  dXContext: text('dX′', 'gradient of the context rows'),
};

/** The letter of a stage under a scale; null is the default 1/√d_k. */
export const symbolOf = (stage: StageId, scale: number | null): string =>
  stage === 'scaledScores' && scale !== null ? `S·${factorText(scale)}` : stageText[stage].symbol;

/** With one head nothing is set side by side: what would be is the blend itself. */
export const nameOf = (stage: StageId, heads: number): string =>
  heads === 1 && stage === 'concat'
    ? stageText.heads.name
    : heads === 1 && stage === 'dConcat'
      ? 'gradient of the blended values'
      : stageText[stage].name;

const factorText = (factor: number): string =>
  factor < 0 ? `(${fullPrecision(factor)})` : fullPrecision(factor);

/** What one index along an axis is called. */
export const axisName: Readonly<Record<Axis, string>> = {
  query: 'query',
  key: 'key',
  newKey: 'key',
  model: 'dial',
  feature: 'feature',
  value: 'value',
  headsFeature: 'feature',
  kvHeadsFeature: 'feature',
  kvHeadsValue: 'value',
  headsValue: 'value',
  result: 'number',
  one: '',
};

/** Axes that count the same things as another one. */
const namedAs: Readonly<Partial<Record<Axis, Axis>>> = {
  newKey: 'key',
  headsFeature: 'feature',
  kvHeadsFeature: 'feature',
  kvHeadsValue: 'value',
  headsValue: 'value',
};

/** Names given to indices along an axis. */
export type Labels = Readonly<Partial<Record<Axis, readonly string[]>>>;

/** The name of one row or column: its own name, `token 0` or the bare index of a feature. */
export function indexLabel(axis: Axis, index: number, labels: Labels): string {
  const named = namedAs[axis] ?? axis;
  const own = labels[named]?.[index];
  if (own) return own;
  if (named === 'query' || named === 'key') return `token ${index}`;
  return axis === 'one' ? '' : String(index);
}

/** The same in a sentence: `token 0`, `feature 2`, `“cat”`. */
export function indexPhrase(axis: Axis, index: number, labels: Labels): string {
  if (labels[namedAs[axis] ?? axis]?.[index]) return `“${indexLabel(axis, index, labels)}”`;
  const label = indexLabel(axis, index, labels);
  return label === String(index) ? `${axisName[axis]} ${index}` : label;
}
