// The series of offerings.
import { afterEach, expect, test } from 'vitest';
import { liveWorld, readyClass, subnets, zones } from '../../aws/instance-types/live-types.testing.ts';
import { type Bench, openBench } from '../../controllers/testing/bench.testing.ts';
import { offeringMetricsController } from './controller.ts';

const available = 'karpenter_cloudprovider_instance_type_offering_available';
const price = 'karpenter_cloudprovider_instance_type_offering_price_estimate';
const [zoneA = '', zoneB = '', zoneC = ''] = zones;

let bench: Bench;
afterEach(() => bench.close());

const open = async (gate: boolean) => {
  const world = await liveWorld();
  const classes: Record<string, ReturnType<typeof readyClass>> = {
    a: readyClass({}, { subnets: subnets.slice(0, 1) }),
    b: readyClass({}, { subnets: subnets.slice(1, 2) }),
  };
  bench = await openBench({
    settings: { featureGates: { ReservedCapacity: gate } },
    controllers: (context) => [
      offeringMetricsController(context, async (pool) => {
        const nodeClass = classes[pool.metadata.name ?? ''];
        if (nodeClass === undefined) throw new Error('no class');
        return world.types.list(nodeClass);
      }),
    ],
  });
  return { world, classes };
};
const of = (zone: string, capacity_type = 'on-demand') => ({ instance_type: 'm5.large', capacity_type, zone });
const availability = (type?: string) => zones.map((zone) => bench.metrics.value(available, of(zone, type)));

test('an offering counts as available when some pool can have it; prices are there for every zone', async () => {
  await open(false);
  await bench.pool('a');
  await bench.pool('broken');
  await bench.run(60_000);
  expect(availability()).toEqual([1, 0, 0]);
  await bench.pool('b');
  await bench.run(60_000);
  expect(availability()).toEqual([1, 1, 0]);
  expect(zones.map((zone) => bench.metrics.value(price, of(zone)))).toEqual([0.096, 0.096, 0.096]);
  expect(bench.metrics.value(price, of(zoneC, 'spot'))).toBeCloseTo(0.0672);
  expect(bench.metrics.series(available).some(({ labels }) => labels['capacity_type'] === 'reserved')).toBe(false);
});

test('with the gate reservations have series too: zero where there is none', async () => {
  const { world, classes } = await open(true);
  world.said.counts.set('cr-1', 2);
  classes['a'] = readyClass(
    {},
    {
      subnets: subnets.slice(0, 1),
      capacityReservations: [
        {
          id: 'cr-1',
          availabilityZone: zoneA,
          instanceMatchCriteria: 'targeted',
          instanceType: 'm5.large',
          ownerID: '123456789012',
        },
      ],
    },
  );
  await bench.pool('a');
  await bench.run(60_000);
  expect(availability('reserved')).toEqual([1, 0, 0]);
  expect(bench.metrics.value(price, of(zoneA, 'reserved'))).toBeCloseTo(0.096 / 10_000_000, 12);
  expect(bench.metrics.value(price, of(zoneB, 'reserved'))).toBe(0);
});

test('changes are followed, and series of pools that went away go too', async () => {
  const { world } = await open(false);
  const pool = await bench.pool('a');
  await bench.run(60_000);
  world.unavailable.markPool({ instanceType: 'm5.large', zone: zoneA, capacityType: 'on-demand' });
  await bench.run(60_000);
  expect(availability()).toEqual([0, 0, 0]);
  await bench.remove(
    { group: 'karpenter.sh', version: 'v1', plural: 'nodepools', kind: 'NodePool', namespaced: false },
    pool.metadata.name ?? '',
  );
  await bench.run(120_000);
  expect(bench.metrics.series(available)).toEqual([]);
});
