// The comparison of two plans, for people.
import { counted, type Paint, table } from '../output/index.ts';
import type { PlanDiff, PlanSummary } from './diff.ts';
import { perHour, perMonth } from './money.ts';

const mostLines = 40;

export function renderDiff(diff: PlanDiff, paint: Paint): string {
  const sections = [summary(diff, paint)];
  if (diff.nodes.length > 0) sections.push(`${paint.bold('Nodes to launch')}\n${nodes(diff, paint)}`);
  const moved = diff.moves.reduce((sum, { pods }) => sum + pods, 0);
  if (moved > 0) sections.push(`${paint.bold(`${counted(moved, 'pod')} placed elsewhere`)}\n${moves(diff)}`);
  else sections.push('Every pod gets the same kind of place.\n');
  if (diff.lost.length > 0) sections.push(paint.red(`${counted(diff.lost.length, 'pod')} would lose their place.\n`));
  if (diff.gained.length > 0) sections.push(paint.green(`${counted(diff.gained.length, 'pod')} would gain a place.\n`));
  return sections.join('\n');
}

function summary({ before, after, pricePerHour }: PlanDiff, paint: Paint): string {
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
  const columns = [
    { title: '' },
    { title: before.name, align: 'right' as const },
    { title: after.name, align: 'right' as const },
    { title: 'change', align: 'right' as const },
  ];
  return `${table(columns, rows, { heading: paint.dim })}${verdict(before.pricePerHour, pricePerHour)}\n`;
}

function verdict(before: number, change: number): string {
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

function moves(diff: PlanDiff): string {
  const rows = diff.moves
    .slice(0, mostLines)
    .map(({ workload, from, to, pods }) => [`${workload} ×${pods}`, from, '→', to]);
  const columns = [{ title: '' }, { title: '' }, { title: '' }, { title: '' }];
  return `${table(columns, rows, { indent: '  ' })}${left(diff.moves.length)}`;
}

function signed(value: number, show: (value: number) => string): string {
  return value > 0 ? `+${show(value)}` : value < 0 ? `-${show(-value)}` : show(0);
}

function left(lines: number): string {
  return lines > mostLines ? `  and ${lines - mostLines} more lines; -o json has them all\n` : '';
}
