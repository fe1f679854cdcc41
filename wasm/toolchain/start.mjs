/** `npm start`: sets up, builds the WASM modules and serves the page. */
import { run, runMain } from './setup.mjs';
import { buildWasm } from './wasm.mjs';

await runMain(async () => {
  buildWasm();
  run('node_modules/.bin/vite', ['--clearScreen', 'false']);
});
