/** A reader's view of one heat map: which part is shown, drawn once a frame, and only when in sight. */
import type { CellRef } from '../core/types.ts';
import type { Scale } from '../format/colour.ts';
import { formatNumber, type NumberFormat } from '../format/number-text.ts';
import { HeatImage, hatching, inkOn } from './heat-image.ts';
import {
  cellAt,
  cellSize,
  extent,
  follow,
  type Ground,
  merged,
  panBy,
  type Region,
  whole,
  within,
  zoomAt,
  zoomRange,
} from './region.ts';

export interface Box {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

export interface HeatMapProps {
  readonly label: string;
  readonly symbol: string;
  readonly rows: number;
  readonly cols: number;
  readonly values: Float32Array;
  readonly scale: Scale;
  readonly format: NumberFormat;
  /** Rises when the values behind the view change. */
  readonly revision: number;
  /** Which of the stage's matrices is drawn. */
  readonly which: string;
  /** The explained cell, where it is one of this matrix. */
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
  /** A click and Space paint: they are left to who paints the cells of tables, for the focused cell. */
  readonly paintable: boolean;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Room for a number of this format at 11 px, such as −1.234e−10. */
export const largestCell = ({ digits }: NumberFormat) => ({ width: 7 * digits + 49, height: 18 });

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
const zooms: Readonly<Record<string, number>> = { '+': 2, '=': 2, '-': 0.5, _: 0.5, '0': 0 };

/** A press that moves less than this many pixels is a click. */
const slack = 4;

export class HeatView {
  #props: HeatMapProps;
  readonly #canvas: HTMLCanvasElement;
  readonly #operands: HTMLElement;
  readonly #cell: HTMLElement;
  readonly #tools: HTMLElement;
  readonly #said: HTMLElement;

  #size = { width: 0, height: 0 };
  #inSight = false;
  #frame = 0;
  #region: Region = whole;
  #image: HeatImage | null = null;
  #imageKey = '';
  /** The cell that keys go on from: several may come before the next render. */
  #at: { readonly row: number; readonly col: number } = { row: 0, col: 0 };
  /** The active cell when it was last looked at: the view follows a cell only when it changes. */
  #followed = '';
  /** Where the pointer is, over the map and not pressed. */
  #pointer: Place | null = null;
  /** The cell that a pointer led to. */
  #hovered = '';
  /** Where the pressed pointer or the only finger was last; the fingers of a pinch. */
  #held: readonly Place[] = [];
  #dragged = false;
  /** Where the pointer was pressed. */
  #pressed: Place = { x: 0, y: 0 };

  /** `root` holds the canvas, the two marks and the tools, as heatMap lays them out. */
  constructor(root: HTMLElement, props: HeatMapProps) {
    const find = <E extends HTMLElement>(selector: string) => root.querySelector(selector) as E;
    this.#props = props;
    this.#canvas = find('canvas');
    this.#operands = find('.heat-operands');
    this.#cell = find('.heat-cell');
    this.#tools = find('.heat-tools');
    this.#said = find('.heat-said');
    this.#listen();
    this.#observe();
  }

  /** Takes what a render says; what is to be drawn anew for it is drawn with the next frame. */
  update(props: HeatMapProps): void {
    const before = this.#props;
    this.#props = props;
    const { rows, cols, active, stop } = props;
    if (rows !== before.rows || cols !== before.cols) this.#region = whole;
    this.#at = active ?? { row: clamp(stop[0], rows), col: clamp(stop[1], cols) };
    const key = active ? keyOf(active.row, active.col) : '';
    // A cell that is pointed at is in view, at its edge maybe, and stays where it is.
    if (active && key !== this.#followed && key !== this.#hovered) this.#follow(active);
    this.#followed = key;
    this.#schedule();
  }

  // ---- what is drawn -------------------------------------------------------------------------

  #observe(): void {
    const canvas = this.#canvas;
    const print = () => this.#draw();
    new ResizeObserver(([entry]) => {
      if (!entry) return;
      // A page is printed as a whole. A map that leaves the page shrinks to nothing, in sight or not.
      if (canvas.isConnected) addEventListener('beforeprint', print);
      else removeEventListener('beforeprint', print);
      const { width, height } = entry.contentRect;
      this.#size = { width, height };
      this.#move((ground) => within(ground, this.#region));
    }).observe(canvas);
    new IntersectionObserver(
      ([entry]) => {
        this.#inSight = entry?.isIntersecting ?? false;
        this.#schedule();
      },
      { rootMargin: '100px' },
    ).observe(canvas);
    // The colour of the numbers goes with the theme: see the style sheet.
    canvas.addEventListener('transitionend', () => this.#schedule());
  }

  #schedule(): void {
    if (!this.#inSight) return;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
      this.#point();
    });
  }

  get #ground(): Ground | null {
    const { rows, cols, format } = this.#props;
    const { width, height } = this.#size;
    if (rows * cols === 0 || width === 0) return null;
    return { rows, cols, width, height, largest: largestCell(format) };
  }

  #draw(): void {
    const ground = this.#ground;
    const image = this.#upToDate();
    const context = this.#canvas.getContext('2d');
    if (!ground || !image || !context) return;
    const region = this.#region;
    const cell = cellSize(ground, region);
    const sharpness = devicePixelRatio;
    const width = Math.round(ground.width * sharpness);
    const height = Math.round(ground.height * sharpness);
    const canvas = this.#canvas;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const rowsPer = merged(cell.height * sharpness);
    const colsPer = merged(cell.width * sharpness);
    context.clearRect(0, 0, width, height);
    context.imageSmoothingEnabled = false;
    const draw = (cells: HTMLCanvasElement) =>
      context.drawImage(
        cells,
        region.left / colsPer,
        region.top / rowsPer,
        ground.width / cell.width / colsPer,
        ground.height / cell.height / rowsPer,
        0,
        0,
        width,
        height,
      );
    const offScale = image.mergingOffScale(rowsPer, colsPer);
    if (offScale) {
      // Hatched all over, of which only those cells are left; the colours come under it.
      context.fillStyle = hatching(context, sharpness) ?? 'gray';
      context.fillRect(0, 0, width, height);
      context.globalCompositeOperation = 'destination-in';
      draw(offScale);
      context.globalCompositeOperation = 'destination-over';
    }
    draw(image.merging(rowsPer, colsPer));
    context.globalCompositeOperation = 'source-over';
    this.#write(context, ground, image);
    this.#mark(ground);
    this.#say(ground, rowsPer * colsPer > 1 ? `${rowsPer} × ${colsPer}` : '', image.offScale);
  }

  /** The colours of the newest values, made when they are first drawn. */
  #upToDate(): HeatImage | null {
    const { rows, cols, values, scale, revision, which } = this.#props;
    const key = [which, rows, cols, revision, scale.kind, scale.limit].join();
    // Values that the core's memory has moved away from come again with the next render.
    if (key !== this.#imageKey && values.length === rows * cols) {
      this.#image = new HeatImage(values, rows, cols, scale);
      this.#imageKey = key;
    }
    return this.#image;
  }

  /** The numbers, where the cells in view have room for them. */
  #write(context: CanvasRenderingContext2D, ground: Ground, image: HeatImage): void {
    const cell = cellSize(ground, this.#region);
    if (cell.height < 14 || cell.width < 24) return;
    const { top, bottom, left, right } = extent(ground, this.#region);
    const texts: { text: string; value: number; x: number; y: number }[] = [];
    let widest = 1;
    for (let row = top; row <= bottom; ++row) {
      for (let col = left; col <= right; ++col) {
        const value = image.values[row * ground.cols + col] ?? 0;
        const text = formatNumber(value, this.#props.format);
        widest = Math.max(widest, text.length);
        texts.push({
          text,
          value,
          x: (col + 1 - this.#region.left) * cell.width - 4,
          y: (row + 0.5 - this.#region.top) * cell.height,
        });
      }
    }
    // A character is 0.6 of the font's size wide.
    const size = Math.min(12, Math.floor((cell.width - 7) / (0.6 * widest)));
    if (size < 10) return;
    const { backgroundColor, fontFamily } = getComputedStyle(this.#canvas);
    const paper = backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [];
    context.save();
    context.scale(devicePixelRatio, devicePixelRatio);
    context.font = `${size}px ${fontFamily}`;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const { text, value, x, y } of texts) {
      context.fillStyle = inkOn(value, this.#props.scale, paper);
      context.fillText(text, x, y);
    }
    context.restore();
  }

  #mark(ground: Ground): void {
    const { active, operands, pinned } = this.#props;
    const cell = cellSize(ground, this.#region);
    const put = (mark: HTMLElement, box: Box | null) => {
      mark.hidden = !box;
      if (!box) return;
      const { style } = mark;
      style.left = `${(box.left - this.#region.left) * cell.width}px`;
      style.top = `${(box.top - this.#region.top) * cell.height}px`;
      style.width = `${(box.right - box.left + 1) * cell.width}px`;
      style.height = `${(box.bottom - box.top + 1) * cell.height}px`;
    };
    put(this.#operands, operands);
    const here = active && {
      top: active.row,
      bottom: active.row,
      left: active.col,
      right: active.col,
    };
    put(this.#cell, here);
    this.#cell.classList.toggle('pinned', pinned);
  }

  #say(ground: Ground, block: string, offScale: readonly string[]): void {
    const { least, most } = zoomRange(ground);
    const all = this.#region.zoom <= least;
    const { top, bottom, left, right } = extent(ground, this.#region);
    const range = (name: string, first: number, last: number) =>
      first === last ? `${name} ${first}` : `${name}s ${first}–${last}`;
    const shown = all
      ? 'all is shown'
      : `${range('row', top, bottom)}, ${range('column', left, right)}`;
    const hatched =
      offScale.length > 0 ? `, and hatched where one of them is ${offScale.join(' or ')}` : '';
    const text = block
      ? `${shown}; ${block} cells are drawn as one, coloured by the number farthest from 0${hatched}`
      : shown;
    if (this.#said.textContent !== text) this.#said.textContent = text;
    this.#tools.hidden = most <= 1.2 * least;
    const [closer, back, everything] = this.#tools.querySelectorAll('button');
    // They stay reachable: a button that is disabled by its own press drops the focus.
    const disable = (button: Element | undefined, isDone: boolean) =>
      button?.setAttribute('aria-disabled', String(isDone));
    disable(closer, this.#region.zoom >= most);
    disable(back, all);
    disable(everything, all);
    this.#canvas.classList.toggle('zoomed', !all);
  }

  // ---- what the reader does ------------------------------------------------------------------

  #move(next: (ground: Ground) => Region): void {
    const ground = this.#ground;
    if (ground) this.#region = next(ground);
    this.#schedule();
  }

  #follow({ row, col }: { readonly row: number; readonly col: number }): void {
    this.#move((ground) => follow(ground, this.#region, row, col));
  }

  /** About a cell, where it is in view, else about the middle; 0 shows all. */
  #zoom(factor: number, about: { readonly row: number; readonly col: number } | null): void {
    this.#move((ground) => {
      if (factor === 0) return whole;
      const { row, col } = about ?? { row: -1, col: -1 };
      const { top, bottom, left, right } = extent(ground, this.#region);
      const cell = cellSize(ground, this.#region);
      const inView = row >= top && row <= bottom && col >= left && col <= right;
      const x = inView ? (col + 0.5 - this.#region.left) * cell.width : ground.width / 2;
      const y = inView ? (row + 0.5 - this.#region.top) * cell.height : ground.height / 2;
      const zoomed = zoomAt(ground, this.#region, factor, x, y);
      return inView ? follow(ground, zoomed, row, col) : zoomed;
    });
  }

  get #isZoomed(): boolean {
    return this.#region.zoom > 0;
  }

  /** Tells once a frame what the pointer is over, also after the matrix has moved under it. */
  #point(): void {
    const ground = this.#ground;
    if (!this.#pointer || !ground) return;
    const [row, col] = cellAt(ground, this.#region, this.#pointer.x, this.#pointer.y);
    const key = keyOf(row, col);
    if (key === this.#hovered) return;
    this.#hovered = key;
    this.#props.onHover(row, col);
  }

  #placeOf({ clientX, clientY }: MouseEvent | Touch): Place {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  /** Pans with one place held, zooms and pans with two. */
  #hold(places: readonly Place[]): void {
    const [from, other] = this.#held;
    const [to, second] = places;
    if (from && to && places.length === this.#held.length) {
      const middle = (a: Place, b: Place = a) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
      const distance = (a: Place, b: Place) => Math.hypot(a.x - b.x, a.y - b.y);
      const before = middle(from, other);
      const now = middle(to, second);
      this.#move((ground) => {
        const moved = panBy(ground, this.#region, now.x - before.x, now.y - before.y);
        if (!other || !second) return moved;
        const factor = distance(to, second) / Math.max(1, distance(from, other));
        return zoomAt(ground, moved, factor, now.x, now.y);
      });
    }
    this.#held = places;
  }

  #listen(): void {
    const canvas = this.#canvas;
    canvas.addEventListener('pointermove', this.#onPointerMove);
    canvas.addEventListener('pointerdown', this.#onPointerDown);
    canvas.addEventListener('pointerup', this.#onPointerEnd);
    canvas.addEventListener('pointercancel', this.#onPointerEnd);
    canvas.addEventListener('pointerleave', () => {
      this.#pointer = null;
      this.#hovered = '';
    });
    canvas.addEventListener('wheel', this.#onWheel, { passive: false });
    canvas.addEventListener('touchstart', this.#onTouch, { passive: false });
    canvas.addEventListener('touchmove', this.#onTouch, { passive: false });
    canvas.addEventListener('touchend', this.#onTouch, { passive: false });
    canvas.addEventListener('touchcancel', this.#onTouch, { passive: false });
    canvas.addEventListener('click', this.#onClick);
    canvas.addEventListener('focus', this.#onFocus);
    canvas.addEventListener('keydown', this.#onKeyDown);
    this.#tools.addEventListener('click', ({ target }) => {
      const button = (target as Element).closest('button');
      if (button) this.#zoom(Number(button.dataset.zoom), this.#props.active);
    });
  }

  readonly #onPointerMove = (event: PointerEvent): void => {
    if (event.pointerType === 'touch') return;
    const place = this.#placeOf(event);
    const [from] = this.#held;
    if (!from) {
      this.#pointer = place;
      this.#schedule();
      return;
    }
    if (!this.#dragged && Math.hypot(place.x - from.x, place.y - from.y) < slack) return;
    if (!this.#dragged) this.#canvas.setPointerCapture(event.pointerId);
    this.#dragged = true;
    this.#hold([place]);
  };

  readonly #onPointerDown = (event: PointerEvent): void => {
    this.#dragged = false;
    this.#pressed = this.#placeOf(event);
    if (event.pointerType === 'touch' || event.button !== 0 || !this.#isZoomed) return;
    this.#pointer = null;
    this.#held = [this.#placeOf(event)];
  };

  readonly #onPointerEnd = (): void => {
    this.#held = [];
  };

  /** The page scrolls as ever; with Ctrl, which is what a pinch on a touchpad sends, the map zooms. */
  readonly #onWheel = (event: WheelEvent): void => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { x, y } = this.#placeOf(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const factor = Math.exp(Math.max(-1, Math.min(1, -0.005 * lines * event.deltaY)));
    this.#move((ground) => zoomAt(ground, this.#region, factor, x, y));
  };

  /** Two fingers zoom; one scrolls the page, and pans only what is zoomed. */
  readonly #onTouch = (event: TouchEvent): void => {
    const touches = [...event.targetTouches];
    if (touches.length > 2 || (touches.length === 1 && !this.#isZoomed)) return;
    if (touches.length === 2 || event.type === 'touchmove') event.preventDefault();
    this.#hold(touches.map((touch) => this.#placeOf(touch)));
  };

  readonly #onFocus = (): void => {
    const { row, col } = this.#at;
    // Under a finger or a pressed pointer the view stays as it is.
    if (!this.#canvas.matches(':focus-visible')) this.#hovered = keyOf(row, col);
    this.#props.onFocus(row, col);
  };

  readonly #onClick = (event: MouseEvent): void => {
    const ground = this.#ground;
    const { x, y } = this.#placeOf(event);
    const { paintable, onFocus, onPin } = this.#props;
    const moved = Math.hypot(x - this.#pressed.x, y - this.#pressed.y) >= slack;
    const isClick = !this.#dragged && !(paintable && moved);
    if (ground && isClick) {
      (paintable ? onFocus : onPin)(...cellAt(ground, this.#region, x, y));
    }
    // Who paints is not to take the end of a drag for a click.
    if (!isClick) event.stopPropagation();
    this.#dragged = false;
  };

  readonly #onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { rows, cols } = this.#props;
    const step = steps[event.key];
    const factor = zooms[event.key];
    if (step) {
      const row = clamp(this.#at.row + step[0], rows);
      const col = clamp(this.#at.col + step[1], cols);
      this.#at = { row, col };
      // Keys lead away from what the pointer lies on, and the view follows them.
      this.#pointer = null;
      this.#hovered = '';
      this.#props.onFocus(row, col);
    } else if (factor !== undefined) this.#zoom(factor, this.#at);
    else if (event.key === 'Enter') this.#props.onEnter(this.#at.row, this.#at.col);
    else if (event.key === 'Escape') this.#props.onRelease();
    else {
      // The page does not scroll under the key, also before the code that paints is there.
      if (event.key === ' ' && this.#props.paintable) event.preventDefault();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
}

const clamp = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));

const keyOf = (row: number, col: number) => `${row} ${col}`;
