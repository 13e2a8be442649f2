// Launches end to end over a scripted EC2.
import { describe, expect, test } from 'vitest';
import {
  annotation,
  awsAnnotation,
  awsLabel,
  type EC2NodeClass,
  ec2NodeClassHash,
  label,
  type NodePool,
} from '../api/index.ts';
import type { RequirementSpec } from '../core/index.ts';
import { awsRefusal } from './fake-client.testing.ts';
import { infos, prices } from './instance-types/instance-types.testing.ts';
import { readyClass, subnets, zones } from './instance-types/live-types.testing.ts';
import { among, claimFor, type LaunchWorld, launchWorld } from './launch-world.testing.ts';

const [zoneA = '', zoneB = ''] = zones;
const ofType = (...types: string[]): RequirementSpec => among(label.instanceType, ...types);
const ofCapacity = (...types: string[]): RequirementSpec => among(label.capacityType, ...types);
const ice = { code: 'InsufficientInstanceCapacity', message: 'no capacity' };
const failures = 'karpenter_cloudprovider_instance_launch_failures_total';

const withCondition = (condition: object): EC2NodeClass => {
  const nodeClass = readyClass();
  const [ready] = nodeClass.status?.conditions ?? [];
  return readyClass({}, { conditions: [{ ...ready, ...condition } as NonNullable<typeof ready>] });
};

describe('before anything is launched', () => {
  const attempt = async (nodeClass: EC2NodeClass | undefined) => {
    const world = await launchWorld();
    if (nodeClass === undefined) world.nodeClasses.clear();
    else world.nodeClasses.set('default', nodeClass);
    const error: unknown = await world.create().catch((thrown: unknown) => thrown);
    expect(world.fleets()).toEqual([]);
    return { error, world };
  };

  test('a class that is missing or being deleted counts as missing capacity, and is reported', async () => {
    const deleting = readyClass();
    deleting.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    for (const nodeClass of [undefined, deleting]) {
      const { error, world } = await attempt(nodeClass);
      expect(error).toMatchObject({ kind: 'insufficientCapacity' });
      expect(world.events.list).toMatchObject([{ type: 'Warning', message: 'Failed resolving NodeClass' }]);
    }
  });

  test.each<[string, EC2NodeClass]>([
    ['Ready is False', withCondition({ status: 'False', message: 'SubnetsReady=False' })],
    ['its conditions are of an older generation', withCondition({ observedGeneration: 0 })],
    ['it sets a tag of ours', readyClass({ tags: { 'karpenter.sh/nodepool': 'mine' } })],
  ])('a class is not ready when %s', async (_, nodeClass) => {
    const { error } = await attempt(nodeClass);
    expect(error).toMatchObject({ kind: 'nodeClassNotReady' });
  });

  test('a class whose readiness is unknown is a failure of its own kind', async () => {
    const { error } = await attempt(withCondition({ status: 'Unknown' }));
    expect(error).toMatchObject({
      kind: 'createFailed',
      conditionReason: 'NodeClassReadinessUnknown',
      conditionMessage: 'NodeClass is in Ready=Unknown',
    });
  });

  test('without subnets there are no types, and without security groups no launch', async () => {
    const { error } = await attempt(readyClass({}, { subnets: [] }));
    expect(error).toMatchObject({ kind: 'createFailed', conditionReason: 'InstanceTypeResolutionFailed' });
    const open = await attempt(readyClass({}, { securityGroups: [] }));
    expect(open.error).toMatchObject({ kind: 'createFailed', conditionReason: 'LaunchFailed' });
    expect(String(open.error)).toContain('no security groups are present');
    const world = await launchWorld({ isRefreshed: false });
    await expect(world.create()).rejects.toMatchObject({ conditionReason: 'InstanceTypeResolutionFailed' });
  });

  test('a type that does not exist is missing capacity', async () => {
    const world = await launchWorld();
    await expect(world.create({ requirements: [ofType('doesnotexist')] })).rejects.toMatchObject({
      kind: 'insufficientCapacity',
      message: expect.stringContaining('all requested instance types were unavailable during launch') as string,
    });
  });
});

describe('a created machine', () => {
  test('has image, zone id and exactly three annotations, the hash being that of the class as it was launched', async () => {
    const world = await launchWorld();
    const nodeClass = readyClass();
    // Written for an older spec: the controller that keeps it has not come by yet.
    nodeClass.metadata.annotations = { [awsAnnotation.nodeClassHash]: '123', other: 'ignored' };
    world.nodeClasses.set('default', nodeClass);
    const instance = await world.create({ requirements: [ofType('m5.large'), among(label.zone, zoneB)] });
    expect(instance.imageID).toBe('ami-amd64');
    expect(instance.providerID).toBe(`aws:///${zoneB}/i-1`);
    expect(instance.labels).toMatchObject({
      [awsLabel.zoneId]: 'use1-az2',
      [label.zone]: zoneB,
      [label.instanceType]: 'm5.large',
      [label.nodePool]: 'default',
      [label.arch]: 'amd64',
      [awsLabel.instanceTenancy]: 'default',
    });
    expect(instance.annotations).toEqual({
      [awsAnnotation.nodeClassHash]: ec2NodeClassHash(nodeClass.spec, 'Q0E='),
      [awsAnnotation.nodeClassHashVersion]: 'v6',
      [awsAnnotation.instanceProfileName]: 'profile-1',
    });
    expect(instance.capacity).toMatchObject({ cpu: '2', pods: '29' });
    expect(instance.allocatable).toMatchObject({ cpu: '1930m' });
    expect(Object.values(instance.capacity)).not.toContain('0');
  });
});

test('a machine that was launched for this cluster is not foreign, other texts than ids of instances are', async () => {
  const world = await launchWorld();
  const { providerID } = await world.create();
  const calls = world.ec2.calls.length;
  expect(await world.cloud.whyForeign(providerID)).toBeUndefined();
  expect(world.ec2.calls).toHaveLength(calls);
  expect(await world.cloud.whyForeign('kwok://a')).toBe('"kwok://a" names no EC2 instance');
});

describe('the context of the class', () => {
  test('is sent when set, but not for a claim whose flexibility was relaxed', async () => {
    const world = await launchWorld();
    await world.create();
    expect(world.fleets()[0]).not.toHaveProperty('Context');
    world.nodeClasses.set('default', readyClass({ context: 'my-context' }));
    await world.create();
    expect(world.fleets()[1]?.Context).toBe('my-context');
    await world.create({ annotations: { [annotation.minValuesRelaxed]: 'true' } });
    expect(world.fleets()[2]).not.toHaveProperty('Context');
  });
});

describe('which pools are asked', () => {
  const manyTypes = infos.map(({ InstanceType }) => InstanceType).filter((name) => /^[cmr]5/.test(name));

  const large = async (): Promise<LaunchWorld> => {
    const world = await launchWorld();
    world.said.types = manyTypes;
    await world.types.refresh();
    return world;
  };

  test('at least as many types as minValues wants are named, on one key or on several', async () => {
    const world = await large();
    await world.create({
      requirements: [
        { key: label.instanceType, operator: 'Exists', minValues: 40 },
        { key: awsLabel.instanceFamily, operator: 'Exists', minValues: 3 },
      ],
    });
    const types = new Set(world.overrides().map(({ InstanceType }) => InstanceType));
    expect(types.size).toBeGreaterThanOrEqual(40);
    expect(new Set([...types].map((type) => type?.split('.')[0])).size).toBeGreaterThanOrEqual(3);
    await expect(
      world.create({ requirements: [{ key: label.zone, operator: 'Exists', minValues: 50 }] }),
    ).rejects.toMatchObject({
      kind: 'insufficientCapacity',
      message: expect.stringContaining('truncating instance types') as string,
    });
  });

  test('of more than a hundred types the sixty cheapest are named', async () => {
    const world = await large();
    expect(manyTypes.length).toBeGreaterThan(100);
    await world.create({ requirements: [ofCapacity('on-demand')] });
    const named = new Set(world.overrides().map(({ InstanceType = '' }) => InstanceType));
    expect(named.size).toBe(60);
    const dearest = Math.max(...[...named].map((type) => prices[type] ?? 0));
    const cheaper = manyTypes.filter((type) => !type.includes('metal') && (prices[type] ?? Infinity) < dearest);
    expect(cheaper.filter((type) => !named.has(type))).toEqual([]);
  });

  test('no pool is dearer as spot than the cheapest on-demand', async () => {
    const world = await large();
    await world.create({ requirements: [ofCapacity('spot', 'on-demand')] });
    const cheapestOnDemand = Math.min(...manyTypes.flatMap((type) => prices[type] ?? []));
    expect(world.overrides().length).toBeGreaterThan(3);
    for (const { Priority } of world.overrides()) expect(Priority).toBeLessThanOrEqual(cheapestOnDemand);
  });

  test('metal and GPUs only for those who ask', async () => {
    const world = await launchWorld();
    await world.create();
    const types = () => new Set(world.overrides().map(({ InstanceType }) => InstanceType));
    expect([...types()].filter((type) => type?.includes('metal') || type?.startsWith('g4'))).toEqual([]);
    await world.create({ requirements: [among(awsLabel.instanceSize, 'metal')] });
    expect([...types()]).toEqual(['m5.metal']);
  });

  test('strategies follow the market, and our order where prices are the user’s own', async () => {
    const world = await launchWorld();
    await world.create({ requirements: [ofCapacity('on-demand')] });
    await world.create({ requirements: [ofCapacity('spot')] });
    const annotations = { [annotation.priceOverlayApplied]: 'true' };
    await world.create({ requirements: [ofCapacity('on-demand')], annotations });
    await world.create({ requirements: [ofCapacity('spot')], annotations });
    expect(
      world.fleets().map(({ OnDemandOptions: a, SpotOptions: b }) => a?.AllocationStrategy ?? b?.AllocationStrategy),
    ).toEqual(['lowest-price', 'price-capacity-optimized', 'prioritized', 'capacity-optimized-prioritized']);
    expect(world.fleets()[0]).not.toHaveProperty('SpotOptions');
  });

  test('overrides of m5.large name three subnets with zone, image and price', async () => {
    const world = await launchWorld();
    await world.create({ requirements: [ofType('m5.large'), ofCapacity('on-demand')] });
    expect(world.overrides()).toEqual(
      subnets.map(({ id, zone }) => ({
        InstanceType: 'm5.large',
        SubnetId: id,
        ImageId: 'ami-amd64',
        AvailabilityZone: zone,
        Priority: 0.096,
      })),
    );
  });

  test('on-demand is the last resort: spot where it is allowed and available', async () => {
    const world = await launchWorld();
    const both = [ofType('m5.large'), ofCapacity('spot', 'on-demand')];
    expect((await world.create({ requirements: both })).labels[label.capacityType]).toBe('spot');
    world.refusals.set('spot:*:*', ice);
    await expect(world.create({ requirements: both })).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    expect((await world.create({ requirements: both })).labels[label.capacityType]).toBe('on-demand');
  });

  test('a zone or type without capacity is left out of the next launch, until its time is over', async () => {
    const world = await launchWorld();
    world.refusals.set(`on-demand:m5.large:${zoneA}`, ice);
    const wish = { requirements: [ofType('m5.large'), ofCapacity('on-demand')] };
    expect((await world.create(wish)).labels[label.zone]).toBe(zoneB);
    await world.create(wish);
    expect(world.overrides().map(({ AvailabilityZone }) => AvailabilityZone)).toEqual(zones.slice(1));
    world.refusals.clear();
    await world.clock.runFor(180_000);
    expect((await world.create(wish)).labels[label.zone]).toBe(zoneA);
  });

  test('tenancy is dedicated only when nothing else is allowed', async () => {
    const world = await launchWorld();
    await world.create({ requirements: [among(awsLabel.instanceTenancy, 'dedicated', 'default')] });
    await world.create({ requirements: [among(awsLabel.instanceTenancy, 'dedicated')] });
    expect(world.templateInputs().map((input) => input.LaunchTemplateData?.Placement?.Tenancy)).toEqual(
      expect.arrayContaining(['default', 'dedicated']),
    );
  });
});

describe('when EC2 has nothing', () => {
  test('every pool without capacity is remembered, for that capacity type only', async () => {
    const world = await launchWorld();
    world.refusals.set('*:*:*', ice);
    const wish = (type: string) => ({ requirements: [ofType('m5.large', 'm5.xlarge'), ofCapacity(type)] });
    await expect(world.create(wish('spot'))).rejects.toMatchObject({
      kind: 'insufficientCapacity',
      message: expect.stringContaining('with fleet error(s), InsufficientInstanceCapacity: no capacity') as string,
    });
    const marked = (capacityType: string) =>
      zones.every((zone) => world.unavailable.isUnavailable({ instanceType: 'm5.large', zone, capacityType }, []));
    expect([marked('spot'), marked('on-demand')]).toEqual([true, false]);
    await expect(world.create(wish('on-demand'))).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    expect(marked('on-demand')).toBe(true);
    const calls = world.fleets().length;
    await expect(world.create(wish('on-demand'))).rejects.toMatchObject({
      message: expect.stringContaining('all requested instance types were unavailable') as string,
    });
    expect(world.fleets()).toHaveLength(calls);
  });

  test('a missing service-linked role takes spot out everywhere, and is reported', async () => {
    const world = await launchWorld();
    world.refusals.set('spot:*:*', { code: 'AuthFailure.ServiceLinkedRoleCreationNotPermitted' });
    await expect(world.create({ requirements: [ofCapacity('spot')] })).rejects.toMatchObject({
      kind: 'insufficientCapacity',
    });
    const pool = (capacityType: string) => ({ instanceType: 'never.seen', zone: 'anywhere', capacityType });
    expect(world.unavailable.isUnavailable(pool('spot'), [])).toBe(true);
    expect(world.unavailable.isUnavailable(pool('on-demand'), [])).toBe(false);
    expect(world.events.list).toMatchObject([
      {
        type: 'Warning',
        message:
          'Attempted to launch a spot instance but failed due to "AuthFailure.ServiceLinkedRoleCreationNotPermitted"',
      },
    ]);
  });

  test('a quota marks just the pool it was reported for, also when another served', async () => {
    const world = await launchWorld();
    world.refusals.set(`on-demand:m5.large:${zoneA}`, { code: 'MaxFleetCountExceeded' });
    const before = world.unavailable.version;
    await world.create({ requirements: [ofType('m5.large'), ofCapacity('on-demand')] });
    expect(world.unavailable.version).toBe(before + 1);
    const pool = { instanceType: 'm5.large', zone: zoneA, capacityType: 'on-demand' };
    expect(world.unavailable.isUnavailable(pool, [])).toBe(true);
  });

  test('each pool that failed counts, with zone, zone id, capacity type and reason', async () => {
    const world = await launchWorld();
    world.refusals.set(`on-demand:m5.large:${zoneA}`, { code: 'VcpuLimitExceeded' });
    world.refusals.set(`on-demand:m5.large:${zoneB}`, { code: 'NeverHeardOf' });
    await world.create({ requirements: [ofType('m5.large'), ofCapacity('on-demand')] });
    const of = (zone: string, zone_id: string, reason: string) => ({
      labels: { zone, zone_id, capacity_type: 'on-demand', reason },
      value: 1,
    });
    expect(world.metrics.series(failures)).toEqual([
      of(zoneA, 'use1-az1', 'VCPULimitExceeded'),
      of(zoneB, 'use1-az2', 'LaunchFailed'),
    ]);
  });

  test('launches that share a fleet count its errors once', async () => {
    const world = await launchWorld();
    world.refusals.set(`on-demand:m5.large:${zoneA}`, ice);
    const wish = { requirements: [ofType('m5.large'), ofCapacity('on-demand')] };
    await world.after(Promise.all(['a', 'b', 'c'].map((name) => world.cloud.create(claimFor({ ...wish, name })))));
    expect(world.fleets()).toHaveLength(1);
    expect(world.metrics.series(failures).map(({ value }) => value)).toEqual([1]);
  });

  test('errors of another kind are reported by their reason', async () => {
    const world = await launchWorld();
    world.refusals.set('*:*:*', { code: 'InvalidAMIID.NotFound', message: 'gone' });
    await expect(world.create()).rejects.toMatchObject({ kind: 'createFailed', conditionReason: 'AMINotFound' });
    world.refusals.clear();
    world.ec2.answers['CreateFleet'] = () => {
      throw awsRefusal('UnauthorizedOperation', 'no');
    };
    await expect(world.create()).rejects.toMatchObject({ kind: 'createFailed', conditionReason: 'Unauthorized' });
  });

  test('without credentials nothing was sent: the claim is notified, and no instance is looked for', async () => {
    const world = await launchWorld();
    world.ec2.answers['CreateFleet'] = () => {
      const missing = new Error('no AWS credentials were found (nothing in the environment)');
      missing.name = 'CredentialsProviderError';
      throw missing;
    };
    await expect(world.create()).rejects.toMatchObject({
      kind: 'createFailed',
      conditionReason: 'Unauthorized',
      conditionMessage: expect.stringContaining('no AWS credentials') as string,
    });
  });

  test('an answer that never came says nothing about whether there is an instance', async () => {
    const world = await launchWorld();
    world.ec2.answers['CreateFleet'] = () => {
      throw new Error('socket hang up');
    };
    const error: unknown = await world.create().catch((thrown: unknown) => thrown);
    expect(error).not.toHaveProperty('kind');
  });
});

describe('subnets', () => {
  const large = { requirements: [ofType('m5.large'), ofCapacity('on-demand'), among(label.zone, zoneA)] };
  const sibling = { id: 'subnet-9', zone: zoneA, zoneID: 'use1-az1' };

  test('a full subnet is out, and the next launch uses its sibling', async () => {
    const world = await launchWorld();
    world.nodeClasses.set('default', readyClass({}, { subnets: [...subnets, sibling] }));
    world.addresses.observe([{ id: 'subnet-9', freeAddresses: 50 }]);
    world.refusals.set('on-demand:m5.large:*', { code: 'InsufficientFreeAddressesInSubnet' });
    await expect(world.create(large)).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    world.refusals.clear();
    const other = { requirements: [ofType('m5.xlarge'), ofCapacity('on-demand'), among(label.zone, zoneA)] };
    await world.create(other);
    expect(world.overrides().map(({ SubnetId }) => SubnetId)).toEqual(['subnet-9']);
    world.nodeClasses.set('default', readyClass());
    await expect(world.create(other)).rejects.toMatchObject({ kind: 'insufficientCapacity' });
  });

  test('the one with most addresses is taken, and what is on its way counts', async () => {
    const world = await launchWorld();
    world.nodeClasses.set('default', readyClass({ kubelet: { maxPods: 1 } }, { subnets: [...subnets, sibling] }));
    world.addresses.observe([
      { id: 'subnet-1', freeAddresses: 10 },
      { id: 'subnet-9', freeAddresses: 11 },
    ]);
    const used = async () => {
      await world.create(large);
      return world.overrides().map(({ SubnetId }) => SubnetId);
    };
    expect(await used()).toEqual(['subnet-9']);
    expect(await used()).toEqual(['subnet-1']);
  });

  test('a failed call gives back what it took', async () => {
    const world = await launchWorld();
    const fleet = world.ec2.answers['CreateFleet'] as () => unknown;
    world.ec2.answers['CreateFleet'] = () => {
      throw awsRefusal('InternalError');
    };
    await expect(world.create(large)).rejects.toMatchObject({ conditionReason: 'InternalError' });
    expect(world.addresses.freeIn('subnet-1')).toBe(100);
    world.ec2.answers['CreateFleet'] = fleet;
    await world.create(large);
    expect(world.addresses.freeIn('subnet-1')).toBe(71);
    expect(world.addresses.freeIn('subnet-2')).toBe(100);
  });
});

describe('EFA', () => {
  const gpu = { requirements: [ofType('g4dn.8xlarge')] };
  const efa = { 'vpc.amazonaws.com/efa': '1' };

  test('a machine has it when the claim asks or the class sets it up, and only then shows it', async () => {
    const world = await launchWorld();
    const without = await world.create(gpu);
    expect(without.capacity).not.toHaveProperty('vpc.amazonaws.com/efa');
    expect(without.allocatable).not.toHaveProperty('vpc.amazonaws.com/efa');
    const asked = await world.create({ ...gpu, requests: efa });
    expect(asked.allocatable).toMatchObject(efa);
    expect(world.templateInputs().at(-1)?.LaunchTemplateData?.NetworkInterfaces).toMatchObject([
      { InterfaceType: 'efa' },
    ]);
    const networkInterfaces = [
      { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' as const },
      { networkCardIndex: 0, deviceIndex: 1, interfaceType: 'efa-only' as const },
    ];
    world.nodeClasses.set('default', readyClass({ networkInterfaces }));
    expect((await world.create(gpu)).allocatable).toMatchObject(efa);
    expect(world.templateInputs().at(-1)?.LaunchTemplateData?.NetworkInterfaces).toHaveLength(2);
  });
});

describe('templates', () => {
  test('the fleet tags instance, volume and fleet; the class’s tags are there, ours win', async () => {
    const world = await launchWorld();
    world.nodeClasses.set('default', readyClass({ tags: { Name: 'mine', team: 'a' } }));
    await world.create({ requirements: [ofCapacity('spot')] });
    const specs = world.fleets()[0]?.TagSpecifications ?? [];
    expect(specs.map(({ ResourceType }) => ResourceType)).toEqual(['instance', 'volume', 'fleet']);
    for (const { Tags } of specs) {
      expect(Object.fromEntries(Tags?.map(({ Key, Value }) => [Key, Value]) ?? [])).toEqual({
        Name: 'mine',
        team: 'a',
        'kubernetes.io/cluster/demo': 'owned',
        'karpenter.sh/nodepool': 'default',
        'eks:eks-cluster-name': 'demo',
        'karpenter.k8s.aws/ec2nodeclass': 'default',
      });
    }
  });

  test('a template that vanished costs one failed fleet and one more', async () => {
    const world = await launchWorld();
    const fleet = world.ec2.answers['CreateFleet'] as (input: never) => unknown;
    let calls = 0;
    world.ec2.answers['CreateFleet'] = (input: never) => {
      calls += 1;
      if (calls === 1) throw awsRefusal('InvalidLaunchTemplateName.NotFoundException');
      return fleet(input);
    };
    await world.create();
    expect(calls).toBe(2);
    expect(world.ec2.inputs('DescribeLaunchTemplates').length).toBe(world.templateInputs().length * 2);
  });

  test('a template that vanishes twice is an error: never a third try', async () => {
    const world = await launchWorld();
    world.ec2.answers['CreateFleet'] = () => {
      throw awsRefusal('InvalidLaunchTemplateName.NotFoundException');
    };
    await expect(world.create()).rejects.toMatchObject({ kind: 'createFailed' });
    expect(world.fleets()).toHaveLength(2);
  });

  test('types with other numbers of pods have templates of their own, unless the class fixes the number', async () => {
    const world = await launchWorld();
    world.said.types = ['m5.large', 'm5.xlarge', 't4g.small', 'c5.large'];
    await world.types.refresh();
    await world.create({ requirements: [ofCapacity('on-demand')] });
    // m5.large and c5.large take 29 pods each, m5.xlarge 58, t4g.small 11 on another image.
    expect(world.templateInputs()).toHaveLength(3);
    world.nodeClasses.set('default', readyClass({ kubelet: { maxPods: 110 } }));
    await world.create({ requirements: [ofCapacity('on-demand')] });
    expect(world.templateInputs()).toHaveLength(5);
  });

  test('types that no image fits are left out; without any there is nothing to launch', async () => {
    const world = await launchWorld();
    const [arm] = readyClass().status?.amis ?? [];
    if (arm !== undefined) world.nodeClasses.set('default', readyClass({}, { amis: [arm] }));
    await world.create({ requirements: [ofCapacity('on-demand')] });
    expect(new Set(world.overrides().map(({ InstanceType }) => InstanceType))).toEqual(new Set(['t4g.small']));
    await expect(world.create({ requirements: [ofType('m5.large')] })).rejects.toThrow(
      'no capacity offerings are currently available given the constraints',
    );
  });
});

describe('reservations', () => {
  const reservation = (id: string, change: object = {}) => ({
    id,
    availabilityZone: zoneA,
    instanceMatchCriteria: 'targeted' as const,
    instanceType: 'm5.large',
    ownerID: '123456789012',
    reservationType: 'default' as const,
    interruptible: false,
    state: 'active' as const,
    ...change,
  });

  const reserving = async (list: ReturnType<typeof reservation>[], counts: Record<string, number>, gate = true) => {
    const world = await launchWorld({ reservedCapacity: gate });
    world.nodeClasses.set('default', readyClass({}, { capacityReservations: list }));
    for (const [id, count] of Object.entries(counts)) world.reservations.observe(id, count);
    return world;
  };

  test('a template per reservation, the larger of two in a zone, each with one pool', async () => {
    const world = await reserving(
      [
        reservation('cr-1'),
        reservation('cr-2'),
        reservation('cr-3', { availabilityZone: zoneB }),
        reservation('cr-4', { availabilityZone: zoneB, instanceType: 'm5.xlarge' }),
      ],
      { 'cr-1': 1, 'cr-2': 5, 'cr-3': 1, 'cr-4': 1 },
    );
    await world.create();
    const specs = world.templateInputs().map(({ LaunchTemplateData: data }) => data?.CapacityReservationSpecification);
    expect(specs.map((each) => each?.CapacityReservationTarget?.CapacityReservationId).sort()).toEqual([
      'cr-2',
      'cr-3',
      'cr-4',
    ]);
    expect(specs.every((each) => each?.CapacityReservationPreference === 'capacity-reservations-only')).toBe(true);
    expect(world.fleets()[0]?.LaunchTemplateConfigs?.map(({ Overrides }) => Overrides?.length)).toEqual([1, 1, 1]);
    expect(world.fleets()[0]).toMatchObject({
      TargetCapacitySpecification: { DefaultTargetCapacityType: 'on-demand' },
      OnDemandOptions: { AllocationStrategy: 'lowest-price' },
    });
  });

  test('without a reservation none is used; with the gate off nothing is said', async () => {
    const preference = async (gate: boolean) => {
      const world = await reserving([], {}, gate);
      await world.create();
      return world.templateInputs()[0]?.LaunchTemplateData?.CapacityReservationSpecification;
    };
    expect(await preference(true)).toEqual({ CapacityReservationPreference: 'none' });
    expect(await preference(false)).toBeUndefined();
  });

  test.each<[string, { reservationType?: string; interruptible?: boolean }, string, object]>([
    ['capacity-block', { reservationType: 'capacity-block' }, 'capacity-block', {}],
    [
      'interruptible',
      { interruptible: true },
      'reserved-capacity',
      { ReservedCapacityOptions: { ReservationTypes: ['interruptible-capacity-reservation'] } },
    ],
  ])('%s reservations set their markets', async (_, change, target, options) => {
    const world = await reserving([reservation('cr-1', change)], { 'cr-1': 3 });
    const instance = await world.create();
    expect(world.fleets()[0]).toMatchObject({
      TargetCapacitySpecification: { DefaultTargetCapacityType: target },
      ...options,
    });
    expect(world.fleets()[0]).not.toHaveProperty('OnDemandOptions');
    expect(instance.labels).toMatchObject({
      [label.capacityType]: 'reserved',
      [awsLabel.capacityReservationId]: 'cr-1',
      [awsLabel.capacityReservationType]: change.reservationType ?? 'default',
      [awsLabel.capacityReservationInterruptible]: String(change.interruptible ?? false),
    });
  });

  test('a launch takes one place; deleting gives it back once the machine is gone', async () => {
    const world = await reserving([reservation('cr-1')], { 'cr-1': 10 });
    const instance = await world.create();
    expect(world.reservations.available('cr-1')).toBe(9);
    const described = {
      InstanceId: 'i-1',
      InstanceType: 'm5.large',
      Placement: { AvailabilityZone: zoneA },
      State: { Name: 'running' },
      Tags: [
        { Key: 'eks:eks-cluster-name', Value: 'demo' },
        { Key: 'karpenter.sh/nodepool', Value: 'default' },
      ],
    };
    Object.assign(world.ec2.answers, {
      DescribeInstances: () => ({ Reservations: [{ Instances: [described] }] }),
      TerminateInstances: () => ({
        TerminatingInstances: [{ InstanceId: 'i-1', CurrentState: { Name: 'shutting-down' } }],
      }),
    });
    const claim = {
      ...claimFor(),
      metadata: { name: 'a', labels: instance.labels },
      status: { providerID: instance.providerID },
    };
    await world.after(world.cloud.delete(claim));
    expect(world.reservations.available('cr-1')).toBe(9);
    world.ec2.answers['DescribeInstances'] = () => ({ Reservations: [] });
    await expect(world.after(world.cloud.delete(claim))).rejects.toMatchObject({ kind: 'notFound' });
    expect(world.reservations.available('cr-1')).toBe(10);
  });

  test('a full reservation counts as empty from then on; throttling says nothing about it', async () => {
    const world = await reserving([reservation('cr-1')], { 'cr-1': 10 });
    world.refusals.set('*:*:*', { code: 'RequestLimitExceeded' });
    await expect(world.create()).rejects.toMatchObject({ conditionReason: 'RequestLimitExceeded' });
    expect(world.reservations.available('cr-1')).toBe(10);
    world.refusals.set('*:*:*', { code: 'ReservationCapacityExceeded' });
    await expect(world.create()).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    expect(world.reservations.available('cr-1')).toBe(0);
    expect(world.unavailable.version).toBe(0);
  });

  test('a full subnet is remembered as such also when a reservation was asked for', async () => {
    const world = await reserving([reservation('cr-1')], { 'cr-1': 10 });
    world.refusals.set('*:*:*', { code: 'InsufficientFreeAddressesInSubnet' });
    await expect(world.create()).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    expect(world.addresses.freeIn('subnet-1')).toBe(0);
    expect(world.unavailable.version).toBe(1);
  });

  test('a full spread group says nothing about the reservation', async () => {
    const world = await reserving([reservation('cr-1')], { 'cr-1': 10 });
    world.refusals.set('*:*:*', {
      code: 'InsufficientInstanceCapacity',
      message: 'You have reached the limit of instances in this spread placement group',
    });
    await expect(world.create()).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    expect(world.reservations.available('cr-1')).toBe(10);
  });
});

describe('placement groups', () => {
  const grouped = async (strategy: string, requirements: RequirementSpec[] = []) => {
    const world = await launchWorld();
    const supporting = infos
      .filter(({ InstanceType }) => world.said.types.includes(InstanceType))
      .map((info) => ({ ...info, PlacementGroupInfo: { SupportedStrategies: [strategy] } }));
    world.ec2.answers['DescribeInstanceTypes'] = () => ({ InstanceTypes: supporting });
    world.said.group = { id: 'pg-1', strategy, ...(strategy === 'partition' ? { partitions: 12 } : {}) };
    await world.types.refresh();
    const wish = { requirements: [ofType('m5.large'), ofCapacity('on-demand'), ...requirements] };
    return { world, wish };
  };
  const placementOf = (world: LaunchWorld) => world.templateInputs().at(-1)?.LaunchTemplateData?.Placement;
  const partitions = (...values: string[]) => [among(awsLabel.placementGroupPartition, ...values)];

  test('a partition is named when the claim names some: the first in text order', async () => {
    const { world, wish } = await grouped('partition', partitions('7', '10'));
    const instance = await world.create(wish);
    expect(placementOf(world)).toMatchObject({ GroupId: 'pg-1', PartitionNumber: 10 });
    expect(instance.labels).toMatchObject({
      [awsLabel.placementGroupId]: 'pg-1',
      [awsLabel.placementGroupPartition]: '10',
    });
    expect(world.overrides()).toHaveLength(3);
  });

  test('nothing is launched outside a group because the process has only just started', async () => {
    const { world, wish } = await grouped('cluster');
    world.said.isGroupUnknown = true;
    await expect(world.create(wish)).rejects.toMatchObject({ kind: 'nodeClassNotReady' });
    expect(world.fleets()).toEqual([]);
  });

  test('otherwise EC2 chooses, and the label waits; other strategies have no such label', async () => {
    const { world, wish } = await grouped('partition');
    expect((await world.create(wish)).labels[awsLabel.placementGroupPartition]).toBe('');
    expect(placementOf(world)).not.toHaveProperty('PartitionNumber');
    const cluster = await grouped('cluster');
    const { labels } = await cluster.world.create(cluster.wish);
    expect(labels).toMatchObject({ [awsLabel.placementGroupId]: 'pg-1' });
    expect(labels).not.toHaveProperty([awsLabel.placementGroupPartition]);
  });

  test('a full spread group takes out every type in that zone, for that group only', async () => {
    const { world, wish } = await grouped('spread');
    world.refusals.set(`on-demand:m5.large:${zoneA}`, {
      code: 'InsufficientInstanceCapacity',
      message: 'You have reached the limit of instances in this spread placement group',
    });
    await world.create({ ...wish, requirements: [ofType('m5.large', 'm5.xlarge'), ofCapacity('on-demand')] });
    const pool = (instanceType: string, zone: string, group?: { id: string }) =>
      world.unavailable.isUnavailable({ instanceType, zone, capacityType: 'on-demand', placementGroup: group }, []);
    expect(pool('m5.large', zoneA, { id: 'pg-1' })).toBe(true);
    expect(pool('m5.xlarge', zoneA, { id: 'pg-1' })).toBe(true);
    expect(pool('m5.xlarge', zoneB, { id: 'pg-1' })).toBe(false);
    expect(pool('m5.large', zoneA)).toBe(false);
  });

  describe('the registration hook', () => {
    const hooked = async (labels: Record<string, string>, providerID?: string, partition?: number) => {
      const { world } = await grouped('partition');
      world.ec2.answers['DescribeInstances'] = () => ({
        Reservations:
          partition === undefined
            ? []
            : [
                {
                  Instances: [
                    {
                      InstanceId: 'i-1',
                      InstanceType: 'm5.large',
                      State: { Name: 'running' },
                      Placement: { AvailabilityZone: zoneA, PartitionNumber: partition || undefined },
                    },
                  ],
                },
              ],
      });
      const claim = {
        ...claimFor(),
        metadata: { name: 'a', labels },
        ...(providerID === undefined ? {} : { status: { providerID } }),
      };
      const [hook] = world.cloud.registrationHooks;
      return world.after(hook?.isReady(claim) ?? Promise.reject(new Error('no hook')));
    };
    const waiting = { [awsLabel.placementGroupId]: 'pg-1', [awsLabel.placementGroupPartition]: '' };
    const id = `aws:///${zoneA}/i-1`;

    test('passes without a group, without partitions, or with a value', async () => {
      expect(await hooked({})).toEqual({ ready: true });
      expect(await hooked({ [awsLabel.placementGroupId]: 'pg-1' })).toEqual({ ready: true });
      expect(await hooked({ ...waiting, [awsLabel.placementGroupPartition]: '3' })).toEqual({ ready: true });
    });

    test('waits for the machine and its partition, and then fills in the label', async () => {
      expect(await hooked(waiting)).toEqual({ ready: false });
      expect(await hooked(waiting, id, 0)).toEqual({ ready: false });
      expect(await hooked(waiting, id, 4)).toEqual({
        ready: true,
        labels: { [awsLabel.placementGroupPartition]: '4' },
      });
      await expect(hooked(waiting, id)).rejects.toMatchObject({ kind: 'notFound' });
    });
  });
});

test('instance types are those of the pool’s class; a pool without one is reported', async () => {
  const world = await launchWorld();
  const pool = {
    metadata: { name: 'p' },
    spec: { template: { spec: { nodeClassRef: { name: 'default' } } } },
  } as NodePool;
  const types = await world.cloud.instanceTypes(pool);
  expect(types).toHaveLength(5);
  expect(await world.cloud.instanceTypes(pool)).toBe(types);
  world.nodeClasses.clear();
  await expect(world.cloud.instanceTypes(pool)).rejects.toThrow('EC2NodeClass default');
  expect(world.events.list).toMatchObject([{ subject: { kind: 'NodePool', name: 'p' } }]);
});

test('nodes are borne half an hour with a broken condition, ten minutes with broken accelerators', async () => {
  const { cloud } = await launchWorld();
  const minutes = cloud
    .repairPolicies()
    .map((policy) => [policy.conditionType, policy.conditionStatus, policy.tolerationMs / 60_000]);
  expect(minutes).toEqual([
    ['Ready', 'False', 30],
    ['Ready', 'Unknown', 30],
    ['AcceleratedHardwareReady', 'False', 10],
    ['StorageReady', 'False', 30],
    ['NetworkingReady', 'False', 30],
    ['KernelReady', 'False', 30],
    ['ContainerRuntimeReady', 'False', 30],
  ]);
});
