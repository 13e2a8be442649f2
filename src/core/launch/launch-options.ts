// What could be launched for a NodeClaim: every available offering of the given types that its requirements allow,
// cheapest first. Used wherever a claim meets a catalogue outside a plan: launching, the claim's capacity types, prices.
import { label } from '../../api/names.ts';
import { type LabelRules, labelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { allows, operatorOf, type Requirement } from '../requirements/requirement.ts';
import { type RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import { at, ResourceTable } from '../resources/resource-table.ts';
import type { InstanceTypeSpec, OfferingSpec, ProviderFacts, RequirementSpec } from '../snapshot.ts';

export interface LaunchOption {
  instanceType: InstanceTypeSpec;
  offering: OfferingSpec;
}

/** Ordered by price, then type name, then the order of the offerings. */
export function launchOptions(
  types: readonly InstanceTypeSpec[],
  requirements: readonly RequirementSpec[],
  facts: ProviderFacts,
): LaunchOption[] {
  const catalogue = catalogueOf(facts);
  const { rules, table } = catalogue;
  // In a table of its own: what claims ask for is different every time and must not be kept.
  const wanted = new RequirementTable(rules.wellKnown).setOf(
    requirements.map((spec) => normalizedRequirement(rules, spec)),
  );
  const options: LaunchOption[] = [];
  for (const instanceType of types) {
    if (!table.computeIntersects(catalogue.setOf(instanceType.requirements), wanted)) continue;
    for (const offering of instanceType.offerings) {
      if (offering.available && table.computeCompatible(wanted, catalogue.setOf(offering.requirements), 'wellKnown')) {
        options.push({ instanceType, offering });
      }
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

/** The requirements of a provider's types and offerings, compiled once: a burst asks about all of them for every claim. */
interface CompiledCatalogue {
  readonly rules: LabelRules;
  readonly table: RequirementTable;
  setOf(specs: readonly RequirementSpec[]): RequirementSet;
}

const catalogues = new WeakMap<ProviderFacts, CompiledCatalogue>();

function catalogueOf(facts: ProviderFacts): CompiledCatalogue {
  let catalogue = catalogues.get(facts);
  if (catalogue === undefined) {
    const rules = labelRules(facts);
    const table = new RequirementTable(rules.wellKnown);
    const sets = new WeakMap<readonly RequirementSpec[], RequirementSet>();
    const setOf = (specs: readonly RequirementSpec[]): RequirementSet => {
      let set = sets.get(specs);
      if (set === undefined) {
        set = table.setOf(specs.map((spec) => normalizedRequirement(rules, spec)));
        sets.set(specs, set);
      }
      return set;
    };
    catalogue = { rules, table, setOf };
    catalogues.set(facts, catalogue);
  }
  return catalogue;
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
