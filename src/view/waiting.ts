// Pods that wait, grouped by what they wait for: those that get a node, with the way they have come, and those without a
// place, with the nearest miss of each pool and the change that would help.
import { label, type NodeClaim } from '../api/index.ts';
import { conditionType } from '../api/names.ts';
import { parseTime } from '../base/index.ts';
import type { Plan, Reason } from '../core/index.ts';
import type { Pod } from '../ports/index.ts';
import { workloadOf } from './workload-of.ts';

export interface WaitingStep {
  step: 'seen' | 'planned' | 'claim' | 'launched' | 'joined' | 'ready';
  time?: string;
}

export interface WaitingGroup {
  workload: string;
  outcome: 'noPlace' | 'newNode' | 'existingNode' | 'held';
  count: number;
  /** Of the pod that waits longest. */
  since: string;
  message: string;
  pods: string[];
  reasons?: readonly Reason[];
  node?: string;
  steps?: WaitingStep[];
}

export interface WaitingView {
  apiVersion: 'kerf/v1';
  kind: 'WaitingView';
  time: string;
  waiting: number;
  groups: WaitingGroup[];
  /** Groups beyond the first 200. */
  groupsLeftOut: number;
}

export interface WaitingInput {
  time: string;
  /** Absent where no pod waits. */
  plan?: Plan;
  /** Pods without a node. */
  pods: readonly Pod[];
  /** Of the pods that a claim under way was made for. */
  claimOf(pod: string): NodeClaim | undefined;
}

const mostGroups = 200;
const mostNames = 50;

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace ?? 'default'}/${metadata.name ?? ''}`;

export function waitingView({ time, plan, pods, claimOf }: WaitingInput): WaitingView {
  const refused = new Map(plan?.unschedulable.map(({ pod, reasons }) => [pod, reasons]));
  const planned = new Map(plan?.newNodes.flatMap((node) => node.pods.map((pod) => [pod, node] as const)));
  const placed = new Map(plan?.existingNodes.flatMap(({ name, pods: own }) => own.map((pod) => [pod, name] as const)));
  const groups = new Map<string, WaitingGroup>();
  for (const pod of pods) {
    const key = keyOf(pod);
    const workload = workloadOf(pod);
    const claim = claimOf(key);
    const reasons = refused.get(key);
    const node = planned.get(key);
    const found = ((): Pick<WaitingGroup, 'outcome' | 'message' | 'reasons' | 'node' | 'steps'> => {
      if (claim !== undefined) return underWay(claim);
      if (reasons !== undefined) return { outcome: 'noPlace', message: 'finds no place', reasons };
      if (node !== undefined) {
        const { instanceType, zone, capacityType } = node.chosen;
        return { outcome: 'newNode', message: `gets a new ${instanceType} in ${zone}, ${capacityType}` };
      }
      const there = placed.get(key);
      if (there !== undefined) return { outcome: 'existingNode', message: `fits on ${there}`, node: there };
      return { outcome: 'held', message: 'kube-scheduler has not placed it yet' };
    })();
    const gist = found.reasons?.map(({ code, nodePool = '' }) => `${code} ${nodePool}`).join() ?? found.message;
    const id = `${workload}\n${found.outcome}\n${gist}`;
    const since = pod.metadata.creationTimestamp ?? time;
    const group = groups.get(id) ?? { workload, ...found, count: 0, since, pods: [] };
    group.count += 1;
    if (since < group.since) group.since = since;
    if (group.pods.length < mostNames) group.pods.push(key);
    groups.set(id, group);
  }
  const order = { noPlace: 0, held: 1, newNode: 2, existingNode: 3 };
  const sorted = [...groups.values()].sort(
    (left, right) => order[left.outcome] - order[right.outcome] || right.count - left.count,
  );
  return {
    apiVersion: 'kerf/v1',
    kind: 'WaitingView',
    time,
    waiting: pods.length,
    groups: sorted.slice(0, mostGroups),
    groupsLeftOut: Math.max(0, sorted.length - mostGroups),
  };
}

function underWay(claim: NodeClaim): Pick<WaitingGroup, 'outcome' | 'message' | 'node' | 'steps'> {
  const { name = '', labels, creationTimestamp } = claim.metadata;
  const since = (type: string): string | undefined => {
    const condition = claim.status?.conditions?.find((each) => each.type === type);
    return condition?.status === 'True' ? condition.lastTransitionTime : undefined;
  };
  const type = labels?.[label.instanceType];
  const where = labels?.[label.zone];
  const steps: WaitingStep[] = [];
  const step = (at: WaitingStep['step'], time: string | undefined): void => {
    steps.push({ step: at, ...(time !== undefined && parseTime(time) !== undefined && { time }) });
  };
  step('claim', creationTimestamp);
  step('launched', since(conditionType.launched));
  step('joined', since(conditionType.registered));
  step('ready', since(conditionType.initialized));
  const what = type === undefined ? 'a node of its pool' : `${type}${where === undefined ? '' : ` in ${where}`}`;
  return { outcome: 'newNode', message: `${name}: ${what} is on its way`, node: name, steps };
}
