/** Serves the built site and package from sub-folders, under different policies, on a free port. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the page must run under. A worker obeys the header of its own file: every file has it. */
const strictPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'";

/**
 * `<policy>/<folder>/…`: the policies are these, by their headers, and pages of other origins may
 * read what is `open`.
 * @type {Record<string, Record<string, string>>}
 */
const policies = {
  open: { 'access-control-allow-origin': '*' },
  strict: { 'content-security-policy': strictPolicy },
  'no-workers': { 'content-security-policy': `${strictPolicy}; worker-src 'none'` },
};

/** @type {Record<string, string>} */
const folders = {
  core: fileURLToPath(new URL('../../lib/core', import.meta.url)),
  lab: fileURLToPath(new URL('../../dist', import.meta.url)),
  pages: fileURLToPath(new URL('pages', import.meta.url)),
};

/**
 * What a file is, by the end of its name.
 * @type {Record<string, string>}
 */
export const types = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** `address` ends with a slash: the page is at `${address}strict/lab/`. */
export async function startSite() {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = await find(pathname);
    if (!file) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Not found</p>');
      return;
    }
    const headers = { 'content-type': file.type, 'cache-control': 'no-store', ...file.policy };
    response.writeHead(200, headers).end(file.content);
  });
  return listen(server);
}

/** Opens the server at a free port; its address ends with a slash. */
export async function listen(/** @type {import('node:http').Server} */ server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    address: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** The file a path names, or null. */
async function find(/** @type {string} */ pathname) {
  const [, first = '', second = '', ...rest] = normalize(decodeURIComponent(pathname)).split('/');
  const policy = policies[first];
  const folder = folders[second];
  if (!policy || !folder || rest.length === 0) return null;
  const path = rest.join('/') || 'index.html';
  try {
    const content = await readFile(join(folder, path));
    return { policy, content, type: types[extname(path)] ?? 'application/octet-stream' };
  } catch {
    return null;
  }
}
