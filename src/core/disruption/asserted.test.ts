// Behaviour that other suites assert about disruption and that no rule of its own file covers.
import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { instanceType, nodePool, offering, pod, requirement } from '../testing/builders.testing.ts';
import { isCandidate } from './candidates.ts';
import { driftCommand } from './drift.ts';
import { consolidationProblem } from './eligibility.ts';
import { emptinessCommand } from './emptiness.ts';
import { finish, fleetOf, machine, names, pool, roundOf, running, statefulSet } from './fleet.testing.ts';
import { multiNodeCommand } from './multi-node.ts';
import { singleNodeCommand } from './single-node.ts';

type Parts = Parameters<typeof roundOf>[1];
const single = (objects: SnapshotObject[], parts: Parts = {}) => finish(singleNodeCommand(roundOf(objects, parts)));
const multi = (objects: SnapshotObject[], parts: Parts = {}) => finish(multiNodeCommand(roundOf(objects, parts)));
const spotToSpot = { settings: { featureGates: { SpotToSpotConsolidation: true } } };
const buffer = (cpu: string) => pod({ cpu, annotations: { [annotation.bufferFakePod]: 'true' } });

describe('three nodes become one cheaper node', () => {
  const three = (...capacityTypes: string[]) =>
    ['a', 'b', 'c'].flatMap((name, index) => [
      ...machine(name, { type: 'c4', capacityType: capacityTypes[index] ?? '' }),
      running(name, { cpu: '2.5' }),
    ]);
  const types = [4, 8].map((cpu) =>
    instanceType({ name: `c${cpu}`, cpu: String(cpu), price: cpu / 10, capacityTypes: ['spot', 'on-demand'] }),
  );

  test.each([
    ['on-demand', ['on-demand', 'on-demand', 'on-demand']],
    ['mixed', ['on-demand', 'spot', 'on-demand']],
  ])('%s', (_, capacityTypes) => {
    const { command } = multi([pool(), ...three(...capacityTypes)], { types });
    expect(names(command?.members)).toEqual(['a', 'b', 'c']);
    expect(command?.replacements).toHaveLength(1);
  });

  test('spot, with its gate and however few types are cheaper', () => {
    const objects = [pool(), ...three('spot', 'spot', 'spot')];
    expect(multi(objects, { types }).command).toBeUndefined();
    expect(names(multi(objects, { types, ...spotToSpot }).command?.members)).toEqual(['a', 'b', 'c']);
  });
});

describe('reserved capacity', () => {
  const reserved = (id: string, price: number) =>
    offering('zone-1', 'reserved', price, {
      requirements: [requirement('example.com/reservation-id', 'In', [id])],
      reservationCapacity: 5,
    });

  test('may be left for another reservation that is cheaper', () => {
    const types = [
      instanceType({ name: 'c4', cpu: '4', offerings: [reserved('r-1', 0.01)] }),
      instanceType({ name: 'c16', cpu: '16', offerings: [reserved('r-2', 0.02)] }),
    ];
    const objects = [pool(), ...machine('a', { type: 'c16', capacityType: 'reserved' }), running('a', { cpu: '3' })];
    const [replacement] = single(objects, { types }).command?.replacements ?? [];
    expect(replacement).toMatchObject({ node: { instanceTypes: ['c4'], chosen: { capacityType: 'reserved' } } });
  });

  test('may take over from spot', () => {
    const types = [instanceType({ name: 'c4', offerings: [offering('zone-1', 'spot', 0.4), reserved('r-1', 0.01)] })];
    const objects = [pool(), ...machine('a', { type: 'c4', capacityType: 'spot' }), running('a', { cpu: '3' })];
    const [replacement] = single(objects, { types }).command?.replacements ?? [];
    expect(replacement).toMatchObject({ node: { chosen: { capacityType: 'reserved' } } });
  });
});

describe('spot to spot', () => {
  /** Named against the order of their prices. */
  const types = Array.from({ length: 20 }, (_, index) =>
    instanceType({
      name: `t${String(99 - index)}`,
      cpu: '4',
      price: 0.1 + index / 100,
      capacityTypes: ['spot'],
    }),
  );
  const world = (type: string) => [
    pool(),
    ...machine('a', { type, cpu: '4', capacityType: 'spot' }),
    running('a', { cpu: '3' }),
  ];

  test('orders by price before it keeps the cheapest fifteen', () => {
    const [replacement] = single(world('t80'), { types, ...spotToSpot }).command?.replacements ?? [];
    const kept = replacement?.kind === 'planned' ? replacement.node.instanceTypes : [];
    expect([...kept].sort()).toEqual(
      types
        .slice(0, 15)
        .map(({ name }) => name)
        .sort(),
    );
  });

  test('leaves a node alone whose type is among the fifteen cheapest', () => {
    for (const type of ['t99', 't92', 't85']) {
      expect(single(world(type), { types, ...spotToSpot }).command).toBeUndefined();
    }
  });
});

describe('room for capacity buffers', () => {
  test('keeps a node from emptiness, and consolidation leaves it to emptiness', () => {
    const round = roundOf([pool(), ...machine('a'), buffer('1')]);
    expect(emptinessCommand(round).command).toBeUndefined();
    const [member] = round.fleet.members;
    expect(member && consolidationProblem(member)?.code).toBe('Empty');
  });

  test('comes along when a node with pods of both kinds is replaced, if it still fits', () => {
    const objects = [pool(), ...machine('a', { type: 'c16' }), running('a', { cpu: '1' }), buffer('2')];
    const [replacement] = single(objects).command?.replacements ?? [];
    expect(replacement).toMatchObject({ kind: 'planned' });
    expect(replacement?.kind === 'planned' && replacement.node.instanceTypes).not.toContain('c2');
  });
});

describe('drift', () => {
  const drifted = { conditions: { Drifted: 'True' } };
  /** Five minutes before the snapshot. */
  const started = '2026-01-01T00:05:00Z';
  const protectedFor = (value: string) =>
    running('a', { annotations: { [annotation.doNotDisrupt]: value }, status: { startTime: started } });
  const isBlocked = (...objects: SnapshotObject[]): boolean => {
    const round = roundOf([pool(), ...machine('a', drifted), ...objects]);
    return finish(driftCommand(round)).command === undefined;
  };

  test('waits for the longest protection that any pod of the node still has', () => {
    expect(isBlocked(protectedFor('2m'))).toBe(false);
    expect(isBlocked(protectedFor('2m'), protectedFor('30m'))).toBe(true);
    expect(isBlocked(protectedFor('2m'), protectedFor('4m'))).toBe(false);
  });

  test('of several nodes goes on in parallel: each replacement is for the pods of the node it replaces', () => {
    const coming = machine('new', { type: 'c4', initialized: false });
    const leaving = { ...drifted, claimMetadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const world = (...more: SnapshotObject[]) =>
      roundOf([pool(), ...machine('b', { type: 'c4', ...drifted }), running('b', { cpu: '3' }), ...coming, ...more]);
    // Whichever of the two pods comes first.
    for (const created of ['2025-12-31T00:00:00Z', '2026-01-02T00:00:00Z']) {
      const other = [...machine('a', { type: 'c4', ...leaving }), running('a', { cpu: '3', created })];
      expect(finish(driftCommand(world(...other))).command?.replacements).toHaveLength(1);
    }
    // No one else wants the node that is not ready yet: then it has to be waited for.
    expect(finish(driftCommand(world())).refused[0]?.answer.message).toMatch(/would schedule against uninitialized/);
  });

  test('is not held by a value that cannot be read', () => {
    expect(isBlocked(protectedFor('soon'))).toBe(false);
    expect(isBlocked(protectedFor('true'))).toBe(true);
  });

  test('applies to nodes whose claim is consolidatable or not', () => {
    const unquiet = machine('a', { conditions: { Drifted: 'True', Consolidatable: 'False' } });
    const round = roundOf([pool('default', { consolidateAfter: 'Never' }), ...unquiet, running('a')]);
    expect(names(finish(driftCommand(round)).command?.members)).toEqual(['a']);
  });
});

describe('emptiness', () => {
  const isGone = (...objects: SnapshotObject[]): boolean =>
    emptinessCommand(roundOf([pool(), ...objects])).command !== undefined;

  test('needs the condition Consolidatable to be True: missing or False is not enough', () => {
    expect(isGone(...machine('a'))).toBe(true);
    expect(isGone(...machine('a', { conditions: { Consolidatable: 'False' } }))).toBe(false);
    expect(isGone(...machine('a', { conditions: { Consolidatable: 'Unknown' } }))).toBe(false);
  });

  test('is not stopped by do-not-disrupt "false" on the node', () => {
    expect(isGone(...machine('a', { annotations: { [annotation.doNotDisrupt]: 'false' } }))).toBe(true);
  });

  test('does not take a node with a terminating StatefulSet pod', () => {
    expect(isGone(...machine('a'), running('a', { owner: statefulSet, deleting: true }))).toBe(false);
    expect(isGone(...machine('a'), running('a', { deleting: true }))).toBe(true);
  });

  test('does not take a node that a waiting pod is nominated for', () => {
    const nodeState = [{ node: 'a', nodeClaim: 'a', providerID: 'test:///a', initialized: true, nominated: true }];
    const round = roundOf([pool(), ...machine('a')], { nodeState });
    expect(emptinessCommand(round).command).toBeUndefined();
  });
});

describe('a price that is not a number', () => {
  test('counts as none: the node is worth nothing to the Balanced policy, and is not chosen for its price', () => {
    const types = [
      instanceType({ name: 'c4', cpu: '4', price: 0.4 }),
      instanceType({ name: 'c8', cpu: '8', price: Number.NaN }),
    ];
    const balanced = pool('default', { consolidationPolicy: 'Balanced' });
    const fleet = fleetOf([balanced, ...machine('a', { type: 'c4' }), ...machine('b', { type: 'c8' })], { types });
    expect(fleet.poolCost('default')).toBeCloseTo(0.4);
  });
});

test('a pool that is not valid stops neither its own nodes from being candidates nor others from consolidation', () => {
  const invalid = nodePool({ name: 'invalid', spec: { template: { spec: { requirements: [{ key: 'x' }] } } } });
  const objects = [pool(), ...machine('a', { type: 'c16' }), running('a', { cpu: '1' })];
  expect(names(single([invalid, ...objects]).command?.members)).toEqual(['a']);
  const fleet = fleetOf([invalid, ...objects]);
  expect(fleet.members.every((member) => isCandidate(fleet, member, 'graceful'))).toBe(true);
});
