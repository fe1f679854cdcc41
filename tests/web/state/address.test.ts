/** What an address is given it gives back bit for bit, and damaged text still gives a usable state. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stageIds } from '../../../web/core/types.ts';
import { presetIds, presets } from '../../../web/lessons/presets.ts';
import { readState, writeState } from '../../../web/state/address.ts';
import { resized, switched } from '../../../web/state/changes.ts';
import { initialState } from '../../../web/state/initial.ts';
import { pack, unpack } from '../../../web/state/packed.ts';
import { inputShape, problemFrom } from '../../../web/state/problem.ts';
import { inputsOf, mostLabWidth, namedAxes, type State } from '../../../web/state/types.ts';

const stateOf = (id: string): State | null => {
  const known = presetIds.find((preset) => preset === id);
  return known ? initialState(known, problemFrom(presets[known].parts)) : null;
};
const start = stateOf('worked') as State;

const finite = fc.float({ noNaN: true, noDefaultInfinity: true });
const size = fc.integer({ min: 1, max: 4 });

/** Any state that the page can come into from one of its examples. */
const states = fc
  .record({
    id: fc.constantFrom(...presetIds),
    sizes: fc.record({ tq: size, tk: size, dModel: size, dK: size, dV: size, batch: size }),
    masked: fc.boolean(),
    causal: fc.boolean(),
    gradients: fc.boolean(),
    softcap: fc.option(finite.filter((cap) => cap > 0)),
    shown: fc.record({ batch: fc.nat(3), head: fc.nat(3) }),
    lab: fc.record({
      source: fc.constantFrom('given' as const, 'random' as const),
      dK: fc.integer({ min: 1, max: mostLabWidth }),
      seed: fc.nat(2 ** 32 - 1),
      row: fc.nat(9999),
    }),
    pinned: fc.option(
      fc.record({
        stage: fc.constantFrom(...stageIds),
        batch: fc.nat(999_999),
        head: fc.nat(9),
        row: fc.nat(999_999),
        col: fc.nat(99),
      }),
    ),
    scale: fc.option(finite),
    numbers: fc.array(finite, { minLength: 1, maxLength: 40 }),
    seed: fc.option(fc.nat(2 ** 32 - 1)),
    names: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
    axis: fc.constantFrom(...namedAxes),
    digits: fc.integer({ min: 1, max: 8 }),
    mode: fc.constantFrom('decimals', 'significant'),
    reading: fc.constantFrom('machine', 'hand'),
  })
  .map((given): State => {
    const base = stateOf(given.id) as State;
    const { masked, causal, gradients, scale, softcap, lab, shown, pinned } = given;
    const shaped = resized(switched(base.problem, { masked, causal, gradients }), given.sizes);
    const inputs = { ...shaped.inputs };
    for (const id of inputsOf(shaped)) {
      const { matrices, rows, cols } = inputShape(id, shaped);
      inputs[id] = Float32Array.from(
        { length: matrices * rows * cols },
        (_, index) => given.numbers[index % given.numbers.length] ?? 0,
      );
    }
    const seeds: State['problem']['seeds'] = {};
    const first = inputsOf(shaped)[0];
    if (given.seed !== null && first) {
      Object.assign(seeds, { [first]: given.seed });
      delete inputs[first];
    }
    const names = { ...shaped.names, [given.axis]: given.names };
    return {
      ...base,
      problem: { ...shaped, inputs, seeds, scale, softcap, names },
      lab,
      shown,
      pinned,
      format: { mode: given.mode, digits: given.digits } as State['format'],
      reading: given.reading as State['reading'],
    };
  });

test('what is written reads back bit for bit', () => {
  fc.assert(
    fc.property(states, (state) => {
      const text = writeState(state, stateOf(state.preset) as State);
      const read = readState(text, start, stateOf);
      expect(read.messages).toEqual([]);
      expect(read.state).toEqual(state);
      for (const id of inputsOf(state.problem)) {
        const values = state.problem.inputs[id];
        expect(read.state.problem.inputs[id]?.every((x, i) => Object.is(x, values?.[i]))).toBe(
          values && true,
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('a negative zero and a hidden key survive', () => {
  const problem = switched(start.problem, { masked: true });
  const state = {
    ...start,
    problem: {
      ...problem,
      inputs: { ...problem.inputs, mask: Float32Array.of(0, -Infinity, -0, -1e9) },
    },
  };
  const read = readState(writeState(state, start), start, stateOf);
  expect(Array.from(read.state.problem.inputs.mask ?? [])).toEqual([0, -Infinity, -0, -1e9]);
});

test('damaged text never throws, and gives a state that fits together', () => {
  const pieces = fc.constantFrom('q', 'k=1,2', 'ver=9', 'tq=0', 'tk=-1', 'cell=x', '%', 'q=a', '=');
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string())), (parts) => {
      const { state } = readState(parts.join('&'), start, stateOf);
      for (const id of inputsOf(state.problem)) {
        const { matrices, rows, cols } = inputShape(id, state.problem);
        const values = state.problem.inputs[id];
        if (values) expect(values.length).toBe(matrices * rows * cols);
        else expect(state.problem.seeds[id]).toBeDefined();
      }
    }),
  );
});

test('a link that lost, gained or changed letters never throws, and gives a state that fits', () => {
  fc.assert(
    fc.property(
      states,
      fc.array(fc.record({ at: fc.nat(), drop: fc.nat(5), add: fc.string({ maxLength: 3 }) }), {
        minLength: 1,
        maxLength: 4,
      }),
      (state, damages) => {
        let text = writeState(state, stateOf(state.preset) as State);
        for (const { at, drop, add } of damages) {
          const place = text.length > 0 ? at % text.length : 0;
          text = text.slice(0, place) + add + text.slice(place + drop);
        }
        // Sizes of a million are the core's to refuse, and would only make this slow.
        fc.pre(!/\d{4}/.test(text.replaceAll(/[:.]\d+|[^&]*[,;][^&]*/g, '')));
        const { state: read } = readState(text, start, stateOf);
        for (const id of inputsOf(read.problem)) {
          const values = read.problem.inputs[id];
          const { matrices, rows, cols } = inputShape(id, read.problem);
          if (values) expect(values.length).toBe(matrices * rows * cols);
          else expect(read.problem.seeds[id]).toBeDefined();
        }
        expect(Number.isNaN(read.problem.scale)).toBe(false);
        expect(read.format.digits).toBeLessThanOrEqual(8);
      },
    ),
    { numRuns: 300 },
  );
});

test('a newer version and an unknown part are named, and the rest is taken', () => {
  const { state, messages } = readState('ver=2&example=catSat&decimals=2&spin=1', start, stateOf);
  expect(state).toMatchObject({ preset: 'catSat', format: { mode: 'decimals', digits: 2 } });
  expect(messages.join(' ')).toMatch(/newer version \(2\)/);
  expect(messages.join(' ')).toContain('spin');
});

test('a matrix that contradicts the sizes is named with what was found and expected', () => {
  const { state, messages } = readState('dk=4&dK=4&q=1,2,3;4,5,6', start, stateOf);
  expect(state.problem).toMatchObject({ sizes: start.problem.sizes });
  expect(messages.join(' ')).toMatch(/q is 2 × 3, but 2 × 4 was expected/);
});

test('where T_k follows T_q, a link that says otherwise leaves a state that fits, and a message', () => {
  const { state, messages } = readState('example=cat&x=1,2,3,4;5,6,7,8&tk=3', start, stateOf);
  expect(state.problem.sizes).toMatchObject({ tq: 3, tk: 3 });
  expect(state.problem.inputs.x?.length).toBe(12);
  expect(messages.join(' ')).toContain('x does not fit the other sizes');
});

test.each([
  ['tk=1025', 'T_k is 1025'],
  ['tq=60000&tk=60000', 'T_q is 60000'],
  ['batch=2000', 'B is 2000'],
  ['heads=300&kvHeads=300', 'H·d_k is 1200'],
  [`v=${Array(1025).fill('1,2').join(';')}`, 'T_k is 1025'],
  [`tq=1&q=${Array(1025).fill('1').join(',')}`, 'd_k is 1025'],
])('sizes that the page does not draw are left out with their matrices: %.30s', (query, said) => {
  const { state, messages } = readState(`${query}&decimals=2&scale=2`, start, stateOf);
  expect(state.problem).toEqual({ ...start.problem, scale: 2 });
  expect(state.format).toEqual({ mode: 'decimals', digits: 2 });
  expect(messages).toEqual([
    `In the link, ${said}, but at most 1024 was expected: the page draws no larger matrix. Its sizes and matrices were left out.`,
  ]);
});

test('packing gives the text back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), async (text) => {
      const packed = await pack(text);
      expect(packed).toMatch(/^[\w-]*$/);
      expect(await unpack(packed)).toBe(text);
    }),
    { numRuns: 50 },
  );
});

test('packed text that was damaged is refused', async () => {
  await expect(unpack('AAAA')).rejects.toThrow();
});
