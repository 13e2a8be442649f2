import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimMetrics } from '../../controllers/index.ts';
import { ScriptedCloud } from '../../controllers/testing/scripted-cloud.testing.ts';
import { type Node, resources } from '../../ports/index.ts';
import { type AwsBench, makeInstance, openAwsBench, providerIdOf } from '../aws-bench.testing.ts';
import { capacityTypeController } from './capacity-type.ts';
import { reservationExpirationController } from './expiration.ts';

const minute = 60_000;
const reservation = {
  'karpenter.sh/capacity-type': 'reserved',
  'karpenter.k8s.aws/capacity-reservation-id': 'cr-1',
  'karpenter.k8s.aws/capacity-reservation-type': 'default',
  'karpenter.k8s.aws/capacity-reservation-interruptible': 'false',
};
let bench: AwsBench;
let cloud: ScriptedCloud;
let expiring: Set<string>;
/** When EC2 says that each block ends, and when it was asked. */
let ends: Map<string, number>;
let asked: number[];
beforeEach(async () => {
  cloud = new ScriptedCloud();
  expiring = new Set();
  ends = new Map();
  asked = [];
  bench = await openAwsBench({
    cloud: () => cloud,
    controllers: (context) => [
      capacityTypeController(context),
      reservationExpirationController(context, claimMetrics(context.metrics), {
        expiring: () => expiring,
        endsOf: async (ids) => {
          asked.push(bench.clock.now());
          return new Map([...ends].filter(([id]) => ids.has(id)));
        },
      }),
    ],
  });
});
afterEach(() => bench.close());

const runs = (as: string): void => {
  cloud.facets = { labels: { 'karpenter.sh/capacity-type': as } };
  cloud.launch(providerIdOf('i-a'));
};
const reserve = async (): Promise<void> => {
  await makeInstance(bench, 'a', reservation);
  await bench.apply(resources.nodes, { metadata: { name: 'a', labels: reservation } });
};
const labels = async (): Promise<Record<string, string>[]> => {
  const node = (await bench.get(resources.nodes, 'a')) as Node;
  return [(await bench.claim('a')).metadata.labels ?? {}, node.metadata.labels ?? {}];
};
const fallen = {
  'karpenter.sh/capacity-type': 'on-demand',
  'karpenter.k8s.aws/capacity-reservation-interruptible': 'false',
};

describe('a reserved instance that runs on demand now', () => {
  test('is on demand on its claim and its node; the interruptible label stays', async () => {
    runs('on-demand');
    await reserve();
    await bench.run(2 * minute);
    for (const each of await labels()) {
      expect(each).toMatchObject(fallen);
      expect(Object.keys(each)).not.toContain('karpenter.k8s.aws/capacity-reservation-id');
      expect(Object.keys(each)).not.toContain('karpenter.k8s.aws/capacity-reservation-type');
    }
  });

  test('has its node alone fixed when the claim was fixed earlier', async () => {
    runs('on-demand');
    await makeInstance(bench, 'a', fallen);
    await bench.apply(resources.nodes, { metadata: { name: 'a', labels: reservation } });
    await bench.run(2 * minute);
    expect((await labels())[1]).toMatchObject(fallen);
  });

  test('is left as it is while it still is reserved', async () => {
    runs('reserved');
    await reserve();
    await bench.run(2 * minute);
    for (const each of await labels()) expect(each).toMatchObject(reservation);
  });
});

describe('a capacity block that is about to end', () => {
  const fleet = Array.from({ length: 30 }, (_, index) => `n${index}`);
  const deleted = async (): Promise<number> =>
    (await Promise.all(fleet.map((name) => bench.isDeleted(name)))).filter(Boolean).length;
  const makeFleet = async (): Promise<void> => {
    runs('reserved');
    for (const name of fleet) await makeInstance(bench, name, reservation);
  };
  const endsIn = (ms: number): void => {
    expiring = new Set(['cr-1']);
    ends = new Map([['cr-1', bench.clock.now() + ms]]);
  };
  const name = 'capacityreservation.expiration';

  test('takes its claims down; a reservation that is not expiring keeps them', async () => {
    runs('reserved');
    await makeInstance(bench, 'a', reservation);
    await makeInstance(bench, 'b', { ...reservation, 'karpenter.k8s.aws/capacity-reservation-id': 'cr-2' });
    endsIn(39 * minute);
    await bench.run(2 * minute);
    expect([await bench.isDeleted('a'), await bench.isDeleted('b')]).toEqual([true, false]);
    expect(bench.eventsOf('a')).toContain('NodeClaim CapacityReservationExpiring');
  });

  test.each([
    ['EC2 says that it ends later', () => ends.set('cr-1', bench.clock.now() + 60 * minute)],
    ['EC2 no longer lists it', () => ends.clear()],
  ])('keeps its claims when %s', async (_, correct) => {
    runs('reserved');
    await makeInstance(bench, 'a', reservation);
    endsIn(39 * minute);
    correct();
    await bench.run(5 * minute);
    expect(asked.length).toBeGreaterThan(0);
    expect(await bench.isDeleted('a')).toBe(false);
  });

  test('keeps its claims when the second look does not agree with the first', async () => {
    runs('reserved');
    await makeInstance(bench, 'a', reservation);
    endsIn(39 * minute);
    while (asked.length === 0) await bench.run(1_000);
    ends = new Map([['cr-1', bench.clock.now() + 60 * minute]]);
    await bench.run(5 * minute);
    expect(asked.length).toBeGreaterThan(1);
    expect(await bench.isDeleted('a')).toBe(false);
  });

  test('takes down a share of the fleet at a time, and says so', async () => {
    await makeFleet();
    endsIn(40 * minute);
    await bench.run(75_000);
    expect(await deleted()).toBe(10);
    expect(bench.metrics.value('kerf_garbage_collection_held_back', { controller: name })).toBe(20);
    expect(bench.eventsOf('n29')).toContain('NodeClaim InterruptionHeldBack');
    await bench.run(2 * minute);
    expect(await deleted()).toBe(30);
    await bench.run(minute);
    expect(bench.metrics.value('kerf_garbage_collection_held_back', { controller: name })).toBe(0);
  });

  test('takes down all at once when EC2 would take them back before their turn', async () => {
    await makeFleet();
    endsIn(36 * minute);
    await bench.run(75_000);
    expect(await deleted()).toBe(30);
  });

  test('is not asked about while no class calls one expiring', async () => {
    await bench.run(5 * minute);
    expect(asked).toEqual([]);
  });
});
