// A command: which nodes go, what comes first, and what that saves. Plain data; controllers carry it out, the command line
// prints it. Its texts are what users read in events and logs.

import type { Repair } from '../nodes/repairs.ts';
import type { ExistingPlacement, PlannedNode } from '../plan.ts';
import { isReschedulable } from '../pods/pod-classes.ts';
import type { Member } from './fleet.ts';

export type DisruptionReason = 'Unhealthy' | 'Empty' | 'Drifted' | 'Underutilized';
export type ConsolidationType = 'empty' | 'multi' | 'single' | '';
export type Decision = 'delete' | 'replace' | 'reboot' | 'terminate-first' | 'no-op';

/** Why nothing can come before the node goes. */
export type TerminateFirstReason = 'no-reserved-capacity' | 'static-at-limit';

/** A node that must be there before the others go: planned for pods, or just one more of a static pool. */
export type Replacement =
  | { readonly kind: 'planned'; readonly node: PlannedNode }
  | { readonly kind: 'template'; readonly nodePool: string };

export interface Command {
  readonly reason: DisruptionReason;
  readonly consolidationType: ConsolidationType;
  readonly members: readonly Member[];
  readonly replacements: readonly Replacement[];
  /** USD per hour, as far as prices are known. */
  readonly savings: number;
  /** Existing nodes that pods are expected on. */
  readonly placements: readonly ExistingPlacement[];
  /** Of a broken node: what is done about it. */
  readonly repair?: Repair;
  /** The node goes without a replacement, whose place it holds; the provisioner brings one afterwards. */
  readonly terminateFirst?: TerminateFirstReason;
}

/** What the texts of a command are about. */
type CommandParts = Pick<Command, 'members' | 'replacements' | 'repair' | 'terminateFirst'>;

export function decisionOf({ members, replacements, repair, terminateFirst }: CommandParts): Decision {
  if (members.length === 0) return 'no-op';
  if (repair?.action === 'RebootNode') return 'reboot';
  if (terminateFirst !== undefined) return 'terminate-first';
  return replacements.length > 0 ? 'replace' : 'delete';
}

/** How many pods need another place. */
export function podCount({ members }: Pick<Command, 'members'>): number {
  return members.reduce((count, { pods }) => count + pods.filter(isReschedulable).length, 0);
}

/** `replace: [a, b] -> [1 replacement]` */
export function commandText(command: CommandParts): string {
  const names = command.members.map((member) => member.name).join(', ');
  return `${decisionOf(command)}: [${names}]${replacementText(command.replacements.length)}`;
}

/** The same for one node of several that go together. */
export function partText(command: CommandParts, member: Member): string {
  const { members } = command;
  if (members.length === 1) return commandText(command);
  return `${decisionOf(command)}: [${member.name}] (part of ${members.length}-node consolidation)`;
}

/** Once started, with its id. */
export function startedText(command: Command, id: string): string {
  const pools = [...new Set(command.members.map((member) => member.poolName ?? ''))].sort().join(',');
  const names = command.members.map((member) => member.name).join(', ');
  const what = `${decisionOf(command)}: nodepools=[${pools}]: [${names}]`;
  return `${command.reason}/${id}: ${what}${replacementText(command.replacements.length)} ${savingsText(command.savings)}`;
}

export function savingsText(savings: number): string {
  return `(savings: $${savings.toFixed(2)})`;
}

function replacementText(count: number): string {
  if (count === 0) return '';
  return ` -> [${count} ${count === 1 ? 'replacement' : 'replacements'}]`;
}
