// Stands between a controller and the API server: counts what the controller writes, lets a test act in the middle of a
// write, refuses a share of the requests as a busy server would, and cuts watches. Everything else passes as it is.
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from '../../setup/control-plane.ts';

const refusals = {
  busy: { code: 429, reason: 'TooManyRequests', message: 'the server is busy; this is a test' },
  conflict: { code: 409, reason: 'Conflict', message: 'the object has been modified; this is a test' },
};

/** A request that was not a read, and what the API server said to it. */
export interface Write {
  method: string;
  path: string;
  body: string;
  status: number;
  answer: string;
  /** Asked by a controller in whose place another is by now. */
  isPosthumous: boolean;
}

export class ApiProxy {
  /** For the controller: same user, other address. */
  readonly kubeconfig: string;
  /** Requests but watches. */
  requests = 0;
  /** Those of them that were refused here, by status. */
  readonly refused = new Map<number, number>();
  /** This share of all requests but watches is refused: reads with 429, writes with 409 or 429. */
  failureRate = 0;
  /** Watches that were cut. */
  cut = 0;
  /** Called when the API server has answered a write and the controller does not know yet; false keeps the answer back. */
  onWrite: (write: Write) => boolean = () => true;
  /** Raised with every controller that takes the place of a dead one. */
  life = 0;
  private readonly server: Server;
  private readonly upstream: URL;
  private readonly agent: Agent;
  private readonly watches = new Set<ServerResponse>();

  private constructor(server: Server, cluster: ControlPlane) {
    this.server = server;
    this.upstream = new URL(cluster.url);
    this.agent = new Agent({ ca: cluster.ca, keepAlive: true });
    this.kubeconfig = join(tmpdir(), `kerf-proxy-${randomUUID()}.kubeconfig`);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const named = { name: 'proxy' };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ ...named, cluster: { server: url } }],
      users: [{ ...named, user: { token: cluster.token } }],
      contexts: [{ ...named, context: { cluster: 'proxy', user: 'proxy' } }],
      'current-context': 'proxy',
    };
    // JSON is YAML.
    writeFileSync(this.kubeconfig, JSON.stringify(config), { mode: 0o600 });
    server.on('request', (from: IncomingMessage, to: ServerResponse) => this.pass(from, to));
  }

  static async start(cluster: ControlPlane): Promise<ApiProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    return new ApiProxy(server, cluster);
  }

  /** Ends every watch, in the middle of a line if need be. */
  cutWatches(): void {
    this.cut += this.watches.size;
    for (const watch of this.watches) watch.destroy();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    this.agent.destroy();
    rmSync(this.kubeconfig, { force: true });
  }

  private pass(from: IncomingMessage, to: ServerResponse): void {
    const isWatch = /[?&]watch=(true|1)/.test(from.url ?? '');
    if (!isWatch) {
      this.requests += 1;
      if (Math.random() < this.failureRate) return this.refuse(from, to);
    }
    const { life } = this;
    const onward = request(new URL(from.url ?? '/', this.upstream), {
      method: from.method ?? 'GET',
      headers: { ...from.headers, host: this.upstream.host },
      agent: this.agent,
    });
    const isWrite = from.method !== 'GET';
    const asked = isWrite ? text(from) : undefined;
    onward.on('response', (answer) => {
      if (isWatch) this.watches.add(to);
      if (asked !== undefined) {
        void this.answerWrite({ from, asked, life }, answer, to);
        return;
      }
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => to.destroy());
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    to.on('close', () => {
      this.watches.delete(to);
      // A write that is under way is carried out, whether someone waits for the answer or not.
      if (!to.writableFinished && !isWrite) onward.destroy();
    });
    from.pipe(onward);
  }

  private async answerWrite(
    { from, asked, life }: { from: IncomingMessage; asked: Promise<string>; life: number },
    answer: IncomingMessage,
    to: ServerResponse,
  ): Promise<void> {
    const { method = '', url: path = '' } = from;
    const { statusCode: status = 502, headers } = answer;
    const texts = await Promise.all([asked, text(answer)]).catch(() => undefined);
    if (texts === undefined) {
      to.destroy();
      return;
    }
    const [body, said] = texts;
    const write: Write = { method, path, status, body, answer: said, isPosthumous: life !== this.life };
    if (this.onWrite(write)) to.writeHead(status, headers).end(said);
  }

  private refuse(from: IncomingMessage, to: ServerResponse): void {
    from.resume();
    const { code, ...why } = refusals[from.method !== 'GET' && Math.random() < 0.5 ? 'conflict' : 'busy'];
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
    to.writeHead(code, { 'content-type': 'application/json', ...(code === 429 ? { 'retry-after': '1' } : {}) });
    to.end(JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code, ...why }));
  }
}
