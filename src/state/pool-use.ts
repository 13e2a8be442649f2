// What a NodePool uses of its limits now: the machines that stay, and claims that are still to become one, as the largest
// they may become. Core decides what counts (core/pools/limits); this is who there is to count.

import { label, type NodeClaim, type NodePool } from '../api/index.ts';
import { countsWhileLeaving, type InstanceTypeSpec, type ResourceQuantities, useOf } from '../core/index.ts';
import type { Cluster } from './cluster.ts';
import { type LaunchLedger, largestOf } from './launch-ledger.ts';
import { capacityOf, isLeaving, type Machine, nodePoolOf } from './machine.ts';

export interface UseInputs {
  cluster: Cluster;
  ledger?: LaunchLedger | undefined;
  /** Everything the pool may have, to look up what claims may become that this process did not make. */
  offered: readonly InstanceTypeSpec[];
  /** Claims that go when a new one has come. */
  replaced?: ReadonlySet<string> | undefined;
}

/** Machines of the pool, launched ones, that count against its limits. */
export function countedMachines(cluster: Cluster, pool: NodePool): Machine[] {
  const name = pool.metadata.name ?? '';
  const leavingCount = countsWhileLeaving(pool);
  return [...cluster.machines.all()].filter(
    (machine) => nodePoolOf(machine) === name && (leavingCount || !isLeaving(machine)),
  );
}

/** `inUse` of the pool's state: resources that have a limit, and nodes, launches under way included. */
export function limitsInUse(pool: NodePool, inputs: UseInputs): Record<string, string> {
  return useOf(usersOf(pool, inputs), Object.keys(pool.spec.limits ?? {}));
}

function usersOf(pool: NodePool, { cluster, ledger, offered, replaced }: UseInputs): ResourceQuantities[] {
  const name = pool.metadata.name ?? '';
  const users: ResourceQuantities[] = [];
  for (const machine of countedMachines(cluster, pool)) {
    if (!replaced?.has(machine.claim?.metadata.name ?? '')) users.push(capacityOf(machine));
  }
  const listed = new Set(ledger?.claims());
  for (const claim of cluster.claims.list()) {
    const { name: claimName = '', labels, deletionTimestamp } = claim.metadata;
    if (labels?.[label.nodePool] !== name || deletionTimestamp !== undefined || claim.status?.providerID) continue;
    if (!listed.has(claimName)) users.push(largestOf(typesOf(claim, offered)));
  }
  const held = ledger?.heldBack(name);
  return held === undefined ? users : [...users, held];
}

function typesOf({ spec }: NodeClaim, offered: readonly InstanceTypeSpec[]): InstanceTypeSpec[] {
  const named = spec.requirements.find(({ key, operator }) => key === label.instanceType && operator === 'In')?.values;
  return named === undefined ? [...offered] : offered.filter((type) => named.includes(type.name));
}
