/** One matrix: caption, axis labels and a grid of cells that can be edited, pinned and explained. */
import { html, noChange, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import type { CellRef, StageId, StageInfo, StageShape } from '../core/types.ts';
import { colourOf, type Scale } from '../format/colour.ts';
import { matrixTexts, shortText, widestText } from '../format/matrix-text.ts';
import type { NumberFormat } from '../format/number-text.ts';
import {
  axisName,
  indexLabel,
  indexPhrase,
  type Labels,
  nameOf,
  stageText,
} from '../format/stage-text.ts';
import { type Draft, draftKey } from '../state/types.ts';
import { type CssProps, cssProps } from './css-props.ts';
import type { Box } from './heat-view.ts';
import { live } from './live.ts';
import { overflowSign } from './overflow-sign.ts';

/** What every matrix on the page is drawn with. */
export interface MatrixContext {
  readonly labels: Labels;
  /** Query heads. */
  readonly heads: number;
  readonly format: NumberFormat;
  readonly drafts: Readonly<Record<string, Draft>>;
  /** The cell that is explained now. */
  readonly active: CellRef | null;
  readonly pinned: boolean;
  /** Cells that go into it: `stage row col` keys as of draftKey, and their box in each stage. */
  readonly operands: ReadonlySet<string>;
  readonly operandBoxes: ReadonlyMap<StageId, Box>;
  /** Draws a matrix that is too large for numbers, once that part is loaded. */
  readonly coloured: ((props: MatrixProps, context: MatrixContext) => TemplateResult) | null;
  /** Rises when the numbers behind the views change. */
  readonly revision: number;
  /** The scale that a stage is coloured by where it is drawn as a heat map. */
  readonly scaleOf: (stage: StageId) => Scale;
  readonly onHover: (cell: CellRef) => void;
  /** `place` remembers it as the cell that Tab comes back to. */
  readonly onFocus: (cell: CellRef, place: string) => void;
  readonly onPin: (cell: CellRef) => void;
  readonly onEnter: (cell: CellRef) => void;
  readonly onRelease: () => void;
  /** The cell whose text is being typed: its input is left alone. */
  readonly editing: { readonly place: string; readonly key: string } | null;
  /** The cell of each matrix that Tab reaches. */
  readonly stops: ReadonlyMap<string, string>;
  /** Id of the element that explains the active cell, for screen readers. */
  readonly explanationId: string;
}

export interface MatrixProps {
  /** Unique on the page: section and stage. */
  readonly place: string;
  readonly info: StageInfo;
  readonly shape: StageShape;
  readonly values: Float32Array;
  /** Which of the stage's matrices this is. */
  readonly batch: number;
  readonly head: number;
  readonly formula: TemplateResult;
  readonly editable?: boolean;
  /** A click or Space turns the cell between hidden and shown. */
  readonly paintable?: boolean;
  readonly scale?: Scale;
  /** Width of the cells in characters, where it is to agree with another matrix. */
  readonly chars?: number;
  /** Row names may be hidden where a neighbour to the left shows the same ones. */
  readonly bare?: boolean;
}

export function matrix(props: MatrixProps, context: MatrixContext): TemplateResult {
  const { place, info, shape } = props;
  const { id } = info;
  const { identity } = stageText[id];
  const axes =
    info.cols === 'one' ? axisName[info.rows] : `${axisName[info.rows]} × ${axisName[info.cols]}`;
  return html`<figure
    class=${`matrix ${identity}${props.bare ? ' bare' : ''}`}
    data-stage=${id}
    data-place=${place}
    data-batch=${props.batch}
    data-head=${props.head}
  >
    <figcaption id=${`${place}-caption`}>
      <span class="symbol">${props.formula}</span>
      <span class="name">${nameOf(id, context.heads)}</span>
      <span class="shape">${shape.rows} × ${shape.cols}</span>
      <span class="axes">${axes}</span>
      ${whichText(props) ? html`<span class="which">${whichText(props)}</span>` : nothing}
    </figcaption>
    ${
      isWritten(shape)
        ? numbers(props, context)
        : (context.coloured?.(props, context) ??
          html`<p class="waiting">The heat map is loading.</p>`)
    }
  </figure>`;
}

/** `batch 0, head 1`, where there is more than one. */
function whichText({ shape, batch, head, info }: MatrixProps): string {
  const name = info.perHead === 'kvHeads' ? 'key/value head' : 'head';
  return [
    shape.batch > 1 ? `batch ${batch}` : '',
    shape.heads > 1 ? `${name} ${head} of ${shape.heads}` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** More rows or columns than this are drawn, not written. */
const mostNumbers = 16;

/** Whether a matrix of this shape is written as numbers. */
export const isWritten = ({ rows, cols }: StageShape): boolean =>
  rows <= mostNumbers && cols <= mostNumbers;

function numbers(props: MatrixProps, context: MatrixContext): TemplateResult {
  const { place, info, shape, values } = props;
  const texts = matrixTexts(values, context.format);
  const rows = [...Array(shape.rows).keys()];
  const cols = [...Array(shape.cols).keys()];
  return html`<div class="scroll" ${cssProps({ '--chars': String(props.chars ?? widestText(texts)) })} ${overflowSign()}><table role="grid" aria-labelledby=${`${place}-caption`}>
      <thead>
        <tr>
          <td></td>
          ${
            info.cols === 'one'
              ? html`<td></td>`
              : cols.map(
                  (col) => html`<th scope="col">${indexLabel(info.cols, col, context.labels)}</th>`,
                )
          }
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => {
          const first = row * shape.cols;
          const rowTexts = texts.slice(first, first + shape.cols);
          return guard(
            drawnFrom(props, context, rowTexts, row),
            () => html`<tr>
            <th scope="row"><span>${indexLabel(info.rows, row, context.labels)}</span></th>
            ${rowTexts.map((text, col) => cell(props, context, text, row, col))}
          </tr>`,
          );
        })}
      </tbody>
    </table></div>`;
}

/** All that a row is drawn from: of thousands of cells a typed number changes few. */
function drawnFrom(
  { place, info, shape, values, batch, head, editable, paintable, scale }: MatrixProps,
  { active, pinned, editing, labels, drafts, stops, operandBoxes, operands }: MatrixContext,
  texts: readonly string[],
  row: number,
): unknown[] {
  const first = row * shape.cols;
  return [
    ...texts,
    ...(scale ? values.subarray(first, first + shape.cols) : []),
    ...[place, shape.rows, batch, head, editable, paintable, scale?.limit],
    ...[labels, editable && drafts, editing?.place === place && editing.key, stops.get(place)],
    ...[active?.row === row && cellKey(active), pinned, operandBoxes.has(info.id) && operands],
  ];
}

/** A colour scale with the numbers at its ends; `full` for heat maps, which use all of the colour. */
export function legend(
  scale: Scale,
  format: NumberFormat,
  title: unknown,
  full = false,
): TemplateResult {
  const end = shortText(scale.limit, format);
  const low = scale.kind === 'signed' && scale.limit > 0 ? shortText(-scale.limit, format) : '0';
  return html`<p class="legend">
    <span class="low">${low}</span
    ><span class="ramp" role="img" aria-label=${`Colour scale from ${low} to ${end}`}
      >${(scale.kind === 'signed' ? [-1, -0.5, 0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map(
        (part) =>
          html`<i ${cssProps({ 'background-color': colourOf(part * scale.limit, scale, full ? 1 : undefined) })}></i>`,
      )}</span
    ><span class="high">${end}</span> <span class="what">${title}</span>
  </p>`;
}

function cell(
  props: MatrixProps,
  context: MatrixContext,
  text: string,
  row: number,
  col: number,
): TemplateResult {
  const { place, info, shape, batch, head } = props;
  const key = draftKey(info.id, row, col, batch, head);
  const active = context.active !== null && cellKey(context.active) === key;
  const draft = props.editable ? context.drafts[key] : undefined;
  const stop = (context.stops.get(place) ?? '0 0') === `${row} ${col}` ? 0 : -1;
  const classes = [
    col === 0 ? 'first' : '',
    col === shape.cols - 1 ? 'last' : '',
    row === 0 ? 'top' : '',
    row === shape.rows - 1 ? 'bottom' : '',
    props.editable ? 'edit' : '',
    active ? 'active' : '',
    active && context.pinned ? 'pinned' : '',
    props.paintable ? 'paint' : '',
    ...operandClasses(context.operands, props, row, col),
  ];
  const className = classes.filter(Boolean).join(' ');
  const described = active ? context.explanationId : nothing;
  if (props.editable) {
    const typing = context.editing?.place === place && context.editing.key === key;
    const name = `${stageText[info.id].symbol}, ${indexPhrase(info.rows, row, context.labels)}, ${indexPhrase(info.cols, col, context.labels)}`;
    return html`<td class=${className} data-row=${row} data-col=${col}>
      <input
        type="text"
        enterkeyhint="done"
        autocomplete="off"
        spellcheck="false"
        tabindex=${stop}
        aria-label=${name}
        aria-invalid=${draft ? 'true' : nothing}
        aria-describedby=${draft ? complaintId(info.id, row, col, batch, head) : described}
        .value=${typing ? noChange : live(draft?.text ?? text)}
      />
    </td>`;
  }
  return html`<td
    class=${className}
    data-row=${row}
    data-col=${col}
    tabindex=${stop}
    aria-selected=${active && context.pinned ? 'true' : nothing}
    aria-describedby=${described}
    ${cssProps(fill(props, row, col))}
  >${text}</td>`;
}

/** Id of what is said about a text in this cell that could not be taken. */
export const complaintId = (stage: StageId, ...place: readonly (number | string)[]): string =>
  `${stage}-${place.join('-')}-complaint`;

/** A cell by the name that drafts and operands have. */
export const cellKey = ({ stage, row, col, batch, head }: CellRef): string =>
  draftKey(stage, row, col, batch, head);

/** `op` on an operand, and on which of its sides the outline of the group runs. */
function operandClasses(
  operands: ReadonlySet<string>,
  { info, batch, head }: MatrixProps,
  row: number,
  col: number,
): string[] {
  const has = (r: number, c: number) => operands.has(draftKey(info.id, r, c, batch, head));
  if (!has(row, col)) return [];
  return [
    'op',
    has(row - 1, col) ? '' : 'op-top',
    has(row + 1, col) ? '' : 'op-bottom',
    has(row, col - 1) ? '' : 'op-left',
    has(row, col + 1) ? '' : 'op-right',
  ];
}

function fill({ scale, values, shape }: MatrixProps, row: number, col: number): CssProps {
  if (!scale) return {};
  return { 'background-color': colourOf(values[row * shape.cols + col] ?? 0, scale) };
}
