// Which candidates a method may act on. What a user can change about it is told as an Unconsolidatable event; what will
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
    | 'OnlyWhenEmpty'
    | 'NotDrifted';
  readonly message: string;
  readonly silent?: boolean;
}

export function emptinessProblem(member: Member, hasBufferPods: (member: Member) => boolean): Ineligible | undefined {
  if (member.isStatic) return staticPool(member);
  if (isDisabled(member)) return disabled(member);
  if (hasBufferPods(member)) return { code: 'BufferPods', message: `Node "${member.name}" has buffer pods` };
  if (!isEmptyNode(member)) return { code: 'NotEmpty', message: 'node has pods that would have to move', silent: true };
  return isConsolidatable(member) ? undefined : notQuiet;
}

export function consolidationProblem(member: Member): Ineligible | undefined {
  const { poolName, instanceType } = member;
  if (member.isStatic) return staticPool(member);
  if (!member.isTypeKnown) {
    return { code: 'UnknownInstanceType', message: `Instance Type "${instanceType ?? ''}" not found` };
  }
  for (const [key, value] of [
    [label.capacityType, member.capacityType],
    [label.zone, member.zone],
  ] as const) {
    if (value === undefined) return { code: 'MissingLabel', message: `Node does not have label "${key}"` };
  }
  if (isDisabled(member)) return disabled(member);
  if (isEmptyNode(member)) return { code: 'Empty', message: 'node is empty', silent: true };
  if (member.pool?.spec?.disruption?.consolidationPolicy === 'WhenEmpty') {
    const message = `NodePool "${poolName}" has consolidation policy WhenEmpty, but node is not empty`;
    return { code: 'OnlyWhenEmpty', message };
  }
  return isConsolidatable(member) ? undefined : notQuiet;
}

export function driftProblem({ machine, isStatic }: Member): Ineligible | undefined {
  if (isStatic) return { code: 'StaticPool', message: 'static pools replace drifted nodes one for one', silent: true };
  if (conditionIsTrue(machine.claim?.status?.conditions, 'Drifted')) return undefined;
  return { code: 'NotDrifted', message: 'node is as its NodePool wants it', silent: true };
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
