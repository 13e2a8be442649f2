// Spread that kube-scheduler gives to pods that declare none (`podTopologySpread.defaultConstraints` of its configuration).
// The constraints carry no selector: whom a pod is spread among follows from the Services that select it and from its
// ReplicationController, ReplicaSet or StatefulSet, found as kube-scheduler finds them. A pod without any of these is not
// spread at all.

import type { DefaultSpreadConstraint, Snapshot } from '../snapshot.ts';
import type { LabelSelector, Labels, Metadata, OwnerReference, Pod, TopologySpreadConstraint } from './objects.ts';
import { namespacedKey, namespaceOf } from './objects.ts';

interface Service {
  metadata: Metadata;
  spec?: { selector?: Labels | null };
}

interface Owner {
  metadata: Metadata;
  /** A map of labels in a ReplicationController. */
  spec?: { selector?: LabelSelector | Labels | null };
}

type ListOf = <T extends { metadata: Metadata }>(kind: string) => T[];

/** Kinds whose selectors count, with the API version an owner reference must have. */
const ownerKinds: Readonly<Record<string, string>> = {
  ReplicationController: 'v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
};

/** The pods, those that get default constraints as copies that have them. */
export function withDefaultSpread(pods: readonly Pod[], { settings }: Snapshot, listOf: ListOf): readonly Pod[] {
  const defaults = settings?.defaultTopologySpreadConstraints ?? [];
  if (defaults.length === 0) return pods;
  const selectors = new DefaultSelectors(listOf);
  return pods.map((pod) => {
    if ((pod.spec?.topologySpreadConstraints?.length ?? 0) > 0) return pod;
    const found = selectors.of(pod);
    return found === undefined ? pod : spreadCopy(pod, found, defaults);
  });
}

interface Found {
  readonly selector: LabelSelector;
  readonly constraints: Map<readonly DefaultSpreadConstraint[], TopologySpreadConstraint[]>;
}

/** The same copy for the same pod: what is computed from pods is kept by object. */
const copies = new WeakMap<Pod, { found: string; defaults: readonly DefaultSpreadConstraint[]; copy: Pod }>();

function spreadCopy(pod: Pod, found: Found, defaults: readonly DefaultSpreadConstraint[]): Pod {
  const identity = JSON.stringify(found.selector);
  const known = copies.get(pod);
  if (known?.found === identity && known.defaults === defaults) return known.copy;
  let constraints = found.constraints.get(defaults);
  if (constraints === undefined) {
    constraints = defaults.map((each) => ({ ...each, labelSelector: found.selector }));
    found.constraints.set(defaults, constraints);
  }
  const copy: Pod = { ...pod, spec: { ...pod.spec, topologySpreadConstraints: constraints } };
  copies.set(pod, { found: identity, defaults, copy });
  return copy;
}

class DefaultSelectors {
  private readonly services = new Map<string, Service[]>();
  private readonly owners = new Map<string, Owner>();
  private readonly known = new Map<string, Found | undefined>();

  constructor(listOf: ListOf) {
    for (const service of listOf<Service>('Service')) {
      const namespace = service.metadata.namespace ?? 'default';
      const list = this.services.get(namespace);
      if (list === undefined) this.services.set(namespace, [service]);
      else list.push(service);
    }
    for (const kind of Object.keys(ownerKinds)) {
      for (const owner of listOf<Owner>(kind)) this.owners.set(`${kind} ${namespacedKey(owner.metadata)}`, owner);
    }
  }

  /** Pods of a workload share it: their labels, namespace and owner decide. */
  of(pod: Pod): Found | undefined {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true);
    const labels = pod.metadata.labels ?? {};
    const identity = JSON.stringify([
      namespaceOf(pod),
      controller?.kind,
      controller?.name,
      Object.entries(labels).sort(),
    ]);
    if (!this.known.has(identity)) {
      const selector = this.deduced(namespaceOf(pod), controller, labels);
      this.known.set(identity, selector === undefined ? undefined : { selector, constraints: new Map() });
    }
    return this.known.get(identity);
  }

  private deduced(
    namespace: string,
    controller: OwnerReference | undefined,
    labels: Labels,
  ): LabelSelector | undefined {
    const matchLabels: Record<string, string> = {};
    for (const { spec } of this.services.get(namespace) ?? []) {
      const { selector } = spec ?? {};
      // A Service without selector selects nothing; one with an empty one adds nothing.
      if (selector === undefined || selector === null) continue;
      if (Object.entries(selector).every(([key, value]) => labels[key] === value)) Object.assign(matchLabels, selector);
    }
    const matchExpressions: NonNullable<LabelSelector['matchExpressions']> = [];
    const { kind = '' } = controller ?? {};
    const isCounted = ownerKinds[kind] === controller?.apiVersion;
    const selector = isCounted
      ? this.owners.get(`${kind} ${namespace}/${controller?.name}`)?.spec?.selector
      : undefined;
    if (kind === 'ReplicationController') Object.assign(matchLabels, selector ?? {});
    else if (selector !== undefined && selector !== null) {
      const own = selector as LabelSelector;
      for (const [key, value] of Object.entries(own.matchLabels ?? {}))
        matchExpressions.push({ key, operator: 'In', values: [value] });
      matchExpressions.push(...(own.matchExpressions ?? []));
    }
    const hasLabels = Object.keys(matchLabels).length > 0;
    if (!hasLabels && matchExpressions.length === 0) return undefined;
    return {
      ...(hasLabels ? { matchLabels } : {}),
      ...(matchExpressions.length > 0 ? { matchExpressions } : {}),
    };
  }
}
