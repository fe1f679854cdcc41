/** Sessions give back what they take: the allocator's count and the size of the memory over many cycles. */
import { describe, expect, test } from 'vitest';
import { type Build, load, type Session, type SessionConfig } from '../../../web/core/index.ts';

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

  test('arenas that do not fit together: the last is refused, and everything else goes on', async () => {
    const engine = await load({ build });
    const full: SessionConfig = { tq: 0, tk: 2 ** 20, dK: 0, dV: 64, source: 'qkv' };
    const small: SessionConfig = { tq: 1, tk: 1, dK: 1, dV: 1, source: 'qkv' };
    const sessions = [1, 2, 3, 4].map(() => engine.createSession());
    const last = sessions[3] as Session;
    last.configure(small);
    sessions[0]?.configure(full);
    sessions[1]?.configure(full);
    sessions[2]?.configure(full);
    expect(() => last.configure(full)).toThrow(
      expect.objectContaining({ code: 'outOfMemory', subject: 'arena', found: 2 ** 28 }),
    );
    expect(last.has('q')).toBe(false);
    last.configure(small);
    last.setInput('v', [7]);
    last.run();
    expect([...last.view('concat')]).toEqual([7]);
    // Fused attention likewise: what it had is gone, and a small problem is computed again.
    const fused = engine.createAttention(small);
    const large = { tq: 0, tk: 2 ** 20 - 4096, dK: 0, dV: 64 };
    expect(() => fused.configure(large)).toThrow(
      expect.objectContaining({ code: 'outOfMemory', subject: 'arena' }),
    );
    expect(fused.rows).toBe(0);
    for (const use of [() => fused.setInput('v', [7]), () => fused.output]) {
      expect(use).toThrow(expect.objectContaining({ code: 'stageAbsent' }));
    }
    fused.configure(small);
    fused.setInput('v', [7]);
    fused.run();
    expect([...fused.output]).toEqual([7]);
    fused.dispose();
    for (const session of sessions) session.dispose();
  });

  test('the largest problem of a page fits after any others, the comparison beside it', async () => {
    const engine = await load({ build });
    const { inUse } = engine.memory();
    const lab = engine.createSession();
    const sides = [engine.createSession(), engine.createSession()];
    // 1024 tokens, as many as the page draws: ten heads fill the arena, eleven are refused.
    const tokens: SessionConfig = { tq: 1024, tk: 1024, dK: 8, dV: 8, source: 'qkv' };
    for (const heads of [10, 1, 10, 2, 4, 1, 6, 8, 9, 10, 3, 10]) {
      lab.configure({ ...tokens, heads, kvHeads: heads });
      for (const side of sides) side.configure({ ...tokens, dV: 1 });
    }
    expect(() => lab.configure({ ...tokens, heads: 11, kvHeads: 11 })).toThrow(
      expect.objectContaining({ code: 'tooLarge', subject: 'arena' }),
    );
    // A long run makes a session of its own, which then takes the place of the one before.
    let shown = lab;
    for (const heads of [10, 9, 10, 1, 10, 4, 5, 6, 7, 8, 9, 10, 2, 10]) {
      const beside = engine.createSession();
      beside.configure({ ...tokens, heads, kvHeads: heads });
      shown.dispose();
      shown = beside;
      for (const side of sides) side.configure({ ...tokens, dV: 1 });
    }
    for (const session of [shown, ...sides]) session.dispose();
    // The same from the smallest up, each with the others behind it.
    const growing = engine.createSession();
    const behind: Session[] = [];
    for (const heads of [1, 5, 10]) {
      growing.configure({ ...tokens, heads, kvHeads: heads });
      behind.push(engine.createSession());
      behind.at(-1)?.configure({ ...tokens, dV: 1 });
    }
    for (const session of [growing, ...behind]) session.dispose();
    expect(engine.memory().inUse).toBe(inUse);
  });
});
