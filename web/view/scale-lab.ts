/** Why √d_k: one row of scores and weights with the division and without it, side by side. */
import { html, nothing, type TemplateResult } from 'lit';
import type { RowNumbers, RowStatistics, RowsSummary } from '../core/types.ts';
import type { Scale } from '../format/colour.ts';
import { colourOf } from '../format/colour.ts';
import { shortText } from '../format/matrix-text.ts';
import { formatNumber, type NumberFormat, percentText } from '../format/number-text.ts';
import { mostLabWidth, type ScaleLab } from '../state/types.ts';
import { cssProps } from './css-props.ts';
import { fieldValue } from './field-value.ts';
import { live } from './live.ts';
import { overflowSign } from './overflow-sign.ts';

/** One of the two ways: the row that is shown and what the core says of it. */
export interface LabSide {
  readonly scores: readonly number[];
  readonly weights: readonly number[];
  readonly statistics: RowStatistics;
  /** Of all its rows. */
  readonly summary: RowsSummary;
}

export interface NamedSummary {
  readonly name: string;
  readonly summary: RowsSummary;
}

export interface ScaleLabProps {
  readonly lab: ScaleLab;
  /** Key width of what is compared; the slider sets it for random numbers. */
  readonly dK: number;
  readonly rows: readonly string[];
  readonly keys: readonly string[];
  readonly raw: LabSide;
  readonly scaled: LabSide;
  /** The page's own weights, by head and batch. */
  readonly own: readonly NamedSummary[];
  /** The one scale of both columns of scores. */
  readonly scale: Scale;
  readonly format: NumberFormat;
  readonly message: string;
  readonly onLab: (lab: Partial<ScaleLab>) => void;
  readonly onSeedText: (text: string) => void;
  readonly onWidthText: (text: string) => void;
}

/** The slider moves evenly through doublings: 0 is 1, 9 is 512. */
const doublings = Math.log2(mostLabWidth);
const sliderStep = 0.125;
const widthAt = (position: number): number => Math.round(2 ** position);

const value = (event: Event): string => (event.target as HTMLInputElement).value;

export function scaleLab(props: ScaleLabProps): TemplateResult {
  const { lab, dK, raw, scaled, onLab } = props;
  return html`
    <div class="lab-controls">
      <fieldset class="choice">
        <legend>Compare</legend>
        ${source(props, 'random', 'random queries and keys')}
        ${source(props, 'given', 'the numbers above')}
      </fieldset>
      ${
        lab.source === 'random'
          ? html`<div class="slider">
              <label for="lab-width">d<sub>k</sub> = </label>
              <input
                class="width"
                type="text"
                inputmode="numeric"
                size="3"
                autocomplete="off"
                aria-label="d k, width of queries and keys"
                ${fieldValue(String(dK))}
                @change=${(event: Event) => props.onWidthText(value(event))}
              />
              <input
                id="lab-width"
                type="range"
                min="0"
                max=${doublings}
                step=${sliderStep}
                aria-label="d k from 1 to ${mostLabWidth}"
                aria-valuetext=${`d k = ${dK}`}
                .value=${String(Math.log2(dK))}
                @input=${(event: Event) => onLab({ dK: widthAt(Number(value(event))) })}
              />
              <label
                >Seed
                <input
                  type="text"
                  inputmode="numeric"
                  size="5"
                  autocomplete="off"
                  ${fieldValue(String(lab.seed))}
                  @change=${(event: Event) => props.onSeedText(value(event))}
              /></label>
              <button type="button" @click=${() => onLab({ seed: (lab.seed + 1) % 2 ** 32 })}>Next seed</button>
            </div>`
          : nothing
      }
      <label
        >Query
        <select @change=${(event: Event) => onLab({ row: Number(value(event)) })}>
          ${props.rows.map(
            (name, row) =>
              html`<option value=${row} .selected=${live(row === lab.row)}>${name}</option>`,
          )}
        </select></label
      >
    </div>
    ${props.message ? html`<p class="complaint" role="alert">${props.message}</p>` : nothing}
    <div class="pair">
      ${side('Without the division', raw, props)} ${side('Divided by √d_k', scaled, props)}
    </div>
    <p class="legend">
      Both columns of scores are drawn on one scale from ${shortText(-props.scale.limit, props.format)}
      to ${shortText(props.scale.limit, props.format)}; weights run from 0 to 1.
    </p>
    ${together(props)}
    <p class="note">
      ${
        lab.source === 'random'
          ? html`Every entry of q and k is drawn independently from N(0, 1), so a raw score has variance
            d<sub>k</sub> = ${dK} and standard deviation √${dK}; a divided one has variance 1.`
          : html`These are the page’s own Q and K, of the head that is shown, with √d<sub>k</sub> = √${dK}:
            another scale, a softcap or a mask that is set above plays no part here.`
      }
      Only the gaps within a row decide the weights. The Jacobian norm says how much the weights can
      still move when the scores do; compare it only between rows with as many keys.
    </p>
  `;
}

function source(
  { lab, onLab }: ScaleLabProps,
  choice: ScaleLab['source'],
  label: string,
): TemplateResult {
  return html`<label
    ><input
      type="radio"
      name="lab-source"
      .checked=${lab.source === choice}
      @change=${() => onLab({ source: choice, row: 0 })}
    />
    ${label}</label
  >`;
}

function side(title: string, { scores, weights, statistics }: LabSide, props: ScaleLabProps) {
  const { format, keys, scale } = props;
  const figure = (name: string, text: string) => html`<dt>${name}</dt><dd>${text}</dd>`;
  return html`<div class="side">
    <h3>${title === 'Divided by √d_k' ? html`Divided by √d<sub>k</sub>` : title}</h3>
    <table class="bars" aria-label=${`${title}: scores and weights of the row`}>
      <thead>
        <tr><th scope="col">key</th><th scope="col">score</th><th scope="col">weight</th><td></td></tr>
      </thead>
      <tbody>
        ${keys.map((key, index) => {
          const score = scores[index] ?? 0;
          const weight = weights[index] ?? 0;
          return html`<tr>
            <th scope="row">${key}</th>
            <td ${cssProps({ 'background-color': colourOf(score, scale) })}>
              ${shortText(score, { mode: 'decimals', digits: 2 })}
            </td>
            <td>${formatNumber(weight, format)}</td>
            <td class="bar-cell"><i ${cssProps({ width: `${100 * weight}%` })}></i></td>
          </tr>`;
        })}
      </tbody>
    </table>
    <dl>
      ${figure('largest weight', percentText(statistics.maximum))}
      ${figure('entropy', `${formatNumber(statistics.entropy, format)} nats`)}
      ${figure('effective keys', formatNumber(statistics.effectiveKeys, { mode: 'decimals', digits: 2 }))}
      ${figure('Jacobian norm', formatNumber(statistics.jacobianNorm, format))}
    </dl>
  </div>`;
}

const figures: readonly (readonly [
  string,
  keyof RowNumbers,
  (n: number, f: NumberFormat) => string,
])[] = [
  ['largest weight', 'maximum', (n) => percentText(n)],
  ['entropy in nats', 'entropy', formatNumber],
  ['effective keys', 'effectiveKeys', (n) => formatNumber(n, { mode: 'decimals', digits: 2 })],
  ['Jacobian norm', 'jacobianNorm', formatNumber],
];

/** All rows of each side, and of the page's own weights, in one line each. */
function together({ raw, scaled, own, format }: ScaleLabProps): TemplateResult {
  const lines = [
    { name: 'Without the division', summary: raw.summary },
    { name: 'Divided by √d_k', summary: scaled.summary },
    ...own,
  ];
  const text = (numbers: RowNumbers, [, name, write]: (typeof figures)[number]) =>
    Number.isNaN(numbers[name]) ? '–' : write(numbers[name], format);
  return html`<div class="scroll together" role="region" aria-label="All queries together" tabindex="0" ${overflowSign()}>
    <table class="bars">
      <caption>All queries together: mean (largest)</caption>
      <thead>
        <tr>
          <td></td>
          <th scope="col">queries</th>
          ${figures.map(([title]) => html`<th scope="col">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          ({ name, summary: { rows, empty, mean, largest } }) => html`<tr>
            <th scope="row">${name}</th>
            <td>${rows}${empty > 0 ? `, ${empty} of them without a key` : ''}</td>
            ${figures.map((figure) => html`<td>${text(mean, figure)} (${text(largest, figure)})</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
