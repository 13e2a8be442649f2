// Emptiness: nodes that nothing would be missed on go at once, all of them that budgets allow, without replacement.

import { bySavingsRatio } from './candidates.ts';
import type { Command } from './command.ts';
import type { Member } from './fleet.ts';
import type { Round } from './round.ts';

export interface MethodOutcome {
  readonly command: Command | undefined;
  /** Some eligible node had to wait for its pool's budget. */
  readonly constrained: boolean;
}

export function emptinessCommand(round: Round): MethodOutcome {
  const eligible = bySavingsRatio(round.eligible.Empty);
  const allowance = round.allowance('Empty');
  const members = eligible.filter((member) => allowance.take(member.poolName));
  return {
    command: members.length === 0 ? undefined : emptyCommand(members),
    constrained: members.length < eligible.length,
  };
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
