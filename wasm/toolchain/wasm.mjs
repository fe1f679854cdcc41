/**
 * The one entry point that builds the WASM modules, with whichever Emscripten there is, and the script
 * of their workers; also runs alone: `node wasm/toolchain/wasm.mjs`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureEmscripten } from './emscripten.mjs';
import { ensureNodeModules, projectRoot, run, runMain } from './setup.mjs';

/**
 * Builds what has changed: the two modules of the core, and on demand those that only benchmarks use.
 * @param {...'bench_modules'} more
 */
export function buildWasm(...more) {
  ensureNodeModules(); // For the tsc that makes the types.
  const emscripten = ensureEmscripten();
  const folder = join(projectRoot, 'build/wasm-release');
  const stampFile = join(folder, 'configured-for');
  // Ninja configures again by itself when a CMakeLists.txt changes, but not for these two.
  const presets = readFileSync(join(projectRoot, 'CMakePresets.json'));
  const stamp = `${emscripten.identity}\n${createHash('sha256').update(presets).digest('hex')}\n`;
  if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
    emscripten.run('emcmake', 'cmake', '--fresh', '--preset', 'wasm-release');
    mkdirSync(folder, { recursive: true });
    writeFileSync(stampFile, stamp);
  }
  emscripten.run('cmake', '--build', '--preset', 'wasm-release');
  buildWorker();
  if (more.length > 0) {
    emscripten.run('cmake', '--build', '--preset', 'wasm-release', '--target', ...more);
  }
}

/**
 * The script of the workers, in one file without imports: a worker made of a blob cannot have any. The
 * address stands for that of the Emscripten script, which fetches nothing by it.
 */
function buildWorker() {
  run('node_modules/.bin/rolldown', [
    ...['web/core/worker.ts', '--format', 'iife', '--minify', '--log-level', 'warn'],
    ...['--external', 'node:worker_threads'],
    ...['--transform.define', 'import.meta.url:scriptAddress'],
    ...['--intro', 'const scriptAddress = "file:///";'],
    ...['--file', 'web/core/generated/worker.js'],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(async () => buildWasm());
