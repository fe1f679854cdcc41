/**
 * Fused attention without holding up the calling thread: its rows are shared out to workers, each
 * with an instance of its own, or worked in slices where there are no workers.
 */
import { attend, requirePast } from './attend.ts';
import { sizesOf } from './boundary.ts';
import { AttentionError } from './errors.ts';
import { pause } from './pause.ts';
import type { AttentionConfig, AttentionInputs, Engine, WorkerKind } from './types.ts';
import {
  buffersOf,
  type FromWorker,
  flopsOf,
  isDivisible,
  piecesOf,
  type Range,
  rangesOf,
  type ToWorker,
} from './work.ts';

export interface AsyncOptions {
  /**
   * At most so many; by default as many as there are processors, and no more than 8. With 0 the work
   * is done in slices on the calling thread.
   */
  readonly workers?: number;
  /** Aborting it rejects the promise with its reason, at once. */
  readonly signal?: AbortSignal;
  /** Told after every range of rows how many rows of how many are done. */
  readonly onProgress?: (done: number, rows: number) => void;
}

/**
 * Work of fewer flops is done at once on the calling thread: what it would gain, waking workers and
 * sending them their inputs takes. Two workers are as fast as one thread at about T = 1024, d = 64,
 * which takes 7 ms (`npm run bench -- --suite workers`).
 */
const asyncFlops = 270e6;
/** Without workers, the calling thread is given back after about so many flops (2 to 3 ms). */
const sliceFlops = 60e6;
/**
 * A worker that does not answer for so long is dead. A range takes milliseconds, or, of rows with very
 * many keys, what even a slow machine takes for its flops.
 */
const patience = 20_000;
const leastFlopsPerMs = 1e6;
/** So many bytes of memory for copies are kept at most. */
const mostSpare = 2 ** 26;
/** Workers without work are kept so long. */
const idleTime = 10_000;

/**
 * As `attend`, with the same bits, but the promise of it; inputs and configuration may be changed as
 * soon as the call has returned. Rejects with an AttentionError like `attend`'s, with one of code
 * `workerDied` when a worker stopped in the middle of its work (the next call starts a new one), or
 * with the signal's reason.
 */
export async function attendAsync(
  engine: Engine,
  inputs: AttentionInputs,
  config: AttentionConfig,
  options: AsyncOptions = {},
): Promise<Float32Array> {
  const { signal, workers = 0, onProgress } = options;
  if (!Number.isInteger(workers) || workers < 0)
    throw new AttentionError('badSize', 'workers', workers, 0);
  signal?.throwIfAborted();
  // What cannot be sent away at all is refused here.
  const areThere = [inputs.q, inputs.k, inputs.v].every(
    (values) => typeof values?.length === 'number',
  );
  if (flopsOf(config) < asyncFlops || !isDivisible(config) || !areThere) {
    const result = attend(engine, inputs, config);
    const { batch, heads, tq } = sizesOf(config);
    onProgress?.(batch * heads * tq, batch * heads * tq);
    return result;
  }
  requirePast(inputs, config);
  return untilAborted(poolOf(engine).take(inputs, config, options), signal);
}

/** The promise, or a rejection as soon as the signal is aborted. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** How long work runs here: it is found out by the first worker. */
export async function workerKind(engine: Engine): Promise<WorkerKind> {
  return poolOf(engine).kind();
}

interface Job {
  readonly inputs: AttentionInputs;
  readonly config: AttentionConfig;
  readonly pieces: readonly Range[];
  readonly options: AsyncOptions;
}

const pools = new WeakMap<object, Pool>();

function poolOf(engine: Engine): Pool {
  let pool = pools.get(engine.compiled);
  if (!pool) {
    pool = new Pool(engine);
    pools.set(engine.compiled, pool);
  }
  return pool;
}

/** The workers of an engine. */
class Pool {
  readonly #engine: Engine;
  #idle: Hand[] = [];
  #kind: WorkerKind = 'url';
  #isKnown = false;
  /** Jobs run one after another: each has all the workers. */
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;
  /** Memory for copies of inputs: new memory takes longer than filling it. */
  #spare: ArrayBuffer[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async kind(): Promise<WorkerKind> {
    if (!this.#isKnown) await this.#inTurn(async () => this.#release(await this.#hire(1)));
    return this.#kind;
  }

  take(
    inputs: AttentionInputs,
    config: AttentionConfig,
    options: AsyncOptions,
  ): Promise<Float32Array> {
    const job = {
      inputs: this.#copied(inputs),
      config: plain(config),
      pieces: piecesOf(config),
      options,
    };
    return this.#inTurn(() => this.#work(job));
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act);
    // Without the result, which would stay in memory until the next call.
    this.#last = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }

  async #work(job: Job): Promise<Float32Array> {
    const { signal, workers = await processors() } = job.options;
    signal?.throwIfAborted();
    const hands = await this.#hire(Math.min(workers, job.pieces.length));
    try {
      // It may have been aborted while workers were started.
      signal?.throwIfAborted();
      return await (hands.length > 0 ? this.#shareOut(hands, job) : inSlices(this.#engine, job));
    } finally {
      this.#release(hands);
    }
  }

  /** Has workers compute the ranges, two at a time each, so that none waits for the next. */
  #shareOut(hands: readonly Hand[], job: Job): Promise<Float32Array> {
    const { inputs, config, pieces, options } = job;
    this.#count += 1;
    const number = this.#count;
    const rows = pieces.at(-1)?.[1] ?? 0;
    const { dV } = config;
    // Made when rows come: then a worker has found that such sizes are possible.
    let result: Float32Array | undefined;
    const ranges = rangesOf(config, pieces, hands.length);
    let next = 0;
    let done = 0;
    return new Promise((resolve, reject) => {
      const { signal, onProgress } = options;
      const finish = (act: () => void) => {
        for (const hand of hands) hand.listen(null);
        signal?.removeEventListener('abort', abort);
        act();
      };
      const abort = () => finish(() => reject(signal?.reason));
      signal?.addEventListener('abort', abort);
      const give = (hand: Hand) => {
        const range = ranges[next];
        next += 1;
        if (range) hand.post({ type: 'rows', job: number, range });
      };
      const take = (range: Range, values: Float32Array) => {
        const [first, last] = range;
        result ??= new Float32Array(rows * dV);
        result.set(values, first * dV);
        done += last - first;
        onProgress?.(done, rows);
        if (done === rows) finish(() => resolve(result as Float32Array));
      };
      const longest = Math.max(...ranges.map(([first, last]) => last - first));
      const answer = patience + (flopsOf(config) / rows) * (longest / leastFlopsPerMs);
      for (const [i, hand] of hands.entries()) {
        hand.listen(
          {
            message: (message) => {
              if (message.type === 'taken') {
                this.#keep(message.buffers);
              } else if (message.type === 'failed' && message.job === number) {
                const { code, subject, found, expected } = message.failure;
                finish(() => reject(new AttentionError(code, subject, found, expected)));
              } else if (message.type === 'rows' && message.job === number) {
                give(hand);
                try {
                  take(message.range, message.values);
                } catch (error) {
                  finish(() => reject(error));
                }
              }
            },
            death: (reason) => finish(() => reject(new AttentionError('workerDied', '', reason))),
          },
          answer,
        );
        try {
          // The last one gets the copy itself.
          const own = i === hands.length - 1 ? inputs : this.#copied(inputs);
          hand.post({ type: 'job', job: number, config, inputs: own }, buffersOf(own));
        } catch (error) {
          // Those before it have begun.
          finish(() => reject(error));
          return;
        }
        give(hand);
      }
      for (const hand of hands) give(hand);
    });
  }

  /**
   * So many workers, or fewer when more cannot be had; none when workers are refused altogether, or
   * this once could not be started.
   */
  async #hire(count: number): Promise<Hand[]> {
    clearTimeout(this.#timer);
    this.#idle = alive(this.#idle);
    let hands = this.#idle.splice(0, count);
    for (const hand of hands) hand.wake();
    while (this.#kind !== 'slices' && hands.length < count) {
      const kind = this.#kind;
      const opening = Array.from({ length: count - hands.length }, () =>
        Hand.open(kind, this.#engine.compiled),
      );
      const opened = await Promise.allSettled(opening);
      // One may have died while these were started.
      hands = alive([
        ...hands,
        ...opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
      ]);
      // Where workers were had before, the next call tries again.
      if (hands.length > 0 || this.#isKnown) break;
      this.#kind = kind === 'url' && !isNode ? 'blob' : 'slices';
    }
    if (count > 0) this.#isKnown = true;
    return hands;
  }

  /** The newest are kept: they fit the job that is likeliest to come again. */
  #keep(buffers: readonly ArrayBuffer[]): void {
    let room = mostSpare;
    this.#spare = [...buffers, ...this.#spare].filter(({ byteLength }) => {
      room -= byteLength;
      return room >= 0;
    });
  }

  /** Copies that can be sent away, float32 where they are numbers. */
  #copied(inputs: AttentionInputs): AttentionInputs {
    const copy = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return value;
      const values = value as ArrayLike<number>;
      const bytes = values.length * Float32Array.BYTES_PER_ELEMENT;
      const at = this.#spare.findIndex(({ byteLength }) => byteLength === bytes);
      const [buffer = new ArrayBuffer(bytes)] = at < 0 ? [] : this.#spare.splice(at, 1);
      const numbers = new Float32Array(buffer);
      // What was sent away elsewhere has no length and cannot be read.
      if (values.length > 0) numbers.set(values);
      return numbers;
    };
    const entries = inputNames.flatMap((name) =>
      inputs[name] === undefined ? [] : [[name, copy(inputs[name])]],
    );
    return Object.fromEntries(entries) as unknown as AttentionInputs;
  }

  #release(hands: readonly Hand[]): void {
    for (const hand of alive(hands)) {
      hand.rest();
      this.#idle.push(hand);
    }
    this.#timer = setTimeout(() => {
      this.#spare = [];
      for (const hand of this.#idle.splice(0)) hand.end();
    }, idleTime);
    (this.#timer as { unref?(): void }).unref?.();
  }
}

const inputNames = ['q', 'k', 'v', 'pastKey', 'pastValue', 'mask', 'layout'] as const;
const configNames = [
  'batch',
  'heads',
  'kvHeads',
  'tq',
  'tk',
  'past',
  'dK',
  'dV',
  'scale',
  'softcap',
  'causal',
] as const;

/** A copy that can be sent away, without what else is in the object, such as the values of a mask. */
function plain({ validLengths, mask, ...rest }: AttentionConfig): AttentionConfig {
  const own = configNames.flatMap((name) => (rest[name] === undefined ? [] : [[name, rest[name]]]));
  return {
    ...Object.fromEntries(own),
    ...(validLengths && { validLengths: [...validLengths] }),
    ...(mask && { mask: { kind: mask.kind, shape: [...(mask.shape ?? [])] } }),
  };
}

/** The same on the calling thread, which is given back in between. */
async function inSlices(engine: Engine, { inputs, config, pieces, options }: Job) {
  const attention = engine.createAttention(config);
  try {
    attention.setInputs(inputs);
    const { rows } = attention;
    const perSlice = (sliceFlops / flopsOf(config)) * rows;
    let first = 0;
    for (const [, last] of pieces) {
      if (last - first < perSlice && last < rows) continue;
      options.signal?.throwIfAborted();
      attention.run(first, last);
      options.onProgress?.(last, rows);
      first = last;
      await pause();
    }
    return attention.output.slice();
  } finally {
    attention.dispose();
  }
}

interface Listener {
  message(message: FromWorker): void;
  death(reason: string): void;
}

/** What web workers and Node's threads have in common here. */
interface RawWorker {
  postMessage(message: ToWorker, transfer: ArrayBuffer[]): void;
  terminate(): unknown;
  ref?(): void;
  unref?(): void;
}

/** A worker that is ready, whichever kind it is of. */
class Hand {
  isDead = false;
  readonly #worker: RawWorker;
  #listener: Listener | null = null;
  #unanswered = 0;
  #patience = patience;
  #watch: ReturnType<typeof setTimeout> | undefined;

  static async open(kind: WorkerKind, compiled: object): Promise<Hand> {
    const hand = isNode ? await Hand.#ofNode() : await Hand.#ofBrowser(kind);
    try {
      await new Promise<void>((resolve, reject) => {
        hand.listen({ message: () => resolve(), death: (reason) => reject(new Error(reason)) });
        hand.post({ type: 'start', compiled });
      });
    } catch (error) {
      hand.end();
      throw error;
    }
    hand.listen(null);
    return hand;
  }

  static async #ofBrowser(kind: WorkerKind): Promise<Hand> {
    if (kind === 'url') return new Hand(new Worker(scriptUrl)).#hear();
    scriptCopy ??= copyScript();
    return new Hand(new Worker(await scriptCopy)).#hear();
  }

  static async #ofNode(): Promise<Hand> {
    const name: string = 'node:worker_threads';
    const { Worker: Thread } = await import(/* @vite-ignore */ name);
    // Options of the process may not fit a thread, such as those of `node --eval`.
    const thread = new Thread(scriptUrl, { execArgv: [] });
    const hand = new Hand(thread);
    thread.on('message', (message: FromWorker) => hand.#hears(message));
    thread.on('error', (error: Error) => hand.#die(error.message));
    thread.on('exit', () => hand.#die('it ended'));
    return hand;
  }

  constructor(worker: RawWorker) {
    this.#worker = worker;
  }

  #hear(): this {
    const worker = this.#worker as Worker;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#hears(data);
    worker.onerror = (event) => {
      // Here it is told by an AttentionError.
      event.preventDefault();
      this.#die(event.message ?? 'it could not be started');
    };
    worker.onmessageerror = () => this.#die('a message could not be read');
    return this;
  }

  /** Node ends when only workers at rest are left. */
  rest(): void {
    this.#worker.unref?.();
  }

  wake(): void {
    this.#worker.ref?.();
  }

  /** An answer may take so many milliseconds, or what that to an earlier job may. */
  listen(listener: Listener | null, answer = patience): void {
    this.#listener = listener;
    this.#patience = this.#unanswered > 0 ? Math.max(this.#patience, answer) : answer;
  }

  post(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
    // Not before: what cannot be sent is not answered either.
    this.#unanswered += 1;
    this.#keepWatch();
  }

  end(): void {
    this.isDead = true;
    clearTimeout(this.#watch);
    this.#worker.terminate();
  }

  #hears(message: FromWorker): void {
    // Node hands on what was under way.
    if (this.isDead) return;
    this.#unanswered -= 1;
    this.#keepWatch();
    this.#listener?.message(message);
  }

  #keepWatch(): void {
    clearTimeout(this.#watch);
    if (this.#unanswered <= 0) return;
    // In two parts: after a sleep of the machine what was answered is heard between them.
    const half = this.#patience / 2;
    this.#watch = setTimeout(() => {
      this.#watch = setTimeout(() => this.#die('it no longer answers'), half);
    }, half);
  }

  #die(reason: string): void {
    if (this.isDead) return;
    this.end();
    this.#listener?.death(reason);
  }
}

function alive(hands: readonly Hand[]): Hand[] {
  return hands.filter(({ isDead }) => !isDead);
}

const isNode = typeof Worker === 'undefined' && 'process' in globalThis;
// Written out, so that a bundler sees it; the build makes it of worker.ts.
const scriptUrl = new URL('./generated/worker.js', import.meta.url);

let scriptCopy: Promise<string> | undefined;

/** A blob of the code itself: from another origin, and in a sandboxed frame, its address is refused. */
async function copyScript(): Promise<string> {
  const response = await fetch(scriptUrl);
  return URL.createObjectURL(new Blob([await response.text()], { type: 'text/javascript' }));
}

async function processors(): Promise<number> {
  const most = 8;
  if (!isNode) return Math.min(navigator.hardwareConcurrency ?? 1, most);
  const name: string = 'node:os';
  return Math.min((await import(/* @vite-ignore */ name)).availableParallelism(), most);
}
