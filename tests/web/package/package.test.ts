/** The packed npm package, as a consumer in plain Node sees it: what is in it and what its exports do. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../../wasm/toolchain/setup.mjs';
import { buildPackage } from '../../../wasm/toolchain/site.mjs';

let consumer: string;
let installed: string;

beforeAll(() => {
  buildPackage();
  consumer = mkdtempSync(join(tmpdir(), 'consumer-'));
  installed = join(consumer, 'node_modules/attention-lab');
  mkdirSync(installed, { recursive: true });
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', consumer];
  const tarball = execFileSync('npm', pack, { cwd: projectRoot, encoding: 'utf8' }).trim();
  const into = ['--strip-components=1', '-C', installed];
  execFileSync('tar', ['-xzf', join(consumer, tarball), ...into]);
  // The one dependency, from where it is installed already.
  symlinkSync(join(projectRoot, 'node_modules/lit'), join(consumer, 'node_modules/lit'));
}, 60_000);

afterAll(() => rmSync(consumer, { recursive: true }));

function inConsumer(code: string): string {
  const command = ['--input-type=module', '--eval', code];
  return execFileSync(process.execPath, command, { cwd: consumer, encoding: 'utf8' }).trim();
}

test('attention-lab/core computes in Node', () => {
  const weights = inConsumer(`
    import { load } from 'attention-lab/core';
    const session = (await load()).createSession();
    session.configure({ source: 'qkv', tq: 1, tk: 2, dK: 1, dV: 1 });
    session.setInput('q', [0]);
    session.run();
    console.log(session.view('weights').join(' '));
  `);
  expect(weights).toBe('0.5 0.5');
});

test('attention-lab/core shares work out to threads of Node, which let it end', () => {
  const found = inConsumer(`
    import { attendAsync, load, workerKind } from 'attention-lab/core';
    const engine = await load();
    const config = { tq: 1024, tk: 1024, dK: 64, dV: 64 };
    const numbers = new Float32Array(1024 * 64);
    const inputs = { q: numbers, k: numbers, v: numbers.map((_, i) => Math.floor(i / 64)) };
    const result = await attendAsync(engine, inputs, config, { workers: 2 });
    console.log(await workerKind(engine), result.length, Math.round(result[0] * 10) / 10);
  `);
  expect(found).toBe('url 65536 511.5');
});

test('attention-lab/element is a class that is not registered', () => {
  const found = inConsumer(`
    import { AttentionLabElement } from 'attention-lab/element';
    console.log(typeof AttentionLabElement, globalThis.customElements?.get('attention-lab'));
  `);
  expect(found).toBe('function undefined');
});

test('attention-lab imports in Node, where there is nothing to register', () => {
  expect(inConsumer(`await import('attention-lab'); console.log('imported');`)).toBe('imported');
});

test('a consumer in TypeScript gets types', () => {
  const source = `
    import { load, type SessionConfig } from 'attention-lab/core';
    import { AttentionLabElement } from 'attention-lab/element';
    const config: SessionConfig = { source: 'qkv', tq: 1, tk: 1, dK: 1, dV: 1 };
    (await load()).createSession().configure(config);
    export const element: HTMLElement = new AttentionLabElement();
    // @ts-expect-error: there is no such size.
    config.width;
  `;
  judge(source);
});

test('one of the core alone needs no types of a browser', () => {
  const source = `
    import { attend, attendAsync, load, type Engine } from 'attention-lab/core';
    const engine: Engine = await load({ wasmUrl: 'wasm' });
    const inputs = { q: [1], k: [1], v: [1] };
    const config = { tq: 1, tk: 1, dK: 1, dV: 1 };
    const result: Float32Array = attend(engine, inputs, config);
    export const same: Float32Array = await attendAsync(engine, inputs, config, { workers: 0 });
    export const bytes: number = result.byteLength;
  `;
  // Types of Node, which the options of attendAsync take AbortSignal and load takes URL from.
  judge(source, '--lib', 'es2022', '--types', join(projectRoot, 'node_modules/@types/node'));
});

/** Has the compiler check a module of the consumer's, declarations of the package included. */
function judge(source: string, ...more: string[]): void {
  writeFileSync(join(consumer, 'consumer.mts'), source);
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', ...more];
  const tsc = join(projectRoot, 'node_modules/.bin/tsc');
  execFileSync(tsc, [...options, 'consumer.mts'], { cwd: consumer, stdio: 'inherit' });
}

test('every relative address in the package names a file of it', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  const broken = files
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => {
      const text = readFileSync(join(installed, name), 'utf8');
      return [...text.matchAll(/['"](\.\.?\/[^'"\s]+\.(?:ts|js|mjs|wasm))['"]/g)]
        .map((match) => join(name, '..', match[1] ?? ''))
        .filter((target) => !files.includes(target))
        .map((target) => `${name}: ${target}`);
    });
  expect(broken).toEqual([]);
});
