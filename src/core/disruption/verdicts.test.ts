import { describe, expect, test } from 'vitest';
import { annotation, label } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { instanceType, nodePool, object, requirement, type SnapshotParts } from '../testing/builders.testing.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { nodeVerdicts } from './verdicts.ts';

const verdictsOf = (objects: SnapshotObject[], parts: SnapshotParts = {}) =>
  finish(nodeVerdicts(roundOf(objects, parts)));
const codes = (objects: SnapshotObject[], parts: SnapshotParts = {}) =>
  verdictsOf(objects, parts)
    .find((verdict) => verdict.node === 'a')
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
    expect(codes([fixed('1'), ...old])).toEqual(['NodeLimit']);
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

test('what pods say comes in the same order whichever pod was seen first', () => {
  const apps = ['web', 'api', 'db'];
  const budgets = apps.map((app) =>
    object('policy/v1', 'PodDisruptionBudget', app, {
      metadata: { namespace: 'default' },
      spec: { selector: { matchLabels: { app } } },
      status: { disruptionsAllowed: 0 },
    }),
  );
  const guard = { [annotation.doNotDisrupt]: 'true' };
  const pods = apps.flatMap((app) => [
    running('a', { name: app, cpu: '1', labels: { app } }),
    running('a', { name: `${app}-guard`, cpu: '1', annotations: guard }),
  ]);
  const cluster = [pool(), ...machine('a', { type: 'c16' }), ...budgets];
  const blockers = (own: SnapshotObject[]) => verdictsOf([...cluster, ...own])[0]?.blockers;
  expect(blockers(pods.toReversed())).toEqual(blockers(pods));
  expect(blockers(pods)?.map(({ code }) => code)).toEqual([
    ...apps.map(() => 'PodDoNotDisrupt'),
    ...apps.map(() => 'PodBudgetExhausted'),
  ]);
});

test('removing what is named lets the node go', () => {
  const closed = pool('default', { budgets: [{ nodes: '0' }] });
  expect(codes([closed, ...machine('a')])).toEqual(['Budget']);
  expect(codes([pool(), ...machine('a')])).toEqual([]);
  expect(codes([pool(), ...machine('a', { type: 'c2' }), running('a', { cpu: '1.5' })])).toEqual(['NotCheaper']);
});

test('a node whose pool is gone is kept by that alone: no settings are left that could keep it', () => {
  expect(codes([pool('other'), ...machine('a')])).toEqual(['NoPool']);
  expect(codes([pool('other'), ...machine('a'), running('a')])).toEqual(['NoPool']);
});

describe('a spot node, where spot is not replaced by spot,', () => {
  const typesFrom = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      instanceType({ name: `t${index}`, cpu: '4', price: 0.1 + index / 100, capacityTypes: ['spot'] }),
    );
  const spot = (type: string) => [
    pool(),
    ...machine('a', { type, cpu: '4', capacityType: 'spot' }),
    running('a', { cpu: '3' }),
  ];

  test('names the gate alone if the node would be replaced with it', () => {
    const types = typesFrom(20);
    expect(codes(spot('t19'), { types })).toEqual(['SpotToSpotDisabled']);
    const settings = { featureGates: { SpotToSpotConsolidation: true } };
    expect(codes(spot('t19'), { types, settings })).toEqual([]);
  });

  test('names what would keep the node with the gate too', () => {
    expect(codes(spot('t3'), { types: typesFrom(20) })).toEqual(['SpotToSpotDisabled', 'SpotToSpotInflexible']);
    expect(codes(spot('t0'), { types: typesFrom(20) })).toEqual(['SpotToSpotDisabled', 'NotCheaper']);
  });
});

test('a drifted node whose replacement would not have its minValues stays', () => {
  const requirements = [requirement(label.instanceType, 'Exists', undefined, 50)];
  const spec = { disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '100%' }] } };
  const old = [...machine('a', { type: 'c2', conditions: { Drifted: 'True' } }), running('a')];
  const [verdict] = verdictsOf([nodePool({ requirements, spec }), ...old]);
  expect(verdict).toMatchObject({ verdict: 'keep', blockers: [{ code: 'PodsDoNotFit' }] });
  expect(verdict?.blockers[0]?.message).toContain('minValues');
});

describe('a node that is deleted', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const blockers = (claim: object, ...objects: SnapshotObject[]) =>
    verdictsOf([
      pool('default', { budgets: [{ nodes: '0' }] }),
      ...machine('a', { claimMetadata: { deletionTimestamp }, claim: claim as Record<string, unknown> }),
      ...objects,
    ])[0]?.blockers;
  const budget = object('policy/v1', 'PodDisruptionBudget', 'stuck', {
    metadata: { namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: 0 },
  });
  const web = running('a', { name: 'web', labels: { app: 'web' } });
  const guarded = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };
  const guard = running('a', { ...guarded, name: 'guard' });

  test('hears how its drain stands, not what would keep others from choosing it', () => {
    expect(blockers({})).toMatchObject([{ code: 'Leaving', message: 'node is deleting or marked for deletion' }]);
  });

  test('hears first who blocks its drain and until when, then each pod', () => {
    expect(blockers({}, budget, web, guard)).toMatchObject([
      {
        code: 'DrainBlocked',
        message:
          'drain blocked by PDB default/stuck, pod default/guard (do-not-disrupt); no terminationGracePeriod, so it waits for ever',
      },
      { code: 'PodDoNotDisrupt' },
      { code: 'PodBudgetExhausted', pods: ['default/web'] },
    ]);
    // Without its annotation the budget would still hold it.
    const both = running('a', { ...guarded, name: 'both', labels: { app: 'web' } });
    expect(blockers({}, budget, both)?.[0]?.message).toMatch(
      /^drain blocked by PDB default\/stuck, pod default\/both \(do-not-disrupt\); /,
    );
    expect(blockers({ terminationGracePeriod: '1h' }, guard)?.[0]?.message).toMatch(
      /; it ends 1h after the deletion whatever they say \(terminationGracePeriod\)$/,
    );
  });
});

describe('a budget that keeps a node', () => {
  const text = (budgets: object[]) =>
    verdictsOf([pool('default', { budgets }), ...machine('a')])[0]?.blockers[0]?.message;

  test('says how many nodes it allows and how many are out', () => {
    expect(text([{ nodes: '0' }])).toBe('the budgets of NodePool default allow no disruption for Empty');
    const one = [pool('default', { budgets: [{ nodes: '1' }] }), ...machine('a'), ...machine('b', { ready: 'False' })];
    expect(verdictsOf(one)[0]?.blockers[0]?.message).toMatch(/ allow 1 of 2 nodes .*, and 1 is$/);
  });

  test('says until when, if it is there for a while only', () => {
    const noon = { nodes: '0', schedule: '0 0 * * *', duration: '12h' };
    expect(text([noon])).toMatch(/ allow no disruption for Empty, until 2026-01-01T12:00:00Z$/);
    expect(text([noon, { nodes: '0', schedule: '0 12 * * *', duration: '1h' }])).toMatch(/until 2026-01-01T13:00:00Z$/);
    expect(text([noon, { nodes: '0' }])).toMatch(/ for Empty$/);
    expect(text([{ nodes: '0', schedule: '@hourly', duration: '2h' }])).toMatch(/ for Empty$/);
  });

  test('says that its schedule cannot be read', () => {
    expect(text([{ nodes: '5', schedule: 'noon', duration: '1h' }])).toBe(
      'a budget of NodePool default has a schedule that cannot be read ("noon"), so no node may go',
    );
  });
});
