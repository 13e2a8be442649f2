import { describe, expect, test } from 'vitest';
import { awsLabel, capacityType, label } from '../../api/index.ts';
import { type InstanceTypeSpec, LaunchMatcher, type OfferingSpec, type RequirementSpec } from '../../core/index.ts';
import { awsProviderFacts } from '../instance-types/provider-facts.ts';
import { type Candidate, cheapest, chosenCapacityType, launchCandidates, reservationOf, zoneOf } from './candidates.ts';

const { spot, onDemand, reserved } = capacityType;
const matcher = new LaunchMatcher(awsProviderFacts);

const among = (key: string, ...values: string[]): RequirementSpec => ({ key, operator: 'In', values });

function offering(type: string, price: number, rest: Partial<OfferingSpec> & { zone?: string } = {}): OfferingSpec {
  const { zone = 'a', ...change } = rest;
  return {
    requirements: [among(label.capacityType, type), among(label.zone, zone)],
    price,
    available: true,
    ...change,
  };
}

interface Reservation {
  id: string;
  price?: number;
  kind?: 'default' | 'capacity-block' | 'interruptible';
  zone?: string;
  count?: number;
  available?: boolean;
}

function reservedOffering({
  id,
  price = 0.001,
  kind = 'default',
  zone = 'a',
  count = 1,
  available = true,
}: Reservation) {
  return offering(reserved, price, {
    available,
    reservationCapacity: count,
    requirements: [
      among(label.capacityType, reserved),
      among(label.zone, zone),
      among(awsLabel.capacityReservationId, id),
      among(awsLabel.capacityReservationType, kind === 'capacity-block' ? kind : 'default'),
      among(awsLabel.capacityReservationInterruptible, String(kind === 'interruptible')),
    ],
  });
}

function type(name: string, offerings: OfferingSpec[], capacity: Record<string, string> = {}): InstanceTypeSpec {
  return {
    name,
    requirements: [among(label.instanceType, name), among(label.zone, 'a', 'b', 'c')],
    capacity: { cpu: '4', memory: '8Gi', pods: '50', ...capacity },
    offerings,
  };
}

const kept = (types: InstanceTypeSpec[], requirements: RequirementSpec[] = [], requests = {}): readonly Candidate[] =>
  launchCandidates(types, matcher.match(requirements, requests));
const names = (candidates: readonly Candidate[]): string[] => candidates.map((candidate) => candidate.type.name);
const ids = (candidates: readonly Candidate[]): (string | undefined)[] =>
  candidates.flatMap(({ offerings }) => offerings.map((each) => reservationOf(each)?.id));

describe('what is compatible and available', () => {
  test('types are kept by requirement, by request and by availability', () => {
    const types = [
      type('m.large', [offering(onDemand, 1)]),
      type('m.small', [offering(onDemand, 1)], { cpu: '1' }),
      type('m.sold-out', [offering(onDemand, 1, { available: false })]),
      type('m.elsewhere', [offering(onDemand, 1, { zone: 'b' })]),
    ];
    expect(names(kept(types, [among(label.zone, 'a')], { cpu: '2' }))).toEqual(['m.large']);
    expect(names(kept(types, [among(label.instanceType, 'm.small')]))).toEqual(['m.small']);
  });

  test('a type with less than nothing of a resource takes no claim, also one that does not ask for it', () => {
    const overhead = { kubeReserved: { memory: '100Gi' } };
    const small = { ...type('m.small', [offering(onDemand, 1)]), overhead };
    expect(names(kept([small, type('m.large', [offering(onDemand, 1)])], [], { cpu: '1' }))).toEqual(['m.large']);
  });

  test('an offering that changes the capacity counts where it is available and allowed', () => {
    const bigger = { capacityOverride: { cpu: '8' } };
    const withOverride = (change: Partial<OfferingSpec> & { zone?: string }) =>
      type('m.large', [offering(onDemand, 1), offering(onDemand, 1, { ...bigger, ...change })]);
    const ask = (each: InstanceTypeSpec) => names(kept([each], [among(label.zone, 'a')], { cpu: '8' }));
    expect(ask(withOverride({}))).toEqual(['m.large']);
    expect(ask(withOverride({ available: false }))).toEqual([]);
    expect(ask(withOverride({ zone: 'b' }))).toEqual([]);
    const second = type('m.large', [
      offering(onDemand, 1, { capacityOverride: { cpu: '1' } }),
      offering(onDemand, 1, bigger),
    ]);
    expect(ask(second)).toEqual(['m.large']);
  });
});

describe('kinds of reservations', () => {
  const kinds = (block: number, ordinary: number, interruptible: number) => [
    type('m.block', [reservedOffering({ id: 'block', kind: 'capacity-block', price: block }), offering(spot, 1)]),
    type('m.default', [reservedOffering({ id: 'default', price: ordinary }), offering(spot, 1)]),
    type('m.taken', [reservedOffering({ id: 'taken', kind: 'interruptible', price: interruptible })]),
    type('m.none', [offering(spot, 0.0001)]),
  ];

  test('the kind with the cheapest offering stays, and nothing of the others', () => {
    expect(ids(kept(kinds(1, 2, 3)))).toEqual(['block']);
    expect(ids(kept(kinds(2, 1, 3)))).toEqual(['default']);
    expect(ids(kept(kinds(3, 2, 1)))).toEqual(['taken']);
  });

  test('on ties default goes before capacity blocks, those before interruptible ones', () => {
    expect(ids(kept(kinds(1, 1, 1)))).toEqual(['default']);
    expect(ids(kept(kinds(1, 2, 1)))).toEqual(['block']);
  });

  test('only available and allowed reservations count; without any, nothing happens', () => {
    const types = [
      type('m.default', [reservedOffering({ id: 'gone', available: false }), offering(spot, 1)]),
      type('m.block', [reservedOffering({ id: 'block', kind: 'capacity-block', price: 5 })]),
    ];
    expect(ids(kept(types))).toEqual(['block']);
    expect(names(kept(types, [among(label.capacityType, spot)]))).toEqual(['m.default']);
  });
});

describe('capacity blocks', () => {
  const block = (id: string, price: number, change: Partial<Reservation> = {}) =>
    reservedOffering({ id, price, kind: 'capacity-block', ...change });

  test('one type with its cheapest block stays', () => {
    const types = [type('m.a', [block('dear', 3)]), type('m.b', [block('cheap', 1), block('middle', 2)])];
    expect(ids(kept(types))).toEqual(['cheap']);
    expect(ids(kept([type('m.a', [block('gone', 0, { available: false }), block('there', 9)])]))).toEqual(['there']);
  });

  test('nothing happens to default reservations, or when reserved is not allowed', () => {
    const types = [type('m.a', [reservedOffering({ id: '1' })]), type('m.b', [reservedOffering({ id: '2' })])];
    expect(ids(kept(types))).toEqual(['1', '2']);
    const blocks = [type('m.a', [block('1', 1), offering(spot, 1)]), type('m.b', [block('2', 1), offering(spot, 1)])];
    expect(names(kept(blocks, [among(label.capacityType, spot)]))).toEqual(['m.a', 'm.b']);
  });
});

describe('reservations', () => {
  test('the largest available one per zone stays; types without any go', () => {
    const types = [
      type('m.a', [
        reservedOffering({ id: 'small', count: 1 }),
        reservedOffering({ id: 'large', count: 5 }),
        reservedOffering({ id: 'larger', count: 9, available: false }),
        reservedOffering({ id: 'full', count: 0 }),
        reservedOffering({ id: 'other-zone', count: 1, zone: 'b' }),
        offering(onDemand, 0.0001),
      ]),
      type('m.b', [offering(spot, 0.0001)]),
    ];
    expect(ids(kept(types))).toEqual(['large', 'other-zone']);
  });

  test('nothing happens when none is available or allowed', () => {
    const types = [
      type('m.a', [reservedOffering({ id: '1', available: false }), offering(onDemand, 1)]),
      type('m.b', [offering(onDemand, 1)]),
    ];
    expect(names(kept(types))).toEqual(['m.a', 'm.b']);
  });
});

describe('exotic types', () => {
  test.each(['nvidia.com/gpu', 'amd.com/gpu', 'habana.ai/gaudi', 'aws.amazon.com/neuron'])(
    'a type with %s goes if anything else is left',
    (resource) => {
      const types = [
        type('g.large', [offering(onDemand, 1)], { [resource]: '1' }),
        type('m.large', [offering(onDemand, 1)]),
      ];
      expect(names(kept(types))).toEqual(['m.large']);
      expect(names(kept(types.slice(0, 1)))).toEqual(['g.large']);
    },
  );

  test('so does metal, of any size, but not what has ordinary devices', () => {
    const types = [
      type('m.metal', [offering(onDemand, 1)]),
      type('m.metal-24xl', [offering(onDemand, 1)]),
      type('m.large', [offering(onDemand, 1)], { 'vpc.amazonaws.com/efa': '1', 'vpc.amazonaws.com/pod-eni': '9' }),
    ];
    expect(names(kept(types))).toEqual(['m.large']);
  });

  test('with minValues, or when nothing else remains, everything stays', () => {
    const types = [type('m.metal', [offering(onDemand, 1)]), type('m.large', [offering(onDemand, 1)])];
    const flexible: RequirementSpec = { key: label.instanceType, operator: 'Exists', minValues: 1 };
    expect(names(kept(types, [flexible]))).toEqual(['m.metal', 'm.large']);
    expect(names(kept(types, [among(label.instanceType, 'm.metal')]))).toEqual(['m.metal']);
  });
});

describe('spot dearer than on-demand', () => {
  const types = [
    type('m.a', [offering(onDemand, 2), offering(spot, 1), offering(spot, 3, { zone: 'b' })]),
    type('m.b', [offering(spot, 2.5)]),
    type('m.c', [offering(spot, 2)]),
  ];

  test('goes, and types of which nothing else is left', () => {
    const left = kept(types);
    expect(names(left)).toEqual(['m.a', 'm.c']);
    expect(left[0]?.offerings.map(zoneOf)).toEqual(['a', 'a']);
  });

  test('stays when only one of the two is allowed or available, or with minValues', () => {
    expect(names(kept(types, [among(label.capacityType, spot)]))).toEqual(['m.a', 'm.b', 'm.c']);
    expect(names(kept(types.slice(1)))).toEqual(['m.b', 'm.c']);
    const flexible: RequirementSpec = { key: label.instanceType, operator: 'Exists', minValues: 1 };
    expect(names(kept(types, [flexible]))).toEqual(['m.a', 'm.b', 'm.c']);
  });
});

describe('the cheapest', () => {
  const many = Array.from({ length: 100 }, (_, index) => type(`m.${index}`, [offering(onDemand, 100 - index)]));
  const chosen = (requirements: RequirementSpec[], policy: 'Strict' | 'BestEffort' = 'Strict') => {
    const match = matcher.match(requirements);
    return cheapest(launchCandidates(many, match), match, policy);
  };

  test('sixty types are kept, the cheapest first', () => {
    const result = chosen([]);
    expect(result.kind === 'kept' && names(result.candidates)).toEqual(
      Array.from({ length: 60 }, (_, index) => `m.${99 - index}`),
    );
  });

  test('fewer values than wanted are refused, unless flexibility is only a wish', () => {
    const wish = (key: string, minValues: number): RequirementSpec => ({ key, operator: 'Exists', minValues });
    expect(chosen([wish(label.instanceType, 60)])).toMatchObject({ kind: 'kept' });
    expect(chosen([wish(label.zone, 50)])).toEqual({ kind: 'inflexible', keys: [label.zone] });
    expect(chosen([wish(label.zone, 50)], 'BestEffort')).toMatchObject({ kind: 'kept' });
  });
});

test('reserved goes before spot, spot before on-demand', () => {
  const all = [offering(onDemand, 1), offering(spot, 1), reservedOffering({ id: '1' })];
  const choice = (count: number) => chosenCapacityType([{ type: type('m.a', []), offerings: all.slice(0, count) }]);
  expect([choice(1), choice(2), choice(3), choice(0)]).toEqual([onDemand, spot, reserved, onDemand]);
});
