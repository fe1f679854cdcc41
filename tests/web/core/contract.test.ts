/** The TypeScript side of the boundary says the same as the C++ side. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { load, stageIds, version } from '../../../web/core/index.ts';

const stages = (await load()).stages;

test('the stage ids are those of the table, in its order', () => {
  expect(stages.map(({ id }) => id)).toEqual(stageIds);
});

test('every row of the table has what its type promises', () => {
  const types = readFileSync(new URL('../../../web/core/types.ts', import.meta.url), 'utf8');
  const membersOf = (union: string) => {
    const text = types.match(new RegExp(`export type ${union} =([^;]*);`))?.[1] ?? '';
    return [...text.matchAll(/'(\w+)'/g)].map(([, member]) => member);
  };
  for (const { id, rows, cols, perBatch, perHead, operation, operands, formula } of stages) {
    expect(membersOf('Axis'), id).toContain(rows);
    expect(membersOf('Axis'), id).toContain(cols);
    expect(membersOf('Operation'), id).toContain(operation);
    expect(['none', 'heads', 'kvHeads'], id).toContain(perHead);
    expect(typeof perBatch, id).toBe('boolean');
    expect(stageIds, id).toEqual(expect.arrayContaining([...operands]));
    expect(formula, id).not.toBe('');
  }
});

test('every code of the core has a sentence', () => {
  const header = readFileSync(
    new URL('../../../wasm/include/attn/status.hpp', import.meta.url),
    'utf8',
  );
  const errors = ['errors', 'whole-errors']
    .map((name) => readFileSync(new URL(`../../../web/core/${name}.ts`, import.meta.url), 'utf8'))
    .join('\n');
  const codes = [...header.matchAll(/return "(\w+)"/g)].map(([, code]) => code);
  expect(codes).toContain('tooLarge');
  for (const code of codes.filter((name) => name !== 'ok')) {
    expect(errors).toMatch(new RegExp(`^ {2}${code}: \\(`, 'm'));
  }
});

test('the version is that of the package', () => {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  expect(version).toBe(JSON.parse(manifest).version);
});
