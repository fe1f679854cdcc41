/** `npm run coverage`: how much of wasm/src the native tests run, and every line that they do not. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensurePackages, projectRoot, run, runMain } from '../../wasm/toolchain/setup.mjs';

/** Lines that no native test can reach: the first words of each, where they stand, and why. */
const unreachable = [
  {
    file: 'wasm/src/gradients.cpp',
    texts: ['default:', 'return;', 'return 0;', 'return {};'],
    why: 'after the gradient stages, and asked for no other',
  },
  { file: 'wasm/src/terms.cpp', texts: ['return {};'], why: 'after a switch over every operation' },
  {
    file: 'wasm/src/pipeline.cpp',
    texts: [
      'configured_ = false;',
      'entries_ = {};',
      'return {Code::kOutOfMemory',
      'static_cast<double>(kArenaBytes)}',
    ],
    why: 'needs a machine without memory; tests/web/core/memory.test.ts runs it',
  },
];

await runMain(async () => {
  ensurePackages('native');
  const folder = join(projectRoot, 'build/native-coverage');
  run('cmake', ['--preset', 'native-coverage', '--log-level=WARNING']);
  run('cmake', ['--build', '--preset', 'native-coverage', '--target', 'attn_tests']);
  const counters = () => findCounters(join(folder, 'wasm'));
  for (const file of findCounters(folder)) rmSync(file);
  execFileSync(join(folder, 'tests/native/attn_tests'), ['--gtest_brief=1'], { stdio: 'inherit' });
  const files = linesOf(counters());
  let missing = 0;
  for (const [file, lines] of [...files].sort()) {
    const source = readFileSync(join(projectRoot, file), 'utf8').split('\n');
    const idle = [...lines].filter(([, count]) => count === 0).map(([line]) => line);
    const share = ((100 * (lines.size - idle.length)) / lines.size).toFixed(1);
    console.log(`${share.padStart(5)} % of ${String(lines.size).padStart(4)} lines  ${file}`);
    for (const line of idle.sort((a, b) => a - b)) {
      const text = (source[line - 1] ?? '').trim();
      const reason = unreachable.find(
        (known) => known.file === file && known.texts.some((start) => text.startsWith(start)),
      );
      if (!reason) missing += 1;
      console.log(`         ${line}: ${text}${reason ? `  (${reason.why})` : ''}`);
    }
  }
  if (missing > 0)
    throw new Error(`${missing} lines are neither covered nor known to be unreachable.`);
});

/** @returns {string[]} */
function findCounters(/** @type {string} */ folder) {
  const list = spawnSync('find', [folder, '-name', '*.gcda'], { encoding: 'utf8' }).stdout;
  return list.split('\n').filter((name) => name !== '');
}

/** Each line of the core that holds code, with how often it ran; lines of templates are added up. */
function linesOf(/** @type {string[]} */ counters) {
  /** @type {Map<string, Map<number, number>>} */
  const files = new Map();
  for (const counter of counters) {
    const text = execFileSync('gcov', ['--json-format', '--stdout', counter], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    for (const { file, lines } of JSON.parse(text).files) {
      const name = relative(projectRoot, file);
      if (!/^wasm\/src\//.test(name)) continue;
      const counts = files.get(name) ?? new Map();
      files.set(name, counts);
      for (const { line_number: line, count } of lines) {
        counts.set(line, (counts.get(line) ?? 0) + count);
      }
    }
  }
  return files;
}
