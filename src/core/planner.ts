// The planner's door: raw snapshot in, finished plan out. No clock, no randomness, no I/O: the same snapshot gives the
// same plan, byte for byte, whatever the order of its objects.

import { atOnce, type Sliced } from '../base/index.ts';
import { type CheapestPacking, cheapestPacking } from './improve/cheapest-packing.ts';
import { NewNodeFinisher } from './packing/finish.ts';
import { type Failure, type Packed, solveInSlices } from './packing/solve.ts';
import type { Plan, PlannedNode, PlanOptions, Reason, UnschedulablePod } from './plan.ts';
import { minValuesMessage } from './pools/min-values.ts';
import { effectiveZones } from './reasons/effective-zones.ts';
import { emptyPools, explain, noPoolsReason } from './reasons/explain.ts';
import type { Snapshot } from './snapshot.ts';
import type { PlannedPod, PodGroup, Workload } from './workload.ts';
import { indexSnapshotInSlices, usualNodeCostPerHour, type World } from './world.ts';

export function planSnapshot(snapshot: Snapshot, options: PlanOptions = {}): Plan {
  return atOnce(planSnapshotInSlices(snapshot, options));
}

/** The same plan in small pieces of work, for a process that has other things to do meanwhile. */
export function* planSnapshotInSlices(snapshot: Snapshot, options: PlanOptions = {}): Sliced<Plan> {
  return yield* planWorldInSlices(yield* indexSnapshotInSlices(snapshot, options), options);
}

/** Plans a world that is already compiled; the second time is faster, because the world remembers set algebra. */
export function planWorld(world: World, options: PlanOptions = {}): Plan {
  return atOnce(planWorldInSlices(world, options));
}

function* planWorldInSlices(world: World, options: PlanOptions): Sliced<Plan> {
  const startMs = options.stopwatch?.() ?? 0;
  const { workload, rejected } = world;
  const unschedulable: UnschedulablePod[] = rejected.map(({ key, reason }) => ({ pod: key, reasons: [reason] }));
  const newNodes: PlannedNode[] = [];
  const existingNodes: Plan['existingNodes'] = [];
  const keyOf = (pod: number): string => (workload.pods[pod] as PlannedPod).key;

  if (options.onEmptyPool !== undefined) for (const pool of emptyPools(world)) options.onEmptyPool(pool);
  if (world.hasPools) {
    const { improve = true } = options;
    const {
      packed,
      refusing,
      newNodes: bought,
    } = yield* improve === false ? firstPacking(world) : cheapestPacking(world, improve === 'pool by pool');
    options.onZones?.(effectiveZones(world, packed.topology));
    if (options.onRelaxed !== undefined) tellRelaxed(workload, packed, options.onRelaxed);
    const finisher = new NewNodeFinisher(world);
    for (const newNode of bought) {
      yield;
      const finished = finisher.finish(newNode);
      if (finished.kind === 'node') newNodes.push(finished.node);
      else {
        const reasons = [truncationReason(finished.poolName, finished.keys)];
        for (const pod of finished.pods) unschedulable.push({ pod: keyOf(pod), reasons });
      }
    }
    packed.nodes.pods.forEach((pods, index) => {
      if (pods.length > 0) existingNodes.push({ name: world.nodes[index]?.name ?? '', pods: pods.map(keyOf) });
    });
    const reasonsOf = new Map<PodGroup, Map<Failure, Reason[]>>();
    const context = { world, topology: refusing.topology, packing: refusing.packing, devices: refusing.devices };
    for (const { pod, failure } of packed.failed) {
      yield;
      const { group, key } = workload.pods[pod] as PlannedPod;
      let byFailure = reasonsOf.get(group);
      if (byFailure === undefined) {
        byFailure = new Map();
        reasonsOf.set(group, byFailure);
      }
      let reasons = byFailure.get(failure);
      if (reasons === undefined) {
        reasons = explain(context, group, failure);
        byFailure.set(failure, reasons);
      }
      unschedulable.push({ pod: key, reasons });
    }
  } else {
    for (const { key } of workload.pods) unschedulable.push({ pod: key, reasons: [noPoolsReason] });
  }

  const pricePerHour = total(newNodes.map((node) => node.chosen.pricePerHour));
  return {
    apiVersion: 'kerf/v1',
    kind: 'Plan',
    solveMs: (options.stopwatch?.() ?? 0) - startMs,
    pods: workload.pods.length + rejected.length,
    pricePerHour,
    ...costOf(world, newNodes, pricePerHour),
    newNodes,
    existingNodes,
    unschedulable: unschedulable.sort((left, right) => (left.pod < right.pod ? -1 : left.pod > right.pod ? 1 : 0)),
  };
}

function* firstPacking(world: World): Sliced<CheapestPacking> {
  const packed = yield* solveInSlices(world, { strictReservations: true });
  return { packed, refusing: packed, newNodes: packed.packing.newNodes };
}

/** What the nodes cost with fees beside their price, where someone set them. */
function costOf({ templates }: World, nodes: readonly PlannedNode[], pricePerHour: number): Pick<Plan, 'costPerHour'> {
  const costs = new Map(templates.map(({ poolName, nodeCostPerHour }) => [poolName, nodeCostPerHour]));
  const own = nodes.map(({ nodePool }) => costs.get(nodePool) ?? 0);
  return own.every((cost) => cost === usualNodeCostPerHour) ? {} : { costPerHour: total([pricePerHour, ...own]) };
}

function tellRelaxed(workload: Workload, packed: Packed, tell: NonNullable<PlanOptions['onRelaxed']>): void {
  for (const [at, step] of packed.steps) {
    const { key, group } = workload.pods[at] as PlannedPod;
    const changes = group.steps.slice(1, step + 1).flatMap(({ constraint }) => constraint.change?.() ?? []);
    if (changes.length > 0) tell(key, changes);
  }
}

function truncationReason(poolName: string, keys: readonly string[]): Reason {
  return {
    code: 'MinValuesUnsatisfied',
    message: `pod didn’t schedule because NodePool couldn’t meet minValues requirements, validating minValues, ${minValuesMessage(keys)} (NodePool=${poolName})`,
    nodePool: poolName,
    keys: [...keys],
    suggestion: `lower minValues of ${keys.join(', ')} in NodePool ${poolName}, or raise the number of instance types a node may carry`,
  };
}

/** A sum without the dust that adding many decimals leaves. */
function total(prices: readonly number[]): number {
  let sum = 0;
  for (const price of prices) sum += price;
  return Math.round(sum * 1e9) / 1e9;
}
