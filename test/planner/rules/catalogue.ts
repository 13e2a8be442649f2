// Instance types and pools as the rules see them: what a type can hold, which offerings it has, which pools may launch.
import { label } from '../../../src/api/index.ts';
import type { InstanceTypeSpec, OfferingSpec, Overhead } from '../../../src/core/index.ts';
import type { Cluster } from './cluster.ts';
import type { NodePool, Taint } from './objects.ts';
import { type Amounts, amounts, minus, plus } from './quantity.ts';
import { both, fromLabels, has, incompatible, oneOf, type Requirements, requirements } from './requirement.ts';

export interface Offering {
  requirements: Requirements;
  price: number;
  available: boolean;
  allocatable: Amounts;
  zone: string;
  capacityType: string;
  reservationID: string | undefined;
  reservationCapacity: number;
}

export interface InstanceType {
  name: string;
  requirements: Requirements;
  capacity: Amounts;
  attachLimits: Record<string, number>;
  offerings: Offering[];
}

export interface Template {
  pool: NodePool;
  name: string;
  requirements: Requirements;
  taints: Taint[];
  types: InstanceType[];
}

const overheadOf = (overhead: Overhead | undefined): Amounts =>
  plus(amounts(overhead?.kubeReserved), amounts(overhead?.systemReserved), amounts(overhead?.evictionThreshold));

export function allocatableOf(type: InstanceTypeSpec, offering: OfferingSpec): Amounts {
  const capacity = new Map([...amounts(type.capacity), ...amounts(offering.capacityOverride)]);
  const overhead = new Map([...overheadOf(type.overhead), ...overheadOf(offering.overheadOverride)]);
  const left = minus(capacity, overhead);
  for (const [name, value] of capacity) {
    if (!name.startsWith('hugepages-')) continue;
    const memory = (left.get('memory') ?? 0n) - value;
    left.set('memory', memory < 0n ? 0n : memory);
  }
  return left;
}

const only = (set: Requirements, key: string): string | undefined => [...(set.get(key)?.values ?? [])][0];

export function readInstanceType(spec: InstanceTypeSpec, cluster: Cluster): InstanceType {
  return {
    name: spec.name,
    requirements: requirements(spec.requirements, cluster.spelling),
    capacity: amounts(spec.capacity),
    attachLimits: spec.volumeAttachmentLimits ?? {},
    offerings: spec.offerings.map((offering) => {
      const set = requirements(offering.requirements, cluster.spelling);
      const id = cluster.reservationIDLabel === undefined ? undefined : only(set, cluster.reservationIDLabel);
      return {
        requirements: set,
        price: offering.price,
        available: offering.available,
        allocatable: allocatableOf(spec, offering),
        zone: only(set, label.zone) ?? '',
        capacityType: only(set, label.capacityType) ?? '',
        reservationID: id,
        reservationCapacity: offering.reservationCapacity ?? 0,
      };
    }),
  };
}

/** Available offerings a node with these requirements could be launched with. */
export function usableOfferings(type: InstanceType, wanted: Requirements, cluster: Cluster): Offering[] {
  return type.offerings.filter(
    (offering) => offering.available && incompatible(wanted, offering.requirements, cluster.wellKnown) === undefined,
  );
}

/** Pools that may launch nodes for pods, heaviest first, then by name, later names first. */
export function usablePools(cluster: Cluster): NodePool[] {
  const usable = cluster.pools.filter((pool) => {
    const ref = pool.spec.template.spec.nodeClassRef;
    const ready = (pool.status?.conditions ?? []).some((c) => c.type === 'Ready' && c.status === 'True');
    const served = cluster.nodeClasses.has(`${ref.kind}.${ref.group}`);
    return served && ready && pool.spec.replicas === undefined && pool.metadata.deletionTimestamp === undefined;
  });
  return usable.sort(
    (a, b) => (b.spec.weight ?? 0) - (a.spec.weight ?? 0) || (a.metadata.name < b.metadata.name ? 1 : -1),
  );
}

/** Before pre-filtering: every type the provider names for the pool. */
export function templateOf(pool: NodePool, cluster: Cluster): Template | undefined {
  const entry = cluster.catalogues.find((catalogue) => catalogue.nodePool === pool.metadata.name);
  const items = entry?.items ?? [];
  if (entry === undefined || entry.error !== undefined || items.length === 0) return undefined;
  const { template } = pool.spec;
  const ref = template.spec.nodeClassRef;
  const labels = { ...template.metadata?.labels, [`${ref.group}/${ref.kind.toLowerCase()}`]: ref.name };
  const fixed: Requirements = new Map([
    [label.nodePool, oneOf(label.nodePool, [pool.metadata.name])],
    [label.registered, oneOf(label.registered, ['true'])],
    [label.initialized, oneOf(label.initialized, ['true'])],
  ]);
  return {
    pool,
    name: pool.metadata.name,
    requirements: both(
      requirements(template.spec.requirements, cluster.spelling),
      fromLabels(labels, cluster.spelling),
      fixed,
    ),
    taints: template.spec.taints ?? [],
    types: items.map((item) => readInstanceType(item, cluster)),
  };
}

/** Keys whose minValues the types cannot meet, with the count they do reach. */
export function missedMinValues(types: readonly InstanceType[], wanted: Requirements): Map<string, number> {
  const missed = new Map<string, number>();
  if (types.length === 0) return missed;
  for (const [key, r] of wanted) {
    if (r.minValues === undefined) continue;
    const values = new Set(
      types.flatMap((type) => [...(type.requirements.get(key)?.values ?? [])]).filter((value) => has(r, value)),
    );
    if (values.size < r.minValues) missed.set(key, values.size);
  }
  return missed;
}

/** Nothing is launched from a full reservation. */
export const isLaunchable = (offering: Offering): boolean =>
  offering.capacityType !== 'reserved' || offering.reservationCapacity > 0;

export function cheapestPrice(type: InstanceType, wanted: Requirements, cluster: Cluster): number {
  const launchable = usableOfferings(type, wanted, cluster).filter(isLaunchable);
  return Math.min(...launchable.map((offering) => offering.price));
}
