// What a shadow would have done, and what the autoscaler beside it did: bounded lists with sums, as plain data. Nothing of
// it is in the cluster, because a shadow writes nothing; it is served by the process and summed up by `kerf shadow report`.

import type { SeenClaim, ShadowLaunch, ShadowMove, ShadowReport } from '../../ports/index.ts';

/** Enough for a busy day in a page; what is older counts in the totals. */
const kept = 500;
/** Pods and moves that were counted already; the oldest are forgotten first. */
const rememberedKeys = 50_000;

export class ShadowLedger {
  private readonly seen = new Set<string>();
  private readonly current: ShadowReport;

  constructor(now: string) {
    this.current = {
      apiVersion: 'kerf/v1',
      kind: 'ShadowReport',
      since: now,
      now,
      nodes: 0,
      costPerHour: 0,
      savingsPerHour: 0,
      unschedulable: 0,
      verdicts: { remove: 0, replace: 0, keep: 0, blockers: {} },
      totals: {
        wouldLaunch: 0,
        wouldLaunchPerHour: 0,
        launched: 0,
        launchedPerHour: 0,
        wouldRemove: 0,
        wouldReplace: 0,
        wouldSavePerHour: 0,
        removed: 0,
        rounds: 0,
        failures: 0,
      },
      launches: [],
      moves: [],
      claimsMade: [],
      claimsRemoved: [],
    };
  }

  get report(): ShadowReport {
    return this.current;
  }

  /** Now true of the cluster. */
  set(
    facts: Partial<
      Pick<ShadowReport, 'now' | 'nodes' | 'costPerHour' | 'savingsPerHour' | 'unschedulable' | 'verdicts'>
    >,
  ): void {
    Object.assign(this.current, facts);
  }

  round(failed: boolean): void {
    this.current.totals.rounds += 1;
    if (failed) this.current.totals.failures += 1;
  }

  knowsPod(uid: string): boolean {
    return this.seen.has(`pod ${uid}`);
  }

  knowPod(uid: string): void {
    this.isNew(`pod ${uid}`);
  }

  /** A node for pods of which at least one was not counted before; the same wait is planned for again and again. */
  launch(launch: ShadowLaunch, podUids: readonly string[]): boolean {
    const news = podUids.filter((uid) => this.isNew(`pod ${uid}`));
    if (news.length === 0) return false;
    const { totals, launches } = this.current;
    totals.wouldLaunch += 1;
    totals.wouldLaunchPerHour += launch.pricePerHour;
    append(launches, launch);
    return true;
  }

  /** A command about these nodes, by their uids: counted once however often it is found again. */
  move(move: ShadowMove, nodeUids: readonly string[]): boolean {
    if (!this.isNew(`move ${move.decision} ${[...nodeUids].sort().join(' ')}`)) return false;
    const { totals, moves } = this.current;
    if (move.decision === 'delete') totals.wouldRemove += move.nodes.length;
    else totals.wouldReplace += move.nodes.length;
    totals.wouldSavePerHour += move.savingsPerHour;
    append(moves, move);
    return true;
  }

  claimMade(claim: SeenClaim, uid: string): void {
    if (!this.isNew(`made ${uid}`)) return;
    this.current.totals.launched += 1;
    this.current.totals.launchedPerHour += claim.pricePerHour;
    append(this.current.claimsMade, claim);
  }

  claimRemoved(claim: SeenClaim, uid: string): void {
    if (!this.isNew(`removed ${uid}`)) return;
    this.current.totals.removed += 1;
    append(this.current.claimsRemoved, claim);
  }

  private isNew(key: string): boolean {
    if (this.seen.has(key)) return false;
    this.seen.add(key);
    if (this.seen.size > rememberedKeys) {
      for (const oldest of this.seen) {
        this.seen.delete(oldest);
        break;
      }
    }
    return true;
  }
}

function append<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > kept) list.shift();
}
