// A provider's instance types, compiled: requirements as sets, amounts as vectors, offerings flat. Offerings that change
// capacity or overhead split a type into rows, one per distinct allocatable; most types have a single row.
//
// Allocatable = capacity − (kube + system reserved + eviction threshold); huge pages are also taken off memory, which
// stops at zero. Overrides replace the base, resource by resource; an overhead's parts are summed up first.

import { capacityType, label } from '../../api/names.ts';
import type { Sliced } from '../../base/index.ts';
import type { LabelRules } from '../requirements/label-rules.ts';
import { normalizedRequirement } from '../requirements/label-rules.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import { at, type ResourceTable, type ResourceVector } from '../resources/resource-table.ts';
import type {
  DynamicResources,
  FailedOffering,
  InstanceTypeSpec,
  OfferingSpec,
  Overhead,
  RequirementSpec,
  ResourceQuantities,
} from '../snapshot.ts';
import type { FailedOfferings } from './failed-offerings.ts';

export interface Offering {
  readonly set: RequirementSet;
  readonly zone: string;
  readonly capacityType: string;
  readonly price: number;
  readonly reserved: boolean;
  readonly reservationId: string;
  readonly reservationCapacity: number;
}

/** A full reservation is an offering like others, but nothing is launched from it, and its price is none. */
export const isLaunchable = ({ reserved, reservationCapacity }: Offering): boolean =>
  !reserved || reservationCapacity > 0;

/** What offerings of many types have in common. */
type Place = Pick<Offering, 'set' | 'zone' | 'capacityType' | 'reservationId'>;

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
  readonly dynamicResources: DynamicResources | undefined;
  /** Most volumes per CSI driver on a new node. */
  readonly attachLimits: Readonly<Record<string, number>> | undefined;
  /** Offerings that would be available, had they not failed lately. */
  readonly failed: readonly FailedOfferingOf[];
}

export interface FailedOfferingOf {
  readonly offering: Offering;
  readonly because: FailedOffering;
  readonly allocatable: ResourceVector;
}

export interface CatalogueContext {
  readonly table: RequirementTable;
  readonly rules: LabelRules;
  readonly resources: ResourceTable;
  readonly reservationIdLabel: string | undefined;
  readonly failed?: FailedOfferings;
}

/** Compiling one takes some hundredths of a millisecond. */
const typesAtOnce = 50;

/** Compiles types; the same specification object is compiled once, however many pools offer it. */
export class Catalogue {
  private readonly compiled = new Map<InstanceTypeSpec, InstanceType>();
  // A provider that builds its catalogue in memory shares equal lists and requirements between types: one look-up by
  // identity then replaces thousands of comparisons by content.
  private readonly placeOfList = new Map<readonly RequirementSpec[], Place>();
  private readonly requirementOfSpec = new Map<RequirementSpec, Requirement>();
  private readonly places = new KeyTree<Requirement, Place>();
  private readonly requirements = new KeyTree<string, Requirement>();
  private readonly context: CatalogueContext;

  constructor(context: CatalogueContext) {
    this.context = context;
  }

  /** Yields after some types: a provider may offer a thousand. */
  *typesOf(specs: readonly InstanceTypeSpec[]): Sliced<InstanceType[]> {
    const types: InstanceType[] = [];
    for (const spec of specs) {
      let type = this.compiled.get(spec);
      if (type === undefined) {
        type = this.compile(spec);
        this.compiled.set(spec, type);
      }
      types.push(type);
      if (types.length % typesAtOnce === 0) yield;
    }
    return types;
  }

  private compile(spec: InstanceTypeSpec): InstanceType {
    const plain: Offering[] = [];
    const reserved: Offering[] = [];
    const overridden = new Map<string, { first: OfferingSpec; offerings: Offering[] }>();
    const failed: { own: OfferingSpec; offering: Offering; because: FailedOffering }[] = [];
    let priceOverlay = false;
    for (const own of spec.offerings) {
      const offering = this.offering(own);
      if (offering.reserved) reserved.push(offering);
      if (own.priceOverlayApplied === true) priceOverlay = true;
      const because = this.context.failed?.of(spec.name, offering.zone, offering.capacityType);
      if (because !== undefined) failed.push({ own, offering, because });
      if (because !== undefined || !own.available) continue;
      const key = overrideKey(own);
      const group = overridden.get(key);
      if (key === '') plain.push(offering);
      else if (group) group.offerings.push(offering);
      else overridden.set(key, { first: own, offerings: [offering] });
    }
    const rows: TypeRow[] = [];
    const capacity = this.context.resources.vector(spec.capacity);
    if (plain.length > 0) rows.push({ allocatable: this.allocatable(spec, capacity, undefined), offerings: plain });
    for (const { first, offerings } of overridden.values()) {
      rows.push({ allocatable: this.allocatable(spec, this.replaced(capacity, first), first), offerings });
    }
    return {
      name: spec.name,
      // Nearly every type has a label no one else has: looking for its equal would be in vain.
      set: this.context.table.setOfItsOwn(this.requirementsOf(spec.requirements)),
      capacity,
      rows,
      reservedOfferings: reserved,
      priceOverlay,
      capacityOverlay: spec.capacityOverlayApplied === true,
      dynamicResources: spec.dynamicResources,
      attachLimits: spec.volumeAttachmentLimits,
      failed: failed.map(({ own, offering, because }) => ({
        offering,
        because,
        allocatable: this.allocatable(spec, this.replaced(capacity, own), own),
      })),
    };
  }

  /** With what the offering has instead. */
  private replaced(capacity: ResourceVector, { capacityOverride: extra }: OfferingSpec): ResourceVector {
    const { resources } = this.context;
    for (const name in extra) resources.column(name);
    const total = new Float64Array(resources.names.length);
    total.set(capacity);
    for (const name in extra) {
      total[resources.column(name)] = resources.amount(name, extra[name] as string | number);
    }
    return total;
  }

  private allocatable(
    spec: InstanceTypeSpec,
    total: ResourceVector,
    override: OfferingSpec | undefined,
  ): ResourceVector {
    const { resources } = this.context;
    const extra = override?.capacityOverride;
    const allocatable = total.slice();
    const replaced = override?.overheadOverride;
    const isReplaced = (name: string): boolean =>
      overheadParts(replaced).some((list) => list !== undefined && Object.hasOwn(list, name));
    const reserve = (list: ResourceQuantities | undefined, isBase: boolean): void => {
      for (const name in list) {
        if (isBase && isReplaced(name)) continue;
        // Reserving what a type does not have at all makes it no smaller.
        if (!Object.hasOwn(spec.capacity, name) && !(extra !== undefined && Object.hasOwn(extra, name))) continue;
        const column = resources.column(name);
        allocatable[column] = at(allocatable, column) - resources.amount(name, list[name] as string | number);
      }
    };
    for (const list of overheadParts(spec.overhead)) reserve(list, true);
    for (const list of overheadParts(replaced)) reserve(list, false);
    for (let column = 0; column < total.length; column++) {
      if (total[column] !== 0 && (resources.names[column] as string).startsWith('hugepages-')) {
        const left = (allocatable[resources.memory] as number) - (total[column] as number);
        allocatable[resources.memory] = Math.max(0, left);
      }
    }
    return allocatable;
  }

  private offering(spec: OfferingSpec): Offering {
    const { set, zone, capacityType: type, reservationId } = this.placeOf(spec.requirements);
    return {
      set,
      zone,
      capacityType: type,
      price: spec.price,
      reserved: type === capacityType.reserved,
      reservationId,
      reservationCapacity: spec.reservationCapacity ?? 0,
    };
  }

  private placeOf(specs: readonly RequirementSpec[]): Place {
    let place = this.placeOfList.get(specs);
    if (place === undefined) {
      const requirements = this.requirementsOf(specs);
      let branch = this.places;
      for (const requirement of requirements) branch = branch.at(requirement);
      branch.value ??= this.newPlace(requirements);
      place = branch.value;
      this.placeOfList.set(specs, place);
    }
    return place;
  }

  private newPlace(requirements: readonly Requirement[]): Place {
    const { table, reservationIdLabel } = this.context;
    const set = table.setOf(requirements);
    return {
      set,
      zone: firstValue(set, label.zone),
      capacityType: firstValue(set, label.capacityType),
      reservationId: reservationIdLabel === undefined ? '' : firstValue(set, reservationIdLabel),
    };
  }

  private requirementsOf(specs: readonly RequirementSpec[]): Requirement[] {
    return specs.map((spec): Requirement => {
      let requirement = this.requirementOfSpec.get(spec);
      if (requirement === undefined) {
        requirement = this.requirement(spec);
        this.requirementOfSpec.set(spec, requirement);
      }
      return requirement;
    });
  }

  private requirement(spec: RequirementSpec): Requirement {
    const { table, rules } = this.context;
    const { key, operator, values, minValues } = spec;
    let branch = this.requirements.at(key).at(minValues === undefined ? operator : `${operator} ${minValues}`);
    if (values !== undefined && values !== null) for (const value of values) branch = branch.at(value);
    branch.value ??= table.internRequirement(normalizedRequirement(rules, spec));
    return branch.value;
  }
}

const overheadParts = (overhead: Overhead | undefined): (ResourceQuantities | undefined)[] =>
  overhead === undefined ? [] : [overhead.kubeReserved, overhead.systemReserved, overhead.evictionThreshold];

/** What belongs to a sequence of keys: thousands of offerings differ in a zone only, and texts of them would be long. */
class KeyTree<K, V> {
  value: V | undefined;
  private readonly branches = new Map<K, KeyTree<K, V>>();

  at(key: K): KeyTree<K, V> {
    let branch = this.branches.get(key);
    if (branch === undefined) {
      branch = new KeyTree();
      this.branches.set(key, branch);
    }
    return branch;
  }
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
