/** Sizes, fills, seeds and undo hold for any problem, not only for those of the examples. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filled, reseeded, resized, switched, withMatrix } from '../../../web/state/changes.ts';
import { initialState } from '../../../web/state/initial.ts';
import { inputShape, lengthOf, problemFrom } from '../../../web/state/problem.ts';
import { type Action, reduce } from '../../../web/state/reducer.ts';
import { sizeConflicts } from '../../../web/state/size-conflicts.ts';
import {
  type InputId,
  inputAxes,
  inputsOf,
  type Problem,
  type SizeName,
  type Sizes,
  type State,
  type Step,
} from '../../../web/state/types.ts';

const rowsOf = (rows: number, cols: number) =>
  Array.from({ length: rows }, (_, row) =>
    Array.from({ length: cols }, (_, col) => 10 * row + col + 1),
  );

const own = problemFrom({ inputs: { q: rowsOf(2, 4), k: rowsOf(3, 4), v: rowsOf(3, 2) } });
const layer = problemFrom({
  inputs: {
    x: rowsOf(3, 5),
    wq: rowsOf(5, 2),
    wk: rowsOf(5, 2),
    wv: rowsOf(5, 3),
    wo: rowsOf(3, 5),
  },
});
const crossed = problemFrom({
  inputs: {
    x: rowsOf(2, 5),
    xContext: rowsOf(4, 5),
    wq: rowsOf(5, 2),
    wk: rowsOf(5, 2),
    wv: rowsOf(5, 3),
  },
});

const sizeOf = fc.integer({ min: 1, max: 6 });
const names: readonly SizeName[] = ['batch', 'tq', 'tk', 'dModel', 'dK', 'dV'];
const sizes = fc
  .tuple(...names.map(() => fc.option(sizeOf)))
  .map((counts) =>
    Object.fromEntries(names.flatMap((name, i) => (counts[i] === null ? [] : [[name, counts[i]]]))),
  ) as fc.Arbitrary<Partial<Sizes>>;
const problems = fc
  .record({
    problem: fc.constantFrom(own, layer, crossed),
    sizes,
    masked: fc.boolean(),
    gradients: fc.boolean(),
  })
  .map(({ problem, sizes, ...switches }) => resized(switched(problem, switches), sizes));

/** The number at these indices, in the order of memory. */
function at(problem: Problem, id: InputId, indices: readonly number[]): number | undefined {
  const { matrices, rows, cols } = inputAxes(id, problem.outputProjection);
  const dims = [...matrices, ...rows, ...cols].map((name) => problem.sizes[name]);
  if (indices.some((index, axis) => index >= (dims[axis] ?? 0))) return undefined;
  const index = indices.reduce((sum, value, axis) => sum * (dims[axis] ?? 1) + value, 0);
  return problem.inputs[id]?.[index];
}

/** All indices of an input. */
function indicesOf(problem: Problem, id: InputId): number[][] {
  const { matrices, rows, cols } = inputAxes(id, problem.outputProjection);
  return [...matrices, ...rows, ...cols]
    .map((name) => problem.sizes[name])
    .reduce<number[][]>(
      (lists, count) => lists.flatMap((list) => [...Array(count).keys()].map((i) => [...list, i])),
      [[]],
    );
}

function expectConsistent(problem: Problem): void {
  for (const id of inputsOf(problem)) {
    const values = problem.inputs[id];
    if (values) expect(values.length, id).toBe(lengthOf(id, problem));
    else expect(problem.seeds[id], id).toBeDefined();
  }
  if (problem.source === 'x' && !problem.context) expect(problem.sizes.tk).toBe(problem.sizes.tq);
}

describe('another size', () => {
  test('keeps every number whose place is still there, and fills the others with 0', () => {
    fc.assert(
      fc.property(problems, sizes, (problem, wanted) => {
        const next = resized(problem, wanted);
        expectConsistent(next);
        for (const id of inputsOf(next)) {
          for (const indices of indicesOf(next, id)) {
            // A gradient that is new: the loss is the first number of the result.
            const first = id === 'dOutput' && !problem.inputs[id] && indices.every((i) => i === 0);
            const fill = first ? 1 : 0;
            expect(at(next, id, indices)).toBe(at(problem, id, indices) ?? fill);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test('that is larger and back again changes nothing', () => {
    fc.assert(
      fc.property(problems, sizes, (problem, wanted) => {
        const larger = Object.fromEntries(
          Object.entries(wanted).map(([name, size]) => [
            name,
            Math.max(size, problem.sizes[name as SizeName]),
          ]),
        );
        const back = resized(resized(problem, larger), problem.sizes);
        expect(back.inputs).toEqual(problem.inputs);
        expect(back.sizes).toEqual(problem.sizes);
      }),
    );
  });

  test('beyond what the core can hold makes no array, and does not throw', () => {
    const huge = resized(own, { tk: 999_999_999_999, dK: 999_999_999_999 });
    expect(huge.inputs.k).toBeUndefined();
    expect(huge.sizes.tk).toBe(999_999_999_999);
    // The core refuses it, and what was there before comes back.
    const state = { ...initialState('own', huge), past: [{ preset: 'own', problem: own }] };
    const { problem } = reduce(state, { type: 'reject', problem: own, notice: 'Too large.' });
    expect(problem).toBe(own);
  });
});

describe('what a seed has drawn', () => {
  /** All inputs but the mask drawn, with numbers that tell which is which. */
  const drawn = (problem: Problem): Problem => {
    const seeded = inputsOf(problem).filter((id) => id !== 'mask');
    return {
      ...problem,
      seeds: Object.fromEntries(seeded.map((id, i) => [id, i])),
      inputs: Object.fromEntries(
        inputsOf(problem).map((id, i) => [id, new Float32Array(lengthOf(id, problem)).fill(i + 1)]),
      ),
    };
  };

  test('is drawn again in another shape, and undo brings back what was there', () => {
    fc.assert(
      fc.property(problems.map(drawn), sizes, (problem, wanted) => {
        const next = resized(problem, wanted);
        expectConsistent(next);
        expect(next.seeds).toEqual(problem.seeds);
        for (const id of inputsOf(problem)) {
          const dims = (one: Problem) => Object.values(inputShape(id, one));
          const same = dims(next).every((count, axis) => count === dims(problem)[axis]);
          if (same) expect(next.inputs[id], id).toBe(problem.inputs[id]);
          else if (id === 'mask') expect(next.inputs[id]?.length).toBe(lengthOf(id, next));
          else expect(next.inputs[id], id).toBeUndefined();
        }
        const state = reduce(initialState('own', problem), { type: 'resize', sizes: wanted });
        expect(reduce(state, { type: 'undo' }).problem).toBe(problem);
      }),
    );
  });

  test('and was changed since keeps the numbers that still fit', () => {
    const state = reduce(initialState('own', drawn(own)), {
      ...{ type: 'edit', stage: 'k', row: 0, col: 1 },
      text: '9',
    });
    const { inputs, seeds } = reduce(state, { type: 'resize', sizes: { dK: 2 } }).problem;
    expect(seeds).toEqual({ q: 0, v: 2 });
    expect([...(inputs.k ?? [])]).toEqual([2, 9, 2, 2, 2, 2]);
  });

  test('keeps its other matrices where one of them is replaced by one of another shape', () => {
    const problem = drawn(resized(own, { batch: 2 }));
    const { inputs, seeds } = withMatrix(problem, 'q', 1, 4, Float32Array.of(6, 7, 8, 9), {
      batch: 1,
      head: 0,
    });
    expect([...(inputs.q ?? [])]).toEqual([1, 1, 1, 1, 6, 7, 8, 9]);
    expect(seeds).toEqual({ k: 1, v: 2 });
  });
});

test('undo gives every state before back, redo every one after', () => {
  const inputs = fc.constantFrom<InputId>('q', 'k', 'v', 'x', 'wq');
  const actions: fc.Arbitrary<Action> = fc.oneof(
    fc.record({
      type: fc.constant('edit' as const),
      stage: inputs,
      row: fc.constant(0),
      col: fc.constant(0),
      text: fc.constantFrom('1', '-0', '2.5', 'x', '1e99', ''),
    }),
    fc.record({ type: fc.constant('resize' as const), sizes }),
    fc.record({
      type: fc.constant('fill' as const),
      stage: fc.constantFrom<InputId>('q', 'k'),
      fill: fc.constantFrom('zeros' as const, 'ones' as const, 'identity' as const),
    }),
    fc.constant<Action>({ type: 'open', preset: 'layer', problem: layer }),
    fc.constant<Action>({ type: 'names', names: { query: ['a', 'b'] } }),
    fc.record({
      type: fc.constant('field' as const),
      field: fc.constantFrom('tq' as const, 'scale' as const),
      text: fc.constantFrom('1', '3', '1/2', 'x'),
    }),
  );
  fc.assert(
    fc.property(fc.array(actions, { maxLength: 12 }), (steps) => {
      const start = initialState('own', own);
      const named = ({ preset, problem }: State) => ({ preset, problem });
      const expectSame = (step: Step) => {
        expect(state.preset).toBe(step.preset);
        expect(state.problem).toBe(step.problem);
      };
      const seen: Step[] = [named(start)];
      let state: State = start;
      for (const action of steps) {
        // A matrix that this problem does not have is not filled by the page.
        if (action.type === 'fill' && state.problem.source === 'x') continue;
        const before = state;
        state = reduce(state, action);
        if (state.past.length > before.past.length) seen.push(named(state));
        else expectSame(before);
      }
      for (const step of seen.toReversed()) {
        expectSame(step);
        state = reduce(state, { type: 'undo' });
      }
      expect(state.past).toEqual([]);
      for (const step of seen) {
        expectSame(step);
        state = reduce(state, { type: 'redo' });
      }
      expect(state.future).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

describe('a fill', () => {
  test('of zeros, ones, the identity fills every matrix of the input and no other', () => {
    fc.assert(
      fc.property(problems, (problem) => {
        const id = inputsOf(problem)[0] as InputId;
        for (const fill of ['zeros', 'ones', 'identity'] as const) {
          const next = filled(problem, id, fill);
          expectConsistent(next);
          const { rows, cols } = inputShape(id, next);
          for (const [index, value] of Array.from(next.inputs[id] ?? []).entries()) {
            const onDiagonal = Math.floor(index / cols) % rows === index % cols;
            expect(value).toBe(fill === 'ones' || (fill === 'identity' && onDiagonal) ? 1 : 0);
          }
          for (const other of inputsOf(problem)) {
            if (other !== id) expect(next.inputs[other]).toBe(problem.inputs[other]);
          }
        }
      }),
    );
  });

  test('by a seed waits for the core, and an edit or another fill takes the seed away', () => {
    const drawn = filled(own, 'q', { seed: 7 });
    expect(drawn.seeds).toEqual({ q: 7 });
    expect(drawn.inputs.q).toBeUndefined();
    expect(drawn.inputs.k).toBe(own.inputs.k);
    expect(filled(drawn, 'q', 'zeros').seeds).toEqual({});
    const complete = { ...drawn, inputs: { ...drawn.inputs, q: new Float32Array(8).fill(3) } };
    const state = reduce(initialState('own', complete), {
      type: 'edit',
      stage: 'q',
      row: 0,
      col: 1,
      text: '4',
    });
    expect(state.problem.seeds).toEqual({});
    expect([...(state.problem.inputs.q ?? [])]).toEqual([3, 4, 3, 3, 3, 3, 3, 3]);
  });

  test('next seeds follow each other through all 32 bits, and leave what was given', () => {
    const drawn = { ...own, seeds: { q: 5, v: 2 ** 32 - 1 } };
    const next = reseeded(drawn);
    expect(next.seeds).toEqual({ q: 6, v: 0 });
    expect(next.inputs.q).toBeUndefined();
    expect(next.inputs.v).toBeUndefined();
    expect(next.inputs.k).toBe(own.inputs.k);
  });
});

describe('a matrix of another shape', () => {
  test('conflicts exactly where taking it changes a size, and says whose sizes these are', () => {
    fc.assert(
      fc.property(problems, sizeOf, sizeOf, fc.nat(10), (problem, rows, cols, pick) => {
        const inputs = inputsOf(problem);
        const id = inputs[pick % inputs.length] as InputId;
        const conflicts = sizeConflicts(problem, id, rows, cols);
        const shape = inputShape(id, problem);
        // A mask of queries and keys that are the same tokens.
        const tied = problem.source === 'x' && !problem.context;
        const square = id === 'mask' && tied && rows !== cols;
        expect(conflicts.map(({ along }) => along)).toEqual([
          ...(rows === shape.rows ? [] : ['rows']),
          ...(cols === (square ? rows : shape.cols) ? [] : ['columns']),
        ]);
        if (conflicts.some(({ wanted }) => wanted === null)) return;
        const next = withMatrix(problem, id, rows, cols, new Float32Array(rows * cols).fill(7));
        expectConsistent(next);
        for (const { size, wanted, found } of conflicts) {
          expect(next.sizes[size]).toBe(wanted);
          expect(found).toBe(
            size === inputAxes(id, problem.outputProjection).rows.at(-1) ? rows : cols,
          );
        }
        // Nobody is resized who was not named.
        const named = new Set<InputId>([id, ...conflicts.flatMap(({ shared }) => shared)]);
        for (const other of inputs) {
          if (!named.has(other)) expect(next.inputs[other], other).toBe(problem.inputs[other]);
          else if (other !== id) expect(next.inputs[other]?.length).not.toBeUndefined();
        }
        expect(Array.from(next.inputs[id] ?? []).slice(0, rows * cols)).toEqual(
          new Array(rows * cols).fill(7),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('a mask that is not square has no size where the keys are the queries', () => {
    const problem = switched(layer, { masked: true });
    expect(sizeConflicts(problem, 'mask', 2, 3)).toMatchObject([
      { along: 'rows', wanted: 2 },
      { along: 'columns', found: 3, expected: 2, wanted: null },
    ]);
    expect(sizeConflicts(problem, 'mask', 3, 3)).toEqual([]);
    expect(sizeConflicts(problem, 'mask', 4, 4)).toMatchObject([{ wanted: 4 }, { wanted: 4 }]);
  });

  test('a K of another width contradicts Q, a V of other rows contradicts K', () => {
    expect(sizeConflicts(own, 'k', 3, 5)).toEqual([
      { size: 'dK', along: 'columns', found: 5, expected: 4, wanted: 5, shared: ['q'] },
    ]);
    expect(sizeConflicts(own, 'v', 2, 2)).toEqual([
      { size: 'tk', along: 'rows', found: 2, expected: 3, wanted: 2, shared: ['k'] },
    ]);
    expect(sizeConflicts(own, 'q', 5, 4)).toEqual([
      { size: 'tq', along: 'rows', found: 5, expected: 2, wanted: 5, shared: [] },
    ]);
  });
});
