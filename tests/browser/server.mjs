/** Serves the built site from a sub-folder, with and without the strict policy, on a free port. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the page must run under. A worker obeys the header of its own file: every file has it. */
const strictPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'";

/** `<policy>/<folder>/…`: the policies are `open` and `strict`, the folders these. */
const folders = {
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
    /** @type {Record<string, string>} */
    const headers = { 'content-type': file.type, 'cache-control': 'no-store' };
    if (pathname.startsWith('/strict/')) headers['content-security-policy'] = strictPolicy;
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
  const [, policy, folder, ...rest] = normalize(decodeURIComponent(pathname)).split('/');
  const known = policy === 'open' || policy === 'strict';
  if (!known || (folder !== 'lab' && folder !== 'pages') || rest.length === 0) return null;
  const path = rest.join('/') || 'index.html';
  try {
    const content = await readFile(join(folders[folder], path));
    return { content, type: types[extname(path)] ?? 'application/octet-stream' };
  } catch {
    return null;
  }
}
