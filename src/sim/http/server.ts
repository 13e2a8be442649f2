// The cluster's API over HTTP, on loopback unless asked otherwise. Every answer is JSON; every failure is a Status, also
// those of malformed requests and of bugs here: the process lives on.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { stringify as stringifyYaml } from 'yaml';
import { KerfError, messageOf, refusalOf } from '../../base/index.ts';
import type { Machinery } from '../api/machinery.ts';
import { internalError, methodNotAllowed, noSuchResource, StatusError, statusObject } from '../api/status.ts';
import { gitVersion, presentedKubernetes } from '../kubernetes-version.ts';
import { aggregated, apiGroupList, apiGroupOf, apiResourceList, apiVersions } from './discovery.ts';
import { acceptClauses } from './negotiate.ts';
import { OpenApi } from './openapi.ts';
import { openApiV2Type } from './openapi-v2-protobuf.ts';
import { parseResourcePath } from './request.ts';
import { serveResource, UnknownPath } from './resource-requests.ts';

/** What /version answers. */
const version = {
  major: `${presentedKubernetes.major}`,
  minor: `${presentedKubernetes.minor}`,
  emulationMajor: `${presentedKubernetes.major}`,
  emulationMinor: `${presentedKubernetes.minor}`,
  minCompatibilityMajor: `${presentedKubernetes.major}`,
  minCompatibilityMinor: `${presentedKubernetes.minor - 1}`,
  gitVersion,
  gitCommit: 'simulated',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'linux/amd64',
};

/** As on the real server: selectors travel in the address, and can be long. */
const headerLimitBytes = 1024 * 1024;

export interface ApiServerOptions {
  /** 0: any free port. */
  port?: number;
  host?: string;
  /** Names it may be called by, beside loopback's and its own address. */
  allowedHosts?: readonly string[];
  /** What /metrics answers, asked at every scrape; without it there is no such address. */
  metrics?: () => { contentType: string; render(): Promise<string> } | undefined;
  /** The time on the machine of those who read, where the cluster's passes faster. */
  wallClock?: () => number;
}

export interface ApiServer {
  url: string;
  port: number;
  /** Ends open watches and stops listening. */
  close(): Promise<void>;
}

export async function serveApi(machinery: Machinery, options: ApiServerOptions = {}): Promise<ApiServer> {
  const host = options.host ?? '127.0.0.1';
  const openApi = new OpenApi(machinery.registry);
  const allowedHosts = [...(options.allowedHosts ?? []), host];
  const sockets = new Set<Socket>();
  const { metrics, wallClock } = options;
  const aheadMs = (): number => (wallClock === undefined ? 0 : machinery.clock.now() - wallClock());
  const served = { machinery, openApi, metrics, aheadMs };
  const server = createServer(
    { keepAliveTimeout: 60_000, requestTimeout: 0, maxHeaderSize: headerLimitBytes },
    (request, response) => {
      void respond(served, request, response, allowedHosts);
    },
  );
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable) socket.end(refusal(error.code === 'HPE_HEADER_OVERFLOW'));
  });
  await listen(server, options.port ?? 0, host);
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

/** The answer to something that is not HTTP, or too long to be read as such. */
function refusal(tooLong: boolean): string {
  const error = tooLong
    ? new StatusError(431, 'RequestEntityTooLarge', `the request's head is larger than ${headerLimitBytes} bytes`)
    : new StatusError(400, 'BadRequest', 'the request is not HTTP/1.1');
  const body = `${JSON.stringify(statusObject(error))}\n`;
  const head = [
    `HTTP/1.1 ${error.status} ${tooLong ? 'Request Header Fields Too Large' : 'Bad Request'}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const { code = '' } = error;
      const busy = code === 'EADDRINUSE';
      const fixes: Record<string, string> = {
        EADDRINUSE: `port ${port} is taken; name another with --port, or --port 0 for any free one`,
        ENOTFOUND: `"${host}" is not an address; write one like 127.0.0.1 or 0.0.0.0, and the port with --port`,
        EADDRNOTAVAIL: `${host} is not an address of this machine; 0.0.0.0 stands for all of them`,
      };
      const fix = fixes[code] ?? messageOf(error);
      reject(
        new KerfError(busy ? 'PortInUse' : 'CannotListen', `cannot serve the API on ${host}:${port}: ${fix}`, {
          subject: `${host}:${port}`,
          cause: error,
        }),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

interface Served {
  machinery: Machinery;
  openApi: OpenApi;
  metrics: ApiServerOptions['metrics'];
  aheadMs: () => number;
}

async function respond(
  served: Served,
  request: IncomingMessage,
  response: ServerResponse,
  allowedHosts: readonly string[],
): Promise<void> {
  response.on('error', () => undefined);
  try {
    guard(request, allowedHosts);
    await route(served, request, response);
  } catch (thrown) {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (thrown instanceof UnknownPath) {
      notFoundPage(response);
      return;
    }
    const error = thrown instanceof StatusError ? thrown : internalError(messageOf(thrown));
    if (error.retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(error.retryAfterSeconds));
    send(request, response, error.status, statusObject(error));
  }
}

/** There are no passwords here: whoever a browser sends is refused, whatever name it found us by. */
function guard({ method = '', headers, socket }: IncomingMessage, allowedHosts: readonly string[]): void {
  const { host, origin } = headers;
  const fetchSite = headers['sec-fetch-site'];
  const asked = { method, host, origin, ...(typeof fetchSite === 'string' ? { fetchSite } : {}) };
  // The address itself, where several are listened on: rebinding needs a name.
  const own = [socket.localAddress ?? '', `[${socket.localAddress ?? ''}]`];
  const refusal = refusalOf(asked, [...allowedHosts, ...own]);
  if (refusal !== undefined)
    throw new StatusError(refusal.status, refusal.status === 403 ? 'Forbidden' : 'Misdirected', refusal.message);
}

async function route(
  { machinery, openApi, metrics, aheadMs }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://cluster');
  const path = parseResourcePath(url.pathname);
  if (path !== undefined) {
    await serveResource({
      machinery,
      request,
      response,
      path,
      query: url.searchParams,
      aheadMs,
      answer: (code, body) => send(request, response, code, body),
    });
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
  const scraped = url.pathname === '/metrics' ? metrics?.() : undefined;
  if (scraped !== undefined) {
    response.writeHead(200, { 'Content-Type': scraped.contentType });
    response.end(await scraped.render());
    return;
  }
  serveDocument(machinery, openApi, url.pathname, request, response);
}

function serveDocument(
  machinery: Machinery,
  openApi: OpenApi,
  pathname: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { registry } = machinery;
  const path = pathname.replace(/\/+$/, '');
  const ok = (body: object | undefined): void => {
    if (body === undefined) notFoundPage(response);
    else send(request, response, 200, body);
  };
  if (path === '/version') return ok(version);
  if (/^\/(healthz|readyz|livez)(\/[\w.-]+)*$/.test(path)) return plain(response, 200, 'ok');
  if (path === '/api' || path === '/apis') {
    const wanted = acceptClauses(request).find(
      ({ parameters }) => parameters['g'] === 'apidiscovery.k8s.io' && parameters['v'] === 'v2',
    );
    if (wanted !== undefined) {
      response.setHeader('Content-Type', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
      return ok(aggregated(registry, path === '/api'));
    }
    return ok(path === '/api' ? apiVersions(request.headers.host ?? '') : apiGroupList(registry));
  }
  if (path === '/api/v1') return ok(apiResourceList(registry, '', 'v1'));
  const group = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  if (group !== null) {
    const [, name = '', groupVersion] = group;
    return ok(groupVersion === undefined ? apiGroupOf(registry, name) : apiResourceList(registry, name, groupVersion));
  }
  if (path === '/openapi/v3') return jsonText(response, openApi.index());
  if (path === '/openapi/v2') {
    if (acceptClauses(request)[0]?.type !== openApiV2Type) return jsonText(response, openApi.v2());
    // The name under which it is asked for is not a legal type to answer with.
    response.writeHead(200, { 'Content-Type': openApiV2Type.replace('@', '.') }).end(openApi.v2Protobuf());
    return undefined;
  }
  if (path.startsWith('/openapi/v3/')) {
    const document = openApi.document(path.slice('/openapi/v3/'.length));
    return document === undefined ? notFoundPage(response) : jsonText(response, document);
  }
  // Everything below /api is at least an API.
  if (path.startsWith('/api/')) throw noSuchResource();
  if (path === '')
    return ok({ paths: ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'] });
  return notFoundPage(response);
}

const notFoundPage = (response: ServerResponse): void => plain(response, 404, '404 page not found\n');

function plain(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}

function jsonText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(text);
}

function send(request: IncomingMessage, response: ServerResponse, code: number, body: object): void {
  const wantsYaml = acceptClauses(request)[0]?.type === 'application/yaml';
  const text = wantsYaml ? stringifyYaml(body) : `${JSON.stringify(body)}\n`;
  if (!response.hasHeader('Content-Type'))
    response.setHeader('Content-Type', wantsYaml ? 'application/yaml' : 'application/json');
  response.statusCode = code;
  const bytes = Buffer.byteLength(text);
  response.setHeader('Content-Length', bytes);
  // Nearly every answer is plain ASCII, and then written without being transcoded.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}
