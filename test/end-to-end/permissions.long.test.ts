// The controller with the permissions its chart gives it, and no others: everything it does must be covered by them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAccess, KubeClient } from '../../src/kube/index.ts';
import { RealClock } from '../../src/runtime/index.ts';
import { type FakeKubelets, startFakeKubelets } from '../../src/sim/index.ts';
import { all } from './harness/api.ts';
import { ofType } from './harness/manifests.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld({ idle: true });
const user = 'kerf';
const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'update', 'patch'];
const rule = (apiGroup: string, resources: string[], verbs: string[]) => ({ apiGroups: [apiGroup], resources, verbs });
const withStatus = (...names: string[]) => names.flatMap((name) => [name, `${name}/status`]);

const clusterRules = [
  rule('karpenter.sh', withStatus('nodepools', 'nodeclaims', 'nodeoverlays'), read),
  rule('autoscaling.x-k8s.io', withStatus('capacitybuffers'), read),
  rule('', ['pods', 'nodes', 'namespaces', 'podtemplates', 'replicationcontrollers'], read),
  rule('', ['persistentvolumes', 'persistentvolumeclaims'], read),
  rule('storage.k8s.io', ['storageclasses', 'csinodes', 'volumeattachments'], read),
  rule('apps', ['daemonsets', 'deployments', 'replicasets', 'statefulsets'], read),
  rule('policy', ['poddisruptionbudgets'], read),
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['list', 'watch']),
  rule('karpenter.sh', ['nodeclaims', 'nodeclaims/status', 'nodeclaims/finalizers'], write),
  rule('karpenter.sh', ['nodepools', 'nodepools/status', 'nodepools/finalizers'], ['update', 'patch']),
  rule('karpenter.sh', ['nodeoverlays/status'], ['update', 'patch']),
  rule('autoscaling.x-k8s.io', withStatus('capacitybuffers'), ['update', 'patch']),
  rule('', ['events'], ['create', 'patch']),
  // `create` is for the simulated provider, whose machines are nothing but nodes.
  rule('', ['nodes'], ['patch', 'delete', 'update', 'create']),
  rule('', ['pods/eviction'], ['create']),
  rule('', ['pods'], ['delete']),
  rule('karpenter.kwok.sh', withStatus('kwoknodeclasses'), read),
];
const leaseRules = [rule('coordination.k8s.io', ['leases'], ['get', 'watch', 'create', 'update', 'patch'])];

const role = (kind: 'ClusterRole' | 'Role', rules: object[], namespace?: string) => {
  const metadata = { name: user, ...(namespace === undefined ? {} : { namespace }) };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: user };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects },
  ];
};

let kube: KubeClient;
let kubelets: FakeKubelets;
let kubeconfig: string;

beforeAll(async () => {
  const items = [...role('ClusterRole', clusterRules), ...role('Role', leaseRules, 'kube-system')];
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await world.cluster().kubectl(['apply', '-f', '-'], { stdin });
  const { certPem, keyPem } = world.cluster().issueCertificate({ commonName: user });
  const data = (text: string): string => Buffer.from(text).toString('base64');
  kubeconfig = join(world.cluster().folder, 'restricted.kubeconfig');
  const cluster = { server: world.cluster().url, 'certificate-authority-data': data(world.cluster().ca) };
  const credentials = { 'client-certificate-data': data(certPem), 'client-key-data': data(keyPem) };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': user,
      clusters: [{ name: user, cluster }],
      users: [{ name: user, user: credentials }],
      contexts: [{ name: user, context: { cluster: user, user } }],
    }),
  );
  // Kubelets are not the controller's: they have an account of their own.
  const clock = new RealClock();
  const access = await findAccess({ clock, env: {}, kubeconfig: world.cluster().kubeconfig });
  kube = new KubeClient({ access, clock, userAgent: 'kubelets', rateLimit: { qps: 0, burst: 0 } });
  kubelets = startFakeKubelets(kube, clock);
});
afterAll(async () => {
  await kubelets?.stop();
  await kube?.close();
});

test('nodes come, drain, are replaced and go, and nothing was forbidden', async () => {
  const process = await world.start({
    flags: {
      kubeconfig,
      'fake-kubelets': false,
      'feature-gates': 'NodeRepair=true,NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true',
    },
  });
  await process.leading();
  const room = await world.room('restricted');
  await room.pool({ spec: { disruption: { consolidateAfter: '0s' } } });
  await room.pool({ suffix: 'static', requirements: [ofType('c-2x-amd64-linux')], spec: { replicas: 1 } });
  await room.deployment('web', { replicas: 3, cpu: '3' });
  await room.daemonSet('agent');
  await room.budget('web', { maxUnavailable: 2 });
  await room.runs('web', 3);
  const [claim] = await room.claims(room.name);
  await world.api.remove(all.nodeClaims, claim?.metadata.name ?? '');
  await room.until('the claim is gone', async () =>
    expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined(),
  );
  await room.runs('web', 3);
  await room.scale('web', 0);
  await room.until('only the static node is left', async () => {
    expect(await room.nodes(room.name)).toEqual([]);
    expect(await room.initializedNodes(`${room.name}-static`)).toHaveLength(1);
  });
  const complaints = process.logs().filter((line) => /forbidden|cannot/i.test(JSON.stringify(line)));
  expect(complaints).toEqual([]);
  expect((await room.events('Evicted')).length).toBeGreaterThan(0);
});
