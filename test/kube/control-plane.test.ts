// The client against a real API server: the contract of its port, and what only a real server can show.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findAccess, KubeClient } from '../../src/kube/index.ts';
import { KubeError, resources } from '../../src/ports/index.ts';
import { RealClock } from '../../src/runtime/index.ts';
import { kubeContract } from '../contract/kube.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane({ controllerManager: true });
const clients: KubeClient[] = [];

async function client(kubeconfig = cluster().kubeconfig): Promise<KubeClient> {
  const clock = new RealClock();
  const access = await findAccess({ clock, env: {}, kubeconfig });
  const kube = new KubeClient({ access, clock, userAgent: 'kerf/test', rateLimit: { qps: 200, burst: 300 } });
  clients.push(kube);
  return kube;
}

afterAll(async () => {
  for (const kube of clients) await kube.close();
});

kubeContract('the HTTP client and a real API server', async () => {
  const kube = await client();
  const forgetHistory = async (): Promise<string> => {
    const { resourceVersion } = await kube.list(resources.leases);
    await kube.create(resources.leases, { metadata: { generateName: 'later-', namespace: 'default' }, spec: {} });
    // A restarted API server remembers nothing from before its start.
    await cluster().restartApiServer();
    return resourceVersion;
  };
  return { kube, namespace: 'default', forgetHistory };
});

test('discovery knows built-in resources and the version', async () => {
  const kube = await client();
  expect(await kube.serves(resources.pods)).toBe(true);
  expect(await kube.serves(resources.leases)).toBe(true);
  expect(await kube.serves({ ...resources.leases, group: 'karpenter.sh' })).toBe(false);
  expect(await kube.serverVersion()).toMatch(/^v1\.\d+\.\d+/);
});

/** A kubeconfig for this cluster with another user. */
function kubeconfigFor(name: string, user: Record<string, unknown>): string {
  const file = join(cluster().folder, `${name}.kubeconfig`);
  const config = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: cluster().url, 'certificate-authority': cluster().caFile } }],
    users: [{ name: 'x', user }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

test('a client certificate is who we are', async () => {
  const admin = cluster().issueCertificate({ commonName: 'ana', organizations: ['system:masters'] });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const kube = await client(
    kubeconfigFor('certificate', {
      'client-certificate-data': base64(admin.certPem),
      'client-key-data': base64(admin.keyPem),
    }),
  );
  expect((await kube.list(resources.namespaces)).items.length).toBeGreaterThan(0);
});

test('a rejected token is read again, and a user without rights is refused', async () => {
  const token = join(cluster().folder, 'rotating-token');
  writeFileSync(token, 'outdated');
  const rotating = await client(kubeconfigFor('rotating', { tokenFile: token }));
  await expect(rotating.list(resources.namespaces)).rejects.toMatchObject({ reason: 'Unauthorized' });
  writeFileSync(token, cluster().token);
  expect((await rotating.list(resources.namespaces)).items.length).toBeGreaterThan(0);
  const nobody = await client(kubeconfigFor('nobody', { token: cluster().token, as: 'nobody' }));
  const refused = await nobody.list(resources.pods).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(KubeError);
  expect(refused).toMatchObject({ reason: 'Forbidden', message: expect.stringContaining('User "nobody" cannot list') });
});
