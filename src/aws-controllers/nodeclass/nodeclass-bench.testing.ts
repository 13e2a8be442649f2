// The controllers' bench for EC2NodeClasses: the embedded cluster with the AWS provider's own discovery on a small AWS in
// memory, whose content and errors tests change as they like.

import {
  type CapacityReservation,
  type CreateLaunchTemplateCommandInput,
  type DescribeImagesCommandInput,
  type DescribeLaunchTemplatesCommandInput,
  type Image,
  type PlacementGroup,
  type RunInstancesCommandInput,
  type SecurityGroup,
  type Subnet,
} from '@aws-sdk/client-ec2';
import type { Condition, EC2NodeClass, NodeClaim } from '../../api/index.ts';
import { bootPartsOf, type NodeFacts } from '../../aws/boot-parts.ts';
import { CapacityReservations } from '../../aws/capacity-reservations/capacity-reservations.ts';
import { ReservationCounts } from '../../aws/capacity-reservations/reservation-counts.ts';
import { ec2NodeClasses } from '../../aws/ec2-node-classes.ts';
import { awsRefusal, fakeEc2, fakeSsm } from '../../aws/fake-client.testing.ts';
import { Images } from '../../aws/images/images.ts';
import { Parameters } from '../../aws/images/parameters.ts';
import { InstanceProfiles } from '../../aws/instance-profiles/instance-profiles.ts';
import { memoryIam } from '../../aws/instance-profiles/memory-iam.testing.ts';
import { type } from '../../aws/instance-types/instance-types.testing.ts';
import type { NodeClassShape } from '../../aws/instance-types/node-class.ts';
import { LaunchChecks } from '../../aws/launch-checks/launch-checks.ts';
import { LaunchTemplates } from '../../aws/launch-templates/launch-templates.ts';
import { PlacementGroups } from '../../aws/placement-groups/placement-groups.ts';
import { SecurityGroups } from '../../aws/security-groups/security-groups.ts';
import { SubnetAddresses } from '../../aws/subnets/subnet-addresses.ts';
import { Subnets } from '../../aws/subnets/subnets.ts';
import { conditionOf } from '../../base/index.ts';
import { nodeClaims } from '../../controllers/index.ts';
import { type DeepPartial, openBench } from '../../controllers/testing/bench.testing.ts';
import { ScriptedCloud } from '../../controllers/testing/scripted-cloud.testing.ts';
import type { Cloud } from '../../ports/index.ts';
import { type NodeClassServices, nodeClassControllersOf } from '../index.ts';

export const minuteMs = 60_000;

const region = 'us-east-1';
const clusterName = 'my-cluster';
const typeNames = ['m5.large', 'm6g.large', 'c6g.large', 'g4dn.8xlarge', 'a1.large', 'p5.48xlarge'];

export interface AwsWorld {
  subnets: Subnet[];
  securityGroups: SecurityGroup[];
  images: Image[];
  reservations: CapacityReservation[];
  placementGroups: PlacementGroup[];
  parameters: Record<string, string>;
  version: string;
  /** Launch templates: the class of each, by name. */
  templates: Map<string, string>;
  /** What an action is refused with. */
  errors: Record<string, Error | undefined>;
  /** Subnets in which a dry run of RunInstances is refused, and with what. */
  subnetErrors: Record<string, Error>;
  /** Finding the addresses of services fails with this. */
  cidrError?: Error;
  cidrCalls: number;
}

export interface NodeClassBenchOptions {
  gates?: Record<string, boolean>;
  isolatedVpc?: boolean;
  disableDryRun?: boolean;
  world?: Partial<AwsWorld>;
  services?: Partial<NodeClassServices>;
  validation?: Partial<NodeClassServices['validation']>;
}

export type NodeClassBench = Awaited<ReturnType<typeof openNodeClasses>>;

const subnet = (id: string, zone: string, free: number): Subnet => ({
  SubnetId: id,
  AvailabilityZone: `us-east-1${zone}`,
  AvailabilityZoneId: `use1-az-${zone}`,
  AvailableIpAddressCount: free,
});

export const al2023Parameters: Record<string, string> = Object.fromEntries(
  ['x86_64/standard', 'arm64/standard', 'x86_64/nvidia', 'arm64/nvidia', 'x86_64/neuron'].map((place) => [
    `/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/${place}/recommended/image_id`,
    `ami-${place.replace('/', '-')}`,
  ]),
);

export function smallWorld(): AwsWorld {
  return {
    subnets: [subnet('subnet-1', 'a', 20), subnet('subnet-2', 'b', 100), subnet('subnet-3', 'c', 50)],
    securityGroups: [
      { GroupId: 'sg-2', GroupName: 'two' },
      { GroupId: 'sg-1', GroupName: 'one' },
    ],
    images: Object.values(al2023Parameters).map((id) => ({
      ImageId: id,
      Name: `name-of-${id}`,
      Architecture: id.includes('arm64') ? 'arm64' : 'x86_64',
      CreationDate: '2026-01-01T00:00:00.000Z',
      State: 'available',
    })),
    reservations: [],
    placementGroups: [],
    parameters: { ...al2023Parameters },
    version: '1.34',
    templates: new Map(),
    errors: {},
    subnetErrors: {},
    cidrCalls: 0,
  };
}

export async function openNodeClasses(options: NodeClassBenchOptions = {}) {
  const world: AwsWorld = { ...smallWorld(), ...options.world };
  const answering = (action: string, answer: (input: never) => unknown) => (input: never) => {
    const error = world.errors[action];
    if (error !== undefined) throw error;
    return answer(input);
  };
  const ec2 = fakeEc2({
    DescribeSubnets: answering('DescribeSubnets', () => ({ Subnets: world.subnets })),
    DescribeSecurityGroups: answering('DescribeSecurityGroups', () => ({ SecurityGroups: world.securityGroups })),
    DescribeCapacityReservations: answering('DescribeCapacityReservations', () => ({
      CapacityReservations: world.reservations,
    })),
    DescribePlacementGroups: answering('DescribePlacementGroups', () => ({ PlacementGroups: world.placementGroups })),
    DescribeImages: answering('DescribeImages', ({ Filters = [] }: DescribeImagesCommandInput) => {
      const ids = Filters.find(({ Name }) => Name === 'image-id')?.Values;
      return { Images: world.images.filter(({ ImageId = '' }) => ids === undefined || ids.includes(ImageId)) };
    }),
    DescribeLaunchTemplates: ({ LaunchTemplateNames: names, Filters = [] }: DescribeLaunchTemplatesCommandInput) => {
      const ofClass = Filters.find(({ Name }) => Name === 'tag:karpenter.k8s.aws/ec2nodeclass')?.Values?.[0];
      const found = [...world.templates].filter(([name, owner]) => names?.includes(name) ?? owner === ofClass);
      return { LaunchTemplates: found.map(([LaunchTemplateName]) => ({ LaunchTemplateName })) };
    },
    CreateLaunchTemplate: answering('CreateLaunchTemplate', (input: CreateLaunchTemplateCommandInput) => {
      const owner = input.TagSpecifications?.[0]?.Tags?.find(({ Key }) => Key === 'karpenter.k8s.aws/ec2nodeclass');
      world.templates.set(input.LaunchTemplateName ?? '', owner?.Value ?? '');
      return {};
    }),
    DeleteLaunchTemplate: answering(
      'DeleteLaunchTemplate',
      ({ LaunchTemplateName: name }: { LaunchTemplateName: string }) => {
        world.templates.delete(name);
        return {};
      },
    ),
    CreateFleet: answering('CreateFleet', () => {
      throw awsRefusal('DryRunOperation', 'would have worked', 412);
    }),
    RunInstances: answering('RunInstances', ({ NetworkInterfaces: [first] = [] }: RunInstancesCommandInput) => {
      throw world.subnetErrors[first?.SubnetId ?? ''] ?? awsRefusal('DryRunOperation', 'would have worked', 412);
    }),
  });
  const ssm = fakeSsm({
    GetParameter: answering('GetParameter', ({ Name }: { Name: string }) => {
      const value = world.parameters[Name];
      if (value === undefined) throw awsRefusal('ParameterNotFound');
      return { Parameter: { Value: value } };
    }),
  });
  const iam = memoryIam();
  const cluster: NodeFacts = {
    name: clusterName,
    endpoint: 'https://my-cluster',
    ipFamily: 'ipv4',
    async resolveServiceCidr() {
      world.cidrCalls += 1;
      if (world.cidrError !== undefined) throw world.cidrError;
      cluster.serviceCidr = '10.100.0.0/16';
    },
  };
  let services: NodeClassServices | undefined;
  const cloud = Object.assign(new ScriptedCloud(), { nodeClasses: [ec2NodeClasses] }) as unknown as Cloud;
  const bench = await openBench({
    cloud: () => cloud,
    settings: { featureGates: { ReservedCapacity: true, ...options.gates } },
    controllers: (context) => {
      const { clock, log, metrics } = context;
      const placementGroups = new PlacementGroups({ ec2: ec2.client, clock });
      const launchTemplates = new LaunchTemplates({ ec2: ec2.client, clock, log, metrics, clusterName });
      const parameters = new Parameters({ ssm: ssm.client, clock });
      let serial = 0;
      const built: NodeClassServices = {
        images: new Images({
          ec2: ec2.client,
          clock,
          parameters,
          kubernetesVersion: async () => world.version,
          refreshMs: minuteMs,
        }),
        subnets: new Subnets({
          ec2: ec2.client,
          clock,
          refreshMs: minuteMs,
          addresses: new SubnetAddresses(clock, minuteMs),
        }),
        securityGroups: new SecurityGroups({ ec2: ec2.client, clock, refreshMs: 60_000 }),
        reservations: new CapacityReservations({ ec2: ec2.client, clock, log, counts: new ReservationCounts(clock) }),
        placementGroups,
        profiles: new InstanceProfiles({
          iam: iam.client,
          clock,
          region,
          clusterName,
          unique: () => String((serial += 1)),
        }),
        launchTemplates,
        validation: {
          checks: new LaunchChecks({
            ec2: ec2.client,
            clusterName,
            templates: launchTemplates,
            parts: bootPartsOf({ region, clusterName, reservedCapacity: true, cluster, log }),
            placementGroupOf: (nodeClass) => placementGroups.known(nodeClass),
          }),
          disableDryRun: options.disableDryRun ?? false,
          instanceTypes: async (nodeClass) => typeNames.map((name) => type(name, nodeClass as NodeClassShape)),
          async serviceCidr() {
            await cluster.resolveServiceCidr();
            return cluster.serviceCidr;
          },
          ...options.validation,
        },
        caBundle: 'ca',
        isolatedVpc: options.isolatedVpc ?? false,
        ...options.services,
      };
      services = built;
      return nodeClassControllersOf(context, built);
    },
  });
  const { apply, get, kube, run } = bench;
  const find = async (name = 'default'): Promise<EC2NodeClass> => {
    const found = await get(ec2NodeClasses, name);
    if (found === undefined) throw new Error(`there is no EC2NodeClass ${name}`);
    return found;
  };
  return {
    ...bench,
    world,
    ec2,
    iam,
    services: () => services as NodeClassServices,
    find,
    status: async (name = 'default') => (await find(name)).status ?? {},
    condition: async (type: string, name = 'default'): Promise<Condition | undefined> =>
      conditionOf((await find(name)).status?.conditions, type),
    isGone: async (name = 'default') => (await get(ec2NodeClasses, name)) === undefined,
    /** Makes or changes a class and lets the controllers see it. */
    async classOf(spec: DeepPartial<EC2NodeClass['spec']> = {}, name = 'default'): Promise<EC2NodeClass> {
      const isNew = (await get(ec2NodeClasses, name)) === undefined;
      await apply(ec2NodeClasses, { metadata: { name }, spec: isNew ? { ...defaultSpec, ...spec } : spec });
      await run(1_000);
      return find(name);
    },
    async claimOf(name: string, over: DeepPartial<NodeClaim> = {}, nodeClass = 'default'): Promise<NodeClaim> {
      await kube.create(nodeClaims, {
        ...over,
        metadata: { name, ...over.metadata },
        spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: nodeClass }, requirements: [] },
      });
      if (over.status !== undefined) await apply(nodeClaims, { metadata: { name }, status: over.status });
      await run(100);
      return (await get(nodeClaims, name)) as NodeClaim;
    },
  };
}

const defaultSpec: EC2NodeClass['spec'] = {
  role: 'node-role',
  amiSelectorTerms: [{ alias: 'al2023@latest' }],
  subnetSelectorTerms: [{ tags: { '*': '*' } }],
  securityGroupSelectorTerms: [{ tags: { '*': '*' } }],
};
