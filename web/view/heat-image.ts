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
  /** Canvases by how many cells they merge along rows and columns. */
  readonly #merged = new Map<string, HTMLCanvasElement>();

  constructor(values: Float32Array, rows: number, cols: number, scale: Scale) {
    this.values = values.slice();
    this.#rows = rows;
    this.#cols = cols;
    const palette = paletteOf(scale);
    const perUnit = scale.limit === 0 ? 0 : shades / scale.limit;
    this.#colours = new Uint32Array(values.length);
    for (let index = 0; index < values.length; ++index) {
      const value = values[index] as number;
      // An infinity and NaN lie on no scale.
      const shade = Number.isFinite(value) ? Math.round(value * perUnit) : 0;
      const entry = Math.max(-shades, Math.min(shades, shade)) + shades;
      this.#colours[index] = palette[entry] as number;
    }
  }

  /** A pixel for each block of so many rows and columns, coloured as its strongest cell. */
  merging(rows: number, cols: number): HTMLCanvasElement {
    const key = `${rows} ${cols}`;
    const canvas = this.#merged.get(key) ?? this.#paint(rows, cols);
    this.#merged.set(key, canvas);
    return canvas;
  }

  #paint(rowsPer: number, colsPer: number): HTMLCanvasElement {
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
        const colour = this.#colours[index] as number;
        // Alpha, the strength, is the highest byte: WebAssembly's byte order is that of the machine.
        if (colour >>> 24 > (pixels[pixel] as number) >>> 24) pixels[pixel] = colour;
      }
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }
}
