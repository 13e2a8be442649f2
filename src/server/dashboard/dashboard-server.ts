// The dashboard over HTTP: the page's three files, and the documents it asks for under /kerf/v1/. Loopback unless asked
// otherwise; names it is not called by, and other web pages, are turned away before anything is looked at.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Clock, KerfError, messageOf, refusalOf } from '../../base/index.ts';
import { type AnswerParts, limits } from './answers.ts';
import { ApiError } from './api-error.ts';
import { assetNamed } from './assets.ts';
import { documentAt } from './documents.ts';
import { cellsText, nodesText } from './lists.ts';
import { serveStream } from './stream.ts';
import type { Token } from './token.ts';
import type { WhatIfs } from './what-if.ts';

export interface DashboardOptions extends AnswerParts {
  port: number;
  host?: string;
  real: Clock;
  whatIfs: WhatIfs;
  allowedHosts?: readonly string[];
  /** What is shown just now, where that is not always the same: a player goes back in time. */
  scene?: () => Scene;
  /** Whoever has not shown it is turned away. */
  token?: Token;
}

export interface Scene {
  parts: AnswerParts;
  whatIfs: WhatIfs;
}

export interface DashboardServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

const compress = promisify(gzip);
/** Smaller answers travel as they are. */
const leastCompressed = 2_048;

const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export async function serveDashboard(options: DashboardOptions): Promise<DashboardServer> {
  const host = options.host ?? '127.0.0.1';
  const sockets = new Set<Socket>();
  const server = createServer(
    { requestTimeout: 60_000 },
    (request, response) => void respond(options, request, response),
  );
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const why = isTaken ? `port ${options.port} is taken; name another one, or 0 for any free one` : error.message;
      const code = isTaken ? 'PortInUse' : 'CannotListen';
      reject(new KerfError(code, `cannot serve the dashboard on ${host}:${options.port}: ${why}`, { cause: error }));
    });
    server.listen(options.port, host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function respond(options: DashboardOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  try {
    const url = new URL(request.url ?? '/', 'http://dashboard');
    guard(options, request);
    if (options.token !== undefined && !options.token.admits(request, url, response)) return;
    if (url.pathname.startsWith('/kerf/v1/')) await serveDocument(options, request, response, url);
    else serveAsset(request, response, url.pathname);
  } catch (thrown) {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const error = thrown instanceof ApiError ? thrown : new ApiError(500, 'InternalError', messageOf(thrown));
    const { code, message, fix, status } = error;
    await sendJson(request, response, status, { code, message, ...(fix !== undefined && { fix }) });
  }
}

function guard({ allowedHosts = [] }: DashboardOptions, { method = '', headers: given }: IncomingMessage): void {
  const refusal = refusalOf(
    { method, host: given.host, origin: given.origin, fetchSite: given['sec-fetch-site'] },
    allowedHosts,
  );
  if (refusal !== undefined) throw new ApiError(refusal.status, refusal.code, refusal.message);
  const isWrite = method !== 'GET' && method !== 'HEAD';
  if (isWrite && method !== 'DELETE' && !/^application\/json\b/.test(given['content-type'] ?? '')) {
    throw new ApiError(415, 'UnsupportedMediaType', 'the body must be JSON', 'send Content-Type: application/json');
  }
}

const sceneOf = (options: DashboardOptions): Scene => options.scene?.() ?? { parts: options, whatIfs: options.whatIfs };

async function serveDocument(
  options: DashboardOptions,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const [first = '', ...words] = decoded(url.pathname.slice('/kerf/v1/'.length));
  const { method } = request;
  if (method === 'POST' || method === 'DELETE') {
    await sendJson(request, response, method === 'POST' ? 202 : 200, await act(options, request, first, words));
    return;
  }
  if (method !== 'GET' && method !== 'HEAD')
    throw new ApiError(405, 'MethodNotAllowed', `${method} is not possible here`);
  const { parts, whatIfs } = sceneOf(options);
  if (first === 'stream' && words.length === 0) {
    const { real } = options;
    const isOver = (): boolean => sceneOf(options).parts !== parts;
    serveStream({ parts, response, query: url.searchParams, real, whatIfs, isOver });
    return;
  }
  if (words.length === 0 && (first === 'nodes' || first === 'cells')) {
    const stop = parts.live.watch(() => undefined);
    try {
      await parts.live.ready();
      const text = first === 'nodes' ? nodesText(parts.live) : cellsText(parts.live, url.searchParams);
      await sendText(request, response, 200, text);
    } finally {
      stop();
    }
    return;
  }
  if (first === 'what-if' && words.length === 1) {
    await sendJson(request, response, 200, whatIfs.result(words[0] as string));
    return;
  }
  await sendJson(request, response, 200, await documentAt(parts, [first, ...words], url.searchParams));
}

async function act(
  options: DashboardOptions,
  request: IncomingMessage,
  first: string,
  words: string[],
): Promise<object> {
  const { whatIfs } = sceneOf(options);
  if (first === 'what-if' && request.method === 'DELETE' && words[0] !== undefined) return whatIfs.cancel(words[0]);
  if (request.method === 'POST' && words.length === 0) {
    if (first === 'what-if') return whatIfs.start(await readJson(request));
    if (first === 'player' && options.info.player !== undefined)
      return options.info.player.act(await readJson(request));
  }
  throw new ApiError(404, 'NotFound', 'there is nothing to do at this address');
}

function decoded(path: string): string[] {
  try {
    return path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    throw new ApiError(400, 'BadRequest', 'the address is not encoded correctly');
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limits.whatIfBytes) {
      throw new ApiError(413, 'TooLarge', `the body is larger than ${limits.whatIfBytes} bytes`);
    }
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new ApiError(400, 'BadRequest', 'the body is not JSON');
  }
}

function serveAsset(request: IncomingMessage, response: ServerResponse, pathname: string): void {
  const asset = assetNamed(pathname === '/' ? 'index.html' : pathname.slice(1));
  if (asset === undefined) throw ApiError.notFound('there is nothing at this address');
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new ApiError(405, 'MethodNotAllowed', 'read only');
  const accepts = String(request.headers['accept-encoding'] ?? '');
  const brotli = accepts.includes('br') ? asset.brotli : undefined;
  const zipped = accepts.includes('gzip') ? asset.gzip : undefined;
  const body = brotli ?? zipped ?? asset.body;
  if (brotli !== undefined) response.setHeader('Content-Encoding', 'br');
  else if (zipped !== undefined) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('Cache-Control', 'no-cache');
  response.writeHead(200, { 'Content-Type': asset.type, 'Content-Length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

const sendJson = (request: IncomingMessage, response: ServerResponse, status: number, body: object): Promise<void> =>
  sendText(request, response, status, JSON.stringify(body));

async function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  given: string | { text: string; gzip(): Promise<Buffer> },
): Promise<void> {
  const text = typeof given === 'string' ? given : given.text;
  const isZipped = text.length >= leastCompressed && String(request.headers['accept-encoding'] ?? '').includes('gzip');
  const body = isZipped ? await (typeof given === 'string' ? compress(text) : given.gzip()) : Buffer.from(text);
  if (isZipped) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Cache-Control', 'no-store');
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}
