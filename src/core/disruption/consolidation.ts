// The decision about one set of nodes: can they go (delete), can one cheaper node take their place (replace), or neither,
// and then why. Prices are judged by what the provider might really launch, not by what would be nicest.

import { annotation, capacityType, label } from '../../api/names.ts';
import { atOnce, type Sliced } from '../../base/index.ts';
import type { Claim } from '../packing/claim.ts';
import type { ChosenOffering, ExistingPlacement, PlannedNode } from '../plan.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import { minValuesMessage, unmetMinValues } from '../pools/min-values.ts';
import { allows, requirementOf } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { RequirementSpec } from '../snapshot.ts';
import { type Ancestor, ancestorsOf, ancestryText } from './ancestry.ts';
import type { Member } from './fleet.ts';
import { type LaunchPrice, LaunchPrices } from './launch-prices.ts';
import { failureText, type Simulation, type WhatIf } from './what-if.ts';

export type NoConsolidationCode =
  | 'PodsDoNotFit'
  | 'NeedsMoreNodes'
  | 'NotCheaper'
  | 'MinValuesUnsatisfied'
  | 'SpotToSpotDisabled'
  | 'SpotToSpotInflexible'
  | 'ReplacementLoop'
  | 'PaybackTooLong';

export type Consolidation =
  | { readonly kind: 'delete'; readonly savings: number; readonly placements: readonly ExistingPlacement[] }
  | {
      readonly kind: 'replace';
      readonly savings: number;
      readonly replacement: PlannedNode;
      readonly placements: readonly ExistingPlacement[];
    }
  | {
      readonly kind: 'none';
      readonly code: NoConsolidationCode;
      readonly message: string;
      /** What else would keep the node, were this not so. */
      readonly also?: readonly Pick<Extract<Consolidation, { kind: 'none' }>, 'code' | 'message'>[];
    };

/** Fewer cheaper types than this, and moving between spot nodes would chase the market's bottom, where interruptions are. */
const spotFlexibility = 15;

/** How long a replacement and what it replaces run side by side: launching, joining, draining. */
const overlapHours = 1 / 6;

const notCheaper = "Can't replace with a cheaper node";

export class Consolidator {
  readonly whatIf: WhatIf;
  readonly prices: LaunchPrices;

  constructor(whatIf: WhatIf) {
    this.whatIf = whatIf;
    this.prices = new LaunchPrices(whatIf.fleet.movable.world.table);
  }

  decide(members: readonly Member[]): Consolidation {
    return atOnce(this.decideInSlices(members));
  }

  *decideInSlices(members: readonly Member[]): Sliced<Consolidation> {
    return this.judge(members, yield* this.whatIf.simulateInSlices(members, { sparesRestless: true }));
  }

  /** The decision, once it is known where the pods would go. */
  judge(members: readonly Member[], simulation: Simulation): Consolidation {
    if (simulation.failed.length > 0) return none('PodsDoNotFit', failureText(simulation));
    const total = sum(members);
    if (simulation.claims.length === 0) {
      return { kind: 'delete', savings: total, placements: simulation.placements() };
    }
    if (simulation.claims.length > 1) {
      return none('NeedsMoreNodes', `Can't remove without creating ${simulation.claims.length} candidates`);
    }
    return this.replacement(simulation, members, total);
  }

  private replacement(simulation: Simulation, members: readonly Member[], total: number): Consolidation {
    const claim = simulation.claims[0] as Claim;
    const { nodes, errors } = simulation.finish();
    const [planned] = nodes;
    if (planned === undefined) {
      return none(
        'MinValuesUnsatisfied',
        `Not all pods would schedule, ${errors.map((each) => each.message).join(' ')}`,
      );
    }
    const { fleet } = this.whatIf;
    const set = this.whatIf.finisher.finalSet(claim);
    const allowsSpot = allowsCapacity(set, capacityType.spot);
    const allSpot = members.every((member) => member.capacityType === capacityType.spot);
    if (allSpot && allowsSpot) {
      if (fleet.spotToSpot) return this.spotToSpot(simulation, claim, planned, set, members, total);
      const message = "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node";
      const disabled = none('SpotToSpotDisabled', message);
      // Verdicts, which are about single nodes, name everything.
      if (members.length > 1) return disabled;
      const otherwise = this.spotToSpot(simulation, claim, planned, set, members, total);
      return otherwise.kind === 'none' ? { ...disabled, also: [otherwise] } : disabled;
    }
    const cheaper = this.cheaper(claim, set, planned.instanceTypes, members, total);
    if (cheaper.kind === 'none') return cheaper;
    if (!(allowsSpot && allowsCapacity(set, capacityType.onDemand))) {
      return this.replaceWith(simulation, planned, cheaper.types, this.prices.of(claim.template, set), members);
    }
    // A shortage of spot capacity must fail the launch rather than buy something dearer than what is there.
    const spotSet = this.onlySpot(set);
    const spotPrices = this.prices.of(claim.template, spotSet);
    const spotTypes = cheaper.types.filter((name) => spotPrices.has(name));
    if (spotTypes.length === 0) {
      return this.replaceWith(simulation, planned, cheaper.types, this.prices.of(claim.template, set), members);
    }
    const isFlexible = unmetMinValues(set, typesNamed(claim, spotTypes)).size === 0;
    return this.replaceWith(
      simulation,
      { ...planned, requirements: withSpot(planned.requirements) },
      isFlexible ? spotTypes : cheaper.types,
      spotPrices,
      members,
    );
  }

  private spotToSpot(
    simulation: Simulation,
    claim: Claim,
    planned: PlannedNode,
    set: RequirementSet,
    members: readonly Member[],
    total: number,
  ): Consolidation {
    const spotSet = this.onlySpot(set);
    const prices = this.prices.of(claim.template, spotSet);
    const names = planned.instanceTypes
      .filter((name) => prices.has(name))
      .sort((left, right) => cheapestOf(prices, left) - cheapestOf(prices, right) || (left < right ? -1 : 1));
    const cheaper = this.cheaper(claim, spotSet, names, members, total);
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
      while (kept < types.length && unmetMinValues(set, typesNamed(claim, types.slice(0, kept))).size > 0) kept += 1;
      types = types.slice(0, kept);
    }
    return this.replaceWith(
      simulation,
      { ...planned, requirements: withSpot(planned.requirements) },
      types,
      prices,
      members,
    );
  }

  /**
   * The types that cost less than what goes. Several nodes are never replaced by one like the cheapest of them: then the
   * others could simply have gone.
   */
  private cheaper(
    claim: Claim,
    set: RequirementSet,
    names: readonly string[],
    members: readonly Member[],
    total: number,
  ): ReturnType<Consolidator['cheaperThan']> {
    const cheaper = this.cheaperThan(claim, set, names, total);
    if (members.length === 1 || cheaper.kind === 'none') return cheaper;
    const options = new Set(cheaper.types);
    const own = members.filter(({ instanceType }) => instanceType !== undefined && options.has(instanceType));
    if (own.length === 0) return cheaper;
    return this.cheaperThan(claim, set, cheaper.types, Math.min(...own.map((member) => member.price)));
  }

  /** The types whose worst launch price is below the bound; minValues must survive the cut. */
  private cheaperThan(
    claim: Claim,
    set: RequirementSet,
    names: readonly string[],
    bound: number,
  ): { kind: 'types'; types: string[] } | Extract<Consolidation, { kind: 'none' }> {
    const prices = this.prices.of(claim.template, set);
    const types = names.filter((name) => (prices.get(name)?.worst ?? Number.POSITIVE_INFINITY) < bound);
    if (types.length === 0) return none('NotCheaper', notCheaper);
    const unmet = unmetMinValues(set, typesNamed(claim, types));
    if (unmet.size > 0) return none('MinValuesUnsatisfied', `Filtering by price: ${minValuesMessage(unmet.keys())}`);
    return { kind: 'types', types };
  }

  private replaceWith(
    simulation: Simulation,
    planned: PlannedNode,
    types: string[],
    prices: ReadonlyMap<string, LaunchPrice>,
    members: readonly Member[],
  ): Consolidation {
    const { nowMs } = this.whatIf.fleet;
    const options = new Set(types);
    const back = ancestorsOf(members, nowMs).find(
      ({ instanceType, zone, capacityType: kind }) =>
        options.has(instanceType) && prices.get(instanceType)?.places.has(`${zone}/${kind}`) === true,
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
    const slow = this.paybackProblem(sum(members), chosen.pricePerHour);
    if (slow !== undefined) return slow;
    const annotations = { ...planned.annotations, [annotation.replaces]: ancestryText(members, nowMs) };
    return {
      kind: 'replace',
      savings: sum(members) - (offering?.price ?? 0),
      replacement: { ...planned, instanceTypes: types, chosen, annotations },
      placements: simulation.placements(),
    };
  }

  /** Old and new run side by side for a while; where a payback time is asked for, the saving must earn that within it. */
  private paybackProblem(going: number, coming: number): Extract<Consolidation, { kind: 'none' }> | undefined {
    const paybackHours = (this.whatIf.fleet.snapshot.settings?.consolidationPaybackSeconds ?? 0) / 3600;
    if (paybackHours <= 0) return undefined;
    const hours = (overlapHours * (going + coming)) / Math.max(going - coming, Number.EPSILON);
    if (hours <= paybackHours) return undefined;
    const message = `The saving of $${(going - coming).toFixed(4)} per hour earns the move in ${hours.toFixed(1)} hours, not within ${paybackHours.toFixed(1)}`;
    return none('PaybackTooLong', message);
  }

  private onlySpot(set: RequirementSet): RequirementSet {
    const { table } = this.whatIf.fleet.movable.world;
    return table.replace(set, requirementOf(label.capacityType, 'In', [capacityType.spot]));
  }
}

function none(code: NoConsolidationCode, message: string): Extract<Consolidation, { kind: 'none' }> {
  return { kind: 'none', code, message };
}

function loopText({ instanceType, zone, capacityType: kind, replacedMs }: Ancestor, nowMs: number): string {
  const hours = ((nowMs - replacedMs) / 3_600_000).toFixed(1);
  return `Replacing it would go in circles: ${instanceType} in ${zone} (${kind}) was replaced ${hours} hours ago`;
}

function sum(members: readonly Member[]): number {
  return members.reduce((total, member) => total + member.price, 0);
}

function allowsCapacity(set: RequirementSet, type: string): boolean {
  const requirement = set.byKey.get(label.capacityType);
  return requirement === undefined || allows(requirement, type);
}

function cheapestOf(prices: ReadonlyMap<string, LaunchPrice>, name: string): number {
  return prices.get(name)?.cheapest.price ?? Number.POSITIVE_INFINITY;
}

function typesNamed(claim: Claim, names: readonly string[]): InstanceType[] {
  const wanted = new Set(names);
  return claim.template.rows.types.filter((type) => wanted.has(type.name));
}

function withSpot(requirements: readonly RequirementSpec[]): RequirementSpec[] {
  return [
    ...requirements.filter((each) => each.key !== label.capacityType),
    { key: label.capacityType, operator: 'In', values: [capacityType.spot] },
  ];
}
