/** The controls above the stages: example, sizes, decimals, undo and reset. */
import { html, nothing, type TemplateResult } from 'lit';
import type { PresetId } from '../lessons/presets.ts';
import type { SizeName, State } from '../state/types.ts';

export interface ControlsProps {
  readonly state: State;
  readonly examples: readonly { readonly id: PresetId; readonly name: string }[];
  readonly sizes: readonly SizeName[];
  readonly onExample: (id: PresetId) => void;
  readonly onSize: (size: SizeName, text: string) => void;
  readonly onDecimals: (text: string) => void;
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
      <select @change=${(event: Event) => props.onExample(value(event) as PresetId)}>
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
      >Decimals, at most
      <input
        type="text"
        inputmode="numeric"
        size="2"
        autocomplete="off"
        .value=${String(state.format.digits)}
        @change=${(event: Event) => props.onDecimals(value(event))}
    /></label>
    <span class="grow"></span>
    <button @click=${props.onTools}>Paste, fill, copy…</button>
    <button @click=${props.onNames}>Names…</button>
    <button ?disabled=${state.past.length === 0} @click=${props.onUndo}>Undo</button>
    <button ?disabled=${state.future.length === 0} @click=${props.onRedo}>Redo</button>
    <button @click=${props.onReset}>Reset</button>
  </div>`;
}
