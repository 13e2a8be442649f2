// NodePools as a screen shows them: what they have and cost, what their limits and budgets leave, what holds them back.
import type { NodePool } from '../api/index.ts';
import { formatTime } from '../base/index.ts';
import type { Fleet, NodeVerdict } from '../core/index.ts';
import { allowedOverTime, verdictCode } from '../core/index.ts';
import type { LaunchPause } from '../state/index.ts';

export interface BudgetView {
  reason: string;
  /** Absent: no bound. */
  allowed?: number;
  out: number;
  /** When a schedule lets a node go that may not go now. */
  opens?: string;
}

export interface PoolView {
  name: string;
  ready: boolean;
  /** Why not, or why it is paused. */
  message?: string;
  pausedUntil?: string;
  nodeClass: string;
  weight: number;
  nodes: number;
  pricePerHour: number;
  /** Resource → used and limit, as written in status and spec. */
  limits: { resource: string; used: string; limit: string }[];
  /** By what keeps its nodes; `savingsPerHour` is what their going would save. */
  verdicts: { code: string; verdict: string; nodes: number; pricePerHour: number; savingsPerHour: number }[];
  budgets: BudgetView[];
  /** Nodes allowed to be out for Underutilized, hour by hour over seven days from now; -1: no bound. */
  week: number[];
  drifted: number;
  consolidateAfter: string;
  consolidationPolicy: string;
  expireAfter: string;
  static: boolean;
}

const reasons = ['Empty', 'Drifted', 'Underutilized', 'Unhealthy'] as const;
const hourMs = 3_600_000;
const hoursAhead = 7 * 24;

export interface PoolParts {
  pool: NodePool;
  fleet: Fleet;
  verdicts: readonly NodeVerdict[];
  pause: LaunchPause | undefined;
}

export function poolView({ pool, fleet, verdicts, pause }: PoolParts): PoolView {
  const name = pool.metadata.name ?? '';
  const own = verdicts.filter(({ nodePool, nodeClaim }) => nodePool === name && nodeClaim !== undefined);
  const condition = pool.status?.conditions?.find(({ type }) => type === 'Ready');
  const { nodeClassRef, expireAfter = '720h' } = pool.spec.template.spec;
  const used = pool.status?.resources ?? {};
  const ready = condition?.status === 'True' && pause === undefined;
  const message = pause?.message ?? (condition?.status === 'True' ? undefined : condition?.message);
  const found = fleet.pool(name);
  return {
    name,
    ready,
    ...(message !== undefined && message !== '' && { message }),
    ...(pause !== undefined && { pausedUntil: formatTime(pause.untilMs) }),
    nodeClass: `${nodeClassRef?.kind ?? ''}/${nodeClassRef?.name ?? ''}`,
    weight: pool.spec.weight ?? 1,
    nodes: own.length,
    pricePerHour: own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
    limits: Object.entries(pool.spec.limits ?? {}).map(([resource, limit]) => ({
      resource,
      used: String(used[resource] ?? '0'),
      limit: String(limit),
    })),
    verdicts: byCode(own),
    budgets: found === undefined ? [] : reasons.map((reason) => budgetView(fleet, found, reason)),
    week:
      found === undefined ? [] : allowedOverTime(fleet, found, 'Underutilized', { stepMs: hourMs, steps: hoursAhead }),
    drifted: own.filter(({ verdict, reason }) => verdict !== 'keep' && reason === 'Drifted').length,
    consolidateAfter: pool.spec.disruption?.consolidateAfter ?? '0s',
    consolidationPolicy: pool.spec.disruption?.consolidationPolicy ?? 'WhenEmptyOrUnderutilized',
    expireAfter,
    static: pool.spec.replicas !== undefined,
  };
}

function budgetView(fleet: Fleet, pool: Parameters<Fleet['budget']>[0], reason: string): BudgetView {
  const { allowed, remaining, counts, opensMs } = fleet.budget(pool, reason);
  const opens = remaining >= 1 ? undefined : opensMs();
  return {
    reason,
    ...(Number.isFinite(allowed) && { allowed }),
    out: counts.consuming,
    ...(opens !== undefined && { opens: formatTime(opens) }),
  };
}

function byCode(verdicts: readonly NodeVerdict[]): PoolView['verdicts'] {
  const codes = new Map<string, PoolView['verdicts'][number]>();
  for (const verdict of verdicts) {
    const code = verdictCode(verdict);
    const none = { nodes: 0, pricePerHour: 0, savingsPerHour: 0 };
    const total = codes.get(code) ?? { code, verdict: verdict.verdict, ...none };
    total.nodes += 1;
    total.pricePerHour += verdict.pricePerHour;
    total.savingsPerHour += verdict.savingsPerHour || (verdict.savingsIfFreedPerHour ?? 0);
    codes.set(code, total);
  }
  return [...codes.values()].sort((left, right) => right.pricePerHour - left.pricePerHour);
}
