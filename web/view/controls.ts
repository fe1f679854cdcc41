/** The controls above the stages: example, sizes, decimals, undo and reset. */
import { html, noChange, nothing, type TemplateResult } from 'lit';
import { fullPrecision } from '../format/number-text.ts';
import { stageText } from '../format/stage-text.ts';
import {
  type FieldName,
  fieldKey,
  type InputId,
  type Shown,
  type SizeName,
  type State,
  sizeNames,
} from '../state/types.ts';
import { fieldValue } from './field-value.ts';
import { live } from './live.ts';

export interface ControlsProps {
  readonly state: State;
  readonly examples: readonly { readonly id: string; readonly name: string }[];
  readonly sizes: readonly SizeName[];
  readonly onExample: (id: string) => void;
  /** With X and no context there are as many keys as queries. */
  readonly keysFollow: boolean;
  readonly onField: (field: FieldName, text: string) => void;
  readonly onMode: (mode: State['format']['mode']) => void;
  readonly shown: Shown;
  readonly onShow: (shown: Partial<Shown>) => void;
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
  batch: html`Batches B`,
  heads: html`Query heads H`,
  kvHeads: html`Key/value heads G`,
};
const sizeTitles: Readonly<Record<SizeName, string>> = {
  tq: 'T q, number of queries',
  tk: 'T k, number of keys',
  dModel: 'd model, width of a token row',
  dK: 'd k, width of queries and keys',
  dV: 'd v, width of values',
  batch: 'B, batch size',
  heads: 'H, number of query heads',
  kvHeads: 'G, number of key and value heads',
};

const value = (event: Event): string => (event.target as HTMLInputElement).value;

export function controls(props: ControlsProps): TemplateResult {
  const { state } = props;
  const { scale } = state.problem;
  // They stay reachable: a button that is disabled by its own press drops the focus.
  const [noPast, noFuture] = [state.past, state.future].map(({ length }) => length === 0);
  return html`<div class="controls" role="group" aria-label="Example and sizes">
    <label
      >Example
      <select @change=${(event: Event) => props.onExample(value(event))}>
        ${props.examples.map(
          ({ id, name }) =>
            html`<option value=${id} .selected=${live(id === state.preset)}>${name}</option>`,
        )}
      </select></label
    >
    ${props.sizes.map((size) =>
      size === 'tk' && props.keysFollow
        ? html`<span class="follows">${sizeLabels.tk} = ${state.problem.sizes.tk}, follows ${sizeLabels.tq}</span>`
        : html`<label
            ><span>${sizeLabels[size]}</span>
            ${field(props, size, String(state.problem.sizes[size]), sizeTitles[size])}</label
          >`,
    )}
    <label
      >Scale ${field(props, 'scale', scale === null ? '' : fullPrecision(scale), 'Scale, empty for 1 over the root of d k', '1/√dₖ')}</label
    >
    <label
      >Show ${field(props, 'digits', String(state.format.digits), 'How many digits')}
      <select
        class="mode"
        aria-label="What the digits count"
        @change=${(event: Event) => props.onMode(value(event) as State['format']['mode'])}
      >
        <option value="decimals" .selected=${live(state.format.mode === 'decimals')}>decimals at most</option>
        <option value="significant" .selected=${live(state.format.mode === 'significant')}>
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
    ${more(props)}
    <span class="actions"
    ><button @click=${props.onTools}>Paste, fill, copy…</button>
    <button @click=${props.onNames}>Names…</button>
    <button aria-disabled=${noPast} @click=${noPast ? null : props.onUndo}>Undo</button>
    <button aria-disabled=${noFuture} @click=${noFuture ? null : props.onRedo}>Redo</button>
    <button @click=${props.onReset}>Reset</button></span>
    </div>
    ${fieldNames
      .map((name) => ({ name, draft: state.drafts[fieldKey(name)] }))
      .filter(({ draft }) => draft)
      .map(
        ({ name, draft }) =>
          html`<p class="complaint" id=${`${name}-error`} role="alert">
            ${draft?.message} The old number is kept.
          </p>`,
      )}`;
}

/** Batch, heads and softcap: open where they are used, and closed by hand only. */
function more(props: ControlsProps): TemplateResult {
  const { state, shown, onShow } = props;
  const { sizes, softcap } = state.problem;
  const used = sizes.batch > 1 || sizes.heads > 1 || softcap !== null;
  const selector = (name: 'batch' | 'head', label: string, count: number) =>
    count > 1
      ? html`<label
          >${label}
          <select
            class="mode"
            @change=${(event: Event) => onShow({ [name]: Number(value(event)) })}
          >
            ${[...Array(count).keys()].map(
              (index) =>
                html`<option value=${index} .selected=${live(index === shown[name])}>${index}</option>`,
            )}
          </select></label
        >`
      : nothing;
  return html`<details class="more" ?open=${used || noChange}>
    <summary>Batch, heads, softcap</summary>
    <div class="more-row">
      ${(['batch', 'heads', 'kvHeads'] as const).map(
        (size) => html`<label
          ><span>${sizeLabels[size]}</span>
          ${field(props, size, String(sizes[size]), sizeTitles[size])}</label
        >`,
      )}
      <label
        >Softcap
        ${field(props, 'softcap', softcap === null ? '' : fullPrecision(softcap), 'Softcap, empty for none', 'none')}</label
      >
      ${selector('batch', 'Show batch', sizes.batch)} ${selector('head', 'Show head', sizes.heads)}
    </div>
  </details>`;
}

const fieldNames: readonly FieldName[] = [...sizeNames, 'scale', 'softcap', 'digits'];

/** A field to type a number in; what could not be taken stays in it. */
function field(
  { state, onField }: ControlsProps,
  name: FieldName,
  text: string,
  label: string,
  placeholder = '',
): TemplateResult {
  const draft = state.drafts[fieldKey(name)];
  return html`<input
    type="text"
    inputmode=${name === 'scale' || name === 'softcap' ? 'text' : 'numeric'}
    autocomplete="off"
    placeholder=${placeholder}
    aria-label=${label}
    aria-invalid=${draft ? 'true' : nothing}
    aria-describedby=${draft ? `${name}-error` : nothing}
    ${fieldValue(draft?.text ?? text)}
    @change=${(event: Event) => onField(name, value(event))}
  />`;
}

const seedText = (seeds: State['problem']['seeds']): string =>
  Object.entries(seeds)
    .map(([id, seed]) => `${stageText[id as InputId].symbol} ${seed}`)
    .join(', ');
