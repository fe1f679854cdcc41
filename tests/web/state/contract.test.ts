/** What state says of the inputs is what the core makes of them. */
import { expect, test } from 'vitest';
import { load, type SessionConfig, stageIds } from '../../../web/core/index.ts';
import { inputAxes, inputIds, inputsOf, sizeNames } from '../../../web/state/types.ts';

/** Every size another number, so that no axis can pass for another. */
const sizes = { tq: 2, tk: 3, dModel: 5, dK: 7, dV: 11 };
const tied = { ...sizes, tk: 2 };

const configurations: SessionConfig[] = [
  { ...sizes, source: 'qkv' },
  { ...sizes, source: 'qkv', outputProjection: true },
  { ...tied, source: 'x' },
  { ...tied, source: 'x', outputProjection: true },
  { ...sizes, source: 'x', context: true },
  { ...sizes, source: 'x', context: true, outputProjection: true },
];

test.each(configurations)('inputs of %j', async (config) => {
  const session = (await load()).createSession();
  session.configure(config);
  const given = stageIds.filter((id) => session.has(id) && session.stage(id).operation === 'given');
  const inputs = inputsOf({
    source: config.source,
    context: config.context ?? false,
    outputProjection: config.outputProjection ?? false,
  });
  expect([...inputs].sort()).toEqual([...given].sort());
  for (const id of inputs) {
    const [rows, cols] = inputAxes[id].map((size) => config[size]);
    expect(session.shape(id), id).toEqual({ batch: 1, heads: 1, rows, cols });
  }
  session.dispose();
});

test('every input and every size is used by some configuration', () => {
  const used = configurations.flatMap(({ source, context = false, outputProjection = false }) =>
    inputsOf({ source, context, outputProjection }),
  );
  expect(new Set(used)).toEqual(new Set(inputIds));
  expect(new Set(Object.values(inputAxes).flat())).toEqual(new Set(sizeNames));
});
