// What DaemonSets will take on a node. Each is represented by its newest pod (which may carry requests changed by a
// LimitRange or an autoscaler), or by a pod made from its template; its required node affinity is the template's, because
// the DaemonSet controller pins real pods to their node. Preferences, pod affinity and spreads play no part.

import type { ClusterObjects } from '../kube/cluster-objects.ts';
import { type DaemonSet, type Pod, type Taint, type Toleration } from '../kube/objects.ts';
import { toleratesAll, toleratingPreferences } from '../kube/taints.ts';
import { type HostPort, hostPortsOf } from '../pods/host-ports.ts';
import { hasResourceClaims } from '../pods/pod-classes.ts';
import { podVariants, type VariantContext } from '../pods/pod-variants.ts';
import { grants, type NodeWish, placeholderHostname } from '../requirements/node-wish.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { RequestsOfPods } from '../resources/pod-requests.ts';

export interface Daemon {
  /** `namespace/name` of the DaemonSet. */
  readonly name: string;
  readonly uid: string | undefined;
  readonly requests: ReadonlyMap<string, number>;
  readonly ports: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  /** Alternatives: one of them must be granted. */
  readonly wishes: readonly NodeWish[];
}

export interface DaemonContext {
  readonly objects: ClusterObjects;
  readonly requests: RequestsOfPods;
  readonly variants: VariantContext;
  /** DRA is ignored, so daemons that need it will not run. */
  readonly skipResourceClaims: boolean;
}

export function daemonsOf(context: DaemonContext): Daemon[] {
  const { objects } = context;
  const newest = newestPods(objects);
  const daemons: Daemon[] = [];
  for (const set of objects.daemonSets) {
    const pod = representative(set, newest);
    if (context.skipResourceClaims && hasResourceClaims(pod)) continue;
    daemons.push({
      name: `${set.metadata.namespace || 'default'}/${set.metadata.name}`,
      uid: set.metadata.uid,
      requests: context.requests.of(pod),
      ports: hostPortsOf(pod),
      tolerations: toleratingPreferences(pod.spec?.tolerations ?? []),
      wishes: requiredAlternatives(context.variants, pod),
    });
  }
  return daemons;
}

/** Whether it would run on a new node of the template with this instance type. */
export function runsOnType(
  table: RequirementTable,
  daemon: Daemon,
  template: { readonly set: RequirementSet; readonly taints: readonly Taint[] },
  type: RequirementSet,
): boolean {
  return (
    toleratesAll(template.taints, daemon.tolerations) &&
    daemon.wishes.some(
      (wish) =>
        grants(table, template.set, placeholderHostname, wish, 'wellKnown') && table.computeIntersects(type, wish.set),
    )
  );
}

/** Whether it runs on a node that is there. */
export function runsOnNode(
  table: RequirementTable,
  daemon: Daemon,
  node: { readonly labels: RequirementSet; readonly hostname: string; readonly taints: readonly Taint[] },
): boolean {
  return (
    toleratesAll(node.taints, daemon.tolerations) &&
    daemon.wishes.some((wish) => grants(table, node.labels, node.hostname, wish, 'strict'))
  );
}

function requiredAlternatives(context: VariantContext, pod: Pod): NodeWish[] {
  const bare: Pod = {
    metadata: pod.metadata,
    spec: {
      nodeSelector: pod.spec?.nodeSelector ?? {},
      affinity: {
        nodeAffinity: { ...pod.spec?.affinity?.nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: [] },
      },
    },
  };
  return podVariants({ ...context, relaxPreferNoSchedule: false }, bare).map((variant) => variant.strict);
}

/** The newest pod of each DaemonSet, under every name it may be looked up by. */
function newestPods(objects: ClusterObjects): Map<string, Pod> {
  const newest = new Map<string, Pod>();
  if (objects.daemonSets.length === 0) return newest;
  for (const pod of objects.pods) {
    for (const { kind, controller, uid, name } of pod.metadata.ownerReferences ?? []) {
      if (kind !== 'DaemonSet' || controller === false) continue;
      const keys = [ownedBy(pod, 'name', name), uid ? ownedBy(pod, 'uid', uid) : ownedBy(pod, 'unidentified', name)];
      for (const key of keys) {
        const known = newest.get(key);
        if (known === undefined || isNewer(pod, known)) newest.set(key, pod);
      }
    }
  }
  return newest;
}

/** A DaemonSet with a uid is not represented by pods of a deleted one of the same name. */
function newestPodOf(set: DaemonSet, newest: ReadonlyMap<string, Pod>): Pod | undefined {
  const { uid, name } = set.metadata;
  if (!uid) return newest.get(ownedBy(set, 'name', name));
  return newest.get(ownedBy(set, 'uid', uid)) ?? newest.get(ownedBy(set, 'unidentified', name));
}

function ownedBy(object: Pod | DaemonSet, by: 'name' | 'uid' | 'unidentified', value: string | undefined): string {
  return `${object.metadata.namespace || 'default'} ${by} ${value}`;
}

function isNewer(pod: Pod, than: Pod): boolean {
  const left = pod.metadata.creationTimestamp ?? '';
  const right = than.metadata.creationTimestamp ?? '';
  return left === right ? pod.metadata.name < than.metadata.name : left > right;
}

function representative(set: DaemonSet, newest: ReadonlyMap<string, Pod>): Pod {
  const template = set.spec?.template ?? {};
  const namespace = set.metadata.namespace || 'default';
  const pod: Pod = newestPodOf(set, newest) ?? {
    metadata: { ...template.metadata, name: set.metadata.name, namespace },
    ...(template.spec ? { spec: template.spec } : {}),
  };
  const required = template.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const { requiredDuringSchedulingIgnoredDuringExecution: _pin, ...nodeAffinity } =
    pod.spec?.affinity?.nodeAffinity ?? {};
  return {
    ...pod,
    spec: {
      ...pod.spec,
      affinity: {
        ...pod.spec?.affinity,
        nodeAffinity: required
          ? { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required }
          : nodeAffinity,
      },
    },
  };
}
