import { afterEach, expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { taint } from '../../api/index.ts';
import { resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import { type DisruptionBench, openDisruption, podOn, quiet, quietLabels } from './disruption-bench.testing.ts';

let at: DisruptionBench;
afterEach(() => at.bench.close());

test('an empty node is tainted, reported and its claim deleted after a second look', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'empty', quiet);
  const acted = at.begin();
  await at.bench.run(14_000);
  expect(await at.isTainted('empty')).toBe(false);
  await at.bench.run(20_000);
  expect(await acted).toBe(true);
  expect(await at.bench.get<NodeClaim>(nodeClaims, 'empty')).toBeUndefined();
  expect(at.bench.events.map(({ message }) => message)).toContain('Disrupting Node: Empty');
  expect(at.bench.metrics.value('karpenter_voluntary_disruption_decisions_total')).toBe(1);
  expect(at.bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'empty' })).toBe(1);
});

test('a pod that comes during the wait saves the node', async () => {
  at = await openDisruption({ consolidationPolicy: 'WhenEmpty' });
  await at.bench.machine('default', 'empty', quiet);
  const acted = at.begin();
  await at.bench.run(5_000);
  await at.bench.apply(resources.pods, podOn('late', 'empty'));
  await at.bench.run(30_000);
  expect(await acted).toBe(false);
  expect(await at.bench.get<NodeClaim>(nodeClaims, 'empty')).toBeDefined();
  expect(at.bench.metrics.value('karpenter_voluntary_disruption_failed_validations_total')).toBe(1);
});

test.each([
  ['for those the budget holds back now', ['a', 'b', 'c'], '2', 1],
  ['not for those that pods came to while others still go', ['a', 'b'], '100%', 0],
  ['for all of them where pods came to every one', [], '100%', 3],
])('failed validations of empty nodes are counted %s', async (_, stillEmpty, nodes, failures) => {
  at = await openDisruption({ consolidationPolicy: 'WhenEmpty' });
  const names = ['a', 'b', 'c'];
  for (const name of names) await at.bench.machine('default', name, quiet);
  const acted = at.begin();
  await at.bench.run(5_000);
  for (const name of names) {
    if (!stillEmpty.includes(name)) await at.bench.apply(resources.pods, podOn(`late-${name}`, name));
  }
  const disruption = { consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty' as const, budgets: [{ nodes }] };
  await at.bench.pool('default', { spec: { disruption } });
  await at.bench.run(30_000);
  expect(await acted).toBe(stillEmpty.length > 0);
  const labels = { consolidation_type: 'empty' };
  expect(at.bench.metrics.value('karpenter_voluntary_disruption_failed_validations_total', labels) ?? 0).toBe(failures);
});

test('marks that a process left behind are removed', async () => {
  at = await openDisruption();
  const tainted = { spec: { taints: [{ ...taint.disrupted }] }, metadata: { labels: quietLabels } };
  await at.bench.machine('default', 'left', { ...quiet, node: tainted });
  await at.bench.apply(resources.pods, podOn('busy', 'left'));
  expect(await at.isTainted('left')).toBe(true);
  const acted = at.begin();
  await at.bench.run(2_000);
  expect(await at.isTainted('left')).toBe(false);
  await at.bench.run(30_000);
  await acted;
});

test('a replacement that disappears puts everything back', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'big', { ...quiet, capacity: { cpu: '4', memory: '8Gi', pods: '20' } });
  await at.bench.apply(resources.pods, podOn('small', 'big'));
  const acted = at.begin();
  await at.bench.run(17_000);
  expect(await acted).toBe(true);
  const [replacement] = (await at.bench.list<NodeClaim>(nodeClaims)).filter(({ metadata }) => metadata.name !== 'big');
  expect(replacement).toBeDefined();
  expect(at.queue.has('big')).toBe(true);
  expect(await at.isTainted('big')).toBe(true);
  await at.bench.remove(nodeClaims, replacement?.metadata.name ?? '');
  await at.bench.run(5_000);
  expect(at.queue.has('big')).toBe(false);
  expect(await at.isTainted('big')).toBe(false);
  expect(await at.bench.get<NodeClaim>(nodeClaims, 'big')).toBeDefined();
  const labels = { decision: 'replace', reason: 'underutilized', consolidation_type: 'single' };
  expect(at.bench.metrics.value('karpenter_voluntary_disruption_queue_failures_total', labels)).toBe(1);
  expect(at.bench.log.lines.map(({ error }) => String(error)).join()).toContain('replacement was deleted');
});

test('a replacement that would bring back what was replaced today is not made, but reported and counted once', async () => {
  at = await openDisruption();
  const replaces = `c-1x-amd64-linux/test-zone-a/spot/${at.bench.nowPlus(0)}`;
  await at.bench.machine('default', 'big', {
    ...quiet,
    claim: { metadata: { labels: quietLabels, annotations: { 'kerf.sh/replaces': replaces } } },
    capacity: { cpu: '4', memory: '8Gi', pods: '20' },
  });
  await at.bench.apply(resources.pods, podOn('small', 'big'));
  for (let round = 0; round < 2; round++) {
    const acted = at.begin();
    await at.bench.run(20_000);
    expect(await acted).toBe(false);
    at.bench.context.cluster.changed();
  }
  expect(new Set(at.reported('ReplacementLoop')).size).toBe(1);
  expect(at.reported('ReplacementLoop')[0]).toContain('c-1x-amd64-linux in test-zone-a (spot) was replaced');
  expect(at.bench.metrics.value('kerf_disruption_replacement_loops_total')).toBe(1);
  const remembered = (): number => (at.loop as unknown as { inCircles: { size: number } }).inCircles.size;
  expect(remembered()).toBe(1);
  await at.bench.remove(nodeClaims, 'big');
  const last = at.begin();
  await at.bench.run(20_000);
  await last;
  expect(remembered()).toBe(0);
});

test('a command that cannot be started does not keep the next method from acting', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'stuck', quiet);
  await at.bench.machine('default', 'old', { ...quiet, conditions: { ...quiet.conditions, Drifted: 'True' } });
  await at.bench.apply(resources.pods, podOn('busy', 'old'));
  const patch = at.bench.kube.patch.bind(at.bench.kube);
  at.bench.kube.patch = (resource, ref, ...rest) =>
    resource.plural === 'nodes' && ref.name === 'stuck'
      ? Promise.reject(new Error('refused'))
      : patch(resource, ref, ...rest);
  const acted = at.begin();
  await at.bench.run(20_000);
  expect(await acted).toBe(true);
  expect(at.bench.log.lines.map(({ message }) => message)).toContain('cannot disrupt nodes');
  expect([await at.isTainted('stuck'), await at.isTainted('old')]).toEqual([false, true]);
});

test('a command whose replacement cannot be made leaves no marks behind while the round goes on', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'old', { ...quiet, conditions: { ...quiet.conditions, Drifted: 'True' } });
  await at.bench.apply(resources.pods, podOn('busy', 'old'));
  const create = at.bench.kube.create.bind(at.bench.kube);
  const tainted: boolean[] = [];
  at.bench.kube.create = (async (...call: Parameters<typeof create>) => {
    if (call[0].plural !== 'nodeclaims') return create(...call);
    tainted.push(await at.isTainted('old'));
    throw new Error('refused');
  }) as typeof create;
  const acted = at.begin();
  await at.bench.run(5_000);
  // The round still waits for its second look at consolidation.
  expect(tainted).toEqual([true]);
  expect(await at.isTainted('old')).toBe(false);
  const claim = await at.bench.get<NodeClaim>(nodeClaims, 'old');
  expect(claim?.status?.conditions?.map(({ type }) => type)).not.toContain('DisruptionReason');
  await at.bench.run(30_000);
  expect(await acted).toBe(false);
});
