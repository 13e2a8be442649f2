// Stands between one replica and the API server, and lies when asked to: listings are answered with something else, watches
// fall silent or end with 410, connections are refused. Writes pass or fail openly; what is written is reported to the judge,
// and when the lease was last renewed is remembered here.
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from '../../setup/control-plane.ts';

/** What a listing is answered with instead. */
export const wrongAnswers = {
  'empty object': () => json('{}'),
  'bare list': () => json('[]'),
  'status ok': () => json('{"status":"ok"}'),
  null: () => json('null'),
  html: () => ({ type: 'text/html', body: '<!doctype html><html><body>Sign in to continue</body></html>' }),
  'cut in the middle': (truth: string) => json(truth.slice(0, truth.length / 2)),
  'list of another kind': (truth: string) => json(truth.replace(/"kind":"\w+List"/, '"kind":"ConfigMapList"')),
  'empty list': (truth: string) => json(withItems(truth, () => [])),
  'truncated list': (truth: string) => json(withItems(truth, (items) => items.slice(0, 1))),
} satisfies Record<string, (truth: string) => { type: string; body: string }>;

export type WrongAnswer = keyof typeof wrongAnswers;

const json = (body: string) => ({ type: 'application/json', body });

function withItems(truth: string, change: (items: unknown[]) => unknown[]): string {
  const list = JSON.parse(truth) as { items?: unknown[]; metadata?: { continue?: string } };
  return JSON.stringify({ ...list, metadata: { ...list.metadata, continue: '' }, items: change(list.items ?? []) });
}

interface Watch {
  plural: string;
  to: ServerResponse;
  from: IncomingMessage;
}

export class ApiDoor {
  /** For the replica: its own account, this address. */
  readonly kubeconfig: string;
  readonly address: string;
  /** No one answers. */
  isShut = false;
  requests = 0;
  writes = 0;
  /** When the API server last took a renewal of the lease from this replica. */
  renewedMs = 0;
  /** Hears of every deletion before it is passed on. */
  onDelete: (path: string) => Promise<void> = async () => {};
  readonly wrong = new Map<string, WrongAnswer>();
  /** Answers that were replaced. */
  replaced = 0;
  private readonly frozen = new Set<string>();
  private readonly server: Server;
  private readonly upstream: URL;
  private readonly agent: Agent;
  private readonly watches = new Set<Watch>();

  private constructor(server: Server, cluster: ControlPlane, token: string, kubeconfig: string) {
    this.server = server;
    this.kubeconfig = kubeconfig;
    this.upstream = new URL(cluster.url);
    this.agent = new Agent({ ca: cluster.ca, keepAlive: true });
    const named = { name: 'door' };
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ ...named, cluster: { server: this.address } }],
      users: [{ ...named, user: { token } }],
      contexts: [{ ...named, context: { cluster: 'door', user: 'door' } }],
      'current-context': 'door',
    };
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    server.on('request', (from: IncomingMessage, to: ServerResponse) => void this.pass(from, to));
  }

  static async open(cluster: ControlPlane, token: string, kubeconfig: string): Promise<ApiDoor> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    return new ApiDoor(server, cluster, token, kubeconfig);
  }

  /** Watches of a resource (`*`: of all) say nothing from now on, also new ones. */
  freeze(plural: string): void {
    this.frozen.add(plural);
    for (const watch of this.watches) if (this.isFrozen(watch.plural)) watch.from.pause();
  }

  thaw(): void {
    this.frozen.clear();
    for (const { from } of this.watches) from.resume();
  }

  /** Ends watches as the server does when it no longer has their version: the replica must list again. */
  expire(plural?: string): void {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired' };
    const event = JSON.stringify({ type: 'ERROR', object: { ...status, message: 'too old; this is a campaign' } });
    for (const watch of this.watches) {
      if (plural !== undefined && watch.plural !== plural) continue;
      watch.from.unpipe(watch.to);
      watch.from.destroy();
      watch.to.end(`${event}\n`);
    }
  }

  cut(): void {
    for (const { to } of this.watches) to.destroy();
  }

  /** Everything as it should be. */
  heal(): void {
    this.isShut = false;
    this.wrong.clear();
    this.thaw();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    this.agent.destroy();
  }

  private isFrozen(plural: string): boolean {
    return this.frozen.has(plural) || this.frozen.has('*');
  }

  private async pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    this.requests += 1;
    const { method = 'GET', url: path = '/' } = from;
    if (method !== 'GET') this.writes += 1;
    if (this.isShut) {
      from.socket.destroy();
      return;
    }
    if (method === 'DELETE') await this.onDelete(path);
    const plural = pluralOf(path);
    const isWatch = /[?&]watch=(true|1)/.test(path);
    const wrong = method === 'GET' && isCollection(path) ? this.wrong.get(plural) : undefined;
    const onward = request(new URL(path, this.upstream), {
      method,
      headers: { ...from.headers, host: this.upstream.host },
      agent: this.agent,
    });
    onward.on('error', () => to.destroy());
    onward.on('response', (answer) => {
      if (wrong !== undefined) void this.replace(wrong, answer, to, isWatch);
      else this.forward(answer, to, { plural, isWatch, isRenewal: method === 'PUT' && plural === 'leases' });
    });
    to.on('close', () => {
      if (!to.writableFinished && method === 'GET') onward.destroy();
    });
    from.pipe(onward);
  }

  private forward(
    answer: IncomingMessage,
    to: ServerResponse,
    { plural, isWatch, isRenewal }: { plural: string; isWatch: boolean; isRenewal: boolean },
  ): void {
    const { statusCode: status = 502, headers } = answer;
    if (isRenewal && status < 300) this.renewedMs = Date.now();
    to.writeHead(status, headers);
    answer.on('error', () => to.destroy());
    if (isWatch) {
      const watch = { plural, to, from: answer };
      this.watches.add(watch);
      to.on('close', () => this.watches.delete(watch));
    }
    answer.pipe(to);
    if (isWatch && this.isFrozen(plural)) answer.pause();
  }

  /** A streaming list is a watch whose first events are the objects: the same lies, as events. */
  private async replace(
    wrong: WrongAnswer,
    answer: IncomingMessage,
    to: ServerResponse,
    isWatch: boolean,
  ): Promise<void> {
    this.replaced += 1;
    if (isWatch) {
      answer.destroy();
      // A real server refuses streaming lists where they are switched off; the replica then lists.
      const isListLie = wrong === 'empty list' || wrong === 'truncated list' || wrong === 'list of another kind';
      const refusal = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422 };
      if (isListLie) to.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
      else this.send(to, wrongAnswers[wrong]('{"type":"ADDED","object":{}}\n'));
      return;
    }
    const truth = await text(answer).catch(() => undefined);
    if (truth === undefined) to.destroy();
    else this.send(to, wrongAnswers[wrong](truth));
  }

  private send(to: ServerResponse, { type, body }: { type: string; body: string }): void {
    to.writeHead(200, { 'content-type': type }).end(body);
  }
}

const collectionPath = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?([a-z0-9]+)(\/[^?]+)?(?:\?|$)/;

const pluralOf = (path: string): string => collectionPath.exec(path)?.[1] ?? '';
const isCollection = (path: string): boolean => {
  const found = collectionPath.exec(path);
  return found !== null && found[2] === undefined;
};
