// Emptiness: nodes that nothing would be missed on go at once, all of them that budgets allow, without replacement.

import { bySavingsRatio } from './candidates.ts';
import type { Command } from './command.ts';
import type { Member } from './fleet.ts';
import { type MethodOutcome, outcomeOf } from './method.ts';
import type { Round } from './round.ts';

export function emptinessCommand(round: Round): MethodOutcome {
  const eligible = bySavingsRatio(round.eligible.Empty);
  const allowance = round.allowance('Empty');
  const members = eligible.filter((member) => allowance.take(member.poolName));
  return outcomeOf({
    command: members.length === 0 ? undefined : emptyCommand(members),
    constrained: members.length < eligible.length,
  });
}

export function emptyCommand(members: readonly Member[]): Command {
  return {
    reason: 'Empty',
    consolidationType: 'empty',
    members,
    replacements: [],
    savings: members.reduce((sum, member) => sum + member.price, 0),
    placements: [],
  };
}
