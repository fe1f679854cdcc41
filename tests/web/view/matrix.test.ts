// @vitest-environment happy-dom
/** A matrix drawn over another one is the matrix as it is drawn anew: rows that stay are rightly left. */
import { html, render } from 'lit';
import { expect, test } from 'vitest';
import type { StageInfo } from '../../../web/core/types.ts';
import { shareScale, signedScale } from '../../../web/format/colour.ts';
import { type MatrixContext, type MatrixProps, matrix } from '../../../web/view/matrix.ts';

const queries: StageInfo = {
  id: 'q',
  rows: 'query',
  cols: 'feature',
  perBatch: true,
  perHead: 'heads',
  operation: 'given',
  operands: [],
  formula: '',
};
const keys: StageInfo = { ...queries, id: 'k', rows: 'key', perHead: 'kvHeads' };

const values = Float32Array.from([1, 2.5, -3, 0, 4, 0.125]);
const props: MatrixProps = {
  place: 'inputs-q',
  info: queries,
  shape: { batch: 2, heads: 2, rows: 3, cols: 2 },
  values,
  batch: 0,
  head: 0,
  formula: html`<math></math>`,
};
const ignore = () => {};
const context: MatrixContext = {
  labels: {},
  heads: 2,
  format: { mode: 'decimals', digits: 4 },
  drafts: {},
  active: null,
  pinned: false,
  operands: new Set(),
  operandBoxes: new Map(),
  coloured: null,
  revision: 1,
  scaleOf: () => shareScale,
  onHover: ignore,
  onFocus: ignore,
  onPin: ignore,
  onEnter: ignore,
  onRelease: ignore,
  editing: null,
  stops: new Map(),
  explanationId: 'explanation',
};

type State = readonly [Partial<MatrixProps>, Partial<MatrixContext>];

const cell = { stage: 'q', batch: 0, head: 0, row: 1, col: 0 } as const;
const box = { top: 1, bottom: 1, left: 0, right: 1 };
const states: Readonly<Record<string, State>> = {
  plain: [{}, {}],
  'another number': [{ values: values.map((value, i) => (i === 3 ? 7 : value)) }, {}],
  'a number that is none': [
    { values: values.map((value, i) => (i === 3 ? Number.NaN : value)) },
    {},
  ],
  'a longer number': [{ values: values.map((value, i) => (i === 5 ? 0.0625 : value)) }, {}],
  'fewer decimals': [{}, { format: { mode: 'decimals', digits: 1 } }],
  editable: [{ editable: true }, {}],
  paintable: [{ paintable: true }, {}],
  coloured: [{ scale: signedScale([values]) }, {}],
  'coloured otherwise': [{ scale: { ...signedScale([values]), limit: 9 } }, {}],
  'coloured as shares': [{ scale: shareScale }, {}],
  'coloured and rounded': [{ scale: shareScale }, { format: { mode: 'decimals', digits: 1 } }],
  'coloured otherwise, rounded to the same': [
    { scale: shareScale, values: values.map((value, i) => (i === 5 ? 0.14 : value)) },
    { format: { mode: 'decimals', digits: 1 } },
  ],
  'fewer rows': [{ shape: { ...props.shape, rows: 2 }, values: values.subarray(0, 4) }, {}],
  'other columns': [{ shape: { ...props.shape, rows: 2, cols: 3 } }, {}],
  'another stage': [{ info: keys, place: 'inputs-k', editable: true }, {}],
  'another head': [{ head: 1, editable: true }, {}],
  'another batch': [{ batch: 1, editable: true }, {}],
  names: [{ editable: true }, { labels: { query: ['the', 'cat', 'sat'] } }],
  active: [{}, { active: cell }],
  'active elsewhere': [{}, { active: { ...cell, row: 2, col: 1 } }],
  'active in another head': [{ head: 1 }, { active: cell }],
  'active in another batch': [{ batch: 1 }, { active: cell }],
  pinned: [{}, { active: cell, pinned: true }],
  operands: [
    {},
    { operands: new Set(['q 1 0 0 0', 'q 1 1 0 0']), operandBoxes: new Map([['q', box]]) },
  ],
  'other operands': [{}, { operands: new Set(['q 2 0 0 0']), operandBoxes: new Map([['q', box]]) }],
  'a draft': [
    { editable: true },
    { drafts: { 'q 1 0 0 0': { text: 'x', message: 'x is not a number.' } } },
  ],
  'another draft': [
    { editable: true },
    { drafts: { 'q 1 0 0 0': { text: 'y', message: 'y is not a number.' } } },
  ],
  'a stop': [{}, { stops: new Map([['inputs-q', '2 1']]) }],
};

const draw = ([changedProps, changedContext]: State, host: HTMLElement) =>
  render(matrix({ ...props, ...changedProps }, { ...context, ...changedContext }), host);

/** All that can be seen or heard of it. */
const look = (host: HTMLElement) =>
  [...host.querySelectorAll<HTMLElement>('figure *')]
    .filter(({ localName }) => localName !== 'math')
    .map((element) => {
      const attributes = element
        .getAttributeNames()
        .map((name) => `${name}=${element.getAttribute(name)}`);
      const { value } = element as HTMLInputElement;
      const text = element.children.length === 0 ? element.textContent?.trim() : '';
      return [element.localName, ...attributes.toSorted(), element.style.cssText, value, text].join(
        '|',
      );
    });

const anew = (state: State) => {
  const host = document.createElement('div');
  draw(state, host);
  return look(host);
};

test('the states differ from each other', () => {
  const looks = new Map<string, string>();
  for (const [name, state] of Object.entries(states)) {
    const found = anew(state).join('\n');
    expect(looks.get(found), name).toBeUndefined();
    looks.set(found, name);
  }
});

test.each(Object.keys(states))('from %s to any other', (from) => {
  for (const [to, state] of Object.entries(states)) {
    const host = document.createElement('div');
    draw(states[from] as State, host);
    draw(state, host);
    expect(look(host), `${from} → ${to}`).toEqual(anew(state));
  }
});

test('what is typed into a cell is left alone until it is no longer typed', () => {
  const host = document.createElement('div');
  draw([{ editable: true }, {}], host);
  const input = host.querySelectorAll('input')[2] as HTMLInputElement;
  input.value = '2/';
  const editing = { place: 'inputs-q', key: 'q 1 0 0 0' };
  draw([{ editable: true }, { editing }], host);
  expect(input.value).toBe('2/');
  draw([{ editable: true }, {}], host);
  expect(input.value).toBe('−3.000');
});
