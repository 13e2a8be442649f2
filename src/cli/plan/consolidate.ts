// `kerf plan --consolidate`: what disruption would do next with a cluster, and a verdict about every node. The same
// decisions the controller makes, without its waiting and without changing anything.
import { atOnce } from '../../base/index.ts';
import {
  type Command,
  commandText,
  decisionOf,
  firstOutcome,
  isWorthLookingAhead,
  methods,
  type NodeVerdict,
  nodeVerdicts,
  type PlanOptions,
  Round,
  type Snapshot,
  type Way,
  wayAhead,
} from '../../core/index.ts';

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

export interface NextCommand {
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
