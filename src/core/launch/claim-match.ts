// One claim against a provider's instance types: which types and offerings it allows, whether what it asks for fits, and
// how flexible it has to stay. A matcher compiles each type once, however many claims ask, and keeps nothing of the claims.
// Types it was asked about fitting or flexibility are kept as long as the matcher.

import { atOnce } from '../../base/index.ts';
import { Catalogue } from '../pools/instance-types.ts';
import { unmetMinValues } from '../pools/min-values.ts';
import type { LabelRules } from '../requirements/label-rules.ts';
import { labelRules, normalizedKey, normalizedRequirement } from '../requirements/label-rules.ts';
import { allows } from '../requirements/requirement.ts';
import { type RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import { at, ResourceTable, type ResourceVector } from '../resources/resource-table.ts';
import type {
  InstanceTypeSpec,
  OfferingSpec,
  ProviderFacts,
  RequirementSpec,
  ResourceQuantities,
} from '../snapshot.ts';

export interface ClaimMatch {
  /** The requirements on the key, if any, allow the value. */
  allows(key: string, value: string): boolean;
  allowsType(type: InstanceTypeSpec): boolean;
  allowsOffering(offering: OfferingSpec): boolean;
  /** The requests fit a machine of the type in some available offering the claim allows. */
  fits(type: InstanceTypeSpec): boolean;
  readonly hasMinValues: boolean;
  /** Keys of which these types have fewer values than the claim wants. */
  unmetMinValues(types: readonly InstanceTypeSpec[]): string[];
}

export class LaunchMatcher {
  private readonly rules: LabelRules;
  private readonly table: RequirementTable;
  private readonly resources = new ResourceTable();
  private readonly catalogue: Catalogue;
  private readonly sets = new WeakMap<readonly RequirementSpec[], RequirementSet>();

  constructor(facts: ProviderFacts) {
    this.rules = labelRules(facts);
    this.table = new RequirementTable(this.rules.wellKnown);
    this.catalogue = new Catalogue({
      table: this.table,
      rules: this.rules,
      resources: this.resources,
      reservationIdLabel: facts.reservationIDLabel,
    });
  }

  match(requirements: readonly RequirementSpec[], requests: ResourceQuantities = {}): ClaimMatch {
    const { table, rules, catalogue } = this;
    // In a table of its own: what claims ask for is different every time and must not be kept.
    const wanted = new RequirementTable(rules.wellKnown).setOf(
      requirements.map((spec) => normalizedRequirement(rules, spec)),
    );
    const asked = this.resources.vector(requests);
    const isAllowed = (set: RequirementSet): boolean => table.computeCompatible(wanted, set, 'wellKnown');
    return {
      hasMinValues: wanted.hasMinValues,
      allows: (key, value) => {
        const requirement = wanted.byKey.get(normalizedKey(rules, key));
        return requirement === undefined || allows(requirement, value);
      },
      allowsType: (type) => table.computeIntersects(this.setOf(type.requirements), wanted),
      allowsOffering: (offering) => isAllowed(this.setOf(offering.requirements)),
      fits: (type) =>
        atOnce(catalogue.typesOf([type])).some(({ rows }) =>
          rows.some(
            ({ allocatable, offerings }) => isWithin(asked, allocatable) && offerings.some(({ set }) => isAllowed(set)),
          ),
        ),
      unmetMinValues: (types) => [...unmetMinValues(wanted, atOnce(catalogue.typesOf(types))).keys()],
    };
  }

  private setOf(requirements: readonly RequirementSpec[]): RequirementSet {
    let set = this.sets.get(requirements);
    if (set === undefined) {
      set = this.table.setOf(requirements.map((spec) => normalizedRequirement(this.rules, spec)));
      this.sets.set(requirements, set);
    }
    return set;
  }
}

/** A machine with less than nothing of a resource takes no pod, whatever is asked for. */
function isWithin(asked: ResourceVector, allocatable: ResourceVector): boolean {
  if (allocatable.some((amount) => amount < 0)) return false;
  for (let column = 0; column < asked.length; column++) {
    if (at(asked, column) > at(allocatable, column)) return false;
  }
  return true;
}
