// Hands the cluster to the planner: the objects as they are, and what only the model knows about each machine. Copies
// references, never objects, so that it stays cheap at a hundred thousand pods.

import { conditionType, type NodePool } from '../api/index.ts';
import { addQuantities, formatQuantity, formatTime, parseQuantity, tryParseQuantity } from '../base/index.ts';
import type { PoolInstanceTypes, ProviderFacts, Snapshot, SnapshotObject, SnapshotSettings } from '../core/index.ts';
import type { KubeObject, Pod } from '../ports/index.ts';
import { type Cluster, contextKinds } from './cluster.ts';
import type { LaunchLedger } from './launch-ledger.ts';
import { isInitialized, isLeaving } from './machine.ts';
import { keyOf } from './object-store.ts';

export interface SnapshotInputs {
  nowMs: number;
  settings: SnapshotSettings;
  provider: ProviderFacts;
  instanceTypes: PoolInstanceTypes[];
  /** Claims still being launched: their pods have a place already, and their pools' limits are that much smaller. */
  ledger?: LaunchLedger;
}

export function takeSnapshot(cluster: Cluster, inputs: SnapshotInputs): Snapshot {
  const placed = inputs.ledger?.placedPods() ?? new Set();
  const lists: (readonly KubeObject[])[] = [
    ...contextKinds.map((kind) => cluster.context[kind].list()),
    cluster.nodePools.list().map((pool) => paused(withinLimits(pool, inputs.ledger), cluster)),
    cluster.claims.list(),
    cluster.nodes.list(),
    withoutPlaced(cluster, cluster.pods.store.list(), placed),
    withoutPlaced(cluster, cluster.getBufferPods(), placed),
  ];
  // In one piece: an array that grows to a hundred thousand is copied many times on the way.
  const items = ([] as KubeObject[]).concat(...lists);
  const nodeState: NonNullable<Snapshot['nodeState']> = [];
  for (const machine of cluster.machines.all()) {
    nodeState.push({
      ...(machine.node?.metadata.name === undefined ? {} : { node: machine.node.metadata.name }),
      ...(machine.claim?.metadata.name === undefined ? {} : { nodeClaim: machine.claim.metadata.name }),
      providerID: machine.key,
      initialized: isInitialized(machine),
      markedForDeletion: isLeaving(machine),
      nominated: machine.nominatedUntilMs > inputs.nowMs,
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

/** A pool whose launches keep failing is not ready for more of them until its pause is over. */
function paused(pool: NodePool, { launchBackoff }: Cluster): NodePool {
  const pause = launchBackoff.pauseOf(pool.metadata.uid ?? '');
  if (pause === undefined) return pool;
  const conditions = pool.status?.conditions?.map((condition) =>
    condition.type === conditionType.ready
      ? { ...condition, status: 'False' as const, reason: pause.kind, message: pause.message }
      : condition,
  );
  return { ...pool, status: { ...pool.status, ...(conditions === undefined ? {} : { conditions }) } };
}

/** The pool with what launching claims may use already taken off its limits. */
function withinLimits(pool: NodePool, ledger: LaunchLedger | undefined): NodePool {
  const held = pool.spec.limits === undefined ? undefined : ledger?.heldBack(pool.metadata.name ?? '');
  if (held === undefined) return pool;
  const limits: Record<string, string | number> = {};
  for (const [name, limit] of Object.entries(pool.spec.limits ?? {})) {
    const most = tryParseQuantity(limit);
    const taken = parseQuantity(held[name] ?? '0');
    // What cannot be read stays as it is: the planner says what is wrong with it.
    limits[name] = most === undefined ? limit : formatQuantity(addQuantities(most, { ...taken, nano: -taken.nano }));
  }
  return { ...pool, spec: { ...pool.spec, limits } };
}
