// What users see of disruption that does nothing: events and gauges, on a cluster where nothing else changes.
import { afterEach, describe, expect, test } from 'vitest';
import { annotation } from '../../api/index.ts';
import { type Member, Round } from '../../core/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import { instanceTypesOfPools, snapshotFor } from '../planning.ts';
import { type DisruptionBench, openDisruption, podOn, quiet } from './disruption-bench.testing.ts';
import { DisruptionReport } from './report.ts';

let at: DisruptionBench;
afterEach(() => at.bench.close());

async function round(): Promise<boolean> {
  const acted = at.begin();
  await at.bench.run(20_000);
  return acted;
}

test('an annotation that blocks is reported although nothing consolidation goes by has changed', async () => {
  at = await openDisruption({ consolidationPolicy: 'WhenEmpty' });
  await at.bench.machine('default', 'busy', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'busy'));
  expect(await round()).toBe(false);
  expect(at.reported('DisruptionBlocked')).toEqual([]);
  await at.bench.apply<Node>(resources.nodes, {
    metadata: { name: 'busy', annotations: { [annotation.doNotDisrupt]: 'true' } },
  });
  expect(await round()).toBe(false);
  const text = 'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation';
  expect(at.reported('DisruptionBlocked')).toEqual([text, text]);
});

test('a policy that keeps a node is reported to node and claim', async () => {
  at = await openDisruption({ consolidationPolicy: 'WhenEmpty' });
  await at.bench.machine('default', 'busy', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'busy'));
  await round();
  const text = 'NodePool "default" has consolidation policy WhenEmpty, but node is not empty';
  expect(at.reported('Unconsolidatable')).toEqual([text, text]);
});

test('what is said again with other figures is the same event, another reason is another one', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  const { context } = at.bench;
  const report = new DisruptionReport(context);
  const round = Round.of(snapshotFor(context, await instanceTypesOfPools(context)));
  const [member] = round.fleet.members as [Member];
  const code = 'PodsDoNotFit';
  report.unconsolidatable(member, { code, message: 'not all pods would schedule, 3 nodes are full' });
  report.unconsolidatable(member, { code, message: 'not all pods would schedule, 4 nodes are full' });
  report.unconsolidatable(member, { code: 'NotCheaper', message: "Can't replace with a cheaper node" });
  report.blocked(member, { code, message: 'not all pods would schedule' });
  const [first, , second, , third, , fourth] = at.bench.events;
  expect(second?.dedupeValues).toEqual(first?.dedupeValues);
  expect(third?.dedupeValues).not.toEqual(first?.dedupeValues);
  expect([first?.dedupeMs, fourth?.dedupeMs]).toEqual([15 * 60_000, undefined]);
  expect(first?.message).toBe('Not all pods would schedule, 3 nodes are full');
});

test('a pool whose budget allows nothing is reported, once per reason it blocks', async () => {
  at = await openDisruption({ budgets: [{ nodes: '0', reasons: ['Empty'] }] });
  await at.bench.machine('default', 'empty', quiet);
  expect(await round()).toBe(false);
  expect(at.reported('DisruptionBlocked')).toEqual([
    'No allowed disruptions for disruption reason Empty due to blocking budget',
  ]);
});

test('a budget without a candidate is not news; with a candidate anywhere, every pool it blocks is reported', async () => {
  at = await openDisruption({ consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '0' }] });
  await at.bench.machine('default', 'busy', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'busy'));
  expect(await round()).toBe(false);
  expect(at.reported('DisruptionBlocked')).toEqual([]);
  await at.bench.pool('other', {
    spec: { replicas: 1, disruption: { consolidateAfter: '0s', budgets: [{ nodes: '0', reasons: ['Drifted'] }] } },
  });
  await at.bench.machine('other', 'old', { ...quiet, conditions: { ...quiet.conditions, Drifted: 'True' } });
  expect(await round()).toBe(false);
  const blocked = at.bench.events.filter(({ reason }) => reason === 'DisruptionBlocked');
  const message = 'No allowed disruptions for disruption reason Drifted due to blocking budget';
  expect(blocked).toMatchObject(['default', 'other'].map((name) => ({ subject: { kind: 'NodePool', name }, message })));
});

test('gauges show what budgets allow before nodes that are out are taken off, and what those are', async () => {
  at = await openDisruption({ budgets: [{ nodes: '5' }, { nodes: '50%', reasons: ['Drifted'] }] });
  for (const name of ['a', 'b', 'c']) {
    await at.bench.machine('default', name, quiet);
    await at.bench.apply(resources.pods, { ...podOn(`p-${name}`, name) });
  }
  await at.bench.apply<Node>(resources.nodes, {
    metadata: { name: 'c' },
    status: { conditions: [{ type: 'Ready', status: 'False' }] },
  });
  const acted = at.begin();
  await at.bench.run(0);
  const gauge = (name: string, reason: string) =>
    at.bench.metrics.value(`karpenter_nodepools_${name}`, { nodepool: 'default', reason });
  expect(gauge('allowed_disruptions', 'underutilized')).toBe(5);
  expect(gauge('allowed_disruptions', 'drifted')).toBe(2);
  expect(gauge('nodes_consuming_budgets', 'empty')).toBe(1);
  await at.bench.run(30_000);
  await acted;
});

test('without a budget the gauge shows the largest whole number', async () => {
  at = await openDisruption({ budgets: [], consolidationPolicy: 'WhenEmpty' });
  await at.bench.machine('default', 'busy', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'busy'));
  await round();
  const labels = { nodepool: 'default', reason: 'empty' };
  expect(at.bench.metrics.value('karpenter_nodepools_allowed_disruptions', labels)).toBe(2 ** 31 - 1);
});

describe('a pod with do-not-disrupt is reported', () => {
  const note = 'karpenter.sh/do-not-disrupt';
  const guarded = async (value: string, startTime?: string): Promise<void> => {
    at = await openDisruption();
    await at.bench.machine('default', 'busy', quiet);
    const pod = podOn('p', 'busy');
    await at.bench.apply(resources.pods, {
      ...pod,
      metadata: { ...pod.metadata, annotations: { [annotation.doNotDisrupt]: value } },
      status: { phase: 'Running', ...(startTime === undefined ? {} : { startTime }) },
    });
    await round();
  };

  test('until when a duration protects it, and that it no longer does', async () => {
    await guarded('2m', '2026-01-01T00:00:00Z');
    expect(at.reported('DoNotDisruptUntil')).toEqual([`The ${note} grace period will elapse at 2026-01-01T00:02:00Z`]);
    expect(at.reported('DoNotDisruptGracePeriodElapsed')).toEqual([]);
    await at.bench.run(120_000);
    await round();
    const text = `The ${note} grace period has elapsed, pod is now disruptable`;
    expect(at.reported('DoNotDisruptGracePeriodElapsed')).toContain(text);
  });

  test.each([
    ['5d', 'failed to parse "5d" as a duration: time: unknown unit "d" in duration "5d"'],
    ['false', 'failed to parse "false" as a duration: time: invalid duration "false"'],
    ['60', 'failed to parse "60" as a duration: time: missing unit in duration "60"'],
    ['0s', 'duration "0s" must be positive'],
  ])('that %s protects nothing, and why', async (value, why) => {
    await guarded(value);
    const text = `Invalid ${note} annotation: ${why}, ignoring annotation`;
    expect(new Set(at.reported('InvalidDoNotDisruptAnnotation'))).toEqual(new Set([text]));
    expect(at.bench.events.find(({ reason }) => reason === 'InvalidDoNotDisruptAnnotation')).toMatchObject({
      type: 'Warning',
      subject: { kind: 'Pod', name: 'p', namespace: 'default' },
    });
  });

  test('nothing while there is nothing to tell: "true", or not started', async () => {
    await guarded('true', '2026-01-01T00:00:00Z');
    await at.bench.close();
    await guarded('2m');
    expect(at.bench.events.map(({ reason }) => reason).filter((reason) => /DoNotDisrupt/.test(reason))).toEqual([]);
  });
});
