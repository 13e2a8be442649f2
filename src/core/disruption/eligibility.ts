// Which candidates a method may act on. What a user can change about it is reported as an Unconsolidatable event; what will
// change by itself (the quiet time is not over) or is another method's business is not.

import { label } from '../../api/names.ts';
import { conditionIsTrue } from '../kube/objects.ts';
import { isConsolidatable, isEmptyNode } from './candidates.ts';
import { type Member, quietTimeMs } from './fleet.ts';

export interface Ineligible {
  readonly code:
    | 'StaticPool'
    | 'ConsolidationDisabled'
    | 'BufferPods'
    | 'NotEmpty'
    | 'Empty'
    | 'NotQuiet'
    | 'UnknownInstanceType'
    | 'MissingLabel'
    | 'OnlyWhenEmpty';
  readonly message: string;
  readonly silent?: boolean;
}

/** Everything that keeps an empty node, in the order in which it must change. */
export function* emptinessProblems(member: Member, hasBufferPods: (member: Member) => boolean): Generator<Ineligible> {
  if (member.isStatic) {
    yield staticPool(member);
    return;
  }
  if (isDisabled(member)) yield disabled(member);
  if (hasBufferPods(member)) yield { code: 'BufferPods', message: `Node "${member.name}" has buffer pods` };
  if (!isEmptyNode(member)) yield { code: 'NotEmpty', message: 'node has pods that would have to move', silent: true };
  if (!isConsolidatable(member) && !isDisabled(member)) yield notQuiet;
}

export function emptinessProblem(member: Member, hasBufferPods: (member: Member) => boolean): Ineligible | undefined {
  return firstOf(emptinessProblems(member, hasBufferPods));
}

/** Everything that keeps a node with pods from being consolidated, in the order in which it must change. */
export function* consolidationProblems(member: Member): Generator<Ineligible> {
  const { poolName, instanceType } = member;
  if (member.isStatic) {
    yield staticPool(member);
    return;
  }
  if (!member.isTypeKnown) {
    yield { code: 'UnknownInstanceType', message: `Instance Type "${instanceType ?? ''}" not found` };
  }
  for (const [key, value] of [
    [label.capacityType, member.capacityType],
    [label.zone, member.zone],
  ] as const) {
    if (value === undefined) yield { code: 'MissingLabel', message: `Node does not have label "${key}"` };
  }
  if (isDisabled(member)) yield disabled(member);
  if (isEmptyNode(member)) yield { code: 'Empty', message: 'node is empty', silent: true };
  if (member.pool?.spec?.disruption?.consolidationPolicy === 'WhenEmpty') {
    const message = `NodePool "${poolName}" has consolidation policy WhenEmpty, but node is not empty`;
    yield { code: 'OnlyWhenEmpty', message };
  }
  // Without a quiet time there is nothing to wait for.
  if (!isConsolidatable(member) && !isDisabled(member)) yield notQuiet;
}

export function consolidationProblem(member: Member): Ineligible | undefined {
  return firstOf(consolidationProblems(member));
}

function firstOf(problems: Iterable<Ineligible>): Ineligible | undefined {
  for (const problem of problems) return problem;
  return undefined;
}

export function hasDrifted({ machine }: Pick<Member, 'machine'>): boolean {
  return conditionIsTrue(machine.claim?.status?.conditions, 'Drifted');
}

const notQuiet: Ineligible = {
  code: 'NotQuiet',
  message: 'pods came or went within consolidateAfter',
  silent: true,
};

function staticPool({ poolName }: Member): Ineligible {
  return { code: 'StaticPool', message: `NodePool "${poolName}" keeps a fixed number of nodes`, silent: true };
}

function isDisabled({ pool }: Member): boolean {
  return !Number.isFinite(quietTimeMs(pool) ?? Number.POSITIVE_INFINITY);
}

function disabled({ poolName }: Member): Ineligible {
  return { code: 'ConsolidationDisabled', message: `NodePool "${poolName}" has consolidation disabled` };
}
