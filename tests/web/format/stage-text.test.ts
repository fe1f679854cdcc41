/** The words for stages and axes: there for every stage, and names before numbers. */
import { describe, expect, test } from 'vitest';
import { type Axis, load, stageIds } from '../../../web/core/index.ts';
import { axisName, indexLabel, indexPhrase, stageText } from '../../../web/format/stage-text.ts';

test('every stage has a letter and a name', () => {
  expect(Object.keys(stageText).sort()).toEqual([...stageIds].sort());
  for (const { symbol, name } of Object.values(stageText)) {
    expect(symbol).not.toBe('');
    expect(name).not.toBe('');
  }
});

test('Q, K and V lend their colour to what is only another form of them', () => {
  const identity = (id: keyof typeof stageText) => stageText[id].identity;
  expect([identity('q'), identity('wq')]).toEqual(['q', 'q']);
  expect([identity('k'), identity('wk'), identity('keyTransposed')]).toEqual(['k', 'k', 'k']);
  expect([identity('v'), identity('wv')]).toEqual(['v', 'v']);
  expect([identity('rawScores'), identity('weights'), identity('x')]).toEqual([
    'none',
    'none',
    'none',
  ]);
});

test('every axis of the stage table has a name', async () => {
  const { stages } = await load();
  for (const axis of new Set<Axis>(stages.flatMap(({ rows, cols }) => [rows, cols]))) {
    if (axis !== 'one') expect(axisName[axis], axis).toMatch(/^\w+$/);
  }
});

describe('an index', () => {
  const labels = { query: ['the', 'cat'], feature: ['size'] };

  test('has its own name, or a token its number', () => {
    expect(indexLabel('query', 1, labels)).toBe('cat');
    expect(indexLabel('query', 2, labels)).toBe('token 2');
    expect(indexLabel('key', 0, labels)).toBe('token 0');
    expect(indexLabel('feature', 1, labels)).toBe('1');
    expect(indexLabel('one', 0, labels)).toBe('');
  });

  test('is quoted or counted in a sentence', () => {
    expect(indexPhrase('query', 1, labels)).toBe('“cat”');
    expect(indexPhrase('key', 1, labels)).toBe('token 1');
    expect(indexPhrase('feature', 0, labels)).toBe('“size”');
    expect(indexPhrase('feature', 3, labels)).toBe('feature 3');
    expect(indexPhrase('model', 3, {})).toBe('dial 3');
  });
});
