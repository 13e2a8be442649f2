// Keeps a verdict about every node: a condition of its NodeClaim and gauges per NodePool say whether the node would be
// removed or replaced now, or what keeps it. Beside the loop that acts, at a pace that leaves the process its time, and
// quiet: a claim is written only when its verdict is another one.
import { conditionType, type NodeClaim } from '../../api/index.ts';
import { type AbortSignalLike, inSlices } from '../../base/index.ts';
import { insteadText, type NodeVerdict, nodeVerdicts, verdictCode } from '../../core/index.ts';
import { isKubeError, type Metrics } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { claimCondition, withRemark } from '../nodeclaim/claim-conditions.ts';
import { nodeClaims } from '../own-resources.ts';
import { instanceTypesOfPools, roundOver, snapshotFor } from '../planning.ts';
import { patchStatus } from '../writes.ts';

const leastPauseMs = 30_000;
/** Verdicts may take this share of the time of one core. */
const share = 0.05;

export class VerdictLoop {
  private readonly context: ControllerContext;
  private readonly queued: () => ReadonlySet<string>;
  private readonly gauges;
  private judgedAt: number | undefined;

  constructor(context: ControllerContext, queued: () => ReadonlySet<string>) {
    this.context = context;
    this.queued = queued;
    this.gauges = verdictGauges(context.metrics);
  }

  async run(signal: AbortSignalLike): Promise<void> {
    const { clock, cluster, log } = this.context;
    while (!signal.aborted) {
      const startedMs = clock.now();
      try {
        if (cluster.synced) await this.judge();
      } catch (error) {
        log.error('cannot judge nodes', error, { controller: 'disruption.verdicts' });
      }
      const tookMs = clock.now() - startedMs;
      await clock.sleep(Math.max(leastPauseMs, tookMs / share), signal).catch(() => {});
    }
  }

  /** One verdict about every node, if something changed since the last. */
  async judge(): Promise<void> {
    const { clock, cluster } = this.context;
    const changedAt = cluster.changedAt();
    if (this.judgedAt === changedAt) return;
    const snapshot = snapshotFor(this.context, await instanceTypesOfPools(this.context));
    const round = await roundOver(this.context, snapshot, this.queued());
    const verdicts = await inSlices(clock, nodeVerdicts(round));
    this.count(verdicts);
    for (const verdict of verdicts) await this.write(verdict);
    this.judgedAt = changedAt;
  }

  private async write(verdict: NodeVerdict): Promise<void> {
    const { cluster, clock, kube } = this.context;
    const claim = cluster.claims.get(verdict.nodeClaim ?? '');
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return;
    const reason = verdictCode(verdict);
    if (claimCondition(claim, conditionType.verdict)?.reason === reason) return;
    const status = verdict.verdict === 'keep' ? 'False' : 'True';
    const change = { type: conditionType.verdict, status, reason, message: messageOf(verdict) } as const;
    try {
      const written: NodeClaim = await patchStatus(kube, nodeClaims, claim, withRemark(claim, change, clock.now()));
      cluster.setClaim(written);
    } catch (error) {
      // Gone or changed meanwhile: the next verdict is about what it is then.
      if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) throw error;
    }
  }

  private count(verdicts: readonly NodeVerdict[]): void {
    const { nodes, cost } = this.gauges;
    const totals = new Map<string, { labels: Record<string, string>; nodes: number; cost: number }>();
    for (const verdict of verdicts) {
      if (verdict.nodeClaim === undefined) continue;
      const labels = { nodepool: verdict.nodePool ?? '', verdict: verdict.verdict, code: verdictCode(verdict) };
      const key = JSON.stringify(labels);
      const total = totals.get(key) ?? { labels, nodes: 0, cost: 0 };
      totals.set(key, { labels, nodes: total.nodes + 1, cost: total.cost + verdict.pricePerHour });
    }
    nodes.reset();
    cost.reset();
    for (const total of totals.values()) {
      nodes.set(total.nodes, total.labels);
      cost.set(total.cost, total.labels);
    }
  }
}

function messageOf(about: NodeVerdict): string {
  const { verdict, savingsPerHour, blockers } = about;
  const saving = `saving $${savingsPerHour.toFixed(2)} per hour`;
  if (verdict === 'remove') return `would be removed, ${saving}`;
  if (verdict === 'replace') return `would be replaced by ${insteadText(about)}, ${saving}`;
  const [first, ...more] = blockers;
  return `${first?.message ?? ''}${more.length > 0 ? ` (and ${more.length} more)` : ''}`;
}

function verdictGauges(metrics: Metrics) {
  const labels = ['nodepool', 'verdict', 'code'];
  return {
    nodes: metrics.gauge({
      name: 'kerf_node_verdicts',
      help: 'Nodes by what disruption would do with them now: remove, replace or keep, and what keeps them first.',
      labels,
    }),
    cost: metrics.gauge({
      name: 'kerf_node_verdicts_cost_per_hour',
      help: 'What those nodes cost per hour, in USD.',
      labels,
    }),
  };
}
