/** The panel that says which engine runs, where, and how fast it is on this machine. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Build, Engine, WorkerKind } from '../core/types.ts';
import { percentText } from '../format/number-text.ts';

/** What was measured: medians over the turns. */
export interface Speed {
  /** Queries, keys and their width. */
  readonly tokens: number;
  readonly width: number;
  readonly turns: number;
  /** Operations in a second: of the engine, of multiply-adds alone, and of a plain loop. */
  readonly engine: number;
  readonly peak: number;
  readonly loop: number;
}

export interface EnginePanelProps {
  readonly engine: Engine;
  /** Null until it is known. */
  readonly workers: WorkerKind | null;
  /** Why the self-test failed; empty when it passed, null before it ran. */
  readonly failure: string | null;
  readonly speed: Speed | null;
  readonly progress: number | null;
  readonly said: string;
  readonly onOpen: () => void;
  readonly onMeasure: () => void;
  readonly onCancel: () => void;
}

const builds: Readonly<Record<Build, string>> = {
  relaxed: 'relaxed: four numbers at a time, a multiplication and an addition in one instruction',
  simd128: 'simd128: four numbers at a time, a multiplication and an addition in two instructions',
};

const places: Readonly<Record<WorkerKind, string>> = {
  url: 'in web workers, from the address of their script',
  blob: 'in web workers, from a copy of their script: its address is refused here',
  slices: 'on this page, in slices: web workers are refused here',
};

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 10)} kB`;
const billions = (rate: number): string => (rate / 1e9).toPrecision(3);

export function engineFacts(props: EnginePanelProps): TemplateResult {
  const { engine, workers, failure, onOpen } = props;
  const { inUse, total } = engine.memory();
  const fact = (name: string, text: unknown) => html`<dt>${name}</dt>
    <dd>${text}</dd>`;
  return html`<div class="wrap"><details class="engine" @toggle=${onOpen}>
    <summary>Engine</summary>
    <dl>
      ${fact('Build', builds[engine.build])}
      ${engine.fallbackReason ? fact('Why this build', engine.fallbackReason) : nothing}
      ${fact('Version', engine.version)}
      ${fact('Self-test', failure || (failure === '' ? 'passed: a known answer came out right within 0.000001' : 'running'))}
      ${fact('Long work', workers ? places[workers] : 'starting a worker to find out')}
      ${fact('Memory', `${kilobytes(total)} of WebAssembly, ${kilobytes(inUse)} of it in use`)}
    </dl>
    ${speedOf(props)}
  </details></div>`;
}

function speedOf({ engine, speed, progress, said, onMeasure, onCancel }: EnginePanelProps) {
  return html`<p>
      ${
        progress === null
          ? html`<button @click=${onMeasure}>
              ${speed ? 'Measure the speed again' : 'Measure the speed here'}
            </button>`
          : html`<progress aria-label="Measuring the speed" .value=${progress}></progress>
              <button @click=${onCancel}>Cancel</button>`
      }
      <span role="status">${said}</span>
    </p>
    ${
      speed
        ? html`<div class="together">
              <table class="bars">
                <caption>
                  Operations on one thread: attention of ${speed.tokens} queries over
                  ${speed.tokens} keys of width ${speed.width}
                </caption>
                <thead>
                  <tr>
                    <td></td>
                    <th scope="col">billions a second</th>
                    <th scope="col">share of the peak</th>
                  </tr>
                </thead>
                <tbody>
                  ${row(`This engine (${engine.build})`, speed.engine, percentText(speed.engine / speed.peak))}
                  ${row('Peak: multiplying and adding alone', speed.peak, '100 %')}
                  ${row('A plain JavaScript loop', speed.loop, percentText(speed.loop / speed.peak))}
                </tbody>
              </table>
            </div>
            <p class="note">
              Here the engine is ${(speed.engine / speed.loop).toPrecision(2)} times as fast as the loop. SIMD works on
              four numbers at a time, and the engine keeps many sums in registers, so that each number
              it loads is used several times. The peak is what this build reaches here with nothing to
              load or store. Exponentials are not counted as operations. Each figure is the median of ${speed.turns}
              turns; other programs on the machine make all of them smaller.
            </p>`
        : nothing
    }`;
}

const row = (name: string, rate: number, share: string) =>
  html`<tr>
    <th scope="row">${name}</th>
    <td>${billions(rate)}</td>
    <td>${share}</td>
  </tr>`;
