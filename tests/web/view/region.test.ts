/** What of a matrix a heat map shows: by hand arithmetic on 1024 × 1024 cells in 512 × 512 pixels. */
import { expect, test } from 'vitest';
import {
  cellAt,
  cellSize,
  extent,
  follow,
  type Ground,
  merged,
  panBy,
  whole,
  within,
  zoomAt,
  zoomRange,
} from '../../../web/view/region.ts';

const largest = { width: 70, height: 18 };
const square: Ground = { rows: 1024, cols: 1024, width: 512, height: 512, largest };
/** 1024 × 4 cells of 70 × 0.5 pixels. */
const strip: Ground = { rows: 1024, cols: 4, width: 280, height: 512, largest };

test('all is shown until it is zoomed', () => {
  expect(cellSize(square, whole)).toEqual({ width: 0.5, height: 0.5 });
  expect(extent(square, whole)).toEqual({ top: 0, bottom: 1023, left: 0, right: 1023 });
  expect(cellAt(square, whole, 256, 128)).toEqual([256, 512]);
  expect(zoomRange(square)).toEqual({ least: 0.5, most: 70 });
});

test('a zoom keeps the cell at the place, and ends where numbers have room', () => {
  const twice = zoomAt(square, whole, 2, 128, 384);
  expect(twice).toEqual({ zoom: 1, left: 128, top: 384 });
  expect(cellAt(square, twice, 128, 384)).toEqual([768, 256]);
  const most = zoomAt(square, twice, 1000, 128, 384);
  expect(cellSize(square, most)).toEqual(largest);
  expect(cellAt(square, most, 128, 384)).toEqual([768, 256]);
  expect(zoomAt(square, most, 0.001, 10, 10)).toEqual(whole);
});

test('nothing beyond the edge is shown', () => {
  const corner = zoomAt(square, whole, 2, 512, 512);
  expect(extent(square, corner)).toEqual({ top: 512, bottom: 1023, left: 512, right: 1023 });
  expect(panBy(square, corner, -100, 30)).toEqual({ zoom: 1, left: 512, top: 482 });
  expect(panBy(square, corner, 9999, 9999)).toEqual({ zoom: 1, left: 0, top: 0 });
  expect(cellAt(square, corner, 600, -5)).toEqual([507, 1023]);
});

test('a strip is enlarged where it is small, and its columns stay', () => {
  expect(zoomRange(strip)).toEqual({ least: 0.5, most: 18 });
  const most = zoomAt(strip, whole, 1000, 140, 256);
  expect(cellSize(strip, most)).toEqual({ width: 70, height: 18 });
  expect(extent(strip, most)).toMatchObject({ left: 0, right: 3 });
});

test('the view follows a cell by as little as it takes', () => {
  // 16 pixels a cell, 32 of them in view.
  const some = { zoom: 16, top: 100, left: 100 };
  expect(follow(square, some, 110, 131)).toEqual(some);
  expect(follow(square, some, 132, 99)).toEqual({ zoom: 16, top: 101, left: 99 });
  expect(follow(square, some, 0, 1023)).toEqual({ zoom: 16, top: 0, left: 992 });
});

test('a map of another size shows no more than there is', () => {
  const corner = { zoom: 16, top: 992, left: 992 };
  expect(within({ ...square, width: 1024, height: 320 }, corner)).toEqual({
    zoom: 16,
    top: 992,
    left: 960,
  });
});

test('cells below a pixel are merged by twos until they have one', () => {
  const pairs = [18, 1, 0.9, 0.5, 0.49, 0.25, 0.2].map((pixels) => [pixels, merged(pixels)]);
  expect(pairs).toEqual([
    [18, 1],
    [1, 1],
    [0.9, 2],
    [0.5, 2],
    [0.49, 4],
    [0.25, 4],
    [0.2, 8],
  ]);
});
