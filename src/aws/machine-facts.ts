// What the rest of the process learns about a machine: labels, capacity and allocatable of its type, laid over with where
// and how this one runs.
import {
  awsAnnotation,
  awsLabel,
  awsTag,
  capacityType,
  type EC2NodeClass,
  ec2NodeClassHash,
  ec2NodeClassHashVersion,
  label,
} from '../api/index.ts';
import { formatTime } from '../base/index.ts';
import { allocatableOf, type InstanceTypeSpec, singleValuedLabels } from '../core/index.ts';
import type { Instance } from '../ports/index.ts';
import { awsProviderFacts } from './instance-types/provider-facts.ts';
import { type Ec2Instance, isGoing } from './instances/ec2-instance.ts';
import { providerIdOf } from './instances/provider-id.ts';
import { efaResource } from './launch-templates/launch-plan.ts';

interface TypeFacts {
  labels: Record<string, string>;
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
}

/** A type's own share, worked out once per type: lists of machines have thousands. */
const factsOfTypes = new WeakMap<InstanceTypeSpec, TypeFacts>();

/** Labels that say which reservation a machine uses; a type may know several. */
const reservationLabels: readonly string[] = [
  awsLabel.capacityReservationId,
  awsLabel.capacityReservationType,
  awsLabel.capacityReservationInterruptible,
];

/** Without a type (its class is gone) only what EC2 itself says is known. */
export function machineFacts(instance: Ec2Instance, type: InstanceTypeSpec | undefined): Instance {
  const { labels, capacity, allocatable } = type === undefined ? unknownType : factsOf(type);
  const nodeClaim = instance.tags[awsTag.nodeClaim];
  return {
    providerID: providerIdOf(instance),
    imageID: instance.imageId,
    labels: { ...labels, ...labelsOf(instance) },
    annotations: {},
    capacity: withRealEfa(capacity, instance),
    allocatable: withRealEfa(allocatable, instance),
    ...(instance.launchedMs === undefined ? {} : { createdAt: formatTime(instance.launchedMs) }),
    isDeleting: isGoing(instance),
    ...(nodeClaim === undefined ? {} : { nodeClaim }),
  };
}

/**
 * What a claim remembers of the class it was launched with. The hash is that of the spec in hand: the one the class is
 * annotated with may still be of an older spec, and the node would drift as soon as it is brought up to date. It is worked
 * out once per class, as bursts launch thousands with one.
 */
export function launchAnnotations(caBundle: string): (nodeClass: EC2NodeClass) => Record<string, string> {
  const hashes = new WeakMap<EC2NodeClass, string>();
  return (nodeClass) => {
    let hash = hashes.get(nodeClass);
    if (hash === undefined) hashes.set(nodeClass, (hash = ec2NodeClassHash(nodeClass.spec, caBundle)));
    return {
      [awsAnnotation.nodeClassHash]: hash,
      [awsAnnotation.nodeClassHashVersion]: ec2NodeClassHashVersion,
      [awsAnnotation.instanceProfileName]: nodeClass.status?.instanceProfile ?? '',
    };
  };
}

const unknownType: TypeFacts = { labels: {}, capacity: {}, allocatable: {} };

function factsOf(type: InstanceTypeSpec): TypeFacts {
  let facts = factsOfTypes.get(type);
  if (facts === undefined) {
    const labels = singleValuedLabels(type.requirements, awsProviderFacts);
    for (const key of reservationLabels) delete labels[key];
    const capacity = Object.entries(type.capacity).map(([name, amount]) => [name, String(amount)] as const);
    const present = capacity.filter(([, amount]) => amount !== '0');
    facts = { labels, capacity: Object.fromEntries(present), allocatable: allocatableOf(type) };
    factsOfTypes.set(type, facts);
  }
  return facts;
}

function labelsOf(instance: Ec2Instance): Record<string, string> {
  const { zone, zoneId, tags, reservation, placementGroupId, partition } = instance;
  const nodePool = tags[label.nodePool];
  return {
    [label.instanceType]: instance.instanceType,
    [label.zone]: zone,
    ...(zoneId === undefined ? {} : { [awsLabel.zoneId]: zoneId }),
    [label.capacityType]: instance.capacityType,
    [awsLabel.instanceTenancy]: instance.tenancy,
    ...(nodePool === undefined ? {} : { [label.nodePool]: nodePool }),
    ...(reservation === undefined || instance.capacityType !== capacityType.reserved
      ? {}
      : {
          [awsLabel.capacityReservationId]: reservation.id,
          [awsLabel.capacityReservationType]: reservation.type,
          [awsLabel.capacityReservationInterruptible]: String(reservation.interruptible),
        }),
    ...(placementGroupId === undefined ? {} : { [awsLabel.placementGroupId]: placementGroupId }),
    ...(partition === undefined ? {} : { [awsLabel.placementGroupPartition]: partition }),
  };
}

/** A type can carry EFA interfaces; this machine may have none. */
function withRealEfa(resources: Record<string, string>, { efaCount }: Ec2Instance): Record<string, string> {
  if (efaCount > 0 || !(efaResource in resources)) return { ...resources };
  const { [efaResource]: _, ...rest } = resources;
  return rest;
}
