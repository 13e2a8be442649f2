import type { InstanceStatus } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { awsRefusal, fakeEc2 } from '../../aws/fake-client.testing.ts';
import { type AwsBench, makeInstance, openAwsBench } from '../aws-bench.testing.ts';
import { instanceStatusController } from './controller.ts';

const termination = 'karpenter.sh/nodeclaim-termination-timestamp';
const minute = 60_000;
const hour = 60 * minute;
let bench: AwsBench;
let statuses: InstanceStatus[] = [];
let refusal: Error | undefined;
let token: string | undefined;
let ec2: ReturnType<typeof fakeEc2>;

const open = async (dryRun = false): Promise<void> => {
  statuses = [];
  refusal = undefined;
  ec2 = fakeEc2({
    DescribeInstanceStatus: () => {
      if (refusal !== undefined) throw refusal;
      return { InstanceStatuses: statuses, NextToken: token };
    },
  });
  bench = await openAwsBench({
    controllers: (context, reaction) => [instanceStatusController(context, { ec2: ec2.client, reaction, dryRun })],
  });
};
beforeEach(() => open());
afterEach(() => bench.close());

const impaired = (sinceMs: number) => ({
  Status: 'impaired' as const,
  Details: [{ Name: 'reachability' as const, Status: 'failed' as const, ImpairedSince: new Date(sinceMs) }],
});
const inTime = (ms: number): Date => new Date(bench.clock.now() + ms);
const ago = (ms: number): number => bench.clock.now() - ms;
const counted = (category: string) =>
  bench.metrics.value('karpenter_interruption_instance_status_unhealthy_total', { category });
const annotationOf = async (name: string) => (await bench.claim(name)).metadata.annotations?.[termination];

describe('an instance that EC2 reports as unhealthy', () => {
  test.each(['InstanceStatus', 'SystemStatus'] as const)(
    'an impaired %s older than two minutes annotates and deletes the claim',
    async (category) => {
      await makeInstance(bench, 'a');
      statuses = [{ InstanceId: 'i-a', [category]: impaired(ago(minute)) }];
      await bench.run(minute);
      expect(await bench.isDeleted('a')).toBe(false);
      // Two minutes old, and seen a second time ten seconds later.
      await bench.run(minute + 11_000);
      expect(await bench.isDeleted('a')).toBe(true);
      expect(await annotationOf('a')).toMatch(/Z$/);
      expect(bench.eventsOf('a')).toContain('NodeClaim InstanceUnhealthy');
      const reason = category === 'InstanceStatus' ? 'instance_status' : 'system_status';
      expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason })).toBe(1);
    },
  );

  test.each(['instance-reboot', 'system-reboot', 'system-maintenance', 'instance-retirement', 'instance-stop'])(
    'a scheduled %s deletes the claim at the second look, without an annotation',
    async (Code) => {
      await makeInstance(bench, 'a');
      statuses = [{ InstanceId: 'i-a', Events: [{ Code: Code as 'instance-stop' }] }];
      await bench.run(minute);
      expect(await bench.isDeleted('a')).toBe(false);
      await bench.run(11_000);
      expect(await bench.isDeleted('a')).toBe(true);
      expect(await annotationOf('a')).toBeUndefined();
    },
  );

  test('a failed check and an event together annotate', async () => {
    await makeInstance(bench, 'a');
    const Events = [{ Code: 'instance-stop' as const }];
    statuses = [{ InstanceId: 'i-a', SystemStatus: impaired(ago(5 * minute)), Events }];
    await bench.run(minute + 11_000);
    expect(await annotationOf('a')).toMatch(/Z$/);
    expect(await bench.isDeleted('a')).toBe(true);
  });

  test('reconciling again leaves the annotation and the resource version as they are', async () => {
    await makeInstance(bench, 'a');
    statuses = [{ InstanceId: 'i-a', InstanceStatus: impaired(ago(5 * minute)) }];
    await bench.run(minute + 11_000);
    const { metadata } = await bench.claim('a');
    await bench.run(3 * minute);
    expect((await bench.claim('a')).metadata).toEqual(metadata);
  });

  test.each([
    ['a failed check', () => ({ SystemStatus: impaired(ago(10 * minute)) })],
    ['an event', () => ({ Events: [{ Code: 'instance-retirement' as const, NotBefore: inTime(2 * minute) }] })],
  ])('one wrong answer about %s takes no machine', async (_, wrong) => {
    await makeInstance(bench, 'a');
    statuses = [{ InstanceId: 'i-a', ...wrong() }];
    const asked = ec2.calls.length;
    while (ec2.calls.length === asked) await bench.run(1_000);
    statuses = [];
    await bench.run(5 * minute);
    expect(await bench.isDeleted('a')).toBe(false);
  });

  test('since when is not known: then from when it was first seen', async () => {
    await makeInstance(bench, 'a');
    statuses = [
      {
        InstanceId: 'i-a',
        InstanceStatus: { Status: 'impaired', Details: [{ Name: 'reachability', Status: 'failed' }] },
      },
    ];
    await bench.run(2 * minute);
    expect(await bench.isDeleted('a')).toBe(false);
    await bench.run(3 * minute);
    expect(await bench.isDeleted('a')).toBe(true);
  });

  const fleet = Array.from({ length: 30 }, (_, index) => `n${index}`);
  const deletedOf = async (names: readonly string[]): Promise<string[]> => {
    const found = await Promise.all(names.map(async (name) => ((await bench.isDeleted(name)) ? [name] : [])));
    return found.flat();
  };
  const heldBack = () =>
    bench.metrics.value('kerf_garbage_collection_held_back', { controller: 'interruption.instancestatus' });

  test.each([
    ['impaired', () => ({ SystemStatus: impaired(ago(10 * minute)) })],
    ['due for retirement', () => ({ Events: [{ Code: 'instance-retirement' as const, NotBefore: inTime(hour) }] })],
  ])('when most of a fleet is called %s, a share goes at a time, and it is said', async (_, status) => {
    for (const name of fleet) await makeInstance(bench, name);
    statuses = fleet.map((name) => ({ InstanceId: `i-${name}`, ...status() }));
    await bench.run(75_000);
    expect(await deletedOf(fleet)).toHaveLength(10);
    expect(heldBack()).toBe(20);
    expect(bench.eventsOf('n29')).toContain('NodeClaim InterruptionHeldBack');
    expect(bench.eventsOf('n0')).not.toContain('NodeClaim InterruptionHeldBack');
    await bench.run(2 * minute);
    expect(await deletedOf(fleet)).toHaveLength(30);
    await bench.run(minute);
    expect(heldBack()).toBe(0);
  });

  test('the earliest event goes first', async () => {
    for (const name of fleet) await makeInstance(bench, name);
    statuses = fleet.map((name, index) => ({
      InstanceId: `i-${name}`,
      Events: [{ Code: 'instance-stop', NotBefore: inTime((60 - index) * minute) }],
    }));
    await bench.run(75_000);
    expect((await deletedOf(fleet)).sort()).toEqual(fleet.slice(20));
  });

  test('an event that begins before its turn would come does not wait, once it was seen twice', async () => {
    for (const name of fleet) await makeInstance(bench, name);
    const NotBefore = inTime(5 * minute);
    statuses = fleet.map((name) => ({ InstanceId: `i-${name}`, Events: [{ Code: 'instance-stop', NotBefore }] }));
    await bench.run(minute);
    expect(await deletedOf(fleet)).toEqual([]);
    await bench.run(11_000);
    expect(await deletedOf(fleet)).toEqual(fleet);
  });

  test('an event whose time has passed counts as one without a time', async () => {
    for (const name of fleet) await makeInstance(bench, name);
    const NotBefore = new Date(ago(minute));
    statuses = fleet.map((name) => ({ InstanceId: `i-${name}`, Events: [{ Code: 'instance-stop', NotBefore }] }));
    await bench.run(75_000);
    expect(await deletedOf(fleet)).toHaveLength(10);
  });

  test('a check that fails after an event was seen is looked at twice, too', async () => {
    await makeInstance(bench, 'a');
    const Events = [{ Code: 'instance-stop' as const }];
    statuses = [{ InstanceId: 'i-a', Events }];
    await bench.run(minute);
    statuses = [{ InstanceId: 'i-a', Events, SystemStatus: impaired(ago(10 * minute)) }];
    await bench.run(10_000);
    expect(await annotationOf('a')).toBeUndefined();
    await bench.run(11_000);
    expect(await annotationOf('a')).toMatch(/Z$/);
  });

  test('pages that repeat without end are given up', async () => {
    await bench.close();
    await open();
    await makeInstance(bench, 'a');
    statuses = [{ InstanceId: 'i-a', Events: [{ Code: 'instance-stop' }] }];
    token = 'again';
    await bench.run(2 * minute);
    expect(ec2.calls.length).toBeLessThan(100);
    token = undefined;
  });

  test('an event that is over, a passing check and the disks count for nothing', async () => {
    await makeInstance(bench, 'a');
    statuses = [
      {
        InstanceId: 'i-a',
        Events: [{ Code: 'instance-reboot', Description: '[Completed] reboot' }],
        InstanceStatus: { Status: 'ok', Details: [{ Name: 'reachability', Status: 'passed' }] },
        AttachedEbsStatus: { Status: 'impaired', Details: [{ Name: 'reachability', Status: 'failed' }] },
      },
    ];
    await bench.run(3 * minute);
    expect(await bench.isDeleted('a')).toBe(false);
  });
});

describe('the count of unhealthy instances', () => {
  test('an instance counts once per category until it recovers, each instance by itself', async () => {
    await makeInstance(bench, 'a');
    await makeInstance(bench, 'b');
    const broken = (id: string): InstanceStatus => ({ InstanceId: id, SystemStatus: impaired(0) });
    statuses = [broken('i-a')];
    await bench.run(3 * minute);
    expect(counted('SystemStatus')).toBe(1);
    statuses = [broken('i-a'), broken('i-b')];
    await bench.run(minute);
    expect(counted('SystemStatus')).toBe(2);
    statuses = [broken('i-b')];
    await bench.run(minute);
    statuses = [broken('i-a'), broken('i-b')];
    await bench.run(minute);
    expect(counted('SystemStatus')).toBe(3);
  });

  test('a dry run counts without deleting', async () => {
    await bench.close();
    await open(true);
    await makeInstance(bench, 'a');
    statuses = [{ InstanceId: 'i-a', InstanceStatus: impaired(0), Events: [{ Code: 'instance-stop' }] }];
    await bench.run(2 * minute);
    expect([counted('InstanceStatus'), counted('EventStatus')]).toEqual([1, 1]);
    expect(await bench.isDeleted('a')).toBe(false);
    expect(await annotationOf('a')).toBeUndefined();
  });

  test('instances of others are not counted', async () => {
    statuses = [{ InstanceId: 'i-other', InstanceStatus: impaired(0) }];
    await bench.run(2 * minute);
    expect(counted('InstanceStatus')).toBeUndefined();
  });
});

test('three questions are asked a minute, and none any more once that is not permitted', async () => {
  const filters = ec2.inputs<{ Filters: { Name: string; Values: string[] }[] }>('DescribeInstanceStatus');
  expect(filters.slice(0, 3).map(({ Filters }) => Filters[0]?.Name)).toEqual([
    'instance-status.status',
    'system-status.status',
    'event.code',
  ]);
  refusal = awsRefusal('UnauthorizedOperation');
  await bench.run(10 * minute);
  expect(ec2.calls).toHaveLength(6);
  expect(bench.log.lines.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/allow ec2:DescribeInstanceStatus/),
  );
});

test('a throttled question is asked again', async () => {
  await makeInstance(bench, 'a');
  refusal = awsRefusal('RequestLimitExceeded');
  await bench.run(minute);
  refusal = undefined;
  statuses = [{ InstanceId: 'i-a', InstanceStatus: impaired(0) }];
  await bench.run(5 * minute);
  expect(await bench.isDeleted('a')).toBe(true);
});
