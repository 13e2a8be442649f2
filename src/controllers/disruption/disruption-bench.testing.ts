// A bench with the disruption loop and its queue and no other controller: what happens is their doing.
import { type NodePool, taint } from '../../api/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import type { ControllerSettings } from '../context.ts';
import { claimMetrics } from '../nodeclaim/claim-metrics.ts';
import { NodeCounts } from '../static/node-counts.ts';
import { openBench } from '../testing/bench.testing.ts';
import { DisruptionLoop } from './loop.ts';
import { disruptionMetrics } from './metrics.ts';
import { CommandQueue } from './queue.ts';
import { DisruptionReport } from './report.ts';

export type DisruptionBench = Awaited<ReturnType<typeof openDisruption>>;
type Disruption = NonNullable<NodePool['spec']['disruption']>;

export const quietLabels = {
  'topology.kubernetes.io/zone': 'test-zone-a',
  'karpenter.sh/capacity-type': 'on-demand',
};

/** Parts of a machine that has been quiet long enough to be consolidated. */
export const quiet = {
  conditions: { Launched: 'True', Registered: 'True', Initialized: 'True', Consolidatable: 'True' },
  claim: { metadata: { labels: quietLabels } },
  node: { metadata: { labels: quietLabels } },
};

export const podOn = (name: string, nodeName: string, cpu = '500m') => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }] },
});

export async function openDisruption(disruption: Partial<Disruption> = {}, settings: Partial<ControllerSettings> = {}) {
  const bench = await openBench({ controllers: () => [], settings });
  const { context } = bench;
  const metrics = disruptionMetrics(context.metrics);
  const report = new DisruptionReport(context);
  const counts = new NodeCounts(context.cluster);
  const queue = new CommandQueue(context, { metrics, claims: claimMetrics(context.metrics), report, counts });
  const loop = new DisruptionLoop(context, { queue, metrics, report });
  await bench.nodeClass();
  const ready = { type: 'Ready', status: 'True' as const, reason: 'Ready', message: '' };
  await bench.pool('default', {
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }], ...disruption } },
    status: { conditions: [{ ...ready, lastTransitionTime: bench.nowPlus(0) }] },
  });
  const stop = new AbortController();
  return {
    bench,
    queue,
    counts,
    loop,
    signal: stop.signal,
    stop: () => stop.abort(),
    /** Begins a round; time has to pass for it to end. */
    begin: () => loop.round(stop.signal),
    isTainted: async (name: string): Promise<boolean> =>
      (await bench.get<Node>(resources.nodes, name))?.spec?.taints?.some(({ key }) => key === taint.disrupted.key) ??
      false,
    /** What was reported about a subject, by reason. */
    reported: (reason: string): string[] =>
      bench.events.filter((event) => event.reason === reason).map(({ message }) => message),
  };
}
