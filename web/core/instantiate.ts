/** Starts an instance of a compiled module with its script. */
import type { ForwardModule } from './boundary.ts';
import { AttentionError } from './errors.ts';

export type Factory = (options: {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance) => void,
  ): object;
}) => Promise<unknown>;

/** `file` is what an error names. */
export async function instantiate(
  factory: Factory,
  compiled: WebAssembly.Module,
  file: string,
): Promise<ForwardModule> {
  try {
    return (await new Promise<unknown>((resolve, reject) => {
      factory({
        instantiateWasm(imports, done) {
          WebAssembly.instantiate(compiled, imports).then(done).catch(reject);
          return {};
        },
      }).then(resolve, reject);
    })) as ForwardModule;
  } catch (error) {
    throw new AttentionError('wasmBroken', file, (error as Error).message);
  }
}
