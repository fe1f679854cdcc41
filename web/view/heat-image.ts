/** The numbers of a matrix as colours, made once, from which any part is drawn at any size. */
import { hues, type Scale, tint } from '../format/colour.ts';

/** Shades between the ground and the end of a scale. */
const shades = 255;

/** The colour of each shade, from the negative end to the positive one: bytes red, green, blue, alpha. */
function paletteOf(scale: Scale): Uint32Array {
  const bytes = new Uint8ClampedArray(4 * (2 * shades + 1));
  for (let shade = -shades; shade <= shades; ++shade) {
    const { sign, strength } = tint((shade / shades) * scale.limit, scale);
    bytes.set([...hues[sign], Math.round(255 * strength)], 4 * (shade + shades));
  }
  return new Uint32Array(bytes.buffer);
}

/** Which of −∞, ∞ and NaN, which lie on no scale, are among the numbers. */
export function offScaleIn(values: Float32Array): string[] {
  let [low, high, none] = [false, false, false];
  for (let index = 0; index < values.length; ++index) {
    const value = values[index] as number;
    if (value === -Infinity) low = true;
    else if (value === Infinity) high = true;
    else if (Number.isNaN(value)) none = true;
  }
  return [...(low ? ['−∞'] : []), ...(high ? ['∞'] : []), ...(none ? ['NaN'] : [])];
}

/**
 * What is drawn over cells that lie on no scale: lines, so that no colour is mistaken for it, on a
 * tone, so that a cell between two lines is seen too. Grey stands out on either ground.
 */
export function hatching(
  context: CanvasRenderingContext2D,
  sharpness: number,
): CanvasPattern | null {
  const side = Math.max(4, Math.round(6 * sharpness));
  const tile = document.createElement('canvas');
  tile.width = side;
  tile.height = side;
  const pen = tile.getContext('2d');
  if (!pen) return null;
  pen.fillStyle = 'rgb(128 128 128 / 0.3)';
  pen.fillRect(0, 0, side, side);
  pen.strokeStyle = 'rgb(128 128 128)';
  pen.lineWidth = 1.2 * sharpness;
  // The neighbours' lines too, where they reach into this tile's corners.
  for (const from of [-side, 0, side]) {
    pen.moveTo(from, side);
    pen.lineTo(from + side, 0);
  }
  pen.stroke();
  return context.createPattern(tile, 'repeat');
}

/** Relative luminance of an sRGB colour, by WCAG 2. */
function luminance(rgb: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever is read better on the colour of a value; `paper` is the ground. */
export function inkOn(value: number, scale: Scale, paper: readonly number[]): string {
  const { sign, strength } = tint(value, scale);
  const colour = hues[sign].map(
    (part, index) => part * strength + (paper[index] ?? 0) * (1 - strength),
  );
  // Where (1 + 0.05) / (L + 0.05) = (L + 0.05) / 0.05: both then have a contrast of 4.58.
  return luminance(colour) > 0.179 ? '#000' : '#fff';
}

export class HeatImage {
  /** A copy: the core writes its next results where the values came from. */
  readonly values: Float32Array;
  readonly #rows: number;
  readonly #cols: number;
  readonly #colours: Uint32Array<ArrayBuffer>;
  /** Opaque where a number lies on no scale; null where all have their place. */
  readonly #offScale: Uint32Array<ArrayBuffer> | null;
  /** Which numbers those are. */
  readonly offScale: readonly string[];
  /** Canvases by how many cells they merge along rows and columns, and what of the cells they show. */
  readonly #merged = new Map<string, HTMLCanvasElement>();

  constructor(values: Float32Array, rows: number, cols: number, scale: Scale) {
    this.values = values.slice();
    this.#rows = rows;
    this.#cols = cols;
    const palette = paletteOf(scale);
    const perUnit = scale.limit === 0 ? 0 : shades / scale.limit;
    this.#colours = new Uint32Array(values.length);
    this.offScale = offScaleIn(values);
    this.#offScale = this.offScale.length > 0 ? new Uint32Array(values.length) : null;
    for (let index = 0; index < values.length; ++index) {
      const value = values[index] as number;
      if (!Number.isFinite(value)) {
        if (this.#offScale) this.#offScale[index] = 0xffffffff;
        continue;
      }
      const entry = Math.max(-shades, Math.min(shades, Math.round(value * perUnit))) + shades;
      this.#colours[index] = palette[entry] as number;
    }
  }

  /** A pixel for each block of so many rows and columns, coloured as its strongest cell. */
  merging(rows: number, cols: number): HTMLCanvasElement {
    return this.#once(`${rows} ${cols}`, () => this.#paint(this.#colours, rows, cols));
  }

  /** The same blocks, opaque where one of their numbers lies on no scale; null where none does. */
  mergingOffScale(rows: number, cols: number): HTMLCanvasElement | null {
    const colours = this.#offScale;
    return colours && this.#once(`${rows} ${cols} off`, () => this.#paint(colours, rows, cols));
  }

  #once(key: string, make: () => HTMLCanvasElement): HTMLCanvasElement {
    const canvas = this.#merged.get(key) ?? make();
    this.#merged.set(key, canvas);
    return canvas;
  }

  #paint(colours: Uint32Array, rowsPer: number, colsPer: number): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(this.#cols / colsPer);
    canvas.height = Math.ceil(this.#rows / rowsPer);
    const context = canvas.getContext('2d');
    if (!context) return canvas;
    const image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let row = 0, index = 0; row < this.#rows; ++row) {
      const start = Math.floor(row / rowsPer) * canvas.width;
      for (let col = 0; col < this.#cols; ++col, ++index) {
        const pixel = start + Math.floor(col / colsPer);
        const colour = colours[index] as number;
        // Alpha, the strength, is the highest byte: WebAssembly's byte order is that of the machine.
        if (colour >>> 24 > (pixels[pixel] as number) >>> 24) pixels[pixel] = colour;
      }
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }
}
