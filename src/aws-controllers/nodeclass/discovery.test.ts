import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { awsRefusal } from '../../aws/fake-client.testing.ts';
import { minuteMs, type NodeClassBench, openNodeClasses } from './nodeclass-bench.testing.ts';

let bench: NodeClassBench;
afterEach(() => bench.close());

describe('a class that selects something', () => {
  beforeEach(async () => {
    bench = await openNodeClasses();
  });

  test('has it in its status, ordered, and a finalizer', async () => {
    const { status, metadata } = await bench.classOf();
    expect(metadata.finalizers).toEqual(['karpenter.k8s.aws/termination']);
    expect(status?.subnets).toEqual([
      { id: 'subnet-2', zone: 'us-east-1b', zoneID: 'use1-az-b' },
      { id: 'subnet-3', zone: 'us-east-1c', zoneID: 'use1-az-c' },
      { id: 'subnet-1', zone: 'us-east-1a', zoneID: 'use1-az-a' },
    ]);
    expect(status?.securityGroups).toEqual([
      { id: 'sg-1', name: 'one' },
      { id: 'sg-2', name: 'two' },
    ]);
    expect(status?.amis).toHaveLength(5);
    expect(status?.amis?.find(({ id }) => id === 'ami-x86_64-standard')?.requirements.map(({ key }) => key)).toEqual([
      'kubernetes.io/arch',
      'karpenter.k8s.aws/instance-gpu-count',
      'karpenter.k8s.aws/instance-accelerator-count',
    ]);
    for (const type of ['AMIsReady', 'SubnetsReady', 'SecurityGroupsReady', 'PlacementGroupReady'])
      expect(await bench.condition(type)).toMatchObject({ status: 'True', reason: type, observedGeneration: 1 });
  });

  test('sees the change of a selector at once, and what changes in AWS within about a minute', async () => {
    await bench.classOf();
    bench.world.subnets = bench.world.subnets.slice(0, 1);
    await bench.classOf({ subnetSelectorTerms: [{ id: 'subnet-1' }] });
    expect((await bench.status()).subnets).toMatchObject([{ id: 'subnet-1' }]);
    bench.world.subnets = [{ SubnetId: 'subnet-9', AvailabilityZone: 'us-east-1d', AvailableIpAddressCount: 1 }];
    await bench.run(2 * minuteMs);
    expect((await bench.status()).subnets).toEqual([{ id: 'subnet-9', zone: 'us-east-1d' }]);
  });

  test('that stops selecting anything loses it, with the reason in the conditions', async () => {
    await bench.classOf();
    bench.world.subnets = [];
    bench.world.securityGroups = [];
    bench.world.images = [];
    await bench.classOf({
      subnetSelectorTerms: [{ id: 'subnet-9' }],
      securityGroupSelectorTerms: [{ id: 'sg-9' }],
      amiFamily: 'Custom',
      amiSelectorTerms: [{ id: 'ami-9' }],
    } as never);
    const { subnets, securityGroups, amis } = await bench.status();
    expect([subnets, securityGroups, amis]).toEqual([undefined, undefined, undefined]);
    const expected = [
      ['AMIsReady', 'AMINotFound', 'AMISelector did not match any AMIs'],
      ['SubnetsReady', 'SubnetsNotFound', 'SubnetSelector did not match any Subnets'],
      ['SecurityGroupsReady', 'SecurityGroupsNotFound', 'SecurityGroupSelector did not match any SecurityGroups'],
    ] as const;
    for (const [type, reason, message] of expected)
      expect(await bench.condition(type)).toMatchObject({ status: 'False', reason, message, observedGeneration: 2 });
    expect(await bench.condition('Ready')).toMatchObject({ status: 'False', reason: 'UnhealthyDependents' });
  });

  test('tells what it nearly found: things that have its tags with other values', async () => {
    const tagged = (Value: string) => ({ Tags: [{ Key: 'karpenter.sh/discovery', Value }] });
    bench.ec2.answers['DescribeSubnets'] = ({ Filters }: { Filters: { Name: string }[] }) => ({
      Subnets: Filters[0]?.Name === 'tag-key' ? [tagged('b'), tagged('a'), tagged('b')] : [],
    });
    bench.world.securityGroups = [];
    const tags = { 'karpenter.sh/discovery': 'one' };
    await bench.classOf({ subnetSelectorTerms: [{ tags }], securityGroupSelectorTerms: [{ tags }] });
    const reported = bench.events.filter(({ subject }) => subject.kind === 'EC2NodeClass');
    expect(reported.map(({ reason, message }) => `${reason}: ${message}`)).toEqual(
      expect.arrayContaining([
        'SubnetsNotFound: SubnetSelector did not match any Subnets: 3 subnets have the tag karpenter.sh/discovery with the value "a", "b"',
        'SecurityGroupsNotFound: SecurityGroupSelector did not match any SecurityGroups: no security group has the tag karpenter.sh/discovery',
      ]),
    );
    expect(await bench.condition('SubnetsReady')).toMatchObject({
      message: 'SubnetSelector did not match any Subnets',
    });
  });

  test('tells which images and which placement group it looked for, and what to check', async () => {
    bench.world.images = [];
    await bench.classOf({
      amiFamily: 'Custom',
      amiSelectorTerms: [{ name: 'golden-*', owner: 'self' }],
      placementGroupSelector: { name: 'tight' },
    });
    const reported = bench.events.filter(({ subject }) => subject.kind === 'EC2NodeClass');
    expect(reported.map(({ reason, message }) => `${reason}: ${message}`)).toEqual(
      expect.arrayContaining([
        'AMINotFound: AMISelector did not match any AMIs: looked for [{"name":"golden-*","owner":"self"}]; an image must be available in this region, shared with this account, and of x86_64 or arm64',
        'PlacementGroupNotFound: Placement group "tight" not found: create it in this region, or correct spec.placementGroupSelector',
      ]),
    );
  });

  test('found again a minute later', async () => {
    const { subnets } = bench.world;
    bench.world.subnets = [];
    await bench.classOf();
    expect(await bench.condition('SubnetsReady')).toMatchObject({ status: 'False' });
    bench.world.subnets = subnets;
    await bench.run(minuteMs + 1_000);
    expect(await bench.condition('SubnetsReady')).toMatchObject({ status: 'True' });
  });

  test('a refused DescribeImages fails the reconcile; the other steps still run', async () => {
    bench.world.errors['DescribeImages'] = awsRefusal('InternalError', 'images are down', 500);
    await bench.classOf();
    expect(await bench.condition('AMIsReady')).toMatchObject({ status: 'Unknown', reason: 'AwaitingReconciliation' });
    expect(await bench.condition('SubnetsReady')).toMatchObject({ status: 'True' });
    expect(bench.log.lines.some(({ error }) => String(error).includes('images are down'))).toBe(true);
    bench.world.errors = {};
    await bench.run(2 * minuteMs);
    expect(await bench.condition('AMIsReady')).toMatchObject({ status: 'True' });
  });

  test('a deprecation that comes to pass shows, and the class stays ready', async () => {
    const [image] = bench.world.images;
    if (image !== undefined) image.DeprecationTime = new Date(bench.clock.now() + 30_000).toISOString();
    const deprecated = async () => (await bench.status()).amis?.filter((each) => each.deprecated === true).length;
    await bench.classOf();
    expect(await deprecated()).toBe(0);
    await bench.run(6 * minuteMs);
    expect(await deprecated()).toBe(1);
    expect(await bench.condition('AMIsReady')).toMatchObject({ status: 'True' });
  });

  test('the status is written only when it changes', async () => {
    await bench.classOf();
    const { resourceVersion } = (await bench.find()).metadata;
    await bench.run(5 * minuteMs);
    expect((await bench.find()).metadata.resourceVersion).toBe(resourceVersion);
  });
});

describe('an alias that Amazon does not publish', () => {
  test.each([
    ['al2@latest', '1.34', 'AL2 aliases are no longer supported on EKS 1.33+'],
    ['windows2025@latest', '1.34', 'Windows Server 2025 requires EKS version 1.35 or higher, current version: 1.34'],
  ])('%s on %s is reported and not tried again', async (alias, version, message) => {
    bench = await openNodeClasses({ world: { version } });
    await bench.classOf({ amiSelectorTerms: [{ alias }] });
    expect(await bench.condition('AMIsReady')).toMatchObject({
      status: 'False',
      reason: 'UnsupportedAlias',
      message: expect.stringContaining(message),
    });
    const errors = bench.log.lines.filter(({ error }) => error !== undefined).length;
    await bench.run(10 * minuteMs);
    expect(bench.log.lines.filter(({ error }) => error !== undefined).length).toBe(errors);
  });
});

describe('conditions', () => {
  test.each([
    [true, 8],
    [false, 7],
  ])('with reserved capacity %s there are %d, ordered by type', async (ReservedCapacity, count) => {
    bench = await openNodeClasses({ gates: { ReservedCapacity } });
    const { status } = await bench.classOf();
    const types = status?.conditions?.map(({ type }) => type) ?? [];
    expect(types).toHaveLength(count);
    expect(types).toEqual(types.toSorted());
  });
});

describe('capacity reservations', () => {
  const reservation = (id: string, endMs?: number) => ({
    CapacityReservationId: id,
    OwnerId: '123456789012',
    InstanceType: 'm5.large',
    AvailabilityZone: 'us-east-1a',
    InstanceMatchCriteria: 'targeted' as const,
    ...(endMs === undefined ? {} : { EndDate: new Date(endMs) }),
  });
  const terms = { capacityReservationSelectorTerms: [{ tags: { a: 'b' } }] };

  test('are listed; without any the condition is true all the same', async () => {
    bench = await openNodeClasses({ world: { reservations: [reservation('cr-2'), reservation('cr-1')] } });
    await bench.classOf(terms);
    expect((await bench.status()).capacityReservations?.map(({ id }) => id)).toEqual(['cr-1', 'cr-2']);
    bench.world.reservations = [];
    await bench.run(2 * minuteMs);
    expect((await bench.status()).capacityReservations).toBeUndefined();
    expect(await bench.condition('CapacityReservationsReady')).toMatchObject({ status: 'True' });
  });

  test('one that ends leaves the list at its end, not a minute later', async () => {
    bench = await openNodeClasses();
    bench.world.reservations = [reservation('cr-1', bench.clock.now() + 20_000)];
    await bench.classOf(terms);
    expect((await bench.status()).capacityReservations).toHaveLength(1);
    await bench.run(21_000);
    expect((await bench.status()).capacityReservations).toBeUndefined();
  });

  test('are not looked for while the feature is off', async () => {
    bench = await openNodeClasses({
      gates: { ReservedCapacity: false },
      world: { reservations: [reservation('cr-1')] },
    });
    await bench.classOf(terms);
    expect((await bench.status()).capacityReservations).toBeUndefined();
    expect(bench.ec2.inputs('DescribeCapacityReservations')).toEqual([]);
  });
});

describe('the placement group', () => {
  test('that is not there is named, and found when it comes', async () => {
    bench = await openNodeClasses();
    await bench.classOf({ placementGroupSelector: { name: 'tight' } });
    expect(await bench.condition('PlacementGroupReady')).toMatchObject({
      status: 'False',
      reason: 'PlacementGroupNotFound',
      message: 'Placement group "tight" not found',
    });
    bench.world.placementGroups = [{ GroupId: 'pg-1', GroupName: 'tight', Strategy: 'cluster' }];
    await bench.run(2 * minuteMs);
    expect(await bench.condition('PlacementGroupReady')).toMatchObject({ status: 'True' });
    expect(bench.services().placementGroups.known(await bench.find())).toMatchObject({ id: 'pg-1' });
  });

  test('that cannot be asked for is reported as such, and the reconcile fails', async () => {
    bench = await openNodeClasses();
    bench.world.errors['DescribePlacementGroups'] = awsRefusal('InternalError', 'groups are down', 500);
    await bench.classOf({ placementGroupSelector: { id: 'pg-1' } });
    expect(await bench.condition('PlacementGroupReady')).toMatchObject({
      reason: 'PlacementGroupResolutionFailed',
      message: 'Failed to resolve placement group',
    });
    expect(bench.log.lines.some(({ error }) => String(error).includes('groups are down'))).toBe(true);
  });

  test('whose selector is taken away is ready again', async () => {
    bench = await openNodeClasses();
    await bench.classOf({ placementGroupSelector: { name: 'tight' } });
    await bench.classOf({ placementGroupSelector: null } as never);
    expect(await bench.condition('PlacementGroupReady')).toMatchObject({ status: 'True' });
  });
});
