/** A matrix too large for numbers: a canvas of coloured cells whose numbers are read one at a time. */
import { html, noChange, nothing, type TemplateResult } from 'lit';
import { Directive, directive, type ElementPart } from 'lit/directive.js';
import type { CellRef, StageId } from '../core/types.ts';
import { hues, type Scale, tint } from '../format/colour.ts';
import { stageText } from '../format/stage-text.ts';
import { cssProps } from './css-props.ts';
import { legend, type MatrixContext, type MatrixProps } from './matrix.ts';

interface HeatMapProps {
  readonly stage: StageId;
  /** Which of the stage's matrices is drawn. */
  readonly which: string;
  readonly label: string;
  readonly rows: number;
  readonly cols: number;
  readonly values: Float32Array;
  readonly scale: Scale;
  /** Rises when the values behind the view change. */
  readonly revision: number;
  readonly active: CellRef | null;
  /** The row and the column where it was left. */
  readonly stop: readonly [number, number];
  readonly pinned: boolean;
  /** The box of cells that go into the active one. */
  readonly operands: Box | null;
  readonly describedBy: string;
  readonly onHover: (row: number, col: number) => void;
  readonly onFocus: (row: number, col: number) => void;
  readonly onPin: (row: number, col: number) => void;
  readonly onEnter: (row: number, col: number) => void;
  readonly onRelease: () => void;
}

export interface Box {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

/** Screen pixels of one cell along an axis of `count` cells. */
const cellPixels = (count: number, room: number): number =>
  Math.max(1, Math.min(18, Math.floor(room / Math.max(1, count))));

class DrawDirective extends Directive {
  #drawn = '';

  render(_props: HeatMapProps) {
    return noChange;
  }

  override update(part: ElementPart, [props]: [HeatMapProps]) {
    const { rows, cols, revision, scale, stage, which } = props;
    const key = [stage, which, rows, cols, revision, scale.kind, scale.limit].join();
    if (key !== this.#drawn) draw(part.element as HTMLCanvasElement, props);
    this.#drawn = key;
    return noChange;
  }
}

const drawn = directive(DrawDirective);

/** One pixel a cell; the style scales it up without smoothing. */
function draw(canvas: HTMLCanvasElement, { rows, cols, values, scale }: HeatMapProps): void {
  canvas.width = cols;
  canvas.height = rows;
  const context = canvas.getContext('2d');
  if (!context || values.length === 0) return;
  const image = context.createImageData(cols, rows);
  const { data } = image;
  for (let index = 0; index < values.length; ++index) {
    const { sign, strength } = tint(values[index] as number, scale);
    const [red, green, blue] = hues[sign];
    data[4 * index] = red;
    data[4 * index + 1] = green;
    data[4 * index + 2] = blue;
    data[4 * index + 3] = Math.round(255 * strength);
  }
  context.putImageData(image, 0, 0);
}

/** The cell under a pointer. */
function cellAt(event: PointerEvent | MouseEvent, { rows, cols }: HeatMapProps): [number, number] {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const at = (offset: number, size: number, count: number) =>
    Math.max(0, Math.min(count - 1, Math.floor((offset / size) * count)));
  return [
    at(event.clientY - box.top, box.height, rows),
    at(event.clientX - box.left, box.width, cols),
  ];
}

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-16, 0],
  PageDown: [16, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

function heatMap(props: HeatMapProps): TemplateResult {
  const { rows, cols, active } = props;
  const here = active?.stage === props.stage ? active : null;
  const clamp = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
  const left = { row: clamp(props.stop[0], rows), col: clamp(props.stop[1], cols) };
  // Several keys may come before the next render: each goes on from where the last one led.
  let at: { readonly row: number; readonly col: number } = here ?? left;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (step) {
      at = { row: clamp(at.row + step[0], rows), col: clamp(at.col + step[1], cols) };
      props.onFocus(at.row, at.col);
    } else if (event.key === 'Enter') props.onEnter(at.row, at.col);
    else if (event.key === 'Escape') props.onRelease();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  const box = ({ top, left, bottom, right }: Box) =>
    cssProps({
      top: percent(top, rows),
      left: percent(left, cols),
      width: percent(right - left + 1, cols),
      height: percent(bottom - top + 1, rows),
    });
  return html`<div
    class="heat"
    ${cssProps({
      width: `${cols * cellPixels(cols, 560)}px`,
      'aspect-ratio': `${cols * cellPixels(cols, 560)} / ${rows * cellPixels(rows, 480)}`,
    })}
  >
    <canvas
      tabindex="0"
      role="application"
      aria-roledescription="heat map"
      aria-label=${props.label}
      aria-describedby=${props.describedBy}
      @pointermove=${(event: PointerEvent) => {
        if (event.pointerType !== 'touch') props.onHover(...cellAt(event, props));
      }}
      @click=${(event: MouseEvent) => props.onPin(...cellAt(event, props))}
      @focus=${() => props.onFocus(at.row, at.col)}
      @keydown=${onKeyDown}
      ${drawn(props)}
    ></canvas>
    ${props.operands ? html`<i class="heat-operands" ${box(props.operands)}></i>` : nothing}
    ${
      here
        ? html`<i
            class=${props.pinned ? 'heat-cell pinned' : 'heat-cell'}
            ${box({ top: here.row, bottom: here.row, left: here.col, right: here.col })}
          ></i>`
        : nothing
    }
  </div>`;
}

/** The heat map of a matrix, with its scale. */
export function coloured(props: MatrixProps, context: MatrixContext): TemplateResult {
  const { info, shape } = props;
  const { id } = info;
  const scale = context.scaleOf(id);
  // One scale for all weights, from 0 to 1, lets maps be compared; of many keys it shows the large ones.
  const pale = id === 'weights' ? '; among many keys most shares are near 0, and pale' : '';
  const [stopRow = 0, stopCol = 0] = context.stops.get(props.place)?.split(' ').map(Number) ?? [];
  const at = (row: number, col: number): CellRef => ({
    stage: id,
    batch: props.batch,
    head: props.head,
    row,
    col,
  });
  return html`${heatMap({
    stage: id,
    label: `${stageText[id].symbol}, ${stageText[id].name}, ${shape.rows} × ${shape.cols}. Arrow keys move from cell to cell.`,
    rows: shape.rows,
    cols: shape.cols,
    values: props.values,
    scale,
    revision: context.revision,
    active: context.active,
    stop: [stopRow, stopCol],
    pinned: context.pinned,
    which: `${props.batch} ${props.head}`,
    operands: context.operandBoxes.get(id) ?? null,
    describedBy: context.explanationId,
    onHover: (row, col) => context.onHover(at(row, col)),
    onFocus: (row, col) => context.onFocus(at(row, col), props.place),
    onPin: (row, col) => context.onPin(at(row, col)),
    onEnter: (row, col) => context.onEnter(at(row, col)),
    onRelease: context.onRelease,
  })}
  ${legend(scale, context.format, `drawn, not written: point, tap or use the arrow keys${pale}`, true)}`;
}
