// minValues: a new node must stay flexible over at least that many distinct values of a label, counted over what its
// remaining instance types can have for it and the requirement still allows: a type sold in three zones gives a node that
// is tied to one of them a single zone.

import { allows } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { InstanceType } from './instance-types.ts';

/** Keys that fall short, with the number of values reached. Without any type there is nothing to complain about. */
export function unmetMinValues(set: RequirementSet, types: Iterable<InstanceType>): Map<string, number> {
  const unmet = new Map<string, number>();
  if (!set.hasMinValues) return unmet;
  const wanted = set.requirements.filter((requirement) => requirement.minValues !== undefined);
  const reached = wanted.map((requirement) => ({ requirement, values: new Set<string>() }));
  let any = false;
  for (const type of types) {
    any = true;
    for (const { requirement, values } of reached) {
      const own = type.set.byKey.get(requirement.key);
      if (own === undefined || own.complement) continue;
      for (const value of own.values) if (allows(requirement, value)) values.add(value);
    }
  }
  if (!any) return unmet;
  for (const { requirement, values } of reached) {
    if (values.size < (requirement.minValues ?? 0)) unmet.set(requirement.key, values.size);
  }
  return unmet;
}

/** Some minimum of the one set is lower in the other. */
export function lowersMinValues(before: RequirementSet, after: RequirementSet): boolean {
  return before.requirements.some(({ key, minValues }) => {
    const now = after.byKey.get(key)?.minValues;
    return minValues !== undefined && now !== undefined && now < minValues;
  });
}

export function minValuesMessage(keys: Iterable<string>): string {
  return `minValues requirement is not met for label(s) (label(s)=[${[...keys].join(' ')}])`;
}
