// One round over one fleet: candidates and budgets are worked out once, and so is the answer about each single node, which
// several methods ask for. Budgets are handed out node by node, so that no method can spend one twice.

import { atOnce, type Sliced } from '../../base/index.ts';
import { BalancedPolicy, type Score } from './balanced.ts';
import { type DisruptionClass, isCandidate } from './candidates.ts';
import type { DisruptionReason } from './command.ts';
import { type Consolidation, Consolidator } from './consolidation.ts';
import { type Fleet, fleetInSlices, type Member } from './fleet.ts';
import { withoutPodBlockers } from './freed.ts';
import { WhatIf } from './what-if.ts';

export class Round {
  readonly fleet: Fleet;
  readonly whatIf: WhatIf;
  readonly consolidator: Consolidator;
  readonly balanced: BalancedPolicy;
  private readonly byClass = new Map<DisruptionClass, readonly Member[]>();
  private readonly singles = new Map<Member, Consolidation>();
  private buffered: ReadonlySet<string> | undefined;
  private freed: Round | undefined;

  constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.whatIf = new WhatIf(fleet);
    this.consolidator = new Consolidator(this.whatIf);
    this.balanced = new BalancedPolicy(fleet);
  }

  candidates(kind: DisruptionClass): readonly Member[] {
    let candidates = this.byClass.get(kind);
    if (candidates === undefined) {
      candidates = this.fleet.members.filter((member) => isCandidate(this.fleet, member, kind));
      this.byClass.set(kind, candidates);
    }
    return candidates;
  }

  /** What the pools' budgets still allow for the reason; taking from it never goes below zero. */
  allowance(reason: DisruptionReason): Allowance {
    const remaining = new Map<string, number>();
    for (const pool of this.fleet.allPools()) {
      remaining.set(pool.metadata.name, this.fleet.budget(pool, reason).remaining);
    }
    return new Allowance(remaining);
  }

  /** The answer about one node alone, worked out once. */
  single(member: Member): Consolidation {
    return atOnce(this.singleInSlices(member));
  }

  *singleInSlices(member: Member): Sliced<Consolidation> {
    let answer = this.singles.get(member);
    if (answer === undefined) {
      answer = yield* this.consolidator.decideInSlices([member]);
      this.singles.set(member, answer);
    }
    return answer;
  }

  /** What would be found out about the node if no pod kept any node; in slices, because it may need a world of its own. */
  *freedSingle(member: Member): Sliced<Consolidation> {
    if (this.freed === undefined) {
      const snapshot = withoutPodBlockers(this.fleet.snapshot);
      this.freed = snapshot === this.fleet.snapshot ? this : new Round(yield* fleetInSlices(snapshot));
    }
    const { freed } = this;
    const same = freed === this ? member : freed.fleet.members.find((each) => each.name === member.name);
    return yield* freed.singleInSlices(same ?? member);
  }

  scores(members: readonly Member[], savings: number): Score[] {
    return this.balanced.scores(members, savings);
  }

  hasBufferPods(member: Member): boolean {
    this.buffered ??= this.whatIf.nodesWithBufferPods();
    return this.buffered.has(member.name);
  }
}

export class Allowance {
  private readonly remaining: Map<string, number>;

  constructor(remaining: Map<string, number>) {
    this.remaining = remaining;
  }

  of(poolName: string | undefined): number {
    return this.remaining.get(poolName ?? '') ?? 0;
  }

  /** Takes one node of the pool's budget; false if there is none left. */
  take(poolName: string | undefined): boolean {
    const left = this.of(poolName);
    if (left < 1) return false;
    this.remaining.set(poolName ?? '', left - 1);
    return true;
  }
}
