import { describe, expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import type { InstanceTypeSpec, SnapshotObject } from '../index.ts';
import {
  affinity,
  instanceType,
  nodePool,
  offering,
  podTerm,
  requirement,
  sizes,
  spread,
} from '../testing/builders.testing.ts';
import { finish, machine, names, pool, roundOf, running } from './fleet.testing.ts';
import { multiNodeCommand, prefixCommand } from './multi-node.ts';
import { singleNodeCommand } from './single-node.ts';

const single = (objects: SnapshotObject[], parts: Parameters<typeof roundOf>[1] = {}) =>
  finish(singleNodeCommand(roundOf(objects, parts)));
const multi = (objects: SnapshotObject[], parts: Parameters<typeof roundOf>[1] = {}) =>
  finish(multiNodeCommand(roundOf(objects, parts)));

const onlyRefusal = (outcome: ReturnType<typeof single>, name: string) =>
  outcome.refused.find(({ member }) => member.name === name)?.answer;

describe('one node', () => {
  test('goes without replacement when its pods fit elsewhere', () => {
    const outcome = single([
      pool(),
      ...machine('a', { type: 'c8' }),
      ...machine('b', { type: 'c8' }),
      running('a'),
      running('b'),
      running('b'),
    ]);
    expect(names(outcome.command?.members)).toEqual(['a']);
    expect(outcome.command?.replacements).toEqual([]);
    expect(outcome.command?.savings).toBeCloseTo(0.8);
    expect(outcome.command?.placements).toMatchObject([{ name: 'b' }]);
  });

  test('is replaced by a cheaper one, which may not be dearer than what was there', () => {
    const outcome = single([pool(), ...machine('a', { type: 'c16' }), running('a', { cpu: '3' })]);
    const [replacement] = outcome.command?.replacements ?? [];
    expect(replacement).toMatchObject({ kind: 'planned', node: { instanceTypes: ['c4', 'c8'] } });
    expect(outcome.command?.savings).toBeCloseTo(1.2);
  });

  test('stays when nothing cheaper holds its pods', () => {
    const outcome = single([pool(), ...machine('a', { type: 'c4' }), running('a', { cpu: '3' })]);
    expect(outcome.command).toBeUndefined();
    expect(onlyRefusal(outcome, 'a')).toMatchObject({
      code: 'NotCheaper',
      message: "Can't replace with a cheaper node",
    });
  });

  test('stays when its pods need more than one new node', () => {
    const types = [instanceType({ name: 'c4', cpu: '4', price: 0.1 })];
    const outcome = single(
      [pool(), ...machine('a', { type: 'c4', cpu: '8' }), running('a', { cpu: '3' }), running('a', { cpu: '3' })],
      { types },
    );
    expect(onlyRefusal(outcome, 'a')?.message).toBe("Can't remove without creating 2 candidates");
  });

  test('stays when a pod has nowhere to go, and says which', () => {
    const picky = running('a', { name: 'picky', spec: { nodeSelector: { zone: 'nowhere' } } });
    const outcome = single([pool(), ...machine('a', { type: 'c16' }), picky]);
    expect(onlyRefusal(outcome, 'a')?.message).toMatch(/^Not all pods would schedule, default\/picky => /);
  });

  test('is not held by pods that wait for ever', () => {
    const waiting = running('', { spec: { nodeSelector: { zone: 'nowhere' } } });
    const outcome = single([pool(), ...machine('a', { type: 'c16' }), running('a'), waiting]);
    expect(names(outcome.command?.members)).toEqual(['a']);
  });

  test('may move its pods to unmanaged nodes', () => {
    const [unmanaged] = machine('free', { type: 'c16', labels: { [label.nodePool]: '' } }) as [SnapshotObject];
    const outcome = single([pool(), unmanaged, ...machine('a', { type: 'c8' }), running('a')]);
    expect(outcome.command).toMatchObject({ replacements: [], placements: [{ name: 'free' }] });
  });

  test('keeps to destinations that are initialized', () => {
    const outcome = single([
      pool(),
      ...machine('a', { type: 'c4' }),
      ...machine('young', { type: 'c16', initialized: false }),
      running('a', { cpu: '3' }),
    ]);
    expect(outcome.command).toBeUndefined();
    expect(onlyRefusal(outcome, 'a')).toMatchObject({
      code: 'DestinationNotReady',
      message: expect.stringContaining('would schedule against uninitialized nodeclaim/young, node/young') as string,
    });
  });

  test('does not go to nodes inside their quiet time, but may go to nodes that are never consolidated', () => {
    const restless = (consolidateAfter: string) => [
      pool(),
      pool('other', { consolidateAfter }),
      ...machine('a', { type: 'c4' }),
      ...machine('b', {
        type: 'c16',
        pool: 'other',
        conditions: { Consolidatable: 'False' },
        since: '2026-01-01T00:09:00Z',
      }),
      running('a', { cpu: '3' }),
      running('b'),
    ];
    expect(single(restless('5m')).command).toBeUndefined();
    expect(names(single(restless('30s')).command?.members)).toEqual(['a']);
    expect(names(single(restless('Never')).command?.members)).toEqual(['a']);
  });

  test('is replaced although the new node will be inside its own quiet time', () => {
    const { command } = single([
      pool('default', { consolidateAfter: '10m' }),
      ...machine('a', { type: 'c16' }),
      running('a'),
    ]);
    expect(names(command?.members)).toEqual(['a']);
    expect(command?.replacements).toHaveLength(1);
  });

  test('keeps zonal spread and anti-affinity', () => {
    const app = { app: 'web' };
    const spreading = (zone: string, name: string) => [
      ...machine(name, { type: 'c4', zone }),
      running(name, { labels: app, spec: spread(label.zone, app) }),
    ];
    const outcome = single([
      pool(),
      ...spreading('zone-1', 'a'),
      ...spreading('zone-2', 'b'),
      ...spreading('zone-3', 'c'),
    ]);
    const { command } = outcome;
    expect(command?.replacements[0]).toMatchObject({
      node: { requirements: expect.arrayContaining([requirement(label.zone, 'In', ['zone-1'])]) },
    });

    const apart = (name: string) => [
      ...machine(name, { type: 'c2' }),
      running(name, { labels: app, spec: affinity('podAntiAffinity', podTerm(label.hostname, app)) }),
    ];
    expect(single([pool(), ...apart('a'), ...apart('b')]).command).toBeUndefined();
  });

  test('is bound to spot where it might have been on-demand too', () => {
    const spotIsCheap = sizes.map((type) => ({
      ...type,
      offerings: type.offerings.map((each) => ({
        ...each,
        price: each.requirements[1]?.values?.[0] === 'spot' ? each.price / 2 : each.price,
      })),
    }));
    const outcome = single([pool(), ...machine('a', { type: 'c4' }), running('a', { cpu: '3' })], {
      types: spotIsCheap,
    });
    expect(outcome.command?.replacements[0]).toMatchObject({
      node: {
        requirements: expect.arrayContaining([requirement(label.capacityType, 'In', ['spot'])]),
        chosen: { capacityType: 'spot' },
      },
    });
  });

  test('is judged by the worst price it may be launched at', () => {
    const uneven: InstanceTypeSpec[] = [
      instanceType({ name: 'c4', cpu: '4', price: 0.4 }),
      instanceType({
        name: 'c3',
        cpu: '3',
        offerings: [offering('zone-1', 'on-demand', 0.1), offering('zone-2', 'on-demand', 0.5)],
      }),
    ];
    expect(
      single([pool(), ...machine('a', { type: 'c4' }), running('a', { cpu: '2' })], { types: uneven }).command,
    ).toBeUndefined();
  });

  test.each(['Strict', 'BestEffort'] as const)(
    'cheaper types must still satisfy minValues, if there are any (%s)',
    (minValuesPolicy) => {
      const manifest = pool() as { spec: { template: { spec: Record<string, unknown> } } } & SnapshotObject;
      manifest.spec.template.spec['requirements'] = [requirement(label.instanceType, 'Exists', undefined, 3)];
      const textFor = (type: string) => {
        const objects = [manifest, ...machine('a', { type }), running('a', { cpu: '3' })];
        return onlyRefusal(single(objects, { settings: { minValuesPolicy } }), 'a')?.message;
      };
      expect(textFor('c16')).toMatch(/^Filtering by price: minValues requirement is not met/);
      expect(textFor('c4')).toBe("Can't replace with a cheaper node");
    },
  );
});

describe('spot to spot', () => {
  const many = Array.from({ length: 20 }, (_, index) =>
    instanceType({
      name: `t${String(index).padStart(2, '0')}`,
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

  test('is off unless its gate is on', () => {
    expect(onlyRefusal(single(world('t19'), { types: many }), 'a')?.code).toBe('SpotToSpotDisabled');
  });

  test('keeps as many types beyond fifteen as minValues ask for', () => {
    const settings = { featureGates: { SpotToSpotConsolidation: true } };
    const requirements = [requirement(label.instanceType, 'Exists', undefined, 17)];
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
    const objects = [nodePool({ requirements, spec: { disruption } }), ...world('t19').slice(1)];
    const [replacement] = single(objects, { types: many, settings }).command?.replacements ?? [];
    expect(replacement?.kind === 'planned' && replacement.node.instanceTypes).toHaveLength(17);
  });

  test('needs fifteen cheaper types and keeps the cheapest fifteen', () => {
    const settings = { featureGates: { SpotToSpotConsolidation: true } };
    const outcome = single(world('t19'), { types: many, settings });
    const [replacement] = outcome.command?.replacements ?? [];
    expect(replacement?.kind === 'planned' && replacement.node.instanceTypes).toEqual(
      many.slice(0, 15).map(({ name }) => name),
    );
    expect(onlyRefusal(single(world('t14'), { types: many, settings }), 'a')?.message).toBe(
      'SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got 14',
    );
  });
});

describe('several nodes', () => {
  const three = (type: string) =>
    ['a', 'b', 'c'].flatMap((name) => [...machine(name, { type }), running(name, { cpu: '2.5' })]);

  test('three become one cheaper node', () => {
    const { command } = multi([pool(), ...three('c4')]);
    expect(names(command?.members)).toEqual(['a', 'b', 'c']);
    expect(command?.replacements).toHaveLength(1);
    expect(command?.savings).toBeCloseTo(0.4);
  });

  test('nodes that can simply go are not replaced', () => {
    const light = ['a', 'b', 'c'].flatMap((name) => [...machine(name, { type: 'c4' }), running(name)]);
    expect(multi([pool(), ...light]).command).toMatchObject({ replacements: [], savings: 0.8 });
  });

  test('nodes whose price is unknown go together too, where they can simply go', () => {
    const unknown = ['a', 'b', 'c'].flatMap((name) => [...machine(name, { zone: 'nowhere' }), running(name)]);
    const { command } = multi([pool(), ...unknown]);
    expect(command?.members).toHaveLength(2);
    expect(command).toMatchObject({ replacements: [], savings: 0 });
  });

  test('two never become one of the same type', () => {
    const types = [instanceType({ name: 'c4', cpu: '4', price: 0.4 })];
    const two = ['a', 'b'].flatMap((name) => [...machine(name, { type: 'c4' }), running(name, { cpu: '2' })]);
    const outcome = multi([pool(), ...two], { types });
    expect(outcome.command?.replacements ?? []).toEqual([]);
  });

  test('a stubborn node does not hide those behind it', () => {
    const stubborn = [
      ...machine('dear', { type: 'c16' }),
      running('dear', { cpu: '1', spec: { nodeSelector: { only: 'here' } } }),
    ];
    const objects = [pool(), ...stubborn, ...three('c4')];
    expect(finish(prefixCommand(roundOf(objects))).command).toBeUndefined();
    expect(names(multi(objects).command?.members)).toEqual(['a', 'b', 'c']);
  });

  test('only as many as the budget allows', () => {
    const light = ['a', 'b', 'c'].flatMap((name) => [...machine(name, { type: 'c16' }), running(name)]);
    const { command, constrained } = multi([pool('default', { budgets: [{ nodes: '2' }] }), ...light]);
    expect(command?.members).toHaveLength(2);
    expect(constrained).toBe(true);
  });
});
