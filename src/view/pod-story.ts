// Why a pod waits, and what will become of it: the plan's answer for this one pod, or why the plan does not ask. The same on
// every screen.
import { KerfError, parseTime } from '../base/index.ts';
import type { Plan, PlannedNode, Reason, Snapshot } from '../core/index.ts';
import type { Pod } from '../ports/index.ts';
import { type ClaimStory, claimStory } from './claim-story.ts';
import { namesText } from './names.ts';
import { spanText } from './span-text.ts';

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

export interface PodStoryInputs {
  plan: Plan;
  snapshot: Snapshot;
  /** For each pod what it does without. */
  relaxed: ReadonlyMap<string, readonly string[]>;
}

export function podStory(pod: Pod, { plan, snapshot, relaxed }: PodStoryInputs): PodStory {
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
    const message = fitsText(snapshot, there.name);
    return { pod: key, outcome: 'existingNode', message, node: there.name, ...without };
  }
  const node = pod.spec?.nodeName;
  return { pod: key, outcome: 'none', message: whyNotWaiting(pod), ...(node ? { node } : {}) };
}

/** A node that exists takes it; one to come is what it waits for. */
function fitsText(snapshot: Snapshot, name: string): string {
  const { items } = snapshot.objects;
  const waiting = claimStory(snapshot, name);
  if (waiting !== undefined) return `is planned onto NodeClaim ${name}, which ${waiting.message}${causeOf(waiting)}`;
  const claim = items.find(({ kind, metadata }) => kind === 'NodeClaim' && metadata.name === name);
  const node = items.find(({ kind, metadata }) => kind === 'Node' && metadata.name === name);
  if (claim === undefined || node !== undefined) return `fits on ${name}: kube-scheduler places it there`;
  const createdMs = parseTime(String(claim.metadata['creationTimestamp'] ?? ''));
  const nowMs = parseTime(snapshot.time ?? '') ?? 0;
  const ago = createdMs === undefined ? '' : ` ${spanText(Math.max(0, nowMs - createdMs))} ago`;
  return `is planned onto ${name}, which was launched${ago} and has not registered`;
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
  const said = reason === undefined || reason === 'Unschedulable' ? '' : ` (it says ${reason})`;
  return `scheduler ${scheduler} has not marked this pod Unschedulable${said}; Kerf adds nodes only for such pods`;
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace ?? 'default'}/${metadata.name ?? ''}`;

/** What the provider said to the launch, where it said something. */
function causeOf({ conditions }: ClaimStory): string {
  const launched = conditions.find(({ type, status }) => type === 'Launched' && status !== 'True');
  return launched?.message ? ` (${launched.message})` : '';
}
