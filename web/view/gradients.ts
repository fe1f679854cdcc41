/** The gradient mode: how the loss would change with every number. Loaded when it is switched on. */
import { html, type TemplateResult } from 'lit';
import type { StageId } from '../core/types.ts';
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
      (weight near 0) hardly gets any signal. That is what dividing by √d<sub>k</sub> guards against.`,
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

export function gradients(context: StagesContext): TemplateResult {
  const { session } = context;
  const row = (stages: readonly StageId[]) =>
    html`<div class="row">${stages.map((stage) => draw('gradients', stage, context))}</div>`;
  return html`<p class="lead">
      Given: how much the loss grows with each number of the result. Change it to ask another question.
    </p>
    <div class="row">
      ${draw('gradients', 'dOutput', context, { editable: true })}
      ${draw('gradients', 'dConcat', context)} ${draw('gradients', 'dWo', context)}
    </div>
    ${complaints(['dOutput'], context)}
    ${steps
      .filter(({ stages }) => stages.some((stage) => session.has(stage)))
      .map(({ text, stages }) => html`<p class="lead spaced">${text}</p>${row(stages)}`)}`;
}
