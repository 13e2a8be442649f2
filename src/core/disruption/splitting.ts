// Several new nodes for nodes that go: the pods that need new ones are bought anew, in the sizes and mix that cost least,
// and that counts where it saves enough to be worth moving pods.
//
// The line, in money and whatever the provider launches: at least a cent an hour and one per cent, as for nodes that are
// bought anew (decision 32), and for each pod that moves five cents an hour, or for one node a quarter of what would be paid
// otherwise.
// That is what is there, or the one node that could come instead; node costs are counted. Each new node gets its share of
// what may be spent at most, and only types that launch below it.

import { hasBit, type Sliced } from '../../base/index.ts';
import type { NewNode } from '../packing/new-node.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { Member } from './fleet.ts';
import { areSpot, type PricedNode, type ReplacementPricing } from './replacement-pricing.ts';
import type { Simulation, WhatIf } from './what-if.ts';

/** A cent an hour is seven dollars a month: below, no one looks. */
const leastDollarsPerHour = 0.01;
const leastPart = 0.01;
/** Twenty evictions per dollar is what consolidation comes to without it (bench settle(30)). */
const leastDollarsPerPod = 0.05;
/** Of one node enough for any number of pods; of several it would be more evictions for less (33 per dollar). */
const largePart = 0.25;
/** As many as may go. */
const mostReplacements = 100;

export class Splitting {
  private readonly whatIf: WhatIf;
  private readonly pricing: ReplacementPricing;
  /** By template and labels: the least a unit of each resource costs. */
  private readonly unitPrices = new Map<Template, Map<RequirementSet, Float64Array>>();

  private readonly cheapestUnits: (number | undefined)[] = [];

  constructor(whatIf: WhatIf, pricing: ReplacementPricing) {
    this.whatIf = whatIf;
    this.pricing = pricing;
  }

  /** `saved`: by the one node that could come instead, zero if there is none. Undefined where several are not worth it. */
  *of(members: readonly Member[], simulation: Simulation, saved: number): Sliced<PricedNode[] | undefined> {
    const { newNodes } = simulation;
    if (!simulation.isForMovedPods || (areSpot(members) && !this.whatIf.fleet.spotToSpot)) return undefined;
    const most = this.most(members, newNodes[0] as NewNode, saved);
    if (this.leastPrice(newNodes) > most) return undefined;
    const bought = yield* simulation.buyAnew();
    if (bought.length < 2 || bought.length > mostReplacements) return undefined;
    const { nodes, errors } = simulation.finish(bought);
    if (errors.length > 0 || nodes.length < bought.length) return undefined;
    const least = bought.map((newNode, at) =>
      this.pricing.least(newNode, nodes[at] as (typeof nodes)[number], members),
    );
    const total = sumOf(least);
    const forPrices = most - sumOf(bought.map(({ template }) => template.nodeCostPerHour));
    if (!(total > 0) || total > forPrices) return undefined;
    const priced: PricedNode[] = [];
    for (const [at, newNode] of bought.entries()) {
      // The ceiling itself may be spent, and below it is below it.
      const ceiling = ((least[at] as number) / total) * forPrices * (1 + 1e-12);
      const own = this.pricing.amongSeveral(newNode, nodes[at] as (typeof nodes)[number], members, ceiling);
      if (own.kind === 'none') return undefined;
      priced.push(own);
      yield;
    }
    return priced;
  }

  /** The most that new nodes may cost, with what they cost beside their price. */
  private most(members: readonly Member[], { template }: NewNode, saved: number): number {
    const { templates } = this.whatIf.fleet.movable.world;
    const beside = (poolName: string | undefined): number =>
      templates.find((each) => each.poolName === poolName)?.nodeCostPerHour ?? 0;
    const price = sumOf(members.map((member) => member.price));
    const cost = price + sumOf(members.map(({ poolName }) => beside(poolName)));
    const otherwise = saved > 0 ? Math.min(cost, price - saved + template.nodeCostPerHour) : cost;
    const pods = sumOf(members.map((member) => this.whatIf.podCount(member)));
    const forMoved = leastDollarsPerPod * pods;
    const forPods = members.length === 1 ? Math.min(forMoved, largePart * otherwise) : forMoved;
    return otherwise - Math.max(leastDollarsPerHour, leastPart * otherwise, forPods);
  }

  /** What is paid for a node beside the least that its pods' requests are sold for anywhere: the larger, the more to gain. */
  waste(member: Member): number {
    return member.price / Math.max(this.leastFor(this.whatIf.loadOf(member)), Number.EPSILON);
  }

  /** The least that these amounts are sold for anywhere, each by itself. */
  leastFor(amounts: Float64Array): number {
    let least = 0;
    for (let column = 0; column < amounts.length; column++) {
      const amount = amounts[column] as number;
      if (amount > 0) least += amount * this.cheapestUnit(column);
    }
    return least;
  }

  /** Over all pools, whatever their nodes are asked for; zero if no one sells it. */
  private cheapestUnit(column: number): number {
    let least = this.cheapestUnits[column];
    if (least !== undefined) return least;
    least = Number.POSITIVE_INFINITY;
    for (const template of this.whatIf.fleet.movable.world.templates) {
      const prices = template.rows.cheapest(template.set);
      for (let row = 0; row < template.rows.count; row++) {
        const room = template.room[column]?.[row] ?? 0;
        const price = prices[row]?.price;
        if (room > 0 && price !== undefined) least = Math.min(least, price / room);
      }
    }
    if (!Number.isFinite(least)) least = 0;
    this.cheapestUnits[column] = least;
    return least;
  }

  /** No nodes for these pods cost less: of each resource, what they need at the least it is sold for. */
  private leastPrice(newNodes: readonly NewNode[]): number {
    const width = (newNodes[0] as NewNode).used.length;
    const [unit, need] = [new Float64Array(width).fill(Number.POSITIVE_INFINITY), new Float64Array(width)];
    for (const newNode of newNodes) {
      const own = this.unitPricesOf(newNode);
      for (let column = 0; column < width; column++) {
        unit[column] = Math.min(unit[column] as number, own[column] as number);
        need[column] = (need[column] as number) + (newNode.used[column] as number);
      }
    }
    let least = 0;
    for (let column = 0; column < width; column++) {
      const price = (unit[column] as number) * (need[column] as number);
      if (price > least && Number.isFinite(price)) least = price;
    }
    return least;
  }

  private unitPricesOf({ template, set, used }: NewNode): Float64Array {
    let bySet = this.unitPrices.get(template);
    if (bySet === undefined) this.unitPrices.set(template, (bySet = new Map()));
    const known = bySet.get(set);
    if (known !== undefined) return known;
    const unit = new Float64Array(used.length).fill(Number.POSITIVE_INFINITY);
    bySet.set(set, unit);
    const prices = template.rows.cheapest(set);
    const matching = template.rows.matching(set);
    for (let row = 0; row < template.rows.count; row++) {
      const price = prices[row]?.price;
      if (price === undefined || !hasBit(matching, row)) continue;
      for (let column = 0; column < used.length; column++) {
        const room = template.room[column]?.[row] ?? 0;
        if (room > 0) unit[column] = Math.min(unit[column] as number, price / room);
      }
    }
    return unit;
  }
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
