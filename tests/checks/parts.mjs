/** Runs the parts of a command one after another and ends with a table of what passed and how long it took. */

/**
 * A failing part does not keep the later ones from running; the exit status tells of any failure.
 * @param {Record<string, () => unknown>} parts
 */
export async function runParts(parts) {
  const rows = [];
  for (const [name, part] of Object.entries(parts)) {
    console.log(`\n== ${name}`);
    const start = performance.now();
    let passed = true;
    try {
      await part();
    } catch (error) {
      passed = false;
      process.exitCode = 1;
      console.error(error instanceof Error ? error.message : error);
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    rows.push(`${passed ? 'passed' : 'FAILED'} ${seconds.padStart(7)} s  ${name}`);
  }
  console.log(`\n${rows.join('\n')}`);
}
