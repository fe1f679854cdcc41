/** How fast attention is, with a clock made by hand. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Engine } from '../../../web/core/types.ts';
import { plainAttention } from '../../../web/widget/plain-loop.ts';
import { measureSpeed } from '../../../web/widget/speed.ts';

let now = 0;
const takes = (ms: number) => () => {
  now += ms;
};
const dispose = vi.fn();

vi.mock('../../../web/widget/plain-loop.ts', async (original) => ({
  ...(await original<typeof import('../../../web/widget/plain-loop.ts')>()),
  plainAttention: vi.fn(),
}));

/** An engine whose attention takes 1 ms and whose 1000 multiply-adds take 2 ms. */
const engine = {
  createAttention: () => ({ setInputs() {}, run: takes(1), dispose }),
  multiplyAdds: () => {
    now += 2;
    return 1000;
  },
} as unknown as Engine;

afterEach(() => {
  vi.restoreAllMocks();
  dispose.mockClear();
});

function setClock(): void {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.mocked(plainAttention).mockImplementation(() => {
    now += 8;
    return new Float32Array();
  });
}

test('operations over seconds, each the median of its turns', async () => {
  setClock();
  const told: number[] = [];
  const found = await measureSpeed(engine, new AbortController().signal, (part) => told.push(part));
  // 4·256²·64 operations of attention.
  expect(found.engine).toBeCloseTo(16_777_216 / 1e-3, 0);
  expect(found.peak).toBeCloseTo(1000 / 2e-3, 5);
  expect(found.loop).toBeCloseTo(16_777_216 / 8e-3, 0);
  expect(told[0]).toBe(0);
  expect(told.at(-1)).toBe(1);
  expect(dispose).toHaveBeenCalledTimes(1);
});

test('the thread is given back between any two runs, and an abortion is heard there', async () => {
  setClock();
  const aborter = new AbortController();
  const order: string[] = [];
  vi.mocked(plainAttention).mockImplementation(() => {
    now += 8;
    order.push('loop');
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      order.push('other work');
      if (order.length >= 4) aborter.abort(new Error('enough'));
    };
    channel.port2.postMessage(null);
    return new Float32Array();
  });
  await expect(measureSpeed(engine, aborter.signal, () => {})).rejects.toThrow('enough');
  expect(order).toEqual(['loop', 'other work', 'loop', 'other work']);
  expect(dispose).toHaveBeenCalledTimes(1);
});

test('the plain loop computes attention', async () => {
  const { plainAttention: plain } = await vi.importActual<
    typeof import('../../../web/widget/plain-loop.ts')
  >('../../../web/widget/plain-loop.ts');
  const q = Float32Array.from([2, 0, 2, 0, 0, 4, 0, 2]);
  const k = Float32Array.from([1, 0, 1, 0, 0, 1, 0, 0]);
  const v = Float32Array.from([1, 2, 0, 0, 3, 0, 0, 0]);
  // The worked example: weights of e²/(e² + 1) and 1/(e² + 1).
  const expected = [1.2384058440442351, 1.7615941559557649, 0, 0];
  const found = plain({ q, k, v }, 2, 4);
  for (const [i, value] of expected.entries()) expect(found[i]).toBeCloseTo(value, 6);
  expect(found[4]).toBeCloseTo(2.7615941559557649, 6);
});
