/** A matrix too large for numbers: a canvas of coloured cells, to be enlarged until they show theirs. */
import { html, noChange, nothing, type TemplateResult } from 'lit';
import { Directive, directive, type ElementPart } from 'lit/directive.js';
import { guard } from 'lit/directives/guard.js';
import type { CellRef } from '../core/types.ts';
import { stageText } from '../format/stage-text.ts';
import { cssProps } from './css-props.ts';
import { offScaleIn } from './heat-image.ts';
import { type HeatMapProps, HeatView, largestCell } from './heat-view.ts';
import { legend, type MatrixContext, type MatrixProps } from './matrix.ts';

/** Keeps the reader's view of the map as long as the map is there. */
class ViewedDirective extends Directive {
  #view: HeatView | null = null;

  render(_props: HeatMapProps) {
    return noChange;
  }

  override update(part: ElementPart, [props]: [HeatMapProps]) {
    this.#view ??= new HeatView(part.element as HTMLElement, props);
    this.#view.update(props);
    return noChange;
  }
}

const viewed = directive(ViewedDirective);

/** The longest side of a map, in CSS pixels: half of the largest matrix. */
const room = 512;

/** The map's side for so many cells: squares as long as there are many, wider ones where few. */
const sideFor = (count: number, few: number, largest: number): number =>
  Math.min(
    room,
    count *
      Math.max(
        1,
        Math.min(18, Math.floor(room / Math.max(1, count))),
        Math.min(largest, Math.floor(few / Math.max(1, count))),
      ),
  );

function heatMap(props: HeatMapProps): TemplateResult {
  const width = sideFor(props.cols, 280, largestCell(props.format).width);
  const height = sideFor(props.rows, 72, 18);
  const button = (action: string, text: string, name: string) =>
    html`<button type="button" data-zoom=${action} aria-label=${`${name}, ${props.symbol}`}>${text}</button>`;
  return html`<div class="heat-frame" ${viewed(props)}>
    <div class="heat" ${cssProps({ width: `${width}px`, 'aspect-ratio': `${width} / ${height}` })}>
      <canvas
        tabindex="0"
        ?data-paint=${props.paintable}
        role="application"
        aria-roledescription="heat map"
        aria-label=${props.label}
        aria-describedby=${props.describedBy}
      ></canvas>
      <i class="heat-operands" hidden></i>
      <i class="heat-cell" hidden></i>
    </div>
    <p class="heat-tools" hidden>
      ${button('2', '+', 'Zoom in')} ${button('0.5', '−', 'Zoom out')}
      ${button('0', 'whole', 'The whole matrix')}
      <span class="heat-said" aria-live="polite"></span>
    </p>
  </div>`;
}

/** The scale of a map, and how numbers that lie on none are drawn. */
function heatLegend({ info, shape, values }: MatrixProps, context: MatrixContext): TemplateResult {
  const { id } = info;
  const scale = context.scaleOf(id);
  // One scale for all weights, from 0 to 1, lets maps be compared; of many keys it shows the large ones.
  const pale =
    id === 'weights' && shape.cols > 16 ? '; among many keys most shares are near 0, and pale' : '';
  const title = `point, tap or use the arrow keys${pale}`;
  const beyond = offScaleIn(values).join(', ');
  const hides = id === 'mask' && beyond === '−∞' ? ', a hidden key' : '';
  const offScale = beyond
    ? html`<span class="off-scale"><i class="hatched"></i> ${beyond}${hides}</span>`
    : nothing;
  // Where each finite number is 0, a scale would go from 0 to 0.
  return scale.limit === 0
    ? html`<p class="legend">
        <span class="what"><span class="off-scale"><i></i> 0</span> ${offScale} ${title}</span>
      </p>`
    : legend(scale, context.format, html`${offScale} ${title}`, true);
}

/** The heat map of a matrix, with its scale. */
export function coloured(props: MatrixProps, context: MatrixContext): TemplateResult {
  const { info, shape, values, paintable = false } = props;
  const { id } = info;
  const scale = context.scaleOf(id);
  const [stopRow = 0, stopCol = 0] = context.stops.get(props.place)?.split(' ').map(Number) ?? [];
  const at = (row: number, col: number): CellRef => ({
    stage: id,
    batch: props.batch,
    head: props.head,
    row,
    col,
  });
  const { symbol, name } = stageText[id];
  return html`${heatMap({
    label: `${symbol}, ${name}, ${shape.rows} × ${shape.cols}. Arrow keys move from cell to cell; + and − zoom, 0 shows all.${paintable ? ' Space hides a key or shows it again.' : ''}`,
    symbol,
    rows: shape.rows,
    cols: shape.cols,
    values,
    scale,
    format: context.format,
    revision: context.revision,
    which: `${id} ${props.batch} ${props.head}`,
    active: context.active?.stage === id ? context.active : null,
    stop: [stopRow, stopCol],
    pinned: context.pinned,
    operands: context.operandBoxes.get(id) ?? null,
    describedBy: context.explanationId,
    onHover: (row, col) => context.onHover(at(row, col)),
    onFocus: (row, col) => context.onFocus(at(row, col), props.place),
    onPin: (row, col) => context.onPin(at(row, col)),
    onEnter: (row, col) => context.onEnter(at(row, col)),
    onRelease: context.onRelease,
    paintable,
  })}
  ${guard(
    // A large matrix is not searched for every movement of a pointer.
    [context.revision, id, props.batch, props.head, values.length, context.format],
    () => heatLegend(props, context),
  )}`;
}
