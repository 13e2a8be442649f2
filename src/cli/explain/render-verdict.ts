// Verdicts in words: what would happen to a node, or what keeps it; and what the nodes of a pool come to.
import { parseTime, shortList } from '../../base/index.ts';
import { type Fleet, insteadText, type NodeVerdict, plainText, verdictCode } from '../../core/index.ts';
import { spanText } from '../../view/index.ts';
import { counted, type Paint } from '../output/index.ts';
import { price } from '../plan/money.ts';
import { usefulSteps } from './useful-steps.ts';

const minuteMs = 60_000;

/** What a pool's nodes come to and what its budgets allow, before each of the nodes. */
export function renderPool(
  fleet: Fleet,
  name: string,
  { there: verdicts, coming }: { there: readonly NodeVerdict[]; coming: number },
  paint: Paint,
): string {
  const total = verdicts.reduce((sum, verdict) => sum + verdict.pricePerHour, 0);
  const going = verdicts.filter((verdict) => verdict.verdict !== 'keep');
  const saving = going.reduce((sum, verdict) => sum + verdict.savingsPerHour, 0);
  const keeping = new Map<string, number>();
  for (const verdict of verdicts) {
    if (verdict.verdict !== 'keep') continue;
    // The first step that helps, as it is listed below.
    const code = usefulSteps(verdict)[0]?.code ?? verdictCode(verdict);
    keeping.set(code, (keeping.get(code) ?? 0) + 1);
  }
  const reasons = [...keeping].sort((left, right) => right[1] - left[1]).map(([code, count]) => `${count} ${code}`);
  const lines = [`${paint.bold(`NodePool ${name}`)}  ${counted(verdicts.length, 'node')}, ${price(total)}`];
  if (coming > 0) lines.push(`  ${counted(coming, 'NodeClaim')} not launched yet`);
  if (going.length > 0) {
    const [what, saved] =
      going.length === 1
        ? ['1 node could be removed or replaced', '']
        : [`${going.length} nodes could each be removed or replaced (one at a time, not all together)`, 'at most '];
    lines.push(`  ${what}, saving ${saved}${price(saving)}`);
  }
  if (reasons.length > 0) lines.push(`  ${verdicts.length - going.length} stay: ${reasons.join(', ')}`);
  const budgets = budgetLine(fleet, name);
  if (budgets !== undefined) lines.push(budgets);
  return `${lines.join('\n')}\n`;
}

function budgetLine(fleet: Fleet, name: string): string | undefined {
  const pool = fleet.pool(name);
  if (pool === undefined) return undefined;
  const { total } = fleet.countsOf(name);
  const repairs = fleet.movable.repairs === undefined ? [] : ['Unhealthy'];
  const allowed = [...repairs, 'Empty', 'Drifted', 'Underutilized'].map((reason) => {
    const budget = fleet.budget(pool, reason);
    return `${reason} ${budget.counts.consuming} of ${Number.isFinite(budget.allowed) ? budget.allowed : 'any number'} in use`;
  });
  return `  Budgets (${counted(total, 'node')}): ${allowed.join(', ')}`;
}

export function renderVerdict(verdict: NodeVerdict, nowMs: number, paint: Paint): string {
  const age = verdict.ageSeconds === undefined ? '' : `, ${spanText(verdict.ageSeconds * 1000)} old`;
  const daily = verdict.pricePerHour > 0 ? `$${verdict.costPerDay.toFixed(2)} a day` : 'price unknown';
  const lines = [
    `${paint.bold(verdict.node)}  ${verdict.nodePool ?? 'unmanaged'}  ${verdict.instanceType ?? ''}  ${daily}${age}`,
  ];
  if (verdict.drift !== undefined) {
    lines.push(`  drifted: ${verdict.drift.reason}`);
    for (const field of verdict.drift.fields) lines.push(`     ${field}`);
  }
  const sinceMs = nowMs - (parseTime(verdict.since ?? '') ?? nowMs);
  const since = sinceMs < minuteMs ? '' : ` for ${spanText(sinceMs)} now`;
  if (verdict.verdict === 'keep') {
    const steps = usefulSteps(verdict);
    lines.push(`  ${staysText(verdict, steps, since)}`);
    for (const [index, { code, message, suggestion, pods }] of steps.entries()) {
      lines.push(`  ${index + 1}. ${plainText({ code, message })} (${code})`);
      if (pods !== undefined) lines.push(`     ${counted(pods.length, 'pod')}: ${shortList(pods, 3, 'more')}`);
      if (suggestion !== undefined) lines.push(`     ${paint.dim(suggestion)}`);
    }
  } else {
    const what = verdict.verdict === 'remove' ? 'would be removed' : `would be replaced by ${insteadText(verdict)}`;
    lines.push(`  ${what} (${verdict.reason})${since}, saving ${price(verdict.savingsPerHour)}`);
    if (verdict.destinations !== undefined)
      lines.push(`  its pods go to ${shortList(verdict.destinations, 3, 'more')}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Someone or something is removing it already. */
export function isOnItsWayOut({ blockers }: NodeVerdict): boolean {
  return ['Leaving', 'DrainBlocked', 'AlreadyDisrupting'].includes(blockers[0]?.code ?? '');
}

function staysText(verdict: NodeVerdict, steps: NodeVerdict['blockers'], since: string): string {
  if (isOnItsWayOut(verdict)) return `is on its way out${verdict.ending ? ` (${verdict.ending})` : ''}${since}:`;
  const isFinal = steps.every(({ suggestion }) => suggestion?.startsWith('nothing to do') === true);
  return isFinal ? `stays${since}:` : `stays${since}; to let it go, in this order:`;
}
