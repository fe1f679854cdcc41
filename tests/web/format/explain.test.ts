/** What a cell says of itself, against sums worked by hand. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type CellTerms,
  type Engine,
  load,
  type Operation,
  type SessionConfig,
  type StageId,
  type StageInfo,
} from '../../../web/core/index.ts';
import { explainCell } from '../../../web/format/explain.ts';
import type { Labels } from '../../../web/format/stage-text.ts';
import { seesNoKey, weightByHand } from '../../../web/widget/next-cell.ts';
import { overflowBehind } from '../../../web/widget/overflow.ts';

const format = { mode: 'decimals', digits: 4 } as const;

let engine: Engine;
beforeAll(async () => {
  engine = await load();
});

/** Subscript, lines of arithmetic and sentence of one cell of a computed example. */
function explained(
  config: SessionConfig,
  inputs: Partial<Record<StageId, number[]>>,
  labels: Labels = {},
  byHand = false,
): (stage: StageId, row: number, col: number) => [string, string[], string] {
  return (stage, row, col) => {
    const session = engine.createSession();
    session.configure(config);
    for (const [id, values] of Object.entries(inputs)) session.setInput(id as StageId, values);
    session.run();
    const terms = session.terms({ stage, batch: 0, head: 0, row, col });
    const said = explainCell(byHand ? weightByHand(terms, session) : terms, {
      info: session.stage(stage),
      labels,
      format,
      dK: config.dK,
      dV: 2,
      heads: config.heads ?? 1,
      scale: config.scale ?? null,
      overflow: overflowBehind(terms, session),
      noKey: seesNoKey(terms.cell, session),
    });
    session.dispose();
    return [`${said.symbol} ${said.subscript}`, lines(said.arithmetic), plain(said.sentence)];
  };
}

const lines = (arithmetic: readonly (readonly { text: string }[])[]): string[] =>
  arithmetic.map((line) => plain(line.map(({ text }) => text).join('')));

/** With common spaces: a percent sign has one that does not break before it. */
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

const workedConfig: SessionConfig = { source: 'qkv', tq: 2, tk: 2, dK: 4, dV: 2 };
const workedInputs = {
  q: [2, 0, 2, 0, 0, 4, 0, 2],
  k: [1, 0, 1, 0, 0, 1, 0, 0],
  v: [1, 2, 3, 0],
};

describe('the worked example', () => {
  const worked = explained(workedConfig, workedInputs);

  test.each([
    ['q', 1, 1, 'Q 1,1', [], 'What token 1 looks for in feature 1. It is given.'],
    ['k', 1, 1, 'K 1,1', [], 'What token 1 offers in feature 1. It is given.'],
    ['v', 1, 0, 'V 1,0', [], 'Number 0 of what token 1 hands over. It is given.'],
    [
      'rawScores',
      1,
      1,
      'S 1,1',
      ['0·0 + 4·1 + 0·0 + 2·0', '= 0 + 4 + 0 + 0 = 4'],
      'How well the query of token 1 matches the key of token 1: feature 1 alone makes the score.',
    ],
    [
      'rawScores',
      0,
      0,
      'S 0,0',
      ['2·1 + 0·0 + 2·1 + 0·0', '= 2 + 0 + 2 + 0 = 4'],
      'How well the query of token 0 matches the key of token 0: features 0 and 2 weigh most, equally.',
    ],
    [
      'rawScores',
      0,
      1,
      'S 0,1',
      ['2·0 + 0·1 + 2·0 + 0·0', '= 0 + 0 + 0 + 0 = 0'],
      'How well the query of token 0 matches the key of token 1: every product is 0, so nothing speaks for or against it.',
    ],
    [
      'scaledScores',
      0,
      0,
      'S/√dₖ 0,0',
      ['4 ÷ √4 = 4 · 0.5 = 2'],
      'The score divided by √d_k, the square root of the key width 4.',
    ],
    ['rowMax', 0, 0, 'm 0', ['max(2, 0) = 2'], 'The largest score in the row of token 0.'],
    [
      'shifted',
      0,
      1,
      'Z 0,1',
      ['0 − 2 = −2'],
      'How far this score lies below the largest in the row of token 0.',
    ],
    [
      'shifted',
      0,
      0,
      'Z 0,0',
      ['2 − 2 = 0'],
      'This is the largest score in the row of token 0, so 0 is left.',
    ],
    [
      'exponentials',
      0,
      1,
      'E 0,1',
      ['exp(−2) ≈ 0.1353'],
      'e to the power of the shifted score: the further below the largest, the smaller.',
    ],
    [
      'exponentials',
      0,
      0,
      'E 0,0',
      ['exp(0) = 1'],
      'e to the power 0 is 1: the row’s largest score always gives 1.',
    ],
    [
      'rowSum',
      0,
      0,
      'ℓ 0',
      ['1 + 0.1353 ≈ 1.1353'],
      'All exponentials in the row of token 0: the whole that is shared out.',
    ],
    [
      'weights',
      0,
      0,
      'A 0,0',
      ['1 ÷ 1.1353 ≈ 0.8808'],
      'Token 0 gives 88.1 % of its attention to token 0.',
    ],
    [
      'weights',
      1,
      0,
      'A 1,0',
      ['0.1353 ÷ 1.1353 ≈ 0.1192'],
      'Token 1 gives 11.9 % of its attention to token 0.',
    ],
    [
      'heads',
      0,
      0,
      'O 0,0',
      ['0.8808·1 + 0.1192·3', '= 0.8808 + 0.3576 ≈ 1.2384'],
      'Number 0 of the blend for token 0: the values of all keys, each times its weight. Token 0 supplies the largest part.',
    ],
    [
      'heads',
      1,
      0,
      'O 1,0',
      ['0.1192·1 + 0.8808·3', '= 0.1192 + 2.6424 ≈ 2.7616'],
      'Number 0 of the blend for token 1: the values of all keys, each times its weight. Token 1 supplies the largest part.',
    ],
    [
      'heads',
      0,
      1,
      'O 0,1',
      ['0.8808·2 + 0.1192·0', '= 1.7616 + 0 ≈ 1.7616'],
      'Number 1 of the blend for token 0: the values of all keys, each times its weight. Only token 0 supplies something.',
    ],
    ['plainExponentials', 0, 0, 'E′ 0,0', ['exp(2) ≈ 7.3891'], /without subtracting/],
    ['plainRowSum', 0, 0, 'ℓ′ 0', ['7.3891 + 1 ≈ 8.3891'], /without subtracting/],
  ] as const)('%s %i, %i', (stage, row, col, name, arithmetic, sentence) => {
    const said = worked(stage, row, col);
    expect(said.slice(0, 2)).toEqual([name, arithmetic]);
    if (typeof sentence === 'string') expect(said[2]).toBe(sentence);
    else expect(said[2]).toMatch(sentence);
  });

  test('Kᵀ names the cell of K that it is', () => {
    const [name, arithmetic, sentence] = worked('keyTransposed', 2, 0);
    expect([name, arithmetic]).toEqual(['Kᵀ 2,0', ['K[0,2] = 1']]);
    expect(sentence).toMatch(/^Feature 2 of the key of token 0/);
  });
});

describe('projections', () => {
  const config: SessionConfig = {
    source: 'x',
    tq: 1,
    tk: 1,
    dModel: 4,
    dK: 2,
    dV: 3,
    outputProjection: true,
  };
  // “cat” and the grids of the walkthrough.
  const cat = explained(
    config,
    {
      x: [0.5, -0.3, 0.8, 0.2],
      wq: [0.1, 0.4, 0.2, -0.1, -0.3, 0.5, 0.6, 0.2],
      wk: [-0.2, 0.3, 0.5, 0.1, 0.4, -0.2, -0.1, 0.6],
      wv: [0.3, -0.2, 0.5, -0.1, 0.4, 0.2, 0.6, 0.1, -0.3, 0.2, -0.5, 0.4],
      wo: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0],
    },
    { query: ['cat'], key: ['cat'] },
  );

  test('show every product, negative factors in brackets', () => {
    const [name, arithmetic, sentence] = cat('q', 0, 0);
    expect(name).toBe('Q 0,0');
    expect(arithmetic).toEqual([
      '0.5·0.1 + (−0.3)·0.2 + 0.8·(−0.3) + 0.2·0.6',
      // In float32 the product of −0.3 and 0.2 is not the float next to −0.06: rounded, and so said.
      '= 0.05 + (−0.0600) + (−0.2400) + 0.1200 ≈ −0.1300',
    ]);
    expect(sentence).toMatch(/What “cat” looks for in feature 0\. .*added up/);
  });

  test('divide by a root that is no whole number', () => {
    const [, arithmetic] = cat('scaledScores', 0, 0);
    expect(arithmetic).toEqual(['0.0471 ÷ √2 = 0.0471 · 0.7071 ≈ 0.0333']);
  });

  test('say what a weight of a grid does, and whose row X is', () => {
    expect(cat('x', 0, 2)[2]).toMatch(/Dial 2 .*“cat”/);
    expect(cat('wq', 3, 1)[2]).toMatch(/dial 3 turns feature 1 of every query/);
    expect(cat('wk', 3, 1)[2]).toMatch(/dial 3 turns feature 1 of every key/);
    expect(cat('wv', 3, 2)[2]).toMatch(/dial 3 turns value 2 of every value row/);
    expect(cat('wo', 1, 2)[2]).toMatch(/blended number 1 turns output number 2/);
  });

  test('lead on to the output', () => {
    expect(cat('concat', 0, 1)[1]).toEqual(['O[0,1] ≈ −0.2400']);
    const [name, arithmetic, sentence] = cat('output', 0, 2);
    expect(name).toBe('Y 0,2');
    expect(arithmetic[0]).toMatch(/^0\.70*·0 \+ \(−0\.240*\)·0 \+ 0\.030*·1$/);
    expect(sentence).toMatch(/Number 2 .*“cat”.*W_o/);
  });
});

describe('a scale of its own', () => {
  test('is multiplied, not called a root', () => {
    const said = explained({ ...workedConfig, scale: -0.25 }, workedInputs)('scaledScores', 0, 0);
    expect(said[1]).toEqual(['4 · (−0.25) = −1']);
    expect(said.join()).not.toContain('√');
    expect(said[0]).toBe('S·(−0.25) 0,0');
    expect(said[2]).toContain('−0.25');
  });
});

describe('numbers too large for float32', () => {
  // 3·10³⁸ · 2 passes 3.4028·10³⁸; the other key scores 1.
  const large = explained(
    { source: 'qkv', tq: 1, tk: 2, dK: 1, dV: 1 },
    { q: [3e38], k: [2, 0], v: [1, 2] },
  );

  test.each([
    ['rawScores', 0, /^S\[0,0\] overflowed to ∞: too large for float32, .*10³⁸\.$/],
    ['scaledScores', 0, /^S\[0,0\] overflowed to ∞: .* infinite, too\.$/],
    ['shifted', 0, /^S\[0,0\] overflowed to ∞: .* has no value\.$/],
    ['weights', 0, /^S\[0,0\] overflowed to ∞: .* has no value\.$/],
    ['weights', 1, /^S\[0,0\] overflowed to ∞: .* has no value\.$/],
    ['heads', 0, /^S\[0,0\] overflowed to ∞: .* has no value\.$/],
  ] as const)('%s says which', (stage, col, sentence) => {
    const said = large(stage, 0, stage === 'heads' ? 0 : col);
    expect(said[2]).toMatch(sentence);
    expect(said[2]).not.toContain('NaN');
  });

  test('a sum of an infinite and a negative infinite part is named, too', () => {
    const opposed = explained(
      { source: 'qkv', tq: 1, tk: 1, dK: 2, dV: 1 },
      { q: [3e38, 3e38], k: [2, -2], v: [1] },
    );
    expect(opposed('rawScores', 0, 0)[2]).toMatch(/^S\[0,0\] (has parts that )?overflowed/);
  });

  test('what a mask hides did not overflow', () => {
    const session = engine.createSession();
    session.configure({ source: 'qkv', tq: 2, tk: 2, dK: 1, dV: 1, causal: true });
    session.run();
    for (const stage of ['maskedScores', 'shifted', 'exponentials'] as const) {
      const terms = session.terms({ stage, batch: 0, head: 0, row: 0, col: 1 });
      expect(overflowBehind(terms, session), stage).toBeNull();
    }
    session.dispose();
  });
});

describe('a row without a visible key', () => {
  const config: SessionConfig = { ...workedConfig, masked: true };
  // Token 1 sees nothing; token 0 sees itself.
  const inputs = { ...workedInputs, mask: [0, -Infinity, -Infinity, -Infinity] };
  const said = explained(config, inputs);
  const byHand = explained(config, inputs, {}, true);
  const unset =
    'No key is visible in the row of token 1, and 0 ÷ 0 has no value: the row is set to 0 by convention.';

  test.each([
    [
      'rowMax',
      ['max(−∞, −∞) = −∞'],
      /^No key is visible in the row of token 1, .*no largest score/,
    ],
    [
      'shifted',
      ['−∞ − (−∞)'],
      /^No key is visible in the row of token 1, .*has no value.*0 by conv/,
    ],
    ['exponentials', ['exp(−∞) = 0'], /^No key is visible in the row of token 1, .*0\.$/],
    [
      'rowSum',
      ['0 + 0 = 0'],
      /^No key is visible in the row of token 1, .*nothing to share out\.$/,
    ],
    ['plainExponentials', ['exp(−∞) = 0'], /^No key is visible in the row of token 1, .*0\.$/],
    ['plainRowSum', ['0 + 0 = 0'], /^No key is visible in the row of token 1, .*nothing to share/],
    ['weights', ['0 ÷ 0'], unset],
    ['heads', ['0·1 + 0·3', '= 0 + 0 = 0'], /Every part is 0\.$/],
  ] as const)('%s says so', (stage, arithmetic, sentence) => {
    expect(said(stage, 1, 0)[1]).toEqual(arithmetic);
    expect(said(stage, 1, 0)[2]).toMatch(sentence);
    expect(said(stage, 0, 0)[2]).not.toContain('No key');
  });

  test('by hand, too', () => {
    expect(byHand('weights', 1, 1).slice(1)).toEqual([['0 ÷ 0'], unset]);
    expect(byHand('weights', 0, 1)[1]).toEqual(['0 ÷ 7.3891 = 0']);
  });

  test('is every row where there are no keys', () => {
    const none = explained({ ...workedConfig, tk: 0 }, { q: workedInputs.q });
    expect(none('rowMax', 0, 0)[1]).toEqual([]);
    expect(none('rowMax', 0, 0)[2]).toMatch(/^No key is visible in the row of token 0/);
  });
});

describe('no equation has a left side without a value and a right side with one', () => {
  const hidden = -Infinity;
  // Scores with numbers that overflow, underflow or cancel, under masks of every kind.
  const rows: [string, number[], number[], number[], number[]][] = [
    ['nothing is visible', [1, 1], [1, 2], [3, 4], [hidden, hidden]],
    ['a score of ∞ is hidden', [3e38, 0], [2, 1], [3, 4], [hidden, 0]],
    ['a score of −∞ is visible', [3e38, 0], [-2, 1], [3, 4], [0, hidden]],
    ['a score of ∞ is visible', [3e38, 0], [2, 1], [3, 4], [0, hidden]],
    ['a score of ∞ is all there is, and hidden', [3e38, 0], [2, 2], [3, 4], [hidden, hidden]],
    ['all by hand is 0', [1, 0], [-200, -400], [3, 4], [0, 0]],
    ['all by hand is ∞', [1, 0], [100, 300], [3, 4], [0, 0]],
    ['one by hand is ∞', [1, 0], [0, 300], [3, 4], [0, 0]],
    ['a value of no value is hidden', [1, 0], [1, 2], [3, NaN], [0, hidden]],
    ['a value of ∞ is hidden', [1, 0], [1, 2], [Infinity, 4], [hidden, 0]],
    ['a key of no value is hidden', [1, 0], [NaN, 2], [3, 4], [hidden, 0]],
    ['a key of no value is visible', [1, 0], [NaN, 2], [3, 4], [0, hidden]],
  ];

  /** What one side of an equation comes to. */
  const worth = (text: string): number =>
    new Function(
      `return ${text
        .replaceAll('−', '-')
        .replaceAll('∞', 'Infinity')
        .replaceAll('·', '*')
        .replaceAll('÷', '/')
        .replaceAll('exp', 'Math.exp')
        .replaceAll('max', 'Math.max')
        .replace('empty sum', '0')}`,
    )() as number;

  test.each(rows)('%s', (_name, q, k, v, mask) => {
    const config: SessionConfig = {
      ...{ source: 'qkv', tq: 2, tk: 2, dK: 1, dV: 1 },
      ...{ masked: true, gradients: true },
    };
    const inputs = { q, k, v, mask: [...mask, 0, 0], dOutput: [1, 1] };
    const stages = [
      ...(['maskedScores', 'shifted', 'exponentials', 'plainExponentials', 'weights'] as const),
      ...(['rowMax', 'rowSum', 'plainRowSum', 'heads', 'dQ', 'dK', 'dV'] as const),
    ];
    for (const stage of stages) {
      const cols = ['weights', 'maskedScores', 'shifted'].includes(stage) ? [0, 1] : [0];
      for (const col of cols) {
        for (const byHand of stage === 'weights' ? [false, true] : [false]) {
          const [name, arithmetic] = explained(config, inputs, {}, byHand)(stage, 0, col);
          const sides = arithmetic.join(' ').split(/[=≈]/);
          const values = sides.map((side) => Number.isNaN(worth(side)));
          expect(new Set(values).size, `${name}: ${arithmetic.join(' ')}`).toBeLessThan(2);
        }
      }
    }
  });
});

test('a hidden key beside a score that overflowed: the mask has the last word', () => {
  const said = explained(
    { source: 'qkv', tq: 1, tk: 2, dK: 1, dV: 1, masked: true },
    { q: [3e38], k: [2, 1], v: [Infinity, 4], mask: [-Infinity, 0] },
  );
  expect(said('maskedScores', 0, 0).slice(1)).toEqual([
    ['∞ + (−∞)'],
    'The mask hides token 0 from token 0, so this is set to −∞, whatever the numbers that it would be made from.',
  ]);
  expect(said('heads', 0, 0).slice(1)).toEqual([
    ['1·4 = 4'],
    'Number 0 of the blend for token 0: the values of all keys, each times its weight. Numbers that are infinite or NaN are left out where the mask hides their key. Only token 1 supplies something.',
  ]);
});

describe('gradients', () => {
  // One query, two keys: the loss is the first number of the result, (a₀·1 + a₁·3).
  const back = explained(
    { source: 'qkv', tq: 1, tk: 2, dK: 1, dV: 1, gradients: true },
    { q: [0], k: [1, 0], v: [1, 3], dOutput: [1] },
  );

  test('say how fast the loss grows, and where it falls', () => {
    expect(back('dV', 0, 0)[2]).toMatch(
      /^How fast the loss grows when this number of the values.* grows\.$/,
    );
    // dS₀ = a₀·(1 − 2) = −0.5: more attention to the smaller value lowers the result.
    expect(back('dScores', 0, 0)[2]).toMatch(
      /grows\. It is below 0, so the loss falls\. Each number of dA .* by a·\(1 − a\) .*other\.$/,
    );
    // dK = scale·dSᵀ·q with q = 0.
    expect(back('dK', 0, 0)[2]).toMatch(/It is 0: a small change makes no difference\.$/);
  });
});

test('a long sum is shortened in the middle, and says by how much', () => {
  const ones = new Array<number>(64).fill(1);
  const said = explained(
    { source: 'qkv', tq: 1, tk: 1, dK: 64, dV: 1 },
    { q: ones, k: ones, v: [1] },
  );
  const [products, partials] = said('rawScores', 0, 0)[1];
  expect(products).toBe(`${new Array(11).fill('1·1').join(' + ')} + … 52 more … + 1·1`);
  expect(partials).toBe(`= ${new Array(11).fill('1').join(' + ')} + … 52 more … + 1 = 64`);
});

test('an empty sum says so', () => {
  const said = explained({ source: 'qkv', tq: 1, tk: 1, dK: 0, dV: 1 }, { v: [3] });
  expect(said('rawScores', 0, 0)[1]).toEqual(['empty sum = 0']);
});

test('gradients tell their products, and of a hidden key that nothing passes', () => {
  // Scores of 0 and causal order: the weights are [1, 0] and [1/2, 1/2].
  const said = explained(
    { source: 'qkv', tq: 2, tk: 2, dK: 1, dV: 1, causal: true, gradients: true },
    { v: [3, 5], dOutput: [1, 2] },
  );
  expect(said('dV', 0, 0)[1]).toEqual(['1·1 + 0.5·2 = 2']);
  expect(said('dWeights', 1, 0)[1]).toEqual(['2·3 = 6']);
  // Each dA times an entry of diag(a) − a·aᵀ, which is ±1/4.
  expect(said('dScores', 1, 0)[1]).toEqual(['6·0.25 + 10·(−0.25) = −1']);
  for (const stage of ['dWeights', 'dScores'] as const) {
    expect(said(stage, 0, 1).slice(1)).toEqual([
      ['empty sum = 0'],
      'No value of token 1 reaches token 0, so whatever stands here changes nothing.',
    ]);
  }
});

test('the spoken text holds the name, the arithmetic and the sentence', () => {
  const session = engine.createSession();
  session.configure(workedConfig);
  for (const [id, values] of Object.entries(workedInputs)) session.setInput(id as StageId, values);
  session.run();
  const context = {
    info: session.stage('rawScores'),
    labels: {},
    format,
    dK: 4,
    dV: 2,
    heads: 1,
    scale: null,
    overflow: null,
    noKey: false,
  };
  const cell = { stage: 'rawScores', batch: 0, head: 0, row: 1, col: 1 } as const;
  const said = explainCell(session.terms(cell), context);
  expect(said.value).toBe('4');
  expect(said.spoken).toBe(
    'raw scores 1,1: 0·0 + 4·1 + 0·0 + 2·0 = 0 + 4 + 0 + 0 = 4. How well the query of token 1 matches the key of token 1: feature 1 alone makes the score.',
  );
  // The operands carry the identity whose colour they take.
  const identities = said.arithmetic[0]?.map(({ identity }) => identity);
  expect(identities?.slice(0, 3)).toEqual(['q', undefined, 'k']);
  session.dispose();
});

test('a power near 0 is rounded to 1, and is not called the largest score', () => {
  const config: SessionConfig = { source: 'qkv', tq: 1, tk: 2, dK: 1, dV: 1, scale: 1 };
  const near = explained(config, { q: [1], k: [0, -2e-8], v: [1, 1] });
  expect(near('exponentials', 0, 1)).toEqual([
    'E 0,1',
    ['exp(−2e−8) ≈ 1'],
    'e to the power of the shifted score: the further below the largest, the smaller.',
  ]);
  expect(near('exponentials', 0, 0)[1]).toEqual(['exp(0) = 1']);
});

test('a cell of the mask says whether it hides, allows or adds', () => {
  const config: SessionConfig = { source: 'qkv', tq: 1, tk: 3, dK: 1, dV: 1, masked: true };
  const mask = explained(config, { mask: [0, -Infinity, 0.5] });
  const sentences = [0, 1, 2].map((col) => mask('mask', 0, col)[2]);
  expect(sentences).toEqual([
    'Token 0 may attend to token 0: adding 0 changes no score.',
    'Token 0 may not attend to token 1: −∞ hides the key.',
    'This is added to the score of token 0 for token 2, which stays visible.',
  ]);
});

test('with several heads, columns of grids and numbers side by side name theirs', () => {
  const config: SessionConfig = {
    ...{ source: 'x', tq: 1, tk: 1, dModel: 2, dK: 2, dV: 2, outputProjection: true },
    ...{ heads: 2, kvHeads: 2 },
  };
  const said = explained(config, { x: [1, 1], wv: [1, 2, 3, 4, 5, 6, 7, 8] });
  expect(said('wq', 0, 3)[2]).toContain('turns feature 1 of every query of head 1.');
  expect(said('wv', 1, 2)[2]).toContain('turns number 0 of every value row of key/value head 1.');
  expect(said('concat', 0, 3)[1]).toEqual(['O[0,1] of head 1 = 12']);
});

/** Cells of operations that need a mask, a cap or more than one head. */
describe('operations on their own', () => {
  const info = (id: StageId, operation: Operation): StageInfo => ({
    id,
    rows: 'query',
    cols: 'key',
    perBatch: true,
    perHead: 'heads',
    operation,
    operands: [],
    formula: '',
  });

  function arithmetic(
    stage: StageId,
    operation: Operation,
    value: number,
    operands: [StageId | null, number][],
  ): string[] {
    const place = { batch: 0, head: 0, row: 1, col: 0 };
    const cell: CellTerms = {
      cell: { stage, ...place },
      operation,
      value,
      terms: [
        {
          operands: operands.map(([id, operand]) => ({
            ref: id && { stage: id, ...place },
            value: operand,
          })),
          partial: value,
        },
      ],
    };
    const context = {
      info: info(stage, operation),
      labels: {},
      format,
      dK: 4,
      dV: 2,
      heads: 1,
      scale: null,
      overflow: null,
      noKey: false,
    };
    return lines(explainCell(cell, context).arithmetic);
  }

  test('a cap', () => {
    // 2·tanh(1) = 1.52318831…
    const found = arithmetic('cappedScores', 'softcap', Math.fround(1.5231883), [
      ['scaledScores', 2],
      [null, 2],
    ]);
    expect(found).toEqual(['2·tanh(2/2) ≈ 1.5232']);
  });

  test('a mask', () => {
    const found = arithmetic('maskedScores', 'addMask', -Infinity, [
      ['scaledScores', 2],
      ['mask', -Infinity],
    ]);
    expect(found).toEqual(['2 + (−∞) = −∞']);
  });

  test('keys that are past', () => {
    expect(arithmetic('presentKey', 'join', 3, [['k', 3]])).toEqual(['K[1,0] = 3']);
  });
});
