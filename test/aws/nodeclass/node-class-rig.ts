// Node classes against the emulated AWS: the provider's own parts with real clients, the embedded cluster's API for the
// objects, and controllers asked one reconcile at a time, so that nothing depends on when a timer fires.
import { setImmediate } from 'node:timers/promises';
import { CreateTagsCommand, DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { CreateClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { CreateRoleCommand, GetInstanceProfileCommand, IAMClient, type InstanceProfile } from '@aws-sdk/client-iam';
import { SSMClient } from '@aws-sdk/client-ssm';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type Condition, customResourceDefinition, type EC2NodeClass, kinds } from '../../../src/api/index.ts';
import { lookAtAccount } from '../../../src/aws/account/look.ts';
import { bootPartsOf, type NodeFacts } from '../../../src/aws/boot-parts.ts';
import { CapacityReservations } from '../../../src/aws/capacity-reservations/capacity-reservations.ts';
import { ReservationCounts } from '../../../src/aws/capacity-reservations/reservation-counts.ts';
import { jsonServices } from '../../../src/aws/clients/json-services.ts';
import { requestMetrics } from '../../../src/aws/clients/request-metrics.ts';
import { ec2NodeClasses } from '../../../src/aws/ec2-node-classes.ts';
import { Images } from '../../../src/aws/images/images.ts';
import { Parameters } from '../../../src/aws/images/parameters.ts';
import { InstanceProfiles } from '../../../src/aws/instance-profiles/instance-profiles.ts';
import { type } from '../../../src/aws/instance-types/instance-types.testing.ts';
import type { NodeClassShape } from '../../../src/aws/instance-types/node-class.ts';
import { LaunchChecks } from '../../../src/aws/launch-checks/launch-checks.ts';
import { LaunchTemplates } from '../../../src/aws/launch-templates/launch-templates.ts';
import { PlacementGroups } from '../../../src/aws/placement-groups/placement-groups.ts';
import { SecurityGroups } from '../../../src/aws/security-groups/security-groups.ts';
import { SubnetAddresses } from '../../../src/aws/subnets/subnet-addresses.ts';
import { Subnets } from '../../../src/aws/subnets/subnets.ts';
import { nodeClassControllersOf } from '../../../src/aws-controllers/index.ts';
import { conditionOf, VirtualClock } from '../../../src/base/index.ts';
import { type ControllerContext, nodeClaims } from '../../../src/controllers/index.ts';
import { recordedEvents, recordedLog, recordedMetrics } from '../../../src/controllers/testing/records.testing.ts';
import { isKubeError, type KubeObject, type Resource } from '../../../src/ports/index.ts';
import { type Outcome, RealClock } from '../../../src/runtime/index.ts';
import { createCluster, SimKube } from '../../../src/sim/index.ts';
import type { AwsEmulator } from '../../setup/aws-emulator.ts';
import { prepareAccount } from '../emulator/account.ts';

export const clusterName = 'demo';
const region = 'us-east-1';
const minuteMs = 60_000;

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

export type NodeClassRig = Awaited<ReturnType<typeof openRig>>;

/** Subnets of zones a to c and the security group carry the tag `team=a`; the role `node-role` exists. */
export async function openRig(emulator: AwsEmulator) {
  const account = await prepareAccount(emulator);
  const options = { ...emulator.clientOptions, region };
  const [ec2, iam, ssm, eks] = [
    new EC2Client(options),
    new IAMClient(options),
    new SSMClient(options),
    new EKSClient(options),
  ];
  const json = jsonServices({
    region,
    env: { AWS_ENDPOINT_URL: options.endpoint },
    credentials: async () => options.credentials,
    handler: new NodeHttpHandler({ requestTimeout: 20_000 }),
    clock: new RealClock(),
    metrics: requestMetrics(recordedMetrics()),
  });
  const { Subnets: all = [] } = await ec2.send(new DescribeSubnetsCommand({}));
  const subnets = all.filter(({ AvailabilityZone: zone = '' }) => /[abc]$/.test(zone));
  const tagged = [...subnets.map(({ SubnetId = '' }) => SubnetId), account.groupId];
  await ec2.send(new CreateTagsCommand({ Resources: tagged, Tags: [{ Key: 'team', Value: 'a' }] }));
  await iam.send(new CreateRoleCommand({ RoleName: 'node-role', AssumeRolePolicyDocument: '{}' }));
  await eks.send(
    new CreateClusterCommand({
      name: clusterName,
      version: '1.34',
      roleArn: 'arn:aws:iam::123456789012:role/x',
      resourcesVpcConfig: {},
    }),
  );

  // The wall clock of the emulator, moved by tests; nothing here waits for a timer.
  const clock = new VirtualClock({ settle: () => setImmediate(), startMs: Date.now() });
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  for (const kind of kinds) await kube.create(definitions, customResourceDefinition(kind));
  await clock.runFor(10);

  const [log, metrics, events] = [recordedLog(), recordedMetrics(), recordedEvents()];
  const placementGroups = new PlacementGroups({ ec2, clock });
  const counts = new ReservationCounts(clock);
  const parameters = new Parameters({ ssm, clock });
  const launchTemplates = new LaunchTemplates({ ec2, clock, log, metrics, clusterName });
  const facts: NodeFacts = {
    name: clusterName,
    endpoint: 'https://demo.eks',
    ipFamily: 'ipv4',
    async resolveServiceCidr() {
      facts.serviceCidr = '10.100.0.0/16';
    },
  };
  const profiles = new InstanceProfiles({ iam, clock, region, clusterName, unique: () => `${Math.random()}` });
  const held = new Map<string, KubeObject[]>();
  const context = {
    kube,
    clock,
    log,
    metrics,
    recorder: events,
    settings: { featureGates: { ReservedCapacity: true } },
    cluster: { nodePools: { list: () => [] }, claims: { list: () => [] }, setClaim: () => undefined },
    cacheOf: ({ plural }: Resource) => ({
      get: (name: string) => held.get(plural)?.find(({ metadata }) => metadata.name === name),
      values: () => held.get(plural) ?? [],
    }),
    isManaged: () => true,
    stored: kube,
    time: { problem: () => undefined, aheadMs: () => 0 },
  } as unknown as ControllerContext;
  const controllers = nodeClassControllersOf(context, {
    images: new Images({ ec2, clock, parameters, kubernetesVersion: async () => '1.34', refreshMs: minuteMs }),
    subnets: new Subnets({ ec2, clock, refreshMs: minuteMs, addresses: new SubnetAddresses(clock, minuteMs) }),
    securityGroups: new SecurityGroups({ ec2, clock, refreshMs: 60_000 }),
    reservations: new CapacityReservations({ ec2, clock, log, counts }),
    placementGroups,
    profiles,
    launchTemplates,
    launchChecks: {
      clusterName,
      interruptionQueue: '',
      look: (names) =>
        lookAtAccount(
          {
            clients: { ec2, eks, iam, sqs: undefined as never, json },
            clock,
            isolatedVpc: false,
            takenAddresses: () => 0,
          },
          names,
        ),
      awsAuth: async () => undefined,
      kubernetesVersion: () => '1.34',
      caller: async () => 'arn:aws:sts::123456789012:assumed-role/KarpenterController/karpenter',
    },
    validation: {
      checks: new LaunchChecks({
        ec2,
        clusterName,
        templates: launchTemplates,
        parts: bootPartsOf({ region, clusterName, reservedCapacity: true, cluster: facts, log }),
        placementGroupOf: (nodeClass) => placementGroups.known(nodeClass),
      }),
      disableDryRun: false,
      instanceTypes: async (nodeClass) =>
        ['m5.large', 'm6g.large'].map((name) => type(name, nodeClass as NodeClassShape)),
      async serviceCidr() {
        await facts.resolveServiceCidr();
        return facts.serviceCidr;
      },
    },
    caBundle: 'ca',
    isolatedVpc: false,
  });

  const refreshCaches = async (): Promise<void> => {
    for (const resource of [ec2NodeClasses, nodeClaims] as Resource[])
      held.set(resource.plural, (await kube.list(resource)).items);
  };
  const get = async (name = 'default'): Promise<EC2NodeClass | undefined> => {
    try {
      return await kube.get(ec2NodeClasses, { name });
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      throw error;
    }
  };
  return {
    ...account,
    iam,
    ec2,
    eks,
    json,
    clock,
    counts,
    control: emulator.control,
    events: events.list,
    log,
    placementGroups,
    taggedSubnets: subnets,
    get,
    /** Makes a class, or changes the spec of one. */
    async apply(spec: Partial<EC2NodeClass['spec']> = {}, name = 'default'): Promise<void> {
      if ((await get(name)) === undefined) {
        await kube.create(ec2NodeClasses, { metadata: { name }, spec: { ...ordinary, ...spec } });
      } else await kube.patch(ec2NodeClasses, { name }, { type: 'merge', body: { spec } });
      await clock.runFor(10);
    },
    /** One reconcile of a controller, the node class's own unless said. */
    async reconcile(key = 'default', controller = 'nodeclass'): Promise<Outcome> {
      await refreshCaches();
      const found = controllers.find(({ name }) => name === controller);
      if (found === undefined) throw new Error(`there is no controller ${controller}`);
      const outcome = await found.reconcile(key, new AbortController().signal);
      await clock.runFor(10);
      return outcome;
    },
    condition: async (type: string, name = 'default'): Promise<Condition | undefined> =>
      conditionOf((await get(name))?.status?.conditions, type),
    async claim(name: string, annotations: Record<string, string> = {}): Promise<void> {
      const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
      await kube.create(nodeClaims, {
        metadata: { name, annotations },
        spec: { nodeClassRef, requirements: [] },
      });
    },
    async remove(resource: Resource, name: string): Promise<void> {
      await kube.delete(resource, { name });
      await clock.runFor(10);
    },
    async profileNamed(name: string): Promise<InstanceProfile | undefined> {
      try {
        return (await iam.send(new GetInstanceProfileCommand({ InstanceProfileName: name }))).InstanceProfile;
      } catch (error) {
        if (error instanceof Error && error.name.startsWith('NoSuchEntity')) return undefined;
        throw error;
      }
    },
    async stop(): Promise<void> {
      launchTemplates.dispose();
      await cluster.stop();
      for (const client of [ec2, iam, ssm, eks]) client.destroy();
    },
  };
}

const ordinary: EC2NodeClass['spec'] = {
  role: 'node-role',
  amiSelectorTerms: [{ alias: 'al2023@latest' }],
  subnetSelectorTerms: [{ tags: { team: 'a' } }],
  securityGroupSelectorTerms: [{ tags: { team: 'a' } }],
};
