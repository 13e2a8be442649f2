// The contract of the Kube port on both roads to the embedded cluster: in process, and over HTTP with the real client.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeContract } from '../../test/contract/kube.ts';
import { findAccess, KubeClient } from '../kube/index.ts';
import { type Kube, resources } from '../ports/index.ts';
import { RealClock } from '../runtime/index.ts';
import { createCluster, SimKube, serveApi } from './index.ts';

const forgetHistoryOf = (kube: Kube, compact: () => void) => async (): Promise<string> => {
  const { resourceVersion } = await kube.list(resources.leases);
  await kube.create(resources.leases, { metadata: { generateName: 'later-', namespace: 'default' }, spec: {} });
  compact();
  return resourceVersion;
};

kubeContract('the embedded cluster, in process', async () => {
  const cluster = await createCluster({ clock: new RealClock() });
  const kube = new SimKube(cluster.machinery);
  return {
    kube,
    namespace: 'default',
    forgetHistory: forgetHistoryOf(kube, () => cluster.machinery.store.compact()),
    tearDown: () => cluster.stop(),
  };
});

kubeContract('the embedded cluster, over HTTP', async () => {
  const clock = new RealClock();
  const cluster = await createCluster({ clock });
  const server = await serveApi(cluster.machinery);
  const folder = mkdtempSync(join(tmpdir(), 'kerf-sim-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    'current-context': 'sim',
    contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'sim' } }],
    clusters: [{ name: 'sim', cluster: { server: server.url } }],
    users: [{ name: 'sim', user: {} }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const access = await findAccess({ clock, env: {}, kubeconfig });
  const kube = new KubeClient({ access, clock, userAgent: 'kerf/test', rateLimit: { qps: 1000, burst: 1000 } });
  return {
    kube,
    namespace: 'default',
    forgetHistory: forgetHistoryOf(kube, () => cluster.machinery.store.compact()),
    async tearDown() {
      await kube.close();
      await server.close();
      await cluster.stop();
      rmSync(folder, { recursive: true });
    },
  };
});
