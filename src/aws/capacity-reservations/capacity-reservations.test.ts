import { setImmediate } from 'node:timers/promises';
import type { CapacityReservation, DescribeCapacityReservationsCommandInput } from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import type { EC2NodeClass } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import type { Log } from '../../ports/index.ts';
import { awsRefusal, fakeEc2 } from '../fake-client.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { CapacityReservations, reservationQueries } from './capacity-reservations.ts';
import { ReservationCounts } from './reservation-counts.ts';

const minuteMs = 60_000;
const logged: string[] = [];
const log: Log = { debug() {}, info: (message) => void logged.push(message), error() {}, with: () => log };

const reservation = (id: string, over: CapacityReservation = {}): CapacityReservation => ({
  CapacityReservationId: id,
  OwnerId: '123456789012',
  InstanceType: 'm5.large',
  AvailabilityZone: 'us-west-2a',
  InstanceMatchCriteria: 'targeted',
  AvailableInstanceCount: 5,
  State: 'active',
  ...over,
});

function open(answer: (input: DescribeCapacityReservationsCommandInput) => unknown) {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const counts = new ReservationCounts(clock);
  const ec2 = fakeEc2({ DescribeCapacityReservations: answer });
  const reservations = new CapacityReservations({ ec2: ec2.client, clock, log, counts });
  return { clock, counts, ec2, reservations };
}

const classOf = (...terms: NonNullable<EC2NodeClass['spec']['capacityReservationSelectorTerms']>) =>
  nodeClass({ capacityReservationSelectorTerms: terms });

describe('capacity reservations', () => {
  const active = { Name: 'state', Values: ['active'] };

  test.each([
    [{ id: 'cr-1' }, { CapacityReservationIds: ['cr-1'], Filters: [active] }],
    [
      { id: 'cr-1', tags: { a: 'b' } },
      [
        { CapacityReservationIds: ['cr-1'], Filters: [active] },
        { Filters: [active, { Name: 'tag:a', Values: ['b'] }] },
      ],
    ],
    [
      { tags: { a: 'b', c: '*' } },
      { Filters: [active, { Name: 'tag:a', Values: ['b'] }, { Name: 'tag-key', Values: ['c'] }] },
    ],
    [
      { tags: { a: 'b' }, ownerID: '012345678901' },
      { Filters: [active, { Name: 'tag:a', Values: ['b'] }, { Name: 'owner-id', Values: ['012345678901'] }] },
    ],
    [
      { instanceMatchCriteria: 'open' as const },
      { Filters: [active, { Name: 'instance-match-criteria', Values: ['open'] }] },
    ],
    [
      { instanceMatchCriteria: 'targeted' as const, tags: { a: 'b' }, ownerID: '012345678901' },
      {
        Filters: [
          active,
          { Name: 'tag:a', Values: ['b'] },
          { Name: 'owner-id', Values: ['012345678901'] },
          { Name: 'instance-match-criteria', Values: ['targeted'] },
        ],
      },
    ],
  ])('the term %j asks for active reservations by exactly its fields', (term, query) => {
    expect(reservationQueries(term)).toEqual(Array.isArray(query) ? query : [query]);
  });

  test('pages have 1000 entries, except that an id is asked for without a page size', async () => {
    const { reservations, ec2 } = open(() => ({ CapacityReservations: [] }));
    await reservations.list(classOf({ id: 'cr-1' }, { tags: { a: 'b' } }));
    const sizes = ec2.inputs<DescribeCapacityReservationsCommandInput>('DescribeCapacityReservations');
    expect(sizes.map(({ MaxResults }) => MaxResults)).toEqual([undefined, 1000]);
  });

  test('an id that does not exist selects nothing, and other terms still count', async () => {
    const { reservations } = open(({ CapacityReservationIds: ids }) => {
      if (ids !== undefined) throw awsRefusal('InvalidCapacityReservationId.NotFound');
      return { CapacityReservations: [reservation('cr-2')] };
    });
    expect(await reservations.list(classOf({ id: 'cr-1' }, { tags: { a: 'b' } }))).toMatchObject([{ id: 'cr-2' }]);
  });

  test('any other refusal is an error', async () => {
    const { reservations } = open(() => {
      throw awsRefusal('UnauthorizedOperation');
    });
    await expect(reservations.list(classOf({ id: 'cr-1' }))).rejects.toThrow('UnauthorizedOperation');
  });

  test('the union is listed by id, in the words of the status; a type not reported is default, interruptible false', async () => {
    const { reservations } = open(({ CapacityReservationIds: ids }) => ({
      CapacityReservations:
        ids === undefined ? [reservation('cr-2'), reservation('cr-1', { Interruptible: true })] : [reservation('cr-2')],
    }));
    expect(await reservations.list(classOf({ id: 'cr-2' }, { tags: { a: 'b' } }))).toEqual([
      {
        availabilityZone: 'us-west-2a',
        id: 'cr-1',
        instanceMatchCriteria: 'targeted',
        instanceType: 'm5.large',
        ownerID: '123456789012',
        reservationType: 'default',
        interruptible: true,
        state: 'active',
      },
      expect.objectContaining({ id: 'cr-2', interruptible: false }),
    ]);
  });

  test('a reservation whose end has come is left out', async () => {
    const { reservations, clock } = open(() => ({
      CapacityReservations: [
        reservation('cr-1', { EndDate: new Date(clock.now()) }),
        reservation('cr-2', { EndDate: new Date(clock.now() + 1_000) }),
      ],
    }));
    expect(await reservations.list(classOf({ tags: { a: 'b' } }))).toMatchObject([
      { id: 'cr-2', endTime: '2026-01-01T00:00:01Z' },
    ]);
  });

  test.each([
    ['capacity-block', 40, 'expiring'],
    ['capacity-block', 41, 'active'],
    ['default', 40, 'active'],
    ['default', 1, 'active'],
  ] as const)('of type %s, %d minutes before its end, it is %s', async (type, minutes, state) => {
    const { reservations, clock } = open(() => ({
      CapacityReservations: [
        reservation('cr-1', { ReservationType: type, EndDate: new Date(clock.now() + minutes * minuteMs) }),
      ],
    }));
    expect(await reservations.list(classOf({ id: 'cr-1' }))).toMatchObject([{ state }]);
  });

  test('an unknown type or match criterion is skipped with a line in the log', async () => {
    const { reservations } = open(() => ({
      CapacityReservations: [
        reservation('cr-1', { ReservationType: 'new' as never }),
        reservation('cr-2', { InstanceMatchCriteria: 'new' as never }),
      ],
    }));
    logged.length = 0;
    expect(await reservations.list(classOf({ tags: { a: 'b' } }))).toEqual([]);
    expect(logged).toHaveLength(2);
  });

  test('a question is asked once a minute, for all classes together; the state is always of now', async () => {
    const { reservations, ec2, clock } = open(() => ({
      CapacityReservations: [
        reservation('cr-1', {
          ReservationType: 'capacity-block',
          EndDate: new Date(clock.now() + 40 * minuteMs + 30_000),
        }),
      ],
    }));
    const states = async () => (await reservations.list(classOf({ id: 'cr-1' }))).map(({ state }) => state);
    expect(await states()).toEqual(['active']);
    await clock.runFor(30_000);
    expect(await states()).toEqual(['expiring']);
    expect(ec2.calls).toHaveLength(1);
    await clock.runFor(30_000);
    await states();
    expect(ec2.calls).toHaveLength(2);
  });
});

describe('what a reservation can still take', () => {
  test('is what EC2 says, less launches, plus terminations, never below zero', async () => {
    const { reservations, counts, clock } = open(() => ({
      CapacityReservations: [reservation('cr-1', { AvailableInstanceCount: 1 })],
    }));
    expect(counts.available('cr-1')).toBe(0);
    await reservations.list(classOf({ id: 'cr-1' }));
    counts.launched('cr-1');
    counts.launched('cr-1');
    expect(counts.available('cr-1')).toBe(0);
    counts.terminated('cr-1');
    expect(counts.available('cr-1')).toBe(1);
    // Served from what is known: the count stays ours until EC2 is asked again.
    await reservations.list(classOf({ id: 'cr-1' }));
    counts.launched('cr-1');
    await clock.runFor(minuteMs);
    await reservations.list(classOf({ id: 'cr-1' }));
    expect(counts.available('cr-1')).toBe(1);
  });

  test('one that EC2 calls full has nothing left; an unknown one stays unknown', () => {
    const counts = new ReservationCounts(new VirtualClock({ settle: () => setImmediate() }));
    counts.observe('cr-1', 7);
    counts.exhausted('cr-1');
    counts.terminated('cr-2');
    expect([counts.available('cr-1'), counts.available('cr-2')]).toEqual([0, 0]);
  });
});

describe('when capacity blocks end', () => {
  const { signal } = new AbortController();
  const endMs = Date.parse('2026-01-01T10:00:00Z');
  const block = (id: string, over: CapacityReservation = {}): CapacityReservation =>
    reservation(id, { ReservationType: 'capacity-block', EndDate: new Date(endMs), ...over });

  test('is asked anew each time, one id at a time', async () => {
    const { reservations, ec2 } = open(({ CapacityReservationIds: [id = ''] = [] }) => {
      if (id === 'cr-gone') throw awsRefusal('InvalidCapacityReservationId.NotFound');
      return { CapacityReservations: [block(id)] };
    });
    for (let look = 1; look <= 2; look += 1) {
      const ends = await reservations.blockEnds(new Set(['cr-1', 'cr-gone', 'cr-2']), signal);
      expect(ends).toEqual(
        new Map([
          ['cr-1', endMs],
          ['cr-2', endMs],
        ]),
      );
      expect(ec2.calls).toHaveLength(3 * look);
    }
  });

  test.each([
    ['of another id', block('cr-2')],
    ['that is not a block', block('cr-1', { ReservationType: 'default' })],
    ['without an end', block('cr-1', { EndDate: undefined })],
    ['that is not active', block('cr-1', { State: 'expired' })],
  ])('is not taken from an answer about one %s', async (_, answer) => {
    const { reservations } = open(() => ({ CapacityReservations: [answer] }));
    expect(await reservations.blockEnds(new Set(['cr-1']), signal)).toEqual(new Map());
  });

  test('is not known when EC2 does not answer', async () => {
    const { reservations } = open(() => {
      throw awsRefusal('RequestLimitExceeded');
    });
    await expect(reservations.blockEnds(new Set(['cr-1']), signal)).rejects.toThrow('RequestLimitExceeded');
  });
});
