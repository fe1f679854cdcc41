/** The controls above the stages: example, sizes, decimals, undo and reset. */
import { html, nothing, type TemplateResult } from 'lit';
import { stageText } from '../format/stage-text.ts';
import type { InputId, SizeName, State } from '../state/types.ts';

export interface ControlsProps {
  readonly state: State;
  readonly examples: readonly { readonly id: string; readonly name: string }[];
  readonly sizes: readonly SizeName[];
  readonly onExample: (id: string) => void;
  readonly onSize: (size: SizeName, text: string) => void;
  readonly onMode: (mode: State['format']['mode']) => void;
  readonly onDigits: (text: string) => void;
  readonly onReseed: () => void;
  readonly onTools: () => void;
  readonly onNames: () => void;
  readonly onUndo: () => void;
  readonly onRedo: () => void;
  readonly onReset: () => void;
}

const sub = (base: string, index: string) => html`${base}<sub>${index}</sub>`;
const sizeLabels: Readonly<Record<SizeName, TemplateResult>> = {
  tq: sub('T', 'q'),
  tk: sub('T', 'k'),
  dModel: sub('d', 'model'),
  dK: sub('d', 'k'),
  dV: sub('d', 'v'),
};
const sizeNames: Readonly<Record<SizeName, string>> = {
  tq: 'T q, number of queries',
  tk: 'T k, number of keys',
  dModel: 'd model, width of a token row',
  dK: 'd k, width of queries and keys',
  dV: 'd v, width of values',
};

const value = (event: Event): string => (event.target as HTMLInputElement).value;

export function controls(props: ControlsProps): TemplateResult {
  const { state } = props;
  const known = props.examples.some(({ id }) => id === state.preset);
  return html`<div class="controls" role="group" aria-label="Example and sizes">
    <label
      >Example
      <select @change=${(event: Event) => props.onExample(value(event))}>
        ${known ? nothing : html`<option selected disabled>your own numbers</option>`}
        ${props.examples.map(
          ({ id, name }) =>
            html`<option value=${id} ?selected=${id === state.preset}>${name}</option>`,
        )}
      </select></label
    >
    ${props.sizes.map(
      (size) => html`<label
        ><span>${sizeLabels[size]}</span>
        <input
          type="text"
          inputmode="numeric"
          size="3"
          autocomplete="off"
          aria-label=${sizeNames[size]}
          .value=${String(state.problem.sizes[size])}
          @change=${(event: Event) => props.onSize(size, value(event))}
      /></label>`,
    )}
    <label
      >Show
      <input
        type="text"
        inputmode="numeric"
        size="2"
        autocomplete="off"
        aria-label="How many digits"
        .value=${String(state.format.digits)}
        @change=${(event: Event) => props.onDigits(value(event))}
      />
      <select
        class="mode"
        aria-label="What the digits count"
        @change=${(event: Event) => props.onMode(value(event) as State['format']['mode'])}
      >
        <option value="decimals" ?selected=${state.format.mode === 'decimals'}>decimals at most</option>
        <option value="significant" ?selected=${state.format.mode === 'significant'}>
          significant digits
        </option>
      </select></label
    >
    ${
      Object.keys(state.problem.seeds).length > 0
        ? html`<span class="seeds">Seeds ${seedText(state.problem.seeds)}</span
            ><button @click=${props.onReseed}>Next seeds</button>`
        : nothing
    }
    <span class="grow"></span>
    <button @click=${props.onTools}>Paste, fill, copy…</button>
    <button @click=${props.onNames}>Names…</button>
    <button ?disabled=${state.past.length === 0} @click=${props.onUndo}>Undo</button>
    <button ?disabled=${state.future.length === 0} @click=${props.onRedo}>Redo</button>
    <button @click=${props.onReset}>Reset</button>
  </div>`;
}

const seedText = (seeds: State['problem']['seeds']): string =>
  Object.entries(seeds)
    .map(([id, seed]) => `${stageText[id as InputId].symbol} ${seed}`)
    .join(', ');
