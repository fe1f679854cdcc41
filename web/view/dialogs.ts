/** The dialogs: a matrix pasted, filled or copied as a whole, and the names of tokens and features. */

import { html, nothing, type TemplateResult } from 'lit';
import type { StageId } from '../core/types.ts';
import type { NamedAxis, Names } from '../state/types.ts';
import { fieldValue } from './field-value.ts';
import { live } from './live.ts';

export type CopyFormat = 'csv' | 'numpy' | 'latex';
export type FillName = 'zeros' | 'ones' | 'identity';

export interface MatrixDialogProps {
  /** The matrices that can be chosen, and the chosen one. */
  readonly matrices: readonly { readonly id: StageId; readonly label: string }[];
  readonly stage: StageId;
  readonly editable: boolean;
  readonly text: string;
  /** What the text was taken for, or what is wrong with it; null while it is empty. */
  readonly reading: { readonly ok: boolean; readonly message: string } | null;
  /** The first cells of what would be taken. */
  readonly preview: readonly (readonly string[])[];
  readonly previewCut: boolean;
  /** What the button says, sizes that change included; null when there is nothing to take. */
  readonly take: string | null;
  readonly seed: string;
  readonly copied: string;
  /** The text that was copied, shown where the clipboard could not be written. */
  readonly copyText: string;
  readonly onStage: (stage: StageId) => void;
  readonly onText: (text: string) => void;
  readonly onTake: () => void;
  readonly onFill: (fill: FillName) => void;
  readonly onSeed: (text: string) => void;
  readonly onDraw: () => void;
  readonly onCopy: (format: CopyFormat) => void;
  readonly onClose: () => void;
}

const value = (event: Event): string => (event.target as HTMLInputElement).value;

const copyNames: Readonly<Record<CopyFormat, string>> = {
  csv: 'CSV',
  numpy: 'NumPy',
  latex: 'LaTeX',
};

function frame(title: string, body: unknown, onClose: () => void): TemplateResult {
  return html`<dialog class="dialog" aria-labelledby="dialog-title" @close=${onClose}>
    <form method="dialog" class="dialog-head">
      <h2 id="dialog-title">${title}</h2>
      <button>Close</button>
    </form>
    ${body}
  </dialog>`;
}

export function matrixDialog(props: MatrixDialogProps): TemplateResult {
  return frame(
    'Paste, fill or copy a matrix',
    html`<div class="dialog-part">
        <label
          >Matrix
          <select @change=${(event: Event) => props.onStage(value(event) as StageId)}>
            ${props.matrices.map(
              ({ id, label }) =>
                html`<option value=${id} .selected=${live(id === props.stage)}>${label}</option>`,
            )}
          </select></label
        >
      </div>
      ${props.editable ? giveSection(props) : nothing}
      <div class="dialog-part">
        <h3>Copy as</h3>
        <p class="buttons">
          ${(Object.keys(copyNames) as CopyFormat[]).map(
            (format) =>
              html`<button type="button" @click=${() => props.onCopy(format)}>${copyNames[format]}</button>`,
          )}
        </p>
        <p role="status">${props.copied}</p>
        ${
          props.copyText
            ? html`<textarea readonly rows="5" aria-label="Text to copy" .value=${props.copyText}></textarea>`
            : nothing
        }
      </div>`,
    props.onClose,
  );
}

function giveSection(props: MatrixDialogProps): TemplateResult {
  const { reading, preview } = props;
  return html`<div class="dialog-part">
      <label
        ><h3>Paste or type the whole matrix</h3>
        <span class="hint"
          >NumPy, Python, PyTorch, MATLAB, CSV, a spreadsheet’s cells, JSON or LaTeX.</span
        >
        <textarea
          rows="5"
          spellcheck="false"
          autocomplete="off"
          placeholder="[[1, 0.5], [-2, 1/3]]"
          aria-describedby="dialog-reading"
          .value=${props.text}
          @input=${(event: Event) => props.onText(value(event))}
        ></textarea>
      </label>
      <p id="dialog-reading" role="status" class=${reading && !reading.ok ? 'complaint' : 'reading'}>
        ${reading?.message ?? ''}
      </p>
      ${
        preview.length > 0
          ? html`<table class="preview" aria-label="The first numbers as they were understood">
              <tbody>
                ${preview.map(
                  (row) => html`<tr>
                    ${row.map((text) => html`<td>${text}</td>`)}
                  </tr>`,
                )}
              </tbody>
            </table>
            ${props.previewCut ? html`<p class="hint">Only the first rows and columns are shown.</p>` : nothing}`
          : nothing
      }
      ${
        props.take
          ? html`<p class="buttons">
              <button type="button" class="strong" @click=${props.onTake}>${props.take}</button>
            </p>`
          : nothing
      }
    </div>
    <div class="dialog-part">
      <h3>Fill with</h3>
      <p class="buttons">
        <button type="button" @click=${() => props.onFill('zeros')}>Zeros</button>
        <button type="button" @click=${() => props.onFill('ones')}>Ones</button>
        <button type="button" @click=${() => props.onFill('identity')}>Identity</button>
      </p>
      <p class="buttons">
        <label
          >Normal N(0, 1), seed
          <input
            type="text"
            inputmode="numeric"
            size="6"
            autocomplete="off"
            ${fieldValue(props.seed)}
            @input=${(event: Event) => props.onSeed(value(event))}
        /></label>
        <button type="button" @click=${props.onDraw}>Draw</button>
      </p>
    </div>`;
}

export interface NamesDialogProps {
  readonly names: Names;
  readonly axes: readonly NamedAxis[];
  /** Whether keys have the names of the queries; null where they cannot have others or the same. */
  readonly same: boolean | null;
  readonly onSame: (same: boolean) => void;
  readonly onNames: (axis: NamedAxis, text: string) => void;
  readonly onClose: () => void;
}

const axisTitles: Readonly<Record<NamedAxis, string>> = {
  query: 'Query tokens',
  key: 'Key tokens',
  model: 'Dials (columns of X)',
  feature: 'Features (columns of Q and K)',
  value: 'Value numbers (columns of V)',
};

export function namesDialog(props: NamesDialogProps): TemplateResult {
  return frame(
    'Names',
    html`<div class="dialog-part">
      <p class="hint">Separate names by commas; what has no name shows its number, counted from 0.</p>
      ${props.axes.map(
        (axis) => html`<label class="stacked"
          >${axisTitles[axis]}
          <input
            type="text"
            autocomplete="off"
            .value=${(props.names[axis] ?? []).join(', ')}
            @change=${(event: Event) => props.onNames(axis, value(event))}
        /></label>${
          axis === 'query' && props.same !== null
            ? html`<label class="stacked-box"
                ><input
                  type="checkbox"
                  .checked=${live(props.same)}
                  @change=${() => props.onSame(!props.same)}
                />
                Keys have the same names</label
              >`
            : nothing
        }`,
      )}
    </div>`,
    props.onClose,
  );
}
