/**
 * `npm run conformance -- DIR`: every JSON case in DIR through both WASM builds and the native
 * build; one line a case with the largest difference, and a failure if anything is off or unknown.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { ensurePackages, projectRoot, run, runMain } from '../../wasm/toolchain/setup.mjs';
import { buildWasm } from '../../wasm/toolchain/wasm.mjs';
import { judge, readCases } from './cases.mjs';

const native = join(projectRoot, 'build/native-release/tests/conformance/attn_conformance');

await runMain(async () => {
  const [folder, ...rest] = process.argv.slice(2);
  if (!folder || rest.length > 0) throw new Error('Usage: npm run conformance -- DIR');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (files.length === 0) throw new Error(`${folder} holds no JSON file.`);
  const cases = files.sort().flatMap((name) => {
    return readCases(name, JSON.parse(readFileSync(join(folder, name), 'utf8')));
  });
  ensurePackages('native');
  buildWasm();
  run('cmake', ['--preset', 'native-release', '--log-level=WARNING']);
  run('cmake', [
    '--build',
    '--preset',
    'native-release',
    '--target',
    'attn_conformance',
    '--',
    '--quiet',
  ]);
  const builds = {
    native: (/** @type {import('./cases.mjs').Case} */ item) => runNative(item),
    'native fused': (/** @type {import('./cases.mjs').Case} */ item) => runNative(item, 'fused'),
    ...(await wasmBuilds()),
  };

  let passed = 0;
  let failed = 0;
  for (const item of cases) {
    if (item.api) {
      console.log(`not applicable  ${item.name} (about the API, in tests/web/core/masks.test.ts)`);
      continue;
    }
    const verdicts = Object.entries(builds).map(([build, compute]) => {
      try {
        return {
          build,
          ...judge(build.endsWith('fused') ? resultOnly(item) : item, compute(item)),
        };
      } catch (error) {
        return {
          build,
          problem: error instanceof Error ? error.message : String(error),
          worst: Number.NaN,
        };
      }
    });
    const good = verdicts.every(({ problem }) => problem === '');
    if (good) passed += 1;
    else failed += 1;
    const worst = verdicts.map(({ build, worst }) => `${build} ${worst.toExponential(1)}`);
    console.log(`${good ? 'passed' : 'FAILED'}  ${item.name}  ${worst.join('  ')}`);
    for (const { build, problem } of verdicts)
      if (problem) console.log(`        ${build}: ${problem}`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});

/** Fused attention has no scores to show, and its keys are as they were given. */
function resultOnly(/** @type {import('./cases.mjs').Case} */ item) {
  const { Y } = item.expected;
  return Y ? { ...item, expected: { Y } } : item;
}

/**
 * The outputs of one case by the native program, which reads the case as it is and is as strict.
 * @param {import('./cases.mjs').Case} item
 * @param {string[]} mode
 */
function runNative({ source }, ...mode) {
  const { status, stdout, stderr } = spawnSync(native, mode, {
    input: JSON.stringify(source),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(stderr.trim() || `ended with status ${status}`);
  return JSON.parse(stdout);
}

/** @returns {Promise<Record<string, (item: import('./cases.mjs').Case) => import('./cases.mjs').Outputs>>} */
async function wasmBuilds() {
  // Node 20 hides relaxed SIMD behind a flag that newer ones do not know and do not need.
  if (process.versions.node.startsWith('20.'))
    setFlagsFromString('--experimental-wasm-relaxed-simd');
  const { runnerImport } = await import('vite');
  const { module } = await runnerImport(join(projectRoot, 'tests/conformance/wasm.ts'), {
    configFile: false,
    logLevel: 'error',
  });
  return module.builds;
}
