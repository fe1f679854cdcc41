/**
 * A worker: an instance of the module that computes ranges of rows. Built into one script without
 * imports, generated/worker.js, which runs as a web worker, also from a blob, and as a thread of Node.
 */
import { WasmAttention } from './attend.ts';
import { AttentionError } from './errors.ts';
import script from './generated/attention-simd128.mjs';
import { type Factory, instantiate } from './instantiate.ts';
import type { Module } from './session.ts';
import { buffersOf, type FromWorker, type ToWorker } from './work.ts';

interface Port {
  postMessage(message: FromWorker, transfer: ArrayBuffer[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<ToWorker>) => void): void;
}

function serve(port: Port): void {
  let module: Module | null = null;
  let attention: WasmAttention | null = null;
  let current = -1;
  let dV = 0;
  /** The configuration in force, as text; empty when something may be left in the memory. */
  let inForce = '';
  const say = (message: FromWorker, ...transfer: ArrayBuffer[]) =>
    port.postMessage(message, transfer);

  const begin = ({ job, config, inputs }: ToWorker & { type: 'job' }): void => {
    current = job;
    dV = config.dV;
    try {
      const wanted = JSON.stringify(config);
      // Everything that is read is about to be written: there is nothing to clear.
      if (!attention) attention = new WasmAttention(module as Module, config);
      else if (wanted !== inForce) attention.configure(config);
      inForce = config.past || config.mask ? '' : wanted;
      attention.setInputs(inputs);
      const buffers = buffersOf(inputs);
      say({ type: 'taken', job, buffers }, ...buffers);
    } catch (error) {
      if (!(error instanceof AttentionError)) throw error;
      const { code, subject, found, expected } = error;
      current = -1;
      inForce = '';
      say({ type: 'failed', job, failure: { code, subject, found, expected } });
    }
  };

  const start = async (compiled: object): Promise<void> => {
    // Both builds have the same script but for the name of a file that is not fetched here.
    module = (await instantiate(script as Factory, compiled, 'worker')) as Module;
    say({ type: 'ready' });
  };

  port.addEventListener('message', ({ data }) => {
    if (data.type === 'start') {
      // A rejection alone would be heard of in here only.
      start(data.compiled).catch((error) => queueMicrotask(() => raise(error)));
    } else if (data.type === 'job') {
      begin(data);
    } else if (data.job !== current || !attention) {
      say({ type: 'skipped', job: data.job });
    } else {
      const [first, last] = data.range;
      attention.run(first, last);
      const values = attention.output.slice(first * dV, last * dV) as Float32Array<ArrayBuffer>;
      say({ type: 'rows', job: data.job, range: data.range, values }, values.buffer);
    }
  });
}

function raise(error: unknown): never {
  throw error;
}

if (typeof postMessage === 'function') {
  serve(globalThis as unknown as Port);
} else {
  const name: string = 'node:worker_threads';
  import(name).then(({ parentPort }) => serve(parentPort));
}
