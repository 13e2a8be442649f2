// What a new node would cost: for a set of requirements, the cheapest and the worst launch price of each instance type.
// The worst is what consolidation has to beat: of the kind the provider would try first (reserved, then spot, then
// on-demand), the most expensive compatible offering.

import { capacityType } from '../../api/names.ts';
import { isLaunchable, type Offering } from '../pools/instance-types.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';

export interface LaunchPrice {
  readonly cheapest: Offering;
  readonly worst: number;
  /** Where and how it could be launched, as `zone/capacityType`. */
  readonly places: ReadonlySet<string>;
}

const preference = [capacityType.reserved, capacityType.spot, capacityType.onDemand];

export class LaunchPrices {
  private readonly table: RequirementTable;
  private readonly known = new Map<Template, Map<RequirementSet, ReadonlyMap<string, LaunchPrice>>>();

  constructor(table: RequirementTable) {
    this.table = table;
  }

  /** By type name; types that cannot be launched are not in it. */
  of(template: Template, set: RequirementSet): ReadonlyMap<string, LaunchPrice> {
    let bySet = this.known.get(template);
    if (bySet === undefined) this.known.set(template, (bySet = new Map()));
    let prices = bySet.get(set);
    if (prices === undefined) bySet.set(set, (prices = this.compute(template, set)));
    return prices;
  }

  private compute(template: Template, set: RequirementSet): ReadonlyMap<string, LaunchPrice> {
    const prices = new Map<string, LaunchPrice>();
    for (const type of template.rows.types) {
      const worstOf = new Map<string, number>();
      const places = new Set<string>();
      let cheapest: Offering | undefined;
      for (const row of type.rows) {
        for (const offering of row.offerings) {
          if (!isLaunchable(offering) || !this.table.compatible(set, offering.set, 'wellKnown')) continue;
          places.add(`${offering.zone}/${offering.capacityType}`);
          if (cheapest === undefined || offering.price < cheapest.price) cheapest = offering;
          const worst = worstOf.get(offering.capacityType) ?? Number.NEGATIVE_INFINITY;
          worstOf.set(offering.capacityType, Math.max(worst, offering.price));
        }
      }
      if (cheapest === undefined) continue;
      const kind = preference.find((each) => worstOf.has(each)) ?? cheapest.capacityType;
      prices.set(type.name, { cheapest, worst: worstOf.get(kind) ?? cheapest.price, places });
    }
    return prices;
  }
}
