// Keeps a verdict about every node: a condition of its NodeClaim and gauges per NodePool say whether the node would be
// removed or replaced now, or what keeps it. Beside the loop that acts, at a pace that leaves the process its time, and
// quiet: a claim is written only when its verdict is another one.
import { conditionType, type NodeClaim } from '../../api/index.ts';
import { type AbortSignalLike, inSlices } from '../../base/index.ts';
import {
  clusterMoney,
  insteadText,
  type NodeVerdict,
  nodeVerdicts,
  type Round,
  verdictCode,
} from '../../core/index.ts';
import { isKubeError } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { decideHolds } from '../decisions.ts';
import { claimCondition, withRemark } from '../nodeclaim/claim-conditions.ts';
import { nodeClaims } from '../own-resources.ts';
import { instanceTypesOfPools, roundOver, snapshotFor } from '../planning.ts';
import { patchStatus } from '../writes.ts';
import { countMoney, countVerdicts, moneyGauges, verdictGauges } from './verdict-gauges.ts';

const leastPauseMs = 30_000;
/** Verdicts may take this share of the time of one core. */
const share = 0.05;
/** Where the money is changes slowly and takes longer to find out. */
const moneyPauseMs = 300_000;

export class VerdictLoop {
  private readonly context: ControllerContext;
  private readonly queued: () => ReadonlySet<string>;
  private readonly gauges;
  private readonly money;
  private nextMoneyMs = Number.NEGATIVE_INFINITY;
  private judgedAt: number | undefined;

  constructor(context: ControllerContext, queued: () => ReadonlySet<string>) {
    this.context = context;
    this.queued = queued;
    this.gauges = verdictGauges(context.metrics);
    this.money = moneyGauges(context.metrics);
  }

  async run(signal: AbortSignalLike): Promise<void> {
    const { clock, cluster, log } = this.context;
    while (!signal.aborted) {
      const startedMs = clock.elapsed();
      try {
        if (cluster.synced) await this.judge();
      } catch (error) {
        log.error('cannot judge nodes', error, { controller: 'disruption.verdicts' });
      }
      const tookMs = clock.elapsed() - startedMs;
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
    this.context.onVerdicts?.(verdicts);
    countVerdicts(this.gauges, verdicts);
    const changed: NodeVerdict[] = [];
    for (const verdict of verdicts) if (await this.write(verdict)) changed.push(verdict);
    decideHolds(this.context, changed);
    this.judgedAt = changedAt;
    await this.countMoney(round, verdicts);
  }

  private async countMoney(round: Round, verdicts: readonly NodeVerdict[]): Promise<void> {
    const { clock } = this.context;
    const startedMs = clock.elapsed();
    if (startedMs < this.nextMoneyMs) return;
    countMoney(this.money, await inSlices(clock, clusterMoney(round, verdicts)));
    const tookMs = clock.elapsed() - startedMs;
    this.nextMoneyMs = clock.elapsed() + Math.max(moneyPauseMs, tookMs / share);
  }

  /** True if the claim says something else now. */
  private async write(verdict: NodeVerdict): Promise<boolean> {
    const { cluster, clock, kube } = this.context;
    const claim = cluster.claims.get(verdict.nodeClaim ?? '');
    if (claim === undefined) return false;
    const reason = verdictCode(verdict);
    if (claimCondition(claim, conditionType.verdict)?.reason === reason) return false;
    const status = verdict.verdict === 'keep' ? 'False' : 'True';
    const change = { type: conditionType.verdict, status, reason, message: messageOf(verdict) } as const;
    try {
      const written: NodeClaim = await patchStatus(kube, nodeClaims, claim, withRemark(claim, change, clock.now()));
      cluster.setClaim(written);
      return true;
    } catch (error) {
      // Gone or changed meanwhile: the next verdict is about what it is then.
      if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) throw error;
      return false;
    }
  }
}

function messageOf(about: NodeVerdict): string {
  const { verdict, savingsPerHour, blockers } = about;
  const saving = `saving $${savingsPerHour.toFixed(2)} per hour`;
  const drift = about.drift === undefined ? '' : `; drifted in ${about.drift.fields.join('; ') || about.drift.reason}`;
  if (verdict === 'remove') return `would be removed, ${saving}${drift}`;
  if (verdict === 'replace') return `would be replaced by ${insteadText(about)}, ${saving}${drift}`;
  const [first, ...more] = blockers;
  return `${first?.message ?? ''}${more.length > 0 ? ` (and ${more.length} more)` : ''}`;
}
