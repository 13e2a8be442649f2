// Looks at the whole cluster for whoever asks: a snapshot with its round, a plan for pods that wait, where the money is. Shared
// by everyone who asks at about the same time; each is as old as it may be and no older.
import { type Clock, formatTime, inSlices } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { instanceTypesOfPools, roundOver, snapshotFor } from '../../controllers/index.ts';
import { clusterMoney, nodeVerdicts, type Plan, type Round, type Snapshot } from '../../core/index.ts';
import type { MoneyKnown } from '../../view/index.ts';

/** Where the money is changes slowly and takes longer to find out; it is looked for only while someone asks. */
const moneyPauseMs = 60_000;
const moneyShare = 0.05;
/** Answers about single objects are of a cluster at most this old. */
const lookMs = 1_000;
/** A look that took long, because the cluster is large, serves for so many times as long: viewers must not keep a core busy. */
const lookRest = 5;

/** One look at the cluster, shared by everyone who asks at about the same time. */
export interface Look {
  snapshot: Snapshot;
  round: Round;
  changedAt: number;
  atMs: number;
  tookMs: number;
}

export interface LooksOptions {
  context: ControllerContext;
  /** Paces viewers. */
  real: Clock;
  /** Names of claims that a command is disrupting already. */
  queued?: () => ReadonlySet<string>;
}

export class Looks {
  private readonly options: LooksOptions;
  private looking: Promise<Look> | undefined;
  private planning: { changedAt: number; atMs: number; plan: Promise<Plan> } | undefined;
  private relaxed = new Map<string, readonly string[]>();
  private knownMoney: MoneyKnown | undefined;
  private isCounting = false;
  private nextMoneyMs = 0;

  constructor(options: LooksOptions) {
    this.options = options;
  }

  async look(): Promise<Look> {
    const { context, real } = this.options;
    const known = await this.looking?.catch(() => undefined);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : real.now() - known.atMs;
    const isFresh =
      (ageMs < lookMs && known?.changedAt === context.cluster.changedAt()) || ageMs < (known?.tookMs ?? 0) * lookRest;
    if (this.looking === undefined || !isFresh) this.looking = this.lookAnew();
    return this.looking;
  }

  /** What would be launched for pods that wait; what they do without is in `relaxedPods`. */
  plan(): Promise<Plan> {
    const { context, real } = this.options;
    const changedAt = context.cluster.changedAt();
    const known = this.planning;
    if (known !== undefined && known.changedAt === changedAt && real.now() - known.atMs < lookMs) return known.plan;
    const relaxed = new Map<string, readonly string[]>();
    const plan = this.look().then(({ snapshot }) =>
      context.plan(snapshot, { onRelaxed: (pod, changes) => void relaxed.set(pod, changes) }),
    );
    this.relaxed = relaxed;
    this.planning = { changedAt, atMs: real.now(), plan };
    return plan;
  }

  /** The last answer; a newer one is looked for meanwhile where that one is old. */
  money(): MoneyKnown | undefined {
    const { real, context } = this.options;
    if (!this.isCounting && real.now() >= this.nextMoneyMs && context.cluster.synced) void this.count();
    return this.knownMoney;
  }

  relaxedPods(): ReadonlyMap<string, readonly string[]> {
    return this.relaxed;
  }

  private async lookAnew(): Promise<Look> {
    const { context, real, queued } = this.options;
    const startedMs = real.now();
    const instanceTypes = await instanceTypesOfPools(context);
    const changedAt = context.cluster.changedAt();
    const snapshot = snapshotFor(context, instanceTypes);
    const round = await roundOver(context, snapshot, queued?.() ?? new Set());
    return { snapshot, round, changedAt, atMs: real.now(), tookMs: real.now() - startedMs };
  }

  private async count(): Promise<void> {
    const { context, real } = this.options;
    const startedMs = real.now();
    this.isCounting = true;
    try {
      const { round } = await this.look();
      const time = formatTime(context.clock.now());
      const verdicts = await inSlices(context.clock, nodeVerdicts(round));
      const value = await inSlices(context.clock, clusterMoney(round, verdicts));
      this.knownMoney = { value, time };
    } catch (error) {
      context.log.error('cannot find out where the money is', error, { controller: 'dashboard' });
    }
    this.isCounting = false;
    this.nextMoneyMs = real.now() + Math.max(moneyPauseMs, (real.now() - startedMs) / moneyShare);
  }
}
