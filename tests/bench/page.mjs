/** Measures the case that the page's address names, and sends the outcome back to the server. */

/** @type {{ measurement?: import('./measure.mjs').Measurement, error?: string }} */
let outcome;
try {
  const { problem, field } = JSON.parse(decodeURIComponent(location.search.slice(1)));
  const { measure } = await import('./measure.mjs');
  outcome = { measurement: await measure(problem, field) };
} catch (error) {
  outcome = { error: String(error) };
}
await fetch('outcome', { method: 'POST', body: JSON.stringify(outcome) });
