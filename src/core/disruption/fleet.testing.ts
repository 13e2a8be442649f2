// Words for disruption tests: a managed node with its claim, pods on it, and a round over all of it.

import { label } from '../../api/names.ts';
import { atOnce } from '../../base/index.ts';
import type { SnapshotObject } from '../index.ts';
import {
  node,
  nodeClaim,
  nodePool,
  type PodParts,
  pod,
  type SnapshotParts,
  snapshot,
} from '../testing/builders.testing.ts';
import { Fleet, type FleetOptions } from './fleet.ts';
import { Round } from './round.ts';

type Fields = Record<string, unknown>;

export interface MachineParts {
  type?: string;
  cpu?: string;
  pool?: string;
  zone?: string;
  capacityType?: string;
  conditions?: Record<string, string>;
  /** When conditions last changed. */
  since?: string;
  ready?: string;
  initialized?: boolean;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  taints?: Fields[];
  claim?: Fields;
  /** The same as the node's, unless said otherwise. */
  claimName?: string;
  claimStatus?: Fields;
  claimMetadata?: Fields;
  nodeMetadata?: Fields;
}

/** A node of a pool with its claim: initialized, ready, quiet, unless said otherwise. */
export function machine(name: string, parts: MachineParts = {}): SnapshotObject[] {
  const cpu = parts.cpu ?? parts.type?.slice(1) ?? '4';
  const initialized = parts.initialized ?? true;
  const labels: Record<string, string> = {
    [label.nodePool]: parts.pool ?? 'default',
    [label.instanceType]: parts.type ?? 'c4',
    [label.capacityType]: parts.capacityType ?? 'on-demand',
    [label.zone]: parts.zone ?? 'zone-1',
    [label.os]: 'linux',
    [label.arch]: 'amd64',
    [label.registered]: 'true',
    ...(initialized ? { [label.initialized]: 'true' } : {}),
    ...parts.labels,
  };
  const room = { cpu, memory: `${2 * Number(cpu)}Gi`, pods: String(5 * Number(cpu)) };
  const lastTransitionTime = parts.since ?? '2026-01-01T00:00:00Z';
  const conditions = Object.entries({
    Launched: 'True',
    Registered: 'True',
    Initialized: initialized ? 'True' : 'Unknown',
    ...(initialized ? { Consolidatable: 'True' } : {}),
    ...parts.conditions,
  }).map(([type, status]) => ({ type, status, lastTransitionTime }));
  const member = node({ name, labels, allocatable: room, providerID: `test:///${name}`, taints: parts.taints ?? [] });
  return [
    {
      ...member,
      metadata: {
        ...member.metadata,
        ...(parts.annotations ? { annotations: parts.annotations } : {}),
        ...parts.nodeMetadata,
      },
      status: {
        ...(member['status'] as Fields),
        conditions: [{ type: 'Ready', status: parts.ready ?? 'True', lastTransitionTime }],
      },
    },
    nodeClaim(parts.claimName ?? name, {
      labels,
      spec: { ...parts.claim },
      status: { providerID: `test:///${name}`, conditions, allocatable: room, capacity: room, ...parts.claimStatus },
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z', ...parts.claimMetadata },
    }),
  ];
}

export const replicaSet: Fields = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'app',
  uid: 'rs',
  controller: true,
};
export const statefulSet: Fields = { ...replicaSet, kind: 'StatefulSet' };
export const daemonSet: Fields = { ...replicaSet, kind: 'DaemonSet' };
export const mirror: Fields = { apiVersion: 'v1', kind: 'Node', name: 'node', uid: 'n', controller: true };

export const running = (onNode: string, parts: PodParts = {}): SnapshotObject =>
  pod({ node: onNode, cpu: '1', owner: replicaSet, ...parts });

/** A pool that lets everything be disrupted, unless said otherwise. */
export const pool = (name = 'default', disruption: Fields = {}, spec: Fields = {}): SnapshotObject =>
  nodePool({
    name,
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }], ...disruption }, ...spec },
  });

export const fleetOf = (objects: SnapshotObject[], parts: SnapshotParts = {}, options: FleetOptions = {}): Fleet =>
  Fleet.of(snapshot(objects, parts), options);

export const roundOf = (objects: SnapshotObject[], parts: SnapshotParts = {}, options: FleetOptions = {}): Round =>
  Round.of(snapshot(objects, parts), options);

/** Runs a sliced computation to its end. */
export const finish = atOnce;

export const names = (members: readonly { name: string }[] | undefined): string[] =>
  (members ?? []).map((member) => member.name).sort();
