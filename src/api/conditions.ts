// How conditions change: pure functions from a list of conditions to the next. Each kind has a root condition, Ready, that
// sums up its dependents; whoever sets a dependent gets the root recomputed with it.
//
// Promises:
// 1. A function that changes nothing returns the very list it was given, so that callers can skip the write.
// 2. `lastTransitionTime` moves only when `status` does.
// 3. A dependent is never missing and never removed; the root is never set by hand.
import { conditionOf, formatTime, parseTime } from '../base/index.ts';
import type { Condition } from './kinds/conditions.ts';
import { conditionReason, conditionType } from './names.ts';

/** The conditions of a kind that make up its readiness. */
export interface ConditionSet {
  dependents: readonly string[];
  /** Conditions that are usually absent; while one is True, the root is False. */
  blockers?: readonly string[];
  /** How the list is stored: oldest transition first with the root last, or by type. */
  order: 'transition' | 'type';
}

export const nodePoolConditions: ConditionSet = {
  dependents: [conditionType.validationSucceeded, conditionType.nodeClassReady],
  order: 'transition',
};

export const nodeClaimConditions: ConditionSet = {
  dependents: [conditionType.launched, conditionType.registered, conditionType.initialized],
  order: 'transition',
};

export const nodeOverlayConditions: ConditionSet = {
  dependents: [conditionType.validationSucceeded],
  order: 'transition',
};

/** Reservations count only while the feature is on. */
export const ec2NodeClassConditions = (reservedCapacity: boolean): ConditionSet => ({
  dependents: [
    conditionType.amisReady,
    conditionType.subnetsReady,
    conditionType.securityGroupsReady,
    conditionType.instanceProfileReady,
    conditionType.validationSucceeded,
    conditionType.placementGroupReady,
    ...(reservedCapacity ? [conditionType.capacityReservationsReady] : []),
  ],
  // No one waits for it: a class that was not checked yet is as ready as it would be without checks.
  blockers: [conditionType.launchesPaused],
  order: 'type',
});

/** What conditions need to know of the object that carries them, and of the moment. */
export interface ConditionContext {
  generation: number;
  creationTimestamp: string;
  /** The object is being deleted: what was observed earlier counts as current. */
  deleting?: boolean;
  nowMs: number;
}

export interface ConditionChange {
  type: string;
  status: Condition['status'];
  /** Defaults to the type for True. */
  reason?: string;
  message?: string;
}

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditionOf(conditions, type)?.status === 'True';

/** Adds the root and the dependents that are missing, as not yet known. */
export function initConditions(
  set: ConditionSet,
  conditions: readonly Condition[] | undefined,
  context: ConditionContext,
): readonly Condition[] {
  const missing = [...set.dependents, conditionType.ready].filter(
    (type) => conditionOf(conditions, type) === undefined,
  );
  if (missing.length === 0 && conditions !== undefined) return conditions;
  const added = missing.map(
    (type): Condition => ({
      type,
      status: 'Unknown',
      reason: conditionReason.awaitingReconciliation,
      message: 'object is awaiting reconciliation',
      lastTransitionTime: context.creationTimestamp,
      observedGeneration: context.generation,
    }),
  );
  return ordered(set, [...(conditions ?? []), ...added]);
}

/** Sets one condition at the present generation and recomputes the root. */
export function setCondition(
  set: ConditionSet,
  conditions: readonly Condition[] | undefined,
  change: ConditionChange,
  context: ConditionContext,
): readonly Condition[] {
  const complete = initConditions(set, conditions, context);
  return withRoot(set, put(set, complete, change, context), context);
}

/** Removes a condition that is not a dependent; of a dependent, or one that is absent, nothing changes. */
export function clearCondition(
  set: ConditionSet,
  conditions: readonly Condition[] | undefined,
  type: string,
  context: ConditionContext,
): readonly Condition[] {
  const complete = initConditions(set, conditions, context);
  const isKept = set.dependents.includes(type) || type === conditionType.ready;
  if (isKept || conditionOf(complete, type) === undefined) return complete;
  return withRoot(
    set,
    complete.filter((condition) => condition.type !== type),
    context,
  );
}

function put(
  set: ConditionSet,
  conditions: readonly Condition[],
  change: ConditionChange,
  context: ConditionContext,
): readonly Condition[] {
  const { type, status } = change;
  const reason = change.reason ?? (status === 'True' ? type : '');
  const message = change.message ?? '';
  const old = conditionOf(conditions, type);
  const isSame =
    old !== undefined &&
    old.status === status &&
    old.reason === reason &&
    (old.message ?? '') === message &&
    old.observedGeneration === context.generation;
  if (isSame) return conditions;
  const lastTransitionTime = old?.status === status ? old.lastTransitionTime : formatTime(context.nowMs);
  const next: Condition = { type, status, reason, message, lastTransitionTime, observedGeneration: context.generation };
  return ordered(set, [...conditions.filter((condition) => condition.type !== type), next]);
}

function withRoot(
  set: ConditionSet,
  conditions: readonly Condition[],
  context: ConditionContext,
): readonly Condition[] {
  const current = context.deleting === true ? observedNow(conditions, context.generation) : conditions;
  return put(set, current, rootOf(set, current, context.generation), context);
}

function observedNow(conditions: readonly Condition[], generation: number): readonly Condition[] {
  if (conditions.every(({ observedGeneration }) => observedGeneration === generation)) return conditions;
  return conditions.map((condition) => ({ ...condition, observedGeneration: generation }));
}

function rootOf(set: ConditionSet, conditions: readonly Condition[], generation: number): ConditionChange {
  // Of those that changed at the same time, the one written last comes last.
  const unhealthy = conditions
    .filter(({ type }) => set.dependents.includes(type))
    .filter(({ status, observedGeneration }) => status !== 'True' || observedGeneration !== generation)
    .sort((a, b) => transitionTime(b) - transitionTime(a));
  const blocked = conditions.filter(({ type, status }) => set.blockers?.includes(type) === true && status === 'True');
  if (unhealthy.length === 0 && blocked.length === 0) return { type: conditionType.ready, status: 'True' };
  const isFalse =
    blocked.length > 0 || unhealthy.some((each) => each.status === 'False' && each.observedGeneration === generation);
  return {
    type: conditionType.ready,
    status: isFalse ? 'False' : 'Unknown',
    reason: isFalse ? conditionReason.unhealthyDependents : conditionReason.reconcilingDependents,
    message: [...blocked, ...unhealthy].map(({ type, status }) => `${type}=${status}`).join(', '),
  };
}

const transitionTime = (condition: Condition): number => parseTime(condition.lastTransitionTime) ?? 0;

function ordered(set: ConditionSet, conditions: readonly Condition[]): readonly Condition[] {
  const isRoot = ({ type }: Condition): number => (type === conditionType.ready ? 1 : 0);
  if (set.order === 'type') return conditions.toSorted((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));
  return conditions.toSorted((a, b) => isRoot(a) - isRoot(b) || transitionTime(a) - transitionTime(b));
}
