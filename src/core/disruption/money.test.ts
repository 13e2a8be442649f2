// Where the money is: the causes add up to what stands between the cost of a cluster and the least it could be.
import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { daemonSet, finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { type ClusterMoney, clusterMoney } from './money.ts';
import { nodeVerdicts } from './verdicts.ts';

function money(objects: SnapshotObject[]): ClusterMoney {
  const round = roundOf(objects);
  return finish(clusterMoney(round, finish(nodeVerdicts(round))));
}

const causesOf = ({ causes }: ClusterMoney) => Object.fromEntries(causes.map(({ cause, perHour }) => [cause, perHour]));
const total = ({ causes }: ClusterMoney): number => causes.reduce((sum, { perHour }) => sum + perHour, 0);

const dear = (name: string, parts: Parameters<typeof machine>[1] = {}, pod: Parameters<typeof running>[1] = {}) => [
  ...machine(name, { type: 'c16', ...parts }),
  running(name, { name: `${name}-pod`, cpu: '1', ...pod }),
];

describe('the causes', () => {
  test('add up to the difference between the cost and the bound', () => {
    const found = money([
      pool(),
      ...dear('a'),
      ...dear('b', { annotations: { [annotation.doNotDisrupt]: 'true' } }),
      ...dear('c', { conditions: { Consolidatable: 'False' } }),
      running('a', { owner: daemonSet, cpu: '500m' }),
    ]);
    expect(total(found)).toBeCloseTo(found.costPerHour - found.boundPerHour, 9);
    expect(found.boundPerHour).toBeGreaterThan(0);
    expect(found.reachablePerHour).toBeLessThan(found.costPerHour);
    expect(found.reachablePerHour).toBeGreaterThanOrEqual(found.boundPerHour);
    expect(causesOf(found)).toMatchObject({
      DoNotDisrupt: expect.any(Number),
      NotQuiet: expect.any(Number),
      KerfReaches: expect.any(Number),
    });
  });

  test('go to what is left in the end, not to nodes that Kerf removes anyway', () => {
    const found = money([
      pool(),
      pool('emptied', { consolidationPolicy: 'WhenEmpty' }),
      ...dear('a', { pool: 'emptied' }),
      ...dear('b'),
      ...machine('c', { type: 'c8' }),
    ]);
    expect(Object.keys(causesOf(found)).toSorted()).toEqual(['KerfReaches', 'Policy']);
    expect(total(found)).toBeCloseTo(found.costPerHour - found.boundPerHour, 9);
  });

  test('name the rule about spot nodes where the last ones stay too large', () => {
    const found = money([pool(), ...dear('a', { capacityType: 'spot' }), ...dear('b', { capacityType: 'spot' })]);
    expect(Object.keys(causesOf(found)).toSorted()).toEqual(['KerfReaches', 'SpotToSpot']);
  });

  test('count pods that must not be disturbed as pods that need room', () => {
    const protection = { [annotation.doNotDisrupt]: 'true' };
    const free = money([pool('default', { budgets: [{ nodes: '0' }] }), ...dear('a')]);
    const kept = money([pool('default', { budgets: [{ nodes: '0' }] }), ...dear('a', {}, { annotations: protection })]);
    expect(kept.boundPerHour).toBeCloseTo(free.boundPerHour, 9);
    expect(causesOf(kept)['DoNotDisrupt']).toBeCloseTo(kept.costPerHour - kept.boundPerHour, 9);
  });

  test('have no part that is only rounding', () => {
    const found = money([pool(), ...machine('a', { type: 'c2' }), running('a', { cpu: '2' })]);
    expect(found).toMatchObject({ causes: [], boundPerHour: found.costPerHour });
  });

  test('name budgets that are closed', () => {
    const found = money([pool('default', { budgets: [{ nodes: '0' }] }), ...dear('a')]);
    expect(causesOf(found)['Budgets']).toBeGreaterThan(0);
    expect(causesOf(found)['KerfReaches']).toBeUndefined();
  });

  test('are only sizes where nothing else is in the way', () => {
    const found = money([pool(), ...machine('a', { type: 'c2' }), running('a', { cpu: '1' })]);
    expect(Object.keys(causesOf(found)).toSorted()).toEqual(['WholeNodes']);
    expect(total(found)).toBeCloseTo(found.costPerHour - found.boundPerHour, 9);
  });
});

describe('fees per node', () => {
  const feeOf = (fee: string): SnapshotObject => {
    const own = pool();
    return { ...own, metadata: { ...own.metadata, annotations: { [annotation.nodeCostPerHour]: fee } } };
  };

  test('are a cause where a NodePool states them, for the nodes that are left', () => {
    const small = (name: string) => [...machine(name, { type: 'c2' }), running(name, { cpu: '1' })];
    const found = money([feeOf('0.05'), ...small('a'), ...small('b'), ...small('c')]);
    expect(found.costPerHour).toBeCloseTo(0.6 + 3 * 0.05, 9);
    expect(causesOf(found)['NodeFees']).toBeLessThan(0.15);
    expect(found.costPerHour - found.reachablePerHour).toBeCloseTo(causesOf(found)['KerfReaches'] ?? 0, 9);
    expect(total(found)).toBeCloseTo(found.costPerHour - found.boundPerHour, 9);
  });

  test('are none where they are not set', () => {
    const found = money([pool(), ...dear('a')]);
    expect(found.costPerHour).toBeCloseTo(1.6, 9);
    expect(causesOf(found)['NodeFees']).toBeUndefined();
  });
});

test('an empty node goes by itself, also where nothing else can', () => {
  const found = money([
    pool(),
    ...machine('a', { type: 'c8' }),
    ...dear('b', { annotations: { [annotation.doNotDisrupt]: 'true' } }),
  ]);
  expect(causesOf(found)['KerfReaches']).toBeCloseTo(0.8, 9);
});

test('an empty cluster costs nothing', () => {
  expect(money([pool()])).toMatchObject({ costPerHour: 0, boundPerHour: 0, reachablePerHour: 0, causes: [] });
});

test('room on nodes of others may be free, so the bound counts with it', () => {
  const [node] = machine('free', { type: 'c16' }) as [SnapshotObject];
  const labels = { ...(node.metadata.labels as Record<string, string>) };
  delete labels['karpenter.sh/nodepool'];
  const found = money([pool(), { ...node, metadata: { ...node.metadata, labels } }, ...dear('a')]);
  expect(found.boundPerHour).toBe(0);
  expect(total(found)).toBeCloseTo(found.costPerHour, 9);
});

test('with hundreds of different requests the bound is one by room, and the causes add up to it', () => {
  const objects: SnapshotObject[] = [pool('default', { budgets: [{ nodes: '0' }] })];
  for (let at = 0; at < 40; at++) {
    objects.push(...machine(`n${at}`, { type: 'c16' }));
    for (let own = 0; own < 9; own++)
      objects.push(running(`n${at}`, { name: `n${at}-${own}`, cpu: `${100 + 9 * at + own}m` }));
  }
  const found = money(objects);
  expect(found.boundPerHour).toBeGreaterThan(0);
  expect(found.boundPerHour).toBeLessThan(found.costPerHour);
  expect(total(found)).toBeCloseTo(found.costPerHour - found.boundPerHour, 9);
  expect(causesOf(found)['Budgets']).toBeGreaterThan(0);
});
