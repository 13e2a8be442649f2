// The nodes as lines of a terminal: as wide as it is, the least important columns left out first.
import type { NodeRow, Totals } from '../../view/index.ts';
import { counted, fittingTable, type Paint, wrapText } from '../output/index.ts';
import { age } from '../up/screen.ts';

export interface Seen {
  cluster: string;
  time: string;
  nowMs: number;
  totals: Totals;
  nodes: Omit<NodeRow, 'key'>[];
}

export interface Settings {
  sort: 'price' | 'cpu' | 'memory' | 'pods' | 'age' | 'name' | 'pool' | 'savings';
  /** Only nodes that stay though their going would save something. */
  onlyKept: boolean;
  filter: string;
}

export interface Frame {
  paint: Paint;
  columns: number;
  rows: number;
}

type Row = Seen['nodes'][number];

const share = (used: number, room: number): number => (room === 0 ? 0 : used / room);

const values: Readonly<Record<Settings['sort'], (row: Row) => number | string>> = {
  price: (row) => -row.pricePerHour,
  cpu: (row) => -share(row.cpuUsed, row.cpu),
  memory: (row) => -share(row.memoryUsed, row.memory),
  pods: (row) => -row.pods,
  age: (row) => row.createdMs,
  name: (row) => row.name,
  pool: (row) => row.pool,
  savings: (row) => -row.savingsPerHour,
};

/** Left out first on a narrow terminal; bars become figures before they go. */
const expendable = ['ZONE', 'CAP', 'AGE', 'POOL', 'TYPE', 'CPU', 'MEM', 'PODS', 'MEM', 'CPU'];

export function summary({ cluster, time, totals }: Seen): string {
  const { nodes, pricePerHour, goingPerHour, blockedPerHour, pods, waiting } = totals;
  const money = [
    `$${pricePerHour.toFixed(2)}/h`,
    ...(goingPerHour > 0 ? [`going ${goingPerHour.toFixed(2)}`] : []),
    ...(blockedPerHour > 0 ? [`held ${blockedPerHour.toFixed(2)}`] : []),
  ].join('  ');
  return `${cluster}  ${time.slice(11, 19)}  ${counted(nodes, 'node')}  ${money}  ${counted(pods, 'pod')}, ${waiting} waiting`;
}

export function picture(seen: Seen, settings: Settings, { paint, columns, rows }: Frame): string[] {
  const wanted = settings.filter.toLowerCase();
  const shown = seen.nodes
    .filter((row) => !settings.onlyKept || (row.verdict === 'keep' && row.savingsPerHour > 0))
    .filter(
      (row) =>
        wanted === '' ||
        [row.name, row.pool, row.type, row.zone, row.code].some((text) => text.toLowerCase().includes(wanted)),
    )
    .sort(order(settings.sort));
  const head = [...wrapText(summary(seen), columns).map(paint.bold), ''];
  if (shown.length === 0) return [...head, paint.dim(seen.nodes.length === 0 ? 'no nodes yet' : 'no node fits')];
  const most = Math.max(1, Number.isFinite(rows) ? rows - 5 : shown.length);
  const all = columnsOf(seen.nowMs, paint);
  const cells = shown.slice(0, most).map((row) => all.map(({ cell }) => cell(row)));
  const lines = fittingTable(all, cells, { heading: paint.dim, width: columns, expendable }).trimEnd().split('\n');
  const more = shown.length > most ? [paint.dim(`… and ${shown.length - most} more`)] : [];
  return [...head, ...lines, ...more];
}

function order(sort: Settings['sort']): (left: Row, right: Row) => number {
  const value = values[sort];
  return (left, right) => {
    const [a, b] = [value(left), value(right)];
    return a < b ? -1 : a > b ? 1 : left.name < right.name ? -1 : 1;
  };
}

function columnsOf(nowMs: number, paint: Paint) {
  const right = 'right' as const;
  return [
    { title: 'NODE', cell: (row: Row) => row.name },
    { title: 'POOL', cell: (row: Row) => row.pool || '-' },
    { title: 'TYPE', cell: (row: Row) => row.type || '-' },
    { title: 'ZONE', cell: (row: Row) => row.zone || '-' },
    { title: 'CAP', cell: (row: Row) => (row.capacityType === 'on-demand' ? 'od' : row.capacityType || '-') },
    { title: 'CPU', narrow: figureOf, cell: (row: Row) => bar(share(row.cpuUsed, row.cpu), paint) },
    { title: 'MEM', narrow: figureOf, cell: (row: Row) => bar(share(row.memoryUsed, row.memory), paint) },
    { title: 'PODS', align: right, cell: (row: Row) => String(row.pods) },
    { title: '$/H', align: right, cell: (row: Row) => (row.pricePerHour === 0 ? '-' : row.pricePerHour.toFixed(3)) },
    { title: 'AGE', align: right, cell: (row: Row) => (row.createdMs === 0 ? '-' : age(nowMs - row.createdMs)) },
    { title: 'VERDICT', cell: (row: Row) => verdictText(row, paint) },
  ];
}

export function verdictText(row: Pick<Row, 'verdict' | 'code' | 'savingsPerHour' | 'state'>, paint: Paint): string {
  const saving = row.savingsPerHour > 0 ? ` ${row.verdict === 'keep' ? '+' : '−'}${row.savingsPerHour.toFixed(3)}` : '';
  if (row.verdict === 'remove' || row.verdict === 'replace') return paint.yellow(`${row.verdict}${saving}`);
  if (row.verdict === 'unknown') return paint.dim(row.state);
  return row.savingsPerHour > 0 ? `keep ${row.code}${paint.yellow(saving)}` : paint.dim(`keep ${row.code}`);
}

/** The last three places, so that figures stay below each other. */
const figureOf = (drawn: string): string => drawn.slice(-3);

const steps = 6;

function bar(part: number, paint: Paint): string {
  const full = Math.max(0, Math.min(steps, Math.round(part * steps)));
  return `${paint.cyan('▓'.repeat(full))}${paint.dim('░'.repeat(steps - full))} ${String(Math.round(part * 100)).padStart(3)}`;
}

export const jsonOf = ({ cluster, time, totals, nodes }: Seen): object => ({
  apiVersion: 'kerf/v1',
  kind: 'Top',
  cluster,
  time,
  totals,
  nodes,
});
