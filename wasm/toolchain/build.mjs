/** `npm run build`: the static site in dist/ and the npm package in lib/. */
import { runMain } from './setup.mjs';
import { buildPackage, buildSite } from './site.mjs';
import { buildWasm } from './wasm.mjs';

await runMain(async () => {
  buildWasm();
  buildSite();
  buildPackage();
});
