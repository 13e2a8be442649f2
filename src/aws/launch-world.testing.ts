// The AWS provider over a scripted EC2, in virtual time: everything of a launch but the network.
import type {
  CreateFleetCommandInput,
  CreateFleetError,
  CreateLaunchTemplateCommandInput,
  FleetLaunchTemplateOverridesRequest,
} from '@aws-sdk/client-ec2';
import { type EC2NodeClass, label, type NodeClaim } from '../api/index.ts';
import { recordedEvents, recordedLog } from '../controllers/testing/records.testing.ts';
import type { RequirementSpec } from '../core/index.ts';
import { bootPartsOf } from './boot-parts.ts';
import { ReservationCounts } from './capacity-reservations/reservation-counts.ts';
import { AwsCloud } from './cloud.ts';
import { FleetLauncher, type LauncherOptions } from './fleet/fleet-launcher.ts';
import { type LiveWorld, liveWorld, readyClass } from './instance-types/live-types.testing.ts';
import { Instances } from './instances/instances.ts';
import { templateAnswers } from './launch-templates/launch-template.testing.ts';
import { LaunchTemplates } from './launch-templates/launch-templates.ts';
import { SubnetAddresses } from './subnets/subnet-addresses.ts';

export type Override = FleetLaunchTemplateOverridesRequest;

export interface LaunchWorld extends LiveWorld {
  cloud: AwsCloud;
  templates: LaunchTemplates;
  instances: Instances;
  reservations: ReservationCounts;
  addresses: SubnetAddresses;
  events: ReturnType<typeof recordedEvents>;
  nodeClasses: Map<string, EC2NodeClass>;
  /** Pools that answer with an error instead of an instance: by `capacity type:type:zone`, `*` for any part. */
  refusals: Map<string, { code: string; message?: string }>;
  fleets(): CreateFleetCommandInput[];
  templateInputs(): CreateLaunchTemplateCommandInput[];
  /** Every override of the last fleet. */
  overrides(): Override[];
  /** Runs the clock until the call is through. */
  after<T>(call: Promise<T>): Promise<T>;
  create(change?: ClaimChange): ReturnType<AwsCloud['create']>;
}

export interface ClaimChange {
  name?: string;
  nodeClass?: string;
  requirements?: RequirementSpec[];
  requests?: Record<string, string>;
  annotations?: Record<string, string>;
}

export const among = (key: string, ...values: string[]): RequirementSpec => ({ key, operator: 'In', values });

export function claimFor(change: ClaimChange = {}): NodeClaim {
  return {
    metadata: {
      name: change.name ?? 'claim-1',
      uid: 'uid-1',
      labels: { [label.nodePool]: 'default' },
      annotations: change.annotations ?? {},
    },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: change.nodeClass ?? 'default' },
      requirements: change.requirements ?? [],
      resources: { requests: change.requests ?? {} },
    },
  };
}

export async function launchWorld(
  given: Partial<Pick<LauncherOptions, 'minValuesPolicy'>> & { reservedCapacity?: boolean; isRefreshed?: boolean } = {},
): Promise<LaunchWorld> {
  const reservations: { counts?: ReservationCounts } = {};
  const { reservedCapacity = true } = given;
  const live = await liveWorld(
    { reservedCapacity, availableInReservation: (id) => reservations.counts?.available(id) ?? 0 },
    { isRefreshed: given.isRefreshed ?? true },
  );
  const { clock, ec2, metrics, unavailable, types, said } = live;
  const counts = (reservations.counts = new ReservationCounts(clock));
  const log = recordedLog();
  const events = recordedEvents();
  const addresses = new SubnetAddresses(clock, 60_000);
  addresses.observe(['subnet-1', 'subnet-2', 'subnet-3'].map((id) => ({ id, freeAddresses: 100 })));
  const clusterName = 'demo';
  const zoneIdOf = (zone: string): string | undefined => types.zoneIdOf(zone);
  const isShifted = (zoneId: string): boolean => said.shifted.has(zoneId);
  const instances = new Instances({
    ec2: ec2.client,
    clock,
    metrics,
    clusterName,
    reservedCapacity,
    isShifted,
    zoneIdOf,
  });
  const templates = new LaunchTemplates({ ec2: ec2.client, clock, log, metrics, clusterName });
  const placementGroupOf = (): LiveWorld['said']['group'] => said.group;
  const launcher = new FleetLauncher({
    ec2: ec2.client,
    clock,
    log,
    metrics,
    recorder: events,
    unavailable,
    templates,
    subnets: addresses,
    zoneIdOf,
    markFull: (id) => addresses.markFull(id),
    exhausted: (id) => counts.exhausted(id),
    minValuesPolicy: given.minValuesPolicy ?? 'Strict',
    placementGroupOf,
    parts: bootPartsOf({
      region: 'us-east-1',
      clusterName,
      reservedCapacity,
      log,
      cluster: {
        name: clusterName,
        endpoint: 'https://demo',
        caBundle: 'Q0E=',
        ipFamily: 'ipv4',
        serviceCidr: '10.100.0.0/16',
        resolveServiceCidr: async () => {},
      },
    }),
  });
  const nodeClasses = new Map([['default', readyClass()]]);
  const cloud = new AwsCloud({
    types,
    instances,
    launcher,
    recorder: events,
    caBundle: 'Q0E=',
    nodeClassOf: (name) => nodeClasses.get(name),
    reservations: counts,
    placementGroupOf,
    isPlacementGroupUnknown: () => said.isGroupUnknown,
    driftOf: async () => undefined,
    whyNotJoined: async () => undefined,
  });
  const refusals: LaunchWorld['refusals'] = new Map();
  scriptEc2(live, refusals);
  const after = async <T>(call: Promise<T>): Promise<T> => {
    call.catch(() => {});
    await clock.runFor(3_000);
    return call;
  };
  const fleets = (): CreateFleetCommandInput[] => ec2.inputs<CreateFleetCommandInput>('CreateFleet');
  return {
    ...live,
    cloud,
    templates,
    instances,
    reservations: counts,
    addresses,
    events,
    nodeClasses,
    refusals,
    fleets,
    templateInputs: () => ec2.inputs<CreateLaunchTemplateCommandInput>('CreateLaunchTemplate'),
    overrides: () =>
      fleets()
        .at(-1)
        ?.LaunchTemplateConfigs?.flatMap(({ Overrides = [] }) => Overrides) ?? [],
    after,
    create: (change) => after(cloud.create(claimFor(change))),
  };
}

/** Templates that exist until they are deleted, and fleets served from the first pool that is not refused. */
function scriptEc2({ ec2 }: LiveWorld, refusals: LaunchWorld['refusals']): void {
  let serial = 0;
  Object.assign(ec2.answers, {
    ...templateAnswers(new Set()),
    CreateFleet: (input: CreateFleetCommandInput) => {
      const { TotalTargetCapacity: count = 1, DefaultTargetCapacityType: type = '' } =
        input.TargetCapacitySpecification ?? {};
      const Errors: CreateFleetError[] = [];
      for (const { LaunchTemplateSpecification, Overrides: pools = [] } of input.LaunchTemplateConfigs ?? []) {
        for (const Overrides of pools) {
          const LaunchTemplateAndOverrides = { LaunchTemplateSpecification, Overrides };
          const { InstanceType = '', AvailabilityZone = '' } = Overrides;
          const refused = refusalOf(refusals, [type, InstanceType, AvailabilityZone]);
          if (refused === undefined) {
            const InstanceIds = Array.from({ length: count }, () => `i-${(serial += 1)}`);
            return { Instances: [{ InstanceIds, InstanceType, LaunchTemplateAndOverrides }], Errors };
          }
          Errors.push({ ErrorCode: refused.code, ErrorMessage: refused.message ?? '', LaunchTemplateAndOverrides });
        }
      }
      return { Instances: [], Errors };
    },
  });
}

function refusalOf(refusals: LaunchWorld['refusals'], parts: string[]): { code: string; message?: string } | undefined {
  for (const [pool, refused] of refusals) {
    if (pool.split(':').every((part, index) => part === '*' || part === parts[index])) return refused;
  }
  return undefined;
}
