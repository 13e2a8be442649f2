// Pods that keep together on a host: affinities over host names make one unit of those on a node that own them or are counted
// by them. A unit is bought for as one pod that needs what all of them need, so the affinities hold wherever it goes.

import type { NewNode } from '../packing/new-node.ts';
import type { TopologyGroup } from '../topology/topology-groups.ts';
import type { Constraint, GroupStep, PlannedPod } from '../workload.ts';
import type { World } from '../world.ts';

export interface Units {
  readonly alone: readonly number[];
  readonly together: readonly (readonly number[])[];
}

export function unitsOf(world: World, newNode: NewNode, stepOf: (pod: number) => number): Units {
  const alone: number[] = [];
  const unitOf = new Map<TopologyGroup, Set<number>>();
  for (const pod of newNode.pods) {
    const { group } = world.workload.pods[pod] as PlannedPod;
    const groups = companyOf((group.steps[stepOf(pod)] as GroupStep).constraint);
    if (groups.length === 0) {
      alone.push(pod);
      continue;
    }
    const unit = new Set([pod]);
    for (const known of new Set(groups.map((own) => unitOf.get(own)))) {
      for (const other of known ?? []) unit.add(other);
      for (const [own, pods] of unitOf) if (pods === known) unitOf.set(own, unit);
    }
    for (const own of groups) unitOf.set(own, unit);
  }
  const together = [...new Set(unitOf.values())].map((unit) => [...unit].sort((left, right) => left - right));
  return { alone, together };
}

/** The affinities over host names that the pod owns or is counted by. */
function companyOf({ rules }: Constraint): TopologyGroup[] {
  const owned = rules.hostAffinities.map(({ group }) => group);
  const counting = rules.counted.filter((group) => group.isHostname && group.kind === 'affinity');
  return owned.length === 0 ? counting : [...owned, ...counting];
}

/** Whether nothing but affinities is said about its host, where some are: other rules count single pods, not units. */
export function canBeUnit(constraint: Constraint): boolean {
  const { rules, ports } = constraint;
  if (companyOf(constraint).length === 0) return true;
  return (
    rules.hostBounds.length === 0 &&
    ports.length === 0 &&
    rules.hostRequirement === undefined &&
    rules.counted.every((group) => !group.isHostname || group.kind === 'affinity') &&
    rules.ownedInverse.every((group) => !group.isHostname)
  );
}
