// How many nodes of a pool may be disrupted now, for a reason. Budgets are bounds: the tightest active one that speaks
// about the reason decides, none means no bound, and an unreadable schedule anywhere in the pool means none at all may go,
// because it is unknown what its author wanted to protect.

import { parseGoDuration } from '../../base/index.ts';
import type { DisruptionBudget } from '../kube/objects.ts';
import { type CronSchedule, parseCron } from './cron.ts';
import { inTimeZone } from './time-zone.ts';

export interface PoolCounts {
  /** Nodes of the pool that count: managed, initialized, instance not terminating. */
  readonly total: number;
  /** Those of them that are not ready or on their way out. */
  readonly consuming: number;
}

/** The most nodes that may be out for the reason at this instant; Infinity without a bound. */
export function allowedDisruptions(
  budgets: readonly DisruptionBudget[],
  reason: string,
  total: number,
  nowMs: number,
  timeZone = 'UTC',
): number {
  let allowed = Number.POSITIVE_INFINITY;
  for (const budget of budgets) {
    const active = isActive(budget, nowMs, timeZone);
    if (active === 'unreadable') return 0;
    if (!active || (budget.reasons !== undefined && !budget.reasons.includes(reason))) continue;
    allowed = Math.min(allowed, bound(budget.nodes ?? '10%', total));
  }
  return allowed;
}

/** How many more may go now. */
export function remainingDisruptions(
  budgets: readonly DisruptionBudget[],
  reason: string,
  { total, consuming }: PoolCounts,
  nowMs: number,
): number {
  return Math.max(0, allowedDisruptions(budgets, reason, total, nowMs) - consuming);
}

/** Schedules that cannot be read, for a report to their author. */
export function unreadableSchedules(budgets: readonly DisruptionBudget[]): string[] {
  return budgets.flatMap(({ schedule }) =>
    schedule !== undefined && cronOf(schedule) === undefined ? [schedule] : [],
  );
}

/** When the end of a scheduled budget first lets a node go that may not go now; undefined if schedules are not what holds it. */
export function budgetsOpenAt(
  budgets: readonly DisruptionBudget[],
  reason: string,
  { total, consuming }: PoolCounts,
  nowMs: number,
  timeZone = 'UTC',
): number | undefined {
  let atMs = nowMs;
  // One end may be where another budget begins.
  for (let ends = 0; ends < mostEnds; ends++) {
    const next = Math.min(...budgets.map((budget) => activeUntil(budget, atMs, timeZone) ?? Number.POSITIVE_INFINITY));
    if (next === Number.POSITIVE_INFINITY) return undefined;
    atMs = next;
    if (allowedDisruptions(budgets, reason, total, atMs, timeZone) > consuming) return atMs;
  }
  return undefined;
}

const mostEnds = 100;

/** Until when a schedule keeps the budget active; undefined if it is not, or always is. */
export function activeUntil(budget: DisruptionBudget, nowMs: number, timeZone = 'UTC'): number | undefined {
  if (budget.schedule === undefined || isActive(budget, nowMs, timeZone) !== true) return undefined;
  const durationMs = parseGoDuration(budget.duration ?? '') ?? 0;
  const hit = cronOf(budget.schedule, timeZone)?.nextAfter(nowMs - durationMs);
  return hit === undefined ? undefined : hit + durationMs;
}

function isActive({ schedule, duration }: DisruptionBudget, nowMs: number, timeZone: string): boolean | 'unreadable' {
  if (schedule === undefined) return true;
  const cron = cronOf(schedule, timeZone);
  const durationMs = parseGoDuration(duration ?? '0');
  if (cron === undefined || durationMs === undefined) return 'unreadable';
  const hit = cron.nextAfter(nowMs - durationMs);
  return hit !== undefined && hit <= nowMs;
}

function bound(nodes: string | number, total: number): number {
  const text = String(nodes);
  const amount = Number.parseInt(text, 10);
  if (Number.isNaN(amount)) return 0;
  return text.endsWith('%') ? Math.ceil((amount * total) / 100) : amount;
}

const parsed = new Map<string, CronSchedule | undefined>();

function cronOf(schedule: string, timeZone = 'UTC'): CronSchedule | undefined {
  const key = `${timeZone} ${schedule}`;
  if (!parsed.has(key)) {
    const cron = parseCron(schedule);
    parsed.set(key, cron === undefined || timeZone === 'UTC' ? cron : inTimeZone(cron, timeZone));
  }
  return parsed.get(key);
}
