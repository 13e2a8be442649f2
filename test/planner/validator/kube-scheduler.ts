// kube-scheduler's filters on concrete nodes with concrete pods, written for reading: may this pod be bound to this node,
// given who is bound where? Preferences are not filters and do not appear.
import type { Cluster } from '../rules/cluster.ts';
import type { Pod, PodTerm, Spread, Taint } from '../rules/objects.ts';
import {
  type HostPort,
  hostPorts,
  isTerminating,
  podRequests,
  portsConflict,
  requiredTerms,
  termRequirements,
} from '../rules/pods.ts';
import { type Amounts, minus, misfit, plus } from '../rules/quantity.ts';
import { fromLabels, incompatible } from '../rules/requirement.ts';
import { namespacesOf, selects, untolerated } from '../rules/selector.ts';
import { attachments, volumeAlternatives } from '../rules/volumes.ts';
import type { OpenLabels } from './open-labels.ts';

export interface BoundNode {
  name: string;
  labels: Record<string, string>;
  isLeaving: boolean;
  taints: Taint[];
  /** Kept for daemons that are still to come. */
  reserved: Amounts;
  reservedPorts: HostPort[];
  allocatable: Amounts;
  attachLimits: Map<string, number>;
  pods: Pod[];
}

const blocking = (taint: Taint): boolean => taint.effect === 'NoSchedule' || taint.effect === 'NoExecute';
const namespaceOf = (pod: Pod): string => pod.metadata.namespace ?? 'default';
const nothingUndefined: ReadonlySet<string> = new Set();

/** What is passed over as planning does, for comparison; the scheduler itself passes nothing over. */
export interface Counting {
  open: OpenLabels | undefined;
  passesLeaving: boolean;
}

const all: Counting = { open: undefined, passesLeaving: false };

/** Why the scheduler would not bind the pod there; undefined if it would. */
export function refusal(
  pod: Pod,
  node: BoundNode,
  nodes: readonly BoundNode[],
  cluster: Cluster,
  counting: Counting = all,
): string | undefined {
  const taint = untolerated(node.taints.filter(blocking), pod.spec.tolerations);
  if (taint !== undefined) return `taint ${taint.key}`;
  if (!matchesNode(pod, node, cluster)) return 'node selector or affinity';
  const used = plus(node.reserved, ...node.pods.map((p) => podRequests(p.spec)));
  const short = misfit(podRequests(pod.spec), minus(node.allocatable, used));
  if (short !== undefined) return `not enough ${short}`;
  const ports = [...node.reservedPorts, ...node.pods.flatMap((p) => hostPorts(p.spec))];
  if (portsConflict(hostPorts(pod.spec), ports)) return 'host port taken';
  return (
    volumeRefusal(pod, node, cluster) ??
    spreadRefusal(pod, node, nodes, cluster, counting) ??
    affinityRefusal(pod, node, nodes, cluster, counting)
  );
}

function matchesNode(pod: Pod, node: BoundNode, cluster: Cluster): boolean {
  const labels = fromLabels(node.labels, cluster.spelling);
  if (incompatible(labels, fromLabels(pod.spec.nodeSelector ?? {}, cluster.spelling), nothingUndefined) !== undefined)
    return false;
  const terms = requiredTerms(pod.spec);
  return (
    terms.length === 0 ||
    terms.some((term) => incompatible(labels, termRequirements(term, cluster.spelling), nothingUndefined) === undefined)
  );
}

function volumeRefusal(pod: Pod, node: BoundNode, cluster: Cluster): string | undefined {
  const labels = fromLabels(node.labels, cluster.spelling);
  const reachable = volumeAlternatives(pod, cluster).some(
    (way) => incompatible(labels, way, nothingUndefined) === undefined,
  );
  if (!reachable) return 'volume elsewhere';
  for (const [driver, claims] of attachments(pod, cluster)) {
    const limit = node.attachLimits.get(driver);
    const all = new Set([...claims, ...node.pods.flatMap((p) => [...(attachments(p, cluster).get(driver) ?? [])])]);
    if (limit !== undefined && all.size > limit) return `too many volumes of ${driver}`;
  }
  return undefined;
}

function spreadRefusal(
  pod: Pod,
  node: BoundNode,
  nodes: readonly BoundNode[],
  cluster: Cluster,
  { open, passesLeaving }: Counting,
): string | undefined {
  const hard = (pod.spec.topologySpreadConstraints ?? []).filter((s) => s.whenUnsatisfiable === 'DoNotSchedule');
  for (const spread of hard) {
    const domain = node.labels[spread.topologyKey];
    if (domain === undefined) return `no label ${spread.topologyKey} to spread over`;
    const counts = new Map<string, number>();
    const keys = [spread.topologyKey, ...((spread.nodeAffinityPolicy ?? 'Honor') === 'Honor' ? keysOf(pod) : [])];
    for (const other of nodes) {
      if (open?.isOpen(other.name, spread.topologyKey)) continue;
      if (hard.some((s) => other.labels[s.topologyKey] === undefined)) continue;
      if ((spread.nodeAffinityPolicy ?? 'Honor') === 'Honor' && !matchesNode(pod, other, cluster)) continue;
      if (spread.nodeTaintsPolicy === 'Honor' && untolerated(other.taints.filter(blocking), pod.spec.tolerations))
        continue;
      const value = other.labels[spread.topologyKey] ?? '';
      const matching = other.pods.filter(
        (p) =>
          !isTerminating(p) &&
          namespaceOf(p) === namespaceOf(pod) &&
          selectedBy(spread, pod, p) &&
          !keys.some((key) => open?.hadOpen(p, key)),
      );
      if (passesLeaving && other.isLeaving && matching.length === 0) continue;
      counts.set(value, (counts.get(value) ?? 0) + matching.length);
    }
    const enough = spread.minDomains === undefined || counts.size >= spread.minDomains;
    const least = enough ? Math.min(...counts.values()) : 0;
    const after = (counts.get(domain) ?? 0) + (selectedBy(spread, pod, pod) ? 1 : 0);
    if (after - least > spread.maxSkew) {
      return `skew ${after - least} over ${spread.topologyKey} (${[...counts].map(([d, c]) => `${d}:${c}`).join(' ')})`;
    }
  }
  return undefined;
}

/** Labels that decide which nodes the pod may use. */
function keysOf({ spec }: Pod): string[] {
  const expressions = requiredTerms(spec).flatMap(({ matchExpressions = [] }) => matchExpressions);
  return [...Object.keys(spec.nodeSelector ?? {}), ...expressions.map(({ key }) => key)];
}

function selectedBy(spread: Spread, owner: Pod, pod: Pod): boolean {
  const sameRevision = (spread.matchLabelKeys ?? []).every((key) => {
    const value = owner.metadata.labels?.[key];
    return value === undefined || pod.metadata.labels?.[key] === value;
  });
  return sameRevision && selects(spread.labelSelector, pod.metadata.labels);
}

/** Pods already terminating are left out: the plan is for when they are gone. */
function affinityRefusal(
  pod: Pod,
  node: BoundNode,
  every: readonly BoundNode[],
  cluster: Cluster,
  { open }: Counting,
): string | undefined {
  const nodes = every.map((other) => ({ ...other, pods: other.pods.filter((p) => !isTerminating(p)) }));
  const matches = (term: PodTerm, owner: Pod, candidate: Pod): boolean =>
    namespacesOf(term, namespaceOf(owner), cluster.namespaces).has(namespaceOf(candidate)) &&
    selects(term.labelSelector, candidate.metadata.labels);
  const sharing = (key: string): BoundNode[] =>
    node.labels[key] === undefined ? [] : nodes.filter((other) => other.labels[key] === node.labels[key]);

  const apart = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  for (const term of apart) {
    const near = sharing(term.topologyKey).flatMap((other) => other.pods);
    if (near.some((p) => matches(term, pod, p))) return `anti-affinity over ${term.topologyKey}`;
  }
  for (const key of new Set(nodes.flatMap((other) => Object.keys(other.labels)))) {
    for (const other of sharing(key).flatMap((n) => n.pods)) {
      const terms = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      if (terms.some((term) => term.topologyKey === key && matches(term, other, pod))) {
        return `anti-affinity of ${other.metadata.name} over ${key}`;
      }
    }
  }
  const together = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (together.length === 0) return undefined;
  const isLike = (candidate: Pod): boolean => together.every((term) => matches(term, pod, candidate));
  const isIn = (candidate: Pod, key: string): boolean => isLike(candidate) && !open?.hadOpen(candidate, key);
  if (together.some((term) => node.labels[term.topologyKey] === undefined)) return 'no label for pod affinity';
  const found = together.every(({ topologyKey }) =>
    sharing(topologyKey).some((other) => other.pods.some((each) => isIn(each, topologyKey))),
  );
  if (found) return undefined;
  // The first of a kind may start anywhere, but only if there is none of its kind at all.
  const anywhere = nodes.some((other) =>
    together.some(
      ({ topologyKey }) => topologyKey in other.labels && other.pods.some((each) => isIn(each, topologyKey)),
    ),
  );
  return anywhere || !isLike(pod) ? 'pod affinity' : undefined;
}
