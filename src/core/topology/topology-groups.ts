// Topology rules as shared groups: one group per distinct (kind, key, namespaces, maxSkew, node filter, selector), however
// many pods carry the same rule. Pods own groups; every pod a group selects is counted in it. A group here is only the
// definition: counts live in topology-counts.ts and topology-state.ts.

import { label } from '../../api/names.ts';
import { type SelectorMatch, selectorIdentity, selectorMatch } from '../kube/label-selector.ts';
import type {
  LabelSelector,
  Namespace,
  PodAffinityTerm,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from '../kube/objects.ts';
import { toleratesAll } from '../kube/taints.ts';
import type { NodeWish } from '../requirements/node-wish.ts';

export type TopologyKind = 'spread' | 'affinity' | 'antiAffinity';

/** Which nodes a spread looks at. */
export interface NodeFilter {
  /** The node must satisfy one of them; undefined when node affinity is ignored. */
  readonly wishes: readonly NodeWish[] | undefined;
  /** The pod must tolerate the node's taints; undefined when taints are ignored. */
  readonly tolerations: readonly Toleration[] | undefined;
}

export interface TopologyGroup {
  readonly id: number;
  readonly kind: TopologyKind;
  /** The owners keep the selected pods away, not the other way round. */
  readonly inverse: boolean;
  readonly key: string;
  readonly isHostname: boolean;
  readonly namespaces: ReadonlySet<string>;
  readonly selector: LabelSelector | undefined;
  readonly matches: SelectorMatch;
  readonly maxSkew: number;
  /** Not part of the identity: the first pod's wins. */
  readonly minDomains: number | undefined;
  readonly filter: NodeFilter | undefined;
}

export class TopologyGroups {
  readonly all: TopologyGroup[] = [];
  private readonly byIdentity = new Map<string, TopologyGroup>();
  private readonly namespaces: readonly Namespace[];

  constructor(namespaces: readonly Namespace[]) {
    this.namespaces = namespaces;
  }

  spread(
    constraint: TopologySpreadConstraint,
    namespace: string,
    labels: Readonly<Record<string, string>>,
    wishes: readonly NodeWish[],
    tolerations: readonly Toleration[],
  ): TopologyGroup {
    const honorsAffinity = (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor';
    const honorsTaints = (constraint.nodeTaintsPolicy ?? 'Ignore') === 'Honor';
    return this.group({
      kind: 'spread',
      inverse: false,
      key: constraint.topologyKey,
      namespaces: new Set([namespace]),
      selector: withMatchLabelKeys(constraint, labels),
      maxSkew: constraint.maxSkew ?? 1,
      minDomains: constraint.minDomains,
      filter: {
        wishes: honorsAffinity ? wishes : undefined,
        tolerations: honorsTaints ? tolerations : undefined,
      },
    });
  }

  affinity(
    kind: 'affinity' | 'antiAffinity',
    term: PodAffinityTerm,
    namespace: string,
    inverse = false,
  ): TopologyGroup {
    return this.group({
      kind,
      inverse,
      key: term.topologyKey,
      namespaces: this.namespacesOf(term, namespace),
      selector: term.labelSelector ?? undefined,
      maxSkew: Number.POSITIVE_INFINITY,
      minDomains: undefined,
      filter: undefined,
    });
  }

  /** Its own namespace unless the term says otherwise; an empty namespace selector means all. */
  private namespacesOf(term: PodAffinityTerm, namespace: string): ReadonlySet<string> {
    const listed = term.namespaces ?? [];
    const selector = term.namespaceSelector ?? undefined;
    if (selector === undefined) return new Set(listed.length === 0 ? [namespace] : listed);
    const matches = selectorMatch(selector);
    const selected = this.namespaces
      .filter(({ metadata }) => matches({ 'kubernetes.io/metadata.name': metadata.name, ...metadata.labels }))
      .map(({ metadata }) => metadata.name);
    return new Set([...listed, ...selected]);
  }

  private group(definition: Omit<TopologyGroup, 'id' | 'isHostname' | 'matches'>): TopologyGroup {
    const { kind, inverse, key, namespaces, selector, maxSkew, filter } = definition;
    const identity = [
      inverse ? 'inverse' : kind,
      key,
      [...namespaces].sort().join(','),
      maxSkew,
      filter?.wishes?.map((wish) => wish.identity).join('|') ?? '',
      filter?.tolerations ? JSON.stringify(filter.tolerations) : '',
      selectorIdentity(selector),
    ].join('\n');
    let group = this.byIdentity.get(identity);
    if (group === undefined) {
      group = {
        ...definition,
        id: this.all.length,
        isHostname: key === label.hostname,
        matches: selectorMatch(selector),
      };
      this.byIdentity.set(identity, group);
      this.all.push(group);
    }
    return group;
  }
}

/** Whether the group's owners may count a node with these taints; what its labels say is asked elsewhere. */
export function filterToleratesTaints(group: TopologyGroup, taints: readonly Taint[]): boolean {
  const tolerations = group.filter?.tolerations;
  return tolerations === undefined || toleratesAll(taints, tolerations);
}

/** A spread separates revisions by adding the pod's own values of some labels to its selector. */
function withMatchLabelKeys(
  { labelSelector, matchLabelKeys }: TopologySpreadConstraint,
  labels: Readonly<Record<string, string>>,
): LabelSelector | undefined {
  if (labelSelector === undefined || labelSelector === null) return undefined;
  const own = (matchLabelKeys ?? []).filter((key) => labels[key] !== undefined);
  if (own.length === 0) return labelSelector;
  return {
    ...labelSelector,
    matchExpressions: [
      ...(labelSelector.matchExpressions ?? []),
      ...own.map((key) => ({ key, operator: 'In' as const, values: [labels[key] as string] })),
    ],
  };
}
