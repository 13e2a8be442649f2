// Whether a node still is what its pool asks for, as far as labels and instance types tell. Hashes and the provider's own
// reasons are asked elsewhere.

import { capacityType, label } from '../../api/names.ts';
import type { Labels } from '../kube/objects.ts';
import { labelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { requirementOf } from '../requirements/requirement.ts';
import { type RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { InstanceTypeSpec, ProviderFacts, RequirementSpec } from '../snapshot.ts';

/** The labels no longer satisfy the requirements; a label that is missing satisfies only what accepts its absence. */
export function requirementsDrifted(
  requirements: readonly RequirementSpec[],
  labels: Labels,
  facts: ProviderFacts,
): boolean {
  const { table, setOf } = algebra(facts);
  return !table.computeCompatible(setOf(labelSpecs(labels)), setOf(requirements), 'strict');
}

/** The node's type is no longer offered, or not where and how the node was launched; whether it is available today does not matter. */
export function instanceTypeGone(labels: Labels, types: readonly InstanceTypeSpec[], facts: ProviderFacts): boolean {
  const type = types.find((each) => each.name === labels[label.instanceType]);
  if (type === undefined) return true;
  const { table, setOf } = algebra(facts);
  const wanted = launchedAs(table, setOf(labelSpecs(labels)), labels, facts);
  return !type.offerings.some((offering) => table.computeCompatible(wanted, setOf(offering.requirements), 'wellKnown'));
}

/** A reserved node may live on as an on-demand one, so losing its reservation is not drift. */
function launchedAs(
  table: RequirementTable,
  set: RequirementSet,
  labels: Labels,
  facts: ProviderFacts,
): RequirementSet {
  if (labels[label.capacityType] !== capacityType.reserved) return set;
  const reservation = [facts.reservationIDLabel ?? '', ...(facts.reservedCapacityLabels ?? [])];
  const either = requirementOf(label.capacityType, 'In', [capacityType.reserved, capacityType.onDemand]);
  return table.replace(table.without(set, reservation), either);
}

function algebra(facts: ProviderFacts) {
  const rules = labelRules(facts);
  const table = new RequirementTable(rules.wellKnown);
  const setOf = (specs: readonly RequirementSpec[]): RequirementSet =>
    table.setOf(specs.map((spec) => normalizedRequirement(rules, spec)));
  return { table, setOf };
}

function labelSpecs(labels: Labels): RequirementSpec[] {
  return Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
}
