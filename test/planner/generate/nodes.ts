// Random machines: unmanaged nodes, nodes of a pool in every stage from launched claim to initialized node, leaving ones,
// and the pods already running on them.
import * as fc from 'fast-check';
import { label } from '../../../src/api/index.ts';
import type { NodeStateEntry, SnapshotObject } from '../../../src/core/index.ts';
import type { PodSpec, Taint } from '../rules/objects.ts';
import type { PodParts } from './pods.ts';
import { apps, dedicated, defined, driver, sometimes, zones } from './values.ts';

type Stage = 'unmanaged' | 'launched' | 'joined' | 'initialized' | 'leaving';

interface BoundParts {
  app: string;
  cpu: string;
  apart: boolean;
  daemon: boolean;
  state: 'running' | 'done' | 'terminating' | 'protected';
}

export interface MachineParts {
  stage: Stage;
  zone: string;
  capacityType: string;
  cpu: number;
  taints: Taint[] | undefined;
  attachLimit: number | undefined;
  team: boolean;
  bound: BoundParts[];
}

const bound: fc.Arbitrary<BoundParts> = fc.record({
  app: fc.constantFrom(...apps),
  cpu: fc.constantFrom('100m', '250m', '1'),
  apart: fc.nat({ max: 5 }).map((n) => n === 0),
  daemon: fc.nat({ max: 5 }).map((n) => n === 0),
  state: fc.constantFrom<BoundParts['state']>(
    'running',
    'running',
    'running',
    'running',
    'done',
    'terminating',
    'protected',
  ),
});

export interface MachineOptions {
  leaving: boolean;
  /** Machines on their way: launched without a Node, and joined with startup taints still on. */
  starting: boolean;
}

export function machineParts(options: MachineOptions): fc.Arbitrary<MachineParts> {
  return fc.record({
    stage: fc.constantFrom<Stage>(
      'unmanaged',
      ...(options.starting ? (['launched', 'joined'] as const) : []),
      'initialized',
      'initialized',
      ...(options.leaving ? ['leaving' as const] : []),
    ),
    zone: fc.constantFrom(...zones),
    capacityType: fc.constantFrom('on-demand', 'spot'),
    cpu: fc.constantFrom(1, 2, 4),
    taints: sometimes(15, fc.constant([dedicated])),
    attachLimit: sometimes(40, fc.constantFrom(1, 2)),
    team: fc.boolean(),
    bound: fc.array(bound, { maxLength: 3 }),
  });
}

export interface MachineObjects {
  objects: SnapshotObject[];
  state: NodeStateEntry;
}

export function machineObjects(parts: MachineParts, index: number, pool: string | undefined): MachineObjects {
  const name = `node-${index}`;
  const managed = parts.stage !== 'unmanaged' && pool !== undefined;
  const labels: Record<string, string> = {
    [label.hostname]: name,
    [label.zone]: parts.zone,
    [label.capacityType]: parts.capacityType,
    [label.arch]: 'amd64',
    [label.os]: 'linux',
    [label.instanceType]: 'existing',
    'test.kerf/cpu': String(parts.cpu),
    ...(parts.team ? { team: 'a' } : {}),
    ...(managed ? { [label.nodePool]: pool, 'karpenter.test.sh/testnodeclass': 'default' } : {}),
  };
  const room = { cpu: String(parts.cpu), memory: `${parts.cpu * 4}Gi`, pods: '12' };
  const providerID = `test:///${name}`;
  const early: Taint[] = [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    { key: 'starting', effect: 'NoSchedule' },
  ];
  const objects: SnapshotObject[] = [];
  const hasNode = parts.stage !== 'launched' || !managed;
  const initialized = parts.stage === 'initialized' || parts.stage === 'leaving';
  if (managed) {
    objects.push({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: `claim-${index}`, uid: `uid-claim-${index}`, labels: withoutHostname(labels) },
      spec: {
        requirements: [],
        nodeClassRef: {},
        taints: parts.taints ?? [],
        startupTaints: [{ key: 'starting', effect: 'NoSchedule' }],
      },
      status: { providerID, capacity: room, allocatable: room },
    });
  }
  if (hasNode) {
    objects.push({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        uid: `uid-${name}`,
        labels: {
          ...labels,
          ...(managed ? { [label.registered]: 'true' } : {}),
          ...(managed && initialized ? { [label.initialized]: 'true' } : {}),
        },
      },
      spec: defined({
        providerID,
        taints: [...(parts.taints ?? []), ...(parts.stage === 'joined' && managed ? early : [])],
      }),
      status: { capacity: room, allocatable: room, conditions: [{ type: 'Ready', status: 'True' }] },
    });
    if (parts.attachLimit !== undefined) {
      objects.push({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSINode',
        metadata: { name, uid: `uid-csi-${name}` },
        spec: { drivers: [{ name: driver, nodeID: name, allocatable: { count: parts.attachLimit } }] },
      });
    }
    // Never more than half of a node is taken, so that the machine is legal to begin with.
    parts.bound
      .slice(0, parts.cpu === 1 ? 1 : 3)
      .forEach((pod, i) => objects.push(boundPod(`bound-${index}-${i}`, name, pod, 3 * index + i)));
  }
  return {
    objects,
    state: {
      ...(hasNode ? { node: name } : {}),
      ...(managed ? { nodeClaim: `claim-${index}` } : {}),
      providerID,
      initialized: managed ? initialized : true,
      markedForDeletion: parts.stage === 'leaving',
    },
  };
}

function withoutHostname(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => key !== label.hostname));
}

/** `age` keeps creation times apart: of a DaemonSet's pods the newest speaks for it. */
function boundPod(name: string, nodeName: string, parts: BoundParts, age: number): SnapshotObject {
  const spec: PodSpec = {
    nodeName,
    containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: parts.cpu, memory: '256Mi' } } }],
    ...(parts.apart
      ? {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { labelSelector: { matchLabels: { app: parts.app } }, topologyKey: label.hostname },
              ],
            },
          },
        }
      : {}),
  };
  const owner = parts.daemon
    ? [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'uid-ds-agent' }]
    : [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: parts.app, uid: `uid-rs-${parts.app}` }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: defined({
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: `2026-01-01T00:00:${String(age).padStart(2, '0')}Z`,
      deletionTimestamp: parts.state === 'terminating' ? '2026-01-01T11:59:50Z' : undefined,
      labels: { app: parts.app },
      annotations: parts.state === 'protected' ? { 'karpenter.sh/do-not-disrupt': 'true' } : undefined,
      ownerReferences: owner,
    }),
    spec,
    status: {
      phase: parts.state === 'done' ? 'Succeeded' : 'Running',
      conditions: [{ type: 'PodScheduled', status: 'True' }],
    },
  };
}

export function waitingPod(parts: PodParts, index: number): SnapshotObject {
  const name = `pod-${String(index).padStart(3, '0')}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: parts.namespace,
      uid: `uid-${name}`,
      creationTimestamp: `2026-01-01T11:00:0${parts.age}Z`,
      labels: { app: parts.app, revision: parts.revision },
    },
    spec: parts.spec,
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  };
}
