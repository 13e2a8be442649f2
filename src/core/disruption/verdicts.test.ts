import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { object } from '../testing/builders.testing.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { nodeVerdicts } from './verdicts.ts';

const verdictsOf = (objects: SnapshotObject[]) => finish(nodeVerdicts(roundOf(objects)));
const codes = (objects: SnapshotObject[], name = 'a') =>
  verdictsOf(objects)
    .find((verdict) => verdict.node === name)
    ?.blockers.map(({ code }) => code);

test('a node that can go says by what reason and what that saves', () => {
  expect(verdictsOf([pool(), ...machine('a')])).toMatchObject([
    { node: 'a', verdict: 'remove', reason: 'Empty', savingsPerHour: 0.4, blockers: [] },
  ]);
  const oversized = [pool(), ...machine('a', { type: 'c16' }), running('a', { cpu: '3' })];
  expect(verdictsOf(oversized)).toMatchObject([
    { verdict: 'replace', reason: 'Underutilized', replacements: [{ instanceType: 'c4' }] },
  ]);
  const drifted = [pool(), ...machine('a', { type: 'c2', conditions: { Drifted: 'True' } }), running('a')];
  expect(verdictsOf(drifted)).toMatchObject([{ verdict: 'replace', reason: 'Drifted' }]);
});

describe('a drifted node', () => {
  const conditions = { Drifted: 'True' };
  const noDrift = { budgets: [{ nodes: '100%' }, { nodes: '0', reasons: ['Drifted'] }] };

  test('goes for whatever reason is allowed first', () => {
    expect(verdictsOf([pool(), ...machine('a', { conditions })])).toMatchObject([{ reason: 'Empty' }]);
    expect(verdictsOf([pool('default', noDrift), ...machine('a', { conditions })])).toMatchObject([
      { verdict: 'remove', reason: 'Empty' },
    ]);
    const oversized = [...machine('a', { type: 'c16', conditions }), running('a', { cpu: '3' })];
    expect(verdictsOf([pool(), ...oversized])).toMatchObject([{ reason: 'Drifted' }]);
    expect(verdictsOf([pool('default', noDrift), ...oversized])).toMatchObject([{ reason: 'Underutilized' }]);
    const full = [...machine('a', { type: 'c2', conditions }), running('a', { cpu: '1.5' })];
    expect(codes([pool('default', noDrift), ...full])).toEqual(['Budget']);
  });

  test('of a static pool is exchanged, if there is room for one more meanwhile', () => {
    const old = [...machine('a', { conditions }), running('a')];
    const fixed = (limit: string) => pool('default', {}, { replicas: 1, limits: { nodes: limit } });
    expect(verdictsOf([fixed('2'), ...old])).toMatchObject([{ verdict: 'replace', reason: 'Drifted', blockers: [] }]);
    expect(codes([fixed('1'), ...old])).toEqual(['NoRoomToExchange']);
    expect(codes([fixed('2'), ...machine('a')])).toEqual(['StaticPool']);
  });
});

test('a node that stays names everything that keeps it, not only the first thing', () => {
  const guarded = running('a', { annotations: { [annotation.doNotDisrupt]: 'true' } });
  const node = machine('a', {
    type: 'c16',
    annotations: { [annotation.doNotDisrupt]: 'true' },
    conditions: { Consolidatable: 'False' },
  });
  expect(codes([pool(), ...node, guarded])).toEqual(['NodeDoNotDisrupt', 'PodDoNotDisrupt', 'NotQuiet']);
});

test('what several pods have in common is named once, with the pods', () => {
  const budget = object('policy/v1', 'PodDisruptionBudget', 'web', {
    metadata: { namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: 0 },
  });
  const pods = ['p', 'q'].map((name) => running('a', { name, cpu: '1', labels: { app: 'web' } }));
  expect(verdictsOf([pool(), ...machine('a', { type: 'c16' }), ...pods, budget])[0]?.blockers).toMatchObject([
    { code: 'PodBudgetExhausted', pods: ['default/p', 'default/q'] },
  ]);
});

test('removing what is named lets the node go', () => {
  const closed = pool('default', { budgets: [{ nodes: '0' }] });
  expect(codes([closed, ...machine('a')])).toEqual(['Budget']);
  expect(codes([pool(), ...machine('a')])).toEqual([]);
  expect(codes([pool(), ...machine('a', { type: 'c2' }), running('a', { cpu: '1.5' })])).toEqual(['NotCheaper']);
});
