/** `npm run coverage`: how much of wasm/src the native tests run, and every line that they do not. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensurePackages, projectRoot, run, runMain } from '../../wasm/toolchain/setup.mjs';

/**
 * Lines that no native test can reach: the function, the whole text of each, and why. Every text
 * excuses one line; one more like it in the same function is a failure, and so is one less.
 */
const unreachable = [
  {
    inside: 'attn::Pipeline::compute_gradient',
    lines: ['default:', 'return;'],
    why: 'after the gradient stages, and asked for no other',
  },
  {
    inside: 'attn::Pipeline::gradient_term_count',
    lines: ['default:', 'return 0;'],
    why: 'after the gradient stages, and asked for no other',
  },
  {
    inside: 'attn::Pipeline::gradient_term',
    lines: ['default:', 'return {};'],
    why: 'after the gradient stages, and asked for no other',
  },
  {
    inside: 'attn::Pipeline::term',
    lines: ['return {};'],
    why: 'after a switch over every operation',
  },
  {
    inside: 'attn::Pipeline::configure',
    lines: [
      'configured_ = false;',
      'entries_ = {};',
      'return {Code::kOutOfMemory, "arena", static_cast<double>(bytes),',
      'static_cast<double>(kArenaBytes)};',
    ],
    why: 'needs a machine without memory; tests/web/core/memory.test.ts runs it',
  },
  {
    inside: 'attn::Attention::configure',
    lines: [
      'configured_ = false;',
      'return {Code::kOutOfMemory, "arena", static_cast<double>(bytes),',
      'static_cast<double>(kArenaBytes)};',
    ],
    why: 'needs a machine without memory; tests/web/core/memory.test.ts runs it',
  },
  {
    inside: 'attn::for_each_row_tile',
    lines: [
      'case 5:',
      'return work.template operator()<5>(i);',
      'case 4:',
      'return work.template operator()<4>(i);',
    ],
    why: 'tiles have four rows but in the relaxed build, which the WASM tests run',
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
  const excuses = unreachable.flatMap(({ lines, ...rest }) =>
    lines.map((text) => ({ text, ...rest })),
  );
  let missing = 0;
  for (const [file, lines] of [...files].sort()) {
    const source = readFileSync(join(projectRoot, file), 'utf8').split('\n');
    const idle = [...lines].filter(([, { count }]) => count === 0).sort(([a], [b]) => a - b);
    const share = ((100 * (lines.size - idle.length)) / lines.size).toFixed(1);
    console.log(`${share.padStart(5)} % of ${String(lines.size).padStart(4)} lines  ${file}`);
    for (const [line, { inside }] of idle) {
      const text = (source[line - 1] ?? '').trim();
      const found = excuses.findIndex((known) => known.inside === inside && known.text === text);
      const [excuse] = found < 0 ? [] : excuses.splice(found, 1);
      if (!excuse) missing += 1;
      console.log(`         ${line}: ${text}  (${excuse?.why ?? `uncovered, in ${inside}`})`);
    }
  }
  if (missing > 0)
    throw new Error(`${missing} lines are neither covered nor known to be unreachable.`);
  if (excuses.length > 0) {
    const texts = excuses.map(({ inside, text }) => `${inside}: ${text}`);
    throw new Error(`Covered now, or gone, and no longer to be excused:\n${texts.join('\n')}`);
  }
});

/** @returns {string[]} */
function findCounters(/** @type {string} */ folder) {
  const list = spawnSync('find', [folder, '-name', '*.gcda'], { encoding: 'utf8' }).stdout;
  return list.split('\n').filter((name) => name !== '');
}

/**
 * Each line of the core that holds code: how often it ran, the instances of a template together, and
 * the name of its function without what it returns and is given.
 */
function linesOf(/** @type {string[]} */ counters) {
  /** @type {Map<string, Map<number, { count: number, inside: string }>>} */
  const files = new Map();
  for (const counter of counters) {
    const text = execFileSync('gcov', ['--json-format', '--stdout', counter], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    for (const { file, lines, functions } of JSON.parse(text).files) {
      const name = relative(projectRoot, file);
      if (!/^wasm\/src\//.test(name)) continue;
      const counts = files.get(name) ?? new Map();
      files.set(name, counts);
      /** @type {Map<string, string>} */
      const names = new Map(
        functions.map((/** @type {{ name: string, demangled_name: string }} */ known) => [
          known.name,
          plainName(known.demangled_name),
        ]),
      );
      for (const { line_number: line, count, function_name: name } of lines) {
        counts.set(line, {
          count: (counts.get(line)?.count ?? 0) + count,
          inside: names.get(name) ?? 'no function',
        });
      }
    }
  }
  return files;
}

/** `int lab::(anonymous namespace)::each<Row>(int)` → `lab::each` */
function plainName(/** @type {string} */ name) {
  let plain = name.replaceAll('(anonymous namespace)::', '');
  while (/<[^<>]*>/.test(plain)) plain = plain.replace(/<[^<>]*>/g, '');
  return plain.replace(/\(.*/s, '').replace(/.* /, '');
}
