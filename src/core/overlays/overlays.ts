// NodeOverlays: corrections to what a provider says about its instance types, given to the planner before it looks.
// Overlays are taken by weight, heaviest first. The first to name a price for an offering, or an amount of a resource for
// a type, wins; of two with equal weight that both want a say, the later one is in conflict and counts nowhere.
//
// Promises: nothing that was passed in is changed; types that no overlay touches are the same objects as before.
import { label } from '../../api/names.ts';
import { type LabelRules, labelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { acceptsAbsence, intersection, intersects, type Requirement } from '../requirements/requirement.ts';
import type {
  InstanceTypeSpec,
  OfferingSpec,
  ProviderFacts,
  RequirementSpec,
  ResourceQuantities,
} from '../snapshot.ts';
import { adjustedPrice } from './price.ts';

export interface Overlay {
  name: string;
  /** Unset counts as 0. */
  weight?: number;
  requirements: RequirementSpec[];
  price?: string;
  /** `+0.5`, `-0.5`, `+10%`, `-15.5%`. */
  priceAdjustment?: string;
  capacity?: ResourceQuantities;
}

/** What a provider offers to one NodePool, with the labels its nodes will have. */
export interface OverlayPool {
  nodePool: string;
  labels: Readonly<Record<string, string>>;
  items: readonly InstanceTypeSpec[];
}

export interface OverlayResult {
  /** In the order of the pools given. */
  items: InstanceTypeSpec[][];
  /** Names of the overlays that another of equal weight contradicts. */
  conflicting: string[];
}

interface TypeState {
  readonly spec: InstanceTypeSpec;
  readonly set: ReadonlyMap<string, Requirement>;
  readonly offerings: OfferingState[];
  readonly capacity: Map<string, { readonly amount: string | number; lastWeight: number }>;
}

interface OfferingState {
  readonly spec: OfferingSpec;
  readonly set: ReadonlyMap<string, Requirement>;
  price: number | undefined;
  lastWeight: number | undefined;
}

export function applyOverlays(
  overlays: readonly Overlay[],
  pools: readonly OverlayPool[],
  facts?: ProviderFacts,
): OverlayResult {
  const rules = labelRules(facts);
  const states = pools.map((pool) => statesOf(pool, rules));
  const conflicting: string[] = [];
  for (const overlay of [...overlays].sort(heaviestFirst)) {
    const wanted = setOf(overlay.requirements, rules);
    const touched = states.flat().flatMap((type) => touchedBy(type, wanted));
    if (touched.some((touch) => contradicts(overlay, touch))) conflicting.push(overlay.name);
    else for (const touch of touched) record(overlay, touch);
  }
  return { items: states.map((types) => types.map(overlaid)), conflicting };
}

/** Heavier first; of equal weight the later name. */
function heaviestFirst(left: Overlay, right: Overlay): number {
  return weightOf(right) - weightOf(left) || (left.name < right.name ? 1 : -1);
}

function weightOf(overlay: Overlay): number {
  return overlay.weight ?? 0;
}

function statesOf(pool: OverlayPool, rules: LabelRules): TypeState[] {
  const ofPool = Object.entries({ ...pool.labels, [label.nodePool]: pool.nodePool }).map(
    ([key, value]): RequirementSpec => ({ key, operator: 'In', values: [value] }),
  );
  const offeringSets = new Map<readonly RequirementSpec[], ReadonlyMap<string, Requirement>>();
  return pool.items.map((spec) => ({
    spec,
    set: setOf([...ofPool, ...spec.requirements], rules),
    capacity: new Map(),
    offerings: spec.offerings.map((offering) => {
      const set = offeringSets.get(offering.requirements) ?? setOf(offering.requirements, rules);
      offeringSets.set(offering.requirements, set);
      return { spec: offering, set, price: undefined, lastWeight: undefined };
    }),
  }));
}

function setOf(specs: readonly RequirementSpec[], rules: LabelRules): Map<string, Requirement> {
  const set = new Map<string, Requirement>();
  for (const spec of specs) {
    const requirement = normalizedRequirement(rules, spec);
    const known = set.get(requirement.key);
    set.set(requirement.key, known === undefined ? requirement : intersection(known, requirement));
  }
  return set;
}

interface Touch {
  type: TypeState;
  offerings: OfferingState[];
}

/** The type and the offerings an overlay is about; nothing when no offering is. */
function touchedBy(type: TypeState, wanted: ReadonlyMap<string, Requirement>): Touch[] {
  for (const [key, requirement] of wanted) {
    const known = type.set.get(key);
    if (known === undefined ? !acceptsAbsence(requirement) : !agree(known, requirement)) return [];
  }
  const offerings = type.offerings.filter(({ set }) =>
    [...set].every(([key, known]) => {
      const requirement = wanted.get(key);
      return requirement === undefined || agree(known, requirement);
    }),
  );
  return offerings.length === 0 ? [] : [{ type, offerings }];
}

function agree(known: Requirement, wanted: Requirement): boolean {
  return intersects(known, wanted) || (acceptsAbsence(known) && acceptsAbsence(wanted));
}

function setsPrice(overlay: Overlay): boolean {
  return overlay.price !== undefined || overlay.priceAdjustment !== undefined;
}

/** Equal weight where another overlay spoke last, even if both say the same. */
function contradicts(overlay: Overlay, { type, offerings }: Touch): boolean {
  const weight = weightOf(overlay);
  if (setsPrice(overlay) && offerings.some(({ lastWeight }) => lastWeight === weight)) return true;
  return Object.keys(overlay.capacity ?? {}).some((resource) => type.capacity.get(resource)?.lastWeight === weight);
}

function record(overlay: Overlay, { type, offerings }: Touch): void {
  const weight = weightOf(overlay);
  if (setsPrice(overlay)) {
    for (const offering of offerings) {
      offering.price ??= adjustedPrice(offering.spec.price, overlay);
      offering.lastWeight = weight;
    }
  }
  for (const [resource, amount] of Object.entries(overlay.capacity ?? {})) {
    const known = type.capacity.get(resource);
    if (known === undefined) type.capacity.set(resource, { amount, lastWeight: weight });
    else known.lastWeight = weight;
  }
}

function overlaid({ spec, offerings, capacity }: TypeState): InstanceTypeSpec {
  const repriced = offerings.some(({ price }) => price !== undefined);
  if (!repriced && capacity.size === 0) return spec;
  const changed: InstanceTypeSpec = { ...spec };
  if (repriced) changed.offerings = offerings.map(overlaidOffering);
  if (capacity.size > 0) {
    const added = Object.fromEntries([...capacity].map(([resource, { amount }]) => [resource, amount]));
    changed.capacity = { ...spec.capacity, ...added };
    changed.capacityOverlayApplied = true;
  }
  return changed;
}

/** A new price stands for the whole offering: what the provider overrode in it is forgotten. */
function overlaidOffering({ spec, price }: OfferingState): OfferingSpec {
  if (price === undefined) return spec;
  const { capacityOverride: _, overheadOverride: __, ...kept } = spec;
  return { ...kept, price, priceOverlayApplied: true };
}
