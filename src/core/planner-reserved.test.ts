import { describe, expect, test } from 'vitest';
import { label } from '../api/names.ts';
import {
  expectScheduled,
  instanceType,
  newNodeOf,
  nodePool,
  offering,
  plan,
  pod,
  pods,
  reasonsOf,
  requirement,
  valuesOf,
} from './testing/builders.testing.ts';

const reservationId = 'example.com/reservation-id';
const reserved = (id: string, capacity: number) =>
  offering('zone-1', 'reserved', 0.001, {
    requirements: [requirement(reservationId, 'In', [id])],
    reservationCapacity: capacity,
  });
const typeWith = (name: string, ...offerings: ReturnType<typeof reserved>[]) =>
  instanceType({
    name,
    capacityTypes: ['on-demand', 'reserved'],
    pods: '2',
    requirements: [
      requirement(
        reservationId,
        'In',
        offerings.flatMap((own) => own.requirements[2]?.values ?? []),
      ),
    ],
    offerings: [offering('zone-1', 'on-demand', 1), ...offerings],
  });

test('a node that can be reserved is, and says so in its requirements', () => {
  const waiting = pod();
  const planned = newNodeOf(plan([nodePool(), waiting], { types: [typeWith('a', reserved('r1', 1))] }), waiting);
  expect(valuesOf(planned, label.capacityType)).toEqual(['reserved']);
  expect(valuesOf(planned, reservationId)).toEqual(['r1']);
  expect(planned.chosen).toMatchObject({ capacityType: 'reserved', pricePerHour: 0.001 });
});

test('several pods may share one reserved node; the next waits rather than falling back', () => {
  const waiting = pods(3);
  const result = plan([nodePool(), ...waiting], { types: [typeWith('a', reserved('r1', 1))] });
  expect(result.newNodes.map((planned) => planned.pods.length)).toEqual([2]);
  expect(result.unschedulable).toMatchObject([{ reasons: [{ code: 'ReservedCapacityDeferred' }] }]);
});

test('different reservations of one instance type are both used', () => {
  const result = plan([nodePool(), ...pods(4)], { types: [typeWith('a', reserved('r1', 1), reserved('r2', 1))] });
  expect(result.newNodes).toHaveLength(1);
  const [planned] = result.newNodes;
  expect(planned && valuesOf(planned, reservationId)).toEqual(['r1', 'r2']);
});

test('capacity is shared across pools, and a lighter pool is no way out', () => {
  const heavy = nodePool({ name: 'heavy', weight: 10 });
  const waiting = pods(4);
  const result = plan([heavy, nodePool({ name: 'light' }), ...waiting], { types: [typeWith('a', reserved('r1', 1))] });
  expect(result.newNodes).toHaveLength(1);
  expect(result.unschedulable).toHaveLength(2);
});

test('a pool may have one node per reserved instance, and the pods share them', () => {
  const result = plan([nodePool(), ...pods(5)], { types: [typeWith('a', reserved('r1', 3))] });
  expect(result.newNodes.map((planned) => planned.pods.length)).toEqual([2, 2, 1]);
  for (const planned of result.newNodes) expect(valuesOf(planned, reservationId)).toEqual(['r1']);
});

test('preferences are not given up for want of reserved capacity', () => {
  const prefers = {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [requirement(label.instanceType, 'In', ['a'])] } },
        ],
      },
    },
  };
  const types = [typeWith('a', reserved('r1', 1)), instanceType({ name: 'b', price: 5 })];
  const [first, ...others] = pods(3, { spec: prefers });
  const result = plan([nodePool(), first as never, ...others], { types });
  expect(result.newNodes).toHaveLength(1);
  expect(result.unschedulable).toMatchObject([{ reasons: [{ code: 'ReservedCapacityDeferred' }] }]);
});

describe('a reservation that is full from the start', () => {
  const full = offering('zone-1', 'reserved', 0.001, {
    requirements: [requirement(reservationId, 'In', ['r1'])],
    reservationCapacity: 0,
  });

  test('is nothing to wait for where there is other capacity, and its price is none', () => {
    const waiting = pods(3);
    const result = plan([nodePool(), ...waiting], { types: [typeWith('a', full)] });
    expectScheduled(result, ...waiting);
    expect(result.newNodes[0]?.chosen).toMatchObject({ capacityType: 'on-demand', pricePerHour: 1 });
  });

  test('beside one with room, pods wait for that one', () => {
    const result = plan([nodePool(), ...pods(3)], { types: [typeWith('a', full, reserved('r2', 1))] });
    expect(result.newNodes.map((planned) => valuesOf(planned, reservationId))).toEqual([['r2']]);
    expect(result.unschedulable).toMatchObject([{ reasons: [{ code: 'ReservedCapacityDeferred' }] }]);
  });

  test('is waited for where there is nothing else', () => {
    const only = instanceType({ name: 'a', capacityTypes: ['reserved'], offerings: [full] });
    const waiting = pod();
    const [reason] = reasonsOf(plan([nodePool(), waiting], { types: [only] }), waiting);
    expect(reason).toMatchObject({ code: 'ReservedCapacityDeferred' });
    expect(reason?.message).toContain('all compatible reserved offerings are full');
  });
});

test('a node keeps what it has reserved: a pod that would take it away goes elsewhere or waits', () => {
  const types = [typeWith('a', reserved('r1', 1)), instanceType({ name: 'b', price: 5, zones: ['zone-2'] })];
  const first = pod({ cpu: '2', spec: { nodeSelector: { [label.instanceType]: 'a' } } });
  const demanding = pod({ cpu: '1', spec: { nodeSelector: { [label.capacityType]: 'on-demand' } } });
  const result = plan([nodePool(), first, demanding], { types });
  expect(valuesOf(newNodeOf(result, first), label.capacityType)).toEqual(['reserved']);
  expect(newNodeOf(result, demanding).pods).toHaveLength(1);
});

test('with the gate off reserved offerings are not held', () => {
  const waiting = pods(6);
  const settings = { featureGates: { ReservedCapacity: false } };
  expectScheduled(plan([nodePool(), ...waiting], { types: [typeWith('a', reserved('r1', 1))], settings }), ...waiting);
});

test('pods that cannot use reserved capacity are not held up by it', () => {
  const onDemand = pods(5, { spec: { nodeSelector: { [label.capacityType]: 'on-demand' } } });
  const result = plan([nodePool(), ...onDemand], { types: [typeWith('a', reserved('r1', 1))] });
  expectScheduled(result, ...onDemand);
  expect(result.newNodes).toHaveLength(3);
});

test('pods that are bought anew do not take reserved capacity that no node holds', () => {
  const onDemand = (name: string, cpu: string, price: number) =>
    instanceType({ name, cpu, memory: '256Gi', pods: '500', offerings: [offering('zone-1', 'on-demand', price)] });
  const small = { ...typeWith('small', reserved('r1', 1)), capacity: { cpu: '4', memory: '256Gi', pods: '500' } };
  const types = [small, onDemand('medium', '8', 3), onDemand('large', '64', 60)];
  // The first pod is too large for the reserved type, and the others join it.
  const result = plan([nodePool(), pod({ cpu: '6' }), ...pods(50, { cpu: '1' })], { types });
  expect(result.unschedulable).toEqual([]);
  expect(new Set(result.newNodes.map(({ chosen }) => chosen.capacityType))).toEqual(new Set(['on-demand']));
  expect(result.newNodes.every(({ instanceTypes }) => !instanceTypes.includes('small'))).toBe(true);
  expect(result.pricePerHour).toBeLessThan(60);
});
