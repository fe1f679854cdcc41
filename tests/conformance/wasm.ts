/** Computes a conformance case through the typed API of one WASM build. */
import {
  attend,
  type Build,
  type Engine,
  load,
  type SessionConfig,
  type StageId,
} from '../../web/core/index.ts';

interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: readonly (number | string)[];
}

interface Node {
  readonly op: string;
  readonly attributes: Readonly<Record<string, number>>;
  readonly inputs: Readonly<Record<string, Tensor>>;
}

interface Output {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

const attributeNames = [
  'is_causal',
  'kv_num_heads',
  'q_num_heads',
  'qk_matmul_output_mode',
  'scale',
  'softcap',
];
const inputNames = ['Q', 'K', 'V', 'attn_mask', 'past_key', 'past_value', 'nonpad_kv_seqlen'];

/** The stage that each mode shows; one that does not apply shows the one before. */
const scoreStages: readonly (readonly StageId[])[] = [
  ['scaledScores'],
  ['cappedScores', 'scaledScores'],
  ['maskedScores', 'cappedScores', 'scaledScores'],
  ['weights'],
];

type Compute = (item: { source: Node }) => Record<string, Output>;

async function computeWith(build: Build): Promise<readonly [staged: Compute, fused: Compute]> {
  const engine = await load({ build });
  const staged: Compute = ({ source }) => {
    const session = engine.createSession();
    try {
      return compute(session, read(source));
    } finally {
      session.dispose();
    }
  };
  return [staged, ({ source }) => computeFused(engine, read(source))];
}

// Loaded with this file: the runner that imports it does not outlive the import.
const [simd128, simd128Fused] = await computeWith('simd128');
const [relaxed, relaxedFused] = await computeWith('relaxed');
export const builds = {
  simd128,
  'simd128 fused': simd128Fused,
  relaxed,
  'relaxed fused': relaxedFused,
};

/** A case as the API takes it. */
function read(node: Node) {
  requireKnown('operator', [node.op], ['Attention']);
  requireKnown('attribute', Object.keys(node.attributes), attributeNames);
  requireKnown('input', Object.keys(node.inputs), inputNames);
  const {
    Q,
    K,
    V,
    attn_mask: mask,
    past_key: pastKey,
    past_value: pastValue,
    nonpad_kv_seqlen: lengths,
  } = node.inputs;
  if (!Q || !K || !V) throw new Error('Q, K and V are needed');
  const {
    is_causal: causal = 0,
    softcap = 0,
    scale,
    qk_matmul_output_mode: mode = 0,
  } = node.attributes;
  const flat = Q.shape.length === 3;
  const axesOf = (tensor: Tensor, heads: number | undefined) => {
    if (tensor.shape.length !== Q.shape.length) throw new Error('Q, K and V differ in their axes');
    if (!flat) return tensor.shape as readonly [number, number, number, number];
    const [batch, tokens, columns] = tensor.shape as readonly [number, number, number];
    if (!heads || columns % heads !== 0) throw new Error(`${columns} columns for ${heads} heads`);
    return [batch, heads, tokens, columns / heads] as const;
  };
  const { q_num_heads: qHeads, kv_num_heads: kvHeads } = node.attributes;
  const q = axesOf(Q, qHeads);
  const k = axesOf(K, kvHeads);
  const v = axesOf(V, kvHeads);
  const past = pastKey?.shape[2] ?? 0;
  const config: SessionConfig = {
    source: 'qkv',
    batch: q[0],
    heads: q[1],
    kvHeads: k[1],
    tq: q[2],
    tk: k[2] + past,
    dK: q[3],
    dV: v[3],
    past,
    causal: causal === 1,
    masked: mask !== undefined,
    ...(scale === undefined ? {} : { scale }),
    // The operator's 0 means none.
    ...(softcap === 0 ? {} : { softcap }),
    ...(lengths ? { validLengths: lengths.data.map(Number) } : {}),
  };
  return {
    config,
    mode,
    layout: flat ? ('tokens' as const) : ('heads' as const),
    q: numbers(Q),
    k: numbers(K),
    v: numbers(V),
    ...(pastKey ? { pastKey: numbers(pastKey) } : {}),
    ...(pastValue ? { pastValue: numbers(pastValue) } : {}),
    ...(mask
      ? {
          mask: {
            kind: mask.dtype === 'bool' ? ('boolean' as const) : ('float' as const),
            shape: mask.shape,
            values: numbers(mask),
          },
        }
      : {}),
  };
}

type Case = ReturnType<typeof read>;

function compute(session: ReturnType<Engine['createSession']>, item: Case) {
  const { config, layout, mode, mask, pastKey, pastValue } = item;
  session.configure(config);
  for (const name of ['q', 'k', 'v'] as const) session.setInput(name, item[name], layout);
  if (pastKey) session.setPast('presentKey', pastKey);
  if (pastValue) session.setPast('presentValue', pastValue);
  if (mask) session.setMask(mask);
  session.run();

  const output = (stage: StageId, shape?: readonly number[]): Output => {
    const { batch, heads, rows, cols } = session.shape(stage);
    return { shape: shape ?? [batch, heads, rows, cols], data: [...session.view(stage)] };
  };
  const scores = scoreStages[mode]?.find((stage) => session.has(stage));
  if (!scores) throw new Error(`unknown qk_matmul_output_mode ${mode}`);
  return {
    Y: layout === 'tokens' ? output('concat', flatShape(config)) : output('heads'),
    qk_matmul_output: output(scores),
    ...(pastKey ? { present_key: output('presentKey') } : {}),
    ...(pastValue ? { present_value: output('presentValue') } : {}),
  };
}

function computeFused(engine: Engine, item: Case): { Y: Output } {
  const { config, layout, mask, ...inputs } = item;
  const values = mask ? { mask: mask.values } : {};
  const data = attend(
    engine,
    { ...inputs, ...values, layout },
    { ...config, ...(mask ? { mask } : {}) },
  );
  const { batch = 1, heads = 1, tq, dV } = config;
  if (layout === 'heads') return { Y: { shape: [batch, heads, tq, dV], data: [...data] } };
  // Heads side by side for each token, as the operator has them.
  const concat = Array.from(data, (_, at) => {
    const [col, head] = [at % dV, Math.floor(at / dV) % heads];
    const token = Math.floor(at / dV / heads);
    return data[((Math.floor(token / tq) * heads + head) * tq + (token % tq)) * dV + col] as number;
  });
  return { Y: { shape: flatShape(config), data: concat } };
}

const flatShape = ({ batch = 1, heads = 1, tq, dV }: SessionConfig) => [batch, tq, heads * dV];

const numbers = ({ data }: Tensor): number[] => data.map(Number);

function requireKnown(what: string, found: readonly string[], known: readonly string[]): void {
  const strange = found.filter((name) => !known.includes(name));
  if (strange.length > 0) throw new Error(`unknown ${what} ${strange.join(', ')}`);
}
