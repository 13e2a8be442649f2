// What a pod or volume asks of a node's labels, with the host name kept apart: every node has its own, so leaving it in
// the requirement set would make all sets different and nothing could be shared.

import { label } from '../../api/names.ts';
import {
  acceptsAbsence,
  allows,
  describeRequirement,
  identityOf,
  operatorOf,
  type Requirement,
} from './requirement.ts';
import type { RequirementSet, RequirementTable, UndefinedKeys } from './requirement-set.ts';

export interface NodeWish {
  /** Without the host name. */
  readonly set: RequirementSet;
  readonly hostname: Requirement | undefined;
  /** It asks for a label and for its absence, or for two values at once: no node can be that. */
  readonly contradictory: boolean;
  /** Labels the node must have although the set alone would accept their absence: Exists beside NotIn. */
  readonly present: readonly string[];
  /** Equal exactly for equal wishes. */
  readonly identity: string;
}

/** A name no requirement mentions: what a node that does not exist yet is called. */
export const placeholderHostname = 'hostname-placeholder';

export function nodeWish(table: RequirementTable, requirements: readonly Requirement[]): NodeWish {
  const whole = table.setOf(requirements);
  const present = new Set<string>();
  let contradictory = false;
  for (const requirement of requirements) {
    if (acceptsAbsence(requirement)) continue;
    const merged = whole.byKey.get(requirement.key) as Requirement;
    if (operatorOf(merged) === 'DoesNotExist') contradictory = true;
    else if (acceptsAbsence(merged)) present.add(requirement.key);
  }
  return wishOf(table, whole, contradictory, [...present]);
}

export function wishOf(
  table: RequirementTable,
  whole: RequirementSet,
  contradictory = false,
  present: readonly string[] = [],
): NodeWish {
  const hostname = whole.byKey.get(label.hostname);
  const set = hostname === undefined ? whole : table.without(whole, [label.hostname]);
  const marks = `${contradictory ? '!' : ''}${present.map((key) => `+${key}`).join('')}`;
  const identity = `${set.id}${marks}${hostname === undefined ? '' : `@${identityOf(hostname)}`}`;
  return { set, hostname, contradictory, present, identity };
}

/** Whether a node with these labels and this name can be what is asked for. */
export function grants(
  table: RequirementTable,
  labels: RequirementSet,
  hostname: string,
  wish: NodeWish,
  undefinedKeys: UndefinedKeys,
): boolean {
  return (
    !wish.contradictory &&
    table.compatible(labels, wish.set, undefinedKeys) &&
    (wish.present.length === 0 || missingLabel(table, labels, wish, undefinedKeys) === undefined) &&
    (wish.hostname === undefined || allows(wish.hostname, hostname))
  );
}

/** Why not, in words; undefined if it can. */
export function refusal(
  table: RequirementTable,
  labels: RequirementSet,
  hostname: string,
  wish: NodeWish,
  undefinedKeys: UndefinedKeys,
): string | undefined {
  if (wish.hostname !== undefined && !allows(wish.hostname, hostname)) {
    return `key ${label.hostname}, ${describeRequirement(wish.hostname)} not in ${label.hostname} In [${hostname}]`;
  }
  const conflict = table.incompatibility(labels, wish.set, undefinedKeys);
  if (conflict !== undefined) return conflict;
  const missing = missingLabel(table, labels, wish, undefinedKeys);
  return missing === undefined ? undefined : `label "${missing}" does not have known values`;
}

function missingLabel(
  table: RequirementTable,
  labels: RequirementSet,
  wish: NodeWish,
  undefinedKeys: UndefinedKeys,
): string | undefined {
  return wish.present.find((key) => !table.defines(labels, key, undefinedKeys));
}
