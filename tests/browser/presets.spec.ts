/** Every example opens and shows the numbers that are known of it; random ones are the same everywhere. */
import { refuseRelaxed } from './chromium.mjs';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const third = 1 / 3;

/** By hand, or from the lessons' own statements; rounded to what the page shows. */
const known: Record<string, { name: RegExp; numbers: Record<string, number[][]> }> = {
  worked: {
    name: /^Worked example/,
    numbers: {
      weights: [
        [0.8808, 0.1192],
        [0.1192, 0.8808],
      ],
      heads: [
        [1.2384, 1.7616],
        [2.7616, 0.2384],
      ],
    },
  },
  second: {
    name: /^Second example/,
    numbers: {
      rawScores: [
        [4, 0, 2],
        [0, 4, 2],
        [1, 1, 1],
      ],
      heads: [
        [0.9353, 2.3094],
        [2.0858, 1.159],
        [1.3333, 2],
      ],
    },
  },
  exercise1: {
    name: /^Exercise 1/,
    numbers: { rawScores: [[16, 0]], scaledScores: [[2, 0]], weights: [[0.8808, 0.1192]] },
  },
  exercise2: {
    name: /^Exercise 2/,
    numbers: { rawScores: [[4, 4]], weights: [[0.5, 0.5]], heads: [[5, 10]] },
  },
  exercise3: {
    name: /^Exercise 3/,
    numbers: {
      rawScores: [
        [-1, -0.75, 3.5, -1.75],
        [-0.75, 1, 2.25, -2.5],
        [3.5, 2.25, -2, 0.75],
        [-1.75, -2.5, 0.75, -1],
      ],
      output: [
        [2.045, 0.9188, 0.9658, 1.6229, 2.045, 0.9188, 0.9658, 1.6229],
        [1.8816, 0.8795, 1.2869, 1.2008, 1.8816, 0.8795, 1.2869, 1.2008],
        [2.3875, 0.4601, 0.3616, 0.609, 2.3875, 0.4601, 0.3616, 0.609],
        [2.2665, 0.8492, 0.6863, 1.2033, 2.2665, 0.8492, 0.6863, 1.2033],
      ],
    },
  },
  cat: {
    name: /^“cat” alone/,
    numbers: {
      q: [[-0.13, 0.67]],
      k: [[0.05, 0.08]],
      rawScores: [[0.0471]],
      scaledScores: [[0.0333]],
      weights: [[1]],
      heads: [[0.7, -0.24, 0.03]],
    },
  },
  catSat: {
    name: /^“the cat sat”/,
    numbers: {
      weights: [
        [0.2165, 0.3154, 0.468],
        [0.1283, 0.2381, 0.6336],
        [0.7346, 0.2178, 0.0476],
      ],
      heads: [
        [-0.0384, -0.3705, 0.7325],
        [-0.2006, -0.5881, 1.1838],
        [0.1974, 0.4878, -0.775],
      ],
    },
  },
  layer: {
    name: /whole layer/,
    numbers: {
      q: [
        [2, 0, 2, 0],
        [0, 4, 0, 2],
      ],
      heads: [
        [1.2384, 1.7616],
        [2.7616, 0.2384],
      ],
      output: [
        [1.2384, 1.7616, 0, 0, 1.2384, 1.7616, 1.7616, 1.2384],
        [2.7616, 0.2384, 0, 0, 2.7616, 0.2384, 0.2384, 2.7616],
      ],
    },
  },
  equal: {
    name: /^Equal scores/,
    numbers: {
      weights: [
        [third, third, third],
        [third, third, third],
        [third, third, third],
      ],
      heads: [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
    },
  },
  saturated: {
    name: /^A saturated row/,
    numbers: {
      scaledScores: [
        [32, 0, -4],
        [2, 0, -0.5],
      ],
      weights: [
        [1, 0, 0],
        [0.8214, 0.1112, 0.0674],
      ],
    },
  },
  zeroQuery: {
    name: /^A query of zeros/,
    numbers: {
      rawScores: [
        [0, 0, 0],
        [4, 0, 2],
        [0, 4, 2],
      ],
      weights: [
        [third, third, third],
        [0.6652, 0.09, 0.2447],
        [0.09, 0.6652, 0.2447],
      ],
      heads: [
        [2, 2],
        [1.4248, 2.3094],
        [2.5752, 1.159],
      ],
    },
  },
  heads: {
    name: /^Two query heads/,
    numbers: {
      weights: [
        [1, 0, 0],
        [0.3501, 0.6499, 0],
        [0.7346, 0.2178, 0.0476],
      ],
      output: [
        [0.2, 1.6, 0.9, 0.9],
        [0.8284, 0.5108, 0.4625, 0.8767],
        [-0.3371, -0.4641, -0.0467, -0.7545],
      ],
    },
  },
  cross: {
    name: /^Cross-attention/,
    numbers: {
      weights: [
        [0.3564, 0.3298, 0.3138],
        [0.2646, 0.3267, 0.4087],
      ],
      heads: [
        [0.0782, -0.1078, 0.2412],
        [0.01, -0.2755, 0.5506],
      ],
    },
  },
};

test('every example opens and shows its numbers', { tag: '@narrow' }, async ({ page }) => {
  const lab = await Lab.open(page);
  const offered = await lab.host
    .getByRole('combobox', { name: /^Example/ })
    .getByRole('option')
    .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
  expect(offered.toSorted()).toEqual([...Object.keys(known), 'random'].toSorted());
  for (const [id, { name, numbers }] of Object.entries(known)) {
    await test.step(id, async () => {
      await lab.choose(name);
      for (const [stage, expected] of Object.entries(numbers)) {
        await expect(async () => {
          const found = await lab.numbers(stage);
          expect(found.map((row) => row.length)).toEqual(expected.map((row) => row.length));
          for (const [i, row] of expected.entries()) {
            for (const [j, value] of row.entries()) {
              // Both are rounded to four decimals.
              expect(Math.abs((found[i]?.[j] ?? Number.NaN) - value)).toBeLessThan(1.01e-4);
            }
          }
        }, `${id}, ${stage}`).toPass({ timeout: 5000 });
      }
      await expect(lab.alerts).toHaveCount(0);
      const sticksOut = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(sticksOut, `${id} scrolls the page sideways`).toBeLessThanOrEqual(0);
    });
  }
});

test('what an example is about is said where it shows', async ({ page }) => {
  const lab = await Lab.open(page);
  await lab.choose(/^Exercise 2/);
  await expect(lab.host.locator('#softmax')).toContainText(/multiply by the scale 0\.5/);
  await expect(lab.field(/^Scale/)).toHaveValue('0.5');
  await lab.choose(/^Cross-attention/);
  await expect(lab.matrix('rawScores').getByRole('rowheader')).toHaveText(['le', 'chat']);
  await expect(lab.matrix('rawScores').getByRole('columnheader')).toHaveText(['the', 'cat', 'sat']);
  await expect(lab.field(/number of keys/)).toHaveValue('3');
  await lab.choose(/^“the cat sat”/);
  await expect(lab.host.getByText(/T\s*k = 3, follows T\s*q/)).toBeVisible();
  await expect(lab.field(/number of keys/)).toHaveCount(0);
  await lab.set(/number of queries/, '2');
  await expect(lab.host.getByText(/T\s*k = 2, follows T\s*q/)).toBeVisible();
  await expect(lab.matrix('weights').locator('figcaption')).toContainText('2 × 2');
  // The third token comes back with its numbers.
  await lab.button('Undo').click();
  await expect(lab.input('x', 2, 2)).toHaveValue(/^−2(\.0)?$/);
});

test('random numbers in another size are those of a link to this size', async ({ page }) => {
  const read = async (lab: Lab) => [
    await lab.texts('q'),
    await lab.texts('k'),
    await lab.texts('v'),
    await lab.texts('weights'),
  ];
  const linked = await Lab.open(page, 'strict/lab/#?example=random&tq=7&tk=6');
  await expect(linked.matrix('weights').locator('td[data-row]')).toHaveCount(42);
  const expected = await read(linked);
  expect(new Set(expected[0]?.flat()).size).toBe(28);

  await page.goto('about:blank');
  const lab = await Lab.open(page);
  await lab.choose('Random numbers from a seed');
  await expect(lab.matrix('weights').locator('td[data-row]')).toHaveCount(16);
  const before = await read(lab);
  await lab.set(/number of queries/, '7');
  await lab.set(/number of keys/, '6');
  await expect.poll(() => read(lab)).toEqual(expected);
  await expect(lab.host.getByText('Seeds Q 1, K 1, V 1')).toBeVisible();
  await lab.button('Undo').click();
  await lab.button('Undo').click();
  await expect.poll(() => read(lab)).toEqual(before);
});

test('random numbers are the same in both builds, bit for bit', async ({ page, context }) => {
  const link = 'strict/lab/#?example=random&digits=8';
  const draws = async (lab: Lab) => ({
    q: await lab.texts('q'),
    k: await lab.texts('k'),
    v: await lab.texts('v'),
  });
  const relaxed = await Lab.open(page, link);
  const drawn = await draws(relaxed);
  expect(new Set(drawn.q.flat()).size).toBe(16);
  await expect(relaxed.host.getByText('Seeds Q 1, K 1, V 1')).toBeVisible();

  const other = await context.newPage();
  await other.addInitScript(refuseRelaxed);
  const simd128 = await Lab.open(other, link);
  expect(
    await simd128.host.evaluate(
      (host) => (host as HTMLElement & { engine: { build: string } }).engine.build,
    ),
  ).toBe('simd128');
  expect(await draws(simd128)).toEqual(drawn);

  // Next seeds draw others, and Undo and a reload give the same back.
  await relaxed.button('Next seeds').click();
  await expect(relaxed.host.getByText('Seeds Q 2, K 2, V 2')).toBeVisible();
  await expect.poll(() => relaxed.texts('q')).not.toEqual(drawn.q);
  const next = await draws(relaxed);
  await expect(page).toHaveURL(/q=normal:2/);
  await page.reload();
  await relaxed.ready();
  expect(await draws(relaxed)).toEqual(next);
  await relaxed.button('Reset').click();
  await expect.poll(() => draws(relaxed)).toEqual(drawn);
});
