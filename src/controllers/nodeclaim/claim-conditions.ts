// Changing a NodeClaim's conditions without losing sight of the claim: each function returns the claim with its new list.
import {
  type Condition,
  type ConditionChange,
  type ConditionContext,
  clearCondition,
  conditionType,
  initConditions,
  type NodeClaim,
  nodeClaimConditions,
  setCondition,
} from '../../api/index.ts';
import { conditionOf, formatTime } from '../../base/index.ts';

/** Of Registered, while no node is there; what the provider says about it follows after a colon. */
export const nodeNotFoundMessage = 'Node not registered with cluster';

/** What the provider found out about a node that did not join; empty when it found nothing. */
export function whyNotRegistered(claim: NodeClaim): string {
  const { message = '' } = claimCondition(claim, conditionType.registered) ?? {};
  return message.startsWith(`${nodeNotFoundMessage}: `) ? message.slice(nodeNotFoundMessage.length + 2) : '';
}

function contextOf(claim: NodeClaim, nowMs: number): ConditionContext {
  return {
    generation: claim.metadata.generation ?? 1,
    creationTimestamp: claim.metadata.creationTimestamp ?? '',
    deleting: claim.metadata.deletionTimestamp !== undefined,
    nowMs,
  };
}

function withConditions(claim: NodeClaim, conditions: readonly Condition[]): NodeClaim {
  if (conditions === claim.status?.conditions) return claim;
  return { ...claim, status: { ...claim.status, conditions: [...conditions] } };
}

export function claimCondition(claim: NodeClaim, type: string): Condition | undefined {
  return conditionOf(claim.status?.conditions, type);
}

export function withInitialConditions(claim: NodeClaim, nowMs: number): NodeClaim {
  return withConditions(claim, initConditions(nodeClaimConditions, claim.status?.conditions, contextOf(claim, nowMs)));
}

export function withCondition(claim: NodeClaim, change: ConditionChange, nowMs: number): NodeClaim {
  return withConditions(
    claim,
    setCondition(nodeClaimConditions, claim.status?.conditions, change, contextOf(claim, nowMs)),
  );
}

export function withoutCondition(claim: NodeClaim, type: string, nowMs: number): NodeClaim {
  return withConditions(
    claim,
    clearCondition(nodeClaimConditions, claim.status?.conditions, type, contextOf(claim, nowMs)),
  );
}

/** Says that a condition that is settled still holds for the present generation. */
export function restamped(claim: NodeClaim, type: string, nowMs: number): NodeClaim {
  const condition = claimCondition(claim, type);
  if (condition === undefined || condition.status === 'Unknown') return claim;
  const { status, reason, message } = condition;
  return withCondition(
    claim,
    { type, status, ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) },
    nowMs,
  );
}

/** With a condition that says something about the claim without being part of its readiness; every word of it is new. */
export function withRemark(claim: NodeClaim, change: ConditionChange, nowMs: number): NodeClaim {
  const remark: Condition = {
    reason: change.type,
    message: '',
    ...change,
    lastTransitionTime: formatTime(nowMs),
    observedGeneration: claim.metadata.generation ?? 1,
  };
  const others = (claim.status?.conditions ?? []).filter(({ type }) => type !== change.type);
  // People who read the list expect its summary at the end.
  const end = others.at(-1)?.type === conditionType.ready ? -1 : others.length;
  return withConditions(claim, others.toSpliced(end, 0, remark));
}
