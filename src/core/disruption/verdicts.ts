// A verdict about every node: it would go, it would be replaced, or it stays, and then everything that keeps it, in the
// order in which it would have to change. Verdicts are about each node alone; what goes together is a command's business.

import type { Sliced } from '../../base/index.ts';
import type { ChosenOffering } from '../plan.ts';
import { blockersOf, isEmptyNode } from './candidates.ts';
import type { DisruptionReason } from './command.ts';
import { consolidationProblem, driftProblem, emptinessProblem } from './eligibility.ts';
import type { Member } from './fleet.ts';
import type { Round } from './round.ts';
import { failureText } from './what-if.ts';

export interface VerdictBlocker {
  readonly code: string;
  readonly message: string;
  /** What would have to change. */
  readonly suggestion?: string;
}

export interface NodeVerdict {
  readonly node: string;
  readonly nodeClaim?: string;
  readonly nodePool?: string;
  readonly instanceType?: string;
  readonly pricePerHour: number;
  readonly createdAt?: string;
  readonly verdict: 'remove' | 'replace' | 'keep';
  readonly reason?: DisruptionReason;
  readonly savingsPerHour: number;
  /** What would come instead. */
  readonly replacements?: readonly ChosenOffering[];
  readonly blockers: readonly VerdictBlocker[];
}

const suggestions: Readonly<Record<string, string>> = {
  NotManaged: 'nothing to do: it belongs to somebody else',
  NotInitialized: 'wait until its startup taints are gone and its resources are registered',
  Nominated: 'wait: pods are about to come to it',
  NodeDoNotDisrupt: 'remove the annotation karpenter.sh/do-not-disrupt from the Node',
  NoPool: 'create the NodePool again, or delete the NodeClaim',
  PodDoNotDisrupt: 'remove the annotation karpenter.sh/do-not-disrupt from the pod, or wait until it ends',
  PodBudgets: 'let one PodDisruptionBudget at most select the pod',
  PodBudgetExhausted: 'let the PodDisruptionBudget allow a disruption, or get its unhealthy pods ready',
  ConsolidationDisabled: 'set consolidateAfter of the NodePool to a duration',
  OnlyWhenEmpty: 'set consolidationPolicy of the NodePool to WhenEmptyOrUnderutilized',
  NotQuiet: 'wait until consolidateAfter has passed without pods coming or going',
  Budget: 'raise the budget of the NodePool, or wait until nodes that are out are back',
  SpotToSpotDisabled: 'turn on the feature gate SpotToSpotConsolidation',
  ReplacementLoop: 'wait a day, or let prices and requests settle: consolidateAfter of the NodePool may be too short',
  Unbalanced: 'nothing to do: moving its pods is not worth the saving',
  NotCheaper: 'nothing to do: no cheaper node holds its pods',
  NeedsMoreNodes: 'nothing to do: its pods would need several new nodes',
};

export function* nodeVerdicts(round: Round, isAsked: (member: Member) => boolean = () => true): Sliced<NodeVerdict[]> {
  const verdicts: NodeVerdict[] = [];
  for (const member of round.fleet.members) {
    if (!isAsked(member)) continue;
    verdicts.push(yield* verdictOf(round, member));
    yield undefined;
  }
  return verdicts.sort((left, right) => (left.node < right.node ? -1 : 1));
}

type Judged = Pick<NodeVerdict, 'verdict' | 'reason' | 'savingsPerHour' | 'replacements' | 'blockers'>;

function* verdictOf(round: Round, member: Member): Sliced<NodeVerdict> {
  const { machine, poolName, instanceType, price } = member;
  const judged = (yield* drifted(round, member)) ?? (yield* undrifted(round, member));
  const { reason, replacements, ...rest } = judged;
  const createdAt = machine.claim?.metadata.creationTimestamp ?? machine.node?.metadata.creationTimestamp;
  return {
    node: member.name,
    ...(machine.claim === undefined ? {} : { nodeClaim: machine.claim.metadata.name }),
    ...(poolName === undefined ? {} : { nodePool: poolName }),
    ...(instanceType === undefined ? {} : { instanceType }),
    pricePerHour: price,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...rest,
    ...(reason === undefined ? {} : { reason }),
    ...(replacements === undefined || replacements.length === 0 ? {} : { replacements }),
  };
}

function* undrifted(round: Round, member: Member): Sliced<Judged> {
  const blockers = told(blockersOf(round.fleet, member, 'graceful'));
  const isEmpty = isEmptyNode(member);
  const problem = isEmpty
    ? emptinessProblem(member, (each) => round.hasBufferPods(each))
    : consolidationProblem(member);
  if (problem !== undefined && member.machine.claim !== undefined) blockers.push(...told([problem]));
  if (blockers.length > 0) return kept(blockers);
  const reason: DisruptionReason = isEmpty ? 'Empty' : 'Underutilized';
  const budget = budgetBlockers(round, member, reason);
  if (isEmpty) return budget.length > 0 ? kept(budget) : goes('remove', reason, member.price);
  const answer = yield* round.singleInSlices(member);
  if (answer.kind === 'none') return kept([...budget, ...told([answer])]);
  const unbalanced = round.scores([member], answer.savings).find((score) => !score.approved);
  if (unbalanced !== undefined) {
    const message = `Balanced policy: score ${unbalanced.score.toFixed(2)} is below 0.50`;
    return kept([...budget, ...told([{ code: 'Unbalanced', message }])]);
  }
  if (budget.length > 0) return kept(budget);
  return answer.kind === 'delete'
    ? goes('remove', reason, answer.savings)
    : goes('replace', reason, answer.savings, [answer.replacement.chosen]);
}

/** Undefined for nodes that have not drifted. */
function* drifted(round: Round, member: Member): Sliced<Judged | undefined> {
  if (driftProblem(member) !== undefined) return undefined;
  const blockers = told(blockersOf(round.fleet, member, 'eventual'));
  if (blockers.length > 0) return kept(blockers);
  const budget = budgetBlockers(round, member, 'Drifted');
  const simulation = yield* round.whatIf.simulateInSlices([member], { sparesRestless: false });
  if (simulation.failed.length > 0) {
    return kept([...budget, ...told([{ code: 'PodsDoNotFit', message: failureText(simulation) }])]);
  }
  if (budget.length > 0) return kept(budget);
  const chosen = simulation.finish().nodes.map((node) => node.chosen);
  const price = chosen.reduce((sum, each) => sum + each.pricePerHour, 0);
  return goes(chosen.length > 0 ? 'replace' : 'remove', 'Drifted', member.price - price, chosen);
}

function budgetBlockers(round: Round, member: Member, reason: DisruptionReason): VerdictBlocker[] {
  const { pool } = member;
  if (pool === undefined) return [];
  const { allowed, remaining, counts } = round.fleet.budget(pool, reason);
  if (remaining >= 1) return [];
  const message = `the budgets of NodePool ${pool.metadata.name} allow ${allowed} of ${counts.total} nodes to be disrupted for ${reason}, ${counts.consuming} are`;
  return told([{ code: 'Budget', message }]);
}

function told(problems: Iterable<{ readonly code: string; readonly message: string }>): VerdictBlocker[] {
  return [...problems].map(({ code, message }) => {
    const suggestion = suggestions[code];
    return suggestion === undefined ? { code, message } : { code, message, suggestion };
  });
}

function kept(blockers: readonly VerdictBlocker[]): Judged {
  return { verdict: 'keep', savingsPerHour: 0, blockers };
}

function goes(
  verdict: 'remove' | 'replace',
  reason: DisruptionReason,
  savingsPerHour: number,
  replacements: readonly ChosenOffering[] = [],
): Judged {
  return { verdict, reason, savingsPerHour, replacements, blockers: [] };
}
