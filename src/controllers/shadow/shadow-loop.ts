// The shadow: looks at the same cluster as the autoscaler beside it, plans as if it were in charge, and writes down what it
// would have done. It relies on a client that refuses every write; nothing here asks for one.
//
// 1. A launch is counted when its pods are first planned for, a move when its nodes are first chosen.
// 2. Pods are planned for as they come, as if claims made after them did not exist: those are the other's answer to them.
// 3. What the other autoscaler did is read off NodeClaims that come and go.
import type { NodeClaim } from '../../api/index.ts';
import { type AbortSignalLike, formatTime, inSlices } from '../../base/index.ts';
import {
  type Command,
  decisionOf,
  firstOutcome,
  methods,
  type NodeVerdict,
  nodeVerdicts,
  type Plan,
  type Round,
  type Snapshot,
  verdictCode,
} from '../../core/index.ts';
import type { Metrics, SeenClaim, ShadowReport } from '../../ports/index.ts';
import { isProvisionable } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { countVerdicts, verdictGauges } from '../disruption/verdict-gauges.ts';
import { aboutPool } from '../event-subjects.ts';
import { instanceTypesOfPools, roundOver, snapshotFor } from '../planning.ts';
import { ShadowLedger } from './shadow-ledger.ts';

const controller = 'shadow';
const pauseMs = 10_000;
/** How often it looks for pods that wait; they may be served within seconds. */
const podPauseMs = 1_000;
/** Looking may take this share of the time of one core. */
const share = 0.1;
const searchLimitMs = 30_000;
/** Claims of the other that are known from before the shadow came are not its news. */
const instanceTypeLabel = 'node.kubernetes.io/instance-type';

export class ShadowLoop {
  private readonly context: ControllerContext;
  private readonly ledger: ShadowLedger;
  private readonly metrics;
  private readonly verdictGauges;
  /** Claims of the last look, by uid; undefined before the first. */
  private claims: Map<string, SeenClaim> | undefined;
  private changedAt: number | undefined;
  /** New pods at the last look for them, and since when there are any. */
  private gathered = { count: 0, sinceMs: 0 };

  constructor(context: ControllerContext) {
    this.context = context;
    this.ledger = new ShadowLedger(formatTime(context.clock.now()));
    this.metrics = shadowMetrics(context.metrics);
    this.verdictGauges = verdictGauges(context.metrics);
  }

  report(): ShadowReport {
    return this.ledger.report;
  }

  async run(signal: AbortSignalLike): Promise<void> {
    const { clock, cluster, log } = this.context;
    let lookAtMs = 0;
    while (!signal.aborted) {
      const startedMs = clock.now();
      try {
        if (cluster.synced) await this.planForNewPods();
        if (cluster.synced && startedMs >= lookAtMs) {
          await this.look();
          lookAtMs = startedMs + Math.max(pauseMs, (clock.now() - startedMs) / share);
        }
      } catch (error) {
        this.ledger.round(true);
        lookAtMs = startedMs + pauseMs;
        log.error('cannot look as a shadow', error, { controller });
      }
      await clock.sleep(podPauseMs, signal).catch(() => {});
    }
  }

  /** Plans for pods that wait and were not planned for, once no more of them come. */
  async planForNewPods(): Promise<void> {
    const { clock, cluster, settings } = this.context;
    const waiting = cluster.pods.store
      .list()
      .filter((pod) => isProvisionable(pod) && !this.ledger.knowsPod(pod.metadata.uid ?? ''));
    const isGathering = waiting.length > this.gathered.count;
    if (waiting.length === 0) {
      this.gathered = { count: 0, sinceMs: clock.now() };
      return;
    }
    if (this.gathered.count === 0) this.gathered.sinceMs = clock.now();
    this.gathered.count = waiting.length;
    if (isGathering && clock.now() - this.gathered.sinceMs < settings.batchMaxDurationMs) return;
    this.gathered.count = 0;
    const since = waiting.map(({ metadata }) => metadata.creationTimestamp ?? '').sort()[0] ?? '';
    const snapshot = snapshotFor(this.context, await instanceTypesOfPools(this.context));
    const plan = await this.context.plan(asOf(snapshot, since));
    this.noteLaunches(plan, formatTime(clock.now()));
    // Those that need no node of their own, or fit nowhere, are not asked about again.
    for (const { metadata } of waiting) this.ledger.knowPod(metadata.uid ?? '');
    this.count();
  }

  /** One look, if anything changed since the last. */
  async look(): Promise<void> {
    const { clock, cluster } = this.context;
    const now = formatTime(clock.now());
    this.ledger.set({ now });
    const changedAt = cluster.changedAt();
    if (this.changedAt === changedAt) return;
    const snapshot = snapshotFor(this.context, await instanceTypesOfPools(this.context));
    const plan = await this.context.plan(snapshot);
    const round = await roundOver(this.context, snapshot, new Set());
    const verdicts = await inSlices(clock, nodeVerdicts(round));
    this.context.onVerdicts?.(verdicts);
    const command = await this.command(round);
    this.noteClaims(verdicts, now);
    this.noteMove(command, now);
    this.noteVerdicts(verdicts, plan, command);
    this.ledger.round(false);
    this.count();
    this.changedAt = changedAt;
  }

  /** What disruption would start with, in its order. */
  private async command(round: Round): Promise<Command | undefined> {
    const { clock } = this.context;
    const endMs = clock.now() + searchLimitMs;
    const isTimeUp = (): boolean => clock.now() > endMs;
    return (await inSlices(clock, firstOutcome(round, methods, { isTimeUp })))?.command;
  }

  private noteLaunches(plan: Plan, at: string): void {
    const { cluster, log, recorder } = this.context;
    for (const { nodePool, chosen, pods } of plan.newNodes) {
      const uids = pods.map((key) => cluster.pods.store.get(key)?.metadata.uid ?? key);
      const { instanceType, capacityType, zone, pricePerHour } = chosen;
      const launch = { at, nodePool, instanceType, capacityType, zone, pricePerHour, pods };
      if (!this.ledger.launch(launch, uids)) continue;
      log.info('would launch', { controller, NodePool: { name: nodePool }, ...chosen, pods: pods.length });
      const pool = cluster.nodePools.get(nodePool);
      if (pool === undefined) continue;
      const message = `Kerf would launch ${instanceType} (${capacityType}, ${zone}) for ${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}`;
      recorder.publish({ type: 'Normal', reason: 'ShadowLaunch', message, subject: aboutPool(pool) });
    }
  }

  private noteMove(command: Command | undefined, at: string): void {
    if (command === undefined) return;
    const { cluster, log, recorder } = this.context;
    const decided = decisionOf(command);
    if (decided === 'no-op' || decided === 'reboot') return;
    const decision = decided === 'replace' ? 'replace' : 'delete';
    const nodes = command.members.map(({ name }) => name);
    const replacements = command.replacements.map((each) =>
      each.kind === 'planned' ? each.node.chosen.instanceType : `one more of ${each.nodePool}`,
    );
    const { reason, savings: savingsPerHour } = command;
    const uids = command.members.map(({ machine, name }) => machine.claim?.metadata.uid ?? name);
    if (!this.ledger.move({ at, reason, decision, nodes, replacements, savingsPerHour }, uids)) return;
    log.info('would disrupt', { controller, reason, decision, nodes, replacements, savingsPerHour });
    const pool = cluster.nodePools.get(command.members[0]?.poolName ?? '');
    if (pool === undefined) return;
    const message = `Kerf would ${decision} ${nodes.join(', ')} (${reason}), saving $${savingsPerHour.toFixed(3)} per hour`;
    recorder.publish({ type: 'Normal', reason: 'ShadowDisruption', message, subject: aboutPool(pool) });
  }

  /** NodeClaims that came or went since the last look: someone else's doing. */
  private noteClaims(verdicts: readonly NodeVerdict[], at: string): void {
    const prices = new Map(verdicts.map(({ nodeClaim, pricePerHour }) => [nodeClaim, pricePerHour]));
    const before = this.claims;
    const now = new Map<string, SeenClaim>();
    for (const claim of this.context.cluster.claims.list()) {
      const { uid = '', name = '' } = claim.metadata;
      // A claim has a price once its machine is known.
      const known = prices.get(name) ?? before?.get(uid)?.pricePerHour ?? 0;
      const seen = { at, name, nodePool: poolOf(claim), instanceType: typeOf(claim), pricePerHour: known };
      if (before !== undefined && !before.has(uid) && known === 0) continue;
      now.set(uid, seen);
      if (before !== undefined && !before.has(uid)) this.ledger.claimMade(seen, uid);
    }
    for (const [uid, seen] of before ?? []) if (!now.has(uid)) this.ledger.claimRemoved({ ...seen, at }, uid);
    this.claims = now;
  }

  private noteVerdicts(verdicts: readonly NodeVerdict[], plan: Plan, command: Command | undefined): void {
    const managed = verdicts.filter(({ nodeClaim }) => nodeClaim !== undefined);
    const sums = { remove: 0, replace: 0, keep: 0, blockers: {} as Record<string, number> };
    for (const verdict of managed) {
      sums[verdict.verdict] += 1;
      if (verdict.verdict !== 'keep') continue;
      const code = verdictCode(verdict);
      sums.blockers[code] = (sums.blockers[code] ?? 0) + 1;
    }
    countVerdicts(this.verdictGauges, verdicts);
    this.ledger.set({
      nodes: managed.length,
      costPerHour: managed.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
      savingsPerHour: command?.savings ?? 0,
      unschedulable: plan.unschedulable.length,
      verdicts: sums,
    });
  }

  private count(): void {
    const { totals, savingsPerHour, costPerHour } = this.ledger.report;
    this.metrics.launches.set(totals.wouldLaunch);
    this.metrics.launchesCost.set(totals.wouldLaunchPerHour);
    this.metrics.seenLaunches.set(totals.launched);
    this.metrics.seenLaunchesCost.set(totals.launchedPerHour);
    this.metrics.moves.set(totals.wouldRemove, { decision: 'delete' });
    this.metrics.moves.set(totals.wouldReplace, { decision: 'replace' });
    this.metrics.savings.set(savingsPerHour);
    this.metrics.cost.set(costPerHour);
  }
}

/** Without machines that came at that time or later. */
function asOf(snapshot: Snapshot, since: string): Snapshot {
  const isLater = ({ kind, metadata }: Snapshot['objects']['items'][number]): boolean =>
    (kind === 'NodeClaim' || (kind === 'Node' && Object.hasOwn(metadata.labels ?? {}, 'karpenter.sh/nodepool'))) &&
    (metadata.creationTimestamp ?? '') >= since;
  const items = snapshot.objects.items.filter((object) => !isLater(object));
  return { ...snapshot, objects: { ...snapshot.objects, items } };
}

const poolOf = ({ metadata }: NodeClaim): string => metadata.labels?.['karpenter.sh/nodepool'] ?? '';
const typeOf = ({ metadata }: NodeClaim): string => metadata.labels?.[instanceTypeLabel] ?? '';

function shadowMetrics(metrics: Metrics) {
  const gauge = (name: string, help: string, labels: string[] = []) => metrics.gauge({ name, help, labels });
  return {
    launches: gauge('kerf_shadow_launches', 'Nodes that the shadow would have launched since its start.'),
    launchesCost: gauge('kerf_shadow_launches_cost_per_hour', 'What those nodes would cost per hour, in USD.'),
    seenLaunches: gauge('kerf_shadow_seen_launches', 'Nodes that the other autoscaler launched meanwhile.'),
    seenLaunchesCost: gauge('kerf_shadow_seen_launches_cost_per_hour', 'What those nodes cost per hour, in USD.'),
    moves: gauge(
      'kerf_shadow_disrupted_nodes',
      'Nodes that the shadow would have removed or replaced since its start.',
      ['decision'],
    ),
    savings: gauge('kerf_shadow_savings_per_hour', 'What the command that the shadow would start now saves, in USD.'),
    cost: gauge('kerf_shadow_cost_per_hour', 'What the nodes of the cluster cost per hour now, in USD.'),
  };
}
