import { setImmediate } from 'node:timers/promises';
import type { DescribeSubnetsCommandInput } from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { fakeEc2 } from '../fake-client.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { SubnetAddresses } from './subnet-addresses.ts';
import { Subnets } from './subnets.ts';

const clockOf = () => new VirtualClock({ settle: () => setImmediate() });

const described = (id: string, free: number, zone = 'us-west-2a') => ({
  SubnetId: id,
  AvailabilityZone: zone,
  AvailabilityZoneId: 'usw2-az1',
  AvailableIpAddressCount: free,
});

function open(answer: (input: DescribeSubnetsCommandInput) => unknown) {
  const clock = clockOf();
  const ec2 = fakeEc2({ DescribeSubnets: answer });
  const addresses = new SubnetAddresses(clock, 60_000);
  return {
    clock,
    ec2,
    addresses,
    subnets: new Subnets({ ec2: ec2.client, clock, refreshMs: 60_000, addresses }),
    questions: () => ec2.inputs<DescribeSubnetsCommandInput>('DescribeSubnets').map(({ Filters }) => Filters),
  };
}

describe('discovery of subnets', () => {
  test('subnets with 20, 100 and 50 free addresses are listed 100, 50, 20; equal counts by id', async () => {
    const { subnets } = open(() => ({
      Subnets: [
        described('subnet-z', 20),
        described('subnet-b', 100),
        described('subnet-c', 50),
        described('subnet-a', 20),
      ],
    }));
    const ids = (await subnets.list(nodeClass())).map(({ id }) => id);
    expect(ids).toEqual(['subnet-b', 'subnet-c', 'subnet-a', 'subnet-z']);
  });

  test('tags of one term are asked together, of two terms in two questions, all ids in one', async () => {
    const { subnets, questions } = open(() => ({ Subnets: [] }));
    await subnets.list(
      nodeClass({
        subnetSelectorTerms: [
          { tags: { team: 'a', env: '*' } },
          { tags: { team: 'b*' } },
          { id: 'subnet-1' },
          { id: 'subnet-2' },
        ],
      }),
    );
    expect(questions()).toEqual([
      [{ Name: 'subnet-id', Values: ['subnet-1', 'subnet-2'] }],
      [
        { Name: 'tag-key', Values: ['env'] },
        { Name: 'tag:team', Values: ['a'] },
      ],
      [{ Name: 'tag:team', Values: ['b*'] }],
    ]);
  });

  test('an id beside tags counts alone', async () => {
    const { subnets, questions } = open(() => ({ Subnets: [] }));
    await subnets.list(nodeClass({ subnetSelectorTerms: [{ id: 'subnet-1', tags: { a: 'b' } }] }));
    expect(questions()).toEqual([[{ Name: 'subnet-id', Values: ['subnet-1'] }]]);
  });

  test('all pages are followed, empty ones too, and a subnet found twice is listed once', async () => {
    const pages: Record<string, unknown> = {
      first: { Subnets: [], NextToken: 'second' },
      second: { Subnets: [described('subnet-1', 3)], NextToken: 'third' },
      third: { Subnets: [described('subnet-1', 3), described('subnet-2', 1)] },
    };
    const { subnets, ec2 } = open(({ NextToken = 'first' }) => pages[NextToken]);
    expect(await subnets.list(nodeClass())).toEqual([
      { id: 'subnet-1', zone: 'us-west-2a', zoneID: 'usw2-az1', freeAddresses: 3 },
      { id: 'subnet-2', zone: 'us-west-2a', zoneID: 'usw2-az1', freeAddresses: 1 },
    ]);
    expect(ec2.inputs<DescribeSubnetsCommandInput>('DescribeSubnets')[0]?.MaxResults).toBe(500);
  });

  test('an answer is believed for the refresh interval, each generation of a class has its own', async () => {
    const { subnets, questions, clock } = open(() => ({ Subnets: [described('subnet-1', 1)] }));
    await subnets.list(nodeClass());
    await subnets.list(nodeClass());
    expect(questions()).toHaveLength(1);
    await subnets.list(nodeClass({}, { metadata: { generation: 2 } }));
    expect(questions()).toHaveLength(2);
    await clock.runFor(60_000);
    await subnets.list(nodeClass());
    expect(questions()).toHaveLength(3);
  });

  test('a refused question is an error and nothing is remembered', async () => {
    let isDown = true;
    const { subnets } = open(() => {
      if (isDown) throw new Error('down');
      return { Subnets: [described('subnet-1', 1)] };
    });
    await expect(subnets.list(nodeClass())).rejects.toThrow('down');
    isDown = false;
    expect(await subnets.list(nodeClass())).toHaveLength(1);
  });
});

describe('addresses in flight', () => {
  const zonal = (id: string, zone = 'a') => ({ id, zone });
  const open = (counts: Record<string, number>) => {
    const clock = clockOf();
    const addresses = new SubnetAddresses(clock, 60_000);
    addresses.observe(Object.entries(counts).map(([id, freeAddresses]) => ({ id, freeAddresses })));
    return { clock, addresses };
  };

  test('the subnet with 100 free addresses is chosen over the one with 10; of equals the first', () => {
    const { addresses } = open({ small: 10, large: 100, other: 7, equal: 7 });
    const { byZone } = addresses.choose(
      [zonal('small'), zonal('large'), zonal('other', 'b'), zonal('equal', 'b')],
      () => 1,
    );
    expect(byZone.get('a')?.id).toBe('large');
    expect(byZone.get('b')?.id).toBe('other');
  });

  test('with 11 against 10 and launches of two addresses the second round uses the other', () => {
    const { addresses } = open({ one: 11, two: 10 });
    const chosen = () => addresses.choose([zonal('one'), zonal('two')], () => 2).byZone.get('a')?.id;
    expect([chosen(), chosen()]).toEqual(['one', 'two']);
  });

  test('a subnet that was offered and not used is credited, a used one is not', () => {
    const { addresses } = open({ one: 11, two: 10 });
    const chosen = addresses.choose([zonal('one'), zonal('two', 'b')], () => 3);
    expect([addresses.freeIn('one'), addresses.freeIn('two')]).toEqual([8, 7]);
    chosen.settle(['one']);
    expect([addresses.freeIn('one'), addresses.freeIn('two')]).toEqual([8, 10]);
    chosen.settle([]);
    expect(addresses.freeIn('one')).toBe(8);
  });

  test('a fresh count makes debits and their credits void', () => {
    const { addresses } = open({ one: 11 });
    const chosen = addresses.choose([zonal('one')], () => 3);
    addresses.observe([{ id: 'one', freeAddresses: 20 }]);
    expect(addresses.freeIn('one')).toBe(20);
    chosen.settle([]);
    expect(addresses.freeIn('one')).toBe(20);
  });

  test('a subnet EC2 calls full comes last until the next count', () => {
    const { addresses } = open({ one: 11, two: 1 });
    addresses.markFull('one');
    expect(addresses.choose([zonal('one'), zonal('two')], () => 1).byZone.get('a')?.id).toBe('two');
  });

  test('counts are forgotten when no refresh comes for long', async () => {
    const { addresses, clock } = open({ one: 11 });
    await clock.runFor(5 * 60_000 - 1);
    expect(addresses.freeIn('one')).toBe(11);
    await clock.runFor(1);
    expect(addresses.freeIn('one')).toBe(0);
  });
});
