// The planner workloads as snapshots: one ready NodePool with limits far away, a catalogue, waiting pods, and for E(n, m)
// nodes that are half full.
import { label } from '../../src/api/index.ts';
import type {
  InstanceTypeSpec,
  ProviderFacts,
  RequirementSpec,
  Snapshot,
  SnapshotObject,
} from '../../src/core/index.ts';
import { syntheticCatalogue, testProvider, zones } from './catalogue.ts';
import { tracePods, tracePodsWithoutGpu, variedPods, webPods } from './mixes.ts';
import { boundPod, diversePods, genericPart, hostnameSpreadPods, podsFromLines, preferencePods } from './pods.ts';
import { seeded } from './random.ts';

/** Every workload draws from this seed unless set otherwise. */
const defaultSeed = 42;

function nodePool(
  name: string,
  nodeClass = 'TestNodeClass.karpenter.test.sh',
  requirements: readonly RequirementSpec[] = [],
): SnapshotObject {
  const dot = nodeClass.indexOf('.');
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, uid: `uid-pool-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
    spec: {
      // Far away also for planners that count every new node at its largest possible type.
      limits: { cpu: '1000000000', memory: '1000000000Gi' },
      template: {
        spec: {
          nodeClassRef: { group: nodeClass.slice(dot + 1), kind: nodeClass.slice(0, dot), name: 'default' },
          requirements,
        },
      },
    },
    status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', observedGeneration: 1 }] },
  };
}

export interface Catalogue {
  items: InstanceTypeSpec[];
  provider: ProviderFacts;
  /** What the one NodePool asks for; by default nothing. */
  requirements?: readonly RequirementSpec[];
}

export const synthetic = (count = 400): Catalogue => ({ items: syntheticCatalogue(count), provider: testProvider });

function snapshotOf(
  name: string,
  pods: SnapshotObject[],
  catalogue: Catalogue,
  others: SnapshotObject[] = [],
): Snapshot {
  const nodeClass = catalogue.provider.nodeClasses[0];
  if (nodeClass === undefined) throw new Error(`the provider of ${name} serves no node class`);
  return {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    name,
    time: '2026-01-01T00:10:00Z',
    provider: catalogue.provider,
    objects: {
      apiVersion: 'v1',
      kind: 'List',
      items: [nodePool('default', nodeClass, catalogue.requirements), ...others, ...pods],
    },
    instanceTypes: [{ nodePool: 'default', items: catalogue.items }],
  };
}

export const diverse = (count: number, catalogue = synthetic(), seed = defaultSeed): Snapshot =>
  snapshotOf(`D(${count})`, diversePods(count, seeded(seed)), catalogue);

export const generic = (count: number, catalogue = synthetic(), seed = defaultSeed): Snapshot =>
  snapshotOf(`G(${count})`, genericPart(count, seeded(seed)), catalogue);

export const traced = (count: number, catalogue: Catalogue, seed = defaultSeed): Snapshot =>
  snapshotOf(`T(${count})`, tracePods(count, seeded(seed)), catalogue);

export const tracedWithoutGpu = (count: number, catalogue: Catalogue, seed = defaultSeed): Snapshot =>
  snapshotOf(`T(${count}) without GPU`, tracePodsWithoutGpu(count, seeded(seed)), catalogue);

export const web = (count: number, catalogue: Catalogue, seed = defaultSeed): Snapshot =>
  snapshotOf(`W(${count})`, webPods(count, seeded(seed)), catalogue);

export const varied = (count: number, kinds: number, catalogue: Catalogue, seed = defaultSeed): Snapshot =>
  snapshotOf(`V(${count},${kinds})`, variedPods(count, kinds, seeded(seed)), catalogue);

export function preferences(count: number, policy: 'Respect' | 'Ignore'): Snapshot {
  const snapshot = snapshotOf(`P(${count})`, preferencePods(count), synthetic());
  return { ...snapshot, settings: { preferencePolicy: policy } };
}

export const hostnameSpread = (count: number, seed = defaultSeed): Snapshot =>
  snapshotOf(`H(${count})`, hostnameSpreadPods(count, seeded(seed)), synthetic());

export const fromLines = (text: string, catalogue = synthetic()): Snapshot =>
  snapshotOf('R', podsFromLines(text), catalogue);

/** E(n, m): pods like D(n) over m initialized nodes of 16 cpu and 64Gi, half of each taken by four bound pods. */
export function existing(count: number, nodes: number, seed = defaultSeed): Snapshot {
  const random = seeded(seed);
  const others: SnapshotObject[] = [];
  for (let i = 0; i < nodes; i++) {
    const name = `node-${String(i).padStart(5, '0')}`;
    others.push(existingNode(name, zones[i % zones.length] ?? zones[0]));
    for (let j = 0; j < 4; j++) others.push(boundPod(`bound-${i}-${j}`, name));
  }
  return snapshotOf(`E(${count},${nodes})`, diversePods(count, random), synthetic(), others);
}

function existingNode(name: string, zone: string): SnapshotObject {
  const room = { cpu: '16', memory: '64Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        [label.hostname]: name,
        [label.zone]: zone,
        [label.arch]: 'amd64',
        [label.os]: 'linux',
        [label.instanceType]: 'fake-it-15',
        [label.capacityType]: 'on-demand',
        [label.nodePool]: 'default',
        [label.registered]: 'true',
        [label.initialized]: 'true',
        'karpenter.test.sh/testnodeclass': 'default',
      },
    },
    spec: { providerID: `test:///${name}` },
    status: { capacity: room, allocatable: room, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}
