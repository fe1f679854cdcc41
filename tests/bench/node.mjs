/** Measures the case that the parent process sends, in Node. */
import { measure } from './measure.mjs';

process.once('message', async (/** @type {import('./hosts.mjs').Task} */ { problem, alone }) => {
  const measurement = await measure(problem, alone);
  process.send?.(measurement, () => process.exit());
});
