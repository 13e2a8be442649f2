// The two servers that are asked: the embedded API over HTTP, and the real kube-apiserver of the rig.
import { Agent, fetch as undiciFetch } from 'undici';
import { RealClock } from '../../src/runtime/index.ts';
import { createCluster, serveApi } from '../../src/sim/index.ts';
import type { ControlPlane } from '../setup/control-plane.ts';
import { ask, type Server } from './exchange.ts';

export interface EmbeddedServer extends Server {
  stop(): Promise<void>;
}

export async function embeddedServer(): Promise<EmbeddedServer> {
  const cluster = await createCluster({ clock: new RealClock() });
  const server = await serveApi(cluster.machinery);
  return {
    name: 'embedded',
    url: server.url,
    headers: {},
    fetch: (url, init) => fetch(url, init),
    async stop() {
      await server.close();
      await cluster.stop();
    },
  };
}

export function realServer(plane: Pick<ControlPlane, 'url' | 'ca' | 'token'>): Server {
  const dispatcher = new Agent({ connect: { ca: plane.ca } });
  return {
    name: 'real',
    url: plane.url,
    headers: { Authorization: `Bearer ${plane.token}` },
    fetch: (url, init) => undiciFetch(url, { ...(init as object), dispatcher }) as unknown as Promise<Response>,
  };
}

/** A namespace in which pods can be made. */
export async function makeNamespace(server: Server, name: string): Promise<void> {
  await ask(server, { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  const account = { method: 'GET' as const, path: `/api/v1/namespaces/${name}/serviceaccounts/default` };
  for (let attempt = 0; attempt < 500; attempt += 1) {
    if ((await ask(server, account)).code === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${server.name}: namespace ${name} has no default service account after 10 s`);
}
