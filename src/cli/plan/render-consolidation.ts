// What disruption would do next, for people: the command, the way from there, and a line about every node. On a terminal
// no line is wider than it: why a node stays goes below its line, and columns that can be spared go.
import { countedTypes, insteadText, type NodeVerdict, plainText } from '../../core/index.ts';
import { counted, fittingTable, type Paint, table, textWidth, wrapLines } from '../output/index.ts';
import type { ConsolidationPlan, NextCommand } from './consolidate.ts';
import { perHour, perMonth, price } from './money.ts';

/** Lines of the table before the rest is left to -o json. */
const mostLines = 60;

export interface RenderConsolidationOptions {
  paint: Paint;
  /** Widest line that stays on one line of the terminal; no limit when piped. */
  widestLine?: number;
}

export function renderConsolidation(plan: ConsolidationPlan, options: RenderConsolidationOptions): string {
  const { paint, widestLine = Number.POSITIVE_INFINITY } = options;
  const { next, nodes } = plan;
  const sections = [`${counted(nodes.length, 'node')}, ${price(plan.pricePerHour)}.\n`];
  if (next === undefined) sections.push('Nothing would be removed or replaced now.\n');
  else sections.push(`${paint.bold('Next')}\n${commandLines(next)}`);
  const { way } = plan;
  if (way !== undefined && way.commands.length > 1) {
    const later = way.commands.slice(1).map(commandLines).join('');
    const saved = plan.pricePerHour - way.pricePerHour;
    const end = `  in the end ${price(way.pricePerHour)}, saving ${price(saved)}, after moving ${counted(way.evictions, 'pod')}\n`;
    sections.push(`${paint.bold('Then, if nothing else changes')}\n${later}${end}`);
  }
  const head = wrapLines(sections.join('\n'), widestLine);
  if (nodes.length === 0) return head;
  const left = nodes.length > mostLines ? `  and ${nodes.length - mostLines} more; -o json has them all\n` : '';
  return `${head}\n${paint.bold('Each node by itself')}\n${nodeLines(nodes.slice(0, mostLines), paint, widestLine)}${left}`;
}

const columns = [
  { title: 'node' },
  { title: 'pool' },
  { title: 'type' },
  { title: '$/hour', align: 'right' as const },
  { title: 'alone' },
  { title: 'saves $/month', align: 'right' as const },
  { title: 'why' },
];

function nodeLines(nodes: readonly NodeVerdict[], paint: Paint, widestLine: number): string {
  const rows = nodes.map((node) => [
    node.node,
    node.nodePool ?? '',
    node.instanceType ?? '',
    perHour(node.pricePerHour),
    node.verdict,
    node.savingsPerHour > 0 ? perMonth(node.savingsPerHour) : '',
    whyOf(node),
  ]);
  const style = { indent: '  ', heading: paint.dim };
  const whole = table(columns, rows, style);
  if (whole.split('\n').every((line) => textWidth(line) <= widestLine)) return whole;
  const short = fittingTable(
    columns.slice(0, -1),
    rows.map((row) => row.slice(0, -1)),
    { ...style, width: widestLine, expendable: ['pool', 'type'] },
  );
  const [heading = '', ...lines] = short.trimEnd().split('\n');
  const withReasons = lines.flatMap((line, index) => [line, wrapLines(`    ${rows[index]?.at(-1) ?? ''}`, widestLine)]);
  return `${[heading, ...withReasons].join('\n')}\n`;
}

function commandLines({ command, reason, replacements, savingsPerHour }: NextCommand): string {
  const instead = replacements.length === 0 ? '' : comingText(replacements);
  return `  ${command} (${reason})${instead}\n  saves ${price(savingsPerHour)}\n`;
}

/** Of one new node its cheapest types; of several how many of which come. */
function comingText(replacements: NextCommand['replacements']): string {
  const [only] = replacements;
  if (replacements.length > 1)
    return ` by ${countedTypes(replacements.map(({ instanceTypes: [first = ''] }) => first))}`;
  return only === undefined || only.instanceTypes.length === 0
    ? ''
    : ` by ${only.instanceTypes.slice(0, 3).join(', ')}`;
}

function whyOf({ reason, replacements, blockers }: NodeVerdict): string {
  if (reason !== undefined) {
    return replacements === undefined ? reason : `${reason}: ${insteadText({ replacements })} instead`;
  }
  const [first, ...more] = blockers;
  return `${first === undefined ? '' : plainText(first)}${more.length > 0 ? ` (and ${more.length} more)` : ''}`;
}
