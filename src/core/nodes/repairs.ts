// Which nodes are broken, and what is to be done about them: the provider's policies against the conditions of nodes.
// A policy speaks about a condition and a status, and where it has a pattern, about reasons; the one without a pattern is
// for all other reasons. What counts is for how long: since the condition changed, since a flapping one began, and since
// the last reboot was over, whichever is right.

import { annotation, conditionType } from '../../api/names.ts';
import { KerfError, linearPattern, parseTime } from '../../base/index.ts';
import { type Condition, conditionIsTrue, type Node, type NodeClaim } from '../kube/objects.ts';
import type { NodeStateEntry, RepairAction, RepairPolicy, Snapshot } from '../snapshot.ts';
import type { Machine } from './machines.ts';

/** What is to be done about one node now. */
export interface Repair {
  readonly action: RepairAction;
  /** The condition that decides, and what it says. */
  readonly condition: string;
  readonly status: string;
  readonly reason: string;
  /** How long its pods may take to leave; undefined leaves that to the claim. */
  readonly graceMs: number | undefined;
  /** How urgent it is: the rank of its priority, and one more for every half hour it has been due. */
  readonly urgency: number;
  /** It was rebooted before, and that did not help. */
  readonly isEscalated: boolean;
}

/** One more for every half hour: what is less urgent is not left for ever. */
const agingMs = 30 * 60_000;
/** So many reboots within a day, then the node is replaced. */
const mostReboots = 2;
const rebootsCountMs = 24 * 3_600_000;
const priorities = { least: 0, most: 100 };
/** Longer reasons are cut; no pattern needs more. */
const mostReasonCharacters = 1_024;

interface Compiled {
  readonly policy: RepairPolicy;
  readonly rank: number;
  matches(reason: string): boolean;
}

interface Matched {
  readonly compiled: Compiled;
  readonly condition: Condition;
}

const keyOf = ({ type = '', status = '' }: Pick<Condition, 'type' | 'status'>): string => `${type}=${status}`;

export class RepairPolicies {
  private readonly specific = new Map<string, Compiled[]>();
  private readonly fallbacks = new Map<string, Compiled>();
  private readonly fallback: Compiled | undefined;

  /** Throws if the policies contradict each other or cannot be read. */
  constructor(policies: readonly RepairPolicy[]) {
    const ranks = [...new Set(policies.map(({ priority = 0 }) => priority))].sort((left, right) => left - right);
    const problems = policies.flatMap(problemsOf);
    for (const policy of policies) {
      const key = keyOf({ type: policy.conditionType, status: policy.conditionStatus });
      const known = this.specific.get(key) ?? [];
      this.specific.set(key, known);
      const { reasonRegex = '', priority = 0 } = policy;
      const compiled = { policy, rank: ranks.indexOf(priority), matches: linearPattern(reasonRegex) ?? (() => false) };
      if (reasonRegex !== '') known.push(compiled);
      else if (this.fallbacks.has(key)) problems.push(`two policies for every reason of ${key}`);
      else this.fallbacks.set(key, compiled);
    }
    [this.fallback] = this.fallbacks.values();
    if (policies.length > 0 && this.fallback === undefined) problems.push('no policy for every reason');
    if (problems.length > 0) throw new KerfError('RepairPoliciesInvalid', `repair policies: ${problems.join('; ')}`);
  }

  /** Whether some policy speaks about a condition the node has, for however long. */
  isUnhealthy(node: Node): boolean {
    return (node.status?.conditions ?? []).some((condition) => this.specific.has(keyOf(condition)));
  }

  /** `Type=Status` of the conditions that policies speak about. */
  keys(): Iterable<string> {
    return this.specific.keys();
  }

  /** What to do about the node at that time; undefined while nothing is due. */
  repairOf(node: Node, claim: NodeClaim | undefined, state: RepairState): Repair | undefined {
    const due = this.matched(node)
      .map((each) => ({ ...each, dueMs: dueMs(each, node, claim, state) }))
      .filter((each) => each.dueMs <= state.nowMs);
    const urgency = due.map(({ compiled, dueMs: sinceMs }) => compiled.rank + (state.nowMs - sinceMs) / agingMs);
    const graces = due.flatMap(({ compiled }) => compiled.policy.terminationGracePeriodMs ?? []);
    const [first] = due.sort(
      (left, right) =>
        severity(right) - severity(left) ||
        (right.compiled.policy.priority ?? 0) - (left.compiled.policy.priority ?? 0) ||
        left.dueMs - right.dueMs ||
        ((left.condition.type ?? '') < (right.condition.type ?? '') ? -1 : 1),
    );
    if (first === undefined) return undefined;
    const { type = '', status = '', reason = '' } = first.condition;
    const action = actionOf(first);
    const isEscalated = action === 'RebootNode' && rebootTimes(claim, state.nowMs).length >= mostReboots;
    return {
      action: isEscalated ? 'ReplaceNode' : action,
      condition: type,
      status,
      reason,
      graceMs: graces.length === 0 ? undefined : Math.min(...graces),
      urgency: Math.max(...urgency),
      isEscalated,
    };
  }

  /** Reasons that have a policy of their own never fall back to the other one, even while theirs waits. */
  private matched(node: Node): Matched[] {
    return (node.status?.conditions ?? []).flatMap((condition): Matched[] => {
      const key = keyOf(condition);
      const own = this.specific.get(key);
      if (own === undefined) return [];
      const reason = (condition.reason ?? '').slice(0, mostReasonCharacters);
      const matching = own.filter((each) => each.matches(reason));
      const fallback = this.fallbacks.get(key) ?? this.fallback;
      const compiled = matching.length > 0 || fallback === undefined ? matching : [fallback];
      return compiled.map((each) => ({ compiled: each, condition }));
    });
  }
}

export interface RepairState {
  readonly nowMs: number;
  /** `Type=Status` of conditions that come and go, and when that began; RFC 3339. */
  readonly unhealthySince?: Readonly<Record<string, string>> | undefined;
}

function actionOf({ compiled }: Matched): RepairAction {
  return compiled.policy.action ?? 'ReplaceNode';
}

const severity = (matched: Matched): number => (actionOf(matched) === 'ReplaceNode' ? 1 : 0);

/** No condition is older than its node; one without a time is as old. After a reboot each has its time again. */
function dueMs(
  { compiled, condition }: Matched,
  node: Node,
  claim: NodeClaim | undefined,
  { nowMs, unhealthySince }: RepairState,
): number {
  const flappingMs = parseTime(unhealthySince?.[keyOf(condition)] ?? '');
  const createdMs = parseTime(node.metadata.creationTimestamp ?? '');
  const changedMs = parseTime(condition.lastTransitionTime ?? '') ?? createdMs ?? nowMs;
  const beganMs = Math.max(Math.min(changedMs, flappingMs ?? changedMs), createdMs ?? 0);
  return Math.max(beganMs, rebootedMs(claim) ?? beganMs) + compiled.policy.tolerationMs;
}

/** When its last reboot was over, one way or the other. */
function rebootedMs(claim: NodeClaim | undefined): number | undefined {
  const rebooting = claim?.status?.conditions?.find(({ type }) => type === conditionType.rebooting);
  return rebooting?.status === 'False' ? parseTime(rebooting.lastTransitionTime ?? '') : undefined;
}

/** When it was rebooted within the last day. */
export function rebootTimes(claim: Pick<NodeClaim, 'metadata'> | undefined, nowMs: number): number[] {
  const times = (claim?.metadata.annotations?.[annotation.reboots] ?? '').split(',').map(parseTime);
  return times.filter((atMs) => atMs !== undefined && atMs > nowMs - rebootsCountMs) as number[];
}

export function isRebooting(claim: NodeClaim | undefined): boolean {
  return conditionIsTrue(claim?.status?.conditions, conditionType.rebooting);
}

function problemsOf({ conditionType: type, reasonRegex = '', ...policy }: RepairPolicy): string[] {
  const { priority = 0, action = 'ReplaceNode', tolerationMs, terminationGracePeriodMs = 0 } = policy;
  const name = `the policy for ${type}`;
  return [
    ...(type === '' ? ['a policy names no condition'] : []),
    ...(tolerationMs < 0 || terminationGracePeriodMs < 0 ? [`${name} has a negative duration`] : []),
    ...(priority < priorities.least || priority > priorities.most ? [`${name} has a priority outside 0 to 100`] : []),
    ...(linearPattern(reasonRegex) === undefined ? [`${name} has a pattern that cannot be read: ${reasonRegex}`] : []),
    ...(reasonRegex === '' && action !== 'ReplaceNode' ? [`${name} is for every reason, so it must replace`] : []),
  ];
}

/** Everything about repairs that a snapshot says; undefined where nodes are not repaired this way. */
export interface Repairs {
  readonly policies: RepairPolicies;
  /** By name of the Node: what is due. */
  readonly due: ReadonlyMap<string, Repair>;
}

export function repairsOf(snapshot: Snapshot, machines: readonly Machine[]): Repairs | undefined {
  const given = snapshot.provider?.repairPolicies ?? [];
  if (given.length === 0) return undefined;
  const nowMs = parseTime(snapshot.time ?? '') ?? 0;
  const policies = new RepairPolicies(given);
  const stateOf = new Map(snapshot.nodeState?.map((entry): [string, NodeStateEntry] => [entry.node ?? '', entry]));
  const due = new Map<string, Repair>();
  for (const { node, claim, leaving } of machines) {
    if (node === undefined || claim === undefined || leaving) continue;
    const { name } = node.metadata;
    const repair = policies.repairOf(node, claim, { nowMs, unhealthySince: stateOf.get(name)?.unhealthySince });
    if (repair !== undefined) due.set(name, repair);
  }
  return { policies, due };
}
