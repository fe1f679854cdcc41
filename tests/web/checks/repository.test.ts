/** The repository check: download addresses, built files and large files are found. */
import { expect, test } from 'vitest';
import { fileProblems, lockProblems } from '../../checks/repository.mjs';

test('a lock file may not record where a package came from', () => {
  const lock = { packages: { '': {}, 'node_modules/a': { version: '1.0.0' } } };
  expect(lockProblems('package-lock.json', JSON.stringify(lock))).toEqual([]);
  const packages = { 'node_modules/b': { version: '1.0.0', resolved: 'somewhere' } };
  expect(lockProblems('package-lock.json', JSON.stringify({ packages }))).toEqual([
    expect.stringContaining('node_modules/b'),
  ]);
});

test('built and large files may not be tracked', () => {
  expect(fileProblems('web/page/picture.png', 600_000)).toEqual([]);
  expect(fileProblems('web/page/picture.png', 600_001)).toHaveLength(1);
  expect(fileProblems('web/core/attention.wasm', 10)).toHaveLength(1);
});
