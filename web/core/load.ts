/** Loads the core: picks the build this machine can run, proves it by a known answer, falls back. */

import type { ForwardModule } from './boundary.ts';
import { AttentionError, learn } from './errors.ts';
import { WasmForwardSession } from './forward-session.ts';
import forwardScript from './generated/forward-simd128.mjs';
import { type Factory, instantiate } from './instantiate.ts';
import { selfTest } from './self-test.ts';
import type { Module } from './session.ts';
import type { Build, Engine, ForwardEngine, StageInfo } from './types.ts';

export const version = '0.1.0';

export interface LoadOptions {
  /**
   * Address of the folder that holds the .wasm files, when it is not where the script is; a relative
   * one is relative to the page.
   */
  readonly wasmUrl?: string | URL;
  /** Takes this build instead of the best one; there is no fallback then. */
  readonly build?: Build;
}

/** What an engine has of its own part. */
type Own<E> = Omit<E, 'build' | 'version' | 'fallbackReason' | 'stages'>;

/** A module as it is published: its script and the address of its .wasm file. */
interface Part<E extends ForwardEngine> {
  readonly name: string;
  script(build: Build): Promise<Factory>;
  readonly wasm: Readonly<Record<Build, URL>>;
  own(module: unknown, stages: readonly StageInfo[], compiled: WebAssembly.Module): Promise<Own<E>>;
}

// Addresses are written out, so that a bundler sees all of them and a browser loads one build only.
const forward: Part<ForwardEngine> = {
  name: 'forward',
  // Both builds have the same script; a test holds them to it.
  script: async () => forwardScript,
  wasm: {
    relaxed: new URL('./generated/forward-relaxed.wasm', import.meta.url),
    simd128: new URL('./generated/forward-simd128.wasm', import.meta.url),
  },
  own: async (module, stages) => ({
    createSession: () => new WasmForwardSession(module as ForwardModule, stages),
  }),
};

const whole: Part<Engine> = {
  name: 'attention',
  script: async (build) =>
    build === 'relaxed'
      ? (await import('./generated/attention-relaxed.mjs')).default
      : (await import('./generated/attention-simd128.mjs')).default,
  wasm: {
    relaxed: new URL('./generated/attention-relaxed.wasm', import.meta.url),
    simd128: new URL('./generated/attention-simd128.wasm', import.meta.url),
  },
  own: async (module, stages, compiled) => {
    const [{ WasmSession }, { WasmAttention }, errors] = await Promise.all([
      import('./session.ts'),
      import('./attend.ts'),
      import('./whole-errors.ts'),
    ]);
    learn(errors.wholeSentences, errors.wholeSubjects);
    const core = module as Module;
    return {
      compiled,
      memory: () => ({ inUse: core.bytesInUse(), total: core.wasmMemory.buffer.byteLength }),
      multiplyAdds: (rounds) => core.multiplyAdds(rounds),
      createSession: () => new WasmSession(core, stages),
      createAttention: (config) => new WasmAttention(core, config),
    };
  },
};

/** A module of one function of three vectors; its instructions follow `local.get 0, 1, 2`. */
function probe(parameters: number[], body: number[]): Uint8Array<ArrayBuffer> {
  const type = [1, 96, parameters.length, ...parameters, 1, 123];
  const code = [0, ...body, 11];
  return new Uint8Array([
    ...[0, 97, 115, 109, 1, 0, 0, 0],
    ...[1, type.length, ...type],
    ...[3, 2, 1, 0],
    ...[10, code.length + 2, 1, code.length, ...code],
  ]);
}

/** `i32x4.splat(0)` */
const simdProbe = probe([], [65, 0, 253, 17]);
/** `f32x4.relaxed_madd(a, b, c)`, 40 bytes. */
const relaxedProbe = probe([123, 123, 123], [32, 0, 32, 1, 32, 2, 253, 133, 2]);

const loads = new Map<string, Promise<ForwardEngine>>();

/** The engine, one for each set of options; a failed load is tried anew by the next call. */
export function load(options: LoadOptions = {}): Promise<Engine> {
  return once(whole, options) as Promise<Engine>;
}

/** The engine of forward passes only: less than half as many bytes. */
export function loadForward(options: LoadOptions = {}): Promise<ForwardEngine> {
  return once(forward, options);
}

function once(part: Part<ForwardEngine>, options: LoadOptions): Promise<ForwardEngine> {
  const key = `${part.name} ${options.build ?? ''} ${options.wasmUrl ?? ''}`;
  let engine = loads.get(key);
  if (!engine) {
    engine = choose(part, options);
    engine.catch(() => loads.delete(key));
    loads.set(key, engine);
  }
  return engine;
}

async function choose(
  part: Part<ForwardEngine>,
  { build, wasmUrl }: LoadOptions,
): Promise<ForwardEngine> {
  if (typeof WebAssembly !== 'object') throw new AttentionError('noWebAssembly');
  if (!WebAssembly.validate(simdProbe)) throw new AttentionError('noSimd');
  if (build) return start(part, build, wasmUrl, '');
  if (!WebAssembly.validate(relaxedProbe)) {
    return start(part, 'simd128', wasmUrl, 'Relaxed SIMD is not available here.');
  }
  try {
    return await start(part, 'relaxed', wasmUrl, '');
  } catch (error) {
    return start(part, 'simd128', wasmUrl, error instanceof Error ? error.message : String(error));
  }
}

async function start(
  part: Part<ForwardEngine>,
  build: Build,
  folder: string | URL | undefined,
  fallbackReason: string,
): Promise<ForwardEngine> {
  const file = `${part.name}-${build}.wasm`;
  const [factory, bytes] = await Promise.all([
    importScript(part, build),
    read(file, () => (folder === undefined ? part.wasm[build] : within(folder, file))),
  ]);
  const compiled = await compile(bytes, file);
  const module = await instantiate(factory, compiled, file);
  const stages: readonly StageInfo[] = JSON.parse(module.stageTable());
  const engine: ForwardEngine = {
    build,
    version,
    fallbackReason,
    stages,
    ...(await part.own(module, stages, compiled)),
  };
  selfTest(engine);
  return engine;
}

async function importScript(part: Part<ForwardEngine>, build: Build): Promise<Factory> {
  try {
    return await part.script(build);
  } catch (error) {
    throw new AttentionError('wasmMissing', `${part.name}-${build}.mjs`, (error as Error).message);
  }
}

/** The address of a file in a folder, whose own address may lack the slash at its end. */
function within(folder: string | URL, file: string): URL {
  const base = new URL(folder, globalThis.document?.baseURI ?? globalThis.location?.href);
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return new URL(file, base);
}

async function read(
  file: string,
  address: () => URL | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes: Uint8Array<ArrayBuffer>;
  let type = 'something else';
  try {
    const url = address();
    if (!url) throw new Error('there is no such build');
    if (url.protocol === 'file:' && 'process' in globalThis) {
      bytes = await readFile(url);
    } else {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`HTTP status ${response.status}`);
      type = response.headers.get('content-type') ?? type;
      bytes = new Uint8Array(await response.arrayBuffer());
    }
  } catch (error) {
    throw new AttentionError('wasmMissing', file, (error as Error).message);
  }
  // A server's page for missing files often comes with status 200.
  const magic = [0, 97, 115, 109];
  if (magic.some((byte, i) => bytes[i] !== byte)) {
    throw new AttentionError('wasmWrongType', file, type);
  }
  return bytes;
}

/** Node's fetch does not read files; the name is in a variable to keep bundlers away from it. */
async function readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const name: string = 'node:fs/promises';
  const files = await import(/* @vite-ignore */ name);
  return files.readFile(url);
}

async function compile(bytes: Uint8Array<ArrayBuffer>, file: string): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    const { message } = error as Error;
    if (/unsafe-eval|content security policy|CSP/i.test(message)) {
      throw new AttentionError('wasmBlocked');
    }
    throw new AttentionError('wasmBroken', file, message);
  }
}
