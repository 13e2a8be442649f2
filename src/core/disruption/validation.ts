// Whether a command still holds a moment later, on a fresh look at the cluster. Consolidation must come to the same
// conclusion again; of empty nodes those that are still empty go. Working that out takes time in large clusters, so the
// nodes are looked at once more before anything happens to them.

import type { Sliced } from '../../base/index.ts';
import type { PlannedNode } from '../plan.ts';
import type { Command } from './command.ts';
import { consolidationCommand } from './consolidation-command.ts';
import { emptyCommand } from './emptiness.ts';
import type { Member } from './fleet.ts';
import type { Round } from './round.ts';

export type Rejection = 'budget' | 'scheduling' | 'churn';

export type Validation = (
  | { readonly kind: 'valid'; readonly command: Command }
  | { readonly kind: 'rejected'; readonly reason: Rejection }
) & {
  /** Of empty nodes: how many could still go, were it not for budgets. */
  readonly heldBack?: number;
};

/** The nodes of the command as the new round sees them; those that are gone left out. */
function seenAgain(round: Round, command: Command): Member[] {
  const byName = new Map(round.fleet.members.map((member) => [claimName(member), member]));
  return command.members.flatMap((member) => byName.get(claimName(member)) ?? []);
}

/** The nodes of a consolidation, if all of them may still go. */
export function stillCandidates(round: Round, command: Command): Member[] | Rejection {
  const members = seenAgain(round, command);
  const eligible = new Set(round.eligible.Underutilized);
  const isStill = (member: Member): boolean => eligible.has(member);
  if (members.length < command.members.length || !members.every(isStill)) return 'churn';
  const allowance = round.allowance('Underutilized');
  return members.every((member) => allowance.take(member.poolName)) ? members : 'budget';
}

export function* validateConsolidation(round: Round, command: Command): Sliced<Validation> {
  const members = stillCandidates(round, command);
  if (typeof members === 'string') return { kind: 'rejected', reason: members };
  const simulation = yield* round.whatIf.simulateInSlices(members, { sparesRestless: true });
  const rejected: Validation = { kind: 'rejected', reason: 'scheduling' };
  const { replacements } = command;
  const isOne = replacements.length === 1;
  if (simulation.failed.length > 0 || (simulation.newNodes.length === 0) !== (replacements.length === 0))
    return rejected;
  if (replacements.length === 0) {
    return { kind: 'valid', command: { ...command, members, placements: simulation.placements() } };
  }
  if (isOne && simulation.newNodes.length > 1) return rejected;
  // The pods of now may ask for more than those of then, so it is the replacements for them that are launched.
  const answer = yield* round.consolidator.judgeInSlices(members, simulation, isOne ? 'one' : 'several');
  if (answer.kind !== 'replace' || answer.replacements.length !== replacements.length) return rejected;
  const possible = isOne ? simulation.finish().nodes : answer.replacements;
  const holds = replacements.every((each, at) => each.kind === 'planned' && isAmong(each.node, possible[at]));
  if (!holds) return rejected;
  return { kind: 'valid', command: consolidationCommand(command.consolidationType, members, answer) };
}

/** All that one may become, the other may. */
function isAmong({ instanceTypes }: PlannedNode, other: PlannedNode | undefined): boolean {
  const names = new Set(other?.instanceTypes);
  return instanceTypes.every((name) => names.has(name));
}

export function validateEmptiness(round: Round, command: Command): Validation {
  const allowance = round.allowance('Empty');
  const eligible = new Set(round.eligible.Empty);
  const empty = seenAgain(round, command).filter((member) => eligible.has(member));
  const members = empty.filter((member) => allowance.take(member.poolName));
  if (empty.length === 0) return { kind: 'rejected', reason: 'churn' };
  const heldBack = empty.length - members.length;
  if (members.length === 0) return { kind: 'rejected', reason: 'budget', heldBack };
  return { kind: 'valid', command: emptyCommand(members), heldBack };
}

function claimName({ machine }: Member): string {
  return machine.claim?.metadata.name ?? '';
}
