// The topology rules one pod variant obeys, arranged for asking: bounds per host, affinities per host, and for every
// other key the groups that narrow it. Made once per distinct combination of owned rules and selectors that match.

import type { NodeWish } from '../requirements/node-wish.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { TopologyGroup } from './topology-groups.ts';
import type { KeyDomains, TopologyIndex } from './topology-index.ts';

export interface DomainRule {
  readonly group: TopologyGroup;
  /** The rule's selector matches the pod itself. */
  readonly self: boolean;
}

export interface KeyRules {
  readonly domains: KeyDomains;
  readonly rules: readonly DomainRule[];
  /** The spreads among the rules, which rank the domains. */
  readonly spreads: readonly TopologyGroup[];
  /** What the pod's own requirements, preferences left out, say about the key. */
  readonly podRequirement: Requirement | undefined;
  /** Domains that satisfy all rules now, best first. Filled before each attempt. */
  readonly options: number[];
  /** Exactly one of the options must be taken. */
  collapse: boolean;
}

export interface TopologyRules {
  /** At most `most` pods of the group on the host before this one. */
  readonly hostBounds: readonly { readonly group: TopologyGroup; readonly most: number }[];
  readonly hostAffinities: readonly DomainRule[];
  readonly hostRequirement: Requirement | undefined;
  readonly keys: readonly KeyRules[];
  /** Counted when a pod is placed: groups that select it, and inverse groups it owns. */
  readonly counted: readonly TopologyGroup[];
  readonly ownedInverse: readonly TopologyGroup[];
}

export function topologyRules(
  index: TopologyIndex,
  strict: NodeWish,
  owned: readonly TopologyGroup[],
  selecting: readonly TopologyGroup[],
  ownedInverse: readonly TopologyGroup[],
): TopologyRules {
  const hostBounds: { group: TopologyGroup; most: number }[] = [];
  const hostAffinities: DomainRule[] = [];
  const byKey = new Map<string, DomainRule[]>();
  const isSelected = new Set(selecting);
  const relevant = [...owned, ...selecting.filter((group) => group.inverse)];
  for (const group of relevant) {
    const self = isSelected.has(group);
    if (group.isHostname && group.kind === 'affinity') hostAffinities.push({ group, self });
    else if (group.isHostname) {
      hostBounds.push({ group, most: group.kind === 'spread' ? group.maxSkew - (self ? 1 : 0) : 0 });
    } else {
      const rules = byKey.get(group.key);
      if (rules) rules.push({ group, self });
      else byKey.set(group.key, [{ group, self }]);
    }
  }
  return {
    hostBounds,
    hostAffinities,
    hostRequirement: strict.hostname,
    keys: [...byKey].map(([key, rules]) => ({
      domains: index.domainsOf(key),
      rules: rules.sort((left, right) => left.group.id - right.group.id),
      spreads: rules.map(({ group }) => group).filter((group) => group.kind === 'spread'),
      podRequirement: strict.set.byKey.get(key),
      options: [],
      collapse: false,
    })),
    counted: selecting.filter((group) => !group.inverse),
    ownedInverse,
  };
}

/** Whether a refusal on topology grounds alone can turn into consent later, as counts grow. */
export function canChangeItsMind(rules: TopologyRules): boolean {
  return (
    rules.hostAffinities.length > 0 ||
    rules.keys.some(({ rules: own }) => own.some(({ group }) => group.kind !== 'antiAffinity'))
  );
}
