// A verdict about every node: it would go, it would be replaced, or it stays, and then everything that keeps it, in the
// order in which it would have to change. Verdicts are about each node alone; what goes together is a command's business.

import { conditionType } from '../../api/names.ts';
import { conditionOf, formatTime, parseTime, type Sliced } from '../../base/index.ts';
import { unreadableSchedules } from '../budgets/budgets.ts';
import type { Repair } from '../nodes/repairs.ts';
import type { ChosenOffering, ExistingPlacement } from '../plan.ts';
import { balancedThreshold } from './balanced.ts';
import { blockersOf, isEmptyNode } from './candidates.ts';
import type { DisruptionReason } from './command.ts';
import { drainProblems } from './drain.ts';
import { driftMove, exchangeRoom, hasSurplus } from './drift.ts';
import { driftedFields } from './drifted-fields.ts';
import { consolidationProblems, emptinessProblems, hasDrifted } from './eligibility.ts';
import { budgetsOf, type Member } from './fleet.ts';
import { outbreakOf, remedy } from './repair.ts';
import type { Round } from './round.ts';
import { type Stuck, stuckOf } from './terminate-first.ts';

export interface VerdictBlocker {
  readonly code: string;
  readonly message: string;
  /** What would have to change. */
  readonly suggestion?: string;
  /** The pods it is about, as `namespace/name`. */
  readonly pods?: readonly string[];
}

export interface NodeVerdict {
  readonly node: string;
  readonly nodeClaim?: string;
  readonly nodePool?: string;
  readonly instanceType?: string;
  readonly pricePerHour: number;
  readonly costPerDay: number;
  readonly createdAt?: string;
  readonly ageSeconds?: number;
  readonly verdict: 'remove' | 'replace' | 'keep';
  readonly reason?: DisruptionReason;
  readonly savingsPerHour: number;
  /** Of a node that something keeps which a person can change: what its going would save; absent where that is nothing. */
  readonly savingsIfFreedPerHour?: number;
  /** What would come instead. */
  readonly replacements?: readonly ChosenOffering[];
  /** Existing nodes its pods would move to. */
  readonly destinations?: readonly string[];
  /** Since when the first blocker has been the first, as far as the cluster remembers. */
  readonly since?: string;
  /** Of a node whose NodeClaim was deleted: why, a clause whose subject is the NodeClaim. */
  readonly ending?: string;
  readonly blockers: readonly VerdictBlocker[];
  /** Of a drifted node: the reason, and the fields in which it differs from what its NodePool asks for. */
  readonly drift?: { readonly reason: string; readonly fields: readonly string[] };
}

const suggestions: Readonly<Record<string, string>> = {
  NotManaged: 'nothing to do: it is not managed by Kerf',
  AlreadyDisrupting: 'nothing to do: it is on its way out',
  Leaving: 'nothing to do: it is on its way out',
  DrainBlocked:
    'do one of the following for each pod, or give the NodePool a terminationGracePeriod for the nodes that come after',
  NoNode: 'wait until its Node has joined',
  NoPoolLabel: 'label the Node with karpenter.sh/nodepool',
  StaticPool: 'lower spec.replicas of the NodePool',
  NoRoomToExchange: 'wait until it has no more nodes than spec.replicas',
  Surplus: 'wait until it has no more nodes than spec.replicas',
  ReservationsFull: 'enlarge a capacity reservation, or turn on the gates TerminateFirstDrift and TerminateFirstRepair',
  BufferPods: 'shrink the CapacityBuffer that wants the room',
  UnknownInstanceType: 'let the NodePool offer the instance type again, or wait until the node drifts',
  MissingLabel: 'put the label back on the Node',
  PodsDoNotFit: 'give its pods another place: loosen their constraints or the limits of the NodePools',
  DestinationNotReady: 'wait until the nodes are initialized that its pods would move to',
  MinValuesUnsatisfied: 'lower minValues of the NodePool, or widen its requirements',
  SpotToSpotInflexible: 'widen the requirements of the NodePool: more types that are cheaper',
  NotInitialized: 'wait until its startup taints are gone and its resources are registered',
  NotRegistered: 'wait until its kubelet has registered the Node, or see the conditions of its NodeClaim',
  Rebooting: 'wait until it is back: a reboot that takes too long ends the NodeClaim',
  RebootDue: 'nothing to do: it is rebooted next',
  DoNotRepair: 'remove the annotation karpenter.sh/do-not-repair from the Node and its NodeClaim',
  RepairNeedsGracePeriod:
    'give the NodePool a terminationGracePeriod for the nodes that come after; for this one, move the pod or end its protection',
  TooManyUnhealthy:
    'look for what its nodes have in common (image, network, control plane): with fewer broken ones repair goes on',
  NodeLimit:
    'raise limits.nodes of the NodePool by one, or turn on the gates TerminateFirstDrift and TerminateFirstRepair',
  Nominated: 'wait: pods are about to come to it',
  NodeDoNotDisrupt: 'remove the annotation karpenter.sh/do-not-disrupt from the Node',
  NoPool:
    'create the NodePool again, or delete the NodeClaim; if it is there, let it find instance types (see its conditions)',
  PodDoNotDisrupt: 'remove the annotation karpenter.sh/do-not-disrupt from the pod, or wait until it ends',
  PodBudgets: 'let one PodDisruptionBudget at most select the pod',
  PodBudgetExhausted: 'let the PodDisruptionBudget allow a disruption, or get its unhealthy pods ready',
  ConsolidationDisabled: 'set consolidateAfter of the NodePool to a duration',
  OnlyWhenEmpty: 'set consolidationPolicy of the NodePool to WhenEmptyOrUnderutilized',
  NotQuiet: 'wait until consolidateAfter has passed without pods coming or going',
  Budget: 'change the budgets of the NodePool, or wait until fewer of its nodes are being disrupted',
  SpotToSpotDisabled: 'turn on the feature gate SpotToSpotConsolidation',
  ReplacementLoop: 'wait a day, or let prices and requests settle: consolidateAfter of the NodePool may be too short',
  PaybackTooLong: 'nothing to do: raise the setting consolidation-payback if such moves are wanted',
  Unbalanced: 'nothing to do: moving its pods is not worth the saving',
  NotCheaper: 'nothing to do: no cheaper node holds its pods',
  NeedsMoreNodes: 'nothing to do: its pods, and those that wait, would need several new nodes',
};

/** The verdict in one word: what would happen, or the first thing that keeps the node. */
export function verdictCode({ verdict, blockers }: Pick<NodeVerdict, 'verdict' | 'blockers'>): string {
  if (verdict === 'keep') return blockers[0]?.code ?? 'Kept';
  return verdict === 'remove' ? 'Removable' : 'Replaceable';
}

export function* nodeVerdicts(round: Round, isAsked: (member: Member) => boolean = () => true): Sliced<NodeVerdict[]> {
  const verdicts: NodeVerdict[] = [];
  for (const member of round.fleet.members) {
    if (!isAsked(member)) continue;
    verdicts.push(yield* verdictOf(round, member));
    yield undefined;
  }
  return verdicts.sort((left, right) => (left.node < right.node ? -1 : 1));
}

type Judged = Pick<
  NodeVerdict,
  'verdict' | 'reason' | 'savingsPerHour' | 'savingsIfFreedPerHour' | 'replacements' | 'destinations' | 'blockers'
>;

function* verdictOf(round: Round, member: Member): Sliced<NodeVerdict> {
  const { machine, poolName, instanceType, price } = member;
  const judged = yield* judge(round, member);
  const { reason, replacements, destinations, ...rest } = judged;
  const condition = conditionOf(machine.claim?.status?.conditions, conditionType.verdict);
  const since = condition?.reason === verdictCode(judged) ? condition.lastTransitionTime : undefined;
  const isDeleted = machine.claim?.metadata.deletionTimestamp !== undefined;
  const ending = isDeleted ? conditionOf(machine.claim?.status?.conditions, conditionType.deletionReason)?.message : '';
  const createdAt = machine.claim?.metadata.creationTimestamp ?? machine.node?.metadata.creationTimestamp;
  const createdMs = parseTime(createdAt ?? '');
  return {
    node: member.name,
    ...(machine.claim === undefined ? {} : { nodeClaim: machine.claim.metadata.name }),
    ...(poolName === undefined ? {} : { nodePool: poolName }),
    ...(instanceType === undefined ? {} : { instanceType }),
    pricePerHour: price,
    costPerDay: price * 24,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(createdMs === undefined ? {} : { ageSeconds: Math.max(0, (round.fleet.nowMs - createdMs) / 1000) }),
    ...(since === undefined ? {} : { since }),
    ...(ending ? { ending } : {}),
    ...rest,
    ...(reason === undefined ? {} : { reason }),
    ...(replacements === undefined || replacements.length === 0 ? {} : { replacements }),
    ...(destinations === undefined || destinations.length === 0 ? {} : { destinations }),
    ...driftOf(member),
  };
}

function driftOf({ machine, pool }: Member): Pick<NodeVerdict, 'drift'> {
  if (!hasDrifted({ machine })) return {};
  const reason = conditionOf(machine.claim?.status?.conditions, conditionType.drifted)?.reason ?? '';
  const fields = pool === undefined || machine.claim === undefined ? [] : driftedFields(pool, machine.claim);
  return { drift: { reason, fields } };
}

/** By the first method that would take it; by the one that is named first if none would. */
function* judge(round: Round, member: Member): Sliced<Judged> {
  const draining = drainProblems(round.fleet, member);
  if (draining !== undefined) return kept(reported(draining));
  if (member.repair === undefined) return yield* undamaged(round, member);
  const repaired = yield* broken(round, member, member.repair);
  if (repaired.verdict !== 'keep' || repaired.blockers[0]?.code === 'RebootDue') return repaired;
  const other = yield* undamaged(round, member);
  return other.verdict === 'keep' ? repaired : other;
}

function* undamaged(round: Round, member: Member): Sliced<Judged> {
  const packed = isEmptyNode(member) || !hasDrifted(member) ? yield* undrifted(round, member) : undefined;
  if (packed !== undefined && (packed.verdict !== 'keep' || !hasDrifted(member))) return packed;
  const exchanged = yield* drifted(round, member);
  if (exchanged.verdict !== 'keep') return exchanged;
  const other = packed ?? (yield* undrifted(round, member));
  return other.verdict === 'keep' ? exchanged : other;
}

function* undrifted(round: Round, member: Member): Sliced<Judged> {
  const blockers = reported(blockersOf(round.fleet, member, 'graceful'));
  const { machine } = member;
  if (machine.claim === undefined || machine.node === undefined || member.isQueued) return kept(blockers);
  // Without its pool there are no settings that could keep it.
  if (member.pool === undefined) return kept(blockers);
  const isEmpty = isEmptyNode(member);
  const problems = isEmpty
    ? emptinessProblems(member, (each) => round.hasBufferPods(each))
    : consolidationProblems(member);
  blockers.push(...reported(problems));
  const reason: DisruptionReason = isEmpty ? 'Empty' : 'Underutilized';
  blockers.push(...budgetBlockers(round, member, reason));
  if (isEmpty) return blockers.length > 0 ? kept(blockers, member.price) : goes('remove', reason, member.price);
  if (member.index < 0 || member.isStatic || !member.isTypeKnown) return kept(blockers);
  const isKeptByPods = blockers.some(({ code }) => code.startsWith('Pod'));
  const answer = isKeptByPods ? yield* round.freedSingle(member) : yield* round.singleInSlices(member);
  if (answer.kind === 'none') return kept([...blockers, ...reported([answer, ...(answer.also ?? [])])]);
  const unbalanced = round.scores([member], answer.savings).find((score) => !score.approved);
  if (unbalanced !== undefined) {
    const message = `Balanced policy: score ${unbalanced.score.toFixed(2)} is below ${balancedThreshold.toFixed(2)}`;
    blockers.push(...reported([{ code: 'Unbalanced', message }]));
  }
  if (blockers.length > 0) return kept(blockers, answer.savings);
  return answer.kind === 'delete'
    ? goes('remove', reason, answer.savings, [], answer.placements)
    : goes(
        'replace',
        reason,
        answer.savings,
        answer.replacements.map(({ chosen }) => chosen),
        answer.placements,
      );
}

function* broken(round: Round, member: Member, repair: Repair): Sliced<Judged> {
  const blockers = reported(blockersOf(round.fleet, member, 'repair'));
  if (member.isQueued || member.pool === undefined) return kept(blockers);
  const outbreak = outbreakOf(round, member);
  if (outbreak !== undefined) blockers.push(...reported([outbreak]));
  if (member.machine.initialized) blockers.push(...budgetBlockers(round, member, 'Unhealthy'));
  const found = yield* remedy(round, member, repair);
  if ('code' in found) blockers.push(...reported([found]));
  if (blockers.length > 0 || 'code' in found) return kept(blockers);
  if (repair.action === 'RebootNode') {
    const message = `would be rebooted in place: condition ${repair.condition} is ${repair.status} (${repair.reason})`;
    return kept(reported([{ code: 'RebootDue', message }]));
  }
  const chosen = found.replacements.flatMap((each) => (each.kind === 'planned' ? [each.node.chosen] : []));
  const verdict = found.replacements.length > 0 ? 'replace' : 'remove';
  return goes(verdict, 'Unhealthy', found.savings, chosen, found.placements);
}

function* drifted(round: Round, member: Member): Sliced<Judged> {
  const blockers = reported(blockersOf(round.fleet, member, 'eventual'));
  if (member.index < 0 || member.isQueued) return kept(blockers);
  blockers.push(...budgetBlockers(round, member, 'Drifted'));
  if (member.isStatic) {
    const stuck = exchangeProblem(round, member);
    if (stuck?.kind === 'blocked') blockers.push(...reported([stuck.answer]));
    if (blockers.length > 0) return kept(blockers);
    return goes(stuck === undefined ? 'replace' : 'remove', 'Drifted', 0);
  }
  const move = yield* driftMove(round, member, 'TerminateFirstDrift');
  if (move.kind === 'blocked') return kept([...blockers, ...reported([move.answer])]);
  if (blockers.length > 0) return kept(blockers);
  const chosen = move.nodes.map((node) => node.chosen);
  return goes(chosen.length > 0 ? 'replace' : 'remove', 'Drifted', move.savings, chosen, move.placements);
}

function budgetBlockers(round: Round, member: Member, reason: DisruptionReason): VerdictBlocker[] {
  const { pool } = member;
  if (pool === undefined) return [];
  const { allowed, remaining, counts, opensMs } = round.fleet.budget(pool, reason);
  if (remaining >= 1) return [];
  const { name } = pool.metadata;
  const [unreadable] = unreadableSchedules(budgetsOf(pool));
  if (unreadable !== undefined) {
    const message = `a budget of NodePool ${name} has a schedule that cannot be read ("${unreadable}"), so no node may go`;
    return reported([{ code: 'Budget', message }]);
  }
  const untilMs = opensMs();
  const until = untilMs === undefined ? '' : `, until ${formatTime(untilMs)}`;
  const out = `${counts.consuming} ${counts.consuming === 1 ? 'is' : 'are'}`;
  const nodes = `${counts.total} ${counts.total === 1 ? 'node' : 'nodes'}`;
  const message =
    allowed === 0
      ? `the budgets of NodePool ${name} allow no disruption for ${reason}${until}`
      : `the budgets of NodePool ${name} allow ${allowed} of ${nodes} to be out at once for ${reason}, and ${out}${until}`;
  const closed =
    untilMs === undefined ? 'this budget allows no disruption: change it' : 'wait until then, or change it';
  return reported([{ code: 'Budget', message, ...(allowed === 0 ? { suggestion: closed } : {}) }]);
}

/** Nodes of static pools are exchanged one for one, so for a while there is one more. */
function exchangeProblem(round: Round, member: Member): Stuck | undefined {
  const { pool } = member;
  if (pool === undefined) return undefined;
  const message = `NodePool "${pool.metadata.name}" has more nodes than spec.replicas`;
  if (hasSurplus(round, pool)) return { kind: 'blocked', answer: { code: 'NoRoomToExchange', message } };
  return stuckOf(round.fleet, member, pool, 'TerminateFirstDrift', exchangeRoom(round, pool));
}

/** What comes instead, in words. */
export function insteadText({ replacements = [] }: Pick<NodeVerdict, 'replacements'>): string {
  if (replacements.length === 0) return 'a new node of its NodePool';
  return countedTypes(replacements.map((each) => `${each.instanceType} in ${each.zone}`));
}

/** `4 × g4dn.xlarge, c7i.large` */
export function countedTypes(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ');
}

/** Texts that events must keep are said in other words everywhere else. */
export function plainText({ code, message }: Pick<VerdictBlocker, 'code' | 'message'>): string {
  const nodes = /^Can't remove without creating (\d+) candidates$/.exec(message)?.[1];
  return code === 'NeedsMoreNodes' && nodes !== undefined
    ? `its pods would need ${nodes} new nodes, so nothing is saved`
    : message;
}

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly pod?: string;
  /** If not what is always suggested. */
  readonly suggestion?: string;
}

/** With what to do about it; what is the same about several pods is reported once. */
function reported(problems: Iterable<Problem>): VerdictBlocker[] {
  const byText = new Map<string, { problem: Problem; pods: string[] }>();
  for (const problem of problems) {
    // A pod that is named in the text is not named again.
    const pods = problem.pod === undefined || problem.message.includes(problem.pod) ? [] : [problem.pod];
    const same = byText.get(problem.message);
    if (same === undefined) byText.set(problem.message, { problem, pods });
    else same.pods.push(...pods);
  }
  // By name, and what pods say by its text: the order in which a cache came to know pods is not the same for every reader.
  return inOrder([...byText.values()]).map(({ problem, pods: unordered }) => {
    const pods = unordered.toSorted();
    const { code, message } = problem;
    const suggestion = problem.suggestion ?? suggestions[code];
    return { code, message, ...(suggestion === undefined ? {} : { suggestion }), ...(pods.length > 0 ? { pods } : {}) };
  });
}

/** What is said of pods stays where it is; among itself annotations come first, then everything by its text. */
function inOrder<T extends { problem: Problem }>(all: readonly T[]): readonly T[] {
  const isOfPod = ({ problem }: T): boolean => problem.pod !== undefined;
  const rank = ({ problem }: T): number => (problem.code === 'PodDoNotDisrupt' ? 0 : 1);
  const ofPods = all
    .filter(isOfPod)
    .sort((left, right) => rank(left) - rank(right) || (left.problem.message < right.problem.message ? -1 : 1))
    .values();
  return all.map((each) => (isOfPod(each) ? (ofPods.next().value as T) : each));
}

/** Time alone does not free it: someone has to change something. */
const isChangeable = ({ suggestion = '' }: VerdictBlocker): boolean => !/^(wait|nothing to do)\b/.test(suggestion);

function kept(blockers: readonly VerdictBlocker[], ifFreed = 0): Judged {
  const isHeld = ifFreed > 0 && blockers.some(isChangeable);
  return { verdict: 'keep', savingsPerHour: 0, ...(isHeld && { savingsIfFreedPerHour: ifFreed }), blockers };
}

function goes(
  verdict: 'remove' | 'replace',
  reason: DisruptionReason,
  savingsPerHour: number,
  replacements: readonly ChosenOffering[] = [],
  placements: readonly ExistingPlacement[] = [],
): Judged {
  const destinations = placements.map(({ name }) => name);
  return { verdict, reason, savingsPerHour, replacements, destinations, blockers: [] };
}
