/**
 * The part of a matrix that a heat map shows, and how it moves: pure arithmetic. Rows and columns are
 * counted from 0; places and sizes on the screen are in CSS pixels from the map's upper left corner.
 */

/** What does not change while a reader looks around. */
export interface Ground {
  readonly rows: number;
  readonly cols: number;
  readonly width: number;
  readonly height: number;
  /** A cell of this size has room for its number; it is enlarged no further. */
  readonly largest: Size;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** `top` and `left` count cells, with fractions. `zoom` is the least side of a cell; 0 shows all. */
export interface Region {
  readonly zoom: number;
  readonly top: number;
  readonly left: number;
}

export const whole: Region = { zoom: 0, top: 0, left: 0 };

/** Cells are first enlarged until they are square, then on both sides, at last only to be wider. */
export function cellSize({ rows, cols, width, height, largest }: Ground, { zoom }: Region): Size {
  return {
    width: Math.max(width / cols, Math.min(zoom, largest.width)),
    height: Math.max(height / rows, Math.min(zoom, largest.height)),
  };
}

/** The zooms at which all is shown and at which every cell has room for its number. */
export function zoomRange(ground: Ground): { readonly least: number; readonly most: number } {
  const { width, height } = cellSize(ground, whole);
  const { largest } = ground;
  const wider = width < largest.width;
  const higher = height < largest.height;
  return {
    least: Math.min(wider ? width : Infinity, higher ? height : Infinity),
    most: Math.max(wider ? largest.width : 0, higher ? largest.height : 0),
  };
}

/** Zooms so that the cell at a place stays there; a factor below 1 shows more. */
export function zoomAt(
  ground: Ground,
  region: Region,
  factor: number,
  x: number,
  y: number,
): Region {
  const { least, most } = zoomRange(ground);
  const zoom = Math.min(most, Math.max(least, region.zoom) * factor);
  if (!(zoom > least)) return whole;
  const before = cellSize(ground, region);
  const after = cellSize(ground, { ...region, zoom });
  return within(ground, {
    zoom,
    top: region.top + y / before.height - y / after.height,
    left: region.left + x / before.width - x / after.width,
  });
}

/** Moves the matrix under the map by so many pixels. */
export function panBy(ground: Ground, region: Region, x: number, y: number): Region {
  const { width, height } = cellSize(ground, region);
  return within(ground, { ...region, top: region.top - y / height, left: region.left - x / width });
}

/** The least movement that brings a cell into view as a whole. */
export function follow(ground: Ground, region: Region, row: number, col: number): Region {
  const cell = cellSize(ground, region);
  const least = (first: number, index: number, shown: number) =>
    Math.max(Math.min(first, index), index + 1 - shown);
  return within(ground, {
    ...region,
    top: least(region.top, row, ground.height / cell.height),
    left: least(region.left, col, ground.width / cell.width),
  });
}

/** Nothing beyond the matrix is shown; also after the map has got another size. */
export function within(ground: Ground, region: Region): Region {
  const { width, height } = cellSize(ground, region);
  const clamp = (first: number, count: number, shown: number) =>
    Math.max(0, Math.min(count - shown, first));
  return {
    ...region,
    top: clamp(region.top, ground.rows, ground.height / height),
    left: clamp(region.left, ground.cols, ground.width / width),
  };
}

/** The row and the column at a place. */
export function cellAt(
  ground: Ground,
  region: Region,
  x: number,
  y: number,
): readonly [row: number, col: number] {
  const { width, height } = cellSize(ground, region);
  const at = (place: number, count: number) => Math.max(0, Math.min(count - 1, Math.floor(place)));
  return [at(region.top + y / height, ground.rows), at(region.left + x / width, ground.cols)];
}

/** First and last row and column of which something is seen. */
export function extent(ground: Ground, region: Region) {
  const { width, height } = cellSize(ground, region);
  // A sliver that only rounding leaves is not seen.
  const last = (first: number, shown: number, count: number) =>
    Math.min(count - 1, Math.ceil(first + shown - 1e-6) - 1);
  return {
    top: Math.floor(region.top + 1e-6),
    bottom: last(region.top, ground.height / height, ground.rows),
    left: Math.floor(region.left + 1e-6),
    right: last(region.left, ground.width / width, ground.cols),
  };
}

/** How many cells along an axis are drawn as one, so that it has a pixel of the screen: 1, 2, 4, … */
export const merged = (devicePixels: number): number =>
  devicePixels >= 1 ? 1 : 2 ** Math.ceil(-Math.log2(devicePixels) - 1e-6);
