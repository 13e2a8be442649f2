import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { annotation, conditionType } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';
import type { Node, RepairPolicy } from '../../ports/index.ts';
import { resources } from '../../ports/index.ts';
import type { ControllerSettings } from '../context.ts';
import { nodeClaims } from '../own-resources.ts';
import { type DisruptionBench, openDisruption, podOn, quiet } from './disruption-bench.testing.ts';

const minuteMs = 60_000;
const policies: RepairPolicy[] = [
  { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 10 * minuteMs, terminationGracePeriodMs: 30_000 },
];

let at: DisruptionBench;
afterEach(() => at.bench.close());

const open = async (settings: Partial<ControllerSettings> = {}, budgets = [{ nodes: '100%' }]) => {
  const gates = { featureGates: { NodeRepair: true } };
  at = await openDisruption({ consolidateAfter: 'Never', budgets }, { ...gates, ...settings });
  Object.assign(at.bench.context.cloud, { repairPolicies: () => policies });
  await at.bench.machine('default', 'broken', quiet);
  for (const name of ['b', 'c', 'd', 'e']) await at.bench.machine('default', name, quiet);
  await at.bench.apply(resources.pods, { ...podOn('app', 'broken') });
  await ready('broken', 'False');
};
const ready = (name: string, status: 'True' | 'False') =>
  at.bench.apply<Node>(resources.nodes, {
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: formatTime(at.bench.clock.now()) }] },
  });
const round = async () => {
  const acted = at.begin();
  await at.bench.run(40_000);
  return acted;
};
const claim = (name: string) => at.bench.get<NodeClaim>(nodeClaims, name);

describe('a node that is broken for longer than tolerated', () => {
  beforeEach(() => open());

  test('goes, at once if nothing on it needs a place', async () => {
    await at.bench.context.kube.delete(resources.pods, { name: 'app', namespace: 'default' });
    expect(await round()).toBe(false);
    await at.bench.run(10 * minuteMs);
    expect(await round()).toBe(true);
    const gone = await claim('broken');
    expect(gone === undefined || gone.metadata.deletionTimestamp !== undefined).toBe(true);
    expect(at.reported('DisruptionTerminating')).toContain('Disrupting Node: Unhealthy');
    const labels = { condition: 'ready', termination_mode: 'eventual' };
    expect(at.bench.metrics.value('karpenter_nodeclaims_unhealthy_disrupted_total', labels)).toBe(1);
    const decided = { reason: 'unhealthy', consolidation_type: '' };
    expect(at.bench.metrics.value('karpenter_voluntary_disruption_decisions_total', decided)).toBe(1);
  });

  test('though it came and went all the time', async () => {
    for (let minute = 0; minute < 10; minute += 2) {
      expect(await round()).toBe(false);
      await ready('broken', 'True');
      expect(await round()).toBe(false);
      await at.bench.run(40_000);
      await ready('broken', 'False');
    }
    expect(await round()).toBe(true);
  });

  test('waits for its replacement, which has to be ready first', async () => {
    for (const name of ['b', 'c', 'd', 'e']) await at.bench.apply(resources.pods, podOn(`full-${name}`, name, '4'));
    await at.bench.run(10 * minuteMs);
    expect(await round()).toBe(true);
    expect((await claim('broken'))?.metadata.deletionTimestamp).toBeUndefined();
    const created = at.bench.context.cluster.claims.list().filter(({ status }) => status?.providerID === undefined);
    expect(created).toHaveLength(1);
    expect(at.reported('DisruptionWaitingReadiness')).toContain('Waiting on readiness to continue disruption');
    expect(await at.isTainted('broken')).toBe(true);
  });

  test('stays where its owner says so, and says why', async () => {
    await at.bench.apply<Node>(resources.nodes, {
      metadata: { name: 'broken', annotations: { [annotation.doNotRepair]: 'true' } },
    });
    await at.bench.run(20 * minuteMs);
    expect(await round()).toBe(false);
    expect(at.reported('DisruptionBlocked')).toContain(
      'Repair is blocked through the "karpenter.sh/do-not-repair" annotation',
    );
  });

  test('is one of too many: none goes, and node, claim and pool are notified', async () => {
    await ready('b', 'False');
    await at.bench.run(20 * minuteMs);
    expect(await round()).toBe(false);
    const reported = at.bench.events.filter(({ reason }) => reason === 'NodeRepairBlocked');
    expect(new Set(reported.map(({ subject }) => subject.kind))).toEqual(new Set(['Node', 'NodeClaim', 'NodePool']));
    expect(reported[0]?.message).toBe('more than 20% of nodes in nodepool "default" are unhealthy');
  });
});

test('a budget for Unhealthy holds, and is shown', async () => {
  await open({}, [{ nodes: '0' }]);
  await at.bench.run(20 * minuteMs);
  expect(await round()).toBe(false);
  expect(at.bench.metrics.value('karpenter_nodepools_allowed_disruptions', { reason: 'unhealthy' })).toBe(0);
  expect(at.reported('DisruptionBlocked')).toContain(
    'No allowed disruptions for disruption reason Unhealthy due to blocking budget',
  );
});

test.each([
  ['without the gate', { featureGates: {} }],
  ['with the older controller', { legacyNodeRepair: true }],
])('broken nodes are not the business of the loop %s', async (_, settings) => {
  await open(settings);
  await at.bench.run(20 * minuteMs);
  expect(await round()).toBe(false);
  expect(await claim('broken')).toBeDefined();
});

test('a policy that reboots asks for it on the claim, and the node stays', async () => {
  await open();
  const reboot = { conditionType: 'Gpu', conditionStatus: 'False', reasonRegex: '^Xid', tolerationMs: 0 } as const;
  Object.assign(at.bench.context.cloud, {
    repairPolicies: () => [...policies, { ...reboot, action: 'RebootNode', terminationGracePeriodMs: 90_000 }],
  });
  const lastTransitionTime = formatTime(at.bench.clock.now());
  await at.bench.apply<Node>(resources.nodes, {
    metadata: { name: 'broken' },
    status: { conditions: [{ type: 'Gpu', status: 'False', reason: 'Xid79', lastTransitionTime }] },
  });
  expect(await round()).toBe(true);
  const { metadata, status } = (await claim('broken')) as NodeClaim;
  expect(metadata.deletionTimestamp).toBeUndefined();
  expect(metadata.annotations?.[annotation.rebootTerminationGracePeriod]).toBe('1m30s');
  const found = (type: string) => status?.conditions?.find((each) => each.type === type);
  expect(found(conditionType.rebooting)).toMatchObject({
    status: 'True',
    reason: 'RebootRequested',
    message: 'rebooting for Gpu/Xid79',
  });
  expect(found(conditionType.disruptionReason)).toMatchObject({ status: 'True', reason: 'Unhealthy' });
  expect(at.bench.metrics.value('karpenter_voluntary_disruption_decisions_total', { decision: 'reboot' })).toBe(1);
  expect(await round()).toBe(false);
  expect(found(conditionType.disruptionReason)).toBeDefined();
});
