import { afterEach, expect, test } from 'vitest';
import { type NodeClaim, taint } from '../../api/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { claimMetrics } from '../nodeclaim/claim-metrics.ts';
import { nodeClaims } from '../own-resources.ts';
import { NodeCounts } from '../static/node-counts.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { DisruptionLoop } from './loop.ts';
import { disruptionMetrics } from './metrics.ts';
import { CommandQueue } from './queue.ts';
import { DisruptionReport } from './report.ts';

let bench: Bench;
afterEach(() => bench.close());

const conditions = { Launched: 'True', Registered: 'True', Initialized: 'True', Consolidatable: 'True' };
const labels = { 'topology.kubernetes.io/zone': 'test-zone-a', 'karpenter.sh/capacity-type': 'on-demand' };
const parts = { conditions, claim: { metadata: { labels } }, node: { metadata: { labels } } };

/** A bench without other controllers: what happens is the loop's doing. */
async function opened() {
  bench = await openBench({ controllers: () => [] });
  const context: ControllerContext = bench.context;
  const metrics = disruptionMetrics(context.metrics);
  const report = new DisruptionReport(context);
  const counts = new NodeCounts(context.cluster);
  const queue = new CommandQueue(context, { metrics, claims: claimMetrics(context.metrics), report, counts });
  const loop = new DisruptionLoop(context, { queue, metrics, report });
  await bench.nodeClass();
  const ready = {
    conditions: [
      { type: 'Ready', status: 'True' as const, reason: 'Ready', message: '', lastTransitionTime: bench.nowPlus(0) },
    ],
  };
  await bench.pool('default', {
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    status: ready,
  });
  const stop = new AbortController();
  return {
    queue,
    /** Begins a round; time has to pass for it to end. */
    begin: () => loop.round(stop.signal),
  };
}

const pod = (name: string, nodeName: string) => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '500m' } } }] },
});

const node = (name: string): Promise<Node | undefined> => bench.get(resources.nodes, name);
const isTainted = async (name: string): Promise<boolean> =>
  (await node(name))?.spec?.taints?.some(({ key }) => key === taint.disrupted.key) ?? false;

test('an empty node is tainted, told and its claim deleted after a second look', async () => {
  const { begin } = await opened();
  await bench.machine('default', 'empty', parts);
  const acted = begin();
  await bench.run(14_000);
  expect(await isTainted('empty')).toBe(false);
  await bench.run(20_000);
  expect(await acted).toBe(true);
  expect(await bench.get<NodeClaim>(nodeClaims, 'empty')).toBeUndefined();
  expect(bench.events.map(({ message }) => message)).toContain('Disrupting Node: Empty');
  expect(bench.metrics.value('karpenter_voluntary_disruption_decisions_total')).toBe(1);
  expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'empty' })).toBe(1);
});

test('a pod that comes during the wait saves the node', async () => {
  const { begin } = await opened();
  await bench.machine('default', 'empty', parts);
  const acted = begin();
  await bench.run(5_000);
  await bench.apply(resources.pods, pod('late', 'empty'));
  await bench.run(30_000);
  expect(await acted).toBe(false);
  expect(await bench.get<NodeClaim>(nodeClaims, 'empty')).toBeDefined();
  expect(bench.metrics.value('karpenter_voluntary_disruption_failed_validations_total')).toBe(1);
});

test('marks that a process left behind are removed', async () => {
  const { begin } = await opened();
  const tainted = { spec: { taints: [{ ...taint.disrupted }] }, metadata: { labels } };
  await bench.machine('default', 'left', { ...parts, node: tainted });
  await bench.apply(resources.pods, pod('busy', 'left'));
  expect(await isTainted('left')).toBe(true);
  const acted = begin();
  await bench.run(2_000);
  expect(await isTainted('left')).toBe(false);
  await bench.run(30_000);
  await acted;
});

test('a replacement that disappears puts everything back', async () => {
  const { begin, queue } = await opened();
  await bench.machine('default', 'big', { ...parts, capacity: { cpu: '4', memory: '8Gi', pods: '20' } });
  await bench.apply(resources.pods, pod('small', 'big'));
  const acted = begin();
  await bench.run(17_000);
  expect(await acted).toBe(true);
  const [replacement] = (await bench.list<NodeClaim>(nodeClaims)).filter(({ metadata }) => metadata.name !== 'big');
  expect(replacement).toBeDefined();
  expect(queue.has('big')).toBe(true);
  expect(await isTainted('big')).toBe(true);
  await bench.remove(nodeClaims, replacement?.metadata.name ?? '');
  await bench.run(5_000);
  expect(queue.has('big')).toBe(false);
  expect(await isTainted('big')).toBe(false);
  expect(await bench.get<NodeClaim>(nodeClaims, 'big')).toBeDefined();
  expect(bench.metrics.value('karpenter_voluntary_disruption_queue_failures_total')).toBe(1);
});
