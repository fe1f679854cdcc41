/** Serves a folder on a free port of this machine. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { listen, types } from '../browser/server.mjs';

/** For `serve`: an isolated page has the fine clock. */
export const isolated = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/**
 * @param {string} folder
 * @param {Record<string, string>} [headers] of every file
 * @param {(body: string) => void} [onPost] is given what a page sends
 */
export async function serve(folder, headers, onPost) {
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      /** @type {Buffer[]} */
      const parts = [];
      for await (const part of request) parts.push(part);
      response.writeHead(204).end();
      onPost?.(Buffer.concat(parts).toString());
      return;
    }
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = normalize(decodeURIComponent(pathname)).replace(/\/$/, '/index.html');
    const content = await readFile(join(folder, path)).catch(() => null);
    if (!content) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
      return;
    }
    response.writeHead(200, {
      'content-type': types[extname(path)] ?? 'application/octet-stream',
      'cache-control': 'no-store',
      ...headers,
    });
    response.end(content);
  });
  return listen(server);
}
