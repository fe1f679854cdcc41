/** The first result of onnxruntime-web, with the smallest model. */
import { onnx } from '../contestants/onnx.mjs';
import { showResult } from './show-result.mjs';

const attention = onnx.find(({ name }) => name === 'onnx-attention');
if (attention) await showResult(attention);
