/** The reducer: edits, texts that are no number, sizes, undo. */
import { describe, expect, test } from 'vitest';
import { initialState } from '../../../web/state/initial.ts';
import { problemFrom } from '../../../web/state/problem.ts';
import { type Action, reduce, undoDepth } from '../../../web/state/reducer.ts';
import { createStore } from '../../../web/state/store.ts';
import { draftKey, type InputId, type State } from '../../../web/state/types.ts';

const given = problemFrom({
  inputs: {
    q: [
      [2, 0, 2, 0],
      [0, 4, 0, 2],
    ],
    k: [
      [1, 0, 1, 0],
      [0, 1, 0, 0],
    ],
    v: [
      [1, 2],
      [3, 0],
    ],
  },
});

const projected = problemFrom({
  inputs: { x: [[1, 2]], wq: [[1], [2]], wk: [[3], [4]], wv: [[5], [6]] },
});

const start = initialState('worked', given);

const after = (state: State, ...actions: Action[]): State => actions.reduce(reduce, state);

const edit = (
  stage: InputId,
  row: number,
  col: number,
  text: string,
  continues = false,
): Action => ({
  type: 'edit',
  stage,
  row,
  col,
  text,
  continues,
});

const values = (state: State, id: InputId) => [...(state.problem.inputs[id] ?? [])];

describe('an edit', () => {
  test('changes one number of one matrix, in a new array', () => {
    const state = after(start, edit('q', 1, 2, '1/4'));
    expect(values(state, 'q')).toEqual([2, 0, 2, 0, 0, 4, 0.25, 2]);
    expect(values(start, 'q')).toEqual([2, 0, 2, 0, 0, 4, 0, 2]);
    expect(state.problem.inputs.k).toBe(start.problem.inputs.k);
    expect(state.problem.inputs.v).toBe(start.problem.inputs.v);
  });

  test('of a cell that the newest problem has not changes nothing', () => {
    for (const cell of [edit('q', 2, 0, '1'), edit('q', 0, 4, '1')]) {
      expect(after(start, cell)).toBe(start);
    }
    const masked = after(start, { type: 'switch', switches: { masked: true } });
    expect(after(masked, { type: 'paint', row: 0, col: 2 })).toBe(masked);
  });

  test('of the same number is no step', () => {
    const state = after(start, edit('q', 0, 0, '2.0'));
    expect(state.problem).toBe(start.problem);
    expect(state.past).toEqual([]);
  });

  test('from 0 to −0 is one, and back', () => {
    const state = after(start, edit('q', 0, 1, '-0'));
    expect(Object.is(values(state, 'q')[1], -0)).toBe(true);
    expect(Object.is(values(after(state, edit('q', 0, 1, '0')), 'q')[1], 0)).toBe(true);
  });

  test('of a matrix that is not given changes nothing', () => {
    expect(after(start, edit('x', 0, 0, '1'))).toBe(start);
  });

  test('makes a drawn matrix one that is given', () => {
    const drawn = { ...start, problem: { ...given, seeds: { q: 7, k: 8 } } };
    expect(after(drawn, edit('q', 0, 0, '1')).problem.seeds).toEqual({ k: 8 });
  });
});

describe('a text that is no number', () => {
  const bad = after(start, edit('q', 0, 0, 'abc'));
  const key = draftKey('q', 0, 0);

  test('keeps the old number, and the text with what is wrong', () => {
    expect(bad.problem).toBe(start.problem);
    expect(bad.past).toEqual([]);
    expect(bad.drafts[key]?.text).toBe('abc');
    expect(bad.drafts[key]?.message).toMatch(/expected.*abc/i);
  });

  test('stays while other cells are edited', () => {
    const state = after(bad, edit('v', 0, 0, '5'), edit('q', 1, 0, '1e99'));
    expect(Object.keys(state.drafts).sort()).toEqual([key, draftKey('q', 1, 0)]);
    expect(values(state, 'q')).toEqual(values(start, 'q'));
    expect(values(state, 'v')[0]).toBe(5);
  });

  test('goes with its correction, even to the old number', () => {
    expect(after(bad, edit('q', 0, 0, '7')).drafts).toEqual({});
    const same = after(bad, edit('q', 0, 0, '2'));
    expect(same.drafts).toEqual({});
    expect(same.problem).toBe(start.problem);
  });

  test('takes back what was taken on the way to it', () => {
    const state = after(
      start,
      edit('q', 0, 0, '1'),
      edit('q', 0, 0, '1e9', true),
      edit('q', 0, 0, '1e99', true),
    );
    expect(state.problem).toBe(start.problem);
    expect(state.past).toEqual([]);
    expect(state.drafts[key]?.text).toBe('1e99');
  });
});

describe('undo', () => {
  test('takes typing in one cell as one step', () => {
    const typed = after(
      start,
      edit('q', 0, 0, '1'),
      edit('q', 0, 0, '12', true),
      edit('q', 0, 0, '12.5', true),
    );
    expect(values(typed, 'q')[0]).toBe(12.5);
    const undone = after(typed, { type: 'undo' });
    expect(undone.problem).toBe(start.problem);
    expect(undone.past).toEqual([]);
    expect(after(undone, { type: 'redo' }).problem).toBe(typed.problem);
  });

  test('and redo walk the same steps', () => {
    const steps = ['5', '6', '7'].map((text) => edit('v', 0, 0, text));
    const all = after(start, ...steps);
    const first = after(all, { type: 'undo' }, { type: 'undo' });
    expect(values(first, 'v')[0]).toBe(5);
    expect(values(after(first, { type: 'redo' }), 'v')[0]).toBe(6);
    expect(after(first, { type: 'redo' }, { type: 'redo' }, { type: 'redo' }).problem).toBe(
      all.problem,
    );
  });

  test('with nothing to undo or redo changes nothing', () => {
    expect(after(start, { type: 'undo' })).toBe(start);
    expect(after(start, { type: 'redo' })).toBe(start);
  });

  test('forgets what was undone once something else is done', () => {
    const state = after(start, edit('v', 0, 0, '5'), { type: 'undo' }, edit('v', 0, 0, '6'));
    expect(state.future).toEqual([]);
  });

  test('keeps a bounded number of steps', () => {
    const edits = Array.from({ length: undoDepth + 5 }, (_, step) =>
      edit('v', 0, 0, `${step + 2}`),
    );
    const state = after(start, ...edits);
    expect(state.past).toHaveLength(undoDepth);
    // The oldest are gone: 5 of the edits cannot be undone.
    const undone = after(state, ...edits.map((): Action => ({ type: 'undo' })));
    expect(values(undone, 'v')[0]).toBe(6);
  });

  test('drops drafts and the pin, whose cells may be gone', () => {
    const cell = { stage: 'q', batch: 0, head: 0, row: 1, col: 3 } as const;
    const state = after(
      start,
      edit('v', 0, 0, '5'),
      edit('q', 0, 0, 'abc'),
      { type: 'pin', cell },
      { type: 'undo' },
    );
    expect(state.drafts).toEqual({});
    expect(state.pinned).toBeNull();
  });
});

describe('another size', () => {
  const resize = (sizes: Partial<State['problem']['sizes']>): Action => ({ type: 'resize', sizes });

  test('keeps the numbers that fit, and undo brings back the others', () => {
    const state = after(start, resize({ dK: 2 }));
    expect(values(state, 'q')).toEqual([2, 0, 0, 4]);
    expect(values(state, 'k')).toEqual([1, 0, 0, 1]);
    expect(state.problem.inputs.v).toBe(given.inputs.v);
    expect(after(state, { type: 'undo' }).problem).toBe(given);
  });

  test('grows with zeros, in rows and columns', () => {
    const state = after(start, resize({ tk: 3, dV: 3 }));
    expect(values(state, 'k')).toEqual([1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    expect(values(state, 'v')).toEqual([1, 2, 0, 3, 0, 0, 0, 0, 0]);
    expect(state.problem.sizes).toMatchObject({ tq: 2, tk: 3, dK: 4, dV: 3 });
  });

  test('to nothing and back leaves zeros, as the numbers did not fit', () => {
    const state = after(start, resize({ dV: 0 }), resize({ dV: 1 }));
    expect(values(state, 'v')).toEqual([0, 0]);
  });

  test('of X without a context moves T_k with T_q, whichever is set', () => {
    for (const sizes of [{ tq: 3 }, { tk: 3 }]) {
      const state = after(initialState('own', projected), resize(sizes));
      expect(state.problem.sizes).toMatchObject({ tq: 3, tk: 3 });
      expect(values(state, 'x')).toEqual([1, 2, 0, 0, 0, 0]);
    }
  });

  test('leaves T_k alone where there is a context, or Q, K and V are given', () => {
    expect(after(start, resize({ tq: 3 })).problem.sizes).toMatchObject({ tq: 3, tk: 2 });
    const crossed = problemFrom({
      inputs: { x: [[1]], xContext: [[2], [3]], wq: [[1]], wk: [[1]], wv: [[1]] },
    });
    const state = after(initialState('own', crossed), resize({ tq: 3 }));
    expect(state.problem.sizes).toMatchObject({ tq: 3, tk: 2 });
    expect(values(state, 'xContext')).toEqual([2, 3]);
  });

  test('that is refused brings back the problem before, with the reason', () => {
    const state = after(start, edit('v', 0, 0, '5'), resize({ tq: 1000 }));
    const before = state.past.at(-1)!.problem;
    const refused = after(state, { type: 'reject', problem: before, notice: 'Too large.' });
    expect(refused.problem).toBe(before);
    // What was asked for stays where it was typed, with the reason.
    expect(refused.drafts['field tq']).toEqual({ text: '1000', message: 'Too large.' });
    expect(after(refused, { type: 'undo' }).problem).toBe(given);
  });
});

test('opening an example is a step that can be undone, its name with its numbers', () => {
  const state = after(start, { type: 'open', preset: 'own', problem: projected });
  expect(state).toMatchObject({ preset: 'own', problem: projected });
  const undone = after(state, { type: 'undo' });
  expect(undone).toMatchObject({ preset: 'worked', problem: given });
  expect(after(undone, { type: 'redo' })).toMatchObject({ preset: 'own', problem: projected });
  const refused = after(state, { type: 'reject', problem: given, notice: 'Too large.' });
  expect(refused).toMatchObject({ preset: 'worked', problem: given, notice: '' });
});

describe('a size beyond what the page draws', () => {
  const largest = after(start, { type: 'field', field: 'tk', text: '1024' }, { type: 'undo' });

  test.each<[string, Action, string, string]>([
    ['typed', { type: 'field', field: 'tk', text: '1025' }, 'T_k is 1025', 'field tk'],
    [
      'that no array has',
      { type: 'field', field: 'dK', text: '9'.repeat(20) },
      'd_k is ',
      'field dK',
    ],
    ['of a batch', { type: 'field', field: 'batch', text: '1025' }, 'B is 1025', 'field batch'],
    [
      'of all heads together',
      { type: 'field', field: 'heads', text: '257' },
      'H·d_k is 1028',
      'field heads',
    ],
    [
      'that a matrix brings',
      { type: 'matrix', stage: 'q', rows: 1025, cols: 4, values: new Float32Array(4100) },
      'T_q is 1025',
      'field tq',
    ],
  ])(
    '%s is named and stays for correction; numbers and steps stay, too',
    (_, action, said, key) => {
      const state = after(largest, action);
      expect(state.problem).toBe(largest.problem);
      expect(state.past).toBe(largest.past);
      expect(state.future).toBe(largest.future);
      expect(state.future).toHaveLength(1);
      expect(Object.keys(state.drafts)).toEqual([key]);
      expect(state.drafts[key]?.message).toContain(`${said}`);
      expect(state.drafts[key]?.message).toContain('at most 1024 was expected');
    },
  );

  test('is said once where T_k follows T_q', () => {
    const state = after(initialState('own', projected), {
      type: 'field',
      field: 'tq',
      text: '2000',
    });
    expect(state.drafts['field tq']).toMatchObject({ text: '2000' });
    expect(state.drafts['field tk']).toBeUndefined();
  });

  test('in a problem that is opened or restored is said above the old numbers', () => {
    const problem = { ...given, sizes: { ...given.sizes, tq: 2000 }, inputs: {} };
    for (const action of [
      { type: 'open', preset: 'own', problem },
      { type: 'restore', state: initialState('own', problem), notice: '' },
    ] as const) {
      expect(after(start, action)).toMatchObject({ preset: 'worked', problem: given });
    }
  });

  test('is none up to 1024', () => {
    const state = after(start, { type: 'field', field: 'tk', text: '1024' });
    expect(state.problem.sizes.tk).toBe(1024);
    expect(state.drafts).toEqual({});
  });
});

test('a store tells its subscribers of changes, and of nothing else', async () => {
  const store = createStore(start, async () => reduce);
  await store.ready();
  const heard: [State, State][] = [];
  const stop = store.subscribe((state, previous) => heard.push([state, previous]));
  store.dispatch({ type: 'undo' });
  expect(heard).toEqual([]);
  store.dispatch(edit('v', 0, 0, '5'));
  expect(heard).toEqual([[store.state, start]]);
  stop();
  store.dispatch(edit('v', 0, 0, '6'));
  expect(heard).toHaveLength(1);
});

test('actions before the reducer is there are taken in their order, with one fetch', async () => {
  let fetches = 0;
  const store = createStore(start, async () => {
    fetches += 1;
    return reduce;
  });
  store.dispatch(edit('v', 0, 0, '5'));
  store.dispatch(edit('v', 0, 0, '6'));
  store.dispatch({ type: 'undo' });
  expect(store.state).toBe(start);
  await store.ready();
  expect(store.state.problem.inputs.v?.[0]).toBe(5);
  expect(fetches).toBe(1);
});

test('a reducer that does not come is a notice; the next action asks again and none is lost', async () => {
  const answers = [async () => Promise.reject(new Error('offline')), async () => reduce];
  const store = createStore(start, () => answers.shift()!());
  store.dispatch(edit('v', 0, 0, '5'));
  await store.ready();
  expect(store.state.notice).toContain('offline');
  store.dispatch({ type: 'notice', notice: '' });
  await store.ready();
  expect(store.state.problem.inputs.v?.[0]).toBe(5);
  expect(store.state.notice).toBe('');
});

test('what waits to be drawn is drawn in its new size, from the same seed', () => {
  const drawn = after(start, { type: 'fill', stage: 'q', fill: { seed: 7 } });
  const { problem } = after(drawn, { type: 'resize', sizes: { tq: 5 } });
  expect(problem.seeds).toEqual({ q: 7 });
  expect(problem.inputs.q).toBeUndefined();
});

describe('a cancelled computation', () => {
  const cancel = (state: State, problem: State['problem']) =>
    after(state, { type: 'cancel', problem, notice: 'stopped' });

  test('goes back by undo, and Redo brings everything again', () => {
    const wanted = after(start, edit('q', 0, 0, '7'), edit('k', 0, 0, '8'));
    const state = cancel(wanted, given);
    expect(state.problem).toBe(given);
    expect(state.notice).toBe('stopped');
    expect(state.past).toEqual([]);
    const again = after(state, { type: 'redo' }, { type: 'redo' });
    expect(again.problem).toBe(wanted.problem);
  });

  test('that Undo had begun goes forward again', () => {
    const later = after(start, edit('q', 0, 0, '7'));
    const state = cancel(after(later, { type: 'undo' }), later.problem);
    expect(state.problem).toBe(later.problem);
    expect(state.future).toEqual([]);
    expect(after(state, { type: 'undo' }).problem).toBe(given);
  });

  test('in the middle of typing goes back to what was computed', () => {
    const computed = after(start, edit('q', 0, 0, '7'));
    const wanted = after(computed, edit('q', 0, 0, '71', true));
    const state = cancel(wanted, computed.problem);
    expect(state.problem).toBe(computed.problem);
    expect(after(state, { type: 'redo' }).problem).toBe(wanted.problem);
    expect(after(state, { type: 'undo' }).problem).toBe(given);
  });
});
