// The disruption loop: one round after another, each tries the methods in order and the first that acts ends it.
// Empty nodes first, then drifted ones, then what can be packed better; consolidation looks twice before it acts.
import { conditionType, isTrue } from '../../api/index.ts';
import { type AbortSignalLike, inSlices, type Sliced } from '../../base/index.ts';
import {
  approvedText,
  budgetsOf,
  type Command,
  type ConsolidationType,
  consolidationProblem,
  type DisruptionReason,
  driftCommand,
  emptinessCommand,
  emptinessProblem,
  type Member,
  type Move,
  multiNodeCommand,
  policyOf,
  type Round,
  type Score,
  type Sets,
  type Snapshot,
  singleNodeCommand,
  staticDriftCommands,
  stillCandidates,
  unreadableSchedules,
  type Validation,
  validateConsolidation,
  validateEmptiness,
} from '../../core/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { loopMetrics } from '../../runtime/index.ts';
import { type ControllerContext, concurrencyFor, inPass } from '../context.ts';
import { instanceTypesOfPools, roundOver, snapshotFor } from '../planning.ts';
import { DeletionCosts } from './deletion-costs.ts';
import { removeLeftovers } from './marks.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { tellProtections } from './protection.ts';
import { type CommandQueue, queueController } from './queue.ts';
import type { DisruptionReport } from './report.ts';

const controller = 'disruption';
const pollMs = 10_000;
/** A run this late after the one before is worth a line in the log. */
const lateMs = 900_000;
/** Looking again at a cluster in which nothing changed, only to tell the same once more, may take this share of the time. */
const quietShare = 0.05;
/** What a pool without a bound shows: gauges have no infinity. */
const unlimited = 2 ** 31 - 1;
const notSyncedMs = 1_000;
const retryMs = { first: 1_000, most: 60_000 };
/** Between deciding and acting: long enough for pods that are about to come to show themselves. */
const validationWaitMs = 15_000;
const multiLimitMs = 60_000;
const singleLimitMs = 180_000;

type Memo = 'empty' | 'multi' | 'single';

/** What a method came to: it acted, found nothing to do, or lost time on what no longer held. */
type Tried = 'acted' | 'idle' | 'stale';

/** One look at the cluster, and the state of the cluster it is of. */
interface Look {
  readonly round: Round;
  readonly changedAt: number;
}

export interface LoopParts {
  queue: CommandQueue;
  metrics: DisruptionMetrics;
  report: DisruptionReport;
}

export class DisruptionLoop {
  private readonly context: ControllerContext;
  private readonly parts: LoopParts;
  /** The state of the cluster in which a method last found nothing to do. */
  private readonly foundNothing = new Map<Memo, number>();
  private unseenPools: ReadonlySet<string> = new Set();
  private seenNodes: ReadonlySet<string> = new Set();
  /** What the last set of nodes was to be followed by. */
  private ahead: Sets = [];
  /** Claims, by uid, whose replacement would have brought back what was replaced. */
  private readonly inCircles = new Set<string>();
  private readonly deletionCosts = new DeletionCosts();
  /** What the last look was at. */
  private seen: Snapshot | undefined;
  private lastRunMs: number | undefined;
  private lookAgainMs = Number.NEGATIVE_INFINITY;

  constructor(context: ControllerContext, parts: LoopParts) {
    this.context = context;
    this.parts = parts;
  }

  async run(signal: AbortSignalLike): Promise<void> {
    const { clock, cluster, log, time } = this.context;
    let failures = 0;
    const rounds = loopMetrics(this.context.metrics);
    rounds.starts(controller, 1);
    rounds.starts(queueController, concurrencyFor(this.context.settings, 100, 1000));
    while (!signal.aborted) {
      let waitMs = notSyncedMs;
      const startedMs = clock.elapsed();
      const ran = (failed: boolean): void => rounds.ran(controller, { tookMs: clock.elapsed() - startedMs, failed });
      try {
        if (cluster.synced && time.problem() === undefined) {
          waitMs = (await inPass(this.context, controller, () => this.round(signal))) ? 0 : pollMs;
        }
        ran(false);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        ran(true);
        waitMs = Math.min(retryMs.most, retryMs.first * 2 ** failures);
        failures += 1;
        if (!isKubeError(error, 'Conflict')) log.error('disruption failed', error, { controller });
      }
      await clock.sleep(waitMs, signal).catch(() => {});
    }
  }

  /** One round; true if a command was started. */
  async round(signal: AbortSignalLike): Promise<boolean> {
    const { queue } = this.parts;
    this.noticeLateness();
    await removeLeftovers(this.context, (name) => queue.has(name));
    tellProtections(this.context);
    this.deletionCosts.tellUnreadable(this.context);
    if (!this.isWorthLooking()) return false;
    let look = await this.look();
    this.reportPools(look.round);
    await inSlices(this.context.clock, this.reportBlocked(look.round));
    for (const method of [this.emptiness, this.staticDrift, this.drift, this.multiNode, this.singleNode]) {
      const tried = await method.call(this, look, signal);
      if (tried === 'acted') return true;
      if (tried === 'stale') look = await this.look();
    }
    return false;
  }

  private noticeLateness(): void {
    const { clock, log } = this.context;
    const nowMs = clock.elapsed();
    const lateByMs = nowMs - (this.lastRunMs ?? nowMs);
    if (lateByMs > lateMs) log.debug('time between disruption runs', { controller, seconds: lateByMs / 1000 });
    this.lastRunMs = nowMs;
  }

  /** Something drifted, something changed since consolidation last found nothing, or it is time to tell again why not. */
  private isWorthLooking(): boolean {
    const { cluster, clock } = this.context;
    if (clock.elapsed() >= this.lookAgainMs) return true;
    const hasNews = (['empty', 'multi', 'single'] as const).some((memo) => !this.isSettled(memo));
    return hasNews || cluster.claims.list().some((claim) => isTrue(claim.status?.conditions, conditionType.drifted));
  }

  private async look(): Promise<Look> {
    const { clock, cluster } = this.context;
    const instanceTypes = await instanceTypesOfPools(this.context);
    const startedMs = clock.elapsed();
    const changedAt = cluster.changedAt();
    const snapshot = snapshotFor(this.context, instanceTypes);
    this.seen = snapshot;
    const round = await roundOver(this.context, snapshot, this.parts.queue.names());
    this.lookAgainMs = clock.elapsed() + (clock.elapsed() - startedMs) / quietShare;
    return { round, changedAt };
  }

  private async emptiness({ round, changedAt }: Look, signal: AbortSignalLike): Promise<Tried> {
    if (this.isSettled('empty')) return 'idle';
    this.countEligible(round, 'Empty');
    const { command, constrained } = await this.timed('Empty', 'empty', async () => emptinessCommand(round));
    if (command === undefined) {
      if (!constrained) this.settle('empty', changedAt);
      return 'idle';
    }
    return this.startIfStillTrue(command, signal, async (later) => validateEmptiness(later, command));
  }

  private async staticDrift({ round }: Look, signal: AbortSignalLike): Promise<Tried> {
    const commands = await this.timed('Drifted', '', async () => staticDriftCommands(round));
    const started = await Promise.all(commands.map((command) => this.start(command, signal)));
    return started.includes('acted') ? 'acted' : 'idle';
  }

  private async drift({ round }: Look, signal: AbortSignalLike): Promise<Tried> {
    this.countEligible(round, 'Drifted');
    const { command, blocked } = await this.searched(round, 'Drifted', '', driftCommand(round));
    for (const { member, message } of blocked) this.parts.report.blocked(member, { code: 'PodsDoNotFit', message });
    return command === undefined ? 'idle' : this.start(command, signal);
  }

  private async multiNode({ round, changedAt }: Look, signal: AbortSignalLike): Promise<Tried> {
    if (this.isSettled('multi')) return 'idle';
    this.countEligible(round, 'Underutilized');
    const isTimeUp = this.timeLimit(multiLimitMs);
    const work = multiNodeCommand(round, { ahead: this.ahead, isTimeUp });
    const found = await this.searched(round, 'Underutilized', 'multi', work);
    this.ahead = found.ahead;
    if (found.timedOut) this.parts.metrics.timeouts.add({ consolidation_type: 'multi' });
    if (found.rejected !== undefined) this.judge(found.rejected, 'rejected');
    if (found.command === undefined) {
      if (!found.constrained && !found.timedOut) this.settle('multi', changedAt);
      return 'idle';
    }
    const { command } = found;
    this.announce(command, found.scores);
    return this.startIfStillTrue(command, signal, (later) => this.validate(later, command));
  }

  private async singleNode({ round, changedAt }: Look, signal: AbortSignalLike): Promise<Tried> {
    if (this.isSettled('single')) return 'idle';
    const { metrics, report } = this.parts;
    const isTimeUp = this.timeLimit(singleLimitMs);
    const work = singleNodeCommand(round, { first: this.unseenPools, seen: this.seenNodes, isTimeUp });
    const found = await this.searched(round, 'Underutilized', 'single', work);
    // A scan that ended early with a command says nothing about the pools behind it.
    if (found.command === undefined) [this.unseenPools, this.seenNodes] = [found.unseen, found.seen];
    if (found.timedOut) metrics.timeouts.add({ consolidation_type: 'single' });
    for (const { member, answer } of found.refused) {
      report.unconsolidatable(member, answer);
      if (answer.code === 'ReplacementLoop') this.noticeLoop(member, answer.message);
    }
    for (const move of found.rejected) this.judge(move, 'rejected');
    if (found.command === undefined) {
      if (!found.constrained && !found.timedOut) this.settle('single', changedAt);
      return 'idle';
    }
    const { command } = found;
    this.announce(command, found.scores);
    return this.startIfStillTrue(command, signal, (later) => this.validate(later, command));
  }

  /** Waits, looks at the cluster anew, and starts what of the command still holds. */
  private async startIfStillTrue(
    command: Command,
    signal: AbortSignalLike,
    validate: (later: Round) => Promise<Validation>,
  ): Promise<Tried> {
    await this.context.clock.sleep(validationWaitMs, signal);
    const checked = await validate((await this.look()).round);
    const { metrics, report } = this.parts;
    const failed = checked.heldBack ?? (checked.kind === 'valid' ? 0 : command.members.length);
    if (failed > 0) metrics.failedValidations.add({ consolidation_type: command.consolidationType }, failed);
    if (checked.kind === 'valid') return this.start(checked.command, signal);
    if (command.consolidationType === 'single') report.rejected(command, checked.reason);
    return 'stale';
  }

  /** Whoever came or spoke up while that was worked out is seen by a last look at the nodes themselves. */
  private async validate(later: Round, command: Command): Promise<Validation> {
    const checked = await inSlices(this.context.clock, validateConsolidation(later, command));
    if (checked.kind === 'rejected') return checked;
    const still = stillCandidates((await this.look()).round, checked.command);
    return typeof still === 'string' ? { kind: 'rejected', reason: still } : checked;
  }

  private async start(command: Command, signal: AbortSignalLike): Promise<Tried> {
    try {
      await this.parts.queue.start(command, signal, this.seen);
      return 'acted';
    } catch (error) {
      const nodes = command.members.map((member) => member.name);
      this.context.log.error('cannot disrupt nodes', error, { controller: 'disruption', nodes });
      return 'stale';
    }
  }

  /** Told again and again, counted once per node. */
  private noticeLoop(member: Member, message: string): void {
    const { metrics, report } = this.parts;
    report.goesInCircles(member, message);
    const uid = member.machine.claim?.metadata.uid ?? member.name;
    if (this.inCircles.has(uid)) return;
    this.inCircles.add(uid);
    metrics.loops.add({ nodepool: member.poolName ?? '' });
  }

  private announce(command: Command, scores: readonly Score[]): void {
    this.judge({ members: command.members, scores }, 'approved');
    if (command.replacements.length > 0) this.parts.report.candidate(command);
    for (const score of scores) this.parts.report.approved(command, approvedText(score), score.poolName);
  }

  /** A move counts once in every pool that takes part; only Balanced ones have a score. */
  private judge({ members, scores }: Move, decision: 'approved' | 'rejected'): void {
    const { metrics } = this.parts;
    for (const [nodepool, policy] of new Map(members.map((member) => [member.poolName ?? '', policyOf(member)]))) {
      metrics.moves.add({ decision, nodepool, policy });
    }
    for (const { poolName, score, approved } of scores) {
      const labels = { decision: approved ? 'approved' : 'rejected', nodepool: poolName, policy: 'Balanced' };
      if (Number.isFinite(score)) metrics.score.observe(score, labels);
    }
  }

  private reportPools({ fleet, eligible, staticDrifted }: Round): void {
    const { metrics, report } = this.parts;
    const candidates = { ...eligible, Drifted: [...eligible.Drifted, ...staticDrifted] };
    for (const pool of fleet.allPools()) {
      const nodepool = pool.metadata.name;
      const ref = this.context.cluster.nodePools.get(nodepool)?.spec.template.spec.nodeClassRef;
      if (ref === undefined || !this.context.isManaged(ref)) continue;
      for (const schedule of unreadableSchedules(budgetsOf(pool))) {
        const problem = `cannot read schedule "${schedule}"; write five cron fields in UTC, or a macro like @daily`;
        this.context.log.error('detected disruption budget error', problem, { NodePool: { name: nodepool } });
      }
      for (const reason of ['Empty', 'Drifted', 'Underutilized'] as const) {
        const { allowed, counts } = fleet.budget(pool, reason);
        const labels = { nodepool, reason: reason.toLowerCase() };
        metrics.allowed.set(Math.min(allowed, unlimited), labels);
        metrics.consuming.set(counts.consuming, labels);
        // A budget that nobody waits for is no news.
        const isAwaited = candidates[reason].length > 0;
        if (isAwaited && counts.total > 0 && allowed === 0) report.budgetBlocks(nodepool, reason);
      }
    }
  }

  private *reportBlocked(round: Round): Sliced<void> {
    const { report } = this.parts;
    const hasBufferPods = (member: Member): boolean => round.hasBufferPods(member);
    for (const member of round.fleet.members) {
      yield;
      const blocker = round.blocker(member);
      if (blocker !== undefined) {
        report.blocked(member, blocker);
        continue;
      }
      for (const problem of [emptinessProblem(member, hasBufferPods), consolidationProblem(member)]) {
        if (problem !== undefined && !problem.silent) report.unconsolidatable(member, problem);
      }
    }
  }

  private countEligible(round: Round, reason: DisruptionReason): void {
    this.parts.metrics.eligible.set(round.eligible[reason].length, { reason: reason.toLowerCase() });
  }

  /** A search asks the planner many times; each of these passes counts, with its share of the time. */
  private async searched<T>(
    { whatIf }: Round,
    reason: DisruptionReason,
    type: ConsolidationType,
    work: Sliced<T>,
  ): Promise<T> {
    const { clock } = this.context;
    const before = { nowMs: clock.elapsed(), simulations: whatIf.simulations };
    const result = await this.timed(reason, type, () => inSlices(clock, work));
    const passes = whatIf.simulations - before.simulations;
    const eachSeconds = (clock.elapsed() - before.nowMs) / 1000 / passes;
    for (let pass = 0; pass < passes; pass += 1) this.parts.metrics.planning.observe(eachSeconds, { controller });
    return result;
  }

  private async timed<T>(reason: DisruptionReason, type: ConsolidationType, work: () => Promise<T>): Promise<T> {
    const { clock } = this.context;
    const startedMs = clock.elapsed();
    const result = await work();
    const labels = { reason: reason.toLowerCase(), consolidation_type: type };
    this.parts.metrics.evaluation.observe((clock.elapsed() - startedMs) / 1000, labels);
    return result;
  }

  private timeLimit(limitMs: number): () => boolean {
    const { clock } = this.context;
    const endMs = clock.elapsed() + limitMs;
    return () => clock.elapsed() > endMs;
  }

  private isSettled(memo: Memo): boolean {
    return this.foundNothing.get(memo) === this.context.cluster.changedAt();
  }

  private settle(memo: Memo, changedAt: number): void {
    this.foundNothing.set(memo, changedAt);
  }
}
