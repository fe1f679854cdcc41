/** Builds what is published from web/: the site (bundled) and the package (not bundled). */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, run } from './setup.mjs';

const inProject = (/** @type {string} */ path) => join(projectRoot, path);

export function buildSite() {
  run('node_modules/.bin/vite', ['build', '--logLevel', 'warn']);
}

/** No bundler: a library build of Vite would put the WASM into the JavaScript as base64. */
export function buildPackage() {
  rmSync(inProject('lib'), { recursive: true, force: true });
  run('node_modules/.bin/tsc', ['--project', 'tsconfig.lib.json']);
  cpSync(inProject('web/core/generated'), inProject('lib/core/generated'), { recursive: true });
}
