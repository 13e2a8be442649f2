// A cluster for measuring the controllers, in a process of its own: the embedded API with our kinds, a ready NodePool and,
// if asked, nodes with pods on them. `cluster-server.ts <nodes> <podsPerNode>` sends its port; then a message
// `{ burst, kind }` makes that many pods unschedulable at once, and is answered when the NodeClaims for them are written.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { conditionType, customResourceDefinition, kinds, label, type NodeClaim } from '../../src/api/index.ts';
import { nodeClaims, nodePools } from '../../src/controllers/index.ts';
import { type KubeObject, type Pod, type Resource, resources } from '../../src/ports/index.ts';
import { RealClock } from '../../src/runtime/index.ts';
import { createCluster, kwokNodeClasses, SimKube, serveApi } from '../../src/sim/index.ts';
import { podJson, usualPodsPerWorkload } from './pod-json.ts';
import { diversePods, hostnameSpreadPods, withoutServerFields } from './pods.ts';
import { seeded } from './random.ts';

export interface Burst {
  burst: number;
  kind: 'diverse' | 'spread';
}

export interface BurstReport {
  /** From the last pod that became unschedulable to the last NodeClaim written for the burst. */
  reactionMs: number;
  claims: number;
}

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
/** No claim for this long means that all are there. */
const quietMs = 3_000;
const patienceMs = 120_000;
/** Pods changed between two turns of the server, so that it goes on answering meanwhile. */
const podsPerTurn = 50;

const [nodes = 0, podsPerNode = 0] = process.argv.slice(2).map(Number);
const cluster = await createCluster({ clock: new RealClock(), historySize: 100_000 });
const kube = new SimKube(cluster.machinery);

async function createObjects(): Promise<void> {
  for (const kind of kinds) await kube.create(definitions, customResourceDefinition(kind));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await kube.create(kwokNodeClasses, { metadata: { name: 'default' }, spec: {} });
  await kube.create(nodePools, {
    metadata: { name: 'default' },
    spec: { template: { spec: { nodeClassRef, requirements: [] } }, disruption: { consolidateAfter: '0s' } },
  });
  for (let namespace = 0; namespace * 5_000 < nodes * podsPerNode; namespace++)
    await kube.create(resources.namespaces, { metadata: { name: `team-${namespace}` } });
  for (let index = 0; index < nodes; index++) await addMachine(index);
}

async function withStatus<T extends KubeObject>(resource: Resource<T>, object: T): Promise<void> {
  const { status, ...rest } = object as T & { status?: unknown };
  const { metadata } = await kube.create(resource, rest as unknown as T);
  const { name = '', namespace } = metadata;
  const ref = namespace === undefined ? { name } : { name, namespace };
  await kube.patch(resource, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** A spot node of the cheapest type that holds 26 of the pods: nothing there can be packed better. */
async function addMachine(index: number): Promise<void> {
  const name = `default-${String(index).padStart(5, '0')}`;
  const labels = {
    [label.nodePool]: 'default',
    [label.instanceType]: 'c-8x-amd64-linux',
    [label.zone]: `test-zone-${'abcd'[index % 4]}`,
    [label.capacityType]: 'spot',
    [label.arch]: 'amd64',
    [label.os]: 'linux',
    [label.hostname]: name,
    'karpenter.kwok.sh/kwoknodeclass': 'default',
  };
  const capacity = { cpu: '8', memory: '16Gi', pods: '128', 'ephemeral-storage': '20Gi' };
  const allocatable = { ...capacity, cpu: '7900m', memory: '16374Mi' };
  const lastTransitionTime = new Date().toISOString();
  const isTrue = (type: string) => ({ type, status: 'True', reason: type, message: '', lastTransitionTime });
  const providerID = `kwok://${name}`;
  const { launched, registered, initialized } = conditionType;
  const conditions = [launched, registered, initialized, 'Ready'].map(isTrue);
  await withStatus(nodeClaims, {
    metadata: { name, labels, finalizers: ['karpenter.sh/termination'] },
    spec: { nodeClassRef, requirements: [] },
    status: { providerID, nodeName: name, capacity, allocatable, conditions },
  } as unknown as NodeClaim);
  await withStatus(resources.nodes, {
    metadata: {
      name,
      labels: { ...labels, [label.registered]: 'true', [label.initialized]: 'true' },
      finalizers: ['karpenter.sh/termination'],
    },
    spec: { providerID },
    status: { capacity, allocatable, conditions: [isTrue('Ready')] },
  } as KubeObject);
  for (let at = index * podsPerNode; at < (index + 1) * podsPerNode; at++) {
    const { metadata, spec, status } = JSON.parse(podJson(at, 1)) as Pod;
    const { resourceVersion: _version, uid: _uid, ...rest } = metadata;
    // The account these pods name does not exist here.
    const placed = { ...spec, serviceAccountName: 'default', serviceAccount: 'default', nodeName: name };
    const ownerReferences = await ownersOf({ metadata, spec: placed } as Pod);
    await withStatus(resources.pods, { metadata: { ...rest, ownerReferences }, spec: placed, status } as Pod);
  }
}

const ownerIds = new Map<string, string>();

/** The ReplicaSet of the pod, created with its first one: a pod whose owner does not exist is garbage and collected. */
async function ownersOf({ metadata, spec }: Pod): Promise<Pod['metadata']['ownerReferences']> {
  const { namespace = '', labels = {}, ownerReferences: [owner] = [] } = metadata;
  if (owner === undefined || spec === undefined) return [];
  const key = `${namespace}/${owner.name}`;
  let uid = ownerIds.get(key);
  if (uid === undefined) {
    const { nodeName: _name, ...template } = spec;
    const set = await kube.create(resources.replicaSets, {
      metadata: { name: owner.name, namespace },
      spec: {
        replicas: usualPodsPerWorkload,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: template },
      },
    });
    uid = set.metadata.uid ?? '';
    ownerIds.set(key, uid);
  }
  return [{ ...owner, uid }];
}

async function burst({ burst: count, kind }: Burst): Promise<BurstReport> {
  const written: number[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const { type } of kube.watch(nodeClaims, { resourceVersion: '', signal: stop.signal }))
      if (type === 'ADDED') written.push(performance.now());
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  const pods = kind === 'diverse' ? diversePods(count, seeded(7)) : hostnameSpreadPods(count, seeded(7));
  for (const [at, pod] of pods.entries()) {
    await kube.create(resources.pods, withoutServerFields(pod));
    if (at % podsPerTurn === 0) await nextTurn();
  }
  let lastMs = 0;
  for (const [at, { metadata, status }] of (pods as unknown as Pod[]).entries()) {
    if (at % podsPerTurn === 0) await nextTurn();
    const ref = { name: metadata.name ?? '', namespace: 'default' };
    await kube.patch(resources.pods, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
    lastMs = performance.now();
  }
  const isWaiting = (): boolean => {
    const last = written.at(-1);
    return last === undefined ? performance.now() < lastMs + patienceMs : performance.now() < last + quietMs;
  };
  while (isWaiting()) await new Promise((resolve) => setTimeout(resolve, 100));
  stop.abort();
  await watching;
  const claims = written.length;
  for (const { metadata } of pods as unknown as Pod[])
    await kube.delete(resources.pods, { name: metadata.name ?? '', namespace: 'default' }, { gracePeriodSeconds: 0 });
  return { reactionMs: (written.at(-1) ?? Number.POSITIVE_INFINITY) - lastMs, claims };
}

await createObjects();
const server = await serveApi(cluster.machinery);
process.on('message', (wanted: Burst) => void burst(wanted).then((report) => process.send?.(report)));
process.send?.({ port: server.port });
