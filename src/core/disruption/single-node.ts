// Single-node consolidation: the first node, in order, that can go or be replaced by something cheaper. Pools take turns,
// so that one large pool does not keep the others waiting; pools an interrupted scan did not reach come first.

import type { Sliced } from '../../base/index.ts';
import type { Move } from './balanced.ts';
import { bySavingsRatio } from './candidates.ts';
import { consolidationCommand } from './consolidation-command.ts';
import type { Member } from './fleet.ts';
import { type Asked, type MethodOutcome, outcomeOf, type Refusal } from './method.ts';
import type { Round } from './round.ts';

export function* singleNodeCommand(round: Round, asked: Asked = {}): Sliced<MethodOutcome> {
  const before = asked.seen ?? new Set();
  const byRatio = bySavingsRatio(round.eligible.Underutilized);
  const fresh = byRatio.filter((member) => !before.has(member.name));
  const order = takingTurns([...fresh, ...byRatio.filter((member) => before.has(member.name))], asked.unseen);
  const allowance = round.allowance('Underutilized');
  const refused: Refusal[] = [];
  const rejected: Move[] = [];
  let constrained = false;
  const outcome = (parts: Partial<MethodOutcome>): MethodOutcome =>
    outcomeOf({ constrained, refused, rejected, ...parts });
  for (const [at, member] of order.entries()) {
    if (asked.isTimeUp?.()) {
      const seen = new Set(order.slice(0, at).map((each) => each.poolName ?? ''));
      const left = order.slice(at).map((each) => each.poolName ?? '');
      const looked = new Set([...before, ...order.slice(0, at).map((each) => each.name)]);
      const unseen = new Set(left.filter((name) => !seen.has(name)));
      return outcome({ timedOut: true, memory: { unseen, seen: looked } });
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
    // A scan that ends early with a command says nothing about the pools behind it.
    const { unseen, seen } = asked;
    const memory = { ...(unseen && { unseen }), ...(seen && { seen }) };
    return outcome({ command: consolidationCommand('single', [member], answer), scores, memory });
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
