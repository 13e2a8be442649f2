// The decision about one set of nodes: can they go (delete), can cheaper nodes take their place (replace), or neither, and
// then why. Prices are judged by what the provider might really launch, not by what would be nicest.
//
// First one new node is looked for, as users of Karpenter know it. Where several would cost so much less that it is worth
// it, because a burst, an older version or another autoscaler left a node that is too large for its pods, several come.

import { atOnce, type Sliced } from '../../base/index.ts';
import type { NewNode } from '../packing/new-node.ts';
import type { ExistingPlacement, PlannedNode } from '../plan.ts';
import type { Member } from './fleet.ts';
import type { LaunchPrices } from './launch-prices.ts';
import { type NoConsolidation, none } from './no-consolidation.ts';
import { type PricedNode, ReplacementPricing } from './replacement-pricing.ts';
import { Splitting } from './splitting.ts';
import { noPlace, type Simulation, type WhatIf } from './what-if.ts';

export type Consolidation =
  | { readonly kind: 'delete'; readonly savings: number; readonly placements: readonly ExistingPlacement[] }
  | {
      readonly kind: 'replace';
      readonly savings: number;
      /** At least one. */
      readonly replacements: readonly PlannedNode[];
      readonly placements: readonly ExistingPlacement[];
    }
  | NoConsolidation;

/** How many new nodes a command may bring. */
export type Coming = 'one' | 'several';

/** How long a replacement and what it replaces run side by side: launching, joining, draining. */
const overlapHours = 1 / 6;

export class Consolidator {
  readonly whatIf: WhatIf;
  readonly pricing: ReplacementPricing;
  readonly splitting: Splitting;

  constructor(whatIf: WhatIf) {
    this.whatIf = whatIf;
    this.pricing = new ReplacementPricing(whatIf);
    this.splitting = new Splitting(whatIf, this.pricing);
  }

  get prices(): LaunchPrices {
    return this.pricing.prices;
  }

  decide(members: readonly Member[], coming: Coming = 'several'): Consolidation {
    return atOnce(this.decideInSlices(members, coming));
  }

  *decideInSlices(members: readonly Member[], coming: Coming = 'several'): Sliced<Consolidation> {
    const simulation = yield* this.whatIf.simulateInSlices(members, { sparesRestless: true });
    return yield* this.judgeInSlices(members, simulation, coming);
  }

  /** The decision, once it is known where the pods would go. */
  *judgeInSlices(
    members: readonly Member[],
    simulation: Simulation,
    coming: Coming = 'several',
  ): Sliced<Consolidation> {
    if (simulation.failed.length > 0) return { kind: 'none', ...noPlace(simulation) };
    const { newNodes } = simulation;
    if (newNodes.length === 0) return { kind: 'delete', savings: sum(members), placements: simulation.placements() };
    const one =
      newNodes.length > 1
        ? none('NeedsMoreNodes', `Can't remove without creating ${newNodes.length} candidates`)
        : this.replacement(simulation, members);
    if (coming === 'one') return one;
    const split = yield* this.splitting.of(members, simulation, one.kind === 'replace' ? one.savings : 0);
    if (split === undefined) return one;
    const several = this.replaceWith(simulation, split, members);
    return several.kind === 'replace' ? several : one;
  }

  private replacement(simulation: Simulation, members: readonly Member[]): Consolidation {
    const { nodes, errors } = simulation.finish();
    const [planned] = nodes;
    if (planned === undefined) {
      return none(
        'MinValuesUnsatisfied',
        `Not all pods would schedule, ${errors.map((each) => each.message).join(' ')}`,
      );
    }
    const priced = this.pricing.below(simulation.newNodes[0] as NewNode, planned, members, sum(members));
    return priced.kind === 'none' ? priced : this.replaceWith(simulation, [priced], members);
  }

  private replaceWith(
    simulation: Simulation,
    coming: readonly PricedNode[],
    members: readonly Member[],
  ): Consolidation {
    const going = sum(members);
    const slow = this.paybackProblem(
      going,
      coming.reduce((total, { node }) => total + node.chosen.pricePerHour, 0),
    );
    if (slow !== undefined) return slow;
    return {
      kind: 'replace',
      savings: going - coming.reduce((total, { price }) => total + price, 0),
      replacements: coming.map(({ node }) => node),
      placements: simulation.placements(),
    };
  }

  /** Old and new run side by side for a while; where a payback time is asked for, the saving must earn that within it. */
  private paybackProblem(going: number, coming: number): NoConsolidation | undefined {
    const paybackHours = (this.whatIf.fleet.snapshot.settings?.consolidationPaybackSeconds ?? 0) / 3600;
    if (paybackHours <= 0) return undefined;
    const hours = (overlapHours * (going + coming)) / Math.max(going - coming, Number.EPSILON);
    if (hours <= paybackHours) return undefined;
    const message = `The saving of $${(going - coming).toFixed(4)} per hour earns the move in ${hours.toFixed(1)} hours, not within ${paybackHours.toFixed(1)}`;
    return none('PaybackTooLong', message);
  }
}

function sum(members: readonly Member[]): number {
  return members.reduce((total, member) => total + member.price, 0);
}
