// A provider's instance types, compiled: requirements as sets, amounts as vectors, offerings flat. Offerings that change
// capacity or overhead split a type into rows, one per distinct allocatable; most types have a single row.
//
// Allocatable = capacity − (kube + system reserved + eviction threshold); huge pages are also taken off memory, which
// stops at zero. Overrides are added to the base, resource by resource.

import { capacityType, label } from '../../api/names.ts';
import type { LabelRules } from '../requirements/label-rules.ts';
import { normalizedRequirement } from '../requirements/label-rules.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { ResourceTable, ResourceVector } from '../resources/resource-table.ts';
import { addTo } from '../resources/resource-table.ts';
import type { InstanceTypeSpec, OfferingSpec, Overhead, RequirementSpec, ResourceQuantities } from '../snapshot.ts';

export interface Offering {
  readonly set: RequirementSet;
  readonly zone: string;
  readonly capacityType: string;
  readonly price: number;
  readonly reserved: boolean;
  readonly reservationId: string;
  readonly reservationCapacity: number;
}

/** One allocatable of a type and the available offerings that have it. */
export interface TypeRow {
  readonly allocatable: ResourceVector;
  readonly offerings: readonly Offering[];
}

export interface InstanceType {
  readonly name: string;
  readonly set: RequirementSet;
  readonly capacity: ResourceVector;
  readonly rows: readonly TypeRow[];
  /** Every reserved offering, available or not: they bound what can be reserved. */
  readonly reservedOfferings: readonly Offering[];
  readonly priceOverlay: boolean;
  readonly capacityOverlay: boolean;
}

export interface CatalogueContext {
  readonly table: RequirementTable;
  readonly rules: LabelRules;
  readonly resources: ResourceTable;
  readonly reservationIdLabel: string | undefined;
}

/** Compiles types; the same specification object is compiled once, however many pools offer it. */
export class Catalogue {
  private readonly compiled = new Map<InstanceTypeSpec, InstanceType>();
  private readonly offeringSets = new Map<string, RequirementSet>();
  // A provider that builds its catalogue in memory shares equal lists and requirements between types: one look-up by
  // identity then replaces thousands of comparisons by content.
  private readonly listSets = new Map<readonly RequirementSpec[], RequirementSet>();
  private readonly interned = new Map<RequirementSpec, Requirement>();
  private readonly context: CatalogueContext;

  constructor(context: CatalogueContext) {
    this.context = context;
  }

  typesOf(specs: readonly InstanceTypeSpec[]): InstanceType[] {
    return specs.map((spec) => {
      let type = this.compiled.get(spec);
      if (type === undefined) {
        type = this.compile(spec);
        this.compiled.set(spec, type);
      }
      return type;
    });
  }

  private compile(spec: InstanceTypeSpec): InstanceType {
    const { resources } = this.context;
    const offerings = spec.offerings.map((offering) => ({ spec: offering, offering: this.offering(offering) }));
    const groups = new Map<string, { first: OfferingSpec | undefined; offerings: Offering[] }>();
    groups.set('', { first: undefined, offerings: [] });
    for (const entry of offerings) {
      if (!entry.spec.available) continue;
      const key = overrideKey(entry.spec);
      const group = groups.get(key);
      if (group) group.offerings.push(entry.offering);
      else groups.set(key, { first: entry.spec, offerings: [entry.offering] });
    }
    const rows: TypeRow[] = [];
    for (const { first, offerings: own } of groups.values()) {
      if (own.length > 0) rows.push({ allocatable: this.allocatable(spec, first), offerings: own });
    }
    return {
      name: spec.name,
      set: this.setOf(spec.requirements),
      capacity: resources.vector(spec.capacity),
      rows,
      reservedOfferings: offerings.map((entry) => entry.offering).filter((offering) => offering.reserved),
      priceOverlay: spec.offerings.some((offering) => offering.priceOverlayApplied === true),
      capacityOverlay: spec.capacityOverlayApplied === true,
    };
  }

  private allocatable(spec: InstanceTypeSpec, override: OfferingSpec | undefined): ResourceVector {
    const { resources } = this.context;
    const lists = [spec.capacity, override?.capacityOverride];
    const overheads = [...overheadLists(spec.overhead), ...overheadLists(override?.overheadOverride)];
    for (const list of [...lists, ...overheads]) for (const name in list) resources.column(name);
    const size = resources.names.length;
    const total = new Float64Array(size);
    for (const list of lists) addTo(total, resources.vector(list));
    const allocatable = Float64Array.from(total);
    const reserved = new Float64Array(size);
    for (const list of overheads) addTo(reserved, resources.vector(list));
    const isOffered = (column: number): boolean =>
      lists.some((list) => list !== undefined && Object.hasOwn(list, resources.names[column] as string));
    for (let column = 0; column < size; column++) {
      // Reserving what a type does not have at all makes it no smaller.
      if (isOffered(column)) allocatable[column] = (total[column] as number) - (reserved[column] as number);
    }
    for (let column = 0; column < size; column++) {
      if (total[column] !== 0 && (resources.names[column] as string).startsWith('hugepages-')) {
        const left = (allocatable[resources.memory] as number) - (total[column] as number);
        allocatable[resources.memory] = Math.max(0, left);
      }
    }
    return allocatable;
  }

  private offering(spec: OfferingSpec): Offering {
    let set = this.listSets.get(spec.requirements);
    if (set === undefined) {
      set = this.offeringSet(spec.requirements);
      this.listSets.set(spec.requirements, set);
    }
    const type = firstValue(set, label.capacityType);
    const idLabel = this.context.reservationIdLabel;
    return {
      set,
      zone: firstValue(set, label.zone),
      capacityType: type,
      price: spec.price,
      reserved: type === capacityType.reserved,
      reservationId: idLabel === undefined ? '' : firstValue(set, idLabel),
      reservationCapacity: spec.reservationCapacity ?? 0,
    };
  }

  private offeringSet(requirements: readonly RequirementSpec[]): RequirementSet {
    const identity = requirementsText(requirements);
    let set = this.offeringSets.get(identity);
    if (set === undefined) {
      set = this.setOf(requirements);
      this.offeringSets.set(identity, set);
    }
    return set;
  }

  private setOf(specs: readonly RequirementSpec[]): RequirementSet {
    const { table, rules } = this.context;
    return table.setOf(
      specs.map((spec): Requirement => {
        let requirement = this.interned.get(spec);
        if (requirement === undefined) {
          requirement = table.internRequirement(normalizedRequirement(rules, spec));
          this.interned.set(spec, requirement);
        }
        return requirement;
      }),
    );
  }
}

/** Equal exactly for equal lists; written out by hand because thousands of offerings differ in a zone only. */
function requirementsText(requirements: readonly RequirementSpec[]): string {
  let text = '';
  for (const { key, operator, values, minValues } of requirements) {
    text += `${key} ${operator} ${minValues ?? ''}`;
    for (const value of values ?? []) text += `\u001f${value}`;
    text += '\u001e';
  }
  return text;
}

function firstValue(set: RequirementSet, key: string): string {
  const requirement = set.byKey.get(key);
  return requirement === undefined || requirement.complement ? '' : (requirement.values[0] ?? '');
}

function overheadLists(overhead: Overhead | undefined): (ResourceQuantities | undefined)[] {
  return [overhead?.kubeReserved, overhead?.systemReserved, overhead?.evictionThreshold];
}

function overrideKey({ capacityOverride, overheadOverride }: OfferingSpec): string {
  if (capacityOverride === undefined && overheadOverride === undefined) return '';
  const capacity = Object.entries(capacityOverride ?? {}).sort();
  const overheads = overheadLists(overheadOverride).map((list) => Object.entries(list ?? {}).sort());
  const isPlain = capacity.length === 0 && overheads.every((list) => list.length === 0);
  return isPlain ? '' : JSON.stringify([capacity, overheads]);
}
