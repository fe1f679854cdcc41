/** "Why this number": the panel that explains the active cell. */
import { html, nothing, type TemplateResult } from 'lit';
import type { CellRef, StageId } from '../core/types.ts';
import type { Explanation } from '../format/explain.ts';
import { fieldValue } from './field-value.ts';
import { symbolMath } from './formula.ts';

export interface InspectorProps {
  readonly id: string;
  readonly cell: CellRef;
  readonly explanation: Explanation;
  /** The scale that was set, null for the default 1/√d_k. */
  readonly scale: string | null;
  readonly pinned: boolean;
  /** A text is being typed into a cell that Escape would take back. */
  readonly typed: boolean;
  /** Cells that this number goes into next. */
  readonly next: { readonly cell: CellRef; readonly text: string } | null;
  readonly onGo: (cell: CellRef) => void;
  readonly editable: boolean;
  /** Set where the cell is drawn, not written, and its number can be changed here. */
  readonly edit: { readonly text: string; readonly message: string } | null;
  readonly onEdit: (cell: CellRef, text: string) => void;
  /** The matrices that the number is made from. */
  readonly from: readonly { readonly cell: CellRef; readonly text: string }[];
  readonly onTools: (stage: StageId) => void;
  readonly onRelease: (event: Event) => void;
}

/** A press on its text gives it the focus, which tells that from a press outside it. */
export function inspector(props: InspectorProps): TemplateResult {
  const { cell, explanation, pinned, next } = props;
  return html`<aside
    class="inspect"
    tabindex="-1"
    aria-label="Why this number"
    @keydown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !pinned) return;
      event.stopPropagation();
      props.onRelease(event);
    }}
  >
    <p class="eyebrow">Why this number${pinned ? html` <span class="pin">pinned</span>` : nothing}</p>
    <div id=${props.id}>
              <p class="who">
                ${symbolMath(cell.stage, props.scale)}<sub>${explanation.subscript}</sub>
                <span class="value">= ${explanation.value}</span>
              </p>
              ${explanation.arithmetic.map(
                (line) =>
                  html`<p class="arith">${line.map((piece) =>
                    piece.strong
                      ? html`<b>${piece.text}</b>`
                      : html`<span class=${piece.identity ?? nothing}>${piece.text}</span>`,
                  )}</p>`,
              )}
              <p class="sentence">${explanation.sentence}</p>
            </div>
            ${props.edit ? editField(cell, props.edit, props.onEdit) : nothing}
            ${
              props.from.length > 0
                ? html`<p class="next">
                    From:
                    ${props.from.map(
                      (origin, index) =>
                        html`${index > 0 ? ', ' : ''}<button
                            class="link"
                            @click=${() => props.onGo(origin.cell)}
                          >${origin.text}</button>`,
                    )}
                  </p>`
                : nothing
            }
            ${
              next
                ? html`<p class="next">
                    Next: <button class="link" @click=${() => props.onGo(next.cell)}>${next.text}</button>
                  </p>`
                : nothing
            }
            <p><button class="link" @click=${() => props.onTools(cell.stage)}>${props.editable ? 'Paste, fill or copy' : 'Copy'} this matrix…</button></p>
            ${pinned ? html`<button class="release" @click=${props.onRelease}>Let go</button>` : nothing}
    <p class="keys">
      ${
        props.typed
          ? html`<kbd>Enter</kbd> take it <kbd>Tab</kbd> next number <kbd>Esc</kbd> take back what
              was typed`
          : html`<kbd>←↑↓→</kbd> move <kbd>Enter</kbd> pin, again: come here <kbd>Esc</kbd> let go`
      }
    </p>
  </aside>`;
}

function editField(
  cell: CellRef,
  { text, message }: { readonly text: string; readonly message: string },
  onEdit: InspectorProps['onEdit'],
): TemplateResult {
  return html`<label class="edit-field"
      >Number
      <input
        type="text"
        autocomplete="off"
        spellcheck="false"
        aria-invalid=${message ? 'true' : nothing}
        ${fieldValue(text)}
        @change=${(event: Event) => onEdit(cell, (event.target as HTMLInputElement).value)}
    /></label>
    ${message ? html`<p class="complaint" role="alert">${message} The old number is kept.</p>` : nothing}`;
}
