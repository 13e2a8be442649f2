// A pod and its weaker selves. All preferences start as requirements; each time the pod finds no place, one is dropped,
// in a fixed order: an alternative of the required node affinity, the heaviest preferred pod affinity, pod anti-affinity
// and node affinity term, a ScheduleAnyway spread, and at last the dislike of PreferNoSchedule taints. The whole chain is
// computed once per distinct pod shape; planning walks it.

import type {
  Affinity,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from '../kube/objects.ts';
import { namespaceOf } from '../kube/objects.ts';
import { toleratingPreferences } from '../kube/taints.ts';
import { type LabelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { type NodeWish, nodeWish } from '../requirements/node-wish.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { RequirementTable } from '../requirements/requirement-set.ts';
import type { TopologyGroup, TopologyGroups } from '../topology/topology-groups.ts';

export interface PodVariant {
  /** Required and, if any is left, the heaviest preferred node affinity. */
  readonly wish: NodeWish;
  /** Without preferences: what limits the domains a spread looks at. */
  readonly strict: NodeWish;
  readonly tolerations: readonly Toleration[];
  /** The topology rules this variant follows. */
  readonly owned: readonly TopologyGroup[];
  /** Says how it differs from the variant before it; undefined for the pod as it is written. */
  readonly change: (() => string) | undefined;
}

export interface VariantContext {
  readonly table: RequirementTable;
  readonly rules: LabelRules;
  readonly groups: TopologyGroups;
  readonly respectPreferences: boolean;
  /** Some considered pool has a PreferNoSchedule taint, so tolerating those can help. */
  readonly relaxPreferNoSchedule: boolean;
}

interface Wishes {
  required: readonly NodeSelectorTerm[];
  hasRequired: boolean;
  preferredNodes: readonly NodeSelectorTerm[];
  preferredAffinity: readonly PodAffinityTerm[];
  preferredAntiAffinity: readonly PodAffinityTerm[];
  spreads: readonly TopologySpreadConstraint[];
  tolerations: readonly Toleration[];
  change: (() => string) | undefined;
}

export function podVariants(context: VariantContext, pod: Pod): PodVariant[] {
  const variants: PodVariant[] = [];
  let wishes: Wishes | undefined = wishesOf(context, pod);
  while (wishes !== undefined) {
    variants.push(variantOf(context, pod, wishes));
    wishes = relaxed(context, wishes);
  }
  return variants;
}

/** The requirements of the pod as it is, heaviest preference included whatever the policy: what validation looks at. */
export function wishedRequirements(context: VariantContext, pod: Pod): NodeWish {
  const wishes = wishesOf({ ...context, respectPreferences: true }, pod);
  return nodeWish(context.table, [...requirementsOf(context, pod, wishes), ...preference(context, wishes)]);
}

function wishesOf(context: VariantContext, pod: Pod): Wishes {
  const affinity: Affinity = pod.spec?.affinity ?? {};
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const spreads = pod.spec?.topologySpreadConstraints ?? [];
  const heaviest = <T extends { weight?: number }>(terms: readonly T[] | undefined): T[] =>
    context.respectPreferences ? [...(terms ?? [])].sort((a, b) => (b.weight ?? 0) - (a.weight ?? 0)) : [];
  return {
    required: required?.nodeSelectorTerms ?? [],
    hasRequired: required !== undefined && required !== null,
    preferredNodes: heaviest(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution).map(
      (term) => term.preference ?? {},
    ),
    preferredAffinity: heaviest(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution).map(
      (term) => term.podAffinityTerm,
    ),
    preferredAntiAffinity: heaviest(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution).map(
      (term) => term.podAffinityTerm,
    ),
    spreads: context.respectPreferences ? spreads : spreads.filter((spread) => !isOptional(spread)),
    tolerations: pod.spec?.tolerations ?? [],
    change: undefined,
  };
}

/** The next weaker wishes, or undefined when only what is required is left. */
function relaxed(context: VariantContext, wishes: Wishes): Wishes | undefined {
  const { required, preferredAffinity, preferredAntiAffinity, preferredNodes, spreads } = wishes;
  const without = (field: string, value: unknown, rest: Partial<Wishes>): Wishes => ({
    ...wishes,
    ...rest,
    change: () => `removing: spec.${field}=${JSON.stringify(value)}`,
  });
  // Required terms are alternatives: the first is given up while there is another.
  if (required.length > 1) {
    return without(`affinity.nodeAffinity.required${whileScheduling}[0]`, required[0], { required: required.slice(1) });
  }
  if (preferredAffinity.length > 0) {
    return without(`affinity.podAffinity.preferred${whileScheduling}[0]`, preferredAffinity[0], {
      preferredAffinity: preferredAffinity.slice(1),
    });
  }
  if (preferredAntiAffinity.length > 0) {
    return without(`affinity.podAntiAffinity.preferred${whileScheduling}[0]`, preferredAntiAffinity[0], {
      preferredAntiAffinity: preferredAntiAffinity.slice(1),
    });
  }
  if (preferredNodes.length > 0) {
    return without(`affinity.nodeAffinity.preferred${whileScheduling}[0]`, preferredNodes[0], {
      preferredNodes: preferredNodes.slice(1),
    });
  }
  const optional = spreads.findIndex(isOptional);
  if (optional >= 0) {
    // The last one takes the freed place, which decides which of several goes next.
    const rest = [...spreads];
    const last = rest.pop() as TopologySpreadConstraint;
    if (optional < rest.length) rest[optional] = last;
    return without('topologySpreadConstraints', spreads[optional], { spreads: rest });
  }
  if (context.relaxPreferNoSchedule) {
    const tolerations = toleratingPreferences(wishes.tolerations);
    if (tolerations !== wishes.tolerations) {
      return { ...wishes, tolerations, change: () => 'adding: a toleration of PreferNoSchedule taints' };
    }
  }
  return undefined;
}

const whileScheduling = 'DuringSchedulingIgnoredDuringExecution';

function variantOf(context: VariantContext, pod: Pod, wishes: Wishes): PodVariant {
  const { table } = context;
  const base = requirementsOf(context, pod, wishes);
  const strict = nodeWish(table, base);
  const wish = wishes.preferredNodes.length > 0 ? nodeWish(table, [...base, ...preference(context, wishes)]) : strict;
  return {
    wish,
    strict,
    tolerations: wishes.tolerations,
    owned: ownedGroups(context, pod, wishes),
    change: wishes.change,
  };
}

function ownedGroups(context: VariantContext, pod: Pod, wishes: Wishes): TopologyGroup[] {
  const { groups } = context;
  const namespace = namespaceOf(pod);
  const labels = pod.metadata.labels ?? {};
  const owned = new Set<TopologyGroup>();
  if (wishes.spreads.length > 0) {
    const filter = filterWishes(context, pod, wishes);
    for (const spread of wishes.spreads)
      owned.add(groups.spread(spread, namespace, labels, filter, wishes.tolerations));
  }
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const terms = (kind: 'affinity' | 'antiAffinity', list: readonly PodAffinityTerm[]): void => {
    for (const term of list) owned.add(groups.affinity(kind, term, namespace));
  };
  terms('affinity', podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []);
  terms('affinity', wishes.preferredAffinity);
  terms('antiAffinity', podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []);
  terms('antiAffinity', wishes.preferredAntiAffinity);
  return [...owned];
}

/** The nodes a spread of this pod counts: those its selector and any one of its required terms accept. */
function filterWishes(context: VariantContext, pod: Pod, wishes: Wishes): NodeWish[] {
  const selector = selectorRequirements(context, pod);
  if (!wishes.hasRequired) return [nodeWish(context.table, selector)];
  return wishes.required.map((term) => nodeWish(context.table, [...selector, ...termRequirements(context, term)]));
}

function requirementsOf(context: VariantContext, pod: Pod, wishes: Wishes): Requirement[] {
  const [first] = wishes.required;
  return [...selectorRequirements(context, pod), ...(first ? termRequirements(context, first) : [])];
}

function preference(context: VariantContext, wishes: Wishes): Requirement[] {
  const [heaviest] = wishes.preferredNodes;
  return heaviest ? termRequirements(context, heaviest) : [];
}

function selectorRequirements({ rules }: VariantContext, pod: Pod): Requirement[] {
  return Object.entries(pod.spec?.nodeSelector ?? {}).map(([key, value]) =>
    normalizedRequirement(rules, { key, operator: 'In', values: [value] }),
  );
}

function termRequirements({ rules }: VariantContext, term: NodeSelectorTerm): Requirement[] {
  return (term.matchExpressions ?? []).map((spec) => normalizedRequirement(rules, spec));
}

function isOptional(spread: TopologySpreadConstraint): boolean {
  return spread.whenUnsatisfiable === 'ScheduleAnyway';
}
