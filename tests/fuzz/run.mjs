/** `npm run fuzz -- --seconds N`: libFuzzer with ASan and UBSan on the core; a finding is a failure. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fuzzerRuntime } from '../../wasm/toolchain/packages.mjs';
import {
  ensurePackages,
  installPackages,
  projectRoot,
  run,
  runMain,
} from '../../wasm/toolchain/setup.mjs';

await runMain(async () => {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new Error('Usage: npm run fuzz -- --seconds N, with N a whole number from 1 on');
  }
  ensurePackages('native', 'fuzz');
  ensureFuzzer();
  run('cmake', ['--preset', 'native-fuzz', '--log-level=WARNING']);
  run('cmake', ['--build', '--preset', 'native-fuzz', '--target', 'attn_fuzz']);
  const folder = join(projectRoot, 'build/native-fuzz');
  const corpus = join(folder, 'corpus');
  mkdirSync(corpus, { recursive: true });
  run(join(folder, 'tests/fuzz/attn_fuzz'), [
    corpus,
    `-max_total_time=${seconds}`,
    '-max_len=1024',
    '-timeout=10',
    '-rss_limit_mb=2048',
    '-print_final_stats=1',
    `-artifact_prefix=${folder}/`,
  ]);
});

/** The fuzzer's library is a package of its own, named after the version of the compiler. */
function ensureFuzzer() {
  const links = () =>
    spawnSync('clang++', ['-fsanitize=fuzzer', '-x', 'c++', '-', '-o', '/dev/null'], {
      input:
        'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }',
    }).status === 0;
  if (links()) return;
  const { stdout } = spawnSync('clang++', ['-dumpversion'], { encoding: 'utf8' });
  installPackages([fuzzerRuntime(Number.parseInt(stdout, 10))]);
}
