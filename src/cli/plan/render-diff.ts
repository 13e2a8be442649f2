// The comparison of two plans, for people.
import { counted, type Paint, table, textWidth, wrapText } from '../output/index.ts';
import { nowhere, type PlanDiff, type PlanSummary } from './diff.ts';
import { perHour, perMonth } from './money.ts';

const mostLines = 40;

export interface DiffOptions {
  paint: Paint;
  /** Widest line that stays on one line of the terminal; no limit when piped. */
  widestLine?: number;
}

export function renderDiff(diff: PlanDiff, { paint, widestLine = Number.POSITIVE_INFINITY }: DiffOptions): string {
  const sections = warnings(diff, paint, widestLine);
  if (isEmpty(diff)) return sections.join('\n');
  sections.push(summary(diff, paint, widestLine));
  if (diff.nodes.length > 0) sections.push(`${paint.bold('Nodes to launch')}\n${nodes(diff, paint)}`);
  // Pods that lose or gain their place are named by themselves.
  const elsewhere = diff.moves.filter(({ from, to }) => from !== nowhere && to !== nowhere);
  const moved = elsewhere.reduce((sum, { pods }) => sum + pods, 0);
  if (moved > 0)
    sections.push(`${paint.bold(`${counted(moved, 'pod')} placed elsewhere`)}\n${moves(elsewhere, widestLine)}`);
  else if (diff.moves.length === 0) sections.push('Every pod gets the same kind of place.\n');
  if (diff.gained.length > 0) sections.push(paint.green(`${counted(diff.gained.length, 'pod')} would gain a place.\n`));
  return sections.join('\n');
}

const isEmpty = ({ before, after }: PlanDiff): boolean => before.pods === 0 && after.pods === 0;

/** What a cheaper price must not hide comes before it. */
function warnings(diff: PlanDiff, paint: Paint, widestLine: number): string[] {
  const { lost, lostReasons } = diff;
  if (isEmpty(diff))
    return [
      paint.yellow('There are no pods to place: nothing is compared. Give the workload with -f or --snapshot.\n'),
    ];
  if (lost.length === 0) return [];
  const its = lost.length === 1 ? 'its' : 'their';
  const lines = lostReasons.slice(0, mostLines).map(({ workload, pods, code, message, nodePool }) => {
    const where = nodePool === undefined ? '' : `pool ${nodePool}: `;
    const text = `${workload} ×${pods}  ${where}${message.split(/, requirements=/)[0]} (${code})`;
    const wrapped = Number.isFinite(widestLine) ? wrapText(text, Math.max(30, widestLine - 4)) : [text];
    return wrapped.map((line, index) => `${index === 0 ? '  ' : '    '}${line}\n`).join('');
  });
  return [`${paint.red(`${counted(lost.length, 'pod')} would lose ${its} place:`)}\n${lines.join('')}`];
}

function summary({ before, after, pricePerHour }: PlanDiff, paint: Paint, widestLine: number): string {
  const line = (title: string, of: (one: PlanSummary) => number, show = (value: number) => String(value)): string[] => [
    title,
    show(of(before)),
    show(of(after)),
    signed(of(after) - of(before), show),
  ];
  const rows = [
    line('pods to place', ({ pods }) => pods),
    line('new nodes', ({ newNodes }) => newNodes),
    line('pods on new nodes', ({ podsOnNewNodes }) => podsOnNewNodes),
    line('pods on nodes that exist', ({ podsOnExistingNodes }) => podsOnExistingNodes),
    line('pods without a place', ({ unschedulable }) => unschedulable),
    line('$/hour', (one) => one.pricePerHour, perHour),
    line('$/month', (one) => one.pricePerHour, perMonth),
  ];
  const titled = (first: string, second: string): string =>
    table([{ title: '' }, ...[first, second, 'change'].map((title) => ({ title, align: 'right' as const }))], rows, {
      heading: paint.dim,
    });
  const named = titled(before.name, after.name);
  const fits = named.split('\n').every((line) => textWidth(line) <= widestLine);
  // Long names of files go above the table instead of pushing the figures apart.
  const figures = fits ? named : `before: ${before.name}\nafter:  ${after.name}\n${titled('before', 'after')}`;
  return `${figures}${verdict(before, after, pricePerHour)}\n`;
}

function verdict({ pricePerHour: before, unschedulable }: PlanSummary, after: PlanSummary, change: number): string {
  const fewer = after.unschedulable - unschedulable;
  if (fewer > 0) return `The second places ${counted(fewer, 'pod')} fewer, so prices cannot be compared.`;
  if (change === 0) return 'Both cost the same.';
  const share = before > 0 ? ` (${((Math.abs(change) / before) * 100).toFixed(1)} %)` : '';
  return `The second is ${change < 0 ? 'cheaper' : 'dearer'} by $${perMonth(Math.abs(change))} a month${share}.`;
}

function nodes(diff: PlanDiff, paint: Paint): string {
  const rows = diff.nodes
    .slice(0, mostLines)
    .map(({ nodePool, instanceType, capacityType, before, after, pricePerHour }) => [
      nodePool,
      instanceType,
      capacityType,
      String(before),
      String(after),
      signed(pricePerHour, perHour),
    ]);
  const columns = [
    { title: 'pool' },
    { title: 'type' },
    { title: 'capacity' },
    { title: 'before', align: 'right' as const },
    { title: 'after', align: 'right' as const },
    { title: '$/hour', align: 'right' as const },
  ];
  return `${table(columns, rows, { indent: '  ', heading: paint.dim })}${left(diff.nodes.length)}`;
}

function moves(all: PlanDiff['moves'], widestLine: number): string {
  const rows = all.slice(0, mostLines).map(({ workload, from, to, pods }) => [`${workload} ×${pods}`, from, '→', to]);
  const columns = [{ title: '' }, { title: '' }, { title: '' }, { title: '' }];
  const wide = table(columns, rows, { indent: '  ' });
  const fits = wide.split('\n').every((line) => textWidth(line) <= widestLine);
  const narrow = rows.map(([workload, from, , to]) => `  ${workload}\n    from ${from}\n    to   ${to}\n`).join('');
  return `${fits ? wide : narrow}${left(all.length)}`;
}

function signed(value: number, show: (value: number) => string): string {
  return value > 0 ? `+${show(value)}` : value < 0 ? `-${show(-value)}` : show(0);
}

function left(lines: number): string {
  return lines > mostLines ? `  and ${lines - mostLines} more lines; -o json has them all\n` : '';
}
