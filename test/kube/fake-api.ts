// A small Kubernetes API on loopback for tests of the client and the reflector: it lists and watches pods, and breaks on
// request. It keeps every state it ever had, so that a test can say whether a cache only ever held true ones.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { KubeObject } from '../../src/ports/index.ts';

/** What goes wrong with one request. */
export type Fault =
  | { kind: 'status'; code: number; retryAfterSeconds?: number }
  /** The connection is closed before any answer. */
  | { kind: 'refuse' }
  /** The connection is closed after this many bytes of the body. */
  | { kind: 'cut'; afterBytes: number }
  /** The answer comes late. */
  | { kind: 'delay'; ms: number }
  /** The body is sent in pieces of this many bytes. */
  | { kind: 'pieces'; bytes: number }
  /** Every event of a watch is sent twice, and now and then an older one again. */
  | { kind: 'duplicate' }
  /** A watch ends with an ERROR event 410. */
  | { kind: 'expire' };

interface LoggedEvent {
  version: number;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: KubeObject;
}

interface Watcher {
  version: number;
  send(line: string): void;
  end(): void;
  fault: Fault | undefined;
}

export class FakeApi {
  readonly objects = new Map<string, KubeObject>();
  readonly requests: string[] = [];
  /** Asked once per request; undefined lets it pass. */
  faults: (path: string) => Fault | undefined = () => undefined;
  streamingLists = true;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly watchers = new Set<Watcher>();
  private readonly log: LoggedEvent[] = [];
  private readonly pages = new Map<string, { version: number; items: KubeObject[] }>();
  private version = 100;
  private compactedTo = 0;

  private constructor() {
    this.server = createServer((request, response) => this.answer(request, response));
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  static async start(): Promise<FakeApi> {
    const api = new FakeApi();
    await new Promise<void>((resolve) => api.server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  put(name: string, fields: Record<string, unknown> = {}): void {
    const old = this.objects.get(name);
    this.version++;
    const uid = old?.metadata.uid ?? `uid-${this.version}`;
    const metadata = { name, namespace: 'default', uid, resourceVersion: String(this.version), managedFields: [{}] };
    const object: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata, ...fields };
    this.objects.set(name, object);
    this.record(old === undefined ? 'ADDED' : 'MODIFIED', object);
  }

  delete(name: string): void {
    const old = this.objects.get(name);
    if (old === undefined) return;
    this.version++;
    this.objects.delete(name);
    this.record('DELETED', { ...old, metadata: { ...old.metadata, resourceVersion: String(this.version) } });
  }

  /** Forgets the history: watches and pages from before now get 410. */
  compact(): void {
    this.compactedTo = this.version;
    this.pages.clear();
  }

  bookmark(): void {
    for (const watcher of this.watchers) this.sendBookmark(watcher, false);
  }

  cutConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  endWatches(): void {
    for (const watcher of this.watchers) watcher.end();
  }

  /** Every state an object ever had, as `resourceVersion` values, oldest first. */
  historyOf(name: string): string[] {
    return this.log
      .filter(({ object }) => object.metadata.name === name)
      .map(({ object }) => object.metadata.resourceVersion ?? '');
  }

  private record(type: LoggedEvent['type'], object: KubeObject): void {
    const event = { version: this.version, type, object };
    this.log.push(event);
    for (const watcher of this.watchers) this.sendEvent(watcher, event);
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push(`${request.method} ${path}`);
    request.resume();
    const fault = this.faults(path);
    if (fault?.kind === 'refuse') {
      request.socket.destroy();
      return;
    }
    if (fault?.kind === 'status') {
      const headers = fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) };
      sendStatus(response, fault.code, headers);
      return;
    }
    if (fault?.kind === 'delay') setTimeout(() => this.serve(request, response, fault), fault.ms);
    else this.serve(request, response, fault);
  }

  private serve(request: IncomingMessage, response: ServerResponse, fault: Fault | undefined): void {
    const url = new URL(request.url ?? '', 'http://fake');
    const parts = /^\/api\/v1(?:\/namespaces\/default)?\/pods(?:\/([^/]+))?$/.exec(url.pathname);
    if (parts === null || request.method !== 'GET') sendStatus(response, 404);
    else if (parts[1] !== undefined) this.serveOne(parts[1], response);
    else if (url.searchParams.get('watch') === 'true') this.serveWatch(url.searchParams, response, fault);
    else this.serveList(url.searchParams, response, fault);
  }

  private serveOne(name: string, response: ServerResponse): void {
    const object = this.objects.get(name);
    if (object === undefined) sendStatus(response, 404);
    else response.end(JSON.stringify(object));
  }

  private serveList(query: URLSearchParams, response: ServerResponse, fault: Fault | undefined): void {
    const token = query.get('continue');
    const limit = Number(query.get('limit') ?? 0) || Number.POSITIVE_INFINITY;
    const page = token === null ? { version: this.version, items: [...this.objects.values()] } : this.pages.get(token);
    if (page === undefined) {
      sendStatus(response, 410);
      return;
    }
    const rest = { version: page.version, items: page.items.slice(limit) };
    const next = rest.items.length > 0 ? `page-${this.pages.size}-${page.version}` : '';
    if (next !== '') this.pages.set(next, rest);
    const items = page.items.slice(0, limit).map(({ apiVersion: _version, kind: _kind, ...item }) => item);
    const body = { kind: 'PodList', metadata: { resourceVersion: String(page.version), continue: next }, items };
    const out = bodyWriter(response, fault);
    out.send(JSON.stringify(body));
    out.end();
  }

  private serveWatch(query: URLSearchParams, response: ServerResponse, fault: Fault | undefined): void {
    const streaming = query.get('sendInitialEvents') === 'true';
    if (streaming && !this.streamingLists) {
      sendStatus(response, 422);
      return;
    }
    const from = Number(query.get('resourceVersion') || this.version);
    if (!streaming && from < this.compactedTo) {
      sendStatus(response, 410);
      return;
    }
    const { send, end } = bodyWriter(response, fault);
    const watcher: Watcher = { version: from, send, end, fault };
    response.on('close', () => this.watchers.delete(watcher));
    response.flushHeaders();
    if (streaming) {
      for (const object of this.objects.values()) this.sendEvent(watcher, { version: 0, type: 'ADDED', object });
      this.sendBookmark(watcher, true);
    } else {
      for (const event of this.log) if (event.version > from) this.sendEvent(watcher, event);
    }
    if (fault?.kind === 'expire') {
      send(`${JSON.stringify({ type: 'ERROR', object: status(410) })}\n`);
      end();
    } else this.watchers.add(watcher);
  }

  private sendEvent(watcher: Watcher, { type, object, version }: LoggedEvent): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    watcher.send(line);
    if (watcher.fault?.kind !== 'duplicate') return;
    watcher.send(line);
    const older = this.log.findLast((event) => event.version < version && event.version > watcher.version);
    if (older !== undefined) watcher.send(`${JSON.stringify({ type: older.type, object: older.object })}\n`);
  }

  private sendBookmark(watcher: Watcher, isEnd: boolean): void {
    const annotations = isEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
    const object = { kind: 'Pod', metadata: { resourceVersion: String(this.version), annotations } };
    watcher.send(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }
}

/** Writes a body with the fault that concerns bodies. */
function bodyWriter(response: ServerResponse, fault: Fault | undefined): { send(text: string): void; end(): void } {
  let left = fault?.kind === 'cut' ? fault.afterBytes : Number.POSITIVE_INFINITY;
  const pieceBytes = fault?.kind === 'pieces' ? fault.bytes : Number.POSITIVE_INFINITY;
  return {
    send: (text) => {
      if (response.writableEnded || response.destroyed) return;
      const bytes = Buffer.from(text);
      const sent = bytes.subarray(0, Math.max(0, Math.min(left, bytes.length)));
      for (let at = 0; at < sent.length; at += Math.min(pieceBytes, sent.length)) {
        response.write(sent.subarray(at, Math.min(at + pieceBytes, sent.length)));
      }
      left -= bytes.length;
      if (left < 0) response.socket?.end();
    },
    end: () => response.end(),
  };
}

const reasons: Record<number, string> = {
  403: 'Forbidden',
  404: 'NotFound',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
};

function status(code: number): unknown {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason: reasons[code], message: `fault ${code}` };
}

function sendStatus(response: ServerResponse, code: number, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(status(code)));
}
