import { setImmediate as settle } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { recordedMetrics } from '../../controllers/testing/records.testing.ts';
import { awsRefusal, fakeEc2 } from '../fake-client.testing.ts';
import { CallBatcher } from './call-batcher.ts';
import { describeBatcher, type FleetRequest, fleetBatcher, terminateBatcher } from './ec2-batchers.ts';

let clock: VirtualClock;
let metrics: ReturnType<typeof recordedMetrics>;
beforeEach(() => {
  clock = new VirtualClock({ settle });
  metrics = recordedMetrics();
});

async function all<T>(promises: Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  const settled = Promise.allSettled(promises);
  await clock.runFor(3_000);
  return settled;
}

describe('the window', () => {
  const echo = (seen: number[][], options: Partial<{ mostItems: number; mostCalls: number }> = {}) =>
    new CallBatcher<number, number>({
      name: 'echo',
      clock,
      metrics,
      idleMs: 35,
      longestMs: 1_000,
      mostItems: 1_000,
      ...options,
      bucketOf: (request) => String(request % 10),
      async execute(requests) {
        seen.push([...requests]);
        await clock.sleep(100);
        return requests.map((value) => ({ status: 'fulfilled' as const, value }));
      },
    });

  test('closes when no request came for the idle time', async () => {
    const seen: number[][] = [];
    const batcher = echo(seen);
    const answers = [batcher.add(10)];
    await clock.runFor(30);
    answers.push(batcher.add(20));
    await clock.runFor(34);
    expect(seen).toEqual([]);
    await clock.runFor(1);
    expect(seen).toEqual([[10, 20]]);
    await all(answers);
    expect(metrics.value('karpenter_cloudprovider_batcher_batch_size', { batcher: 'echo' })).toBe(2);
    expect(metrics.value('karpenter_cloudprovider_batcher_batch_time_seconds', { batcher: 'echo' })).toBeCloseTo(0.065);
  });

  test('closes after the longest time however many come', async () => {
    const seen: number[][] = [];
    const batcher = echo(seen);
    const answers: Promise<number>[] = [];
    for (let turn = 0; turn < 50; turn += 1) {
      answers.push(batcher.add(0));
      await clock.runFor(30);
    }
    expect(seen[0]).toHaveLength(34);
    expect(await all(answers)).toHaveLength(50);
  });

  test('closes at once when full, and keeps to the calls that may be under way', async () => {
    const seen: number[][] = [];
    const batcher = echo(seen, { mostItems: 2, mostCalls: 1 });
    const answers = [0, 0, 0, 0].map((value) => batcher.add(value));
    await settle();
    expect(seen).toEqual([[0, 0]]);
    await clock.runFor(100);
    expect(seen).toHaveLength(2);
    await all(answers);
  });

  test('is one per bucket: who has no company goes first', async () => {
    const seen: number[][] = [];
    const batcher = echo(seen);
    await all([1, 2, 11].map((value) => batcher.add(value)));
    expect(seen).toEqual([[2], [1, 11]]);
  });
});

describe('fleets', () => {
  const request = (context = ''): FleetRequest => ({
    LaunchTemplateConfigs: [],
    Context: context,
    TargetCapacitySpecification: { DefaultTargetCapacityType: 'spot' },
  });
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `i-${index}`);
  const launching = (most = Number.POSITIVE_INFINITY, errors: object[] = []) => {
    const aws = fakeEc2({
      CreateFleet: (input: { TargetCapacitySpecification: { TotalTargetCapacity: number } }) => ({
        Instances: [{ InstanceIds: ids(Math.min(most, input.TargetCapacitySpecification.TotalTargetCapacity)) }],
        Errors: errors,
      }),
    });
    return { aws, batcher: fleetBatcher({ ec2: aws.client, clock, metrics }) };
  };

  test('five equal requests are one call of capacity five, an instance each', async () => {
    const { aws, batcher } = launching();
    const shares = await all(ids(5).map(() => batcher.add(request())));
    expect(aws.inputs('CreateFleet')).toMatchObject([{ TargetCapacitySpecification: { TotalTargetCapacity: 5 } }]);
    const got = shares.map((share) => share.status === 'fulfilled' && share.value.instance?.InstanceIds);
    expect(got).toEqual(ids(5).map((id) => [id]));
  });

  test('four equal requests and a different one are two calls', async () => {
    const { aws, batcher } = launching();
    await all([request(), request(), request(), request(), request('other')].map((each) => batcher.add(each)));
    expect(aws.inputs('CreateFleet')).toMatchObject([
      { TargetCapacitySpecification: { TotalTargetCapacity: 4 } },
      { TargetCapacitySpecification: { TotalTargetCapacity: 1 } },
    ]);
  });

  test('an error of the call goes to all five', async () => {
    const { aws, batcher } = launching();
    aws.answers['CreateFleet'] = () => {
      throw awsRefusal('RequestLimitExceeded');
    };
    const shares = await all(ids(5).map(() => batcher.add(request())));
    expect(shares.map((share) => share.status)).toEqual(Array(5).fill('rejected'));
    expect(aws.inputs('CreateFleet')).toHaveLength(1);
  });

  test('three of five: three instances, and the errors for all', async () => {
    const { batcher } = launching(3, [{ ErrorCode: 'InsufficientInstanceCapacity' }]);
    const shares = await all(ids(5).map(() => batcher.add(request())));
    const values = shares.flatMap((share) => (share.status === 'fulfilled' ? [share.value] : []));
    expect(values.filter(({ instance }) => instance !== undefined)).toHaveLength(3);
    expect(values.every(({ errors }) => errors[0]?.ErrorCode === 'InsufficientInstanceCapacity')).toBe(true);
  });

  test('too few instances and no word why is an error of its own', async () => {
    const { batcher } = launching(1);
    const shares = await all([request(), request()].map((each) => batcher.add(each)));
    expect(shares).toMatchObject([
      { value: { errors: [] } },
      { value: { errors: [{ ErrorMessage: 'too few instances returned' }] } },
    ]);
  });
});

describe('instances by id', () => {
  const filters = [{ Name: 'instance-state-name', Values: ['running'] }];
  const describing = (known: (ids: string[]) => string[]) => {
    const aws = fakeEc2({
      DescribeInstances: ({ InstanceIds }: { InstanceIds: string[] }) => ({
        Reservations: known(InstanceIds).map((InstanceId) => ({ Instances: [{ InstanceId }] })),
      }),
    });
    const batcher = describeBatcher({ ec2: aws.client, clock, metrics });
    return { aws, ask: (ids: string[]) => all(ids.map((id) => batcher.add({ id, filters }))) };
  };
  const five = ['i-1', 'i-2', 'i-3', 'i-4', 'i-5'];

  test('five ids are one call, without a page size; duplicates share an answer', async () => {
    const { aws, ask } = describing((ids) => ids);
    const answers = await ask([...five, 'i-1']);
    expect(aws.inputs('DescribeInstances')).toEqual([{ InstanceIds: five, Filters: filters }]);
    expect(answers.map((answer) => answer.status === 'fulfilled' && answer.value?.InstanceId)).toEqual([
      ...five,
      'i-1',
    ]);
  });

  test('ids missing from the answer are asked for one by one: three calls', async () => {
    const { aws, ask } = describing((ids) => (ids.length === 1 ? [] : ids.slice(0, 3)));
    const answers = await ask(five);
    expect(aws.inputs('DescribeInstances')).toHaveLength(3);
    expect(aws.inputs('DescribeInstances')[1]).toEqual({ InstanceIds: ['i-4'], Filters: filters });
    expect(answers.map((answer) => answer.status === 'fulfilled' && answer.value?.InstanceId)).toEqual([
      'i-1',
      'i-2',
      'i-3',
      undefined,
      undefined,
    ]);
  });

  test('a failed call is made again for each: six calls, and only the bad id fails', async () => {
    const { aws, ask } = describing((ids) => {
      if (ids.includes('i-2')) throw awsRefusal('InvalidInstanceID.NotFound');
      return ids;
    });
    const answers = await ask(five);
    expect(aws.inputs('DescribeInstances')).toHaveLength(6);
    expect(answers.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
  });

  test('different filters never share a call', async () => {
    const { aws } = describing((ids) => ids);
    const batcher = describeBatcher({ ec2: aws.client, clock, metrics });
    await all([batcher.add({ id: 'i-1', filters }), batcher.add({ id: 'i-2', filters: [] })]);
    expect(aws.inputs('DescribeInstances')).toHaveLength(2);
  });

  const terminating = (going: (ids: string[]) => string[]) => {
    const aws = fakeEc2({
      TerminateInstances: ({ InstanceIds }: { InstanceIds: string[] }) => ({
        TerminatingInstances: going(InstanceIds).map((InstanceId) => ({
          InstanceId,
          CurrentState: { Name: 'shutting-down' },
        })),
      }),
    });
    const batcher = terminateBatcher({ ec2: aws.client, clock, metrics });
    return { aws, ask: (ids: string[]) => all(ids.map((id) => batcher.add(id))) };
  };

  test('five instances are terminated in one call, duplicates too', async () => {
    const { aws, ask } = terminating((ids) => ids);
    await ask([...five, 'i-5']);
    expect(aws.inputs('TerminateInstances')).toEqual([{ InstanceIds: five }]);
  });

  test('those not reported as going are terminated alone: three calls', async () => {
    const { aws, ask } = terminating((ids) => (ids.length === 1 ? ids : ids.slice(0, 3)));
    const answers = await ask(five);
    expect(aws.inputs('TerminateInstances')).toHaveLength(3);
    expect(answers.every((answer) => answer.status === 'fulfilled' && answer.value !== undefined)).toBe(true);
  });

  test('a failed termination is tried for each: six calls', async () => {
    const { aws, ask } = terminating(() => {
      throw awsRefusal('UnauthorizedOperation');
    });
    const answers = await ask(five);
    expect(aws.inputs('TerminateInstances')).toHaveLength(6);
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
  });
});
