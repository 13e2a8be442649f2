// Words for planner tests: pods, pools, nodes, instance types and snapshots with sensible defaults, and expectations in the
// language of scheduling. A pod is waiting unless it has a node; a pool is ready; zones are zone-1 to zone-3.

import { expect } from 'vitest';
import { label } from '../../api/names.ts';
import {
  type DynamicResources,
  type FailedOffering,
  type InstanceTypeSpec,
  type NodeStateEntry,
  type Plan,
  type PlannedNode,
  type PlanOptions,
  type PoolInstanceTypes,
  type PoolStateEntry,
  type ProviderFacts,
  planSnapshot,
  type RequirementSpec,
  type Snapshot,
  type SnapshotObject,
  type SnapshotSettings,
} from '../index.ts';

type Fields = Record<string, unknown>;

let counter = 0;
const uid = (): string => `uid-${String(++counter).padStart(6, '0')}`;

export const zones = ['zone-1', 'zone-2', 'zone-3'];

export const provider: ProviderFacts = {
  nodeClasses: ['TestNodeClass.karpenter.test.sh'],
  wellKnownLabels: ['example.com/size', 'example.com/special', 'example.com/reservation-id'],
  reservationIDLabel: 'example.com/reservation-id',
};

export const requirement = (
  key: string,
  operator: RequirementSpec['operator'],
  values?: string[],
  minValues?: number,
): RequirementSpec => ({
  key,
  operator,
  ...(values ? { values } : {}),
  ...(minValues === undefined ? {} : { minValues }),
});

export interface PodParts {
  name?: string;
  namespace?: string;
  cpu?: string;
  memory?: string;
  requests?: Record<string, string>;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  node?: string;
  phase?: string;
  deleting?: boolean;
  owner?: Fields;
  created?: string;
  uid?: string;
  spec?: Fields;
  status?: Fields;
}

export function pod(parts: PodParts = {}): SnapshotObject {
  const id = parts.uid ?? uid();
  const requests = {
    ...(parts.cpu === undefined ? {} : { cpu: parts.cpu }),
    ...(parts.memory === undefined ? {} : { memory: parts.memory }),
    ...parts.requests,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: parts.name ?? `pod-${id.slice(4)}`,
      namespace: parts.namespace ?? 'default',
      uid: id,
      creationTimestamp: parts.created ?? '2026-01-01T00:00:00Z',
      ...(parts.labels ? { labels: parts.labels } : {}),
      ...(parts.annotations ? { annotations: parts.annotations } : {}),
      ...(parts.owner ? { ownerReferences: [parts.owner] } : {}),
      ...(parts.deleting ? { deletionTimestamp: '2026-01-01T00:05:00Z' } : {}),
    },
    spec: {
      containers: [{ name: 'main', image: 'app', resources: { requests } }],
      ...(parts.node ? { nodeName: parts.node } : {}),
      ...parts.spec,
    },
    status: {
      phase: parts.phase ?? (parts.node ? 'Running' : 'Pending'),
      conditions: parts.node
        ? [{ type: 'PodScheduled', status: 'True' }]
        : [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
      ...parts.status,
    },
  };
}

export const pods = (count: number, parts: PodParts = {}): SnapshotObject[] =>
  Array.from({ length: count }, () => pod(parts));

export interface PoolParts {
  name?: string;
  weight?: number;
  labels?: Record<string, string>;
  requirements?: RequirementSpec[];
  taints?: Fields[];
  startupTaints?: Fields[];
  limits?: Record<string, string>;
  ready?: string;
  spec?: Fields;
  metadata?: Fields;
}

export function nodePool(parts: PoolParts = {}): SnapshotObject {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: parts.name ?? 'default', uid: uid(), ...parts.metadata },
    spec: {
      ...(parts.weight === undefined ? {} : { weight: parts.weight }),
      ...(parts.limits ? { limits: parts.limits } : {}),
      template: {
        metadata: { labels: parts.labels ?? {} },
        spec: {
          nodeClassRef: { group: 'karpenter.test.sh', kind: 'TestNodeClass', name: 'default' },
          requirements: parts.requirements ?? [],
          taints: parts.taints ?? [],
          startupTaints: parts.startupTaints ?? [],
        },
      },
      ...parts.spec,
    },
    status: { conditions: [{ type: 'Ready', status: parts.ready ?? 'True' }] },
  };
}

export interface TypeParts {
  name?: string;
  cpu?: string;
  memory?: string;
  pods?: string;
  capacity?: Record<string, string>;
  arch?: string;
  zones?: string[];
  capacityTypes?: string[];
  price?: number;
  requirements?: RequirementSpec[];
  offerings?: InstanceTypeSpec['offerings'];
  overhead?: NonNullable<InstanceTypeSpec['overhead']>;
  capacityOverlayApplied?: boolean;
  dynamicResources?: DynamicResources;
}

export function offering(
  zone: string,
  capacityType: string,
  price: number,
  more: Partial<InstanceTypeSpec['offerings'][number]> = {},
): InstanceTypeSpec['offerings'][number] {
  const { requirements = [], ...rest } = more;
  return {
    requirements: [
      requirement(label.zone, 'In', [zone]),
      requirement(label.capacityType, 'In', [capacityType]),
      ...requirements,
    ],
    price,
    available: true,
    ...rest,
  };
}

export function instanceType(parts: TypeParts = {}): InstanceTypeSpec {
  const name = parts.name ?? 'medium';
  const typeZones = parts.zones ?? zones;
  const capacityTypes = parts.capacityTypes ?? ['spot', 'on-demand'];
  const price = parts.price ?? 1;
  return {
    name,
    requirements: [
      requirement(label.instanceType, 'In', [name]),
      requirement(label.arch, 'In', [parts.arch ?? 'amd64']),
      requirement(label.os, 'In', ['linux', 'windows']),
      requirement(label.zone, 'In', typeZones),
      requirement(label.capacityType, 'In', capacityTypes),
      ...(parts.requirements ?? []),
    ],
    capacity: { cpu: parts.cpu ?? '4', memory: parts.memory ?? '8Gi', pods: parts.pods ?? '20', ...parts.capacity },
    ...(parts.overhead ? { overhead: parts.overhead } : {}),
    ...(parts.capacityOverlayApplied ? { capacityOverlayApplied: true } : {}),
    ...(parts.dynamicResources ? { dynamicResources: parts.dynamicResources } : {}),
    offerings: parts.offerings ?? typeZones.flatMap((zone) => capacityTypes.map((type) => offering(zone, type, price))),
  };
}

/** Four sizes, price following size. */
export const sizes: InstanceTypeSpec[] = [2, 4, 8, 16].map((cpu) =>
  instanceType({ name: `c${cpu}`, cpu: String(cpu), memory: `${2 * cpu}Gi`, pods: String(5 * cpu), price: cpu / 10 }),
);

export interface NodeParts {
  name?: string;
  zone?: string;
  labels?: Record<string, string>;
  taints?: Fields[];
  allocatable?: Record<string, string>;
  capacity?: Record<string, string>;
  providerID?: string;
  metadata?: Fields;
}

/** A node no one manages, unless its provider id meets a claim's. */
export function node(parts: NodeParts = {}): SnapshotObject {
  const name = parts.name ?? 'node-1';
  const allocatable = parts.allocatable ?? { cpu: '4', memory: '8Gi', pods: '20' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: uid(),
      labels: { [label.hostname]: name, [label.zone]: parts.zone ?? 'zone-1', ...parts.labels },
      ...parts.metadata,
    },
    spec: { taints: parts.taints ?? [], ...(parts.providerID ? { providerID: parts.providerID } : {}) },
    status: { allocatable, capacity: parts.capacity ?? allocatable },
  };
}

export function nodeClaim(
  name: string,
  parts: { labels?: Record<string, string>; spec?: Fields; status?: Fields; metadata?: Fields } = {},
): SnapshotObject {
  const room = { cpu: '4', memory: '8Gi', pods: '20' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name,
      uid: uid(),
      labels: { [label.nodePool]: 'default', [label.zone]: 'zone-1', ...parts.labels },
      ...parts.metadata,
    },
    spec: { ...parts.spec },
    status: { providerID: `test:///${name}`, allocatable: room, capacity: room, ...parts.status },
  };
}

export const object = (apiVersion: string, kind: string, name: string, rest: Fields = {}): SnapshotObject => {
  const { metadata, ...fields } = rest;
  return { apiVersion, kind, metadata: { name, ...(metadata as Fields | undefined) }, ...fields };
};

export interface SnapshotParts {
  types?: InstanceTypeSpec[];
  /** Per pool, where pools differ. */
  instanceTypes?: PoolInstanceTypes[];
  settings?: SnapshotSettings;
  provider?: ProviderFacts;
  nodeState?: NodeStateEntry[];
  poolState?: PoolStateEntry[];
  failedOfferings?: FailedOffering[];
  time?: string;
}

export function snapshot(objects: SnapshotObject[], parts: SnapshotParts = {}): Snapshot {
  const pools = objects.filter((item) => item.kind === 'NodePool').map((item) => item.metadata.name);
  return {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    time: parts.time ?? '2026-01-01T00:10:00Z',
    settings: parts.settings ?? {},
    provider: parts.provider ?? provider,
    objects: { apiVersion: 'v1', kind: 'List', items: objects },
    ...(parts.nodeState ? { nodeState: parts.nodeState } : {}),
    ...(parts.poolState ? { poolState: parts.poolState } : {}),
    ...(parts.failedOfferings ? { failedOfferings: parts.failedOfferings } : {}),
    instanceTypes: parts.instanceTypes ?? pools.map((name) => ({ nodePool: name, items: parts.types ?? sizes })),
  };
}

export const plan = (objects: SnapshotObject[], parts: SnapshotParts = {}, options: PlanOptions = {}): Plan =>
  planSnapshot(snapshot(objects, parts), options);

const keyOf = (item: SnapshotObject): string => `${item.metadata.namespace ?? 'default'}/${item.metadata.name}`;

/** The new node a pod is planned on. */
export function newNodeOf(result: Plan, item: SnapshotObject): PlannedNode {
  const found = result.newNodes.find((candidate) => candidate.pods.includes(keyOf(item)));
  expect({ pod: keyOf(item), reasons: reasonsOf(result, item), onNewNode: found !== undefined }).toMatchObject({
    onNewNode: true,
  });
  return found as PlannedNode;
}

export function reasonsOf(result: Plan, item: SnapshotObject): Plan['unschedulable'][number]['reasons'] {
  return result.unschedulable.find((entry) => entry.pod === keyOf(item))?.reasons ?? [];
}

export function expectScheduled(result: Plan, ...items: SnapshotObject[]): void {
  for (const item of items)
    expect({ pod: keyOf(item), reasons: reasonsOf(result, item) }).toMatchObject({ reasons: [] });
}

export function expectUnscheduled(result: Plan, ...items: SnapshotObject[]): void {
  const placed = items.filter((item) => reasonsOf(result, item).length === 0).map(keyOf);
  expect({ placed }).toEqual({ placed: [] });
}

export function expectOnNode(result: Plan, name: string, ...items: SnapshotObject[]): void {
  const there = result.existingNodes.find((entry) => entry.name === name)?.pods ?? [];
  expect({ name, pods: there }).toEqual({ name, pods: expect.arrayContaining(items.map(keyOf)) });
}

export const valuesOf = (planned: PlannedNode, key: string): string[] | undefined =>
  planned.requirements.find((entry) => entry.key === key)?.values;

/** Pods per domain of new nodes, ascending; nodes whose domain is open count as "?". */
export function skew(result: Plan, key: string, among?: SnapshotObject[]): number[] {
  const wanted = among?.map(keyOf);
  const counts = new Map<string, number>();
  for (const planned of result.newNodes) {
    const values = valuesOf(planned, key) ?? [];
    const domain = key === label.hostname ? planned.name : values.length === 1 ? (values[0] as string) : '?';
    const count = planned.pods.filter((name) => wanted === undefined || wanted.includes(name)).length;
    counts.set(domain, (counts.get(domain) ?? 0) + count);
  }
  return [...counts.values()].filter((count) => count > 0).sort((left, right) => left - right);
}

export const spread = (key: string, labels: Record<string, string>, more: Fields = {}): Fields => ({
  topologySpreadConstraints: [
    {
      topologyKey: key,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: labels },
      ...more,
    },
  ],
});

export const podTerm = (key: string, labels: Record<string, string>, more: Fields = {}): Fields => ({
  topologyKey: key,
  labelSelector: { matchLabels: labels },
  ...more,
});

export const affinity = (kind: 'podAffinity' | 'podAntiAffinity', ...terms: Fields[]): Fields => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});

export const nodeAffinity = (...terms: RequirementSpec[][]): Fields => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
      },
    },
  },
});
