/** Measures the case that the parent process sends, in Node. */
import { measure } from './measure.mjs';

process.once('message', async (/** @type {import('./hosts.mjs').Task} */ { problem, field }) => {
  const measurement = await measure(problem, field);
  process.send?.(measurement, () => process.exit());
});
