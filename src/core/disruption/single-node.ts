// Single-node consolidation: the first node, in order, that can go or be replaced by something cheaper. Pools take turns,
// so that one large pool does not keep the others waiting; pools an interrupted scan did not reach come first.

import type { Sliced } from '../../base/index.ts';
import type { Move, Score } from './balanced.ts';
import { bySavingsRatio } from './candidates.ts';
import type { Command } from './command.ts';
import type { Consolidation } from './consolidation.ts';
import { consolidationCommand } from './consolidation-command.ts';
import type { Member } from './fleet.ts';
import type { Round } from './round.ts';

export interface SingleOptions {
  /** Pools to begin with. */
  readonly first?: ReadonlySet<string>;
  /** Nodes that scans which ran out of time have looked at: the others of their pools come before them. */
  readonly seen?: ReadonlySet<string>;
  isTimeUp?(): boolean;
}

export interface SingleOutcome {
  readonly command: Command | undefined;
  readonly scores: readonly Score[];
  readonly constrained: boolean;
  readonly timedOut: boolean;
  /** Pools with nodes nobody looked at. */
  readonly unseen: ReadonlySet<string>;
  /** Nodes somebody looked at, in this scan or in those before it that ran out of time. */
  readonly seen: ReadonlySet<string>;
  /** What was found out about nodes that stay. */
  readonly refused: readonly { readonly member: Member; readonly answer: Extract<Consolidation, { kind: 'none' }> }[];
  /** What their Balanced pools did not want to go. */
  readonly rejected: readonly Move[];
}

export function* singleNodeCommand(round: Round, options: SingleOptions = {}): Sliced<SingleOutcome> {
  const before = options.seen ?? new Set();
  const byRatio = bySavingsRatio(round.eligible.Underutilized);
  const fresh = byRatio.filter((member) => !before.has(member.name));
  const order = takingTurns([...fresh, ...byRatio.filter((member) => before.has(member.name))], options.first);
  const allowance = round.allowance('Underutilized');
  const refused: { member: Member; answer: Extract<Consolidation, { kind: 'none' }> }[] = [];
  const rejected: Move[] = [];
  let constrained = false;
  const outcome = (more: Partial<SingleOutcome>): SingleOutcome => ({
    command: undefined,
    scores: [],
    constrained,
    timedOut: false,
    unseen: new Set(),
    seen: new Set(),
    refused,
    rejected,
    ...more,
  });
  for (const [at, member] of order.entries()) {
    if (options.isTimeUp?.()) {
      const seen = new Set(order.slice(0, at).map((each) => each.poolName ?? ''));
      const left = order.slice(at).map((each) => each.poolName ?? '');
      const looked = new Set([...before, ...order.slice(0, at).map((each) => each.name)]);
      return outcome({ timedOut: true, unseen: new Set(left.filter((name) => !seen.has(name))), seen: looked });
    }
    if (allowance.of(member.poolName) < 1) {
      constrained = true;
      continue;
    }
    if (round.balanced.isHopeless(member)) continue;
    const answer = yield* round.singleInSlices(member);
    yield undefined;
    if (answer.kind === 'none') {
      refused.push({ member, answer });
      continue;
    }
    const scores = round.scores([member], answer.savings);
    if (scores.some((score) => !score.approved)) {
      rejected.push({ members: [member], scores });
      continue;
    }
    return outcome({ command: consolidationCommand('single', [member], answer), scores });
  }
  return outcome({});
}

/** The first of each pool, then the second of each, and so on; the named pools before the others. */
function takingTurns(members: readonly Member[], first: ReadonlySet<string> = new Set()): Member[] {
  const byPool = new Map<string, Member[]>();
  for (const member of members) {
    const list = byPool.get(member.poolName ?? '');
    if (list === undefined) byPool.set(member.poolName ?? '', [member]);
    else list.push(member);
  }
  const pools = [...byPool.keys()].sort(
    (left, right) => Number(first.has(right)) - Number(first.has(left)) || (left < right ? -1 : 1),
  );
  const result: Member[] = [];
  for (let turn = 0; result.length < members.length; turn++) {
    for (const pool of pools) {
      const member = byPool.get(pool)?.[turn];
      if (member !== undefined) result.push(member);
    }
  }
  return result;
}
