// The disruption loop: one round after another, each tries the methods of `core/disruption` in order and the first that
// acts ends it. Methods that can wait look at their command again before it starts.
import { conditionType, isTrue } from '../../api/index.ts';
import { type AbortSignalLike, doubledMs, inSlices, type Sliced } from '../../base/index.ts';
import {
  activeUntil,
  approvedText,
  budgetsOf,
  type Command,
  consolidationProblem,
  type DisruptionReason,
  emptinessProblem,
  type Member,
  type Method,
  type MethodMemory,
  type MethodOutcome,
  type Move,
  methods,
  policyOf,
  type Round,
  type Score,
  type Snapshot,
  unreadableSchedules,
  type Validation,
} from '../../core/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { loopMetrics } from '../../runtime/index.ts';
import { type ControllerContext, concurrencyFor, inPass } from '../context.ts';
import { healthOf, isRepairMethod } from '../health/health.ts';
import { ClaimMemory } from '../nodeclaim/claim-memory.ts';
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
/** Looking again at a cluster in which nothing changed, only to report the same once more, may take this share of the time. */
const quietShare = 0.0025;
/** What a pool without a bound shows: gauges have no infinity. */
const unlimited = 2 ** 31 - 1;
const notSyncedMs = 1_000;
const retryMs = { first: 1_000, most: 60_000 };
/** Between deciding and acting: long enough for pods that are about to come to show themselves. */
const validationWaitMs = 15_000;

/** What a method came to: it acted, found nothing to do, or lost time on what no longer held. */
type Tried = 'acted' | 'idle' | 'stale';

/** One look at the cluster, and the state of the cluster it is of. */
interface Look {
  readonly round: Round;
  readonly changedAt: number;
}

/** A method found nothing to do: in which state of the cluster, and whether budgets kept it from looking at every node. */
interface Idle {
  readonly changedAt: number;
  readonly constrained: boolean;
  readonly budgets: string;
}

export interface LoopParts {
  queue: CommandQueue;
  metrics: DisruptionMetrics;
  report: DisruptionReport;
}

export class DisruptionLoop {
  private readonly context: ControllerContext;
  private readonly parts: LoopParts;
  /** When a method last found nothing to do. */
  private readonly foundNothing = new Map<Method, Idle>();
  /** What each method wants to know again. */
  private readonly memories = new Map<Method, MethodMemory>();
  /** Claims whose replacement would have brought back what was replaced. */
  private readonly inCircles = new ClaimMemory<true>();
  private readonly deletionCosts = new DeletionCosts();
  /** What the last look was at. */
  private seen: Snapshot | undefined;
  private lastRunMs: number | undefined;
  private lookAgainMs = Number.NEGATIVE_INFINITY;
  /** The scheduled budgets that were active at the last look: what is reported of pools depends on them. */
  private lookedUnder: string | undefined;

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
        waitMs = doubledMs(retryMs, failures);
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
    this.inCircles.forgetAllBut((name) => this.context.cluster.claims.get(name) !== undefined);
    await removeLeftovers(this.context, (name) => queue.has(name));
    tellProtections(this.context);
    this.deletionCosts.tellUnreadable(this.context);
    if (!this.isWorthLooking()) return false;
    const { clock } = this.context;
    const startedMs = clock.elapsed();
    this.lookedUnder = this.budgetsInForce();
    const isForAll = startedMs >= this.lookAgainMs;
    const acted = await this.lookAndTry(isForAll, signal);
    this.lookAgainMs = clock.elapsed() + (clock.elapsed() - startedMs) / quietShare;
    return acted;
  }

  /** `isForAll`: methods that budgets keep from looking at every node are asked again. */
  private async lookAndTry(isForAll: boolean, signal: AbortSignalLike): Promise<boolean> {
    let look = await this.look();
    this.reportPools(look.round);
    await inSlices(this.context.clock, this.reportBlocked(look.round));
    for (const method of methods) {
      if (method.isOn?.(look.round) === false) continue;
      const isDue = isForAll && this.foundNothing.get(method)?.constrained === true;
      if (!isDue && this.isSettled(method)) continue;
      const tried = await this.attempt(method, look, signal);
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

  /** Something is broken or drifted, something changed since consolidation last found nothing, or it is time to report again why not. */
  private isWorthLooking(): boolean {
    const { cluster, clock } = this.context;
    // Asked in any case: it notes what it sees.
    if (isRepairMethod(this.context) && healthOf(this.context).look()) return true;
    if (clock.elapsed() >= this.lookAgainMs || this.lookedUnder !== this.budgetsInForce()) return true;
    const hasNews = methods.some((method) => method.validation !== undefined && !this.isSettled(method));
    return hasNews || cluster.claims.list().some((claim) => isTrue(claim.status?.conditions, conditionType.drifted));
  }

  private async look(): Promise<Look> {
    const { cluster } = this.context;
    const instanceTypes = await instanceTypesOfPools(this.context);
    const changedAt = cluster.changedAt();
    const snapshot = snapshotFor(this.context, instanceTypes);
    this.seen = snapshot;
    const round = await roundOver(this.context, snapshot, this.parts.queue.names());
    return { round, changedAt };
  }

  private async attempt(method: Method, { round, changedAt }: Look, signal: AbortSignalLike): Promise<Tried> {
    const outcome = await this.ask(method, round);
    const { command, also } = outcome;
    this.memories.set(method, outcome.memory);
    this.reportOutcome(method, outcome);
    if (command === undefined) {
      const { constrained, timedOut } = outcome;
      if (!timedOut) this.foundNothing.set(method, { changedAt, constrained, budgets: this.budgetsInForce() });
      return 'idle';
    }
    if (method.validation !== undefined) return this.startIfStillTrue(method, command, signal);
    const started = await Promise.all([command, ...also].map((each) => this.start(each, signal)));
    return started.includes('acted') ? 'acted' : 'stale';
  }

  /** Waits, looks at the cluster anew, and starts what of the command still holds. */
  private async startIfStillTrue(method: Method, command: Command, signal: AbortSignalLike): Promise<Tried> {
    await this.context.clock.sleep(validationWaitMs, signal);
    const checked = await this.validate(method, command);
    const { metrics, report } = this.parts;
    const failed = checked.heldBack ?? (checked.kind === 'valid' ? 0 : command.members.length);
    if (failed > 0) metrics.failedValidations.add({ consolidation_type: command.consolidationType }, failed);
    if (checked.kind === 'valid') return this.start(checked.command, signal);
    if (command.consolidationType === 'single') report.rejected(command, checked.reason);
    return 'stale';
  }

  /** Pods that came or spoke up while that was worked out are seen by a last look at the nodes themselves. */
  private async validate({ validation }: Method, command: Command): Promise<Validation> {
    if (validation === undefined) return { kind: 'valid', command };
    const { round } = await this.look();
    const checked = await inSlices(this.context.clock, validation.validate(round, command));
    if (checked.kind === 'rejected' || validation.lastLook === undefined) return checked;
    const reason = validation.lastLook((await this.look()).round, checked.command);
    return reason === undefined ? checked : { kind: 'rejected', reason };
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

  /** Reported again and again, counted once per node. */
  private noticeLoop(member: Member, message: string): void {
    const { metrics, report } = this.parts;
    report.goesInCircles(member, message);
    const claim = this.context.cluster.claims.get(member.machine.claim?.metadata.name ?? '');
    if (claim === undefined || this.inCircles.get(claim)) return;
    this.inCircles.set(claim, true);
    metrics.loops.add({ nodepool: member.poolName ?? '' });
  }

  private reportOutcome(method: Method, { command, scores, refused, rejected, timedOut }: MethodOutcome): void {
    const { metrics, report } = this.parts;
    if (timedOut) metrics.timeouts.add({ consolidation_type: method.consolidationType });
    for (const { member, answer } of refused) {
      if (answer.code === 'TooManyUnhealthy') report.repairBlocked(member, answer.message);
      else if (method.refusalEvent === 'DisruptionBlocked') report.blocked(member, answer);
      else report.unconsolidatable(member, answer);
      if (answer.code === 'ReplacementLoop') this.noticeLoop(member, answer.message);
    }
    for (const move of rejected) this.judge(move, 'rejected');
    if (command !== undefined && method.reason === 'Underutilized') this.announce(command, scores);
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
    const reasons: DisruptionReason[] = ['Empty', 'Drifted', 'Underutilized'];
    if (fleet.movable.repairs !== undefined) reasons.unshift('Unhealthy');
    const candidates = { ...eligible, Drifted: [...eligible.Drifted, ...staticDrifted] };
    for (const pool of fleet.allPools()) {
      const nodepool = pool.metadata.name;
      const ref = this.context.cluster.nodePools.get(nodepool)?.spec.template.spec.nodeClassRef;
      if (ref === undefined || !this.context.isManaged(ref)) continue;
      for (const schedule of unreadableSchedules(budgetsOf(pool))) {
        const problem = `cannot read schedule "${schedule}"; write five cron fields in UTC, or a macro like @daily`;
        this.context.log.error('detected disruption budget error', problem, { NodePool: { name: nodepool } });
      }
      for (const reason of reasons) {
        const { allowed, counts } = fleet.budget(pool, reason);
        const labels = { nodepool, reason: reason.toLowerCase() };
        metrics.allowed.set(Math.min(allowed, unlimited), labels);
        metrics.consuming.set(counts.consuming, labels);
        // A budget that no one waits for is not news.
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

  /** A search asks the planner many times; each of these passes counts, with its share of the time. */
  private async ask(method: Method, round: Round): Promise<MethodOutcome> {
    const { clock } = this.context;
    const { metrics } = this.parts;
    const { limitMs = Number.POSITIVE_INFINITY, consolidationType } = method;
    const reason = method.reason.toLowerCase();
    metrics.eligible.set(method.eligible(round).length, { reason });
    const startedMs = clock.elapsed();
    const before = round.whatIf.simulations;
    const asked = { ...this.memories.get(method), isTimeUp: () => clock.elapsed() > startedMs + limitMs };
    const outcome = await inSlices(clock, method.decide(round, asked));
    const seconds = (clock.elapsed() - startedMs) / 1000;
    metrics.evaluation.observe(seconds, { reason, consolidation_type: consolidationType });
    const passes = round.whatIf.simulations - before;
    for (let pass = 0; pass < passes; pass += 1) metrics.planning.observe(seconds / passes, { controller });
    return outcome;
  }

  /** Nothing changed since it last found nothing to do, budgets that come and go by a schedule included. */
  private isSettled(method: Method): boolean {
    if (method.validation === undefined) return false;
    const idle = this.foundNothing.get(method);
    if (idle?.changedAt !== this.context.cluster.changedAt()) return false;
    return !idle.constrained || idle.budgets === this.budgetsInForce();
  }

  /** Which scheduled budgets are active now, as text. */
  private budgetsInForce(): string {
    const { cluster, clock, settings } = this.context;
    return cluster.nodePools
      .list()
      .flatMap(({ spec }) => spec.disruption?.budgets ?? [])
      .map((budget) => activeUntil(budget, clock.now(), settings.budgetTimeZone) ?? '')
      .join();
  }
}
