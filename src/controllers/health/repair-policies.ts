// When a node counts as broken: the provider's policies against the node's conditions.
import { parseTime } from '../../base/index.ts';
import type { Node, RepairPolicy } from '../../ports/index.ts';

export interface Ailment {
  conditionType: string;
  /** When the provider no longer tolerates it. */
  dueMs: number;
}

/** The ailment whose time is up first, whether it is up yet or not. */
export function ailmentOf(node: Node, policies: readonly RepairPolicy[], nowMs: number): Ailment | undefined {
  let first: Ailment | undefined;
  for (const { conditionType, conditionStatus, tolerationMs } of policies) {
    const condition = node.status?.conditions?.find(({ type }) => type === conditionType);
    if (condition?.status !== conditionStatus) continue;
    const dueMs = (parseTime(condition.lastTransitionTime ?? '') ?? nowMs) + tolerationMs;
    if (first === undefined || dueMs < first.dueMs) first = { conditionType, dueMs };
  }
  return first;
}

/** Share of nodes that may be broken at once; with more, the cause is hardly the single node. */
const mostUnhealthyShare = 0.2;

/** Whether so many nodes are broken, for however long, that replacing them one by one is no answer. */
export function isOutbreak(nodes: readonly Node[], policies: readonly RepairPolicy[]): boolean {
  const broken = nodes.filter((node) => ailmentOf(node, policies, 0) !== undefined).length;
  return broken > Math.ceil(nodes.length * mostUnhealthyShare);
}
