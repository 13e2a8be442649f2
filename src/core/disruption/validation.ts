// Whether a command still holds a moment later, on a fresh look at the cluster. Consolidation must come to the same
// conclusion again; of empty nodes those that are still empty go.

import { isCandidate } from './candidates.ts';
import type { Command } from './command.ts';
import { consolidationCommand } from './consolidation-command.ts';
import { consolidationProblem } from './eligibility.ts';
import { emptyCommand, isEmptinessCandidate } from './emptiness.ts';
import type { Member } from './fleet.ts';
import type { Round } from './round.ts';

export type Rejection = 'budget' | 'scheduling' | 'churn';

export type Validation =
  | { readonly kind: 'valid'; readonly command: Command }
  | { readonly kind: 'rejected'; readonly reason: Rejection };

/** The nodes of the command as the new round sees them; those that are gone left out. */
function seenAgain(round: Round, command: Command): Member[] {
  const byName = new Map(round.fleet.members.map((member) => [claimName(member), member]));
  return command.members.flatMap((member) => byName.get(claimName(member)) ?? []);
}

export function validateConsolidation(round: Round, command: Command): Validation {
  const members = seenAgain(round, command);
  const isStill = (member: Member): boolean =>
    isCandidate(round.fleet, member, 'graceful') && consolidationProblem(member) === undefined;
  if (members.length < command.members.length || !members.every(isStill)) return { kind: 'rejected', reason: 'churn' };
  const allowance = round.allowance('Underutilized');
  if (!members.every((member) => allowance.take(member.poolName))) return { kind: 'rejected', reason: 'budget' };
  const simulation = round.whatIf.simulate(members, { sparesRestless: true });
  const isSame = simulation.failed.length === 0 && simulation.claims.length === command.replacements.length;
  if (!isSame) return { kind: 'rejected', reason: 'scheduling' };
  const { destinations } = simulation;
  if (command.replacements.length === 0) return { kind: 'valid', command: { ...command, members, destinations } };
  const possible = new Set(simulation.finish().nodes[0]?.instanceTypes);
  const wanted = command.replacements.flatMap((each) => (each.kind === 'planned' ? each.node.instanceTypes : []));
  if (!wanted.every((name) => possible.has(name))) return { kind: 'rejected', reason: 'scheduling' };
  // The pods of now may ask for more than those of then, so it is the replacement for them that is launched.
  const answer = round.consolidator.judge(members, simulation);
  if (answer.kind !== 'replace') return { kind: 'rejected', reason: 'scheduling' };
  return { kind: 'valid', command: consolidationCommand(command.consolidationType, members, answer) };
}

export function validateEmptiness(round: Round, command: Command): Validation {
  const allowance = round.allowance('Empty');
  const empty = seenAgain(round, command).filter(
    (member) => isCandidate(round.fleet, member, 'graceful') && isEmptinessCandidate(round, member),
  );
  const members = empty.filter((member) => allowance.take(member.poolName));
  if (members.length > 0) return { kind: 'valid', command: emptyCommand(members) };
  return { kind: 'rejected', reason: empty.length > 0 ? 'budget' : 'churn' };
}

function claimName({ machine }: Member): string {
  return machine.claim?.metadata.name ?? '';
}
