// The types as one kind of node class sees them, and how they are brought up to date: what was built stays until a number
// says that something it was built from changed. The numbers are compared on every call; nothing is allocated when all of
// them are the same (bench: `aws-types`).
import type { EC2NodeClass } from '../../api/index.ts';
import { atOnce, type Clock, inSlices, type Sliced } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import type { UnavailableOfferings } from '../unavailable-offerings/unavailable-offerings.ts';
import type { CapacityReservation, InstanceTypeContext, Prices } from './context.ts';
import type { DiscoveredMemory } from './discovered-memory.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { type InstanceTypeBuilder, instanceTypeBuilder } from './instance-types.ts';
import { readNodeClass } from './node-class.ts';

/** Everything a view is made of that is not the class. */
export interface ViewSources {
  infos: readonly InstanceTypeInfo[];
  zones: readonly string[];
  zonesOfType: InstanceTypeContext['zonesOfType'];
  /** Rises with the three above. */
  changes: number;
  region: string;
  vmMemoryOverhead: number;
  reservedEnis: number;
  reservedCapacity: boolean;
  /** Feature gate. */
  kubeletExpressions: boolean;
  /** Gates of drivers whose devices are declared before nodes run. */
  devices?: InstanceTypeContext['devices'];
  eniLimits: InstanceTypeContext['eniLimits'];
  bandwidthMbps: InstanceTypeContext['bandwidthMbps'];
  prices: Prices & { readonly version: number };
  unavailable: UnavailableOfferings;
  memory: DiscoveredMemory;
  availableInReservation(id: string): number;
  isShifted(zoneId: string): boolean;
  pricedByOverlay(): ReadonlySet<string>;
}

interface Built {
  builder: InstanceTypeBuilder;
  reservations: CapacityReservation[];
  zones: { zone: string; zoneId?: string; isShifted: boolean }[];
  /** Numbers of the unavailable-offerings memory at which each type was built. */
  sequences: number[];
  types: InstanceTypeSpec[];
  changes: number;
  prices: number;
  unavailable: number;
  memory: number;
  priced: ReadonlySet<string>;
}

export interface ClassView {
  readonly nodeClass: EC2NodeClass;
  readonly images: string;
  readonly placementGroup: InstanceTypeContext['placementGroup'];
  built?: Built;
  /** Set while the first build is under way in slices. */
  building?: Promise<void> | undefined;
}

/** Types built between two yields: a fraction of a millisecond. */
const typesAtOnce = 16;

export function newClassView(
  nodeClass: EC2NodeClass,
  images: string,
  placementGroup: InstanceTypeContext['placementGroup'],
): ClassView {
  return { nodeClass, images, placementGroup };
}

export function updatedTypes(view: ClassView, sources: ViewSources): readonly InstanceTypeSpec[] {
  const { built } = view;
  if (built === undefined || built.changes !== sources.changes)
    return (view.built = atOnce(build(view, sources))).types;
  const isAllNew = takeCommonChanges(built, sources);
  const isSoldOutChanged = built.unavailable !== sources.unavailable.version;
  const isMemoryChanged = built.memory !== sources.memory.version;
  const emptied = takeReservationCounts(built, sources);
  if (!isAllNew && !isSoldOutChanged && !isMemoryChanged && emptied === undefined) return built.types;
  built.unavailable = sources.unavailable.version;
  built.memory = sources.memory.version;
  const types = built.types.map((type, index) => {
    const info = sources.infos[index] as InstanceTypeInfo;
    const memory = isMemoryChanged ? sources.memory.of(type.name, view.images) : undefined;
    const sequence = sources.unavailable.sequenceOf(type.name);
    const isRenewed = isAllNew || sequence !== built.sequences[index] || emptied?.has(type.name) === true;
    built.sequences[index] = sequence;
    if (memory !== undefined && type.capacity['memory'] !== String(memory)) return built.builder.build(info);
    return isRenewed ? { ...type, offerings: built.builder.offeringsOf(info) } : type;
  });
  if (types.some((type, index) => type !== built.types[index])) built.types = types;
  return built.types;
}

/** The same for launches that probe: new objects for types of which something failed. */
export function probingTypes(view: ClassView, sources: ViewSources): readonly InstanceTypeSpec[] {
  const types = updatedTypes(view, sources);
  const failed = new Set(sources.unavailable.list().map(({ instanceType }) => instanceType));
  if (failed.size === 0) return types;
  return types.map((type, index) => {
    const info = sources.infos[index] as InstanceTypeInfo;
    const offerings = failed.has(type.name) ? view.built?.builder.offeringsOf(info, { probing: true }) : undefined;
    return offerings === undefined ? type : { ...type, offerings };
  });
}

/** Builds what `updatedTypes` would have to build, without holding up the event loop; done already most of the time. */
export async function prepareTypes(view: ClassView, sources: ViewSources, clock: Clock): Promise<void> {
  if (view.built?.changes === sources.changes) return;
  const settle = async (): Promise<void> => {
    const built = await inSlices(clock, build(view, sources));
    // Someone who could not wait may have been quicker: what they were given stays the same.
    if (view.built?.changes !== built.changes) view.built = built;
  };
  view.building ??= settle().finally(() => {
    view.building = undefined;
  });
  await view.building;
}

/** Numbers are noted first: whatever changes between two slices is seen as changed afterwards. */
function* build(view: ClassView, sources: ViewSources): Sliced<Built> {
  const { nodeClass, placementGroup, images } = view;
  const { unavailable, memory, infos } = sources;
  const shape = readNodeClass(nodeClass, sources.zones, (id) => sources.availableInReservation(id));
  const reservations = sources.reservedCapacity ? [...shape.reservations] : [];
  const zones = shape.classZones.map((zone) => ({ ...zone, isShifted: isShifted(zone, sources) }));
  const byZone = new Map(zones.map((zone) => [zone.zone, zone]));
  const subnets = subnetsByZone(nodeClass);
  const built = { reservations, zones } as Built;
  const context: InstanceTypeContext = {
    ...sources,
    ...shape,
    reservations,
    expressions: sources.kubeletExpressions ? shape.expressions : [],
    ...(placementGroup === undefined ? {} : { placementGroup }),
    isAvailable: (instanceType, zone, type, { partition, probing }) =>
      !unavailable.isUnavailable(
        {
          instanceType,
          zone,
          capacityType: type,
          placementGroup: placementGroup === undefined ? undefined : { id: placementGroup.id, partition },
        },
        subnets.get(zone) ?? [],
        { probing },
      ),
    isShifted: (zone) => byZone.get(zone)?.isShifted === true,
    isPricedByOverlay: (type) => built.priced.has(type),
    discoveredMemory: (type) => memory.of(type, images),
  };
  built.changes = sources.changes;
  built.prices = sources.prices.version;
  built.unavailable = unavailable.version;
  built.memory = memory.version;
  built.priced = sources.pricedByOverlay();
  built.sequences = infos.map(({ InstanceType }) => unavailable.sequenceOf(InstanceType));
  built.builder = instanceTypeBuilder(context);
  built.types = [];
  for (const info of infos) {
    built.types.push(built.builder.build(info));
    if (built.types.length % typesAtOnce === 0) yield;
  }
  return built;
}

/** Takes over what concerns every type; true if anything changed. */
function takeCommonChanges(built: Built, sources: ViewSources): boolean {
  let isChanged = built.prices !== sources.prices.version;
  built.prices = sources.prices.version;
  const priced = sources.pricedByOverlay();
  if (priced !== built.priced) {
    built.priced = priced;
    isChanged = true;
  }
  for (const zone of built.zones) {
    const shifted = isShifted(zone, sources);
    if (zone.isShifted === shifted) continue;
    zone.isShifted = shifted;
    isChanged = true;
  }
  return isChanged;
}

/** Takes over how many instances reservations hold; the types whose count changed, if any. */
function takeReservationCounts(built: Built, sources: ViewSources): Set<string> | undefined {
  let changed: Set<string> | undefined;
  for (const reservation of built.reservations) {
    const available = sources.availableInReservation(reservation.id);
    if (available === reservation.available) continue;
    reservation.available = available;
    changed ??= new Set();
    changed.add(reservation.instanceType);
  }
  return changed;
}

function isShifted({ zoneId }: { zoneId?: string }, sources: ViewSources): boolean {
  return zoneId !== undefined && sources.isShifted(zoneId);
}

function subnetsByZone({ status }: EC2NodeClass): Map<string, string[]> {
  const byZone = new Map<string, string[]>();
  for (const { id, zone } of status?.subnets ?? []) byZone.set(zone, [...(byZone.get(zone) ?? []), id]);
  return byZone;
}
