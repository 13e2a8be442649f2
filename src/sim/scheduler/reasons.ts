// Why nodes refuse a pod, in kube-scheduler's own words: users search for them, and other programs read them.

/** What preemption could do about it: nothing when evicting pods would not help. */
export interface Refused {
  reasons: readonly string[];
  unresolvable: boolean;
}

/** No node was looked at, because the pod itself cannot be placed now. */
export interface PodRefused {
  message: string;
}

const by = (...reasons: string[]): Refused => ({ reasons, unresolvable: false });
const forGood = (...reasons: string[]): Refused => ({ reasons, unresolvable: true });

export const refused = {
  unschedulable: forGood('node(s) were unschedulable'),
  nodeName: forGood("node(s) didn't match the requested node name"),
  taint: forGood('node(s) had untolerated taint(s)'),
  nodeAffinity: forGood("node(s) didn't match Pod's node affinity/selector"),
  namedNodes: forGood("node(s) didn't satisfy plugin(s) [NodeAffinity]"),
  ports: by("node(s) didn't have free ports for the requested pod ports"),
  insufficient: (names: readonly string[], beyondAllocatable: boolean): Refused => ({
    reasons: names.map((name) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`)),
    unresolvable: beyondAllocatable,
  }),
  spread: by("node(s) didn't match pod topology spread constraints"),
  spreadLabel: forGood("node(s) didn't match pod topology spread constraints (missing required label)"),
  affinity: forGood("node(s) didn't match pod affinity rules"),
  antiAffinity: by("node(s) didn't match pod anti-affinity rules"),
  existingAntiAffinity: by("node(s) didn't satisfy existing pods anti-affinity rules"),
  volumeAffinity: forGood("node(s) didn't match PersistentVolume's node affinity"),
  volumeZone: forGood('node(s) had no available volume zone'),
  volumeMissing: forGood('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'),
  volumeBinding: forGood("node(s) didn't find available persistent volumes to bind"),
  volumeCount: by('node(s) exceed max volume count'),
  volumeInUse: by('node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'),
} as const;

/** What came of looking for less important pods to push aside. */
export type PreemptionResult =
  | { kind: 'madeRoom'; nodeName: string; victims: number }
  | { kind: 'notEligible'; message: string }
  /** What nodes say that would still not do; the others had no one to push aside. */
  | { kind: 'helpless'; stillRefused: ReadonlyMap<string, Refused> };

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` and what preemption found. */
export function unschedulableMessage(
  refusals: ReadonlyMap<string, Refused> | PodRefused,
  nodeCount: number,
  preemption: PreemptionResult = { kind: 'helpless', stillRefused: new Map() },
): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  if ('message' in refusals) {
    // The odd ending is what the scheduler says when there is nothing preemption could look at.
    return `0/${nodeCount} nodes are available: ${refusals.message}. not found`;
  }
  const message = available(nodeCount, [...refusals.values()]);
  return `${message} preemption: ${tried(refusals, nodeCount, preemption)}`;
}

function tried(refusals: ReadonlyMap<string, Refused>, nodeCount: number, preemption: PreemptionResult): string {
  if (preemption.kind === 'madeRoom')
    return `found a potential placement for pod on node ${preemption.nodeName}, preempting ${preemption.victims} victims`;
  if (preemption.kind === 'notEligible') return preemption.message;
  const { stillRefused } = preemption;
  const found = [...refusals].map(([name, { unresolvable }]) =>
    unresolvable ? notHelpful : (stillRefused.get(name) ?? noVictims),
  );
  return available(nodeCount, found);
}

const noVictims = by('No preemption victims found for incoming pod');
const notHelpful = forGood('Preemption is not helpful for scheduling');

function available(nodeCount: number, refusals: readonly Refused[]): string {
  const counts = new Map<string, number>();
  for (const { reasons } of refusals) {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const reported = [...counts].map(([reason, count]) => `${count} ${reason}`).sort(byText);
  return `0/${nodeCount} nodes are available: ${reported.join(', ')}.`;
}

const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
