// Buys the nodes of opened pools anew, if that is worth it: what can be bought, what it promises, and the nodes that come of
// it, within the limits of their pools.

import { hasBit, type Sliced } from '../../base/index.ts';
import { addNeed, freshNode, type NewNode, usedFits } from '../packing/new-node.ts';
import { attachableRows } from '../packing/new-node-fit.ts';
import type { PoolLimits } from '../packing/pool-limits.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import { withAttachments } from '../volumes/pod-volumes.ts';
import type { GroupStep, PlannedPod } from '../workload.ts';
import type { World } from '../world.ts';
import type { LabelledOffer } from './offers.ts';
import { OpenedPile } from './opened-pile.ts';
import type { PodKind } from './opened-pods.ts';
import type { Filling } from './pile.ts';
import { repack } from './repack.ts';
import { roomWorths, valueOf } from './worths.ts';
import { isWorthwhile, mostPromising, mostWorthwhile, type Spending } from './worthwhile.ts';

export interface Order {
  readonly world: World;
  readonly stepOf: (pod: number) => number;
  readonly limits: PoolLimits;
  readonly forAnySaving: boolean;
}

/** Nodes as they were packed, and those to be bought instead. */
export interface Bought {
  readonly given: readonly NewNode[];
  readonly taken: readonly NewNode[];
}

/** Rows that are looked at for all labels together: more where there are more pods, because more is to be saved. */
const leastRows = 20_000;
const rowsPerPod = 100;
const mostRows = 400_000;
/** Offers times kinds of pods. */
const mostCombinations = 4_000_000;
/** A node with as many pods is opened with its like where all together are too many. */
const crowded = 32;

/** Empty where nodes stay as they were packed. */
export function* buyAnew(
  order: Order,
  templates: readonly Template[],
  newNodes: readonly NewNode[],
): Sliced<readonly Bought[]> {
  const whole = yield* OpenedPile.of(order.world, templates, newNodes, order.stepOf);
  if (!hasTooManyRows(whole)) {
    const taken = yield* buyPile(order, whole);
    return taken === undefined ? [] : [{ given: newNodes, taken }];
  }
  if (templates.length > 1) return [];
  const bought: Bought[] = [];
  for (const given of crowdedAlike(newNodes)) {
    const pile = yield* OpenedPile.of(order.world, templates, given, order.stepOf);
    const taken = hasTooManyRows(pile) ? undefined : yield* buyPile(order, pile);
    if (taken !== undefined) bought.push({ given, taken });
  }
  return bought;
}

function hasTooManyRows({ templates, choices, pods }: OpenedPile): boolean {
  const rows = choices.reduce((sum, { at }) => sum + (templates[at] as Template).rows.count, 0);
  return rows > Math.min(mostRows, leastRows + rowsPerPod * pods);
}

function crowdedAlike(newNodes: readonly NewNode[]): NewNode[][] {
  const bySet = new Map<RequirementSet, NewNode[]>();
  for (const newNode of newNodes) {
    if (newNode.pods.length < crowded) continue;
    const alike = bySet.get(newNode.set);
    if (alike) alike.push(newNode);
    else bySet.set(newNode.set, [newNode]);
  }
  return [...bySet.values()];
}

function* buyPile(order: Order, pile: OpenedPile): Sliced<NewNode[] | undefined> {
  const { kinds, pods } = pile;
  const before = yield* spendingOn(pile.newNodes);
  const bare = yield* pile.bareOffers(order.limits);
  const all = [...bare.values()].flat();
  const combinations = all.length * kinds.length;
  if (all.length === 0 || combinations > mostCombinations) return undefined;
  const hostRuled = kinds.reduce((sum, { host }) => sum + (host === undefined ? 0 : 1), 0);
  const worthwhile = order.forAnySaving
    ? mostWorthwhile(before.cost)
    : mostPromising(before.cost, { pods, hostRuled, combinations });
  const counts = Float64Array.from(kinds, ({ count }) => count);
  const worths = roomWorths(kinds, all, counts);
  yield;
  if (valueOf(counts, worths) > worthwhile) return undefined;
  const offers = yield* pile.withKinds(bare);
  const fillings = yield* repack(kinds, offers, pile.width, { worthwhile, worths });
  if (fillings === undefined) return undefined;
  const bought = fit(order, pile, newNodesFrom(order, fillings, pile.podKinds));
  if (bought === undefined) return undefined;
  return isWorthwhile(before, yield* spendingOn(bought)) ? bought : undefined;
}

/** As many types for each node as the limits of its pool leave; undefined where they do not allow all of them. */
function fit({ limits }: Order, pile: OpenedPile, bought: readonly NewNode[]): NewNode[] | undefined {
  const within = new Map<NewNode, NewNode>();
  for (const template of pile.templates) {
    const own = bought.filter((newNode) => newNode.template === template);
    const fitting = limits.fit(template, pile.newNodesOf(template), own);
    if (fitting === undefined) return undefined;
    own.forEach((newNode, at) => within.set(newNode, fitting[at] as NewNode));
  }
  return bought.map((newNode) => within.get(newNode) as NewNode);
}

/** What the nodes cost at the cheapest they can be launched for. */
export function* spendingOn(newNodes: readonly NewNode[]): Sliced<Spending> {
  let [price, cost] = [0, 0];
  for (const newNode of newNodes) {
    const own = cheapestPrice(newNode);
    price += own;
    cost += own + newNode.template.nodeCostPerHour;
    yield;
  }
  return { price, cost };
}

function cheapestPrice(newNode: NewNode): number {
  const { template, set, rows } = newNode;
  const matching = template.rows.matching(set);
  for (const row of template.rows.byPrice(set)) {
    if (!hasBit(matching, row) || !hasBit(rows, row) || !usedFits(newNode, row)) continue;
    return template.rows.cheapest(set)[row]?.price ?? Number.POSITIVE_INFINITY;
  }
  return Number.POSITIVE_INFINITY;
}

/** Hands out the pods of each kind in queue order. */
function newNodesFrom(
  { world, stepOf }: Order,
  fillings: readonly Filling<LabelledOffer>[],
  kinds: readonly PodKind[],
): NewNode[] {
  const next = kinds.map(() => 0);
  return fillings.map(({ offer, kinds: taken, counts }) => {
    const { template, set, rows, row } = offer;
    const newNode: NewNode = { ...freshNode(world, template, rows, -1), set, witness: row };
    taken.forEach((index, at) => {
      const { size, pods } = kinds[index] as PodKind;
      for (let count = size * (counts[at] as number); count > 0; count--) {
        const pod = pods[next[index] as number] as number;
        next[index] = (next[index] as number) + 1;
        const { group } = world.workload.pods[pod] as PlannedPod;
        addNeed(newNode, group.need);
        newNode.pods.push(pod);
        const { ports } = (group.steps[stepOf(pod)] as GroupStep).constraint;
        if (ports.length > 0) newNode.ports = [...newNode.ports, ...ports];
        if (group.attachments.size > 0) newNode.attached = withAttachments(newNode.attached, group.attachments);
      }
    });
    newNode.rows = attachableRows(newNode, newNode.rows, newNode.attached);
    newNode.pods.sort((left, right) => left - right);
    return newNode;
  });
}
