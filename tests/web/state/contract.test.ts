/** What state says of the inputs is what the core makes of them. */
import { expect, test } from 'vitest';
import { load, type SessionConfig, stageIds } from '../../../web/core/index.ts';
import {
  extent,
  inputAxes,
  inputIds,
  inputsOf,
  type Sizes,
  sizeNames,
} from '../../../web/state/types.ts';

/** Every size another number, so that no axis can pass for another. */
const sizes = { batch: 13, heads: 6, kvHeads: 3, tq: 2, tk: 4, dModel: 5, dK: 7, dV: 11 };
const tied = { ...sizes, tk: 2 };

const configurations: SessionConfig[] = [
  { ...sizes, source: 'qkv' },
  { ...sizes, source: 'qkv', outputProjection: true },
  { ...tied, source: 'x' },
  { ...tied, source: 'x', outputProjection: true },
  { ...sizes, source: 'x', context: true },
  { ...sizes, source: 'x', context: true, outputProjection: true },
  { ...sizes, source: 'qkv', masked: true, gradients: true },
  { ...tied, source: 'x', outputProjection: true, gradients: true },
];

test.each(configurations)('inputs of %j', async (config) => {
  const session = (await load()).createSession();
  session.configure(config);
  const given = stageIds.filter((id) => session.has(id) && session.stage(id).operation === 'given');
  const inputs = inputsOf({
    source: config.source,
    context: config.context ?? false,
    outputProjection: config.outputProjection ?? false,
    masked: config.masked ?? false,
    gradients: config.gradients ?? false,
  });
  expect([...inputs].sort()).toEqual([...given].sort());
  for (const id of inputs) {
    const { matrices, rows, cols } = inputAxes(id, config.outputProjection ?? false);
    const shape = session.shape(id);
    expect([shape.rows, shape.cols], id).toEqual([
      extent(rows, config as Sizes),
      extent(cols, config as Sizes),
    ]);
    // One mask serves every batch and head.
    if (id !== 'mask')
      expect(shape.batch * shape.heads, id).toBe(extent(matrices, config as Sizes));
  }
  session.dispose();
});

test('every input and every size is used by some configuration', () => {
  const used = configurations.flatMap(
    ({ source, context = false, outputProjection = false, masked = false, gradients = false }) =>
      inputsOf({ source, context, outputProjection, masked, gradients }),
  );
  expect(new Set(used)).toEqual(new Set(inputIds));
  const axes = inputIds.flatMap((id) => Object.values(inputAxes(id, false)).flat());
  expect(new Set(axes)).toEqual(new Set(sizeNames));
});
