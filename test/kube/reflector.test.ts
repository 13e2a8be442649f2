// The reflector, the client and a real API server: caches stay equal to the server through restarts, lost connections and
// forgotten history.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAccess, KubeClient } from '../../src/kube/index.ts';
import { type Lease, resources } from '../../src/ports/index.ts';
import { RealClock, Reflector } from '../../src/runtime/index.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { TcpProxy } from './tcp-proxy.ts';

const { leases } = resources;
const namespace = 'default';
const cluster = useControlPlane();
let proxy: TcpProxy;
let direct: KubeClient;
let proxied: KubeClient;

async function client(kubeconfig: string): Promise<KubeClient> {
  const clock = new RealClock();
  const access = await findAccess({ clock, env: {}, kubeconfig });
  return new KubeClient({ access, clock, userAgent: 'kerf/test', rateLimit: { qps: 0, burst: 0 } });
}

beforeAll(async () => {
  proxy = await TcpProxy.start(Number(new URL(cluster().url).port));
  const kubeconfig = join(cluster().folder, 'proxied.kubeconfig');
  const text = readFileSync(cluster().kubeconfig, 'utf8');
  writeFileSync(kubeconfig, text.replaceAll(cluster().url, `https://127.0.0.1:${proxy.port}`));
  direct = await client(cluster().kubeconfig);
  proxied = await client(kubeconfig);
});
afterAll(async () => {
  await direct?.close();
  await proxied?.close();
  await proxy?.stop();
});

const put = (name: string, holderIdentity: string): Promise<Lease> =>
  direct.patch(
    leases,
    { name, namespace },
    {
      type: 'apply',
      body: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec: { holderIdentity } },
    },
    { fieldManager: 'test' },
  );

const versions = (items: Iterable<Lease>): string =>
  [...items]
    .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
    .sort()
    .join(' ');

async function follow(options: { streaming: boolean }) {
  const reflector = new Reflector<Lease>({
    kube: proxied,
    clock: new RealClock(),
    resource: leases,
    namespace,
    ...options,
  });
  const reported = new Map<string, Lease>();
  reflector.subscribe((change) => {
    const name = change.object.metadata.name ?? '';
    if (change.kind === 'deleted') reported.delete(name);
    else reported.set(name, change.object);
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  await reflector.whenSynced();
  const converges = async (): Promise<void> => {
    const { items } = await direct.list(leases, { namespace });
    await expect.poll(() => versions(reflector.store.values()), { timeout: 40_000 }).toBe(versions(items));
    expect(versions(reported.values())).toBe(versions(items));
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { reflector, converges, end };
}

test.each([true, false])(
  'a cache (streaming lists: %s) survives whatever happens to the connection and the server',
  async (streaming) => {
    for (let index = 0; index < 20; index++) await put(`lease-${index}`, 'first');
    const { reflector, converges, end } = await follow({ streaming });
    await converges();
    expect(reflector.counters).toMatchObject({ lists: 1, failures: 0 });

    await put('lease-0', 'second');
    await direct.delete(leases, { name: 'lease-1', namespace });
    await converges();

    // Connections break: the watch resumes where it was, without a new listing.
    proxy.fix();
    await put('lease-2', 'third');
    await converges();
    expect(reflector.counters.lists).toBe(1);
    expect(reflector.counters.failures).toBeGreaterThan(0);

    // The server restarts and has forgotten its history: a new listing finds what changed meanwhile.
    proxy.cut();
    await put('lease-3', 'fourth');
    await direct.delete(leases, { name: 'lease-4', namespace });
    await cluster().restartApiServer();
    await put('lease-5', 'fifth');
    proxy.fix();
    await converges();
    expect(reflector.counters.lists).toBeGreaterThan(1);
    expect(reflector.counters.expired).toBeGreaterThan(0);
    expect(reflector.lastFailure).toBeUndefined();
    await end();
  },
);

test('pages of a real server together are the whole, also with more objects than one page', async () => {
  for (let index = 0; index < 25; index++) await put(`paged-${index}`, 'x');
  const reflector = new Reflector<Lease>({
    kube: proxied,
    clock: new RealClock(),
    resource: leases,
    namespace,
    streaming: false,
    pageSize: 4,
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  await reflector.whenSynced();
  expect(versions(reflector.store.values())).toBe(versions((await direct.list(leases, { namespace })).items));
  stop.abort();
  await running;
});
