// The controllers of machines and of what the provider knows about EC2, built from its parts.
import type { EC2NodeClass, NodePool } from '../api/index.ts';
import {
  type AwsClients,
  type AwsProvider,
  ec2NodeClasses,
  FollowedZonalShifts,
  type KubernetesVersion,
  type ZonalShifts,
} from '../aws/index.ts';
import { type Controller, type ControllerContext, claimMetrics } from '../controllers/index.ts';
import { capacityTypeController } from './capacity-reservations/capacity-type.ts';
import { reservationExpirationController } from './capacity-reservations/expiration.ts';
import { instanceGarbageCollectionController } from './garbage-collection/controller.ts';
import { instanceStatusController } from './instance-status/controller.ts';
import { discoveredMemoryController } from './instance-types/discovered-memory.ts';
import { instanceTypesController } from './instance-types/refresh.ts';
import { interruptionController } from './interruption/controller.ts';
import { missingQueueController } from './interruption/missing-queue.ts';
import { type LostCapacity, Reaction } from './interruption/reaction.ts';
import { offeringMetricsController } from './offering-metrics/controller.ts';
import { pricingController } from './pricing.ts';
import { taggingController } from './tagging/controller.ts';
import { versionController } from './version.ts';
import { type ZoneOfClass, zonalShiftController } from './zonal-shift/controller.ts';

export interface AwsControllerSettings {
  clusterName: string;
  interruptionQueue: string;
  spotRebalancePolicy: 'Notify' | 'Replace';
  instanceStatusDryRun: boolean;
}

export interface AwsControllerParts {
  clients: AwsClients;
  provider: AwsProvider;
  settings: AwsControllerSettings;
  version: KubernetesVersion;
  shifts: ZonalShifts;
}

/** What is remembered about capacity that EC2 took back. */
export function lostCapacityOf({ unavailable, counts }: Pick<AwsProvider, 'unavailable' | 'counts'>): LostCapacity {
  return {
    offering: (instanceType, zone, capacityType) => unavailable.markPool({ instanceType, zone, capacityType }),
    reservation: (id) => counts.exhausted(id),
  };
}

export function machineControllersOf(context: ControllerContext, parts: AwsControllerParts): Controller[] {
  const { clients, provider, settings, version, shifts } = parts;
  const { instances } = provider;
  const metrics = claimMetrics(context.metrics);
  const classes = context.cacheOf(ec2NodeClasses);
  const reaction = new Reaction(context, metrics, lostCapacityOf(provider), {
    replacesOnRebalance: settings.spotRebalancePolicy === 'Replace',
  });
  const tags = {
    read: async (id: string) => (await instances.get(id)).tags,
    add: (id: string, more: Readonly<Record<string, string>>) => instances.createTags(id, more),
  };
  return [
    versionController(version),
    pricingController(provider.pricing),
    instanceTypesController(provider.types),
    discoveredMemoryController(context, {
      nodeClassOf: (name) => classes.get(name),
      types: provider.types,
      imageFor: (nodeClass, type) => provider.parts.imageFor(nodeClass, type),
    }),
    offeringMetricsController(context, (pool) => provider.cloud.instanceTypes(pool)),
    instanceGarbageCollectionController(context),
    taggingController(context, { tags, clusterName: settings.clusterName }),
    instanceStatusController(context, { ec2: clients.ec2, reaction, dryRun: settings.instanceStatusDryRun }),
    ...(settings.interruptionQueue === ''
      ? [missingQueueController(context)]
      : [interruptionController(context, { sqs: clients.sqs, queueName: settings.interruptionQueue, reaction })]),
    ...(context.settings.featureGates['ReservedCapacity'] === true
      ? [
          capacityTypeController(context),
          reservationExpirationController(context, metrics, {
            expiring: () => expiringReservations(classes.values()),
            endsOf: (ids, signal) => provider.reservations.blockEnds(ids, signal),
          }),
        ]
      : []),
    ...(shifts instanceof FollowedZonalShifts
      ? [zonalShiftController(context, { shifts, zonesOf: (pool) => zonesOf(pool, (name) => classes.get(name)) })]
      : []),
  ];
}

function expiringReservations(classes: Iterable<EC2NodeClass>): Set<string> {
  const ids = new Set<string>();
  for (const { status } of classes)
    for (const { id, state } of status?.capacityReservations ?? []) if (state === 'expiring') ids.add(id);
  return ids;
}

function zonesOf(pool: NodePool, classNamed: (name: string) => EC2NodeClass | undefined): ZoneOfClass[] {
  const nodeClass = classNamed(pool.spec.template.spec.nodeClassRef.name);
  return (nodeClass?.status?.subnets ?? []).flatMap(({ zone, zoneID }) =>
    zoneID === undefined ? [] : [{ zone, zoneId: zoneID }],
  );
}
