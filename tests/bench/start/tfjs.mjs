/** The first result of TensorFlow.js. */
import { tfjs } from '../contestants/tfjs.mjs';
import { showResult } from './show-result.mjs';

await showResult(tfjs);
