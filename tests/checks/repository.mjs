/** Judges what is tracked: no built or large files, and lock files without download addresses. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** In bytes; a picture in the README is the largest thing that belongs here. */
const largestFile = 600_000;
const builtFile = /\.(wasm|o|a|so|tgz)$/;

export function repositoryProblems(/** @type {string} */ root) {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));
  return [
    ...tracked
      .filter((path) => path.endsWith('package-lock.json'))
      .flatMap((path) => lockProblems(path, readFileSync(join(root, path), 'utf8'))),
    ...tracked.flatMap((path) => fileProblems(path, statSync(join(root, path)).size)),
  ];
}

/** @returns {string[]} */
export function lockProblems(/** @type {string} */ path, /** @type {string} */ text) {
  /** @type {Record<string, { resolved?: string }>} */
  const packages = JSON.parse(text).packages;
  return Object.entries(packages)
    .filter(([, entry]) => entry.resolved !== undefined)
    .map(([name]) => `${path}: ${name} records the address it was downloaded from.`);
}

/** @returns {string[]} */
export function fileProblems(/** @type {string} */ path, /** @type {number} */ bytes) {
  if (builtFile.test(path)) return [`${path}: a built file is tracked.`];
  return bytes > largestFile ? [`${path}: ${bytes} bytes, more than ${largestFile}.`] : [];
}
