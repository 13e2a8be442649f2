// The cluster in a few lines: what waits and why, what is being launched and fails, which pools are paused or at their limits,
// and what the nodes come to.
import { label } from '../../api/names.ts';
import { parseTime } from '../../base/index.ts';
import {
  type ClusterMoney,
  type NodeVerdict,
  type Plan,
  type PoolStateEntry,
  type Snapshot,
  useOf,
  verdictCode,
} from '../../core/index.ts';
import { type ClaimStory, claimStory, moneyCauseTexts } from '../../view/index.ts';
import { type Column, counted, type Paint, type TableOptions, table, textWidth } from '../output/index.ts';
import { perHour, perMonth, price } from '../plan/money.ts';

export interface ClusterStory {
  nodes: number;
  /** Where the money is; absent where pods differ too much for a bound. */
  money?: ClusterMoney;
  pricePerHour: number;
  verdicts: Record<string, number>;
  waiting: {
    pods: number;
    onNewNodes: number;
    newNodes: number;
    onExistingNodes: number;
    reasons: Record<string, number>;
  };
  launching: ClaimStory[];
  pools: { nodePool: string; pausedUntil?: string; limits?: Record<string, string>; inUse?: Record<string, string> }[];
}

export function clusterStory(
  snapshot: Snapshot,
  plan: Plan,
  verdicts: readonly NodeVerdict[],
  money?: ClusterMoney,
): ClusterStory {
  const named = (kind: string): string[] =>
    snapshot.objects.items.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
  const launching = named('NodeClaim').flatMap((name) => claimStory(snapshot, name) ?? []);
  // What is not launched yet costs nothing and keeps nothing.
  const coming = new Set(launching.map(({ nodeClaim }) => nodeClaim));
  const there = verdicts.filter(({ node }) => !coming.has(node));
  return {
    nodes: there.length,
    pricePerHour: there.reduce((sum, each) => sum + each.pricePerHour, 0),
    verdicts: counts(there.map(verdictCode)),
    waiting: {
      pods: plan.pods,
      newNodes: plan.newNodes.length,
      onNewNodes: plan.newNodes.reduce((sum, { pods }) => sum + pods.length, 0),
      onExistingNodes: plan.existingNodes.reduce((sum, { pods }) => sum + pods.length, 0),
      reasons: counts(plan.unschedulable.map(({ reasons }) => reasons[0]?.code ?? '')),
    },
    launching,
    pools: named('NodePool').map((name) => poolStory(snapshot, name)),
    ...(money === undefined ? {} : { money }),
  };
}

/** Under the heading of a pool: what of its limits is in use, and whether its launches are paused. */
export function limitsLines(snapshot: Snapshot, nodePool: string): string {
  const story = poolStory(snapshot, nodePool);
  const lines = [
    ...(story.limits === undefined ? [] : [`  Limits in use: ${limitsText(story)}`]),
    ...(story.pausedUntil === undefined ? [] : [`  Launches paused until ${story.pausedUntil}`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function poolStory(snapshot: Snapshot, nodePool: string): ClusterStory['pools'][number] {
  const nowMs = parseTime(snapshot.time ?? '') ?? 0;
  const state: Partial<PoolStateEntry> = snapshot.poolState?.find((entry) => entry.nodePool === nodePool) ?? {};
  const pool = snapshot.objects.items.find(({ kind, metadata }) => kind === 'NodePool' && metadata.name === nodePool);
  const limits = (pool?.['spec'] as { limits?: Record<string, string | number> } | undefined)?.limits ?? {};
  const isPaused = (parseTime(state.pausedUntil ?? '') ?? 0) > nowMs;
  const texts = (of: object): Record<string, string> =>
    Object.fromEntries(Object.entries(of).map(([name, amount]) => [name, String(amount)]));
  return {
    nodePool,
    ...(isPaused ? { pausedUntil: state.pausedUntil as string } : {}),
    ...(Object.keys(limits).length === 0
      ? {}
      : {
          limits: texts(limits),
          inUse: texts({ ...inUseOf(snapshot, nodePool, Object.keys(limits)), ...state.inUse }),
        }),
  };
}

/** By the machines of the snapshot: nodes, and claims whose node has not come yet. */
function inUseOf(snapshot: Snapshot, nodePool: string, names: readonly string[]): Record<string, string> {
  const own = snapshot.objects.items.filter(({ kind, metadata }) => {
    const labels = metadata['labels'] as Record<string, string> | undefined;
    const isMachine = kind === 'NodeClaim' && metadata['deletionTimestamp'] === undefined;
    return isMachine && labels?.[label.nodePool] === nodePool;
  });
  const capacities = own.map(
    (object) => (object['status'] as { capacity?: Record<string, string> } | undefined)?.capacity ?? {},
  );
  return useOf(capacities, names);
}

function limitsText({ limits = {}, inUse = {} }: Pick<ClusterStory['pools'][number], 'limits' | 'inUse'>): string {
  return Object.entries(limits)
    .map(([name, limit]) => `${name} ${inUse[name] ?? '0'} of ${limit}`)
    .join(', ');
}

export function renderClusterStory(story: ClusterStory, paint: Paint, width = Number.POSITIVE_INFINITY): string {
  const { waiting, launching, pools, verdicts } = story;
  const lines = [`${paint.bold(counted(story.nodes, 'node'))}, ${price(story.pricePerHour)}: ${list(verdicts)}`];
  lines.push(
    `${paint.bold(counted(waiting.pods, 'pod'))} waiting or moving: ${waitingText(waiting, launching.length > 0)}`,
  );
  for (const { nodeClaim, message } of launching) lines.push(`NodeClaim ${nodeClaim} ${message}`);
  for (const pool of pools) {
    const parts = [
      ...(pool.pausedUntil === undefined ? [] : [`launches paused until ${pool.pausedUntil}`]),
      ...(pool.limits === undefined ? [] : [`limits in use: ${limitsText(pool)}`]),
    ];
    lines.push(`NodePool ${pool.nodePool}${parts.length === 0 ? '' : `  ${parts.join('; ')}`}`);
  }
  const money = story.money === undefined ? '' : `\n${renderMoney(story.money, paint, width)}`;
  return `${lines.join('\n')}\n${money}`;
}

function renderMoney(
  { costPerHour, boundPerHour, reachablePerHour, causes }: ClusterMoney,
  paint: Paint,
  width: number,
): string {
  const rows = causes.map(({ cause, perHour: own, nodes }) => [
    cause,
    perHour(own),
    perMonth(own),
    nodes > 0 ? String(nodes) : '',
    moneyCauseTexts[cause],
  ]);
  const columns = [
    { title: 'cause' },
    { title: '$/hour', align: 'right' as const },
    { title: '$/month', align: 'right' as const },
    { title: 'nodes', align: 'right' as const },
    { title: 'what it is' },
  ];
  const lines = [
    paint.bold('Where the money is'),
    `  now ${price(costPerHour)}; Kerf by itself comes to ${price(reachablePerHour)}; the same pods cost at least ${price(boundPerHour)}`,
  ];
  if (rows.length === 0) return `${lines.join('\n')}\n`;
  const style = { indent: '  ', heading: paint.dim };
  const wide = table(columns, rows, style);
  const drawn = Math.max(...wide.split('\n').map(textWidth)) <= width ? wide : withMeaningBelow(columns, rows, style);
  return `${lines.join('\n')}\n${drawn}`;
}

/** Where the last column does not fit, it stands below each row. */
function withMeaningBelow(columns: readonly Column[], rows: readonly string[][], style: TableOptions): string {
  const [head = '', ...lines] = table(columns.slice(0, -1), rows, style).trimEnd().split('\n');
  return [head, ...lines.flatMap((line, at) => [line, `    ${rows[at]?.at(-1) ?? ''}`])]
    .map((line) => `${line}\n`)
    .join('');
}

function waitingText(
  { onNewNodes, newNodes, onExistingNodes, reasons }: ClusterStory['waiting'],
  someAreComing: boolean,
): string {
  const without = Object.values(reasons).reduce((sum, count) => sum + count, 0);
  return [
    `${onNewNodes} on ${counted(newNodes, 'new node')}`,
    `${onExistingNodes} on nodes that exist${someAreComing ? ' or are on their way' : ''}`,
    `${without} without a place${without === 0 ? '' : ` (${list(reasons)})`}`,
  ].join(', ');
}

function counts(codes: readonly string[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const code of codes) totals[code] = (totals[code] ?? 0) + 1;
  return totals;
}

function list(of: Record<string, number>): string {
  const entries = Object.entries(of).sort(([, left], [, right]) => right - left);
  return entries.length === 0 ? 'none' : entries.map(([code, count]) => `${count} ${code}`).join(', ');
}
