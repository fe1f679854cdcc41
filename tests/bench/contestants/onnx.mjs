/** onnxruntime-web's WASM backend on one thread, with three hand-made models of the same attention. */
import * as ort from 'onnxruntime-web/wasm';
import { causalMask, toTokens } from './contestant.mjs';
import { writeModel } from './onnx-model.mjs';

/**
 * @typedef {import('../cases.mjs').Problem} Problem
 * @typedef {import('./onnx-model.mjs').Node} Node
 * @typedef {import('./onnx-model.mjs').Constant} Constant
 */

/**
 * A model of one problem: the shapes it takes Q and K (also V) in and gives its output in, nodes that
 * compute `out` of `q`, `k` and `v`, and constants beside these.
 * @typedef {object} Form
 * @property {number} opset
 * @property {number[]} queryShape
 * @property {number[]} keyShape
 * @property {boolean} tokens Q and the output are [tokens, heads, d]
 * @property {Node[]} nodes
 * @property {Constant[]} constants
 */

const noFloats = new Float32Array();

/** @type {Record<string, (problem: Problem) => Form>} */
const forms = {
  /** MatMul, Softmax, MatMul, as exporters without an attention operator write it. */
  primitives({ heads, tq, tk, d, causal }) {
    const front = heads === 1 ? [] : [heads];
    const scale = { name: 'scale', shape: [1], data: new Float32Array([1 / Math.sqrt(d)]) };
    const mask = { name: 'mask', shape: [tq, tk], data: causal ? causalMask(tq) : noFloats };
    const perm = heads === 1 ? [1, 0] : [0, 2, 1];
    const axis = { axis: heads === 1 ? 1 : 2 };
    /** @type {Node[]} */
    const nodes = [
      { op: 'Mul', inputs: ['q', 'scale'], output: 'scaled' },
      { op: 'Transpose', inputs: ['k'], output: 'kt', attributes: { perm } },
      { op: 'MatMul', inputs: ['scaled', 'kt'], output: 'scores' },
    ];
    if (causal) nodes.push({ op: 'Add', inputs: ['scores', 'mask'], output: 'masked' });
    nodes.push(
      {
        op: 'Softmax',
        inputs: [causal ? 'masked' : 'scores'],
        output: 'weights',
        attributes: axis,
      },
      { op: 'MatMul', inputs: ['weights', 'v'], output: 'out' },
    );
    return {
      opset: 17,
      queryShape: [...front, tq, d],
      keyShape: [...front, tk, d],
      tokens: false,
      nodes,
      constants: causal ? [scale, mask] : [scale],
    };
  },

  /** The standard operator of opset 23. */
  attention({ heads, tq, tk, d, causal }) {
    const attributes = { is_causal: Number(causal) };
    return {
      opset: 23,
      queryShape: [1, heads, tq, d],
      keyShape: [1, heads, tk, d],
      tokens: false,
      nodes: [{ op: 'Attention', inputs: ['q', 'k', 'v'], output: 'out', attributes }],
      constants: [],
    };
  },

  /** onnxruntime's own fused operator; for one query it takes K and V as a cache has them. */
  multihead({ heads, tq, tk, d, causal }) {
    const attributes = { num_heads: heads, unidirectional: Number(causal) };
    return {
      opset: 17,
      queryShape: [1, tq, heads * d],
      keyShape: tq === 1 ? [1, heads, tk, d] : [1, tk, heads * d],
      tokens: true,
      nodes: [
        {
          op: 'MultiHeadAttention',
          domain: 'com.microsoft',
          inputs: ['q', 'k', 'v'],
          output: 'out',
          attributes,
        },
      ],
      constants: [],
    };
  },
};

/** @type {import('./contestant.mjs').Contestant[]} */
export const onnx = Object.entries(forms).map(([name, formOf]) => ({
  name: `onnx-${name}`,
  role: 'peer',
  peak: 'simd128',
  async prepare(problem, inputs) {
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = 'error';
    const { heads, d, resident } = problem;
    const form = formOf(problem);
    const arrange = (/** @type {Float32Array} */ matrices, /** @type {number[]} */ shape) =>
      form.tokens && shape.length === 3 ? toTokens(matrices, heads, d) : matrices;
    const q = arrange(inputs.q, form.queryShape);
    const k = arrange(inputs.k, form.keyShape);
    const v = arrange(inputs.v, form.keyShape);
    // This backend copies every input of every run; what is to stay must be part of the model.
    const values = [{ name: 'q', shape: form.queryShape }];
    const keysAndValues = [
      { name: 'k', shape: form.keyShape, data: k },
      { name: 'v', shape: form.keyShape, data: v },
    ];
    const session = await ort.InferenceSession.create(
      writeModel({
        opset: form.opset,
        nodes: form.nodes,
        inputs: resident ? values : [...values, ...keysAndValues],
        output: { name: 'out', shape: form.queryShape },
        constants: resident ? [...form.constants, ...keysAndValues] : form.constants,
      }),
      { executionProviders: ['wasm'] },
    );
    const copied = resident ? [] : keysAndValues;
    return {
      async run() {
        /** @type {Record<string, ort.Tensor>} */
        const feeds = { q: new ort.Tensor('float32', q, form.queryShape) };
        for (const { name: input, shape, data } of copied) {
          feeds[input] = new ort.Tensor('float32', data, shape);
        }
        const { out } = await session.run(feeds);
        return /** @type {Float32Array} */ (out?.data);
      },
      layout: form.tokens ? 'tokens' : 'heads',
    };
  },
}));
