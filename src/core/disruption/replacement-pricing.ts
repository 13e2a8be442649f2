// What a new node may be when it takes the place of nodes that go: of the types that hold its pods, those that cost less
// than a ceiling whatever the provider launches, narrowed to spot capacity where a shortage of it would otherwise buy
// something dearer, flexible enough where spot nodes make room for spot nodes, and nothing that was given up within a day.

import { annotation, capacityType, label } from '../../api/names.ts';
import type { NewNode } from '../packing/new-node.ts';
import type { ChosenOffering, PlannedNode } from '../plan.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import { minValuesMessage, unmetMinValues } from '../pools/min-values.ts';
import { allows, requirementOf } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { RequirementSpec } from '../snapshot.ts';
import { type Ancestor, ancestorsOf, ancestryText } from './ancestry.ts';
import type { Member } from './fleet.ts';
import { type LaunchPrice, LaunchPrices } from './launch-prices.ts';
import { type NoConsolidation, none } from './no-consolidation.ts';
import type { WhatIf } from './what-if.ts';

export interface PricedNode {
  readonly kind: 'priced';
  readonly node: PlannedNode;
  /** Of the cheapest offering of its cheapest type; zero if there is none. */
  readonly price: number;
}

/** Fewer cheaper types than this, and moving between spot nodes would chase the market's bottom, where interruptions are. */
const spotFlexibility = 15;

const notCheaper = "Can't replace with a cheaper node";

export class ReplacementPricing {
  readonly prices: LaunchPrices;
  private readonly whatIf: WhatIf;

  constructor(whatIf: WhatIf) {
    this.whatIf = whatIf;
    this.prices = new LaunchPrices(whatIf.fleet.movable.world.table);
  }

  /** One of several nodes that come: with the types that launch below its ceiling and were not given up within a day. */
  amongSeveral(
    newNode: NewNode,
    planned: PlannedNode,
    members: readonly Member[],
    ceiling: number,
  ): PricedNode | NoConsolidation {
    const prices = this.prices.of(newNode.template, this.whatIf.finisher.finalSet(newNode));
    const { nowMs } = this.whatIf.fleet;
    const past = ancestorsOf(members, nowMs);
    const instanceTypes = planned.instanceTypes.filter((name) => !past.some((each) => mayComeBack(each, name, prices)));
    return this.below(newNode, { ...planned, instanceTypes }, members, ceiling, true);
  }

  /** The node with the types that launch below the ceiling, for nodes that go, or why there is none. */
  below(
    newNode: NewNode,
    planned: PlannedNode,
    members: readonly Member[],
    ceiling: number,
    isOneOfSeveral = false,
  ): PricedNode | NoConsolidation {
    const set = this.whatIf.finisher.finalSet(newNode);
    const going = isOneOfSeveral ? [] : members;
    // Among several that come one may take a single spot node's pods: the rule holds for it whatever else goes.
    const fromSpot = isOneOfSeveral ? members.some(isSpot) : areSpot(members);
    if (fromSpot && allowsCapacity(set, capacityType.spot)) {
      if (this.whatIf.fleet.spotToSpot) return this.spotToSpot(newNode, planned, set, members, going, ceiling);
      const message = "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node";
      const disabled = none('SpotToSpotDisabled', message);
      // Verdicts, which are about single nodes, name everything.
      if (members.length > 1) return disabled;
      const otherwise = this.spotToSpot(newNode, planned, set, members, going, ceiling);
      return otherwise.kind === 'none' ? { ...disabled, also: [otherwise] } : disabled;
    }
    const cheaper = this.cheaper(newNode, set, planned.instanceTypes, going, ceiling);
    if (cheaper.kind === 'none') return cheaper;
    const prices = this.prices.of(newNode.template, set);
    if (!(allowsCapacity(set, capacityType.spot) && allowsCapacity(set, capacityType.onDemand))) {
      return this.priced(planned, cheaper.types, prices, members);
    }
    // A shortage of spot capacity must fail the launch rather than buy something dearer than what is there.
    const spotPrices = this.prices.of(newNode.template, this.onlySpot(set));
    const spotTypes = cheaper.types.filter((name) => spotPrices.has(name));
    if (spotTypes.length === 0) return this.priced(planned, cheaper.types, prices, members);
    const isFlexible = unmetMinValues(set, typesNamed(newNode, spotTypes)).size === 0;
    return this.priced(withSpot(planned), isFlexible ? spotTypes : cheaper.types, spotPrices, members);
  }

  /** The least that launching it would cost, whatever the provider launches of its cheapest type. */
  least(newNode: NewNode, { instanceTypes }: PlannedNode, members: readonly Member[]): number {
    const own = this.whatIf.finisher.finalSet(newNode);
    const set = members.some(isSpot) && allowsCapacity(own, capacityType.spot) ? this.onlySpot(own) : own;
    const prices = this.prices.of(newNode.template, set);
    return instanceTypes.reduce((least, name) => Math.min(least, worstOf(prices, name)), Number.POSITIVE_INFINITY);
  }

  private spotToSpot(
    newNode: NewNode,
    planned: PlannedNode,
    set: RequirementSet,
    members: readonly Member[],
    going: readonly Member[],
    ceiling: number,
  ): PricedNode | NoConsolidation {
    const spotSet = this.onlySpot(set);
    const prices = this.prices.of(newNode.template, spotSet);
    const names = planned.instanceTypes
      .filter((name) => prices.has(name))
      .sort((left, right) => cheapestOf(prices, left) - cheapestOf(prices, right) || (left < right ? -1 : 1));
    const cheaper = this.cheaper(newNode, spotSet, names, going, ceiling);
    if (cheaper.kind === 'none') return cheaper;
    let { types } = cheaper;
    if (members.length === 1) {
      if (types.length < spotFlexibility) {
        return none(
          'SpotToSpotInflexible',
          `SpotToSpotConsolidation requires ${spotFlexibility} cheaper instance type options than the current candidate to consolidate, got ${types.length}`,
        );
      }
      let kept = spotFlexibility;
      while (kept < types.length && unmetMinValues(set, typesNamed(newNode, types.slice(0, kept))).size > 0) kept += 1;
      types = types.slice(0, kept);
    }
    return this.priced(withSpot(planned), types, prices, members);
  }

  /**
   * The types that cost less than the ceiling. Several nodes are never replaced by one like the cheapest of them: then
   * the others could simply have gone. Where several come, there is no such one.
   */
  private cheaper(
    newNode: NewNode,
    set: RequirementSet,
    names: readonly string[],
    members: readonly Member[],
    ceiling: number,
  ): { kind: 'types'; types: string[] } | NoConsolidation {
    const cheaper = this.cheaperThan(newNode, set, names, ceiling);
    if (members.length <= 1 || cheaper.kind === 'none') return cheaper;
    const options = new Set(cheaper.types);
    const own = members.filter(({ instanceType }) => instanceType !== undefined && options.has(instanceType));
    if (own.length === 0) return cheaper;
    return this.cheaperThan(newNode, set, cheaper.types, Math.min(...own.map((member) => member.price)));
  }

  /** The types whose worst launch price is below the bound; minValues must survive the cut. */
  private cheaperThan(
    newNode: NewNode,
    set: RequirementSet,
    names: readonly string[],
    bound: number,
  ): { kind: 'types'; types: string[] } | NoConsolidation {
    const prices = this.prices.of(newNode.template, set);
    const types = names.filter((name) => worstOf(prices, name) < bound);
    if (types.length === 0) return none('NotCheaper', notCheaper);
    const unmet = unmetMinValues(set, typesNamed(newNode, types));
    if (unmet.size > 0) return none('MinValuesUnsatisfied', `Filtering by price: ${minValuesMessage(unmet.keys())}`);
    return { kind: 'types', types };
  }

  private priced(
    planned: PlannedNode,
    types: string[],
    prices: ReadonlyMap<string, LaunchPrice>,
    members: readonly Member[],
  ): PricedNode | NoConsolidation {
    const { nowMs } = this.whatIf.fleet;
    const options = new Set(types);
    const back = ancestorsOf(members, nowMs).find(
      (each) => options.has(each.instanceType) && mayComeBack(each, each.instanceType, prices),
    );
    if (back !== undefined) return none('ReplacementLoop', loopText(back, nowMs));
    const [first = ''] = types;
    const offering = prices.get(first)?.cheapest;
    const chosen: ChosenOffering =
      offering === undefined
        ? planned.chosen
        : {
            instanceType: first,
            zone: offering.zone,
            capacityType: offering.capacityType,
            pricePerHour: offering.price,
          };
    const annotations = { ...planned.annotations, [annotation.replaces]: ancestryText(members, nowMs) };
    const node = { ...planned, instanceTypes: types, chosen, annotations };
    return { kind: 'priced', node, price: offering?.price ?? 0 };
  }

  private onlySpot(set: RequirementSet): RequirementSet {
    const { table } = this.whatIf.fleet.movable.world;
    return table.replace(set, requirementOf(label.capacityType, 'In', [capacityType.spot]));
  }
}

const isSpot = (member: Member): boolean => member.capacityType === capacityType.spot;

export function areSpot(members: readonly Member[]): boolean {
  return members.every(isSpot);
}

/** Launching the type could bring it back. */
function mayComeBack(
  { instanceType, zone, capacityType: kind }: Ancestor,
  name: string,
  prices: ReadonlyMap<string, LaunchPrice>,
): boolean {
  return name === instanceType && prices.get(name)?.places.has(`${zone}/${kind}`) === true;
}

function loopText({ instanceType, zone, capacityType: kind, replacedMs }: Ancestor, nowMs: number): string {
  const hours = ((nowMs - replacedMs) / 3_600_000).toFixed(1);
  return `Replacing it would go in circles: ${instanceType} in ${zone} (${kind}) was replaced ${hours} hours ago`;
}

function allowsCapacity(set: RequirementSet, type: string): boolean {
  const requirement = set.byKey.get(label.capacityType);
  return requirement === undefined || allows(requirement, type);
}

function cheapestOf(prices: ReadonlyMap<string, LaunchPrice>, name: string): number {
  return prices.get(name)?.cheapest.price ?? Number.POSITIVE_INFINITY;
}

function worstOf(prices: ReadonlyMap<string, LaunchPrice>, name: string): number {
  return prices.get(name)?.worst ?? Number.POSITIVE_INFINITY;
}

function typesNamed(newNode: NewNode, names: readonly string[]): InstanceType[] {
  const wanted = new Set(names);
  return newNode.template.rows.types.filter((type) => wanted.has(type.name));
}

function withSpot(planned: PlannedNode): PlannedNode {
  const requirements: RequirementSpec[] = [
    ...planned.requirements.filter((each) => each.key !== label.capacityType),
    { key: label.capacityType, operator: 'In', values: [capacityType.spot] },
  ];
  return { ...planned, requirements };
}
