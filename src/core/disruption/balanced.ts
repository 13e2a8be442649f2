// The Balanced policy: a move must save a share of the pool's cost that is worth the share of the pool's pods it disturbs.
// Every Balanced pool in a command must agree; pools of other policies are not asked.

import type { Fleet, Member } from './fleet.ts';

/** How many times more than its share of savings a move may disturb. */
export const balancedK = 2;
export const balancedThreshold = 1 / balancedK;

export interface Score {
  readonly poolName: string;
  readonly score: number;
  /** Shares of the pool's cost and disruption. */
  readonly savingsShare: number;
  readonly disruptionShare: number;
  readonly approved: boolean;
}

/** Nodes that would go together, and what each Balanced pool among theirs thinks of it. */
export interface Move {
  readonly members: readonly Member[];
  readonly scores: readonly Score[];
}

export class BalancedPolicy {
  private readonly fleet: Fleet;
  private readonly isCandidate: (member: Member) => boolean;
  private readonly totals = new Map<string, { cost: number; disruption: number }>();

  constructor(fleet: Fleet, isCandidate: (member: Member) => boolean) {
    this.fleet = fleet;
    this.isCandidate = isCandidate;
  }

  /** One score per Balanced pool; the move is fine if all approve. */
  scores(members: readonly Member[], savings: number): Score[] {
    const total = members.reduce((sum, member) => sum + member.price, 0);
    const byPool = new Map<string, Member[]>();
    for (const member of members) {
      if (!isBalanced(member)) continue;
      const name = member.poolName ?? '';
      byPool.set(name, [...(byPool.get(name) ?? []), member]);
    }
    return [...byPool].map(([poolName, own]) => {
      const price = own.reduce((sum, member) => sum + member.price, 0);
      const share = total > 0 ? savings * (price / total) : 0;
      const moved = own.reduce((sum, member) => sum + member.rescheduleCost, 0);
      return this.score(poolName, share, moved);
    });
  }

  /** Even removing the node for nothing would not be worth it. */
  isHopeless(member: Member): boolean {
    if (!isBalanced(member) || this.totalsOf(member.poolName ?? '').cost <= 0) return false;
    return !this.score(member.poolName ?? '', member.price, member.rescheduleCost).approved;
  }

  private score(poolName: string, savings: number, moved: number): Score {
    const { cost, disruption } = this.totalsOf(poolName);
    const savingsShare = cost > 0 ? savings / cost : 0;
    const disruptionShare = disruption > 0 ? moved / disruption : 0;
    const score = scoreOf(savings, moved, cost, disruption);
    return { poolName, score, savingsShare, disruptionShare, approved: score >= balancedThreshold };
  }

  private totalsOf(poolName: string): { cost: number; disruption: number } {
    let totals = this.totals.get(poolName);
    if (totals === undefined) {
      totals = {
        cost: this.fleet.poolCost(poolName),
        disruption: this.fleet.poolDisruption(poolName, this.isCandidate),
      };
      this.totals.set(poolName, totals);
    }
    return totals;
  }
}

function scoreOf(savings: number, moved: number, cost: number, disruption: number): number {
  if (!(savings > 0) || !(cost > 0) || !(disruption > 0)) return 0;
  return moved <= 0 ? Number.POSITIVE_INFINITY : savings / cost / (moved / disruption);
}

function isBalanced(member: Member): boolean {
  return policyOf(member) === 'Balanced';
}

export function policyOf({ pool }: Member): string {
  return pool?.spec?.disruption?.consolidationPolicy ?? 'WhenEmptyOrUnderutilized';
}

export function approvedText({ score, savingsShare, disruptionShare }: Score): string {
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
  return `score ${score.toFixed(2)} >= threshold ${balancedThreshold.toFixed(2)} (k: ${balancedK}, savings ${percent(savingsShare)}, disruption ${percent(disruptionShare)})`;
}
