/** `npm run format`: rewrites every source in the project's style. */
import { cppFiles, ensureNodeModules, ensurePackages, run, runMain } from './setup.mjs';

await runMain(async () => {
  ensurePackages('check');
  ensureNodeModules();
  run('node_modules/.bin/biome', ['check', '--write', '.']);
  run('clang-format', ['-i', ...cppFiles()]);
});
