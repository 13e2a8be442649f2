// The search for nodes that can go together, replaced by nothing or by cheaper nodes. The longest prefix of one order that
// works is only one of the starts. Others are the sets that sums say one new node could hold, and sets grown from nodes
// that can go by themselves. The best are then changed node by node while that helps. Every set counts only after the
// planner has placed its pods. How much is asked is bounded by pods moved, so that the same cluster gives the same answer,
// unless the time of the caller is up before.

import { type Sliced, sortInSlices } from '../../base/index.ts';
import type { Move } from './balanced.ts';
import { bySavingsRatio } from './candidates.ts';
import type { Coming, Consolidation } from './consolidation.ts';
import type { Member } from './fleet.ts';
import { type MergeSet, mergeSets } from './merge-sets.ts';
import type { Round } from './round.ts';

export interface Found extends Move {
  readonly answer: Exclude<Consolidation, { kind: 'none' }>;
  /** That would move. */
  readonly pods: number;
}

/** More nodes than this are never moved by one command. */
const mostMembers = 100;
/** Pods moved by all questions of one search together; a question costs at least `leastWork`. */
const mostWork = 12_000;
const leastWork = 20;
const mostMerges = 16;
const mostClimbs = 60;
const climbStarts = 2;
/** More pods than these nodes have would be bought anew no better, only longer. */
const mostRemixed = 16;
/** Sets that brought nothing better before the search for them ends. */
const mostInVain = 6;
/** Nodes of which any two or three are tried where windows of them found nothing. */
const mostCompanions = 8;
/** Savings that differ by less are the same. */
const priceTolerance = 1e-9;

export class SetSearch {
  /** Nodes that may go and whose pools' budgets have room, the best savings for the trouble first. */
  readonly members: readonly Member[];
  /** Some had to wait for their pool's budget. */
  readonly constrained: boolean;
  /** The last set that a Balanced pool did not want to go. */
  rejected: Move | undefined;
  private readonly round: Round;
  private readonly isTimeUp: () => boolean;
  private readonly affordable: readonly Member[];
  private readonly known = new Map<string, Found | undefined>();
  private work = mostWork;

  constructor(round: Round, isTimeUp: () => boolean = () => false) {
    this.round = round;
    this.isTimeUp = isTimeUp;
    const eligible = round.eligible.Underutilized;
    const budgets = round.allowance('Underutilized');
    this.members = bySavingsRatio(eligible).filter((member) => budgets.of(member.poolName) >= 1);
    const allowance = round.allowance('Underutilized');
    this.affordable = this.members.filter((member) => allowance.take(member.poolName));
    this.constrained = this.affordable.length < eligible.length;
  }

  /** Binary search for the longest prefix that works, as if longer ones failed whenever shorter ones do. */
  *prefix(): Sliced<Found | undefined> {
    const order = this.affordable.slice(0, mostMembers + 1);
    let best: Found | undefined;
    let least = 1;
    let most = order.length - 1;
    while (least <= most && !this.isTimeUp()) {
      const middle = (least + most) >>> 1;
      const found = yield* this.ask(order.slice(0, middle + 1));
      if (found === undefined) most = middle - 1;
      else {
        least = middle + 1;
        best = found;
      }
    }
    return best;
  }

  /** The best set there is to be found. */
  *wide(): Sliced<Found | undefined> {
    this.work = mostWork;
    const worth = ({ answer }: Found): number => answer.savings;
    const found: Found[] = [];
    const note = (each: Found | undefined): void => {
      if (each !== undefined && each.members.length >= 2) found.push(each);
    };
    note(yield* this.prefix());
    for (const set of yield* this.merges()) note(yield* this.tryIfAffordable(set.members));
    const removable = yield* this.removable();
    for (const order of [removable, byTrouble(removable), byPrice(removable)]) note(yield* this.grow(order));
    const ranked = found.sort((left, right) => worth(right) - worth(left));
    for (const start of ranked.slice(0, climbStarts)) note(yield* this.climb(start, worth));
    return found.sort((left, right) => worth(right) - worth(left))[0];
  }

  /**
   * Nodes that are dear for what runs on them, for several new ones in which their pods keep better company. Where there is
   * time for it, more sets are tried before there is none.
   */
  *remix(thoroughly: boolean): Sliced<Found | undefined> {
    this.work = mostWork;
    const { splitting } = this.round.consolidator;
    const wasted: { member: Member; waste: number }[] = [];
    for (const member of this.members) {
      wasted.push({ member, waste: splitting.waste(member) });
      yield;
    }
    const ordered = yield* sortInSlices(
      wasted,
      (left, right) => right.waste - left.waste || byName(left.member, right.member),
    );
    const dearest = ordered.map(({ member }) => member);
    let best: Found | undefined;
    let inVain = 0;
    for (const set of this.windows(dearest)) {
      if (this.work <= 0 || inVain >= mostInVain || this.isTimeUp()) break;
      const found = yield* this.ask(set, 'several');
      const isBetter = found !== undefined && found.answer.savings > (best?.answer.savings ?? 0) + priceTolerance;
      if (isBetter) best = found;
      inVain = isBetter ? 0 : inVain + 1;
    }
    if (best === undefined && thoroughly) best = yield* this.remixFew(dearest);
    return best;
  }

  /** Where windows found nothing: two or three of the dearest, whichever they are; the first that save something. */
  private *remixFew(dearest: readonly Member[]): Sliced<Found | undefined> {
    const few = dearest.slice(0, mostCompanions);
    const sets = few.flatMap((first, at) => few.slice(at + 1).map((second) => [first, second]));
    if (this.affordable.length >= 3) {
      sets.push(
        ...sets.flatMap((pair) => few.slice(few.indexOf(pair[1] as Member) + 1).map((third) => [...pair, third])),
      );
    }
    for (const set of sets) {
      if (this.work <= 0 || this.isTimeUp()) break;
      const found = this.isAffordable(set) ? yield* this.ask(set, 'several') : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** As many as budgets allow, half as many and so on: the dearest, and every second, third … of those that follow. */
  private *windows(order: readonly Member[]): Generator<readonly Member[]> {
    for (let size = Math.min(mostRemixed, this.affordable.length); size >= 2; size = Math.floor(size / 2)) {
      for (const [start, step] of [
        [0, 1],
        [0, 2],
        [0, 3],
        [1, 3],
        [Math.ceil(size / 2), 1],
        [size, 1],
      ] as const) {
        const allowance = this.round.allowance('Underutilized');
        const set = order
          .filter((_, at) => at >= start && (at - start) % step === 0)
          .filter((member) => allowance.take(member.poolName))
          .slice(0, size);
        if (set.length >= 2) yield set;
      }
    }
  }

  /** The set of these nodes, if they may go together. */
  *named(names: readonly string[]): Sliced<Found | undefined> {
    const members = this.members.filter(({ name }) => names.includes(name));
    return members.length === names.length && this.isAffordable(members) ? yield* this.ask(members) : undefined;
  }

  private *merges(): Sliced<MergeSet[]> {
    const { whatIf, consolidator } = this.round;
    const sets: MergeSet[] = [];
    for (const set of mergeSets(whatIf, consolidator.prices, this.members, mostMembers)) {
      if (set !== undefined) sets.push(set);
      yield undefined;
      if (this.isTimeUp()) break;
    }
    const unique = new Map(sets.map((set) => [keyOf(set.members), set]));
    return [...unique.values()].sort((left, right) => right.savings - left.savings).slice(0, mostMerges);
  }

  private *removable(): Sliced<Member[]> {
    const removable: Member[] = [];
    for (const member of this.members) {
      if (this.isTimeUp()) break;
      const answer = yield* this.round.singleInSlices(member);
      yield undefined;
      if (answer.kind === 'delete') removable.push(member);
    }
    return removable;
  }

  /** Adds members in ever smaller portions as long as all of them can go for nothing. */
  private *grow(order: readonly Member[]): Sliced<Found | undefined> {
    let current: Found | undefined;
    let taken: readonly Member[] = [];
    let rest = order.slice(0, mostMembers);
    let portion = Math.max(1, rest.length);
    while (rest.length > 0 && this.work > 0 && !this.isTimeUp()) {
      const set = [...taken, ...rest.slice(0, portion)];
      // One that can go by itself is a beginning, but not yet a set.
      const isBeginning = set.length === 1;
      const found = isBeginning ? undefined : yield* this.tryIfAffordable(set);
      if (isBeginning || found?.answer.kind === 'delete') {
        taken = set;
        current = found ?? current;
        rest = rest.slice(portion);
        portion = Math.max(1, Math.min(portion, rest.length));
      } else if (portion > 1) portion = Math.ceil(portion / 2);
      else rest = rest.slice(1);
    }
    return current;
  }

  /** Puts nodes in and takes nodes out, one at a time, as long as that is worth more. */
  private *climb(start: Found, worth: (found: Found) => number): Sliced<Found> {
    let current = start;
    let trials = mostClimbs;
    for (let improved = true; improved && trials > 0; ) {
      improved = false;
      for (const member of this.members) {
        if (trials <= 0 || this.work <= 0 || this.isTimeUp()) break;
        const set = current.members.includes(member)
          ? current.members.filter((each) => each !== member)
          : [...current.members, member];
        if (set.length < 2) continue;
        trials -= 1;
        const found = yield* this.tryIfAffordable(set);
        if (found === undefined || worth(found) <= worth(current) + priceTolerance) continue;
        current = found;
        improved = true;
      }
    }
    return current;
  }

  private *tryIfAffordable(members: readonly Member[]): Sliced<Found | undefined> {
    return this.work > 0 && this.isAffordable(members) ? yield* this.ask(members) : undefined;
  }

  private isAffordable(members: readonly Member[]): boolean {
    if (members.length < 2 || members.length > mostMembers) return false;
    const allowance = this.round.allowance('Underutilized');
    return members.every((member) => allowance.take(member.poolName));
  }

  private *ask(members: readonly Member[], coming: Coming = 'one'): Sliced<Found | undefined> {
    const key = `${coming} ${keyOf(members)}`;
    if (this.known.has(key)) return this.known.get(key);
    const { whatIf, consolidator } = this.round;
    const pods = members.reduce((sum, member) => sum + whatIf.podCount(member), 0);
    this.work -= Math.max(leastWork, pods);
    const answer = yield* consolidator.decideInSlices(members, coming);
    yield undefined;
    const found = this.judged(members, answer, pods);
    this.known.set(key, found);
    return found;
  }

  private judged(members: readonly Member[], answer: Consolidation, pods: number): Found | undefined {
    if (answer.kind === 'none' || (answer.kind === 'replace' && answer.savings <= priceTolerance)) return undefined;
    const scores = this.round.scores(members, answer.savings);
    if (scores.every(({ approved }) => approved)) return { members, answer, scores, pods };
    this.rejected = { members, scores };
    return undefined;
  }
}

function keyOf(members: readonly Member[]): string {
  return members
    .map((member) => member.name)
    .sort()
    .join();
}

function byTrouble(members: readonly Member[]): Member[] {
  return [...members].sort(
    (left, right) => left.rescheduleCost - right.rescheduleCost || right.price - left.price || byName(left, right),
  );
}

function byPrice(members: readonly Member[]): Member[] {
  return [...members].sort((left, right) => right.price - left.price || byName(left, right));
}

function byName(left: Member, right: Member): number {
  return left.name < right.name ? -1 : 1;
}
