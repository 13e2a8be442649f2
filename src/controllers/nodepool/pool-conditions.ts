// Changing a NodePool's conditions: the pool with its new list, and the write if something changed.

import {
  type ConditionChange,
  clearCondition,
  initConditions,
  type NodePool,
  nodePoolConditions,
  setCondition,
} from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import type { ControllerContext } from '../context.ts';
import { nodePools } from '../own-resources.ts';
import { patchStatus } from '../writes.ts';

const contextOf = (pool: NodePool, nowMs: number) => ({
  generation: pool.metadata.generation ?? 1,
  creationTimestamp: pool.metadata.creationTimestamp ?? '',
  deleting: pool.metadata.deletionTimestamp !== undefined,
  nowMs,
});

export function withPoolCondition(pool: NodePool, change: ConditionChange, nowMs: number): NodePool {
  const context = contextOf(pool, nowMs);
  const complete = initConditions(nodePoolConditions, pool.status?.conditions, context);
  const conditions = setCondition(nodePoolConditions, complete, change, context);
  if (conditions === pool.status?.conditions) return pool;
  return { ...pool, status: { ...pool.status, conditions: [...conditions] } } as NodePool;
}

/** Writes one condition, if it changes; the model knows it at once. */
export async function writePoolCondition(
  { kube, clock, cluster }: ControllerContext,
  pool: NodePool,
  change: ConditionChange,
): Promise<void> {
  const next = withPoolCondition(pool, change, clock.now());
  if (next === pool) return;
  cluster.setNodePool(await patchStatus(kube, nodePools, pool, next));
}

/** Removes one condition, if it is there. */
export async function removePoolCondition(
  { kube, clock, cluster }: ControllerContext,
  pool: NodePool,
  type: string,
): Promise<void> {
  const conditions = pool.status?.conditions;
  if (conditionOf(conditions, type) === undefined) return;
  const kept = clearCondition(nodePoolConditions, conditions, type, contextOf(pool, clock.now()));
  const next = { ...pool, status: { ...pool.status, conditions: [...kept] } } as NodePool;
  cluster.setNodePool(await patchStatus(kube, nodePools, pool, next));
}
