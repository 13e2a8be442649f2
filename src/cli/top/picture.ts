// The nodes as lines of a terminal: as wide as it is, the least important columns left out first.
import type { NodeRow, Totals } from '../../view/index.ts';
import { counted, fittingTable, type Paint, wrapText } from '../output/index.ts';
import { age } from '../up/screen.ts';
import type { Settings } from './state.ts';

export interface Seen {
  cluster: string;
  time: string;
  nowMs: number;
  totals: Totals;
  nodes: Omit<NodeRow, 'key'>[];
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
  type: (row) => row.type,
  zone: (row) => row.zone,
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

/** What is listed: what each line is about, so that a cursor can stand on it ('' is a heading), and lines once they are seen. */
export interface Listing {
  ids: string[];
  draw(from: number, to: number): { heading: string[]; lines: string[] };
  /** Where there is nothing. */
  empty: string;
}

const groupKeys: Readonly<Record<string, (row: Row) => string>> = {
  pool: (row) => row.pool,
  zone: (row) => row.zone,
  type: (row) => row.type,
  capacity: (row) => row.capacityType,
};

/** The nodes as they are asked for, in their order. */
export function rowsOf(seen: Seen, settings: Settings): Row[] {
  const wanted = settings.filter.toLowerCase();
  const own = order(settings.sort);
  const groupOf = groupKeys[settings.group ?? 'none'];
  return seen.nodes
    .filter((row) => !settings.onlyKept || (row.verdict === 'keep' && row.savingsPerHour > 0))
    .filter(
      (row) =>
        wanted === '' ||
        [row.name, row.pool, row.type, row.zone, row.code].some((text) => text.toLowerCase().includes(wanted)),
    )
    .sort((left, right) => {
      const [a, b] = [groupOf?.(left) ?? '', groupOf?.(right) ?? ''];
      return a === b ? own(left, right) : a < b ? -1 : 1;
    });
}

export function nodeListing(seen: Seen, settings: Settings, { paint, columns }: Omit<Frame, 'rows'>): Listing {
  const shown = rowsOf(seen, settings);
  const groupOf = groupKeys[settings.group ?? 'none'];
  const entries: (Row | string)[] = [];
  for (const [at, row] of shown.entries()) {
    const group = groupOf?.(row);
    if (group !== undefined && (at === 0 || groupOf?.(shown[at - 1] as Row) !== group)) {
      const own = shown.filter((each) => groupOf?.(each) === group);
      const price = own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
      entries.push(`${group || 'none'}  ${counted(own.length, 'node')}  $${price.toFixed(2)}/h`);
    }
    entries.push(row);
  }
  return {
    ids: entries.map((each) => (typeof each === 'string' ? '' : each.name)),
    empty: seen.nodes.length === 0 ? 'no nodes yet' : 'no node fits',
    draw(from, to) {
      const all = columnsOf(seen.nowMs, paint);
      const window = entries.slice(from, to);
      const cells = window.flatMap((each) => (typeof each === 'string' ? [] : [all.map(({ cell }) => cell(each))]));
      const text = fittingTable(all, cells, { heading: paint.dim, width: columns, expendable });
      const [head = '', ...rows] = text.trimEnd().split('\n');
      const lines = window.map((each) => (typeof each === 'string' ? paint.bold(each) : (rows.shift() ?? '')));
      return { heading: cells.length === 0 ? [] : [head], lines };
    },
  };
}

/** Everything once, without a cursor. */
export function picture(seen: Seen, settings: Settings, frame: Frame): string[] {
  const { paint, columns, rows } = frame;
  const { ids, draw, empty } = nodeListing(seen, settings, frame);
  const head = [...wrapText(summary(seen), columns).map(paint.bold), ''];
  if (ids.length === 0) return [...head, paint.dim(empty)];
  const most = Math.max(1, Number.isFinite(rows) ? rows - 5 : ids.length);
  const { heading, lines } = draw(0, most);
  const more = ids.length > most ? [paint.dim(`… and ${ids.length - most} more`)] : [];
  return [...head, ...heading, ...lines, ...more];
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
