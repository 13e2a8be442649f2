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
import { at, type ResourceTable, type ResourceVector } from '../resources/resource-table.ts';
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
  private readonly byText = new Map<string, Requirement>();
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
    const plain: Offering[] = [];
    const reserved: Offering[] = [];
    const overridden = new Map<string, { first: OfferingSpec; offerings: Offering[] }>();
    let priceOverlay = false;
    for (const own of spec.offerings) {
      const offering = this.offering(own);
      if (offering.reserved) reserved.push(offering);
      if (own.priceOverlayApplied === true) priceOverlay = true;
      if (!own.available) continue;
      const key = overrideKey(own);
      const group = overridden.get(key);
      if (key === '') plain.push(offering);
      else if (group) group.offerings.push(offering);
      else overridden.set(key, { first: own, offerings: [offering] });
    }
    const rows: TypeRow[] = [];
    if (plain.length > 0) rows.push({ allocatable: this.allocatable(spec, undefined), offerings: plain });
    for (const { first, offerings } of overridden.values()) {
      rows.push({ allocatable: this.allocatable(spec, first), offerings });
    }
    return {
      name: spec.name,
      set: this.setOf(spec.requirements),
      capacity: this.context.resources.vector(spec.capacity),
      rows,
      reservedOfferings: reserved,
      priceOverlay,
      capacityOverlay: spec.capacityOverlayApplied === true,
    };
  }

  private allocatable(spec: InstanceTypeSpec, override: OfferingSpec | undefined): ResourceVector {
    const { resources } = this.context;
    const extra = override?.capacityOverride;
    for (const name in extra) resources.column(name);
    const total = resources.vector(spec.capacity);
    for (const name in extra) {
      const column = resources.column(name);
      total[column] = at(total, column) + resources.amount(name, extra[name] as string | number);
    }
    const allocatable = total.slice();
    const reserve = (list: ResourceQuantities | undefined): void => {
      for (const name in list) {
        // Reserving what a type does not have at all makes it no smaller.
        if (!Object.hasOwn(spec.capacity, name) && !(extra !== undefined && Object.hasOwn(extra, name))) continue;
        const column = resources.column(name);
        allocatable[column] = at(allocatable, column) - resources.amount(name, list[name] as string | number);
      }
    };
    for (const overhead of [spec.overhead, override?.overheadOverride]) {
      reserve(overhead?.kubeReserved);
      reserve(overhead?.systemReserved);
      reserve(overhead?.evictionThreshold);
    }
    for (let column = 0; column < total.length; column++) {
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
          const text = requirementText(spec);
          requirement = this.byText.get(text) ?? table.internRequirement(normalizedRequirement(rules, spec));
          this.byText.set(text, requirement);
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
  for (const spec of requirements) text += `${requirementText(spec)}\u001e`;
  return text;
}

function requirementText({ key, operator, values, minValues }: RequirementSpec): string {
  let text = `${key} ${operator} ${minValues ?? ''}`;
  if (values !== undefined && values !== null) for (const value of values) text += `\u001f${value}`;
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
