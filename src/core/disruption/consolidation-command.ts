// From a decision about nodes to the command that carries it out.

import type { Command, ConsolidationType } from './command.ts';
import type { Consolidation } from './consolidation.ts';
import type { Member } from './fleet.ts';

export function consolidationCommand(
  consolidationType: ConsolidationType,
  members: readonly Member[],
  answer: Exclude<Consolidation, { kind: 'none' }>,
): Command {
  return {
    reason: 'Underutilized',
    consolidationType,
    members,
    replacements: answer.kind === 'replace' ? answer.replacements.map((node) => ({ kind: 'planned', node })) : [],
    savings: answer.savings,
    placements: answer.placements,
  };
}
