// Where the money is: what the cluster costs, the least it could cost (bound), what Kerf would reach by itself, and what
// stands between, in dollars by cause. The causes add up to the difference between what it costs and the bound.
//
// What nodes cost beside their price is a cause of its own, and so is what Kerf gets without anyone's help. The rest is
// divided among the nodes by how much dearer each is than its share of the bound, and goes to what keeps the node first.

import type { Sliced } from '../../base/index.ts';
import { configurationBound } from '../bound/configuration-bound.ts';
import { relaxationOf } from '../bound/price-relaxation.ts';
import { roomBound } from '../bound/room-bound.ts';
import { isOwnedByDaemonSet } from '../pods/pod-classes.ts';
import { RequestsOfPods } from '../resources/pod-requests.ts';
import type { Member } from './fleet.ts';
import { isWorthLookingAhead } from './look-ahead.ts';
import { wayAhead } from './multi-node.ts';
import type { Round } from './round.ts';
import { type NodeVerdict, verdictCode } from './verdicts.ts';

export type MoneyCause =
  | 'KerfReaches'
  | 'NodeFees'
  | 'PodDisruptionBudgets'
  | 'DoNotDisrupt'
  | 'Budgets'
  | 'SpotToSpot'
  | 'UnmovablePods'
  | 'NotQuiet'
  | 'Policy'
  | 'OnItsWayOut'
  | 'Daemons'
  | 'WholeNodes';

export interface ClusterMoney {
  /** Managed nodes, with what they cost beside their price; USD per hour, like everything here. */
  readonly costPerHour: number;
  /** No way to run the same pods costs less. */
  readonly boundPerHour: number;
  /** Where Kerf would come to by itself, as things are. */
  readonly reachablePerHour: number;
  /** Largest first; together what it costs less the bound. */
  readonly causes: readonly { readonly cause: MoneyCause; readonly perHour: number; readonly nodes: number }[];
}

/** With more kinds of pods the bound by whole nodes takes longer than it is worth; the one by room is weaker, and true. */
const mostKinds = 300;

const causeOf: Readonly<Record<string, MoneyCause>> = {
  PodBudgets: 'PodDisruptionBudgets',
  PodBudgetExhausted: 'PodDisruptionBudgets',
  PodDoNotDisrupt: 'DoNotDisrupt',
  NodeDoNotDisrupt: 'DoNotDisrupt',
  Budget: 'Budgets',
  SpotToSpotDisabled: 'SpotToSpot',
  SpotToSpotInflexible: 'SpotToSpot',
  PodsDoNotFit: 'UnmovablePods',
  MinValuesUnsatisfied: 'UnmovablePods',
  NotQuiet: 'NotQuiet',
  Nominated: 'NotQuiet',
  NotInitialized: 'NotQuiet',
  DestinationNotReady: 'NotQuiet',
  NoNode: 'NotQuiet',
  ReplacementLoop: 'NotQuiet',
  StaticPool: 'Policy',
  ConsolidationDisabled: 'Policy',
  OnlyWhenEmpty: 'Policy',
  Unbalanced: 'Policy',
  PaybackTooLong: 'Policy',
  BufferPods: 'Policy',
  NoPool: 'Policy',
  NoPoolLabel: 'Policy',
  UnknownInstanceType: 'Policy',
  MissingLabel: 'Policy',
  NoRoomToExchange: 'Policy',
  Leaving: 'OnItsWayOut',
  AlreadyDisrupting: 'OnItsWayOut',
  DrainBlocked: 'OnItsWayOut',
};

export function* clusterMoney(round: Round, verdicts: readonly NodeVerdict[]): Sliced<ClusterMoney> {
  const { fleet, consolidator } = round;
  // A NodeClaim that is not launched yet costs nothing.
  const managed = fleet.members.filter(
    ({ machine: { claim, node } }) => claim !== undefined && (node !== undefined || Boolean(claim.status?.providerID)),
  );
  const bound = yield* leastPrice(round, managed);
  const price = sumOf(managed.map((member) => member.price));
  const fees = sumOf(managed.map((member) => feeOf(round, member)));
  // Prices of nodes may be below today's offers: a bound above what is paid is none.
  const boundPerHour = Math.min(bound, price);
  const kept = yield* priceInTheEnd(round, verdicts, price);
  const reached = Math.min(price, Math.max(kept, boundPerHour));
  const totals = new Map<MoneyCause, { perHour: number; nodes: number }>();
  const add = (cause: MoneyCause, perHour: number, nodes: number): void => {
    const total = totals.get(cause) ?? { perHour: 0, nodes: 0 };
    totals.set(cause, { perHour: total.perHour + perHour, nodes: total.nodes + nodes });
  };
  add('NodeFees', fees, managed.length);
  add('KerfReaches', price - reached, 0);
  const needs = managed.map((member) => consolidator.splitting.leastFor(round.whatIf.loadOf(member)));
  const allNeeds = sumOf(needs);
  const excess = managed.map((member, at) => {
    const share = allNeeds > 0 ? (boundPerHour * (needs[at] as number)) / allNeeds : 0;
    return Math.max(0, member.price - share);
  });
  const allExcess = sumOf(excess);
  const codeOf = new Map(verdicts.map((verdict) => [verdict.node, verdictCode(verdict)]));
  for (const [at, member] of managed.entries()) {
    yield;
    const own = allExcess > 0 ? ((reached - boundPerHour) * (excess[at] as number)) / allExcess : 0;
    if (own <= 0) continue;
    const cause = causeOf[codeOf.get(member.name) ?? ''] ?? 'WholeNodes';
    const forDaemons = cause === 'WholeNodes' ? Math.min(own, daemonsOn(round, member)) : 0;
    if (forDaemons > 0) add('Daemons', forDaemons, 1);
    add(cause, own - forDaemons, 1);
  }
  const causes = [...totals]
    .map(([cause, total]) => ({ cause, ...total }))
    .filter(({ perHour }) => perHour > 0)
    .sort((left, right) => right.perHour - left.perHour || (left.cause < right.cause ? -1 : 1));
  return { costPerHour: price + fees, boundPerHour, reachablePerHour: reached + fees, causes };
}

/** What the pods of managed nodes need at least on new machines and in the room that is free on nodes of others. */
function* leastPrice({ fleet, whatIf }: Round, managed: readonly Member[]): Sliced<number> {
  const { world } = fleet.movable;
  const placed = new Set<string>();
  for (const member of managed) {
    for (const position of whatIf.podsToMove(member)) placed.add(world.workload.pods[position]?.key ?? '');
    yield;
  }
  if (placed.size === 0) return 0;
  const own = new Set(managed.map(({ index }) => index));
  const relaxation = relaxationOf({ ...world, nodes: world.nodes.filter((_, index) => !own.has(index)) }, placed);
  yield;
  return relaxation.items.length > mostKinds ? roomBound(relaxation) : yield* configurationBound(relaxation, 0);
}

/** Where the way ahead ends; in larger clusters, if every node that may go were bought anew together with the others. */
function* priceInTheEnd(round: Round, verdicts: readonly NodeVerdict[], price: number): Sliced<number> {
  const unmanaged = sumOf(round.fleet.members.filter(({ machine }) => !machine.claim).map((member) => member.price));
  if (isWorthLookingAhead(round)) return (yield* wayAhead(round)).pricePerHour - unmanaged;
  const empty = sumOf(verdicts.filter(({ reason }) => reason === 'Empty').map(({ savingsPerHour }) => savingsPerHour));
  const allowed = round.eligible.Underutilized.filter(
    ({ pool }) => pool !== undefined && round.fleet.budget(pool, 'Underutilized').allowed > 0,
  );
  if (allowed.length === 0) return price - empty;
  const answer = yield* round.consolidator.decideInSlices(allowed);
  const alone = Math.max(0, ...verdicts.map(({ savingsPerHour }) => savingsPerHour));
  return price - empty - (answer.kind === 'none' ? alone : answer.savings);
}

function feeOf({ fleet }: Round, { poolName }: Member): number {
  return fleet.movable.world.templates.find((each) => each.poolName === poolName)?.nodeCostPerHour ?? 0;
}

function daemonsOn({ fleet, consolidator }: Round, { pods }: Member): number {
  const { resources } = fleet.movable.world;
  const requests = new RequestsOfPods(resources);
  const load = new Float64Array(resources.names.length);
  for (const pod of pods) {
    if (!isOwnedByDaemonSet(pod)) continue;
    for (const [name, amount] of requests.of(pod)) {
      const column = resources.column(name);
      if (column < load.length) load[column] = (load[column] as number) + amount;
    }
  }
  return consolidator.splitting.leastFor(load);
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
