// Multi-node consolidation: several nodes go together, replaced by nothing or by one cheaper node. Two searches over sets:
// the longest prefix of one order that works (what everybody does), and a search that grows sets from what is known about
// each node alone, which finds more because one stubborn node in the order does not hide those behind it.

import type { Score } from './balanced.ts';
import { bySavingsRatio } from './candidates.ts';
import type { Command } from './command.ts';
import type { Consolidation } from './consolidation.ts';
import { consolidationProblem } from './eligibility.ts';
import type { Member } from './fleet.ts';
import type { Round, Sliced } from './round.ts';
import { consolidationCommand } from './single-node.ts';

export interface MultiOptions {
  isTimeUp?(): boolean;
}

export interface MultiOutcome {
  readonly command: Command | undefined;
  readonly scores: readonly Score[];
  readonly rejected: readonly Score[];
  readonly constrained: boolean;
  readonly timedOut: boolean;
}

type Possible = Exclude<Consolidation, { kind: 'none' }>;

interface Found {
  readonly members: readonly Member[];
  readonly answer: Possible;
  readonly scores: readonly Score[];
}

/** More nodes than this are never moved by one command. */
const mostMembers = 100;
/** Sets tried while growing from one start; beyond, the rest waits for the next round. */
const mostTrials = 64;

export function* multiNodeCommand(round: Round, options: MultiOptions = {}): Sliced<MultiOutcome> {
  const search = new Search(round, options);
  const { members } = search;
  if (members.length >= 2) {
    yield* search.longestPrefix(members.slice(0, mostMembers + 1));
    yield* search.growAll();
  }
  return search.outcome();
}

/** The prefix search alone: the method to compare with. */
export function* prefixCommand(round: Round, options: MultiOptions = {}): Sliced<MultiOutcome> {
  const search = new Search(round, options);
  if (search.members.length >= 2) yield* search.longestPrefix(search.members.slice(0, mostMembers + 1));
  return search.outcome();
}

class Search {
  readonly members: readonly Member[];
  private readonly round: Round;
  private readonly options: MultiOptions;
  private readonly rejected: Score[] = [];
  private readonly constrained: boolean;
  private best: Found | undefined;
  private timedOut = false;

  constructor(round: Round, options: MultiOptions) {
    this.round = round;
    this.options = options;
    const eligible = round.candidates('graceful').filter((member) => consolidationProblem(member) === undefined);
    const allowance = round.allowance('Underutilized');
    this.members = bySavingsRatio(eligible).filter((member) => allowance.take(member.poolName));
    this.constrained = this.members.length < eligible.length;
  }

  outcome(): MultiOutcome {
    const { best, rejected, constrained, timedOut } = this;
    return {
      command: best === undefined ? undefined : consolidationCommand('multi', best.members, best.answer),
      scores: best?.scores ?? [],
      rejected,
      constrained,
      timedOut,
    };
  }

  /** Binary search for the longest prefix that works, as if longer ones failed whenever shorter ones do. */
  *longestPrefix(members: readonly Member[]): Sliced<void> {
    let least = 1;
    let most = members.length - 1;
    while (least <= most && !this.isTimeUp()) {
      const middle = (least + most) >>> 1;
      const found = this.try(members.slice(0, middle + 1));
      yield undefined;
      if (found === undefined) most = middle - 1;
      else {
        least = middle + 1;
        this.best = found;
      }
    }
  }

  /** Grows sets from the nodes that can go by themselves, then with those that need one new node. */
  *growAll(): Sliced<void> {
    const removable: Member[] = [];
    const replaceable: Member[] = [];
    for (const member of this.members) {
      if (this.isTimeUp()) return;
      const answer = this.round.single(member);
      yield undefined;
      if (answer.kind === 'delete') removable.push(member);
      // Pods without a place, or with several new nodes alone, do not get one in larger company.
      else if (answer.kind === 'replace' || (answer.code !== 'PodsDoNotFit' && answer.code !== 'NeedsMoreNodes')) {
        replaceable.push(member);
      }
    }
    const light = (members: readonly Member[]): Member[] =>
      [...members].sort(
        (left, right) => left.rescheduleCost - right.rescheduleCost || right.price - left.price || byName(left, right),
      );
    const dear = (members: readonly Member[]): Member[] =>
      [...members].sort((left, right) => right.price - left.price || byName(left, right));
    for (const order of [(all: readonly Member[]) => all, light, dear]) {
      const gone = yield* this.grow(undefined, order(removable));
      yield* this.grow(gone, order(replaceable));
    }
    yield* this.grow(undefined, light(replaceable));
  }

  /** Adds members in ever smaller portions as long as that saves more. */
  private *grow(start: Found | undefined, members: readonly Member[]): Sliced<Found | undefined> {
    let current = start;
    let rest = members.slice(0, mostMembers);
    let portion = Math.max(1, rest.length);
    for (let trials = 0; rest.length > 0 && trials < mostTrials && !this.isTimeUp(); trials++) {
      const added = rest.slice(0, portion);
      const set = [...(current?.members ?? []), ...added];
      const found = set.length < 2 || set.length > mostMembers ? undefined : this.try(set);
      yield undefined;
      const before = current?.answer.savings ?? 0;
      const isBetter =
        found !== undefined &&
        (found.answer.savings > before || (found.answer.kind === 'delete' && found.answer.savings >= before));
      if (isBetter || (set.length === 1 && current === undefined)) {
        // A single node is only a beginning; what it saves alone is the other method's business.
        current = found ?? this.alone(added[0] as Member) ?? current;
        rest = rest.slice(added.length);
        portion = Math.min(Math.max(1, portion), Math.max(1, rest.length));
      } else if (portion > 1) portion = Math.ceil(portion / 2);
      else rest = rest.slice(1);
    }
    if (current !== undefined && current.members.length >= 2 && this.isPreferred(current)) this.best = current;
    return current;
  }

  private alone(member: Member): Found | undefined {
    const answer = this.round.single(member);
    return answer.kind === 'none' ? undefined : { members: [member], answer, scores: [] };
  }

  private isPreferred(found: Found): boolean {
    const { best } = this;
    if (best === undefined) return true;
    const [more, less] = [found.answer.savings, best.answer.savings];
    if (more < less) return false;
    const trouble = ({ members }: Found): number => members.reduce((sum, member) => sum + member.rescheduleCost, 0);
    return trouble(found) / more <= trouble(best) / less;
  }

  private try(members: readonly Member[]): Found | undefined {
    const answer = this.round.consolidator.decide(members);
    if (answer.kind === 'none' || (answer.kind === 'replace' && answer.savings <= 0)) return undefined;
    const scores = this.round.scores(members, answer.savings);
    const rejected = scores.filter((score) => !score.approved);
    this.rejected.push(...rejected);
    return rejected.length > 0 ? undefined : { members, answer, scores };
  }

  private isTimeUp(): boolean {
    this.timedOut ||= this.options.isTimeUp?.() ?? false;
    return this.timedOut;
  }
}

function byName(left: Member, right: Member): number {
  return left.name < right.name ? -1 : 1;
}
