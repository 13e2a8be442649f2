// The packing itself: pods are taken in queue order, each is offered to nodes that exist, to nodes under construction and
// to a fresh node, weaker and weaker, and goes to the end of the queue if no one takes it. Affinity to pods that come
// later and spreads that need alternation resolve themselves that way; the loop ends when a whole round brings nothing.
// Pods that are left over then get a second chance in domains that are not the emptiest, but keep their rules, and a third
// where other nodes can leave them room under the limits of their pool.
//
// Pods of one group are indistinguishable, so a group that failed fails again until something has been placed.

import { label } from '../../api/names.ts';
import type { Sliced } from '../../base/index.ts';
import { DeviceState } from '../devices/device-state.ts';
import { withoutNodes } from '../devices/device-world.ts';
import type { StartingCounts } from '../topology/topology-index.ts';
import { TopologyState } from '../topology/topology-state.ts';
import type { GroupStep, Need, PlannedPod, PodGroup, Workload } from '../workload.ts';
import type { World } from '../world.ts';
import { NewNodePacking } from './new-node-packing.ts';
import { columnsOf } from './node-columns.ts';
import { type Destinations, NodePacking, namesOfGone } from './node-packing.ts';

export type Failure = 'refused' | 'deferred' | 'devices';

export interface Packed {
  readonly packing: NewNodePacking;
  readonly nodes: NodePacking;
  readonly topology: TopologyState;
  readonly devices: DeviceState | undefined;
  /** Positions of pods without a place, in queue order, with the reason's kind. */
  readonly failed: readonly { readonly pod: number; readonly failure: Failure }[];
  /** The step at which a pod was placed, or given up, if it was not the first. */
  readonly steps: ReadonlyMap<number, number>;
}

export interface SolveOptions {
  /** A pod that could have had reserved capacity waits instead of falling back. */
  readonly strictReservations: boolean;
  /** Nodes do without large types where limits would leave pods without a place. */
  readonly usesLimitsUp?: boolean;
  /** Nodes are packed as if each were the only one under its pool's limits; whether the pool may have them all is open. */
  readonly countsLimitsAfterwards?: boolean;
  /** What would be if some nodes were gone; absent, the world as it is. */
  readonly whatIf?: WhatIfInputs;
}

export interface WhatIfInputs {
  /** Positions of the pods to place, ascending; the others stay where they are. */
  readonly pods: readonly number[];
  readonly destinations: Destinations;
  /** Topology counts without what is gone. */
  readonly starting: readonly StartingCounts[];
}

/** Yields before the first pod and after every one that was tried. */
export function* solveInSlices(world: World, options: SolveOptions): Sliced<Packed> {
  const { workload, table, resources } = world;
  const hostnames = workload.topology.domainsOf(label.hostname);
  const { whatIf } = options;
  // Numbers the hosts, which topology counts by.
  const columns = columnsOf(world.nodes, resources, hostnames);
  yield;
  const topology = new TopologyState(table, workload.topology, hostnames, whatIf?.starting);
  const queue: number[] = whatIf === undefined ? [...workload.pods.keys()] : [...whatIf.pods];
  const devices = devicesOf(world, queue, whatIf);
  const nodes = new NodePacking(columns, table, topology, whatIf?.destinations, devices);
  const least = smallestNeed(workload.groups);
  const { strictReservations } = options;
  const { countsLimitsAfterwards = false } = options;
  const smallest = { smallestNeed: least, countsLimitsAfterwards };
  const packing = new NewNodePacking(world, { topology, strictReservations, devices, ...smallest });

  const place = (group: PodGroup, pod: number): Failure | undefined => {
    if (group.needsDevices && devices === undefined) return 'devices';
    for (let at = 0; at < group.steps.length; at++) {
      const verdict = placeStep(group, group.steps[at] as GroupStep, pod);
      if (verdict === 'refused') continue;
      if (at > 0) steps.set(pod, at);
      else steps.delete(pod);
      return verdict === 'placed' ? undefined : verdict;
    }
    return 'refused';
  };
  const placeStep = (group: PodGroup, step: GroupStep, pod: number): 'placed' | 'refused' | 'deferred' => {
    if (!topology.prepare(step.constraint.rules)) return 'refused';
    if (nodes.place(group, step, pod) || packing.placeOnOpenNode(group, step, pod)) return 'placed';
    return packing.placeOnFreshNode(group, step, pod);
  };

  const failures = new Map<number, Failure>();
  const steps = new Map<number, number>();
  let placed = 0;
  const drain = function* (queue: number[]): Sliced<void> {
    const lengthWhenPushed = new Map<number, number>();
    const failedAt = new Int32Array(2 * workload.groups.length).fill(-1);
    const lastFailure: Failure[] = [];
    let head = 0;
    while (head < queue.length) {
      const pod = queue[head] as number;
      if (lengthWhenPushed.get(pod) === queue.length - head) return;
      head += 1;
      const { group } = workload.pods[pod] as PlannedPod;
      // Pods that may not go everywhere fail for themselves only.
      const kind = 2 * group.id + (whatIf?.destinations.moved[pod] ?? 0);
      const failure = failedAt[kind] === placed ? lastFailure[kind] : place(group, pod);
      yield;
      if (failure === undefined) {
        placed += 1;
        failures.delete(pod);
        continue;
      }
      failedAt[kind] = placed;
      lastFailure[kind] = failure;
      failures.set(pod, failure);
      queue.push(pod);
      lengthWhenPushed.set(pod, queue.length - head);
    }
  };
  /** Where limits are in the way, nodes do without their largest types, for as long as that brings pods a place. */
  const useLimitsUp = function* (): Sliced<void> {
    for (let before = -1; before !== placed; ) {
      before = placed;
      const left = [...failures].flatMap(([pod, failure]) => (failure === 'refused' ? [pod] : [])).sort(ascending);
      const templates = new Set(
        [...new Set(left.map((pod) => (workload.pods[pod] as PlannedPod).group))].flatMap((group) =>
          group.steps.flatMap((step) =>
            topology.prepare(step.constraint.rules) ? packing.refusedByLimits(group, step) : [],
          ),
        ),
      );
      if (templates.size === 0) return;
      while (packing.poolLimits.giveUpTypes(packing.newNodes, templates)) {
        yield* drain([...left]);
        if (placed > before) break;
      }
      packing.poolLimits.settle(placed > before);
    }
  };
  yield* drain(queue);
  const stuck = [...failures].flatMap(([pod, failure]) => (failure === 'refused' ? [pod] : []));
  if (stuck.some((pod) => hasChoiceOfDomains((workload.pods[pod] as PlannedPod).group))) {
    packing.lastResort = true;
    yield* drain(stuck.sort(ascending));
  }
  if (options.usesLimitsUp) yield* useLimitsUp();
  for (const pod of failures.keys()) steps.set(pod, (workload.pods[pod] as PlannedPod).group.steps.length - 1);
  const failed = [...failures].map(([pod, failure]) => ({ pod, failure })).sort((left, right) => left.pod - right.pod);
  return { packing, nodes, topology, devices, failed, steps };
}

const ascending = (left: number, right: number): number => left - right;

/** Another domain than the one it should be in would keep its rules too. */
function hasChoiceOfDomains({ steps }: PodGroup): boolean {
  return steps.some(({ constraint }) => constraint.fickle && constraint.rules.keys.length > 0);
}

function devicesOf(
  { devices, nodes, table, workload }: World,
  queue: readonly number[],
  whatIf: WhatIfInputs | undefined,
): DeviceState | undefined {
  if (devices === undefined) return undefined;
  const gone = whatIf === undefined ? new Set<string>() : namesOfGone(nodes, whatIf.destinations);
  return new DeviceState(withoutNodes(devices, gone), table, movingPods(workload, queue));
}

/** The uids of pods that have a node and are planned for another. */
function movingPods(workload: Workload, queue: readonly number[]): Set<string> {
  const moving = new Set<string>();
  for (const at of queue) {
    const { pod } = workload.pods[at] as PlannedPod;
    if (pod.spec?.nodeName && pod.metadata.uid) moving.add(pod.metadata.uid);
  }
  return moving;
}

/** Resource by resource the least any pod asks for: a node without that much room left is finished. */
function smallestNeed(groups: readonly PodGroup[]): Need {
  let need = smallestNeeds.get(groups);
  if (need === undefined) {
    need = computeSmallestNeed(groups);
    smallestNeeds.set(groups, need);
  }
  return need;
}

const smallestNeeds = new WeakMap<readonly PodGroup[], Need>();

function computeSmallestNeed(groups: readonly PodGroup[]): Need {
  const least = new Map<number, number>();
  const [first, ...rest] = groups;
  first?.need.columns.forEach((column, at) => least.set(column, first.need.amounts[at] as number));
  for (const { need } of rest) {
    for (const [column, amount] of least) {
      const at = need.columns.indexOf(column);
      if (at < 0) least.delete(column);
      else least.set(column, Math.min(amount, need.amounts[at] as number));
    }
  }
  return { id: -1, columns: [...least.keys()], amounts: [...least.values()], zeros: [] };
}
