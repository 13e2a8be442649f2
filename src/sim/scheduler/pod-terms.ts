// Which pods a spread constraint or an affinity term means: selectors with the owner's own label values filled in, and
// the namespaces they reach.
import { type SelectorMatch, selectorMatch } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import type { Labels } from './cluster-view.ts';

type PodSpec = NonNullable<Pod['spec']>;
export type SpreadConstraint = NonNullable<PodSpec['topologySpreadConstraints']>[number];
type PodAffinity = NonNullable<NonNullable<PodSpec['affinity']>['podAffinity']>;
export type AffinityTerm = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number] & {
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
};
type Selector = Parameters<typeof selectorMatch>[0];

/** A selection of pods, with a name that is the same for the same selection. */
export interface PodSelection {
  id: string;
  selects(pod: Pod): boolean;
}

export const requiredTerms = (affinity: PodAffinity | undefined): readonly AffinityTerm[] =>
  affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

/**
 * Pods of the owner's namespace; those being deleted do not count for spreading. A selector without conditions selects
 * the pod itself but counts no other: kube-scheduler's way of saying that nothing is to be spread.
 */
export function spreadSelection(owner: Pod, constraint: SpreadConstraint): PodSelection & { selectsOwner: boolean } {
  const selector = withOwnLabels(constraint.labelSelector as Selector, owner, constraint.matchLabelKeys, undefined);
  const matches = selectorMatch(selector);
  const isEmpty =
    Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
  const { namespace } = owner.metadata;
  return {
    id: `spread ${namespace} ${JSON.stringify(selector)}`,
    selects: (pod) =>
      pod.metadata.namespace === namespace &&
      !isEmpty &&
      pod.metadata.deletionTimestamp === undefined &&
      matches(pod.metadata.labels ?? {}),
    selectsOwner: matches(owner.metadata.labels ?? {}),
  };
}

export function termSelection(owner: Pod, term: AffinityTerm, namespaces: ReadonlyMap<string, Labels>): PodSelection {
  const { labels, reaches, id } = readTerm(owner, term);
  return {
    id: `term ${id}`,
    selects: ({ metadata: { namespace = '', labels: own = {} } }) =>
      reaches(namespace, namespaces.get(namespace) ?? {}) && labels(own),
  };
}

/** Names the selection of a term without regard to where it counts. */
export function termIdentity(owner: Pod, term: AffinityTerm): string {
  return readTerm(owner, term).id;
}

function readTerm(
  owner: Pod,
  term: AffinityTerm,
): { labels: SelectorMatch; reaches: (namespace: string, labels: Labels) => boolean; id: string } {
  const selector = withOwnLabels(term.labelSelector as Selector, owner, term.matchLabelKeys, term.mismatchLabelKeys);
  const { namespaceSelector } = term;
  const named = term.namespaces ?? [];
  const listed = named.length === 0 && namespaceSelector === undefined ? [owner.metadata.namespace ?? ''] : named;
  const chosen = selectorMatch(namespaceSelector as Selector);
  return {
    labels: selectorMatch(selector),
    reaches: (namespace, labels) => listed.includes(namespace) || chosen(labels),
    id: `${listed.join(',')} ${JSON.stringify(namespaceSelector ?? null)} ${JSON.stringify(selector ?? null)}`,
  };
}

/** `matchLabelKeys` stand for the owner's own values, `mismatchLabelKeys` for any others; labels it lacks are left out. */
function withOwnLabels(
  selector: Selector,
  owner: Pod,
  same: readonly string[] | undefined,
  other: readonly string[] | undefined,
): Selector {
  if (selector === undefined || selector === null || ((same ?? []).length === 0 && (other ?? []).length === 0))
    return selector;
  const own = owner.metadata.labels ?? {};
  const expressions = (keys: readonly string[] | undefined, operator: 'In' | 'NotIn') =>
    (keys ?? []).flatMap((key) => (own[key] === undefined ? [] : [{ key, operator, values: [own[key]] }]));
  const written = (selector.matchExpressions ?? []).map((each) => JSON.stringify(each));
  const added = [...expressions(same, 'In'), ...expressions(other, 'NotIn')].filter(
    (each) => !written.includes(JSON.stringify(each)),
  );
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...added] };
}
