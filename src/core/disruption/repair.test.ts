import { describe, expect, test } from 'vitest';
import { annotation, label } from '../../api/names.ts';
import type { RepairPolicy, SnapshotObject } from '../index.ts';
import { object, provider } from '../testing/builders.testing.ts';
import { decisionOf } from './command.ts';
import { finish, type MachineParts, machine, pool, roundOf, running } from './fleet.testing.ts';
import { repairCommand } from './repair.ts';
import { nodeVerdicts } from './verdicts.ts';

const policy: RepairPolicy = { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 600_000 };
const since = '2026-01-01T00:00:00Z';
const now = '2026-01-01T00:20:00Z';

const round = (objects: SnapshotObject[], more: { time?: string; policies?: RepairPolicy[]; queued?: string[] } = {}) =>
  roundOf(
    objects,
    { time: more.time ?? now, provider: { ...provider, repairPolicies: more.policies ?? [policy] } },
    { queued: new Set(more.queued) },
  );
const run = (...given: Parameters<typeof round>) => finish(repairCommand(round(...given)));
const names = (members: readonly { name: string }[] = []) => members.map(({ name }) => name);
const broken = (name: string, parts: MachineParts = {}) => machine(name, { ready: 'False', since, ...parts });
const healthy = (...all: string[]) => all.flatMap((name) => machine(name, { since }));
const full = ['v', 'w', 'x', 'y', 'z'].flatMap((name) => [...machine(name, { since }), running(name, { cpu: '4' })]);

describe('a broken node', () => {
  test('goes after its replacement has come, or at once if nothing on it needs a place', () => {
    const { command } = run([pool(), ...broken('a'), running('a'), ...full]);
    expect(command).toMatchObject({ reason: 'Unhealthy', consolidationType: '', repair: { condition: 'Ready' } });
    expect([names(command?.members), command?.replacements.length]).toEqual([['a'], 1]);
    const empty = run([pool(), ...broken('a'), ...full]).command;
    expect(empty && decisionOf(empty)).toBe('delete');
  });

  test('stays while its time is not up, and where repair is off', () => {
    expect(run([pool(), ...broken('a'), ...full], { time: '2026-01-01T00:09:00Z' }).command).toBeUndefined();
    const off = roundOf([pool(), ...broken('a')], { time: now });
    expect(finish(repairCommand(off)).command).toBeUndefined();
  });

  test('is repaired in spite of do-not-disrupt, but not of do-not-repair, on the Node or its claim', () => {
    const marked = (key: string) => ({ annotations: { [key]: 'true' } });
    expect(run([pool(), ...broken('a', marked(annotation.doNotDisrupt)), ...full]).command).toBeDefined();
    for (const parts of [marked(annotation.doNotRepair), { claimMetadata: marked(annotation.doNotRepair) }]) {
      const { command, refused } = run([pool(), ...broken('a', parts), ...full]);
      expect(command).toBeUndefined();
      expect(refused[0]?.answer.message).toBe('repair is blocked through the "karpenter.sh/do-not-repair" annotation');
    }
    const other = { annotations: { [annotation.doNotRepair]: 'false' } };
    expect(run([pool(), ...broken('a', other), ...full]).command).toBeDefined();
  });

  test('is repaired though it never came up, even if pods wait for it; not before it registered', () => {
    const never = broken('a', { initialized: false });
    expect(run([pool(), ...never, ...full]).command).toBeDefined();
    const unregistered = broken('a', { initialized: false, labels: { [label.registered]: 'false' } });
    expect(run([pool(), ...unregistered, ...full]).command).toBeUndefined();
    const closed = pool('default', { budgets: [{ nodes: '0' }] });
    expect(run([closed, ...never, ...full]).command).toBeDefined();
  });

  test('of no NodePool is left alone, and so is one that reboots or is on its way out', () => {
    const { command, refused } = run([
      ...broken('a', { labels: { [label.nodePool]: undefined as never } }),
      pool(),
      ...full,
    ]);
    expect([command, refused[0]?.answer.code]).toEqual([undefined, 'NoPoolLabel']);
    const rebooting = { conditions: { Rebooting: 'True' } };
    expect(run([pool(), ...broken('a', rebooting), ...full]).command).toBeUndefined();
    expect(run([pool(), ...broken('a'), ...full], { queued: ['a'] }).command).toBeUndefined();
  });
});

describe('pods that nothing may move', () => {
  const guarded = running('a', { name: 'kept', annotations: { [annotation.doNotDisrupt]: 'true' } });

  test('keep a broken node that has no time to end', () => {
    const { command, refused } = run([pool(), ...broken('a'), guarded, ...full]);
    expect(command).toBeUndefined();
    expect(refused[0]?.answer.message).toBe('repair requires a termination grace period to bypass blocking pods');
  });

  test('get a place on the replacement if the policy or the claim says by when they go', () => {
    const bounded = { ...policy, terminationGracePeriodMs: 0 };
    for (const found of [
      run([pool(), ...broken('a'), guarded, ...full], { policies: [bounded] }),
      run([pool(), ...broken('a', { claim: { terminationGracePeriod: '1h' } }), guarded, ...full]),
    ]) {
      const [replacement] = found.command?.replacements ?? [];
      expect(replacement?.kind === 'planned' && replacement.node.pods).toEqual(['default/kept']);
    }
  });

  test('by a budget that allows no eviction neither', () => {
    const budget = object('policy/v1', 'PodDisruptionBudget', 'web', {
      metadata: { namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 0 },
      status: { disruptionsAllowed: 0 },
    });
    const web = running('a', { name: 'web', labels: { app: 'web' } });
    const claim = { terminationGracePeriod: '1h' };
    const { command } = run([pool(), budget, ...broken('a', { claim }), web, ...full]);
    expect(command?.replacements).toHaveLength(1);
  });
});

describe('budgets', () => {
  test('of the reason Unhealthy hold, and broken nodes do not use them up', () => {
    const budgets = (nodes: string) => pool('default', { budgets: [{ nodes, reasons: ['Unhealthy'] }] });
    expect(run([budgets('0'), ...broken('a'), ...full])).toMatchObject({ command: undefined, constrained: true });
    expect(run([budgets('1'), ...broken('a'), ...full]).command).toBeDefined();
    const other = round([budgets('1'), ...broken('a'), ...full]).fleet;
    const [only] = other.allPools();
    expect(other.budget(only as never, 'Unhealthy').counts.consuming).toBe(0);
    expect(other.budget(only as never, 'Drifted').counts.consuming).toBe(1);
  });

  test('are used up by nodes that reboot, for every reason', () => {
    const rebooting = machine('r', { initialized: false, conditions: { Rebooting: 'True' } });
    const { fleet } = round([pool(), ...rebooting, ...full]);
    const [only] = fleet.allPools();
    for (const reason of ['Unhealthy', 'Empty']) {
      expect(fleet.budget(only as never, reason).counts).toEqual({ total: 6, consuming: 1 });
    }
  });
});

describe('when many nodes are broken', () => {
  const pair = [...broken('a'), ...broken('b')];

  test('more than a fifth of a pool, rounded up, none is touched', () => {
    const { command, refused } = run([pool(), ...pair, ...healthy('c', 'd', 'e')]);
    expect(command).toBeUndefined();
    expect(refused[0]?.answer).toEqual({
      code: 'TooManyUnhealthy',
      message: 'more than 20% of nodes in nodepool "default" are unhealthy',
    });
    expect(run([pool(), ...pair, ...healthy('c', 'd', 'e', 'f')]).command).toBeDefined();
    expect(run([pool(), ...broken('a')]).command).toBeDefined();
  });

  test('those whose time is not up count too, and those of other pools do not', () => {
    const fresh = machine('b', { ready: 'False', since: now });
    expect(run([pool(), ...broken('a'), ...fresh, ...healthy('c', 'd', 'e')]).command).toBeUndefined();
    const others = broken('b', { pool: 'other' });
    expect(run([pool(), pool('other'), ...broken('a'), ...others, ...healthy('c')]).command).toBeDefined();
  });

  test('pools of up to four nodes are repaired one by one after two more hours', () => {
    const small = [pool(), ...pair, ...healthy('c')];
    expect(run(small, { time: '2026-01-01T02:09:00Z' }).command).toBeUndefined();
    expect(run(small, { time: '2026-01-01T02:10:00Z' }).command).toBeDefined();
    expect(run(small, { time: '2026-01-01T03:00:00Z', queued: ['b'] }).command).toBeUndefined();
    const five = [...small, ...healthy('d', 'e')];
    expect(run(five, { time: '2026-01-01T09:00:00Z' }).command).toBeUndefined();
  });
});

test('the most urgent is first', () => {
  const urgent: RepairPolicy = {
    conditionType: 'Gpu',
    conditionStatus: 'False',
    reasonRegex: '.*',
    tolerationMs: 0,
    priority: 5,
  };
  const gpu = { status: { conditions: [{ type: 'Gpu', status: 'False', lastTransitionTime: now }] } };
  const [node, claim] = machine('z');
  const objects = [
    pool(),
    ...broken('a'),
    { ...node, ...gpu } as never,
    claim as never,
    ...healthy('c', 'd', 'e', 'f'),
  ];
  expect(names(run(objects, { policies: [policy, urgent] }).command?.members)).toEqual(['z']);
});

test('of a static pool a node is exchanged one for one, if the limit leaves room for one more', () => {
  const fixed = (limit: string) => pool('default', {}, { replicas: 1, limits: { nodes: limit } });
  expect(run([fixed('2'), ...broken('a')]).command?.replacements).toEqual([{ kind: 'template', nodePool: 'default' }]);
  const { command, refused } = run([fixed('1'), ...broken('a')]);
  expect(command).toBeUndefined();
  expect(refused[0]?.answer.message).toBe('static NodePool is at its node limit and cannot stage a replacement');
});

test('a verdict says what is done, or everything that keeps it from being done', () => {
  const verdict = (objects: SnapshotObject[], policies = [policy]) =>
    finish(nodeVerdicts(round(objects, { policies })))[0];
  expect(verdict([pool(), ...broken('a'), running('a'), ...full])).toMatchObject({
    verdict: 'replace',
    reason: 'Unhealthy',
  });
  const closed = pool('default', { budgets: [{ nodes: '0' }] });
  const kept = verdict([
    closed,
    ...broken('a', { annotations: { [annotation.doNotRepair]: 'true' } }),
    running('a'),
    ...full,
  ]);
  expect(kept?.blockers.map(({ code }) => code)).toEqual(['DoNotRepair', 'Budget']);
  const reboot: RepairPolicy = { ...policy, reasonRegex: '.*', action: 'RebootNode' };
  const other = { ...policy, conditionStatus: 'Unknown' as const };
  expect(verdict([pool(), ...broken('a'), running('a'), ...full], [other, reboot])?.blockers[0]?.code).toBe(
    'RebootDue',
  );
});
