// Hands the cluster to the planner: the objects as they are, and what only the model knows about each machine
// and each pool. Copies
// references, never objects, so that it stays cheap at a hundred thousand pods.

import type { NodePool } from '../api/index.ts';
import { formatTime } from '../base/index.ts';
import {
  type FailedOffering,
  isInitialized,
  type PoolInstanceTypes,
  type PoolStateEntry,
  type ProviderFacts,
  type ResourceQuantities,
  type Snapshot,
  type SnapshotObject,
  type SnapshotSettings,
} from '../core/index.ts';
import type { KubeObject, Pod } from '../ports/index.ts';
import { type Cluster, contextKinds } from './cluster.ts';
import type { LaunchLedger } from './launch-ledger.ts';
import { isLeaving } from './machine.ts';
import { keyOf } from './object-store.ts';
import { limitsInUse, type UseInputs } from './pool-use.ts';

export interface SnapshotInputs {
  nowMs: number;
  settings: SnapshotSettings;
  provider: ProviderFacts;
  instanceTypes: PoolInstanceTypes[];
  /** What the provider could not launch lately, if it tells. */
  failedOfferings?: FailedOffering[];
  /** Claims still being launched: their pods have a place already, and their pools' limits are that much smaller. */
  ledger?: LaunchLedger;
  /** By name of the Node: conditions that come and go, and since when. */
  unhealthySince?(node: string): Record<string, string> | undefined;
}

export function takeSnapshot(cluster: Cluster, inputs: SnapshotInputs): Snapshot {
  const placed = inputs.ledger?.placedPods() ?? new Set();
  const lists: (readonly KubeObject[])[] = [
    ...contextKinds.map((kind) => cluster.context[kind].list()),
    cluster.nodePools.list(),
    cluster.claims.list(),
    cluster.nodes.list(),
    withoutPlaced(cluster, cluster.pods.store.list(), placed),
    withoutPlaced(cluster, cluster.getBufferPods(), placed),
  ];
  // In one piece: an array that grows to a hundred thousand is copied many times on the way.
  const items = ([] as KubeObject[]).concat(...lists);
  const nodeState: NonNullable<Snapshot['nodeState']> = [];
  for (const machine of cluster.machines.all()) {
    const unhealthySince = inputs.unhealthySince?.(machine.node?.metadata.name ?? '');
    nodeState.push({
      ...(machine.node?.metadata.name === undefined ? {} : { node: machine.node.metadata.name }),
      ...(machine.claim?.metadata.name === undefined ? {} : { nodeClaim: machine.claim.metadata.name }),
      providerID: machine.key,
      initialized: isInitialized(machine),
      markedForDeletion: isLeaving(machine),
      nominated: cluster.isNominated(machine),
      ...(unhealthySince === undefined ? {} : { unhealthySince }),
    });
  }
  return {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    time: formatTime(inputs.nowMs),
    settings: inputs.settings,
    provider: inputs.provider,
    // Stored objects carry apiVersion, kind and a name: the Kube port promises it.
    objects: { apiVersion: 'v1', kind: 'List', items: items as unknown as SnapshotObject[] },
    nodeState,
    poolState: poolStates(cluster, inputs),
    ...(inputs.failedOfferings === undefined ? {} : { failedOfferings: inputs.failedOfferings }),
    instanceTypes: inputs.instanceTypes,
  };
}

/** A pod that a launching claim was made for needs no other place; one that found one is there for everyone to see. */
function withoutPlaced(cluster: Cluster, pods: readonly Pod[], placed: ReadonlySet<string>): readonly Pod[] {
  if (placed.size === 0) return pods;
  return pods.filter((pod) => !placed.has(keyOf(pod)) || !needsPlace(cluster, pod));
}

/** It waits, or sits on a node that leaves. */
export function needsPlace(cluster: Cluster, pod: Pod): boolean {
  const nodeName = pod.spec?.nodeName;
  if (!nodeName) return true;
  const machine = cluster.machines.ofNode(nodeName);
  return machine !== undefined && isLeaving(machine);
}

/** Pools that get no new nodes for a while. */
export function pausesOf(cluster: Cluster): PoolStateEntry[] {
  return cluster.nodePools.list().flatMap((pool): PoolStateEntry[] => {
    const pause = cluster.launchBackoff.pauseOf(pool.metadata.uid ?? '');
    if (pause === undefined) return [];
    const pausedBecause = { code: pause.kind, message: pause.message };
    return [{ nodePool: pool.metadata.name ?? '', pausedUntil: formatTime(pause.untilMs), pausedBecause }];
  });
}

/** What is known about pools beyond the objects: pauses, and what counts against limits. Pools without either are left out. */
function poolStates(cluster: Cluster, { ledger, instanceTypes }: SnapshotInputs): PoolStateEntry[] {
  const offered = new Map(instanceTypes.map(({ nodePool, items = [] }) => [nodePool, items]));
  const pauses = new Map(pausesOf(cluster).map((pause) => [pause.nodePool, pause]));
  return cluster.nodePools.list().flatMap((pool): PoolStateEntry[] => {
    const nodePool = pool.metadata.name ?? '';
    const pause = pauses.get(nodePool);
    const inUse = inUseOf(pool, { cluster, ledger, offered: offered.get(nodePool) ?? [] });
    if (inUse === undefined) return pause === undefined ? [] : [pause];
    return [{ nodePool, ...pause, inUse }];
  });
}

function inUseOf(pool: NodePool, inputs: UseInputs): ResourceQuantities | undefined {
  if (Object.keys(pool.spec.limits ?? {}).length === 0) return undefined;
  return limitsInUse(pool, inputs);
}
