import { describe, expect, test } from 'vitest';
import { awsLabel, type EC2NodeClass, label } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { awsRefusal } from '../fake-client.testing.ts';
import { infoOf, infos } from './instance-types.testing.ts';
import {
  availableIn,
  type LiveWorld,
  liveWorld,
  named,
  onDemand,
  readyClass,
  spot,
  subnets,
  zones,
} from './live-types.testing.ts';

const pool = (zone: string | undefined, capacityType: string, instanceType = 'm5.large') => ({
  instanceType,
  zone: zone ?? '',
  capacityType,
});
const [zoneA, zoneB] = zones;

/** Enough types that building them takes several slices. */
async function wideWorld(): Promise<Omit<LiveWorld, 'clock'> & { clock: Clock }> {
  const world = await liveWorld({}, { isRefreshed: false });
  world.said.types = ['m5.large', ...infos.slice(0, 60).map(({ InstanceType }) => InstanceType)];
  await world.types.refresh();
  return world;
}

describe('what is kept of a class that changes', () => {
  const sized = (maxPods: number, name = 'one'): EC2NodeClass => {
    const made = readyClass({ kubelet: { maxPods } });
    return { ...made, metadata: { ...made.metadata, name } };
  };

  test('is the list it has now and the one before, as someone may still hold the older object', async () => {
    const { types } = await liveWorld();
    const [first, second, third] = [sized(1), sized(2), sized(3)].map((each) => types.list(each));
    expect(types.list(sized(3))).toBe(third);
    expect(types.list(sized(2))).toBe(second);
    expect(types.list(sized(1))).not.toBe(first);
  });

  test('a list that another class still has stays', async () => {
    const { types } = await liveWorld();
    const shared = types.list(sized(1, 'other'));
    for (const maxPods of [1, 2, 3, 4]) types.list(sized(maxPods));
    expect(types.list(sized(1))).toBe(shared);
  });

  test('a class that is not asked for in ten minutes is forgotten', async () => {
    const { types, clock } = await liveWorld();
    const gone = types.list(sized(1, 'gone'));
    await clock.runFor(11 * 60_000);
    types.list(sized(2));
    expect(types.list(sized(1, 'gone'))).not.toBe(gone);
  });
});

describe('discovery', () => {
  test('asks for hardware-virtualised types of both architectures, and for zones, in the largest pages', async () => {
    const { ec2 } = await liveWorld();
    expect(ec2.inputs('DescribeInstanceTypes')).toEqual([
      {
        Filters: [
          { Name: 'supported-virtualization-type', Values: ['hvm'] },
          { Name: 'processor-info.supported-architecture', Values: ['x86_64', 'arm64'] },
        ],
        MaxResults: 100,
      },
    ]);
    expect(ec2.inputs('DescribeInstanceTypeOfferings')).toEqual([
      { LocationType: 'availability-zone', MaxResults: 1000 },
    ]);
  });

  test('follows every page', async () => {
    const { ec2, types } = await liveWorld();
    const names = ['m5.large', 'c5.large', 'r5.large'];
    ec2.answers['DescribeInstanceTypes'] = ({ NextToken = '0' }: { NextToken?: string }) => {
      const page = Number(NextToken);
      return { InstanceTypes: [infoOf(names[page] ?? '')], ...(page < 2 ? { NextToken: String(page + 1) } : {}) };
    };
    await types.refresh();
    expect(types.list(readyClass()).map(({ name }) => name)).toEqual(['c5.large', 'm5.large', 'r5.large']);
  });

  test('an API error keeps what is known; with nothing known, or nothing answered, listing fails', async () => {
    const { ec2, types } = await liveWorld();
    const before = types.list(readyClass());
    ec2.answers['DescribeInstanceTypes'] = () => {
      throw awsRefusal('RequestLimitExceeded');
    };
    await expect(types.refresh()).rejects.toThrow('RequestLimitExceeded');
    expect(types.list(readyClass())).toBe(before);
    expect(() => types.list(readyClass({}, { subnets: [] }))).toThrow('no subnets found');
    const fresh = await liveWorld({}, { isRefreshed: false });
    expect(() => fresh.types.list(readyClass())).toThrow('no instance types found');
    fresh.said.types = [];
    await expect(fresh.types.refresh()).rejects.toThrow('no instance types found');
    expect(() => fresh.types.list(readyClass())).toThrow('no instance types found');
  });

  test('the cpu and memory of every type are gauges', async () => {
    const { metrics } = await liveWorld();
    const labels = { instance_type: 'm5.large' };
    expect(metrics.value('karpenter_cloudprovider_instance_type_cpu_cores', labels)).toBe(2);
    expect(metrics.value('karpenter_cloudprovider_instance_type_memory_bytes', labels)).toBe(8192 * 1024 * 1024);
    expect(metrics.series('karpenter_cloudprovider_instance_type_cpu_cores')).toHaveLength(5);
  });
});

describe('the same list', () => {
  test('comes back for the same class, an equal class, and after a refresh that brought nothing new', async () => {
    const { types } = await liveWorld();
    const nodeClass = readyClass();
    const list = types.list(nodeClass);
    expect(types.list(nodeClass)).toBe(list);
    expect(types.list(readyClass())).toBe(list);
    await types.refresh();
    expect(types.list(nodeClass)).toBe(list);
  });

  test('comes back when subnets only changed places because their free addresses did', async () => {
    const { types } = await liveWorld();
    expect(types.list(readyClass({}, { subnets: subnets.toReversed() }))).toBe(types.list(readyClass()));
  });

  const mapping = { deviceName: '/dev/xvda', ebs: { volumeSize: '30Gi' } };
  test.each<[string, Partial<EC2NodeClass['spec']>]>([
    ['kubeReserved', { kubelet: { kubeReserved: { cpu: '1' } } }],
    ['systemReserved', { kubelet: { systemReserved: { cpu: '1' } } }],
    ['evictionHard', { kubelet: { evictionHard: { 'memory.available': '5%' } } }],
    ['maxPods', { kubelet: { maxPods: 10 } }],
    ['instanceStorePolicy', { instanceStorePolicy: 'RAID0' }],
    ['alias', { amiSelectorTerms: [{ alias: 'bottlerocket@latest' }] }],
    ['block device size', { blockDeviceMappings: [mapping] }],
    ['block device name', { blockDeviceMappings: [{ ...mapping, deviceName: '/dev/xvdb' }] }],
    ['root flag', { blockDeviceMappings: [{ ...mapping, rootVolume: true }] }],
  ])('does not when the class differs in %s', async (_, spec) => {
    const { types } = await liveWorld();
    expect(types.list(readyClass(spec))).not.toBe(types.list(readyClass()));
  });

  test('does not when types or zones changed', async () => {
    const { types, said } = await liveWorld();
    const list = types.list(readyClass());
    said.types = [...said.types, 'c5.large'];
    await types.refresh();
    const more = types.list(readyClass());
    expect(more).toHaveLength(list.length + 1);
    said.zonesOf = () => zones.slice(0, 2);
    await types.refresh();
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toHaveLength(4);
  });

  test('is built in slices where someone can wait, once for all who do, and is what a hurried call was given', async () => {
    const { types, clock } = await wideWorld();
    let turns = 0;
    clock.breathe = () => Promise.resolve().then(() => void (turns += 1));
    const waiting = [types.listInSlices(readyClass()), types.listInSlices(readyClass())];
    const hurried = types.list(readyClass());
    for (const list of await Promise.all(waiting)) expect(list).toBe(hurried);
    expect(turns).toBeGreaterThan(0);
    expect(await types.listInSlices(readyClass())).toBe(hurried);
  });

  test('is right when prices, marks and types change while it is built', async () => {
    const { types, clock, said, unavailable } = await wideWorld();
    const changes = [
      () => unavailable.markPool(pool(zoneA, spot)),
      () => (said.prices = { ...said.prices, version: 1, spot: () => undefined }),
      async () => {
        said.types = [...said.types, 'c5.large'];
        await types.refresh();
      },
    ];
    for (const change of changes) {
      clock.breathe = () => {
        delete clock.breathe;
        return Promise.resolve(change()).then(() => undefined);
      };
      const list = await types.listInSlices(readyClass({ kubelet: { maxPods: changes.indexOf(change) + 5 } }));
      const fresh = readyClass({ kubelet: { maxPods: changes.indexOf(change) + 5, podsPerCore: 0 } });
      expect(list.map(availableIn)).toEqual(types.list(fresh).map(availableIn));
    }
  });

  test('asked for many times at once it is one list with every type once', async () => {
    const { types } = await liveWorld();
    const lists = await Promise.all(Array.from({ length: 100 }, async () => types.list(readyClass())));
    expect(new Set(lists).size).toBe(1);
    const names = lists[0]?.map(({ name }) => name) ?? [];
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('offerings', () => {
  test('one per zone and capacity type; marks take out exactly their pools', async () => {
    const { types, unavailable } = await liveWorld();
    const available = () => availableIn(named(types.list(readyClass()), 'm5.large')).length;
    const offerings = () => named(types.list(readyClass()), 'm5.large').offerings.length;
    expect([available(), offerings()]).toEqual([6, 6]);
    unavailable.markPool(pool(zoneA, spot));
    expect(available()).toBe(5);
    unavailable.markPool(pool(zoneA, onDemand));
    unavailable.markPool(pool(zoneB, onDemand));
    expect([available(), offerings()]).toEqual([3, 6]);
    unavailable.markPool(pool(zoneA, onDemand, 'm5.xlarge'));
    expect([available(), offerings()]).toEqual([3, 6]);
  });

  test('a mark renews only its type; marks of a capacity type or a subnet renew all', async () => {
    const { types, unavailable } = await liveWorld();
    const list = types.list(readyClass());
    unavailable.markPool(pool(zoneA, spot));
    const marked = types.list(readyClass());
    expect(marked).not.toBe(list);
    for (const type of marked) expect(type === named(list, type.name)).toBe(type.name !== 'm5.large');
    expect(named(marked, 'm5.large').requirements).toBe(named(list, 'm5.large').requirements);
    for (const mark of [() => unavailable.markCapacityType(spot), () => unavailable.markSubnet('subnet-1')]) {
      const before = types.list(readyClass());
      mark();
      for (const type of types.list(readyClass())) expect(type).not.toBe(named(before, type.name));
    }
  });

  test('a mark is gone after its time, and the list is new once more', async () => {
    const { types, unavailable, clock } = await liveWorld();
    unavailable.markPool(pool(zoneA, spot));
    const marked = types.list(readyClass());
    expect(types.list(readyClass())).toBe(marked);
    await clock.runFor(180_000);
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toHaveLength(6);
  });

  test('without spot only on-demand remains; a zone whose subnets are all full is out', async () => {
    const { types, unavailable } = await liveWorld();
    unavailable.markCapacityType(spot);
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toEqual(zones.map((zone) => `on-demand ${zone}`));
    unavailable.markSubnet('subnet-1');
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toEqual(
      zones.slice(1).map((zone) => `on-demand ${zone}`),
    );
  });

  test('a type without any available offering is still listed', async () => {
    const { types, unavailable } = await liveWorld();
    unavailable.markCapacityType(spot);
    unavailable.markCapacityType(onDemand);
    expect(types.list(readyClass())).toHaveLength(5);
    expect(types.list(readyClass()).flatMap(availableIn)).toEqual([]);
  });

  test('a shifted zone has none, until the shift ends', async () => {
    const { types, said } = await liveWorld();
    said.shifted.add('use1-az1');
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toHaveLength(4);
    said.shifted.clear();
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toHaveLength(6);
  });

  const block = {
    id: 'cr-1',
    availabilityZone: zoneA ?? '',
    instanceMatchCriteria: 'targeted' as const,
    instanceType: 'm5.large',
    ownerID: '123456789012',
    reservationType: 'capacity-block' as const,
    state: 'active' as const,
  };

  test('a capacity block is an offering with type, zone, id and count, unless it is expiring', async () => {
    const { types, said } = await liveWorld();
    said.counts.set('cr-1', 7);
    const reserved = (state: 'active' | 'expiring') =>
      named(types.list(readyClass({}, { capacityReservations: [{ ...block, state }] })), 'm5.large').offerings.find(
        ({ reservationCapacity }) => reservationCapacity !== undefined,
      );
    const values = Object.fromEntries(reserved('active')?.requirements.map(({ key, values }) => [key, values]) ?? []);
    expect(values).toMatchObject({
      [label.capacityType]: ['reserved'],
      [label.zone]: [zoneA],
      [awsLabel.capacityReservationId]: ['cr-1'],
      [awsLabel.capacityReservationType]: ['capacity-block'],
    });
    expect(reserved('active')).toMatchObject({ available: true, reservationCapacity: 7 });
    expect(reserved('expiring')).toMatchObject({ available: false });
  });

  test('a reservation’s count is never old: a launch renews the type it is for, and no other', async () => {
    const { types, said } = await liveWorld();
    const nodeClass = readyClass({}, { capacityReservations: [block] });
    said.counts.set('cr-1', 2);
    const list = types.list(nodeClass);
    said.counts.set('cr-1', 1);
    const after = types.list(nodeClass);
    for (const type of after) expect(type === named(list, type.name)).toBe(type.name !== 'm5.large');
    expect(named(after, 'm5.large').offerings.at(-1)).toMatchObject({ reservationCapacity: 1 });
  });

  test('with the gate off there is no word of reservations', async () => {
    const { types, said } = await liveWorld({ reservedCapacity: false });
    said.counts.set('cr-1', 2);
    const type = named(types.list(readyClass({}, { capacityReservations: [block] })), 'm5.large');
    expect(type.offerings).toHaveLength(6);
    expect(type.requirements).toContainEqual({ key: awsLabel.capacityReservationId, operator: 'DoesNotExist' });
  });

  test('a type without a price is unavailable, unless an overlay gives it one', async () => {
    const { types, said } = await liveWorld();
    said.prices = { ...said.prices, version: 1, onDemand: () => undefined, spot: () => undefined };
    expect(types.list(readyClass()).flatMap(availableIn)).toEqual([]);
    said.priced = new Set(['m5.large']);
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toHaveLength(6);
    expect(availableIn(named(types.list(readyClass()), 'm5.xlarge'))).toHaveLength(0);
  });

  test('without a spot price in a zone the type is unavailable there as spot', async () => {
    const { types, said } = await liveWorld();
    said.prices = { ...said.prices, version: 1, spot: (_, zone) => (zone === zoneB ? 0.01 : undefined) };
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toEqual([
      ...zones.map((zone) => `on-demand ${zone}`),
      `spot ${zoneB}`,
    ]);
  });

  test('a local zone counts where the class has a subnet', async () => {
    const { types, said } = await liveWorld();
    const local = 'us-east-1-bos-1a';
    said.zonesOf = (type) => (type === 'm5.large' ? [...zones, local] : zones);
    await types.refresh();
    const places = availableIn(
      named(types.list(readyClass({}, { subnets: [...subnets, { id: 'subnet-4', zone: local }] })), 'm5.large'),
    );
    expect(places).toContain(`on-demand ${local}`);
    expect(availableIn(named(types.list(readyClass()), 'm5.large'))).toHaveLength(6);
  });

  test('a full partition of a placement group leaves the others', async () => {
    const { types, said, unavailable } = await liveWorld();
    said.types = ['m5.large'];
    said.group = { id: 'pg-1', strategy: 'partition', partitions: 3 };
    const available = () => availableIn(named(types.list(readyClass()), 'm5.large')).length;
    // The built-in figures do not say which strategies a type supports.
    const supporting = { ...infoOf('m5.large'), PlacementGroupInfo: { SupportedStrategies: ['partition'] } };
    const world = await liveWorld({ placementGroupOf: () => said.group, unavailable });
    world.ec2.answers['DescribeInstanceTypes'] = () => ({ InstanceTypes: [supporting] });
    await world.types.refresh();
    const inGroup = () => availableIn(named(world.types.list(readyClass()), 'm5.large')).length;
    expect(inGroup()).toBe(18);
    unavailable.markPool({ ...pool(zoneA, spot), placementGroup: { id: 'pg-1', partition: '2' } });
    expect(inGroup()).toBe(17);
    unavailable.markPool({ ...pool(zoneA, spot), placementGroup: { id: 'pg-1' } });
    expect(inGroup()).toBe(15);
    expect(available()).toBe(0);
  });
});

describe('memory of real nodes', () => {
  const images = (...ids: string[]) => ({ amis: ids.map((id) => ({ id, requirements: [] })) });

  test('replaces the estimate, for the images it was seen with', async () => {
    const { types } = await liveWorld();
    const nodeClass = readyClass({}, images('ami-1', 'ami-2'));
    const memory = (of: EC2NodeClass) => named(types.list(of), 'm5.large').capacity['memory'];
    expect(memory(nodeClass)).toBe('7577Mi');
    const before = types.list(nodeClass);
    types.learnMemory(nodeClass, 'm5.large', 8_000_000_000);
    expect(memory(nodeClass)).toBe('8000000000');
    expect(named(types.list(nodeClass), 'm5.xlarge')).toBe(named(before, 'm5.xlarge'));
    expect(memory(readyClass({}, images('ami-3', 'ami-2')))).toBe('7577Mi');
  });

  test('only the smallest counts', async () => {
    const { types } = await liveWorld();
    const nodeClass = readyClass();
    for (const bytes of [8_000_000_000, 8_100_000_000, 7_900_000_000]) types.learnMemory(nodeClass, 'm5.large', bytes);
    expect(named(types.list(nodeClass), 'm5.large').capacity['memory']).toBe('7900000000');
  });
});
