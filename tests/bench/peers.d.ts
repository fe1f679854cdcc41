/** What the benchmarks use of the peers, for type checks without their installation. */

declare module 'onnxruntime-web/wasm' {
  export const env: { wasm: { numThreads: number; wasmPaths: string }; logLevel: string };
  export class Tensor {
    constructor(type: 'float32', data: Float32Array, shape: readonly number[]);
    readonly data: unknown;
  }
  export interface Session {
    run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
  }
  export const InferenceSession: {
    create(model: Uint8Array, options: { executionProviders: string[] }): Promise<Session>;
  };
}

declare module '@tensorflow/tfjs-core' {
  export interface Tensor {
    dataSync(): unknown;
  }
  export function setBackend(name: string): Promise<boolean>;
  export function tensor(values: Float32Array, shape: readonly number[]): Tensor;
  export function scalar(value: number): Tensor;
  export function add(a: Tensor, b: Tensor): Tensor;
  export function mul(a: Tensor, b: Tensor): Tensor;
  export function matMul(a: Tensor, b: Tensor): Tensor;
  export function softmax(logits: Tensor): Tensor;
  export function transpose(x: Tensor, permutation: readonly number[]): Tensor;
  export function tidy<T>(compute: () => T): T;
}

declare module '@tensorflow/tfjs-backend-wasm' {
  export function setThreadsCount(count: number): void;
  export function setWasmPaths(files: Record<string, string>): void;
}
