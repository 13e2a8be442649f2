// `kerf plan --consolidate`: what disruption would do next with a cluster, and a verdict about every node. The same
// decisions the controller makes, without its waiting and without changing anything.
import { atOnce } from '../../base/index.ts';
import {
  type Command,
  commandText,
  countedTypes,
  decisionOf,
  firstOutcome,
  insteadText,
  isWorthLookingAhead,
  methods,
  type NodeVerdict,
  nodeVerdicts,
  type PlanOptions,
  plainText,
  Round,
  type Snapshot,
  type Way,
  wayAhead,
} from '../../core/index.ts';
import { counted, type Paint, table } from '../output/index.ts';
import { perHour, perMonth, price } from './money.ts';

export interface ConsolidationPlan {
  apiVersion: 'kerf/v1';
  kind: 'ConsolidationPlan';
  /** What every node costs together today. */
  pricePerHour: number;
  /** The command that would be started first; absent if none would. */
  next?: NextCommand;
  /** How consolidation would go on until nothing more is saved; absent where another method comes first, or in large clusters. */
  way?: {
    commands: NextCommand[];
    /** What is left to pay in the end. */
    pricePerHour: number;
    /** Pods that move on the way, counted each time. */
    evictions: number;
  };
  /** Each node by itself. */
  nodes: NodeVerdict[];
}

interface NextCommand {
  reason: string;
  decision: string;
  command: string;
  nodes: string[];
  replacements: { nodePool: string; instanceTypes: string[] }[];
  savingsPerHour: number;
}

export function planConsolidation(
  snapshot: Snapshot,
  options: Pick<PlanOptions, 'compileDeviceSelector'>,
): ConsolidationPlan {
  const round = Round.of(snapshot, options);
  const commandOf = (isAsked: (reason: string) => boolean): Command | undefined =>
    atOnce(
      firstOutcome(
        round,
        methods.filter(({ reason }) => isAsked(reason)),
      ),
    )?.command;
  const urgent = commandOf((reason) => reason !== 'Underutilized');
  const way = urgent === undefined && isWorthLookingAhead(round) ? atOnce(wayAhead(round)) : undefined;
  const command = urgent ?? way?.first?.command ?? commandOf((reason) => reason === 'Underutilized');
  const nodes = atOnce(nodeVerdicts(round));
  return {
    apiVersion: 'kerf/v1',
    kind: 'ConsolidationPlan',
    pricePerHour: nodes.reduce((sum, node) => sum + node.pricePerHour, 0),
    ...(command === undefined ? {} : { next: nextOf(command) }),
    ...(way === undefined || way.commands.length === 0 ? {} : { way: wayOf(way) }),
    nodes,
  };
}

function wayOf({ commands, pricePerHour, evictions }: Way): NonNullable<ConsolidationPlan['way']> {
  return { commands: commands.map(nextOf), pricePerHour, evictions };
}

function nextOf(command: Command): NextCommand {
  return {
    reason: command.reason,
    decision: decisionOf(command),
    command: commandText(command),
    nodes: command.members.map((member) => member.name),
    replacements: command.replacements.map((each) =>
      each.kind === 'planned'
        ? { nodePool: each.node.nodePool, instanceTypes: each.node.instanceTypes }
        : { nodePool: each.nodePool, instanceTypes: [] },
    ),
    savingsPerHour: command.savings,
  };
}

/** Lines of the table before the rest is left to -o json. */
const mostLines = 60;

export function renderConsolidation(plan: ConsolidationPlan, paint: Paint): string {
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
  const rows = nodes
    .slice(0, mostLines)
    .map((node) => [
      node.node,
      node.nodePool ?? '',
      node.instanceType ?? '',
      perHour(node.pricePerHour),
      node.verdict,
      node.savingsPerHour > 0 ? perMonth(node.savingsPerHour) : '',
      whyOf(node),
    ]);
  const columns = [
    { title: 'node' },
    { title: 'pool' },
    { title: 'type' },
    { title: '$/hour', align: 'right' as const },
    { title: 'alone' },
    { title: 'saves $/month', align: 'right' as const },
    { title: 'why' },
  ];
  const drawn = table(columns, rows, { indent: '  ', heading: paint.dim });
  const left = nodes.length > mostLines ? `  and ${nodes.length - mostLines} more; -o json has them all\n` : '';
  if (nodes.length > 0) sections.push(`${paint.bold('Each node by itself')}\n${drawn}${left}`);
  return sections.join('\n');
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
