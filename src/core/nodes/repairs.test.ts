import { describe, expect, test } from 'vitest';
import type { RepairPolicy } from '../snapshot.ts';
import { RepairPolicies } from './repairs.ts';

const minuteMs = 60_000;
const begin = Date.parse('2026-01-01T00:00:00Z');
const at = (minutes: number) => ({ nowMs: begin + minutes * minuteMs });

const fallback: RepairPolicy = { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 10 * minuteMs };
const bad = (more: Partial<RepairPolicy> = {}): RepairPolicy => ({
  conditionType: 'GpuOk',
  conditionStatus: 'False',
  reasonRegex: '.*',
  tolerationMs: 30 * minuteMs,
  ...more,
});

type Conditions = Record<string, [status: string, reason?: string, minute?: number]>;
const node = (conditions: Conditions, creationTimestamp = '2025-12-01T00:00:00Z') => ({
  metadata: { name: 'n', creationTimestamp },
  status: {
    conditions: Object.entries(conditions).map(([type, [status, reason = '', minute = 0]]) => ({
      type,
      status,
      reason,
      lastTransitionTime: new Date(begin + minute * minuteMs).toISOString(),
    })),
  },
});
const claim = (more: object = {}) => ({ metadata: { name: 'c' }, ...more });

describe('a node is repaired', () => {
  const policies = new RepairPolicies([
    fallback,
    bad({ reasonRegex: '^Xid79$', tolerationMs: 5 * minuteMs, priority: 9 }),
  ]);

  test('when a condition has been bad for as long as its policy tolerates, and not before', () => {
    const broken = node({ Ready: ['False'] });
    expect(policies.repairOf(broken, claim(), at(9.9))).toBeUndefined();
    expect(policies.repairOf(broken, claim(), at(10))).toMatchObject({ action: 'ReplaceNode', condition: 'Ready' });
    expect(policies.repairOf(node({ Ready: ['True'] }), claim(), at(99))).toBeUndefined();
  });

  test('counted from when it came to be at the earliest, whatever time its condition has', () => {
    const young = node({ Ready: ['False', '', -600] }, '2026-01-01T00:05:00Z');
    expect(policies.repairOf(young, claim(), at(14))).toBeUndefined();
    expect(policies.repairOf(young, claim(), at(15))).toMatchObject({ urgency: 0 });
  });

  test('by the policy whose reason it is; other reasons of the condition have the one for every reason', () => {
    expect(policies.repairOf(node({ GpuOk: ['False', 'Xid79'] }), claim(), at(5))).toMatchObject({
      condition: 'GpuOk',
    });
    expect(policies.repairOf(node({ GpuOk: ['False', 'Other'] }), claim(), at(9))).toBeUndefined();
    expect(policies.repairOf(node({ GpuOk: ['False', 'Other'] }), claim(), at(10))).toMatchObject({ reason: 'Other' });
    expect(policies.repairOf(node({ DiskOk: ['False', 'Other'] }), claim(), at(99))).toBeUndefined();
  });

  test('not by the policy for every reason while its own still waits', () => {
    const patient = new RepairPolicies([fallback, bad({ reasonRegex: 'Xid', tolerationMs: 60 * minuteMs })]);
    expect(patient.repairOf(node({ GpuOk: ['False', 'Xid79'] }), claim(), at(59))).toBeUndefined();
    expect(patient.repairOf(node({ GpuOk: ['False', 'Xid79'] }), claim(), at(60))).toBeDefined();
  });

  test('counted from the end of its last reboot at the earliest, and without a time from when it came to be', () => {
    const conditions = [{ type: 'Rebooting', status: 'False', lastTransitionTime: '2026-01-01T00:07:00Z' }];
    const rebooted = claim({ status: { conditions } });
    expect(policies.repairOf(node({ Ready: ['False'] }), rebooted, at(16))).toBeUndefined();
    expect(policies.repairOf(node({ Ready: ['False'] }), rebooted, at(17))).toBeDefined();
    const [condition] = node({ Ready: ['False'] }).status.conditions;
    const { lastTransitionTime: _, ...timeless } = condition as NonNullable<typeof condition>;
    const young = { ...node({}, '2026-01-01T00:05:00Z'), status: { conditions: [timeless] } };
    expect(policies.repairOf(young, claim(), at(14))).toBeUndefined();
    expect(policies.repairOf(young, claim(), at(15))).toBeDefined();
  });

  test('though its condition comes and goes, because that began long ago', () => {
    const flapping = node({ Ready: ['False', '', 9] });
    const unhealthySince = { 'Ready=False': '2026-01-01T00:00:00Z' };
    expect(policies.repairOf(flapping, claim(), at(11))).toBeUndefined();
    expect(policies.repairOf(flapping, claim(), { ...at(11), unhealthySince })).toBeDefined();
  });
});

describe('of several policies', () => {
  const reboot = bad({ conditionType: 'A', action: 'RebootNode', tolerationMs: 0, priority: 100 });
  const replace = bad({ conditionType: 'B', tolerationMs: 0, terminationGracePeriodMs: 5_000 });

  test('replacing wins over rebooting, and the shortest time for pods holds', () => {
    const policies = new RepairPolicies([fallback, { ...reboot, terminationGracePeriodMs: 9_000 }, replace]);
    const both = node({ A: ['False'], B: ['False'] });
    expect(policies.repairOf(both, claim(), at(1))).toMatchObject({
      action: 'ReplaceNode',
      condition: 'B',
      graceMs: 5_000,
    });
    const only = policies.repairOf(node({ A: ['False'] }), claim(), at(1));
    expect(only).toMatchObject({ action: 'RebootNode', graceMs: 9_000, isEscalated: false });
  });

  test('the rank of a priority counts, and every half hour one more', () => {
    const policies = new RepairPolicies([fallback, { ...replace, priority: 7 }, { ...reboot, priority: 90 }]);
    const urgency = (minutes: number) => policies.repairOf(node({ B: ['False'] }), claim(), at(minutes))?.urgency;
    expect(urgency(0)).toBe(1);
    expect(urgency(45)).toBe(2.5);
  });

  test('a node that was rebooted twice within a day is replaced', () => {
    const policies = new RepairPolicies([fallback, reboot]);
    const after = (...times: string[]) =>
      policies.repairOf(
        node({ A: ['False'] }),
        { metadata: { name: 'c', annotations: { 'kerf.sh/reboots': times.join(',') } } },
        at(60),
      );
    expect(after('2026-01-01T00:30:00Z')).toMatchObject({ action: 'RebootNode' });
    expect(after('2025-12-31T23:30:00Z', '2026-01-01T00:30:00Z')).toMatchObject({
      action: 'ReplaceNode',
      isEscalated: true,
    });
    expect(after('2025-12-30T23:30:00Z', '2026-01-01T00:30:00Z')).toMatchObject({ action: 'RebootNode' });
  });
});

test('policies that contradict themselves or cannot be read are refused', () => {
  const refused: [RepairPolicy[], RegExp][] = [
    [[bad()], /no policy for every reason/],
    [[fallback, fallback], /two policies for every reason of Ready=False/],
    [[{ ...fallback, action: 'RebootNode' }], /must replace/],
    [[fallback, bad({ priority: 101 })], /priority/],
    [[fallback, bad({ reasonRegex: '(' })], /cannot be read/],
    [[fallback, bad({ tolerationMs: -1 })], /negative/],
  ];
  for (const [policies, problem] of refused) expect(() => new RepairPolicies(policies)).toThrow(problem);
});
