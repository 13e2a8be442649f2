// Two plans for the same pods, side by side: what each would launch, what it costs, and which pods end up elsewhere.
import type { Plan, Snapshot } from '../../core/index.ts';
import { WorkloadNames } from './workload-names.ts';

export interface NamedPlan {
  name: string;
  plan: Plan;
  snapshot: Snapshot;
}

export interface PlanSummary {
  name: string;
  pods: number;
  newNodes: number;
  podsOnNewNodes: number;
  podsOnExistingNodes: number;
  unschedulable: number;
  pricePerHour: number;
}

/** Nodes of one pool, type and capacity type. */
export interface NodesChange {
  nodePool: string;
  instanceType: string;
  capacityType: string;
  before: number;
  after: number;
  /** After minus before. */
  pricePerHour: number;
}

/** Pods of one workload that went from one kind of place to another. */
export interface Move {
  workload: string;
  from: string;
  to: string;
  pods: number;
}

export interface PlanDiff {
  apiVersion: 'kerf/v1';
  kind: 'PlanDiff';
  before: PlanSummary;
  after: PlanSummary;
  /** After minus before. */
  pricePerHour: number;
  nodes: NodesChange[];
  moves: Move[];
  /** Pods without a place after that had one before, and the other way round. */
  lost: string[];
  /** Why, by workload: the reason that decides. */
  lostReasons: LostReason[];
  gained: string[];
}

export interface LostReason {
  workload: string;
  pods: number;
  code: string;
  message: string;
  nodePool?: string;
}

export function comparePlans(before: NamedPlan, after: NamedPlan): PlanDiff {
  const from = placesOf(before.plan);
  const to = placesOf(after.plan);
  const names = new WorkloadNames(after.snapshot);
  const isUnplaced = (places: Map<string, string>, pod: string): boolean => places.get(pod) === nowhere;
  const shared = [...to.keys()].filter((pod) => from.has(pod)).sort();
  const lost = shared.filter((pod) => isUnplaced(to, pod) && !isUnplaced(from, pod));
  return {
    apiVersion: 'kerf/v1',
    kind: 'PlanDiff',
    before: summarize(before),
    after: summarize(after),
    pricePerHour: roundPrice(after.plan.pricePerHour - before.plan.pricePerHour),
    nodes: nodesChanges(before.plan, after.plan),
    moves: movesOf(shared, from, to, names),
    lost,
    lostReasons: reasonsOf(after.plan, lost, names),
    gained: shared.filter((pod) => isUnplaced(from, pod) && !isUnplaced(to, pod)),
  };
}

function reasonsOf({ unschedulable }: Plan, lost: readonly string[], names: WorkloadNames): LostReason[] {
  const wanted = new Set(lost);
  const byText = new Map<string, LostReason>();
  for (const { pod, reasons } of unschedulable) {
    const [first] = reasons;
    if (!wanted.has(pod) || first === undefined) continue;
    const { code, message, nodePool } = first;
    const workload = names.of(pod);
    const key = `${workload}\n${nodePool ?? ''}\n${message}`;
    const known = byText.get(key) ?? {
      workload,
      pods: 0,
      code,
      message,
      ...(nodePool === undefined ? {} : { nodePool }),
    };
    known.pods += 1;
    byText.set(key, known);
  }
  return [...byText.values()].sort((left, right) => right.pods - left.pods);
}

export const nowhere = 'no place';

/** Where each pod goes, in words that mean the same in both plans: names of new nodes do not. */
function placesOf(plan: Plan): Map<string, string> {
  const places = new Map<string, string>();
  for (const { nodePool, chosen, pods } of plan.newNodes) {
    const place = `${nodePool}: ${chosen.instanceType} ${chosen.capacityType}`;
    for (const pod of pods) places.set(pod, place);
  }
  for (const { name, pods } of plan.existingNodes) for (const pod of pods) places.set(pod, `node ${name}`);
  for (const { pod } of plan.unschedulable) places.set(pod, nowhere);
  return places;
}

function summarize({ name, plan }: NamedPlan): PlanSummary {
  const podsOnExistingNodes = plan.existingNodes.reduce((sum, { pods }) => sum + pods.length, 0);
  return {
    name,
    pods: plan.pods,
    newNodes: plan.newNodes.length,
    podsOnNewNodes: plan.newNodes.reduce((sum, { pods }) => sum + pods.length, 0),
    podsOnExistingNodes,
    unschedulable: plan.unschedulable.length,
    pricePerHour: plan.pricePerHour,
  };
}

function nodesChanges(before: Plan, after: Plan): NodesChange[] {
  const changes = new Map<string, NodesChange>();
  const add = (plan: Plan, side: 'before' | 'after', sign: 1 | -1): void => {
    for (const { nodePool, chosen } of plan.newNodes) {
      const { instanceType, capacityType } = chosen;
      const key = `${nodePool} ${instanceType} ${capacityType}`;
      const change = changes.get(key) ?? { nodePool, instanceType, capacityType, before: 0, after: 0, pricePerHour: 0 };
      change[side] += 1;
      change.pricePerHour = roundPrice(change.pricePerHour + sign * chosen.pricePerHour);
      changes.set(key, change);
    }
  };
  add(before, 'before', -1);
  add(after, 'after', 1);
  return [...changes].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, change]) => change);
}

function movesOf(pods: string[], from: Map<string, string>, to: Map<string, string>, names: WorkloadNames): Move[] {
  const moves = new Map<string, Move>();
  for (const pod of pods) {
    const [source, target] = [from.get(pod) ?? nowhere, to.get(pod) ?? nowhere];
    if (source === target) continue;
    const workload = names.of(pod);
    const key = `${workload}\n${source}\n${target}`;
    const move = moves.get(key) ?? { workload, from: source, to: target, pods: 0 };
    move.pods += 1;
    moves.set(key, move);
  }
  return [...moves].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, move]) => move);
}

/** Sums of prices carry noise far below any price; a millionth of a dollar is finer than any catalogue. */
function roundPrice(price: number): number {
  const rounded = Math.round(price * 1e6) / 1e6;
  return rounded === 0 ? 0 : rounded;
}
