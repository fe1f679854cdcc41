/** Formulas in MathML: the letters of the stages, the formula of each, and the whole as navigation. */
import { html, mathml, nothing, type TemplateResult } from 'lit';
import type { StageId } from '../core/types.ts';
import type { State } from '../state/types.ts';

type Fragment = TemplateResult;

const letter = (name: string, identity = ''): Fragment =>
  identity ? mathml`<mi class=${identity}>${name}</mi>` : mathml`<mi>${name}</mi>`;
const sub = (base: Fragment, index: string): Fragment =>
  mathml`<msub>${base}<mi>${index}</mi></msub>`;

const q = letter('Q', 'q');
const k = letter('K', 'k');
const v = letter('V', 'v');
const x = letter('X');
const xContext = letter('X′');
const kT = mathml`<msup><mi class="k">K</mi><mi mathvariant="normal">T</mi></msup>`;
const open = mathml`<mo stretchy="false">(</mo>`;
const close = mathml`<mo stretchy="false">)</mo>`;
const wq = sub(letter('W', 'q'), 'q');
const wk = sub(letter('W', 'k'), 'k');
const wv = sub(letter('W', 'v'), 'v');
const wo = sub(letter('W'), 'o');
const rootDk = mathml`<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt>`;
/** The scaled scores: divided by the root, or times the scale that was set in its place. */
const scaledBy = (scale: string | null): Fragment =>
  scale === null
    ? mathml`<mrow><mi>S</mi><mo>/</mo>${rootDk}</mrow>`
    : mathml`<mrow><mi>S</mi><mo>·</mo><mn>${scale}</mn></mrow>`;
const mask = letter('M');
const gradient = (of: Fragment): Fragment => mathml`<mrow><mi>d</mi>${of}</mrow>`;

export const symbols: Readonly<Record<StageId, Fragment>> = {
  x,
  xContext,
  wq,
  wk,
  wv,
  wo,
  q,
  k,
  v,
  presentKey: k,
  presentValue: v,
  keyTransposed: kT,
  rawScores: letter('S'),
  scaledScores: scaledBy(null),
  cappedScores: letter('C'),
  mask,
  maskedScores: letter('B'),
  rowMax: letter('m'),
  shifted: letter('Z'),
  exponentials: letter('E'),
  rowSum: letter('ℓ'),
  plainExponentials: letter('E′'),
  plainRowSum: letter('ℓ′'),
  weights: letter('A'),
  heads: letter('O'),
  concat: letter('O'),
  output: letter('Y'),
  dOutput: gradient(letter('Y')),
  dConcat: gradient(letter('O')),
  dWeights: gradient(letter('A')),
  dScores: gradient(letter('S')),
  dQ: gradient(q),
  dK: gradient(k),
  dV: gradient(v),
  dWq: gradient(wq),
  dWk: gradient(wk),
  dWv: gradient(wv),
  dWo: gradient(wo),
  dX: gradient(x),
  dXContext: gradient(xContext),
};

const sumOverKeys = mathml`<msub><mo>Σ</mo><mi>j</mi></msub>`;

/** Right-hand sides; a stage that is given or only renamed has none. */
const definitions: Readonly<Partial<Record<StageId, Fragment>>> = {
  rawScores: mathml`${q}${kT}`,
  rowMax: mathml`<msub><mi>max</mi><mi>j</mi></msub>`,
  exponentials: mathml`<mi>exp</mi>${open}<mi>Z</mi>${close}`,
  rowSum: mathml`${sumOverKeys}<mi>E</mi>`,
  plainRowSum: mathml`${sumOverKeys}<mi>E′</mi>`,
  heads: mathml`<mi>A</mi>${v}`,
  output: mathml`<mi>O</mi>${wo}`,
};

/** The projections have a right-hand side only where X is given. */
const projections: Readonly<Partial<Record<StageId, readonly [Fragment, Fragment]>>> = {
  q: [x, wq],
  k: [x, wk],
  v: [x, wv],
};

/** The letter of a stage under a scale, which is null for the default 1/√d_k. */
const symbolUnder = (stage: StageId, scale: string | null): Fragment =>
  stage === 'scaledScores' ? scaledBy(scale) : symbols[stage];

export const symbolMath = (stage: StageId, scale: string | null): TemplateResult =>
  html`<math>${symbolUnder(stage, scale)}</math>`;

export interface FormulaContext {
  /** Q, K and V come from X, K and V from the context. */
  readonly projected: boolean;
  readonly context: boolean;
  /** Set where it is not 1/√d_k. */
  readonly scale: string | null;
  /** The stage that the softmax starts from. */
  readonly softmaxInput: StageId;
  readonly capped: boolean;
  readonly reading: State['reading'];
}

/** `S = QKᵀ`, or the letter alone for what is given. */
export function stageFormula(
  stage: StageId,
  { projected, context, scale, softmaxInput, capped, reading }: FormulaContext,
): TemplateResult {
  const projection = projected ? projections[stage] : undefined;
  if (projection) {
    const from = context && stage !== 'q' ? xContext : projection[0];
    return html`<math>${mathml`<mrow>${symbols[stage]}<mo>=</mo>${from}${projection[1]}</mrow>`}</math>`;
  }
  if (stage === 'scaledScores') return symbolMath(stage, scale);
  const before = symbolUnder(softmaxInput, scale);
  const definition =
    stage === 'shifted'
      ? mathml`${before}<mo>−</mo><mi>m</mi>`
      : stage === 'plainExponentials'
        ? mathml`<mi>exp</mi>${open}${before}${close}`
        : stage === 'cappedScores'
          ? mathml`<mi>c</mi><mi>tanh</mi>${open}${scaledBy(scale)}<mo>/</mo><mi>c</mi>${close}`
          : stage === 'maskedScores'
            ? mathml`${capped ? symbols.cappedScores : scaledBy(scale)}<mo>+</mo>${mask}`
            : stage === 'weights'
              ? reading === 'hand'
                ? mathml`<mi>E′</mi><mo>/</mo><mi>ℓ′</mi>`
                : mathml`<mi>E</mi><mo>/</mo><mi>ℓ</mi>`
              : definitions[stage];
  return defined(stage, definition);
}

/** The letter of a stage, with what it is made of where that is known. */
export const defined = (stage: StageId, definition: Fragment | undefined): TemplateResult =>
  html`<math>${definition ? mathml`<mrow>${symbols[stage]}<mo>=</mo>${definition}</mrow>` : symbols[stage]}</math>`;

/** Attention(Q,K,V) = softmax(QKᵀ/√d_k)·V, or with the scale that was set, each part a link to the section that shows it. */
export function formulaNavigation(
  current: string,
  scale: string | null,
  onGo: (section: string, event: Event) => void,
): TemplateResult {
  const link = (section: string, label: string, math: Fragment) => html`<a
      href=${`#${section}`}
      aria-label=${label}
      aria-current=${current === section ? 'true' : nothing}
      @click=${(event: Event) => onGo(section, event)}
      ><math>${math}</math></a
    >`;
  return html`<nav class="formula" aria-label="Formula: each part leads to its stage">
    ${link('inputs', 'Q, K and V: what each token brings', mathml`<mrow><mi>Attention</mi>${open}${q}<mo>,</mo>${k}<mo>,</mo>${v}${close}</mrow>`)}<math><mo>=</mo></math
    >${link('softmax', 'softmax: scale, then share out 100 %', mathml`<mi>softmax</mi>`)}<span class="paren" aria-hidden="true">(</span
    >${
      scale === null
        ? link(
            'scores',
            'Q times K transposed, divided by the root of d k: every query meets every key',
            mathml`<mfrac><mrow>${q}${kT}</mrow>${rootDk}</mfrac>`,
          )
        : link(
            'scores',
            `Q times K transposed, times ${scale}: every query meets every key`,
            mathml`<mrow>${q}${kT}<mo>·</mo><mn>${scale}</mn></mrow>`,
          )
    }<span class="paren" aria-hidden="true">)</span
    >${link('output', 'times V: blend the values', v)}
  </nav>`;
}
