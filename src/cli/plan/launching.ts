// NodeClaims that are listed as machines and not launched yet. The controller made them for pods that wait, so planning
// counts on them: as the cheapest machine each may become, which is what the provider is asked for first.
import { label } from '../../api/names.ts';
import {
  allocatableOf,
  type FailedOffering,
  type InstanceTypeSpec,
  launchOptions,
  type ProviderFacts,
  type RequirementSpec,
  type Snapshot,
  type SnapshotObject,
} from '../../core/index.ts';

interface ClaimShape {
  spec?: { requirements?: RequirementSpec[] };
  status?: { providerID?: string; capacity?: unknown };
}

/** The snapshot with what such claims are expected to become in their status and labels. */
export function withLaunchingClaims(snapshot: Snapshot, facts: ProviderFacts): Snapshot {
  const listed = new Set(snapshot.nodeState?.flatMap(({ node, nodeClaim }) => (node === undefined ? [nodeClaim] : [])));
  const offered = new Map(snapshot.instanceTypes?.map(({ nodePool, items = [] }) => [nodePool, items]));
  const failed = new Set(snapshot.failedOfferings?.map(keyOf));
  let changed = false;
  const items = snapshot.objects.items.map((object) => {
    if (object.kind !== 'NodeClaim' || !listed.has(object.metadata.name) || !isLaunching(object)) return object;
    const labels = (object.metadata['labels'] ?? {}) as Record<string, string>;
    const launched = asLaunched(object, offered.get(labels[label.nodePool] ?? '') ?? [], facts, failed);
    if (launched === undefined) return object;
    changed = true;
    return launched;
  });
  return changed ? { ...snapshot, objects: { ...snapshot.objects, items } } : snapshot;
}

export function isLaunching(claim: SnapshotObject): boolean {
  const { status } = claim as ClaimShape;
  return !status?.providerID && status?.capacity === undefined && claim.metadata['deletionTimestamp'] === undefined;
}

function asLaunched(
  claim: SnapshotObject,
  offered: readonly InstanceTypeSpec[],
  facts: ProviderFacts,
  failed: ReadonlySet<string>,
): SnapshotObject | undefined {
  const requirements = (claim as ClaimShape).spec?.requirements ?? [];
  const valueOf = (from: readonly RequirementSpec[], key: string): string =>
    from.find((requirement) => requirement.key === key)?.values?.[0] ?? '';
  const option = launchOptions([...offered], requirements, facts).find(({ instanceType, offering }) => {
    const [zone, capacityType] = [label.zone, label.capacityType].map((key) => valueOf(offering.requirements, key));
    return !failed.has(keyOf({ instanceType: instanceType.name, zone: zone ?? '', capacityType: capacityType ?? '' }));
  });
  if (option === undefined) return undefined;
  const { instanceType, offering } = option;
  const single = [...requirements, ...instanceType.requirements, ...offering.requirements].filter(
    ({ operator, values }) => operator === 'In' && values?.length === 1,
  );
  const labels = Object.fromEntries(single.map(({ key, values }) => [key, values?.[0] ?? '']));
  return {
    ...claim,
    metadata: { ...claim.metadata, labels: { ...labels, ...(claim.metadata['labels'] as object | undefined) } },
    status: {
      ...(claim['status'] as object | undefined),
      capacity: instanceType.capacity,
      allocatable: allocatableOf(instanceType),
    },
  };
}

function keyOf({ instanceType, zone, capacityType }: FailedOffering): string {
  return `${instanceType} ${zone} ${capacityType}`;
}
