// Why a pod waits, and what will become of it: the plan's answer for this one pod, or why the plan does not ask.
import { KerfError } from '../../base/index.ts';
import type { Plan, PlannedNode, Reason, Snapshot } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { counted, type Paint, wrapText } from '../output/index.ts';
import { price } from '../plan/money.ts';
import { namesText } from './names.ts';

export interface PodStory {
  pod: string;
  /** What the plan says of it; `none` if it is not waiting for a node. */
  outcome: 'newNode' | 'existingNode' | 'noPlace' | 'none';
  /** One readable line. */
  message: string;
  node?: string;
  newNode?: Pick<PlannedNode, 'nodePool' | 'chosen' | 'instanceTypes' | 'pods'>;
  /** Preferences it does without. */
  doesWithout?: readonly string[];
  reasons?: readonly Reason[];
}

/** `name` alone is looked for in every namespace. */
export function findPod(snapshot: Snapshot, name: string): Pod {
  const pods = snapshot.objects.items.filter(({ kind }) => kind === 'Pod') as unknown as Pod[];
  const named = pods.filter((pod) => keyOf(pod) === name || pod.metadata.name === name);
  const [pod, ...others] = named;
  if (pod === undefined) {
    throw new KerfError('NotFound', `there is no pod ${name} here; ${namesText(pods.map(keyOf))}`);
  }
  if (others.length > 0) {
    const keys = named.map(keyOf).sort().join(', ');
    throw new KerfError('NotFound', `there are ${named.length} pods called ${name}: ask about one of ${keys}`);
  }
  return pod;
}

/** `relaxed` says for each pod what it does without. */
export function podStory(pod: Pod, plan: Plan, relaxed: ReadonlyMap<string, readonly string[]>): PodStory {
  const key = keyOf(pod);
  const doesWithout = relaxed.get(key) ?? [];
  const has = ({ pods }: { pods: readonly string[] }): boolean => pods.includes(key);
  const without = doesWithout.length === 0 ? {} : { doesWithout };
  const refused = plan.unschedulable.find((each) => each.pod === key);
  if (refused !== undefined) {
    return { pod: key, outcome: 'noPlace', message: 'finds no place', reasons: refused.reasons, ...without };
  }
  const made = plan.newNodes.find(has);
  if (made !== undefined) {
    const { nodePool, chosen, instanceTypes, pods } = made;
    const message = `gets a new node of NodePool ${nodePool}`;
    return { pod: key, outcome: 'newNode', message, newNode: { nodePool, chosen, instanceTypes, pods }, ...without };
  }
  const there = plan.existingNodes.find(has);
  if (there !== undefined) {
    const message = `fits on ${there.name}, which is there or on its way: kube-scheduler places it`;
    return { pod: key, outcome: 'existingNode', message, node: there.name, ...without };
  }
  const node = pod.spec?.nodeName;
  return { pod: key, outcome: 'none', message: whyNotWaiting(pod), ...(node ? { node } : {}) };
}

/** In the order in which the rules say so. */
function whyNotWaiting(pod: Pod): string {
  const { metadata, spec, status } = pod;
  if (metadata.deletionTimestamp) return 'is being deleted and needs no node any more';
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed')
    return `has ended (${status.phase}) and needs no node any more`;
  if (spec?.nodeName)
    return `has a node: ${spec.nodeName}${status?.phase === 'Pending' ? ', where it has yet to start' : ''}`;
  if (metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet'))
    return 'belongs to a DaemonSet: it comes with nodes, nodes do not come for it';
  if (status?.nominatedNodeName)
    return `waits for room on ${status.nominatedNodeName}, where kube-scheduler evicts others for it`;
  const reason = status?.conditions?.find(({ type }) => type === 'PodScheduled')?.reason;
  if (reason === 'SchedulingGated') return 'is held back by its scheduling gates: whoever set them must open them';
  const scheduler = spec?.schedulerName ?? 'default-scheduler';
  const said = reason === undefined ? 'nothing of it yet' : `${reason} of it`;
  return `waits for its scheduler: ${scheduler} has said ${said}, and nodes are made for pods it finds Unschedulable`;
}

export function renderPodStory(story: PodStory, { paint, columns }: { paint: Paint; columns: number }): string {
  const lines = [`${paint.bold(story.pod)}  ${story.message}`];
  const { newNode, doesWithout = [], reasons = [] } = story;
  if (newNode !== undefined) {
    const { instanceType, zone, capacityType, pricePerHour } = newNode.chosen;
    const others = newNode.instanceTypes.length - 1;
    lines.push(
      `  ${instanceType} in ${zone}, ${capacityType}, ${price(pricePerHour)}` +
        `${others > 0 ? `, or one of ${counted(others, 'other type')}` : ''}; shared by ${counted(newNode.pods.length, 'pod')}`,
    );
  }
  const indented = (text: string, by: number): string[] =>
    wrapText(text, Math.max(40, columns - by)).map((line) => ' '.repeat(by) + line);
  for (const { code, nodePool, message, suggestion } of reasons) {
    lines.push(...indented(`${nodePool === undefined ? '' : `pool ${nodePool}: `}${message} (${code})`, 2));
    if (suggestion !== undefined) lines.push(...indented(`try: ${suggestion}`, 4).map(paint.dim));
  }
  if (doesWithout.length > 0) {
    lines.push(`  ${reasons.length > 0 ? 'even without what it prefers:' : 'it does without what it prefers:'}`);
    for (const each of doesWithout) lines.push(...indented(each.replace(/^removing: /, ''), 4).map(paint.dim));
  }
  return `${lines.join('\n')}\n`;
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace ?? 'default'}/${metadata.name ?? ''}`;
