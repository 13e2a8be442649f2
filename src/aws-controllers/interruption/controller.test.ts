import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Interruption, interruptionMessage } from '../../../test/setup/aws/interruption.ts';
import { type AwsBench, makeInstance, memoryQueue, openAwsBench } from '../aws-bench.testing.ts';
import { interruptionController } from './controller.ts';

let bench: AwsBench;
let queue: ReturnType<typeof memoryQueue>;
const open = async (replacesOnRebalance = false): Promise<void> => {
  bench = await openAwsBench({
    replacesOnRebalance,
    controllers: (context, reaction) => {
      queue = memoryQueue(context.clock);
      return [interruptionController(context, { sqs: queue.client, queueName: 'one', reaction })];
    },
  });
};
beforeEach(() => open());
afterEach(() => bench.close());

const send = (event: Interruption): void =>
  queue.send(
    JSON.stringify(interruptionMessage(event, { region: 'us-east-1', atMs: bench.clock.now() })),
    bench.clock.now() - 5_000,
  );
const receive = () => bench.run(21_000);
const received = (kind: string) =>
  bench.metrics.value('karpenter_interruption_received_messages_total', { message_type: kind });
const disrupted = (reason: string) =>
  bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason, nodepool: 'default', capacity_type: 'spot' });

describe('the claim and the message go', () => {
  test.each([
    ['spot_interrupted', 'SpotInterrupted', { kind: 'spot-interruption', instanceId: 'i-a' }],
    [
      'capacity_reservation_interrupted',
      'CapacityReservationInstanceInterrupted',
      { kind: 'capacity-reservation-interruption', instanceId: 'i-a' },
    ],
    ['scheduled_change', 'InstanceUnhealthy', { kind: 'scheduled-change', instanceIds: ['i-a'] }],
    ['instance_stopped', 'InstanceStopping', { kind: 'state-change', instanceId: 'i-a', state: 'stopping' }],
    ['instance_stopped', 'InstanceStopping', { kind: 'state-change', instanceId: 'i-a', state: 'stopped' }],
    ['instance_terminated', 'InstanceTerminating', { kind: 'state-change', instanceId: 'i-a', state: 'shutting-down' }],
    ['instance_terminated', 'InstanceTerminating', { kind: 'state-change', instanceId: 'i-a', state: 'terminated' }],
  ] satisfies [string, string, Interruption][])('%s, reported as %s', async (kind, reason, event) => {
    await makeInstance(bench, 'a');
    await makeInstance(bench, 'b');
    send(event);
    await receive();
    expect([await bench.isDeleted('a'), await bench.isDeleted('b')]).toEqual([true, false]);
    expect(queue.deleted).toEqual(['m-1']);
    expect(bench.eventsOf('a')).toEqual(
      expect.arrayContaining([
        `NodeClaim ${reason}`,
        `Node ${reason}`,
        'NodeClaim TerminatingOnInterruption',
        'Node TerminatingOnInterruption',
      ]),
    );
    expect(received(kind)).toBe(1);
    expect(disrupted(kind)).toBe(1);
    expect(bench.metrics.value('karpenter_interruption_deleted_messages_total')).toBe(1);
    expect(bench.metrics.value('karpenter_interruption_message_queue_duration_seconds')).toBeGreaterThanOrEqual(5);
  });

  test('100 claims and 100 messages from one receive', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    for (const name of names) await makeInstance(bench, name);
    for (const name of names) send({ kind: 'spot-interruption', instanceId: `i-${name}` });
    await receive();
    expect(queue.deleted).toHaveLength(100);
    expect(await Promise.all(names.map((name) => bench.isDeleted(name)))).toEqual(names.map(() => true));
  });

  test('a second message for the same instance changes and counts nothing more', async () => {
    await makeInstance(bench, 'a');
    send({ kind: 'spot-interruption', instanceId: 'i-a' });
    await receive();
    send({ kind: 'spot-interruption', instanceId: 'i-a' });
    await receive();
    expect(disrupted('spot_interrupted')).toBe(1);
    expect(queue.deleted).toHaveLength(2);
  });
});

describe('messages that ask for nothing', () => {
  test('an unreadable body is deleted and nothing else happens', async () => {
    await makeInstance(bench, 'a');
    queue.send('not json');
    await receive();
    expect(queue.deleted).toEqual(['m-1']);
    expect(await bench.isDeleted('a')).toBe(false);
    expect(bench.log.lines.some(({ message }) => message.startsWith('cannot read message'))).toBe(true);
  });

  test('a state that needs no reaction: the message is deleted, nothing else', async () => {
    await makeInstance(bench, 'a');
    send({ kind: 'state-change', instanceId: 'i-a', state: 'running' });
    await receive();
    expect(queue.deleted).toEqual(['m-1']);
    expect(await bench.isDeleted('a')).toBe(false);
    expect(received('no_op')).toBe(1);
  });

  test('an instance that is not ours is not an error', async () => {
    send({ kind: 'spot-interruption', instanceId: 'i-unknown' });
    await receive();
    expect(queue.deleted).toEqual(['m-1']);
    expect(bench.log.lines.filter(({ error }) => error !== undefined)).toEqual([]);
  });
});

describe('what an interruption says about the offering', () => {
  test('a spot warning makes its type and zone unavailable as spot', async () => {
    await makeInstance(bench, 'a');
    send({ kind: 'spot-interruption', instanceId: 'i-a' });
    await receive();
    expect(bench.lost).toEqual(['spot:m5.large:us-east-1a']);
  });

  test('a reservation warning empties the reservation', async () => {
    await makeInstance(bench, 'a', { 'karpenter.k8s.aws/capacity-reservation-id': 'cr-1' });
    send({ kind: 'capacity-reservation-interruption', instanceId: 'i-a' });
    await receive();
    expect(bench.lost).toEqual(['cr-1']);
  });
});

describe('a queue that cannot be read', () => {
  test.each(['QueueDoesNotExist', 'AccessDenied'])('%s is a reconcile error with back-off, and heals', async (code) => {
    await makeInstance(bench, 'a');
    await bench.pool('spot');
    await bench.pool('steady', {
      spec: {
        template: {
          spec: { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }] },
        },
      },
    });
    queue.failReceive(Object.assign(new Error(`${code} says SQS`), { name: code }));
    await receive();
    expect(bench.eventsOf('spot')).toContain('NodePool InterruptionQueueUnreadable');
    expect(bench.eventsOf('steady')).toEqual([]);
    const errors = bench.log.lines.filter(({ message }) => message === 'Reconciler error');
    expect(String(errors[0]?.error)).toMatch(new RegExp(`cannot read interruption queue one: ${code}.*kerf iam queue`));
    await bench.run(60_000);
    const tries = bench.log.lines.filter(({ message }) => message === 'Reconciler error').length;
    expect(tries).toBeLessThan(40);
    queue.failReceive(undefined);
    send({ kind: 'spot-interruption', instanceId: 'i-a' });
    await bench.run(20 * 60_000);
    expect(await bench.isDeleted('a')).toBe(true);
  });
});

describe('a scheduled change of most of a fleet', () => {
  const fleet = Array.from({ length: 30 }, (_, index) => `n${index}`);
  const deleted = async (): Promise<number> =>
    (await Promise.all(fleet.map((name) => bench.isDeleted(name)))).filter(Boolean).length;
  const isHeldBack = (name: string): boolean => bench.eventsOf(name).includes('NodeClaim InterruptionHeldBack');
  const heldBack = () => bench.metrics.value('kerf_garbage_collection_held_back', { controller: 'interruption' });
  beforeEach(async () => {
    for (const name of fleet) await makeInstance(bench, name);
  });

  test('takes a share down per minute, says so, and its message stays until all are', async () => {
    const change = (): void => send({ kind: 'scheduled-change', instanceIds: fleet.map((name) => `i-${name}`) });
    change();
    await receive();
    expect([await deleted(), queue.deleted, heldBack()]).toEqual([10, [], 20]);
    expect([isHeldBack('n0'), isHeldBack('n29')]).toEqual([false, true]);
    // It comes again when its visibility timeout is over.
    change();
    await receive();
    expect([await deleted(), queue.deleted]).toEqual([10, []]);
    await bench.run(40_000);
    change();
    await receive();
    expect([await deleted(), queue.deleted]).toEqual([20, []]);
    await bench.run(60_000);
    change();
    await receive();
    expect([await deleted(), queue.deleted.length, heldBack()]).toEqual([30, 1, 0]);
  });

  test('in a message each is bounded, too', async () => {
    for (const name of fleet) send({ kind: 'scheduled-change', instanceIds: [`i-${name}`] });
    await receive();
    expect([await deleted(), queue.deleted.length, heldBack()]).toEqual([10, 10, 20]);
  });

  test('does not keep spot interruptions waiting', async () => {
    send({ kind: 'scheduled-change', instanceIds: fleet.slice(0, 15).map((name) => `i-${name}`) });
    for (const name of fleet.slice(15)) send({ kind: 'spot-interruption', instanceId: `i-${name}` });
    await receive();
    expect(await deleted()).toBe(25);
  });
});

test('a message whose handling fails stays in the queue', async () => {
  await makeInstance(bench, 'a');
  const remove = bench.kube.delete.bind(bench.kube);
  bench.kube.delete = () => Promise.reject(new Error('the API server is away'));
  send({ kind: 'spot-interruption', instanceId: 'i-a' });
  await receive();
  expect(queue.deleted).toEqual([]);
  expect(disrupted('spot_interrupted')).toBeUndefined();
  bench.kube.delete = remove;
});

describe('a rebalance recommendation', () => {
  const recommend = async (): Promise<void> => {
    await makeInstance(bench, 'a');
    send({ kind: 'rebalance-recommendation', instanceId: 'i-a' });
    await receive();
  };

  test('is an event and a metric, and the node stays', async () => {
    await recommend();
    expect(bench.eventsOf('a')).toEqual(['NodeClaim SpotRebalanceRecommendation', 'Node SpotRebalanceRecommendation']);
    expect(received('rebalance_recommendation')).toBe(1);
    expect(await bench.isDeleted('a')).toBe(false);
    expect((await bench.claim('a')).metadata.annotations?.['karpenter.k8s.aws/rebalance-recommended']).toBeUndefined();
    expect(bench.lost).toEqual([]);
  });

  test('with the policy Replace also marks the claim and avoids its pool, and the node still drains within budgets', async () => {
    await bench.close();
    await open(true);
    await recommend();
    expect((await bench.claim('a')).metadata.annotations?.['karpenter.k8s.aws/rebalance-recommended']).toMatch(/Z$/);
    expect(bench.lost).toEqual(['spot:m5.large:us-east-1a']);
    expect(await bench.isDeleted('a')).toBe(false);
  });
});
