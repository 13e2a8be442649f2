// The two small HTTP servers of the process: probes and metrics. They answer from memory, so that a busy planner never
// makes a kubelet think we are dead.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KerfError, originRefusal } from '../base/index.ts';
import { startProfiler } from './profiling.ts';

export interface Endpoints {
  /** The ports listened on, for callers that asked for port 0. */
  metricsPort: number;
  healthPort: number;
  close(): Promise<void>;
}

export interface EndpointOptions {
  metricsPort: number;
  healthPort: number;
  /** What makes a restart the only way out; undefined when all is well. */
  unhealthy?(): string | undefined;
  /** Why the process is not ready yet; undefined when it is. */
  notReady(): string | undefined;
  metrics: { contentType: string; render(): Promise<string> };
  /** More pages of the metrics port, as JSON, by path. */
  pages?: Readonly<Record<string, () => unknown>>;
  /** Also serve profiles of this process, on the metrics port. */
  enableProfiling?: boolean;
}

export async function serveEndpoints(options: EndpointOptions): Promise<Endpoints> {
  const health = createServer((request, response) => {
    if (isTurnedAway(request, response)) return;
    const path = request.url?.split('?')[0];
    const problem = path === '/readyz' ? options.notReady() : options.unhealthy?.();
    if (path !== '/healthz' && path !== '/readyz') response.writeHead(404).end('404 page not found\n');
    else response.writeHead(problem === undefined ? 200 : 500, { 'content-type': 'text/plain' }).end(problem ?? 'ok');
  });
  const profiler = options.enableProfiling === true ? await startProfiler() : undefined;
  const metrics = createServer((request, response) => {
    if (isTurnedAway(request, response)) return;
    const answer = async (): Promise<void> => {
      if ((await profiler?.answer(request, response)) !== true) await answerMetrics(options, request, response);
    };
    answer().catch((error: unknown) => {
      response.writeHead(500).end(`cannot answer ${request.url}: ${String(error)}\n`);
    });
  });
  const healthPort = await listen(health, options.healthPort, 'health-probe-port');
  try {
    const metricsPort = await listen(metrics, options.metricsPort, 'metrics-port');
    const closeAll = async (): Promise<void> => {
      profiler?.close();
      await Promise.all([close(health), close(metrics)]);
    };
    return { metricsPort, healthPort, close: closeAll };
  } catch (error) {
    await close(health);
    throw error;
  }
}

/** A port that is forwarded to an operator's machine is within reach of every web page there. */
function isTurnedAway({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const fetchSite = headers['sec-fetch-site']?.toString();
  const refusal = originRefusal({ host: headers.host, origin: headers.origin, fetchSite });
  if (refusal !== undefined)
    response.writeHead(refusal.status, { 'content-type': 'text/plain' }).end(`${refusal.message}\n`);
  return refusal !== undefined;
}

async function answerMetrics(
  { metrics, pages }: EndpointOptions,
  request: Parameters<RequestListener>[0],
  response: Parameters<RequestListener>[1],
): Promise<void> {
  const path = request.url?.split('?')[0] ?? '';
  const page = pages !== undefined && Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page !== undefined) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page()));
    return;
  }
  if (path !== '/metrics') {
    response.writeHead(404).end('404 page not found\n');
    return;
  }
  const text = await metrics.render();
  response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
}

function listen(server: Server, port: number, flag: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'it is in use' : error.message;
      reject(
        new KerfError('PortUnavailable', `cannot listen on port ${port}: ${why}; choose another with --${flag}`, {
          cause: error,
        }),
      );
    });
    server.listen(port, () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
