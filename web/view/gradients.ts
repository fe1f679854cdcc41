/** The gradient mode: how the loss would change with every number. Loaded when it is switched on. */
import { html, mathml, type TemplateResult } from 'lit';
import type { StageId } from '../core/types.ts';
import { defined, symbols } from './formula.ts';
import { complaints, draw, type StagesContext } from './stages.ts';

/** A step of the way back, and the stages that it gives. */
interface Step {
  readonly text: unknown;
  readonly stages: readonly StageId[];
}

const steps: readonly Step[] = [
  {
    text: 'Back through the blend: every value takes the gradients of the rows that listened to it, and every weight is worth what its value would add.',
    stages: ['dV', 'dWeights'],
  },
  {
    text: html`Back through the softmax: within a row only differences count, and a key that was dismissed
      (weight near 0) hardly gets any signal. That is what scaling the scores guards against.`,
    stages: ['dScores'],
  },
  {
    text: 'Back through the scores: a query moves along the keys, and a key along the queries, that its scores ask for.',
    stages: ['dQ', 'dK'],
  },
  {
    text: 'Back through the projections: what the grids of weights and the token rows would have to change.',
    stages: ['dWq', 'dWk', 'dWv', 'dX', 'dXContext'],
  },
];

const transposed = (of: unknown): TemplateResult =>
  mathml`<msup>${of}<mi mathvariant="normal">T</mi></msup>`;

const { q, k, v, x, dOutput, dConcat, dWeights, dScores, dQ, weights, concat } = symbols;
const scale = mathml`<mi>scale</mi><mo>·</mo>`;

/** What the gradients are made of, in the letters of the page. */
const definitions: Readonly<Partial<Record<StageId, TemplateResult>>> = {
  dWeights: mathml`${dConcat}${transposed(v)}`,
  dScores: mathml`${weights}<mo>⊙</mo><mo>(</mo>${dWeights}<mo>−</mo><mi>rowsum</mi><mo>(</mo>${dWeights}<mo>⊙</mo>${weights}<mo>)</mo><mo>)</mo>`,
  dV: mathml`${transposed(weights)}${dConcat}`,
  dQ: mathml`${scale}${dScores}${k}`,
  dK: mathml`${scale}${transposed(dScores)}${q}`,
  dWq: mathml`${transposed(x)}${dQ}`,
  dWo: mathml`${transposed(concat)}${dOutput}`,
};

/** The derivative of c·tanh(x/c); on a narrow screen one line would not hold it too. */
const throughCap = html`<br /><math>${mathml`<mo>⊙</mo><mo stretchy="false">(</mo><mn>1</mn><mo>−</mo><msup><mrow><mo>(</mo>${symbols.cappedScores}<mo>/</mo><mi>c</mi><mo>)</mo></mrow><mn>2</mn></msup><mo stretchy="false">)</mo>`}</math>`;

export function gradients(context: StagesContext): TemplateResult {
  const { session } = context;
  const formulaOf = (stage: StageId) => {
    const formula = defined(stage, definitions[stage]);
    const isCapped = stage === 'dScores' && session.has('cappedScores');
    return isCapped ? html`<span>${formula}${throughCap}</span>` : formula;
  };
  const one = (stage: StageId, editable = false) =>
    draw('gradients', stage, context, { editable, formula: formulaOf(stage) });
  const row = (stages: readonly StageId[]) =>
    html`<div class="row">${stages.map((stage) => one(stage))}</div>`;
  return html`<p class="lead">
      Given: how fast the loss grows when each number of the result grows. At first it is 1 for the
      first number and 0 for the others: the loss is the first number of the result. Change it to ask
      another question.
    </p>
    <div class="row">
      ${one('dOutput', true)}
      ${one('dConcat')} ${one('dWo')}
    </div>
    ${complaints(['dOutput'], context)}
    ${steps
      .filter(({ stages }) => stages.some((stage) => session.has(stage)))
      .map(({ text, stages }) => html`<p class="lead spaced">${text}</p>${row(stages)}`)}`;
}
