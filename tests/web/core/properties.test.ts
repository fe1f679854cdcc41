/** What holds for every configuration, on both builds; fast-check shrinks what breaks it. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Build,
  type Engine,
  load,
  type Session,
  type SessionConfig,
  type StageId,
  stageIds,
} from '../../../web/core/index.ts';

const eps = 2 ** -23;
const runs = { numRuns: 60 };

const whole = (min: number, max: number) => fc.integer({ min, max });

/** One attention of given queries, keys and values. */
const configs = fc
  .record({
    batch: whole(1, 2),
    kvHeads: whole(1, 2),
    ratio: whole(1, 4),
    tq: whole(0, 5),
    tk: whole(0, 6),
    dK: whole(1, 5),
    dV: whole(1, 4),
    causal: fc.boolean(),
    masked: fc.boolean(),
    softcap: fc.option(fc.constantFrom(0.5, 3), { nil: undefined }),
    scale: fc.option(fc.constantFrom(0, -1, 0.25), { nil: undefined }),
    lengths: fc.option(fc.tuple(whole(0, 6), whole(0, 6)), { nil: undefined }),
  })
  .map(
    ({ ratio, lengths, ...sizes }): SessionConfig => ({
      ...sizes,
      heads: sizes.kvHeads * ratio,
      validLengths: lengths?.slice(0, sizes.batch).map((length) => Math.min(length, sizes.tk)),
      source: 'qkv',
    }),
  );

describe.each<Build>(['simd128', 'relaxed'])('%s', (build) => {
  let engine: Engine;
  let session: Session;
  let other: Session;

  beforeAll(async () => {
    engine = await load({ build });
    session = engine.createSession();
    other = engine.createSession();
  });
  afterAll(() => {
    session.dispose();
    other.dispose();
  });

  /** Seeded normal numbers for every input; of a mask about a third is hidden. */
  function fill(target: Session, config: SessionConfig, seed: number): void {
    target.configure(config);
    for (const stage of stageIds) {
      if (!target.has(stage) || target.stage(stage).operation !== 'given') continue;
      if (stage === 'mask') {
        if (!config.masked) continue;
        target.fillNormal('mask', seed);
        const numbers = [...target.view('mask')];
        target.setInput(
          'mask',
          numbers.map((m) => (m < -0.5 ? Number.NEGATIVE_INFINITY : m)),
        );
      } else {
        target.fillNormal(stage, seed);
      }
    }
    target.run();
  }

  const cells = (target: Session, stage: StageId) => [...target.view(stage)];

  function matrix(target: Session, stage: StageId, batch: number, head: number): number[] {
    const { heads, rows, cols } = target.shape(stage);
    const first = (batch * heads + head) * rows * cols;
    return cells(target, stage).slice(first, first + rows * cols);
  }

  const check = (property: (config: SessionConfig, seed: number) => void) =>
    fc.assert(fc.property(configs, whole(0, 1000), property), runs);

  test('rows sum to 1, or to 0 where nothing is visible', () => {
    check((config, seed) => {
      fill(session, config, seed);
      const { batch, heads, rows, cols } = session.shape('weights');
      for (let b = 0; b < batch; b += 1) {
        for (let h = 0; h < heads; h += 1) {
          const mask = session.has('mask') ? matrix(session, 'mask', b, h) : [];
          for (const [row, { sum }] of session.rowStatistics(b, h).entries()) {
            const visible = Array.from({ length: cols }, (_, j) => mask[row * cols + j] ?? 0);
            const right = visible.some((m) => m !== Number.NEGATIVE_INFINITY) ? 1 : 0;
            expect(Math.abs(sum - right)).toBeLessThanOrEqual(eps * (cols + 2));
          }
        }
      }
      expect(rows).toBe(config.tq);
    });
  });

  test('adding a constant to a row of scores changes nothing', () => {
    check((config, seed) => {
      fill(session, { ...config, masked: true }, seed);
      const before = cells(session, 'weights');
      const { cols } = session.shape('mask');
      // Another constant for each row.
      session.setInput(
        'mask',
        cells(session, 'mask').map((m, i) => m + 8 * ((Math.floor(i / cols) % 5) - 2)),
      );
      session.run();
      for (const [i, weight] of cells(session, 'weights').entries()) {
        // Scores of a few dozen, rounded once more.
        expect(Math.abs(weight - (before[i] as number))).toBeLessThanOrEqual(eps * 200);
      }
    });
  });

  test('permuting keys with their values changes nothing', () => {
    check((config, seed) => {
      fill(session, { ...config, masked: false, causal: false, validLengths: undefined }, seed);
      const before = cells(session, 'heads');
      for (const stage of ['k', 'v'] as const) {
        const { batch, heads, cols } = session.shape(stage);
        const reversed: number[] = [];
        for (let b = 0; b < batch; b += 1) {
          for (let h = 0; h < heads; h += 1) {
            const flat = matrix(session, stage, b, h);
            for (let at = flat.length - cols; at >= 0; at -= cols) {
              reversed.push(...flat.slice(at, at + cols));
            }
          }
        }
        session.setInput(stage, reversed);
      }
      session.run();
      for (const [i, cell] of cells(session, 'heads').entries()) {
        expect(Math.abs(cell - (before[i] as number))).toBeLessThanOrEqual(eps * 100);
      }
    });
  });

  test('causal rows do not depend on later tokens', () => {
    check((config, seed) => {
      if (config.tk === 0) return;
      fill(session, { ...config, causal: true }, seed);
      const before = cells(session, 'heads');
      for (const stage of ['k', 'v'] as const) {
        const { rows, cols } = session.shape(stage);
        session.setInput(
          stage,
          cells(session, stage).map((n, i) =>
            Math.floor(i / cols) % rows === rows - 1 ? Number.NaN : n,
          ),
        );
      }
      session.run();
      const { heads, rows, cols } = session.shape('heads');
      for (const [i, cell] of cells(session, 'heads').entries()) {
        const length = config.validLengths?.[Math.floor(i / (heads * rows * cols))];
        // The last key that the query sees; with valid lengths the queries are the last tokens.
        const place =
          (Math.floor(i / cols) % rows) + (length === undefined ? 0 : length - config.tq);
        const last = Math.min(place, (length ?? config.tk) - 1);
        if (last < config.tk - 1) expect(cell).toBe(before[i]);
      }
    });
  });

  test('batches and heads equal single runs, grouped heads their own', () => {
    check((config, seed) => {
      fill(session, config, seed);
      const { batch = 1, heads = 1, kvHeads = 1 } = config;
      for (let b = 0; b < batch; b += 1) {
        for (let h = 0; h < heads; h += 1) {
          const group = Math.floor((h * kvHeads) / heads);
          const validLengths = config.validLengths?.slice(b, b + 1);
          other.configure({ ...config, batch: 1, heads: 1, kvHeads: 1, validLengths });
          other.setInput('q', matrix(session, 'q', b, h));
          other.setInput('k', matrix(session, 'k', b, group));
          other.setInput('v', matrix(session, 'v', b, group));
          if (config.masked) other.setInput('mask', matrix(session, 'mask', b, h));
          other.run();
          expect(cells(other, 'heads')).toEqual(matrix(session, 'heads', b, h));
        }
      }
    });
  });

  test('grouped heads equal repeated heads', () => {
    check((config, seed) => {
      fill(session, config, seed);
      const { batch = 1, heads = 1, kvHeads = 1 } = config;
      other.configure({ ...config, kvHeads: heads });
      other.setInput('q', session.view('q'));
      if (config.masked) other.setInput('mask', session.view('mask'));
      for (const stage of ['k', 'v'] as const) {
        const repeated: number[] = [];
        for (let b = 0; b < batch; b += 1) {
          for (let h = 0; h < heads; h += 1) {
            repeated.push(...matrix(session, stage, b, Math.floor((h * kvHeads) / heads)));
          }
        }
        other.setInput(stage, repeated);
      }
      other.run();
      expect(cells(other, 'concat')).toEqual(cells(session, 'concat'));
    });
  });

  test('a batch counts the rows of its heads, and no row is beyond its largest', () => {
    check((config, seed) => {
      fill(session, config, seed);
      const { batch = 1, heads = 1 } = config;
      for (let b = 0; b < batch; b += 1) {
        const together = session.batchStatistics(b);
        const all = Array.from({ length: heads }, (_, h) => session.rowStatistics(b, h)).flat();
        const seen = all.filter(({ sum }) => sum > 0);
        expect(together).toMatchObject({ rows: all.length, empty: all.length - seen.length });
        for (const name of ['maximum', 'entropy', 'effectiveKeys', 'jacobianNorm'] as const) {
          const numbers = seen.map((row) => row[name]);
          const largest = numbers.length > 0 ? Math.max(...numbers) : Number.NaN;
          const mean = numbers.reduce((total, n) => total + n, 0) / numbers.length;
          expect(together.largest[name]).toBe(largest);
          if (numbers.length === 0) expect(together.mean[name]).toBeNaN();
          else
            expect(Math.abs(together.mean[name] - mean)).toBeLessThanOrEqual(
              1e-14 * largest + 1e-300,
            );
        }
      }
    });
  });

  test('past and new keys equal all at once', () => {
    fc.assert(
      fc.property(configs, whole(0, 3), whole(0, 1000), (base, past, seed) => {
        const order = { masked: false, causal: true, validLengths: undefined };
        const config: SessionConfig = { ...base, ...order, tk: base.tq + past };
        const all = { ...config, tq: config.tk };
        fill(session, all, seed);
        other.configure({ ...config, past });
        const part = (stage: StageId, from: number, to: number) => {
          const { rows, cols } = session.shape(stage);
          return cells(session, stage).filter((_, i) => {
            const row = Math.floor(i / cols) % rows;
            return row >= from && row < to;
          });
        };
        for (const stage of ['q', 'k', 'v'] as const)
          other.setInput(stage, part(stage, past, config.tk));
        if (past > 0) {
          other.setPast('presentKey', part('k', 0, past));
          other.setPast('presentValue', part('v', 0, past));
        }
        other.run();
        expect(cells(other, 'heads')).toEqual(part('heads', past, config.tk));
      }),
      runs,
    );
  });

  test('a width of 1 makes raw equal scaled', () => {
    check((config, seed) => {
      fill(session, { ...config, dK: 1, scale: undefined }, seed);
      expect(cells(session, 'scaledScores')).toEqual(cells(session, 'rawScores'));
    });
  });

  test('equal projections make scores symmetric', () => {
    fc.assert(
      fc.property(whole(1, 6), whole(1, 5), whole(1, 4), whole(0, 1000), (t, dModel, dK, seed) => {
        fill(session, { tq: t, tk: t, dK, dV: 1, dModel, source: 'x' }, seed);
        session.setInput('wk', cells(session, 'wq'));
        session.run();
        const scores = cells(session, 'rawScores');
        for (let i = 0; i < t; i += 1) {
          for (let j = 0; j < t; j += 1) expect(scores[i * t + j]).toBe(scores[j * t + i]);
        }
      }),
      runs,
    );
  });

  test('gradients are sums of their terms, and the Jacobian is diag(a) − a·aᵀ', () => {
    check((config, seed) => {
      fill(session, { ...config, gradients: true }, seed);
      for (const stage of ['dWeights', 'dScores', 'dQ', 'dK', 'dV'] as const) {
        const { rows, cols } = session.shape(stage);
        if (rows === 0 || cols === 0) continue;
        const { value, terms } = session.terms({
          stage,
          batch: 0,
          head: 0,
          row: rows - 1,
          col: cols - 1,
        });
        const sum = terms.reduce((total, { partial }) => total + partial, 0);
        const size = terms.reduce((total, { partial }) => total + Math.abs(partial), 0);
        // The partials themselves carry two roundings, and dScores is worked another way.
        expect(Math.abs(value - sum)).toBeLessThanOrEqual(eps * (terms.length + 4) * (size + 1));
      }
      if (config.tq === 0) return;
      const { cols } = session.shape('weights');
      const a = cells(session, 'weights').slice(0, cols);
      const jacobian = session.softmaxJacobian(0, 0, 0);
      expect(jacobian.length).toBe(cols);
      for (const [i, row] of jacobian.entries()) {
        // 1 − aᵢ as the sum of the others, which is not lost where aᵢ was rounded to 1.
        const others = a.reduce((sum, aj, j) => (i === j ? sum : sum + aj), 0);
        const right = a.map((aj, j) => (a[i] as number) * (i === j ? others : -aj));
        expect([...row]).toEqual(right);
      }
    });
  });
});
