/** Attention on other threads: the bits of the calling thread, progress, abortion, and workers that die. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type AsyncOptions,
  type AttentionConfig,
  AttentionError,
  type AttentionInputs,
  attend,
  attendAsync,
  type Engine,
  load,
  workerKind,
} from '../../../web/core/index.ts';

/** The multiples of 1/8 from −8 to 8, in an order without a pattern. */
function scattered(count: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 48271) >>> 0) % 0x7fffffff;
    return ((state % 129) - 64) / 8;
  });
}

const large = { tq: 1024, tk: 1024, dK: 64, dV: 64 } as const;

/** Keys of zeros: the result is the mean of the visible values, here of 0, 1, 2, …. */
function counting({ tq, tk, dK, dV }: AttentionConfig): AttentionInputs {
  return {
    q: scattered(tq * dK),
    k: new Float32Array(tk * dK),
    v: Float32Array.from({ length: tk * dV }, (_, i) => Math.floor(i / dV)),
  };
}

/** Every worker that something was sent to from now on. */
function watched(): Set<Worker> {
  const seen = new Set<Worker>();
  const { postMessage } = Worker.prototype;
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...sent) {
    seen.add(this);
    return postMessage.apply(this, sent);
  });
  return seen;
}

let engine: Engine;
beforeAll(async () => {
  engine = await load();
});
afterEach(() => {
  vi.restoreAllMocks();
});

test('Node has workers from the address of their script', async () => {
  expect(await workerKind(engine)).toBe('url');
});

const ways: Readonly<Record<string, AsyncOptions>> = {
  'two workers': { workers: 2 },
  'one worker': { workers: 1 },
  'slices on this thread': { workers: 0 },
};

describe.each(Object.entries(ways))('%s', (_, options) => {
  test('means of the values, every row of them', async () => {
    const result = await attendAsync(engine, counting(large), large, options);
    expect(result).toHaveLength(large.tq * large.dV);
    // Σ over 1024 keys rounds at most 1024 times: k·eps·magnitude.
    for (const found of result)
      expect(Math.abs(found - 511.5)).toBeLessThan(1024 * 2 ** -24 * 1024);
  });

  test('with a causal mask, the means of 0 … t', async () => {
    const config = { ...large, causal: true };
    const result = await attendAsync(engine, counting(large), config, options);
    for (let t = 0; t < large.tq; t += 1) {
      const error = Math.abs((result[t * large.dV] ?? Number.NaN) - t / 2);
      expect(error, `row ${t}`).toBeLessThan(1024 * 2 ** -24 * (t + 1));
    }
  });

  test.each<[string, AttentionConfig]>([
    ['heads that share keys', { batch: 2, heads: 4, kvHeads: 2, tq: 590, tk: 633, dK: 31, dV: 17 }],
    ['more heads than blocks', { heads: 25, kvHeads: 25, tq: 20, tk: 2000, dK: 64, dV: 64 }],
    ['valid lengths', { batch: 3, tq: 800, tk: 1000, dK: 32, dV: 32, validLengths: [1000, 7, 0] }],
  ])('%s: the bits of the calling thread', async (_name, config) => {
    const { batch = 1, heads = 1, kvHeads = 1, tq, tk, dK, dV } = config;
    const inputs = {
      q: scattered(batch * heads * tq * dK),
      k: scattered(batch * kvHeads * tk * dK),
      v: scattered(batch * kvHeads * tk * dV),
    };
    const sent = watched();
    const found = await attendAsync(engine, inputs, config, options);
    expect(sent.size).toBe(options.workers);
    expect(found).toEqual(attend(engine, inputs, config));
  });

  test('a mask, and tokens with their heads side by side', async () => {
    const config = {
      ...large,
      heads: 2,
      mask: { kind: 'boolean', shape: [1024, 1024] },
    } as const;
    const mask = Array.from({ length: 1024 ** 2 }, (_, i) => i % 3 === 0);
    const inputs = {
      q: scattered(1024 * 128),
      k: scattered(1024 * 64),
      v: scattered(1024 * 64),
      mask,
      layout: 'tokens',
    } as const;
    expect(await attendAsync(engine, inputs, config, options)).toEqual(
      attend(engine, inputs, config),
    );
  });

  test('progress rises up to all rows', async () => {
    const told: [number, number][] = [];
    await attendAsync(engine, counting(large), large, {
      ...options,
      onProgress: (done, rows) => told.push([done, rows]),
    });
    expect(told.length).toBeGreaterThan(0);
    expect(told.at(-1)).toEqual([1024, 1024]);
    expect(told.map(([done]) => done)).toEqual(
      told.map(([done]) => done).toSorted((a, b) => a - b),
    );
    expect(new Set(told.map(([, rows]) => rows))).toEqual(new Set([1024]));
  });

  test('what listens to the progress may fail', async () => {
    const onProgress = () => {
      throw new Error('of its own');
    };
    const failing = attendAsync(engine, counting(large), large, { ...options, onProgress });
    await expect(failing).rejects.toThrow('of its own');
    const [first] = await attendAsync(engine, counting(large), large, options);
    expect(first).toBeCloseTo(511.5, 3);
  });

  test('an abortion stops the work, before it and in the middle of it', async () => {
    const config = { ...large, tq: 4096 };
    const aborter = new AbortController();
    let told = 0;
    const running = attendAsync(engine, counting(config), config, {
      ...options,
      signal: aborter.signal,
      onProgress: () => {
        told += 1;
        aborter.abort(new Error('enough'));
      },
    });
    await expect(running).rejects.toThrow('enough');
    const again = attendAsync(engine, counting(config), config, {
      ...options,
      signal: aborter.signal,
    });
    await expect(again).rejects.toThrow('enough');
    // Another job is not disturbed by what was left of that one.
    const result = await attendAsync(engine, counting(large), large, options);
    expect(result.at(-1)).toBeCloseTo(511.5, 3);
    expect(told).toBe(1);
  });

  test('errors are those of the calling thread', async () => {
    const shorter = { ...counting(large), k: [1, 2, 3] };
    const failing = attendAsync(engine, shorter, large, options);
    await expect(failing).rejects.toThrow(
      expect.objectContaining({ code: 'wrongLength', subject: 'k', found: 3, expected: 65536 }),
    );
    await expect(failing).rejects.toThrow(AttentionError);
    await expect(failing).rejects.toThrow('K needs 65536 numbers; found 3.');
    const refused = attendAsync(engine, counting(large), { ...large, kvHeads: 0 }, options);
    await expect(refused).rejects.toThrow('The number of key/value heads');
  });

  test('the inputs may change as soon as the call has returned, and are not taken away', async () => {
    const inputs = counting(large);
    const running = attendAsync(engine, inputs, large, options);
    (inputs.v as Float32Array).fill(0);
    expect((await running)[0]).toBeCloseTo(511.5, 3);
    expect(inputs.v).toHaveLength(1024 * 64);
  });
});

test('small work stays on the calling thread', async () => {
  const sent = watched();
  const small = { ...large, tq: 64, tk: 64 };
  expect((await attendAsync(engine, counting(small), small))[0]).toBeCloseTo(31.5, 4);
  expect(sent.size).toBe(0);
});

test('small work tells its end as progress, and no more', async () => {
  const config = { batch: 2, heads: 3, tq: 5, tk: 4, dK: 2, dV: 1 };
  const inputs = { q: scattered(60), k: scattered(16), v: scattered(8) };
  const told: [number, number][] = [];
  const onProgress = (done: number, rows: number) => told.push([done, rows]);
  await attendAsync(engine, inputs, { ...config, kvHeads: 1 }, { onProgress });
  expect(told).toEqual([[30, 30]]);
  await expect(attendAsync(engine, inputs, { ...config, tk: 0 }, { onProgress })).rejects.toThrow();
  expect(told).toHaveLength(1);
});

test('jobs that come at the same time all get their own results', async () => {
  const scales = [0, 1, 2, 3];
  const results = await Promise.all(
    scales.map((scale) => {
      const inputs = counting(large);
      return attendAsync(
        engine,
        { ...inputs, v: (inputs.v as Float32Array).map((value) => value * scale) },
        large,
        { workers: 2 },
      );
    }),
  );
  for (const [i, scale] of scales.entries()) {
    expect(results[i]?.at(-1)).toBeCloseTo(511.5 * scale, 2);
  }
});

test('what a softcap takes counts as work, and keys may have no width', async () => {
  const sent = watched();
  const narrow = { tq: 900, tk: 900, dK: 1, dV: 1 };
  await attendAsync(engine, counting(narrow), narrow, { workers: 2 });
  expect(sent.size).toBe(0);
  await attendAsync(engine, counting(narrow), { ...narrow, softcap: 5 }, { workers: 2 });
  expect(sent.size).toBe(2);
  const empty = { ...large, tq: 2048, dK: 0 };
  sent.clear();
  expect(await attendAsync(engine, counting(empty), empty, { workers: 2 })).toEqual(
    attend(engine, counting(empty), empty),
  );
  expect(sent.size).toBe(2);
});

test('what is missing is told of as on the calling thread, what is unknown is not sent', async () => {
  const { q: _, ...rest } = counting(large);
  await expect(attendAsync(engine, rest as AttentionInputs, large)).rejects.toThrow(
    'Q needs 65536 numbers; found none.',
  );
  const inputs = { ...counting(large), note: () => 1 };
  const config = { ...large, note: () => 1 };
  const [first] = await attendAsync(engine, inputs, config, { workers: 1 });
  expect(first).toBeCloseTo(511.5, 3);
});

test('nothing of a job is left in the next one', async () => {
  const options = { workers: 1 };
  const masked = {
    ...large,
    past: 1,
    mask: { kind: 'boolean', shape: [1024, 1024] },
  } as const;
  const rest = { ...counting({ ...large, tk: 1023 }), q: counting(large).q };
  const past = new Float32Array(64).fill(1000);
  const mask = Array.from({ length: 1024 ** 2 }, (_, i) => i % 1024 === 0);
  const first = { ...rest, pastKey: past, pastValue: past, mask };
  // Only the past key is seen.
  expect((await attendAsync(engine, first, masked, options))[0]).toBe(1000);
  // A past of zeros and no mask: the values are 0 and 0 … 1022.
  const zeros = { ...rest, pastKey: new Float32Array(64), pastValue: new Float32Array(64) };
  const second = await attendAsync(engine, zeros, masked, options);
  expect(second[0]).toBeCloseTo((1022 * 1023) / 2 / 1024, 2);
  for (let i = 0; i < 2; i += 1) {
    expect((await attendAsync(engine, counting(large), large, options))[0]).toBeCloseTo(511.5, 2);
  }
});

test.each([-1, 1.5, Number.NaN])('%s workers are refused', async (workers) => {
  await expect(attendAsync(engine, counting(large), large, { workers })).rejects.toThrow(
    `The number of workers must be a whole number of at least 0; found ${workers}.`,
  );
});

test('a worker that dies is told of, and the next call has a new one', async () => {
  const config = { ...large, tq: 4096 };
  const sent = watched();
  const failing = attendAsync(engine, counting(config), config, {
    workers: 2,
    onProgress: () => [...sent][0]?.terminate(),
  });
  await expect(failing).rejects.toThrow(
    expect.objectContaining({
      code: 'workerDied',
      message: expect.stringContaining('in the middle of its work'),
    }),
  );
  const result = await attendAsync(engine, counting(large), large, { workers: 2 });
  expect(result.at(-1)).toBeCloseTo(511.5, 3);
  expect(sent.size).toBe(3);
});

test('a worker that no longer answers is given up', async () => {
  const config = { ...large, tq: 4096 };
  await attendAsync(engine, counting(config), config, { workers: 1 });
  vi.useFakeTimers();
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(() => {});
  try {
    const failing = attendAsync(engine, counting(config), config, { workers: 1 });
    const told = expect(failing).rejects.toThrow('it no longer answers');
    await vi.advanceTimersByTimeAsync(30_000);
    await told;
  } finally {
    vi.useRealTimers();
  }
});

test('a worker may take long where a range has very many keys', async () => {
  const config = { tq: 64, tk: 4e5, dK: 1, dV: 1, softcap: 50, heads: 16, kvHeads: 16 };
  await attendAsync(engine, counting(large), large, { workers: 1 });
  vi.useFakeTimers();
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(() => {});
  let end = '';
  try {
    const pending = attendAsync(engine, counting(config), config, { workers: 1 });
    pending.catch((error) => {
      end = error.message;
    });
    // 64 · 4e5 scores of 374 flops: at 1 GF/s they take 9.6 s.
    await vi.advanceTimersByTimeAsync(29_000);
    expect(end).toBe('');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(end).toContain('it no longer answers');
  } finally {
    vi.useRealTimers();
  }
});

test('bad input of a large job is named as that of a small one', async () => {
  const inputs = counting(large);
  const refused: [AttentionInputs, AttentionConfig, string][] = [
    [inputs, { ...large, past: 1 }, 'The array of past keys needs 64 numbers; found 0.'],
    [
      { ...inputs, pastKey: new Float32Array(64) },
      { ...large, past: 1 },
      'The array of past values needs 64 numbers; found 0.',
    ],
    [{ ...inputs, q: detached() }, large, 'Q needs 65536 numbers; found 0.'],
    [inputs, { ...large, mask: { kind: 'float' } as never }, 'The number of axes of the mask'],
    [inputs, { ...large, mask: { kind: 'float', shape: [-1] } }, 'An axis of the mask must be'],
    [inputs, { ...large, validLengths: [-5] }, 'found -5'],
  ];
  for (const [given, config, sentence] of refused) {
    await expect(attendAsync(engine, given, config, { workers: 1 })).rejects.toThrow(sentence);
    expect(() => attend(engine, given, config)).toThrow(sentence);
  }
  // The worker answers what was asked of it before: no watch runs on into the next test.
  expect((await attendAsync(engine, inputs, large, { workers: 1 })).length).toBe(1024 * 64);
});

function detached(): Float32Array {
  const numbers = new Float32Array(large.tq * large.dK);
  structuredClone(numbers.buffer, { transfer: [numbers.buffer] });
  return numbers;
}

/** An engine without workers yet. */
function anotherEngine(name: string): Promise<Engine> {
  return load({ wasmUrl: new URL(`../../../web/core/generated/?${name}`, import.meta.url) });
}

/** From now on nothing of this type can be sent to a worker. */
function refuse(type: string): void {
  const { postMessage } = Worker.prototype;
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...sent) {
    if (sent[0].type === type) throw new Error('as a test wants it');
    postMessage.apply(this, sent);
  });
}

test('an abortion while workers are started leaves nothing to do', async () => {
  const other = await anotherEngine('abortion');
  const aborter = new AbortController();
  const { postMessage } = Worker.prototype;
  const types: string[] = [];
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...sent) {
    types.push(sent[0].type);
    postMessage.apply(this, sent);
    aborter.abort(new Error('enough'));
  });
  const { signal } = aborter;
  const running = attendAsync(other, counting(large), large, { workers: 1, signal });
  await expect(running).rejects.toThrow('enough');
  // Behind that one.
  await attendAsync(other, counting(large), large, { workers: 0 });
  expect(types).toEqual(['start']);
});

test('where workers are refused, work without any does not hide it', async () => {
  const other = await anotherEngine('refusal');
  refuse('start');
  await attendAsync(other, counting(large), large, { workers: 0 });
  expect(await workerKind(other)).toBe('slices');
});

test('after workers could not be started once, the next call has some', async () => {
  const other = await anotherEngine('once');
  const started = watched();
  await workerKind(other);
  for (const worker of started) await worker.terminate();
  vi.restoreAllMocks();
  refuse('start');
  const result = await attendAsync(other, counting(large), large, { workers: 1 });
  expect(result.at(-1)).toBeCloseTo(511.5, 3);
  vi.restoreAllMocks();
  const sent = watched();
  await attendAsync(other, counting(large), large, { workers: 1 });
  expect(sent.size).toBe(1);
  expect(await workerKind(other)).toBe('url');
});

test('a result beyond all memory is refused as on the calling thread', async () => {
  const config = { ...large, dV: 2 ** 40 };
  const inputs = counting(large);
  const expected = expect.objectContaining({ code: 'tooLarge' });
  expect(() => attend(engine, inputs, config)).toThrow(expected);
  await expect(attendAsync(engine, inputs, config, { workers: 1 })).rejects.toThrow(expected);
});

test('the configuration may change as soon as the call has returned', async () => {
  const validLengths = [1];
  const config = { ...large, validLengths };
  const running = [1, 0].map((workers) =>
    attendAsync(engine, counting(large), config, { workers }),
  );
  config.dV = 1 as 64;
  validLengths[0] = 1024;
  for (const result of await Promise.all(running)) {
    expect(result).toEqual(new Float32Array(1024 * 64));
  }
});

test('a configuration that is watched by a proxy, and brings its mask along', async () => {
  const values = new Float32Array(1024 ** 2).map((_, i) => (i % 1024 === 7 ? 1 : 0));
  const watching = (object: object): object =>
    new Proxy(object, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'object' && value !== null ? watching(value) : value;
      },
    });
  const mask = { kind: 'boolean', shape: [1024, 1024], values } as const;
  const config = watching({ ...large, mask }) as AttentionConfig;
  const sent = watched();
  const inputs = { ...counting(large), mask: values };
  const result = await attendAsync(engine, inputs, config, { workers: 1 });
  expect(sent.size).toBe(1);
  expect(result).toEqual(new Float32Array(1024 * 64).fill(7));
});

test('a worker that something could not be sent to is not taken for dead', async () => {
  const other = await anotherEngine('sent');
  await workerKind(other);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    refuse('job');
    const failing = attendAsync(other, counting(large), large, { workers: 1 });
    await expect(failing).rejects.toThrow('as a test wants it');
    vi.restoreAllMocks();
    await attendAsync(other, counting(large), large, { workers: 1 });
    // One for workers at rest.
    expect(vi.getTimerCount()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test('workers that have begun stop when one after them cannot', async () => {
  const config = { ...large, tq: 4096 };
  const other = await anotherEngine('begun');
  const { postMessage } = Worker.prototype;
  let jobs = 0;
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...sent) {
    if (sent[0].type === 'job') jobs += 1;
    if (sent[0].type === 'job' && jobs === 2) throw new Error('as a test wants it');
    postMessage.apply(this, sent);
  });
  let told = 0;
  const onProgress = () => {
    told += 1;
  };
  const failing = attendAsync(other, counting(config), config, { workers: 2, onProgress });
  await expect(failing).rejects.toThrow('as a test wants it');
  // Behind that one.
  await attendAsync(other, counting(config), config, { workers: 0 });
  expect(told).toBe(0);
});

test('nothing waits for a worker that is dead', async () => {
  const other = await anotherEngine('dead');
  await workerKind(other);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const config = { ...large, tq: 4096 };
    const sent = watched();
    const onProgress = () => {
      for (const worker of sent) {
        worker.emit('error', new Error('as a test wants it'));
        // An answer that was under way.
        worker.emit('message', { type: 'skipped', job: -1 });
      }
    };
    const failing = attendAsync(other, counting(config), config, { workers: 1, onProgress });
    await expect(failing).rejects.toThrow('as a test wants it');
    // One for workers at rest.
    expect(vi.getTimerCount()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test('no result is held in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const results: WeakRef<Float32Array>[] = [];
  for (const workers of [1, 0]) {
    results.push(new WeakRef(await attendAsync(engine, counting(large), large, { workers })));
  }
  // What a WeakRef was asked or made with lives until the present task ends.
  await new Promise((resolve) => setTimeout(resolve));
  collect();
  expect(results.map((result) => result.deref() === undefined)).toEqual([true, true]);
});
