// Which nodes may be disrupted at all, before any reason to: each rule that says no is a blocker with the words users know.
// The first blocker is what events tell; explanations show them all.

import { annotation, label } from '../../api/names.ts';
import { conditionIsTrue, type Node, type NodeClaim } from '../kube/objects.ts';
import { isRebooting } from '../nodes/repairs.ts';
import { isReschedulable } from '../pods/pod-classes.ts';
import type { Fleet, Member } from './fleet.ts';

/**
 * Graceful methods wait for pods; eventual ones go on if the claim says by when pods are deleted. Repair is about broken
 * nodes: what protects a node that works does not protect it, nor that it never came up.
 */
export type DisruptionClass = 'graceful' | 'eventual' | 'repair';

export interface Blocker {
  readonly code:
    | 'AlreadyDisrupting'
    | 'NotManaged'
    | 'NoNode'
    | 'NotRegistered'
    | 'NotInitialized'
    | 'Rebooting'
    | 'DoNotRepair'
    | 'RepairNeedsGracePeriod'
    | 'Leaving'
    | 'Nominated'
    | 'NodeDoNotDisrupt'
    | 'NoPoolLabel'
    | 'NoPool'
    | 'PodDoNotDisrupt'
    | 'PodBudgets'
    | 'PodBudgetExhausted';
  readonly message: string;
  /** The pod concerned, as `namespace/name`. */
  readonly pod?: string;
  /** Not reported: it is not ours, or known already. */
  readonly silent?: boolean;
}

/** Why the machine is not a candidate, in the order in which things must change; empty for candidates. */
export function* blockersOf(fleet: Fleet, member: Member, kind: DisruptionClass): Generator<Blocker> {
  const { machine, poolName } = member;
  if (member.isQueued) {
    yield { code: 'AlreadyDisrupting', message: 'candidate is already being disrupted', silent: true };
    return;
  }
  if (kind === 'repair' && machine.claim !== undefined && poolName === undefined) {
    const message = 'repair requires a NodePool to construct and budget a safe replacement';
    yield { code: 'NoPoolLabel', message };
    return;
  }
  if (machine.claim === undefined) {
    yield { code: 'NotManaged', message: "node isn't managed by karpenter", silent: true };
    return;
  }
  if (machine.node === undefined) {
    yield { code: 'NoNode', message: 'nodeclaim does not have an associated node' };
    return;
  }
  if (isRebooting(machine.claim)) yield { code: 'Rebooting', message: 'node is rebooting' };
  if (machine.leaving) yield { code: 'Leaving', message: 'node is deleting or marked for deletion' };
  if (!machine.initialized) {
    const isRegistered = machine.node.metadata.labels?.[label.registered] === 'true';
    if (!isRegistered) yield { code: 'NotRegistered', message: "node isn't initialized nor registered" };
    else if (kind !== 'repair') yield { code: 'NotInitialized', message: "node isn't initialized" };
  }
  // Pods that wait for a node that never comes up nominate it again and again.
  if (member.isNominated && (kind !== 'repair' || machine.initialized)) {
    yield { code: 'Nominated', message: 'node is nominated for a pending pod' };
  }
  if (kind !== 'repair' && isAnnotated(machine.node, annotation.doNotDisrupt)) {
    const message = 'disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation';
    yield { code: 'NodeDoNotDisrupt', message };
  }
  if (poolName === undefined) {
    yield { code: 'NoPoolLabel', message: "node doesn't have required label (label=karpenter.sh/nodepool)" };
  } else if (!fleet.hasTypes(poolName)) {
    yield { code: 'NoPool', message: `NodePool not found (NodePool=${poolName})` };
  }
  if (kind === 'repair') {
    yield* repairBlockers(fleet, member, machine.node, machine.claim);
    return;
  }
  if (kind === 'eventual' && hasGracePeriod(machine.claim)) return;
  yield* fleet.podBlockers.of(member.pods);
}

function* repairBlockers(fleet: Fleet, member: Member, node: Node, claim: NodeClaim): Generator<Blocker> {
  if (isAnnotated(node, annotation.doNotRepair) || isAnnotated(claim, annotation.doNotRepair)) {
    yield { code: 'DoNotRepair', message: 'repair is blocked through the "karpenter.sh/do-not-repair" annotation' };
  }
  if (member.repair?.graceMs !== undefined || hasGracePeriod(claim)) return;
  for (const { pod } of fleet.podBlockers.of(member.pods)) {
    const message = 'repair requires a termination grace period to bypass blocking pods';
    yield { code: 'RepairNeedsGracePeriod', message, pod };
  }
}

function isAnnotated({ metadata }: Node | NodeClaim, name: string): boolean {
  return metadata.annotations?.[name] === 'true';
}

export function firstBlocker(fleet: Fleet, member: Member, kind: DisruptionClass): Blocker | undefined {
  for (const blocker of blockersOf(fleet, member, kind)) return blocker;
  return undefined;
}

export function isCandidate(fleet: Fleet, member: Member, kind: DisruptionClass): boolean {
  return firstBlocker(fleet, member, kind) === undefined;
}

/** Nothing on it would be missed: no reschedulable pods, or only such as would rather go. */
export function isEmptyNode(member: Member): boolean {
  return member.rescheduleCost <= 1;
}

export function isConsolidatable({ machine }: Member): boolean {
  return conditionIsTrue(machine.claim?.status?.conditions, 'Consolidatable');
}

export function hasReschedulablePods(member: Member): boolean {
  return member.pods.some(isReschedulable);
}

/** The most saved per unit of trouble first; equal ones by name, so that the order is always the same. */
export function bySavingsRatio(members: readonly Member[]): Member[] {
  return [...members].sort(
    (left, right) =>
      right.price / right.rescheduleCost - left.price / left.rescheduleCost || (left.name < right.name ? -1 : 1),
  );
}

function hasGracePeriod(claim: NodeClaim): boolean {
  return claim.spec?.terminationGracePeriod !== undefined;
}
