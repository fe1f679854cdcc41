/** How a job is cut into ranges of rows for workers. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AttentionConfig } from '../../../web/core/types.ts';
import { flopsOf, piecesOf, rangesOf } from '../../../web/core/work.ts';

const square = (t: number): AttentionConfig => ({ tq: t, tk: t, dK: 64, dV: 64 });

it('gives every worker equal large ranges first and single pieces last', () => {
  // 2048 rows in pieces of 64 are 32: three quarters of 32, of 8, of 2, and what is left, by twos.
  const config = square(2048);
  expect(rangesOf(config, piecesOf(config), 2).map(([first, last]) => (last - first) / 64)).toEqual(
    [12, 12, 3, 3, 1, 1],
  );
});

it('gives no more than half a gigaflop at once', () => {
  // A piece of T = 8192 has 64 · 8192 · 256 = 134 Mflop: three of them are 403 Mflop.
  const config = square(8192);
  const counts = rangesOf(config, piecesOf(config), 2).map(([first, last]) => (last - first) / 64);
  expect(Math.max(...counts)).toBe(3);
  // A piece that alone has more is not divided.
  const long = square(65_536);
  expect(new Set(rangesOf(long, piecesOf(long), 2).map(([first, last]) => last - first))).toEqual(
    new Set([64]),
  );
});

it('covers all rows in order, whatever the sizes and the workers', () => {
  const size = fc.integer({ min: 1, max: 700 });
  const config = fc.record({
    batch: fc.integer({ min: 1, max: 3 }),
    kvHeads: fc.integer({ min: 1, max: 3 }),
    group: fc.integer({ min: 1, max: 3 }),
    tq: size,
    tk: size,
    dK: size,
    dV: size,
  });
  fc.assert(
    fc.property(config, fc.integer({ min: 1, max: 9 }), ({ group, ...sizes }, workers) => {
      const whole = { ...sizes, heads: sizes.kvHeads * group };
      const pieces = piecesOf(whole);
      const ranges = rangesOf(whole, pieces, workers);
      const rows = whole.batch * whole.heads * whole.tq;
      expect(ranges[0]?.[0]).toBe(0);
      expect(ranges.at(-1)?.[1]).toBe(rows);
      const perRow = flopsOf(whole) / rows;
      for (const [i, [first, last]] of ranges.entries()) {
        expect(first).toBeLessThan(last);
        if (i > 0) expect(first).toBe(ranges[i - 1]?.[1]);
        // Pieces are of unequal lengths where heads end.
        if (!pieces.some((piece) => piece[0] === first && piece[1] === last))
          expect((last - first) * perRow).toBeLessThan(2 * 512e6);
      }
    }),
  );
});
