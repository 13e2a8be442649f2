// Repair: broken nodes are replaced one command at a time, the most urgent first, and the replacement comes before the
// node goes. Where many nodes of a pool are broken at once the cause is hardly the single node, and none is touched.

import type { Sliced } from '../../base/index.ts';
import type { Repair } from '../nodes/repairs.ts';
import type { Command } from './command.ts';
import { driftMove, exchangeRoom, hasSurplus, partsOf } from './drift.ts';
import type { Member } from './fleet.ts';
import { type MethodOutcome, outcomeOf, type Refusal } from './method.ts';
import type { Round } from './round.ts';
import { stuckOf } from './terminate-first.ts';

/** Of every pool's nodes so many may be broken at once, rounded up. */
const mostUnhealthyShare = 0.2;
/** In a pool this small two nodes are more than that, so it would never be repaired: after a while it is, one by one. */
const smallPool = 4;
/** In units of urgency, which grows by one every half hour: two hours after the first of them was due. */
const smallPoolPatience = 4;

export function* repairCommand(round: Round): Sliced<MethodOutcome> {
  const allowance = round.allowance('Unhealthy');
  const refused: Refusal[] = [...round.unrepaired];
  let constrained = false;
  for (const member of byUrgency(round.eligible.Unhealthy)) {
    const { machine, repair } = member;
    if (repair === undefined) continue;
    const outbreak = outbreakOf(round, member);
    if (outbreak !== undefined) {
      refused.push({ member, answer: outbreak });
      continue;
    }
    // Nodes that never came up are outside budgets: nothing runs there.
    if (machine.initialized && allowance.of(member.poolName) < 1) {
      constrained = true;
      continue;
    }
    const found = yield* remedy(round, member, repair);
    yield undefined;
    if ('code' in found) refused.push({ member, answer: found });
    else return outcomeOf({ command: found, refused, constrained });
  }
  return outcomeOf({ refused, constrained });
}

type Problem = Refusal['answer'];

/** What would be done about the node, or why nothing can be. */
export function* remedy(round: Round, member: Member, repair: Repair): Sliced<Command | Problem> {
  const command = (parts: Partial<Command>): Command => ({
    reason: 'Unhealthy',
    consolidationType: '',
    members: [member],
    replacements: [],
    savings: 0,
    placements: [],
    repair,
    ...parts,
  });
  if (repair.action === 'RebootNode') return command({});
  if (member.isStatic && member.pool !== undefined) {
    if (hasSurplus(round, member.pool)) return surplus;
    const room = exchangeRoom(round, member.pool);
    const stuck = stuckOf(round.fleet, member, member.pool, 'TerminateFirstRepair', room);
    if (stuck?.kind === 'blocked') return stuck.answer;
    if (stuck?.kind === 'terminate') return command({ terminateFirst: stuck.reason });
    return command({ replacements: [{ kind: 'template', nodePool: member.pool.metadata.name }] });
  }
  const move = yield* driftMove(round, member, 'TerminateFirstRepair');
  if (move.kind === 'blocked') return move.answer;
  return command(partsOf(move));
}

/** It is scaled down first, without a report. */
const surplus: Problem = {
  code: 'Surplus',
  message: 'static NodePool has more nodes than spec.replicas',
  silent: true,
};

/** So many nodes of its pool are broken, for however long, that replacing them one by one is not an answer. */
export function outbreakOf(round: Round, { poolName }: Member): Problem | undefined {
  const { policies } = round.fleet.movable.repairs ?? {};
  const own = round.fleet.members.filter((each) => each.poolName === poolName && each.machine.node !== undefined);
  const broken = own.filter(({ machine }) => machine.node !== undefined && policies?.isUnhealthy(machine.node));
  if (broken.length <= Math.ceil(own.length * mostUnhealthyShare)) return undefined;
  if (own.length <= smallPool && isOneByOne(own)) return undefined;
  const message = `more than 20% of nodes in nodepool "${poolName}" are unhealthy`;
  return { code: 'TooManyUnhealthy', message };
}

/** Time has shown that nothing but a replacement helps, and none is on its way. */
function isOneByOne(pool: readonly Member[]): boolean {
  if (pool.some(({ machine, isQueued }) => machine.leaving || isQueued)) return false;
  return pool.some(({ repair }) => (repair?.urgency ?? 0) >= smallPoolPatience);
}

/** The most urgent first; then what costs least to move. */
function byUrgency(members: readonly Member[]): Member[] {
  const urgency = ({ repair }: Member): number => repair?.urgency ?? 0;
  return [...members].sort(
    (left, right) =>
      urgency(right) - urgency(left) || left.rescheduleCost - right.rescheduleCost || (left.name < right.name ? -1 : 1),
  );
}
