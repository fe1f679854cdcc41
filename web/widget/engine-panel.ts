/** What runs on the reader's machine, and how fast: found out when the panel is first opened. */
import type { TemplateResult } from 'lit';
import { selfTest } from '../core/self-test.ts';
import type { Engine, WorkerKind } from '../core/types.ts';
import { workerKind } from '../core/workers.ts';
import { engineFacts, type Speed } from '../view/engine-panel.ts';
import { measureSpeed } from './speed.ts';

export class EnginePanel {
  readonly #engine: Engine;
  readonly #onChange: () => void;
  #asked: Promise<void> | null = null;
  #workers: WorkerKind | null = null;
  /** Empty once the known answer came out right. */
  #failure: string | null = null;
  #speed: Speed | null = null;
  /** The part that is measured so far; null while nothing is. */
  #progress: number | null = null;
  #said = '';
  #aborter = new AbortController();

  constructor(engine: Engine, onChange: () => void) {
    this.#engine = engine;
    this.#onChange = onChange;
  }

  render(): TemplateResult {
    return engineFacts({
      engine: this.#engine,
      workers: this.#workers,
      failure: this.#failure,
      speed: this.#speed,
      progress: this.#progress,
      said: this.#said,
      onOpen: () => {
        this.#asked ??= this.#ask();
      },
      onMeasure: () => void this.#measure(),
      onCancel: this.cancel,
    });
  }

  readonly cancel = (): void => this.#aborter.abort();

  async #ask(): Promise<void> {
    try {
      selfTest(this.#engine);
      this.#failure = '';
    } catch (error) {
      this.#failure = (error as Error).message;
    }
    this.#workers = await workerKind(this.#engine);
    this.#onChange();
  }

  async #measure(): Promise<void> {
    this.#aborter = new AbortController();
    const { signal } = this.#aborter;
    this.#tell(0, 'Measuring.');
    try {
      this.#speed = await measureSpeed(this.#engine, signal, (part) =>
        this.#tell(part, this.#said),
      );
      this.#tell(null, 'Measured.');
    } catch (error) {
      const why = signal.aborted ? 'Cancelled' : (error as Error).message.replace(/\.$/, '');
      this.#tell(null, `${why}; nothing was measured.`);
    }
  }

  #tell(progress: number | null, said: string): void {
    this.#progress = progress;
    this.#said = said;
    this.#onChange();
  }
}
