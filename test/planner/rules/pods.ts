// What a pod is and what it asks for: its class, its requests, its host ports, its node requirements.
import { isProtected } from './do-not-disrupt.ts';
import type { Container, DisruptionBudget, Pod, PodSpec, Resources, SelectorTerm } from './objects.ts';
import { type Amounts, amounts, larger, plus } from './quantity.ts';
import { both, fromLabels, type Requirements, requirements, type Spelling } from './requirement.ts';
import { selects } from './selector.ts';

const ownedBy = (pod: Pod, kind: string): boolean =>
  (pod.metadata.ownerReferences ?? []).some((owner) => owner.kind === kind);

export const isTerminal = (pod: Pod): boolean => pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;
export const isDaemon = (pod: Pod): boolean => ownedBy(pod, 'DaemonSet');

/** `isComing`: whether the pod only waits for the node it is nominated to. */
export function isProvisionable(pod: Pod, isComing: (node: string) => boolean): boolean {
  const unschedulable = (pod.status?.conditions ?? []).some(
    (condition) => condition.type === 'PodScheduled' && condition.reason === 'Unschedulable',
  );
  return (
    unschedulable &&
    !pod.spec.nodeName &&
    !(pod.status?.nominatedNodeName && isComing(pod.status.nominatedNodeName)) &&
    !isDaemon(pod) &&
    !ownedBy(pod, 'Node')
  );
}

/** When the scheduler first found no place for it; not a number if no one says. */
export const waitingSinceMs = (pod: Pod): number =>
  Date.parse(pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime ?? '');

/** Movable from a leaving node: reschedulable, not protected, and not held by disruption budgets that never give way. */
export function isMovable(pod: Pod, budgets: readonly DisruptionBudget[], nowMs: number): boolean {
  const active = !isTerminal(pod) && !isTerminating(pod);
  const leavingReplica = isTerminating(pod) && ownedBy(pod, 'StatefulSet');
  if (!(active || leavingReplica) || isDaemon(pod) || ownedBy(pod, 'Node')) return false;
  if (active && isProtected(pod, nowMs)) return false;
  const held = budgets.filter(
    (budget) =>
      (budget.metadata.namespace ?? 'default') === (pod.metadata.namespace ?? 'default') &&
      selects(budget.spec.selector, pod.metadata.labels),
  );
  const blocking = ({ spec }: DisruptionBudget): boolean =>
    spec.maxUnavailable === 0 ||
    spec.maxUnavailable === '0' ||
    spec.maxUnavailable === '0%' ||
    spec.minAvailable === '100%';
  return held.length <= 1 && !held.some(blocking);
}

function withDefaults(container: Container): Amounts {
  const requests: Resources = { ...container.resources?.limits, ...container.resources?.requests };
  return amounts(requests);
}

/** Requests by Kubernetes' rules, with one pod of `pods`. */
export function podRequests(spec: PodSpec): Amounts {
  let running = plus(...spec.containers.map(withDefaults));
  let sidecars: Amounts = new Map();
  let starting: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = withDefaults(container);
    if (container.restartPolicy === 'Always') {
      running = plus(running, own);
      sidecars = plus(sidecars, own);
      starting = larger(starting, sidecars);
    } else {
      starting = larger(starting, plus(own, sidecars));
    }
  }
  const whole = amounts({ ...spec.resources?.limits, ...spec.resources?.requests });
  const containers = larger(running, starting);
  for (const [name, value] of whole) containers.set(name, value);
  return plus(containers, amounts(spec.overhead), amounts({ pods: 1 }));
}

export interface HostPort {
  port: number;
  protocol: string;
  ip: string;
}

export function hostPorts(spec: PodSpec): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter((container) => container.restartPolicy === 'Always');
  return [...spec.containers, ...sidecars].flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => (port.hostPort ?? 0) !== 0)
      .map((port) => ({ port: port.hostPort ?? 0, protocol: port.protocol ?? 'TCP', ip: port.hostIP || '0.0.0.0' })),
  );
}

const anyAddress = (ip: string): boolean => ip === '0.0.0.0' || ip === '::';

export function portsConflict(a: readonly HostPort[], b: readonly HostPort[]): boolean {
  return a.some((x) =>
    b.some(
      (y) => x.port === y.port && x.protocol === y.protocol && (x.ip === y.ip || anyAddress(x.ip) || anyAddress(y.ip)),
    ),
  );
}

export function requiredTerms(spec: PodSpec): SelectorTerm[] {
  return spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

export function termRequirements(term: SelectorTerm | undefined, spelling: Spelling): Requirements {
  return requirements(term?.matchExpressions ?? [], spelling);
}

/** Node selector and first required term. */
export function strictRequirements(spec: PodSpec, spelling: Spelling): Requirements {
  return both(fromLabels(spec.nodeSelector ?? {}, spelling), termRequirements(requiredTerms(spec)[0], spelling));
}

/** Strict ones and the heaviest preference. */
export function preferringRequirements(spec: PodSpec, spelling: Spelling): Requirements {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const heaviest = [...preferred].sort((a, b) => b.weight - a.weight)[0];
  return both(strictRequirements(spec, spelling), termRequirements(heaviest?.preference, spelling));
}

export function needsDevices(spec: PodSpec): boolean {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  return (spec.resourceClaims ?? []).length > 0 || containers.some((c) => (c.resources?.claims ?? []).length > 0);
}
