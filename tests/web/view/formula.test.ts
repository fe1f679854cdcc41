// @vitest-environment happy-dom
/** Formulas as a reader sees them: a letter for every stage, and the right-hand side where it has one. */
import { render } from 'lit';
import { expect, test } from 'vitest';
import { type StageId, stageIds } from '../../../web/core/types.ts';
import { type FormulaContext, stageFormula, symbolMath } from '../../../web/view/formula.ts';

function textOf(template: ReturnType<typeof symbolMath>): string {
  const host = document.createElement('div');
  render(template, host);
  expect(host.querySelectorAll('math')).toHaveLength(1);
  return (host.textContent ?? '').replaceAll(/\s+/g, '');
}

test('every stage has a letter', () => {
  for (const id of stageIds) expect(textOf(symbolMath(id, null)), id).not.toBe('');
});

const plain: FormulaContext = {
  projected: false,
  context: false,
  scale: null,
  softmaxInput: 'scaledScores',
  capped: false,
  reading: 'machine',
};
const formula = (stage: StageId, options: Partial<FormulaContext> = {}) =>
  textOf(stageFormula(stage, { ...plain, ...options }));

test('a given matrix is its letter, a projected one a product', () => {
  expect(formula('q')).toBe('Q');
  expect(formula('q', { projected: true })).toBe('Q=XWq');
  expect(formula('k', { projected: true })).toBe('K=XWk');
  expect(formula('v', { projected: true })).toBe('V=XWv');
  expect(formula('k', { projected: true, context: true })).toBe('K=X′Wk');
  expect(formula('q', { projected: true, context: true })).toBe('Q=XWq');
});

test('the scores are a product, and divided by the root', () => {
  expect(formula('rawScores')).toBe('S=QKT');
  expect(formula('heads')).toBe('O=AV');
  expect(formula('output')).toBe('Y=OWo');
  const host = document.createElement('div');
  render(stageFormula('scaledScores', plain), host);
  expect(host.querySelector('msqrt')?.textContent).toBe('dk');
});

test('a scale that was set stands in place of the root', () => {
  const text = textOf(stageFormula('scaledScores', { ...plain, scale: '0.25' }));
  expect(text).toBe('S·0.25');
  // Whatever is made from it names it so, too.
  for (const stage of ['shifted', 'plainExponentials', 'maskedScores'] as const) {
    const made = formula(stage, { scale: '0.25' });
    expect(made, stage).toContain('S·0.25');
    expect(made, stage).not.toContain('dk');
  }
});

test('the weights are made from what the reading shows', () => {
  expect(formula('weights')).toBe('A=E/ℓ');
  expect(formula('weights', { reading: 'hand' })).toBe('A=E′/ℓ′');
  expect(formula('plainRowSum')).toBe('ℓ′=ΣjE′');
});
