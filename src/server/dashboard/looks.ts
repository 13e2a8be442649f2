// Looks at the whole cluster for whoever asks: a snapshot with its round, a plan for pods that wait, where the money is.
import { type Clock, formatTime, inSlices } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { instanceTypesOfPools, roundOver, snapshotFor } from '../../controllers/index.ts';
import { clusterMoney, nodeVerdicts, type Plan, type Round, type Snapshot } from '../../core/index.ts';
import type { MoneyKnown } from '../../view/index.ts';
import { SharedAnswer } from './shared-answer.ts';

/** Where the money is changes slowly and takes longer to find out; it is looked for only while someone asks. */
const moneyPauseMs = 60_000;
const moneyShare = 0.05;

/** One look at the cluster, shared by everyone who asks at about the same time. */
export interface Look {
  snapshot: Snapshot;
  round: Round;
  changedAt: number;
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
  private readonly looking: SharedAnswer<Look>;
  private readonly planning: SharedAnswer<Plan>;
  private relaxed = new Map<string, readonly string[]>();
  private knownMoney: MoneyKnown | undefined;
  private isCounting = false;
  private nextMoneyMs = 0;

  constructor(options: LooksOptions) {
    this.options = options;
    const { real, context } = options;
    const changedAt = (): number => context.cluster.changedAt();
    this.looking = new SharedAnswer({ real, changedAt, find: () => this.lookAnew() });
    this.planning = new SharedAnswer({ real, changedAt, find: () => this.planAnew() });
  }

  /** `keep: false`: for this question alone, unless another one is asked meanwhile. */
  look(how: { keep?: boolean } = {}): Promise<Look> {
    return this.looking.read(how);
  }

  /** What would be launched for pods that wait; what they do without is in `relaxedPods`. */
  plan(): Promise<Plan> {
    return this.planning.read();
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
    const { context, queued } = this.options;
    const instanceTypes = await instanceTypesOfPools(context);
    const changedAt = context.cluster.changedAt();
    const snapshot = snapshotFor(context, instanceTypes);
    const round = await roundOver(context, snapshot, queued?.() ?? new Set());
    return { snapshot, round, changedAt };
  }

  private async planAnew(): Promise<Plan> {
    const relaxed = new Map<string, readonly string[]>();
    const { snapshot } = await this.look();
    const plan = await this.options.context.plan(snapshot, {
      onRelaxed: (pod, changes) => void relaxed.set(pod, changes),
    });
    this.relaxed = relaxed;
    return plan;
  }

  private async count(): Promise<void> {
    const { context, real } = this.options;
    const startedMs = real.now();
    this.isCounting = true;
    try {
      const { round } = await this.look({ keep: false });
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
