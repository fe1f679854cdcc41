/** Enforces who may know whom: the imports of web/ and the includes of wasm/. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/**
 * `layers` may be imported whole, `types` only as types (`import type`, or the layer's types.ts);
 * `packages` are the npm packages (and Node's own modules) a layer may use.
 * @type {Record<string, { layers: string[], types: string[], packages: RegExp | null }>}
 */
const webLayers = {
  page: { layers: ['widget'], types: [], packages: null },
  widget: {
    layers: ['state', 'core', 'view', 'format', 'io', 'lessons'],
    types: [],
    packages: /^lit(\/|$)/,
  },
  view: { layers: ['format'], types: ['core', 'state'], packages: /^lit(\/|$)/ },
  state: { layers: ['io', 'format'], types: ['core'], packages: null },
  format: { layers: [], types: ['core', 'state'], packages: null },
  io: { layers: ['format'], types: ['core', 'state'], packages: null },
  lessons: { layers: [], types: ['core', 'state'], packages: null },
  core: { layers: [], types: [], packages: /^node:/ },
};

/** What a folder of wasm/ may include beside the standard library and its own headers. */
const wasmFolders = /** @type {const} */ ({
  include: /^attn\//,
  src: /^attn\//,
  reference: /^attn\//,
  bindings: /^((attn|emscripten)\/|malloc\.h$)/,
  bench: /^(attn|benchmark)\//,
});

/** The one file that chooses where the vector instructions come from. */
const simdAdapter = 'wasm/src/simd.hpp';
const simdHeaders = /^(wasm_simd128\.h|simde\/)/;

/** Every violation below `root`, as `file: sentence`. */
export function layeringProblems(/** @type {string} */ root) {
  return [
    ...sources(root, 'web', /\.(ts|mjs)$/).flatMap(webProblems),
    ...sources(root, 'wasm', /\.(cpp|hpp)$/).flatMap(wasmProblems),
  ];
}

/** @typedef {{ path: string, text: string }} Source */

/** @returns {Source[]} */
function sources(
  /** @type {string} */ root,
  /** @type {string} */ folder,
  /** @type {RegExp} */ pattern,
) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !name.includes('generated'))
    .map((name) => join(folder, name))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** @returns {string[]} */
function webProblems(/** @type {Source} */ { path, text }) {
  const layer = layerOf(path);
  const rule = webLayers[layer];
  if (!rule) return [`${path}: web/${layer} is not a known layer.`];
  return importsOf(text).flatMap(({ target, typeOnly }) => {
    if (!target.startsWith('.')) {
      const allowed = rule.packages?.test(target);
      return allowed ? [] : [`${path}: ${layer} may not use the package ${target}.`];
    }
    const file = normalize(join(dirname(path), target));
    const other = layerOf(file);
    if (other === layer || rule.layers.includes(other)) return [];
    const asTypes = typeOnly || file.endsWith('/types.ts');
    if (asTypes && rule.types.includes(other)) return [];
    const how = rule.types.includes(other) ? ' but for its types' : '';
    return [`${path}: ${layer} may not know ${other}${how} (${target}).`];
  });
}

const layerOf = (/** @type {string} */ path) => path.split('/')[1] ?? '';

/** The imports and re-exports of a module, static and dynamic. */
export function importsOf(/** @type {string} */ text) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const statements =
    /^\s*(?:import|export)\s+(type\s)?[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*()['"]([^'"]+)['"]|\bimport\(\s*()['"]([^'"]+)['"]/gm;
  return [...code.matchAll(statements)].map((match) => ({
    target: /** @type {string} */ (match[2] ?? match[4] ?? match[6]),
    typeOnly: !!match[1],
  }));
}

/** @returns {string[]} */
function wasmProblems(/** @type {Source} */ { path, text }) {
  const folder = /** @type {keyof typeof wasmFolders} */ (path.split('/')[1] ?? '');
  const allowed = wasmFolders[folder];
  if (!allowed) return [`${path}: wasm/${folder} is not a known folder.`];
  return [...text.matchAll(/^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")/gm)].flatMap((match) => {
    const header = /** @type {string} */ (match[1] ?? match[2]);
    if (allowed.test(header)) return [];
    if (path === simdAdapter && simdHeaders.test(header)) return [];
    const standard = match[1] !== undefined && /^[a-z_0-9]+$/.test(header);
    const own = match[2] !== undefined && !header.includes('/');
    return standard || own ? [] : [`${path}: wasm/${folder} may not include ${header}.`];
  });
}
