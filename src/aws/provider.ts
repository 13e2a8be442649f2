// The parts of the aws provider put together: one place that says who is given what. Everything that asks AWS gets its
// client from here; what several parts must agree on (sold-out pools, counts of reservations, addresses of subnets) exists
// once.
import { randomUUID } from 'node:crypto';
import type { EC2NodeClass, NodeClaim } from '../api/index.ts';
import type { Clock } from '../base/index.ts';
import type { Log, Metrics, Recorder } from '../ports/index.ts';
import { bootPartsOf, type NodeFacts } from './boot-parts.ts';
import { CapacityReservations } from './capacity-reservations/capacity-reservations.ts';
import { ReservationCounts } from './capacity-reservations/reservation-counts.ts';
import type { AwsClients } from './clients/clients.ts';
import { AwsCloud } from './cloud.ts';
import { eksCluster } from './discovery/cluster.ts';
import { cannotTell, driftReason } from './drift/drift.ts';
import { FleetLauncher } from './fleet/fleet-launcher.ts';
import { Images } from './images/images.ts';
import { Parameters } from './images/parameters.ts';
import { InstanceProfiles } from './instance-profiles/instance-profiles.ts';
import { builtInTables } from './instance-types/built-in-tables.ts';
import { InstanceTypes } from './instance-types/live-instance-types.ts';
import { Instances } from './instances/instances.ts';
import { instanceIdOf } from './instances/provider-id.ts';
import { Joining } from './joining/why-not-joined.ts';
import { LaunchChecks } from './launch-checks/launch-checks.ts';
import { LaunchTemplates } from './launch-templates/launch-templates.ts';
import { PlacementGroups } from './placement-groups/placement-groups.ts';
import { Pricing } from './pricing/pricing.ts';
import { SecurityGroups } from './security-groups/security-groups.ts';
import { SubnetAddresses } from './subnets/subnet-addresses.ts';
import { Subnets } from './subnets/subnets.ts';
import { UnavailableOfferings } from './unavailable-offerings/unavailable-offerings.ts';
import type { ZonalShifts } from './zonal-shifts.ts';

export interface AwsProviderSettings {
  clusterName: string;
  isolatedVpc: boolean;
  vmMemoryOverheadPercent: number;
  reservedEnis: number;
  amiRefreshIntervalMs: number;
  subnetRefreshIntervalMs: number;
  securityGroupRefreshIntervalMs: number;
  minValuesPolicy: 'Strict' | 'BestEffort';
  /** Feature gate. */
  reservedCapacity: boolean;
  /** Gate NodeClassCEL. */
  kubeletExpressions?: boolean;
  /** Gates DRANVIDIAGPU and DRAEFA. */
  devices?: { nvidia: boolean; efa: boolean };
  /** Gate RebootForRepair. */
  reboots?: boolean;
}

export interface AwsProviderOptions {
  clients: AwsClients;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  recorder: Recorder;
  settings: AwsProviderSettings;
  cluster: NodeFacts;
  shifts: ZonalShifts;
  /** `1.34`. */
  kubernetesVersion(): string;
  /** From a cache: asked for at every call. */
  nodeClassOf(name: string): EC2NodeClass | undefined;
  pricedByOverlay(): ReadonlySet<string>;
  /** ConfigMap kube-system/aws-auth: undefined when there is none; throws when it may not be read. */
  awsAuth?: () => Promise<object | undefined>;
}

export type AwsProvider = Awaited<ReturnType<typeof createAwsProvider>>;

export async function createAwsProvider(options: AwsProviderOptions) {
  const { clients, clock, log, metrics, recorder, settings, cluster, shifts } = options;
  const { ec2, region } = clients;
  const { clusterName, reservedCapacity } = settings;
  const tables = await builtInTables();
  // Types are known later than the memory of what failed.
  const unavailable = new UnavailableOfferings(clock, () => types.names());
  const counts = new ReservationCounts(clock);
  const placementGroups = new PlacementGroups({ ec2, clock });
  const addresses = new SubnetAddresses(clock, settings.subnetRefreshIntervalMs);
  const pricing = new Pricing({
    ec2,
    pricing: clients.pricing,
    clock,
    log,
    region,
    isolatedVpc: settings.isolatedVpc,
    tables,
  });
  const isShifted = (zoneId: string): boolean => shifts.isShifted(zoneId);
  const placementGroupOf = (nodeClass: EC2NodeClass) => placementGroups.known(nodeClass);
  const types = new InstanceTypes({
    ec2,
    clock,
    log,
    metrics,
    region,
    vmMemoryOverhead: settings.vmMemoryOverheadPercent,
    reservedEnis: settings.reservedEnis,
    reservedCapacity,
    kubeletExpressions: settings.kubeletExpressions === true,
    ...(settings.devices === undefined ? {} : { devices: settings.devices }),
    tables,
    prices: pricing,
    unavailable,
    availableInReservation: (id) => counts.available(id),
    placementGroupOf,
    isShifted,
    pricedByOverlay: options.pricedByOverlay,
  });
  const zoneIdOf = (zone: string): string | undefined => types.zoneIdOf(zone);
  const instances = new Instances({ ec2, clock, metrics, clusterName, reservedCapacity, isShifted, zoneIdOf });
  const templates = new LaunchTemplates({ ec2, clock, log, metrics, clusterName });
  const parts = bootPartsOf({ region, clusterName, reservedCapacity, cluster, log });
  const launcher = new FleetLauncher({
    ec2,
    clock,
    log,
    metrics,
    recorder,
    parts,
    templates,
    subnets: addresses,
    minValuesPolicy: settings.minValuesPolicy,
    placementGroupOf,
    unavailable,
    zoneIdOf,
    markFull: (id) => addresses.markFull(id),
    exhausted: (id) => counts.exhausted(id),
  });
  const profiles = new InstanceProfiles({ iam: clients.iam, clock, region, clusterName, unique: randomUUID });
  const joining = new Joining({
    clients,
    eks: eksCluster(clients.eks, clusterName),
    profiles,
    clock,
    clusterName,
    ...(options.awsAuth === undefined ? {} : { awsAuth: options.awsAuth }),
  });
  const cloud = new AwsCloud({
    types,
    instances,
    launcher,
    recorder,
    caBundle: cluster.caBundle ?? '',
    nodeClassOf: options.nodeClassOf,
    reservations: counts,
    placementGroupOf,
    isPlacementGroupUnknown: (nodeClass) => !placementGroups.isLookedUp(nodeClass),
    whyNotJoined: (claim, nodeClass) => joining.why(claim, nodeClass),
    unavailable,
    reboots: settings.reboots === true,
    driftOf: (claim, nodeClass) => driftOf(claim, nodeClass, { types, instances, placementGroups }),
  });
  return {
    cloud,
    types,
    instances,
    templates,
    launchChecks: new LaunchChecks({ ec2, clusterName, templates, parts, placementGroupOf }),
    parts,
    pricing,
    unavailable,
    counts,
    placementGroups,
    addresses,
    subnets: new Subnets({ ec2, clock, refreshMs: settings.subnetRefreshIntervalMs, addresses }),
    securityGroups: new SecurityGroups({ ec2, clock, refreshMs: settings.securityGroupRefreshIntervalMs }),
    profiles,
    reservations: new CapacityReservations({ ec2, clock, log, counts }),
    images: new Images({
      ec2,
      clock,
      parameters: new Parameters({ ssm: clients.ssm, clock }),
      kubernetesVersion: async () => options.kubernetesVersion(),
      refreshMs: settings.amiRefreshIntervalMs,
    }),
  };
}

async function driftOf(
  claim: NodeClaim,
  nodeClass: EC2NodeClass,
  parts: { types: InstanceTypes; instances: Instances; placementGroups: PlacementGroups },
): Promise<string | undefined> {
  const { types, instances, placementGroups } = parts;
  const listed = await types.listInSlices(nodeClass);
  return driftReason({
    claim,
    nodeClass,
    instanceType: (name) => listed.find((type) => type.name === name),
    async instance({ fresh }) {
      const id = instanceIdOf(claim.status?.providerID ?? '');
      if (id === undefined) throw cannotTell(claim, 'its provider id names no instance');
      const instance = await instances.get(id, { isFresh: fresh });
      return { ...instance, capacityReservationId: instance.reservation?.id };
    },
    placementGroupId: placementGroups.known(nodeClass)?.id,
    isPlacementGroupUnknown: !placementGroups.isLookedUp(nodeClass),
  });
}
