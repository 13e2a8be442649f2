// The planner's pod classes for pods as the API delivers them. The planner reads a narrower type in which names are
// always present; stored objects always have one, so the view is safe.
import * as core from '../core/index.ts';
import type { Pod } from '../ports/index.ts';

type PlannerPod = Parameters<typeof core.isProvisionable>[0];

const viewed = (pod: Pod): PlannerPod => pod as unknown as PlannerPod;

/** Waits for a node that the scheduler could not find. */
export const isProvisionable = (pod: Pod, standsNomination?: core.NominationTest): boolean =>
  core.isProvisionable(viewed(pod), standsNomination);

/** A node that is not known may still come for it. */
export const mayExpectUnknownNode = (pod: Pod, nowMs: number): boolean => core.mayExpectUnknownNode(viewed(pod), nowMs);

export const isTerminal = (pod: Pod): boolean => core.isTerminal(viewed(pod));

export const isOwnedByDaemonSet = (pod: Pod): boolean => core.isOwnedByDaemonSet(viewed(pod));

/** Asks for devices by resource claims. */
export const hasResourceClaims = (pod: Pod): boolean => core.hasResourceClaims(viewed(pod));

/** On its way out. */
export const isTerminating = (pod: Pod): boolean => core.isTerminating(viewed(pod));

/** Comes back somewhere else when it has to go. */
export const isReschedulable = (pod: Pod): boolean => core.isReschedulable(viewed(pod));

/** A drain has something to do with it. */
export const isDrainable = (pod: Pod, nowMs: number): boolean => core.isDrainable(viewed(pod), nowMs);

/** A drain is not over while it is there. */
export const isWaitingEviction = (pod: Pod, nowMs: number): boolean => core.isWaitingEviction(viewed(pod), nowMs);

/** May be evicted now, budgets aside. */
export const isEvictable = (pod: Pod, nowMs: number): boolean => core.isEvictable(viewed(pod), nowMs);

/** Neither over nor on its way out. */
export const isActive = (pod: Pod): boolean => core.isActive(viewed(pod));

/** Protected by its do-not-disrupt annotation at this moment. */
export const isDoNotDisruptActive = (pod: Pod, nowMs: number): boolean => core.isDoNotDisruptActive(viewed(pod), nowMs);

/** Until when that protects it; see the planner's words for the ends of time. */
export const doNotDisruptEndsMs = (pod: Pod): number => core.doNotDisruptEndsMs(viewed(pod));

/** How much it hurts to move it. */
export const evictionCost = (pod: Pod, costsBy?: core.DeletionCostsBy): number =>
  core.evictionCost(viewed(pod), costsBy);
