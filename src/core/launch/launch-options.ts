// What could be launched for a NodeClaim: every available offering of the given types that its requirements allow,
// cheapest first. Used wherever a claim meets a catalogue outside a plan: launching, the claim's capacity types, prices.
import { label } from '../../api/names.ts';
import { labelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { allows, operatorOf, type Requirement } from '../requirements/requirement.ts';
import { RequirementTable } from '../requirements/requirement-set.ts';
import { at, ResourceTable } from '../resources/resource-table.ts';
import type { InstanceTypeSpec, OfferingSpec, ProviderFacts, RequirementSpec } from '../snapshot.ts';
import { LaunchMatcher } from './claim-match.ts';

export interface LaunchOption {
  instanceType: InstanceTypeSpec;
  offering: OfferingSpec;
}

/** Whether a machine is available from it now: a reservation that is full stays on offer, but not for this. */
export const isForSale = ({ available, reservationCapacity }: OfferingSpec): boolean =>
  available && reservationCapacity !== 0;

/** Ordered by price, then type name, then the order of the offerings. */
export function launchOptions(
  types: readonly InstanceTypeSpec[],
  requirements: readonly RequirementSpec[],
  facts: ProviderFacts,
): LaunchOption[] {
  const match = matcherFor(facts).match(requirements);
  const options: LaunchOption[] = [];
  for (const instanceType of types) {
    if (!match.allowsType(instanceType)) continue;
    for (const offering of instanceType.offerings) {
      if (isForSale(offering) && match.allowsOffering(offering)) options.push({ instanceType, offering });
    }
  }
  return options.sort(
    (left, right) =>
      left.offering.price - right.offering.price ||
      (left.instanceType.name < right.instanceType.name
        ? -1
        : left.instanceType.name > right.instanceType.name
          ? 1
          : 0),
  );
}

/** The capacity types the types are available as, sorted. Only offerings that would add one are looked at. */
export function launchCapacityTypes(
  types: readonly InstanceTypeSpec[],
  requirements: readonly RequirementSpec[],
  facts: ProviderFacts,
): string[] {
  const match = matcherFor(facts).match(requirements);
  const found = new Set<string>();
  for (const type of types) {
    const more = type.offerings.filter(
      (offering) => isForSale(offering) && capacityTypesOf(offering).some((value) => !found.has(value)),
    );
    if (more.length === 0 || !match.allowsType(type)) continue;
    for (const offering of more) {
      if (match.allowsOffering(offering)) for (const value of capacityTypesOf(offering)) found.add(value);
    }
  }
  return [...found].sort();
}

const capacityTypesOf = ({ requirements }: OfferingSpec): readonly string[] =>
  requirements.find(({ key }) => key === label.capacityType)?.values ?? [];

/** A burst asks about the same types for every claim. */
const matchers = new WeakMap<ProviderFacts, LaunchMatcher>();

function matcherFor(facts: ProviderFacts): LaunchMatcher {
  let matcher = matchers.get(facts);
  if (matcher === undefined) {
    matcher = new LaunchMatcher(facts);
    matchers.set(facts, matcher);
  }
  return matcher;
}

/** What pods can use of a type, as quantities: capacity less every overhead, huge pages off memory too. */
export function allocatableOf(type: InstanceTypeSpec): Record<string, string> {
  const resources = new ResourceTable();
  const allocatable = resources.vector(type.capacity);
  for (const [name, quantity] of Object.entries(type.capacity)) {
    if (!name.startsWith('hugepages-')) continue;
    allocatable[resources.memory] = at(allocatable, resources.memory) - resources.amount(name, quantity);
  }
  for (const list of [type.overhead?.kubeReserved, type.overhead?.systemReserved, type.overhead?.evictionThreshold]) {
    for (const [name, quantity] of Object.entries(list ?? {})) {
      if (!Object.hasOwn(type.capacity, name)) continue;
      const column = resources.column(name);
      allocatable[column] = at(allocatable, column) - resources.amount(name, quantity);
    }
  }
  allocatable[resources.memory] = Math.max(0, at(allocatable, resources.memory));
  return resources.quantities(allocatable);
}

/** Labels that follow from requirements: each key that allows exactly one value. */
export function singleValuedLabels(
  requirements: readonly RequirementSpec[],
  facts: ProviderFacts,
): Record<string, string> {
  const rules = labelRules(facts);
  const table = new RequirementTable(rules.wellKnown);
  const set = table.setOf(requirements.map((spec) => normalizedRequirement(rules, spec)));
  const labels: Record<string, string> = {};
  for (const requirement of set.requirements) {
    const [value] = requirement.values;
    if (operatorOf(requirement) === 'In' && requirement.values.length === 1 && value !== undefined)
      labels[requirement.key] = value;
  }
  return labels;
}

/** Keys that are about the simulation or the node itself, never about what a claim asks for. */
const nodeOnlyKeys: readonly string[] = [label.hostname, label.registered, label.initialized];

/**
 * One concrete label per custom requirement, so that a node has what its pods selected: a value of an In, or for keys
 * that only exclude or bound values the smallest whole number they allow. Well-known keys are the provider's to fill.
 */
export function customLabels(requirements: readonly RequirementSpec[], facts: ProviderFacts): Record<string, string> {
  const rules = labelRules(facts);
  const table = new RequirementTable(rules.wellKnown);
  const set = table.setOf(requirements.map((spec) => normalizedRequirement(rules, spec)));
  const labels: Record<string, string> = {};
  for (const requirement of set.requirements) {
    const { key } = requirement;
    if (rules.wellKnown.has(key) || nodeOnlyKeys.includes(key)) continue;
    const value = requirement.complement ? smallestAllowed(requirement) : requirement.values[0];
    if (value !== undefined) labels[key] = value;
  }
  return labels;
}

function smallestAllowed(requirement: Requirement): string | undefined {
  const from = Math.max(0, requirement.gte ?? 0);
  // Each excluded value rules out one number, so one more try than there are exclusions always suffices.
  for (let value = from; value <= from + requirement.values.length; value += 1) {
    if (allows(requirement, String(value))) return String(value);
  }
  return undefined;
}
