// Where the money is: what the cluster costs, the least it could cost (bound), what Kerf would reach by itself, and what
// stands between, in dollars by cause. The causes add up to the difference between what it costs and the bound.
//
// What Kerf gets without anyone's help is a cause of its own. The rest is divided among the nodes that are there then, by how
// much dearer each is than its share of the bound, and goes to what keeps the node first. What nodes cost beside their
// price counts where someone set it; the usual figure only compares plans, and no one is paid it.

import type { Sliced } from '../../base/index.ts';
import { configurationBound } from '../bound/configuration-bound.ts';
import { relaxationOf } from '../bound/price-relaxation.ts';
import { roomBound } from '../bound/room-bound.ts';
import { type Kept, keptByItself, managedOf, nodeFees } from './money-in-the-end.ts';
import type { Round } from './round.ts';
import type { NodeVerdict } from './verdicts.ts';

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
  /** Managed nodes, with fees per node where some are set; USD per hour, like everything here. */
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

/** Less than this part is rounding. */
const dust = 1e-6;

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
  const managed = managedOf(round);
  const fees = nodeFees(round);
  const price = sumOf(managed.map((member) => member.price));
  const costPerHour = price + sumOf(managed.map((member) => fees(member.poolName)));
  const kept = yield* keptByItself(round, verdicts);
  const keptPrice = sumOf(kept.map((each) => each.price));
  const keptFees = sumOf(kept.map(({ fee }) => fee));
  const bound = yield* leastPrice(round);
  // Prices of nodes may be below today's offers: a bound above what is paid is none.
  const boundPerHour = bound > keptPrice * (1 - dust) ? keptPrice : bound;
  const totals = new Map<MoneyCause, { perHour: number; nodes: number }>();
  const add = (cause: MoneyCause, perHour: number, nodes: number): void => {
    const total = totals.get(cause) ?? { perHour: 0, nodes: 0 };
    totals.set(cause, { perHour: total.perHour + perHour, nodes: total.nodes + nodes });
  };
  add('KerfReaches', costPerHour - keptPrice - keptFees, 0);
  add('NodeFees', keptFees, sumOf(kept.map(({ nodes }) => nodes)));
  divide(kept, keptPrice - boundPerHour, boundPerHour, add);
  const causes = [...totals]
    .map(([cause, total]) => ({ cause, ...total }))
    .filter(({ perHour }) => perHour > 0)
    .sort((left, right) => right.perHour - left.perHour || (left.cause < right.cause ? -1 : 1));
  return { costPerHour, boundPerHour, reachablePerHour: keptPrice + keptFees, causes };
}

/** What is paid above the bound, by what keeps the nodes it is paid for. */
function divide(
  kept: readonly Kept[],
  gap: number,
  bound: number,
  add: (cause: MoneyCause, perHour: number, nodes: number) => void,
): void {
  const allNeeds = sumOf(kept.map(({ need }) => need));
  const excess = kept.map(({ price, need }) => {
    const own = price - (allNeeds > 0 ? (bound * need) / allNeeds : 0);
    return own > price * dust ? own : 0;
  });
  const allExcess = sumOf(excess);
  for (const [at, { code, daemons, nodes }] of kept.entries()) {
    const own = allExcess > 0 ? (gap * (excess[at] as number)) / allExcess : 0;
    if (own <= 0) continue;
    const cause = causeOf[code] ?? 'WholeNodes';
    const forDaemons = cause === 'WholeNodes' ? Math.min(own, daemons) : 0;
    if (forDaemons > 0) add('Daemons', forDaemons, nodes);
    if (own > forDaemons) add(cause, own - forDaemons, nodes);
  }
}

/**
 * What the pods of managed nodes need at least on new machines and in the room that is free on nodes of others; pods that
 * must not be disturbed need it as well.
 */
function* leastPrice(round: Round): Sliced<number> {
  const freed = yield* round.withoutPodBlockers();
  const { world } = freed.fleet.movable;
  const managed = managedOf(freed);
  const placed = new Set<string>();
  for (const member of managed) {
    for (const position of freed.whatIf.podsToMove(member)) placed.add(world.workload.pods[position]?.key ?? '');
    yield;
  }
  if (placed.size === 0) return 0;
  const own = new Set(managed.map(({ index }) => index));
  const relaxation = relaxationOf({ ...world, nodes: world.nodes.filter((_, index) => !own.has(index)) }, placed);
  yield;
  return relaxation.items.length > mostKinds ? roomBound(relaxation) : yield* configurationBound(relaxation, 0);
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
