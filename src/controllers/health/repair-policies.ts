// When a node counts as broken: the provider's policies against the node's conditions.
import { type Clock, formatTime, parseTime } from '../../base/index.ts';
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

/** How long a condition must be well before it counts as over: a flapping one would otherwise start its time anew for ever. */
const recoveredMs = 5 * 60_000;

interface Spell {
  sinceMs: number;
  /** When it was first seen to be over. */
  wellMs?: number;
}

/** Since when conditions are bad, for nodes whose conditions come and go. */
export class Ailments {
  private readonly clock: Pick<Clock, 'now'>;
  private readonly byNode = new Map<string, Map<string, Spell>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  /** As `ailmentOf`, but a condition that was well for a moment only has been bad all the time. */
  of(node: Node, policies: readonly RepairPolicy[]): Ailment | undefined {
    const nowMs = this.clock.now();
    const name = node.metadata.name ?? '';
    const known = this.byNode.get(name) ?? new Map<string, Spell>();
    let first: Ailment | undefined;
    for (const policy of policies) {
      const key = `${policy.conditionType}=${policy.conditionStatus}`;
      const ailment = ailmentOf(node, [policy], nowMs);
      const before = known.get(key);
      if (ailment === undefined) {
        if (before === undefined) continue;
        const wellMs = before.wellMs ?? nowMs;
        if (nowMs - wellMs > recoveredMs) known.delete(key);
        else known.set(key, { ...before, wellMs });
        continue;
      }
      const beganMs = ailment.dueMs - policy.tolerationMs;
      const isSame = before !== undefined && beganMs - (before.wellMs ?? beganMs) <= recoveredMs;
      const sinceMs = isSame ? Math.min(before.sinceMs, beganMs) : beganMs;
      known.set(key, { sinceMs });
      const dueMs = sinceMs + policy.tolerationMs;
      if (first === undefined || dueMs < first.dueMs) first = { ...ailment, dueMs };
    }
    if (known.size > 0) this.byNode.set(name, known);
    else this.byNode.delete(name);
    return first;
  }

  /** `Type=Status` of what comes and goes or is bad now, and since when; undefined for a node that is well. */
  since(nodeName: string): Record<string, string> | undefined {
    const known = this.byNode.get(nodeName);
    if (known === undefined) return undefined;
    return Object.fromEntries([...known].map(([key, { sinceMs }]) => [key, formatTime(sinceMs)]));
  }

  /** Nodes something is known about. */
  names(): string[] {
    return [...this.byNode.keys()];
  }

  forget(nodeName: string): void {
    this.byNode.delete(nodeName);
  }
}

/** Share of nodes that may be broken at once; with more, the cause is hardly the single node. */
const mostUnhealthyShare = 0.2;

/** Whether so many nodes are broken, for however long, that replacing them one by one is not an answer. */
export function isOutbreak(nodes: readonly Node[], policies: readonly RepairPolicy[]): boolean {
  const broken = nodes.filter((node) => ailmentOf(node, policies, 0) !== undefined).length;
  return broken > Math.ceil(nodes.length * mostUnhealthyShare);
}
