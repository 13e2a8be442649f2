import { setImmediate as settle } from 'node:timers/promises';
import type { EC2Client } from '@aws-sdk/client-ec2';
import { beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { type RecordedMetrics, recordedMetrics } from '../../controllers/testing/records.testing.ts';
import { awsRefusal, type Fake, fakeEc2 } from '../fake-client.testing.ts';
import { tagList } from '../tags.ts';
import { readInstance } from './ec2-instance.ts';
import { Instances } from './instances.ts';
import { instanceIdOf, providerIdOf } from './provider-id.ts';

const ourTags = {
  'karpenter.sh/nodepool': 'default',
  'karpenter.k8s.aws/ec2nodeclass': 'default',
  'eks:eks-cluster-name': 'demo',
};

const machine = (id: string, change: object = {}) => ({
  InstanceId: id,
  InstanceType: 'm5.large' as const,
  ImageId: 'ami-1',
  State: { Name: 'running' as const },
  LaunchTime: new Date(0),
  SubnetId: 'subnet-1',
  SecurityGroups: [{ GroupId: 'sg-1' }],
  Placement: { AvailabilityZone: 'us-east-1a', Tenancy: 'default' as const },
  Tags: tagList(ourTags),
  ...change,
});

let clock: VirtualClock;
let metrics: RecordedMetrics;
let ec2: Fake<EC2Client>;
let instances: Instances;
let there: ReturnType<typeof machine>[];
let shifted: Set<string>;

beforeEach(() => {
  clock = new VirtualClock({ settle });
  metrics = recordedMetrics();
  there = [machine('i-1')];
  shifted = new Set();
  ec2 = fakeEc2({
    DescribeInstances: ({ InstanceIds }: { InstanceIds?: string[] }) => ({
      Reservations: there
        .filter(({ InstanceId }) => InstanceIds === undefined || InstanceIds.includes(InstanceId))
        .map((each) => ({ Instances: [each] })),
    }),
    TerminateInstances: ({ InstanceIds }: { InstanceIds: string[] }) => ({
      TerminatingInstances: InstanceIds.map((InstanceId) => ({ InstanceId, CurrentState: { Name: 'shutting-down' } })),
    }),
    CreateTags: () => ({}),
  });
  instances = new Instances({
    ec2: ec2.client,
    clock,
    metrics,
    clusterName: 'demo',
    reservedCapacity: true,
    isShifted: (zoneId) => shifted.has(zoneId),
    zoneIdOf: (zone) => ({ 'us-east-1a': 'use1-az1', 'us-east-1b': 'use1-az2' })[zone],
  });
});

async function after<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  await clock.runFor(2_000);
  return promise;
}

const failures = 'karpenter_cloudprovider_instance_termination_failures_total';

describe('getting', () => {
  test('asks EC2 once and then remembers, unless a fresh answer is wanted', async () => {
    await after(instances.get('i-1'));
    await after(instances.get('i-1'));
    expect(ec2.calls).toHaveLength(1);
    expect(ec2.calls[0]?.input).toEqual({
      InstanceIds: ['i-1'],
      Filters: [
        {
          Name: 'instance-state-name',
          Values: ['pending', 'running', 'stopping', 'stopped', 'shutting-down'],
        },
      ],
    });
    await after(instances.get('i-1', { isFresh: true }));
    expect(ec2.calls).toHaveLength(2);
  });

  test('an answer that says nothing of its zone or type is not the end of a machine', async () => {
    there = [machine('i-1', { Placement: undefined })];
    await expect(after(instances.get('i-1', { isFresh: true }))).rejects.toMatchObject({
      code: 'InstanceUnreadable',
      retryable: true,
    });
    await expect(after(instances.delete('i-1'))).rejects.toMatchObject({ code: 'InstanceUnreadable' });
    expect(ec2.inputs('TerminateInstances')).toEqual([]);
  });

  test('an unknown, a terminated and a refused id are not found, and forgotten', async () => {
    await after(instances.get('i-1'));
    there = [];
    await expect(after(instances.get('i-1', { isFresh: true }))).rejects.toMatchObject({ kind: 'notFound' });
    await expect(after(instances.get('i-1'))).rejects.toMatchObject({ kind: 'notFound' });
    there = [machine('i-1', { State: { Name: 'terminated' } })];
    await expect(after(instances.get('i-1'))).rejects.toMatchObject({ kind: 'notFound' });
    ec2.answers['DescribeInstances'] = () => {
      throw awsRefusal('InvalidInstanceID.NotFound');
    };
    await expect(after(instances.get('i-1'))).rejects.toMatchObject({ kind: 'notFound' });
    ec2.answers['DescribeInstances'] = () => {
      throw awsRefusal('RequestLimitExceeded');
    };
    await expect(after(instances.get('i-1'))).rejects.toThrow('RequestLimitExceeded');
  });
});

describe('listing', () => {
  test('only machines with all three tags, of this cluster, count: 20 of 40', async () => {
    const without = (key: string) =>
      tagList(Object.fromEntries(Object.entries(ourTags).filter(([each]) => each !== key)));
    const foreign = [
      without('karpenter.sh/nodepool'),
      without('karpenter.k8s.aws/ec2nodeclass'),
      without('eks:eks-cluster-name'),
      tagList({ ...ourTags, 'eks:eks-cluster-name': 'other' }),
    ];
    there = Array.from({ length: 40 }, (_, index) =>
      machine(`i-${index}`, index < 20 ? {} : { Tags: foreign[index % 4] }),
    );
    expect(await instances.list()).toHaveLength(20);
    expect(ec2.inputs('DescribeInstances')[0]).toMatchObject({
      MaxResults: 1000,
      Filters: [
        { Name: 'tag-key', Values: ['karpenter.sh/nodepool'] },
        { Name: 'tag-key', Values: ['karpenter.k8s.aws/ec2nodeclass'] },
        { Name: 'tag:eks:eks-cluster-name', Values: ['demo'] },
        { Name: 'instance-state-name' },
      ],
    });
    there = [];
    expect(await instances.list()).toEqual([]);
  });

  test('what is no longer listed is forgotten, and then not found; not so in a shifted zone', async () => {
    there = [machine('i-1'), machine('i-2', { Placement: { AvailabilityZone: 'us-east-1b' } })];
    await instances.list();
    shifted.add('use1-az1');
    there = [];
    await instances.list();
    await expect(after(instances.get('i-2'))).rejects.toMatchObject({ kind: 'notFound' });
    expect((await after(instances.get('i-1'))).id).toBe('i-1');
  });

  test('a machine launched while the listing was under way is not forgotten', async () => {
    const known = await after(instances.get('i-1'));
    there = [];
    const listing = instances.list();
    instances.remember({ ...known, id: 'i-new' });
    await listing;
    expect((await instances.get('i-new')).id).toBe('i-new');
  });
});

describe('deleting', () => {
  test('terminates what runs, leaves what is going, and says when it is gone', async () => {
    await after(instances.delete('i-1'));
    expect(ec2.inputs('TerminateInstances')).toEqual([{ InstanceIds: ['i-1'] }]);
    there = [machine('i-1', { State: { Name: 'shutting-down' } })];
    await after(instances.delete('i-1'));
    expect(ec2.inputs('TerminateInstances')).toHaveLength(1);
    there = [];
    await expect(after(instances.delete('i-1'))).rejects.toMatchObject({ kind: 'notFound' });
  });

  test('a failure is counted exactly once, with its zone', async () => {
    ec2.answers['TerminateInstances'] = () => {
      throw awsRefusal('UnauthorizedOperation');
    };
    await expect(after(instances.delete('i-1'))).rejects.toThrow('UnauthorizedOperation');
    expect(metrics.series(failures)).toEqual([{ labels: { zone: 'us-east-1a', zone_id: 'use1-az1' }, value: 1 }]);
  });

  test('a machine without a tag of this cluster is left alone, whatever a claim says and IAM allows', async () => {
    const foreign = [{}, { 'eks:eks-cluster-name': 'other' }, { 'kubernetes.io/cluster/demo': 'shared' }];
    for (const tags of foreign) {
      there = [machine('i-1', { Tags: tagList(tags) })];
      await expect(after(instances.delete('i-1'))).rejects.toThrow(
        'instance i-1 has neither tag eks:eks-cluster-name=demo nor kubernetes.io/cluster/demo=owned',
      );
    }
    expect(ec2.inputs('TerminateInstances')).toEqual([]);
    const noPool = { 'kubernetes.io/cluster/demo': 'owned', 'eks:eks-cluster-name': 'demo' };
    there = [machine('i-1', { Tags: tagList(noPool) })];
    await expect(after(instances.delete('i-1'))).rejects.toThrow('instance i-1 has no tag karpenter.sh/nodepool');
    await expect(after(instances.createTags('i-1', { a: 'b' }))).rejects.toMatchObject({ code: 'InstanceForeign' });
    expect([ec2.inputs('TerminateInstances'), ec2.inputs('CreateTags')]).toEqual([[], []]);
    there = [
      machine('i-2', { Tags: tagList({ 'kubernetes.io/cluster/demo': 'owned', 'karpenter.sh/nodepool': 'a' }) }),
    ];
    await after(instances.delete('i-2'));
    expect(ec2.inputs('TerminateInstances')).toHaveLength(1);
  });

  test('a machine that went between the look and the call is not found, and no failure', async () => {
    ec2.answers['TerminateInstances'] = () => {
      throw awsRefusal('InvalidInstanceID.NotFound');
    };
    await expect(after(instances.delete('i-1'))).rejects.toMatchObject({ kind: 'notFound' });
    expect(metrics.series(failures)).toEqual([]);
  });
});

test('a machine says why it is foreign', async () => {
  there = [machine('i-1', { Tags: tagList({ 'eks:eks-cluster-name': 'other' }) })];
  expect(await after(instances.whyForeign('i-1'))).toContain('instance i-1 has neither tag eks:eks-cluster-name=demo');
  await expect(after(instances.whyForeign('i-2'))).rejects.toMatchObject({ kind: 'notFound' });
});

test('a foreign machine that was never looked at is looked at before it is tagged', async () => {
  there = [machine('i-1', { Tags: tagList({ 'eks:eks-cluster-name': 'other' }) })];
  await expect(after(instances.createTags('i-1', { a: 'b' }))).rejects.toMatchObject({ code: 'InstanceForeign' });
  expect(ec2.inputs('CreateTags')).toEqual([]);
});

describe('in a shifted zone', () => {
  test('a fresh get is answered from memory; deleting and tagging are refused without a call or a failure counted', async () => {
    await after(instances.get('i-1'));
    shifted.add('use1-az1');
    ec2.calls.length = 0;
    expect((await instances.get('i-1', { isFresh: true })).id).toBe('i-1');
    await expect(instances.delete('i-1')).rejects.toThrow('zonally shifted');
    await expect(instances.createTags('i-1', { a: 'b' })).rejects.toThrow('zonally shifted');
    expect(ec2.calls).toEqual([]);
    expect(metrics.series(failures)).toEqual([]);
  });

  test('without memory deleting looks once and then refuses; tagging goes ahead', async () => {
    shifted.add('use1-az1');
    await expect(after(instances.delete('i-1'))).rejects.toThrow('zonally shifted');
    expect(ec2.calls.map(({ action }) => action)).toEqual(['DescribeInstances']);
    there = [machine('i-9')];
    await after(instances.createTags('i-9', { a: 'b' }));
    expect(ec2.inputs('CreateTags')).toEqual([{ Resources: ['i-9'], Tags: [{ Key: 'a', Value: 'b' }] }]);
  });
});

describe('what EC2 says about a machine', () => {
  const capacityTypeOf = (change: object, reservedCapacity = true) => {
    const read = readInstance(machine('i-1', change), { reservedCapacity });
    return [read?.capacityType, read?.reservation];
  };
  const only = { CapacityReservationPreference: 'capacity-reservations-only' };

  test('spot by its request, reserved by purpose, on-demand otherwise', () => {
    expect(capacityTypeOf({ SpotInstanceRequestId: 'sir-1' })).toEqual(['spot', undefined]);
    expect(capacityTypeOf({ InstanceLifecycle: 'spot' })).toEqual(['spot', undefined]);
    const reserved = { CapacityReservationId: 'cr-1', CapacityReservationSpecification: only };
    expect(capacityTypeOf(reserved)).toEqual(['reserved', { id: 'cr-1', type: 'default', interruptible: false }]);
    expect(capacityTypeOf(reserved, false)).toEqual(['on-demand', undefined]);
    expect(capacityTypeOf({ CapacityReservationId: 'cr-1' })).toEqual(['on-demand', undefined]);
    expect(capacityTypeOf({ ...reserved, InstanceLifecycle: 'capacity-block' })).toEqual([
      'reserved',
      { id: 'cr-1', type: 'capacity-block', interruptible: false },
    ]);
    expect(capacityTypeOf({ ...reserved, InstanceLifecycle: 'interruptible-capacity-reservation' })).toEqual([
      'reserved',
      { id: 'cr-1', type: 'default', interruptible: true },
    ]);
  });

  test('half an answer is not a machine', () => {
    expect(readInstance({ InstanceId: 'i-1' }, { reservedCapacity: true })).toBeUndefined();
  });
});

test.each([
  ['aws:///us-east-1a/i-1', 'i-1'],
  ['anything:///zone/i-2', 'i-2'],
  ['aws:///i-1', undefined],
  ['nowhere://nothing', undefined],
  ['', undefined],
])('the provider id %s names %s', (text, id) => {
  expect(instanceIdOf(text)).toBe(id);
  expect(instanceIdOf(providerIdOf({ zone: 'a', id: 'i-3' }))).toBe('i-3');
});

describe('a reboot', () => {
  test('is asked of EC2 for an instance that is ours and there', async () => {
    ec2.answers['RebootInstances'] = () => ({});
    const asked = instances.reboot('i-1');
    await clock.runFor(2_000);
    await asked;
    expect(ec2.inputs('RebootInstances')).toEqual([{ InstanceIds: ['i-1'] }]);
  });

  test('of one that is going, or gone, is not found; a refusal is for good', async () => {
    const outcome = async (id: string) => {
      const asked = instances.reboot(id).then(
        () => 'asked',
        (error: { kind?: string }) => error.kind ?? 'other',
      );
      await clock.runFor(2_000);
      return asked;
    };
    there = [machine('i-2', { State: { Name: 'shutting-down' as const } }), machine('i-3')];
    expect(await outcome('i-2')).toBe('notFound');
    expect(await outcome('i-9')).toBe('notFound');
    ec2.answers['RebootInstances'] = () => {
      throw awsRefusal('UnauthorizedOperation');
    };
    expect(await outcome('i-3')).toBe('rebootFailed');
    ec2.answers['RebootInstances'] = () => {
      throw awsRefusal('RequestLimitExceeded');
    };
    expect(await outcome('i-3')).toBe('other');
  });
});
