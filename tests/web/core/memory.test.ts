/** Sessions give back what they take: the allocator's count and the size of the memory over many cycles. */
import { describe, expect, test } from 'vitest';
import { type Build, load, type SessionConfig } from '../../../web/core/index.ts';

const configs: readonly SessionConfig[] = [
  { tq: 3, tk: 5, dK: 4, dV: 2, source: 'qkv' },
  {
    batch: 2,
    heads: 4,
    kvHeads: 2,
    tq: 6,
    tk: 8,
    past: 2,
    dK: 5,
    dV: 3,
    dModel: 7,
    source: 'x',
    causal: true,
  },
  { batch: 3, tq: 2, tk: 9, dK: 1, dV: 1, source: 'qkv', masked: true, validLengths: [1, 2, 9] },
  {
    tq: 4,
    tk: 4,
    dK: 3,
    dV: 3,
    dModel: 5,
    source: 'x',
    outputProjection: true,
    gradients: true,
    softcap: 2,
  },
];

describe.each<Build>(['simd128', 'relaxed'])('%s', (build) => {
  test('ten thousand cycles leave nothing behind', async () => {
    const engine = await load({ build });
    const start = engine.memory().inUse;
    let held = 0;
    let early = 0;
    for (let cycle = 1; cycle <= 10_000; cycle += 1) {
      const session = engine.createSession();
      const config = configs[cycle % configs.length] as SessionConfig;
      session.configure(config);
      if (config.masked)
        session.setMask({ kind: 'boolean', shape: [1, 9], values: new Uint8Array(9) });
      // A refusal must not keep its lengths either.
      if (cycle % 7 === 0) {
        expect(() =>
          session.configure({ ...config, batch: 1, validLengths: [1, 2, 3, 4] }),
        ).toThrow();
      }
      session.run();
      if (cycle === 10) {
        held = engine.memory().inUse;
        early = engine.memory().total;
      }
      session.dispose();
    }
    expect(held).toBeGreaterThan(start);
    expect(engine.memory()).toEqual({ inUse: start, total: early });
  });

  test('two full arenas do not fit: the second is refused, and everything else goes on', async () => {
    const engine = await load({ build });
    const full = engine.createSession();
    full.configure({ tq: 0, tk: 2 ** 20, dK: 0, dV: 64, source: 'qkv' });
    const second = engine.createSession();
    second.configure({ tq: 1, tk: 1, dK: 1, dV: 1, source: 'qkv' });
    expect(() => second.configure({ tq: 0, tk: 2 ** 20, dK: 0, dV: 64, source: 'qkv' })).toThrow(
      expect.objectContaining({ code: 'outOfMemory', subject: 'arena', found: 2 ** 28 }),
    );
    expect(second.has('q')).toBe(false);
    second.configure({ tq: 1, tk: 1, dK: 1, dV: 1, source: 'qkv' });
    second.setInput('v', [7]);
    second.run();
    expect([...second.view('concat')]).toEqual([7]);
    second.dispose();
    full.dispose();
  });
});
