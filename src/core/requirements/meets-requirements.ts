// Whether a type that says everything about itself (every well-known key, absent ones as DoesNotExist) meets what is
// wanted of it. For a few wanted requirements and many types, where building requirement sets would cost more.
import type { RequirementSpec } from '../snapshot.ts';
import { acceptsAbsence, intersects, type Requirement, requirementOf } from './requirement.ts';

const read = ({ key, operator, values }: RequirementSpec): Requirement => requirementOf(key, operator, values);

/** A key the type says nothing about counts as absent. */
export function meetsRequirements(type: readonly RequirementSpec[], wanted: readonly RequirementSpec[]): boolean {
  return wanted.every((spec) => {
    const want = read(spec);
    const had = type.find(({ key }) => key === spec.key);
    if (had === undefined) return acceptsAbsence(want);
    const has = read(had);
    return intersects(has, want) || (acceptsAbsence(has) && acceptsAbsence(want));
  });
}
