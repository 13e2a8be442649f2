// Stands between a controller and the API server: counts what the controller writes, lets a test act in the middle of a
// write, refuses a share of the requests as a busy server would, and cuts watches. Everything else passes as it is.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../setup/control-plane.ts';

const refusals = [
  { code: 409, reason: 'Conflict', message: 'the object has been modified; this is a test' },
  { code: 429, reason: 'TooManyRequests', message: 'the server is busy; this is a test' },
];

export class ApiProxy {
  /** For the controller: same user, other address. */
  readonly kubeconfig: string;
  /** Writes that reached the API server. */
  writes = 0;
  /** Requests that were refused here. */
  refused = 0;
  /** This share of all requests but watches is refused. */
  failureRate = 0;
  /** Called when the API server has carried out a write and the controller does not know yet; false keeps the answer back. */
  onWrite: (count: number) => boolean = () => true;
  readonly #server: Server;
  readonly #upstream: () => URL;
  readonly #agent: Agent;
  readonly #watches = new Set<ServerResponse>();

  private constructor(server: Server, cluster: ControlPlane) {
    this.#server = server;
    this.#upstream = () => new URL(cluster.url);
    this.#agent = new Agent({ ca: cluster.ca, keepAlive: true });
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
    server.on('request', (from: IncomingMessage, to: ServerResponse) => this.#pass(from, to));
  }

  static async start(cluster: ControlPlane): Promise<ApiProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    return new ApiProxy(server, cluster);
  }

  /** Ends every watch in the middle of a line, if need be. */
  cutWatches(): void {
    for (const watch of this.#watches) watch.destroy();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#agent.destroy();
  }

  #pass(from: IncomingMessage, to: ServerResponse): void {
    const isWatch = /[?&]watch=(true|1)/.test(from.url ?? '');
    if (!isWatch && Math.random() < this.failureRate) {
      from.resume();
      this.#refuse(to);
      return;
    }
    const onward = request(new URL(from.url ?? '/', this.#upstream()), {
      method: from.method ?? 'GET',
      headers: { ...from.headers, host: this.#upstream().host },
      agent: this.#agent,
    });
    onward.on('response', (answer) => {
      if (isWatch) this.#watches.add(to);
      if (from.method !== 'GET' && !this.onWrite((this.writes += 1))) {
        answer.resume();
        return;
      }
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => to.destroy());
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    to.on('close', () => {
      this.#watches.delete(to);
      onward.destroy();
    });
    from.pipe(onward);
  }

  #refuse(to: ServerResponse): void {
    this.refused += 1;
    const refusal = refusals[this.refused % refusals.length];
    to.writeHead(refusal?.code ?? 429, { 'content-type': 'application/json' });
    to.end(JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', ...refusal }));
  }
}
