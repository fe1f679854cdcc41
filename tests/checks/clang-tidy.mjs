/** Runs clang-tidy over every natively compiled source, as many at a time as there are processors. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot, run } from '../../wasm/toolchain/setup.mjs';

export async function clangTidy() {
  run('cmake', ['--preset', 'native-debug', '--log-level=WARNING']);
  const folder = join(projectRoot, 'build/native-debug');
  /** @type {{ file: string }[]} */
  const commands = JSON.parse(readFileSync(join(folder, 'compile_commands.json'), 'utf8'));
  const files = commands.map(({ file }) => file);
  let failed = 0;
  const worker = async () => {
    for (let file = files.pop(); file; file = files.pop()) {
      try {
        await promisify(execFile)('clang-tidy', ['--quiet', '-p', folder, file]);
      } catch (error) {
        failed += 1;
        console.error(/** @type {{ stdout: string }} */ (error).stdout);
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  if (failed > 0)
    throw new Error(`clang-tidy: ${failed} of ${commands.length} sources have findings.`);
  console.log(`${commands.length} sources, no findings`);
}
