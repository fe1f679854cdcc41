/** `npm run check`: everything that judges the sources and the built site without testing behaviour. */
import {
  cppFiles,
  ensurePackages,
  ensureTestChromium,
  projectRoot,
  run,
  runMain,
} from '../../wasm/toolchain/setup.mjs';
import { buildSite } from '../../wasm/toolchain/site.mjs';
import { buildWasm } from '../../wasm/toolchain/wasm.mjs';
import { clangTidy } from './clang-tidy.mjs';
import { layeringProblems } from './layering.mjs';
import { runParts } from './parts.mjs';
import { repositoryProblems } from './repository.mjs';

await runMain(async () => {
  ensurePackages('native', 'check');
  buildWasm();
  await ensureTestChromium();
  await runParts({
    'TypeScript: format and lint (Biome)': () => run('node_modules/.bin/biome', ['ci', '.']),
    'TypeScript: types': () => run('node_modules/.bin/tsc', ['--noEmit']),
    'C++: format': () => run('clang-format', ['--dry-run', '-Werror', ...cppFiles()]),
    'C++: clang-tidy': clangTidy,
    'layers: who may know whom': () => failOn(layeringProblems(projectRoot)),
    'repository: lock file, sizes, binaries': () => failOn(repositoryProblems(projectRoot)),
    'first load': async () => {
      buildSite();
      // Not before the set-up: it needs node_modules.
      const { firstLoad } = await import('./first-load.mjs');
      await firstLoad();
    },
  });
});

function failOn(/** @type {string[]} */ problems) {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
