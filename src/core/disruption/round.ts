// One round over one fleet: candidates and budgets are worked out once, and so is the answer about each single node, which
// several methods ask for. Budgets are handed out node by node, so that no method can spend one twice.

import { atOnce, type Sliced } from '../../base/index.ts';
import type { Snapshot } from '../snapshot.ts';
import { BalancedPolicy, type Score } from './balanced.ts';
import { type Blocker, firstBlocker, isCandidate } from './candidates.ts';
import type { DisruptionReason } from './command.ts';
import { type Consolidation, Consolidator } from './consolidation.ts';
import { consolidationProblem, emptinessProblem, hasDrifted } from './eligibility.ts';
import { Fleet, type FleetOptions, type Member } from './fleet.ts';
import { withoutPodBlockers } from './freed.ts';
import type { Refusal } from './method.ts';
import { WhatIf } from './what-if.ts';

export class Round {
  readonly fleet: Fleet;
  readonly whatIf: WhatIf;
  readonly consolidator: Consolidator;
  readonly balanced: BalancedPolicy;
  /** Candidates that a method may act on, as far as they themselves are concerned. */
  readonly eligible: Readonly<Record<DisruptionReason, Member[]>> = {
    Unhealthy: [],
    Empty: [],
    Drifted: [],
    Underutilized: [],
  };
  /** Broken nodes that something keeps from being repaired. */
  readonly unrepaired: Refusal[] = [];
  /** Of static pools, which exchange theirs. */
  readonly staticDrifted: Member[] = [];
  private readonly blockers = new Map<Member, Blocker>();
  private readonly singles = new Map<Member, Consolidation>();
  private readonly buffered: ReadonlySet<string>;
  private freed: Round | undefined;
  private freedMembers: ReadonlyMap<string, Member> | undefined;

  static of(snapshot: Snapshot, options: FleetOptions = {}): Round {
    return atOnce(Round.inSlices(snapshot, options));
  }

  static *inSlices(snapshot: Snapshot, options: FleetOptions = {}): Sliced<Round> {
    return yield* Round.over(yield* Fleet.inSlices(snapshot, options));
  }

  /** Another round over the same fleet. Yields after every member. */
  static *over(fleet: Fleet): Sliced<Round> {
    const whatIf = yield* WhatIf.inSlices(fleet);
    const round = new Round(whatIf, yield* whatIf.nodesWithBufferPods());
    yield* round.findCandidates();
    return round;
  }

  private constructor(whatIf: WhatIf, buffered: ReadonlySet<string>) {
    this.fleet = whatIf.fleet;
    this.whatIf = whatIf;
    this.consolidator = new Consolidator(whatIf);
    this.balanced = new BalancedPolicy(this.fleet, (member) => !this.blockers.has(member));
    this.buffered = buffered;
  }

  private *findCandidates(): Sliced<void> {
    const { Unhealthy, Empty, Drifted, Underutilized } = this.eligible;
    const hasBufferPods = (member: Member): boolean => this.hasBufferPods(member);
    for (const member of this.fleet.members) {
      yield;
      if (member.repair !== undefined) {
        const answer = firstBlocker(this.fleet, member, 'repair');
        if (answer === undefined) Unhealthy.push(member);
        else this.unrepaired.push({ member, answer });
      }
      const blocker = firstBlocker(this.fleet, member, 'graceful');
      if (blocker !== undefined) this.blockers.set(member, blocker);
      else if (consolidationProblem(member) === undefined) Underutilized.push(member);
      else if (emptinessProblem(member, hasBufferPods) === undefined) Empty.push(member);
      if (!hasDrifted(member)) continue;
      // Drift waives some of what keeps others from going, and asks for nothing more.
      if (blocker !== undefined && !isCandidate(this.fleet, member, 'eventual')) continue;
      (member.isStatic ? this.staticDrifted : Drifted).push(member);
    }
  }

  /** What keeps the node from being a graceful candidate, first of all. */
  blocker(member: Member): Blocker | undefined {
    return this.blockers.get(member);
  }

  /** What the pools' budgets still allow for the reason; taking from it never goes below zero. */
  allowance(reason: DisruptionReason): Allowance {
    return Allowance.of(this.fleet, reason);
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

  /** The same nodes if no pod kept any; this round itself where none does. */
  *withoutPodBlockers(): Sliced<Round> {
    if (this.freed === undefined) {
      const { snapshot, options } = this.fleet;
      const freed = withoutPodBlockers(snapshot);
      this.freed = freed === snapshot ? this : yield* Round.inSlices(freed, options);
    }
    return this.freed;
  }

  /** What would be found out about the node if no pod kept any node; in slices, because it may need a world of its own. */
  *freedSingle(member: Member): Sliced<Consolidation> {
    const freed = yield* this.withoutPodBlockers();
    if (freed === this) return yield* this.singleInSlices(member);
    this.freedMembers ??= new Map(freed.fleet.members.map((each) => [each.name, each]));
    return yield* freed.singleInSlices(this.freedMembers.get(member.name) ?? member);
  }

  scores(members: readonly Member[], savings: number): Score[] {
    return this.balanced.scores(members, savings);
  }

  hasBufferPods(member: Member): boolean {
    return this.buffered.has(member.name);
  }
}

export class Allowance {
  private readonly remaining: Map<string, number>;

  static of(fleet: Fleet, reason: DisruptionReason): Allowance {
    const remaining = new Map<string, number>();
    for (const pool of fleet.allPools()) remaining.set(pool.metadata.name, fleet.budget(pool, reason).remaining);
    return new Allowance(remaining);
  }

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
