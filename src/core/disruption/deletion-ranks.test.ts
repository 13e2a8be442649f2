import { expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import { deletionRanks, leavingRank } from './deletion-ranks.ts';
import { daemonSet, finish, fleetOf, machine, pool, running, statefulSet } from './fleet.testing.ts';

type Objects = Parameters<typeof fleetOf>[0];

const ranksOf = (objects: Objects, parts: Parameters<typeof fleetOf>[1] = {}, queued?: ReadonlySet<string>) =>
  Object.fromEntries(
    finish(deletionRanks(fleetOf(objects, parts, queued === undefined ? {} : { queued }))).map(({ name, rank }) => [
      name,
      rank,
    ]),
  );

test('the node that saves most per unit of trouble has the lowest rank, and ranks end at -1', () => {
  const busy = [running('a'), running('a'), running('a'), running('b'), running('c'), running('c')];
  expect(ranksOf([pool(), ...machine('a'), ...machine('b'), ...machine('c'), ...busy])).toEqual({
    b: -3,
    c: -2,
    a: -1,
  });
});

test('drifted nodes come before all others', () => {
  const objects = [
    pool(),
    ...machine('idle'),
    ...machine('drifted', { conditions: { Drifted: 'True' } }),
    running('drifted'),
    running('drifted'),
    running('idle'),
  ];
  expect(ranksOf(objects)).toEqual({ drifted: -2, idle: -1 });
});

test('nodes that are going have the lowest rank there is', () => {
  const disrupted = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };
  const objects = [pool(), ...machine('tainted', { taints: [disrupted] }), ...machine('queued'), ...machine('stays')];
  expect(ranksOf(objects, {}, new Set(['queued']))).toEqual({ tainted: leavingRank, queued: leavingRank, stays: -1 });
  expect(leavingRank).toBe(-2147483648);
});

test('nodes that stay anyway have none: protected, pinned by a pod, without a price, never consolidated', () => {
  const objects = [
    pool(),
    pool('never', { consolidateAfter: 'Never' }),
    ...machine('protected', { annotations: { [annotation.doNotDisrupt]: 'true' } }),
    ...machine('guarded'),
    running('guarded', { annotations: { [annotation.doNotDisrupt]: 'true' } }),
    ...machine('stateful'),
    running('stateful', { owner: statefulSet }),
    ...machine('unknown', { type: 'retired', cpu: '4' }),
    ...machine('patient', { pool: 'never' }),
    ...machine('ordinary'),
    running('ordinary', { owner: daemonSet }),
    running('ordinary', { owner: statefulSet, namespace: 'kube-system' }),
  ];
  expect(ranksOf(objects)).toEqual({
    ordinary: -1,
    protected: undefined,
    guarded: undefined,
    stateful: undefined,
    unknown: undefined,
    patient: undefined,
  });
});

test('a drifted node is ranked where nothing is consolidated, as far as the budget for drift reaches', () => {
  const never = pool('default', {
    consolidateAfter: 'Never',
    budgets: [
      { nodes: '1', reasons: ['Drifted'] },
      { nodes: '100%', reasons: ['Underutilized'] },
    ],
  });
  const drifted = { conditions: { Drifted: 'True' } };
  const ranks = ranksOf([never, ...machine('a', drifted), ...machine('b', drifted), running('b')]);
  expect(ranks).toEqual({ a: -1, b: undefined });
});

test('only pods of ReplicaSets are to carry the rank', () => {
  const objects = [
    pool(),
    ...machine('a'),
    running('a', { name: 'web' }),
    running('a', { name: 'agent', owner: daemonSet }),
    running('a', { name: 'over', phase: 'Succeeded' }),
  ];
  const [node] = finish(deletionRanks(fleetOf(objects)));
  expect(node?.pods.map(({ metadata }) => metadata.name)).toEqual(['web']);
});
