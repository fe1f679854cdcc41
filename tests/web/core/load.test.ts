/** Loading: the choice of a build, the known answer, and a readable error for each way it fails. */

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { AttentionError, load } from '../../../web/core/index.ts';
import { selfTest } from '../../../web/core/self-test.ts';

const generated = new URL('../../../web/core/generated/', import.meta.url);

async function errorOf(loading: Promise<unknown>): Promise<AttentionError> {
  const error = await loading.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AttentionError);
  return error as AttentionError;
}

describe('from a server', () => {
  let address = '';
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const [, folder, file] = request.url?.split('/') ?? [];
    if (folder === 'good' && file) {
      response.writeHead(200, { 'content-type': 'application/wasm' });
      response.end(readFileSync(new URL(file, generated)));
    } else if (folder === 'page') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>Nothing here</title>');
    } else if (folder === 'damaged') {
      response.end(Buffer.from([0, 97, 115, 109, 1, 0, 0, 0, 99]));
    } else if (folder === 'foreign') {
      // A whole module, but not this one: no import, no export.
      response.end(Buffer.from([0, 97, 115, 109, 1, 0, 0, 0]));
    } else {
      response.writeHead(404).end('missing');
    }
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.close();
  });

  test.each(['/good/', '/good', '/good?version=2'])(
    'a folder of the host’s own: %s',
    async (folder) => {
      const engine = await load({ wasmUrl: `${address}${folder}` });
      expect(['simd128', 'relaxed']).toContain(engine.build);
    },
  );

  test('a relative one is relative to the page, and nothing without a page', async () => {
    const error = await errorOf(load({ wasmUrl: 'good/' }));
    expect(error.code).toBe('wasmMissing');
    vi.stubGlobal('document', { baseURI: `${address}/lessons.html` });
    try {
      expect((await load({ wasmUrl: 'good' })).fallbackReason).toBe('');
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test.each([
    ['absent', 'wasmMissing', 'attention-simd128.wasm could not be loaded (HTTP status 404).'],
    [
      'page',
      'wasmWrongType',
      'attention-simd128.wasm is not a WebAssembly module; the server sent text/html.',
    ],
    ['damaged', 'wasmBroken', 'attention-simd128.wasm could not be started'],
    ['foreign', 'wasmBroken', 'attention-simd128.wasm could not be started'],
  ])('%s: %s', async (folder, code, sentence) => {
    const error = await errorOf(load({ wasmUrl: `${address}/${folder}/`, build: 'simd128' }));
    expect(error.code).toBe(code);
    expect(error.message).toContain(sentence);
  });

  test('a build that does not exist', async () => {
    const error = await errorOf(load({ build: 'scalar' as never }));
    expect(error.message).toContain(
      'attention-scalar.wasm could not be loaded (there is no such build)',
    );
  });

  test('no server at all, and a failure is not remembered', async () => {
    const options = { wasmUrl: 'http://127.0.0.1:1/', build: 'simd128' } as const;
    const first = load(options);
    expect(load(options)).toBe(first);
    expect((await errorOf(first)).code).toBe('wasmMissing');
    const second = load(options);
    expect(second).not.toBe(first);
    expect((await errorOf(second)).code).toBe('wasmMissing');
  });
});

/** Whether a module holds `f32x4.relaxed_madd`. */
function isRelaxedProbe(bytes: BufferSource): boolean {
  return Buffer.from(bytes as Uint8Array).includes(Buffer.from([253, 133, 2]));
}

describe('the choice', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  test('one engine for everybody, relaxed where it validates', async () => {
    const engine = await load();
    expect(await load()).toBe(engine);
    expect(engine).toMatchObject({ build: 'relaxed', fallbackReason: '' });
  });

  // Each test has an address of its own, so that no earlier load answers.
  const here = (query: string) => new URL(`?${query}`, generated);

  test('without relaxed SIMD', async () => {
    const validate = WebAssembly.validate;
    vi.spyOn(WebAssembly, 'validate').mockImplementation(
      (bytes) => !isRelaxedProbe(bytes) && validate(bytes),
    );
    expect(await load({ wasmUrl: here('1') })).toMatchObject({
      build: 'simd128',
      fallbackReason: 'Relaxed SIMD is not available here.',
    });
  });

  test('a relaxed build that does not start', async () => {
    const compile = WebAssembly.compile;
    let calls = 0;
    vi.spyOn(WebAssembly, 'compile').mockImplementation((bytes) => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('no relaxed today')) : compile(bytes);
    });
    expect(await load({ wasmUrl: here('2') })).toMatchObject({
      build: 'simd128',
      fallbackReason: 'attention-relaxed.wasm could not be started (no relaxed today).',
    });
  });

  test('without SIMD', async () => {
    vi.spyOn(WebAssembly, 'validate').mockReturnValue(false);
    expect((await errorOf(load({ wasmUrl: here('3') }))).code).toBe('noSimd');
  });

  test('without WebAssembly', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    expect((await errorOf(load({ wasmUrl: here('4') }))).code).toBe('noWebAssembly');
  });

  test('blocked by the policy of the page', async () => {
    vi.spyOn(WebAssembly, 'compile').mockRejectedValue(
      new WebAssembly.CompileError(
        "Refused to compile or instantiate WebAssembly module because 'unsafe-eval' is not allowed",
      ),
    );
    expect((await errorOf(load({ wasmUrl: here('5') }))).code).toBe('wasmBlocked');
  });
});

test('a build that computes something else fails the self-test', async () => {
  const engine = await load();
  expect(() => selfTest(engine)).not.toThrow();
  const wrong = {
    ...engine,
    createSession: () => {
      const session = engine.createSession();
      const view = session.view.bind(session);
      session.view = (stage) => view(stage).map((cell, i) => (i === 70 ? cell + 2e-6 : cell));
      return session;
    },
  };
  expect(() => selfTest(wrong)).toThrow(expect.objectContaining({ code: 'selfTestFailed' }));
});
