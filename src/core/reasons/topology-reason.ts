// Which topology rule of a pod leaves a new node of a pool no domain, and that in words.

import type { Reason } from '../plan.ts';
import { placeholderHostname } from '../requirements/node-wish.ts';
import { describeRequirement, type Requirement } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { TopologyGroup } from '../topology/topology-groups.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import type { Constraint } from '../workload.ts';

/** The topology rule that leaves a new node of the pool no domain. */
export function blockingTopology(
  topology: TopologyState,
  constraint: Constraint,
  set: RequirementSet,
): TopologyGroup | undefined {
  const { rules } = constraint;
  for (const { group, most } of rules.hostBounds) if (most < 0) return group;
  for (const rule of rules.hostAffinities) {
    if (!topology.hostAttracts({ ...rules, hostAffinities: [rule] }, topology.freshHost(), placeholderHostname))
      return rule.group;
  }
  for (const key of rules.keys) {
    for (const rule of key.rules) {
      const spreads = key.spreads.filter((group) => group === rule.group);
      const alone = { ...rules, keys: [{ ...key, rules: [rule], spreads, options: [] }] };
      if (!topology.prepare(alone) || topology.narrow(alone, set, 'wellKnown') === undefined) return rule.group;
    }
    const together = { ...rules, keys: [{ ...key, options: [] }] };
    if (!topology.prepare(together) || topology.narrow(together, set, 'wellKnown') === undefined)
      return key.rules[0]?.group;
  }
  return undefined;
}

const kindNames = { spread: 'topology spread', affinity: 'pod affinity', antiAffinity: 'pod anti-affinity' } as const;

/** The most domains counted in a message. */
const countsShown = 25;

export function topologyReason(
  topology: TopologyState,
  constraint: Constraint,
  group: TopologyGroup,
  set: RequirementSet,
  nodePool: string,
): Reason {
  const { key } = group;
  const counts = [...topology.describe(group)].sort(([left], [right]) => (left < right ? -1 : 1));
  const shown = counts
    .slice(0, countsShown)
    .map(([domain, count]) => `${domain}: ${count}`)
    .join(', ');
  const more = counts.length > countsShown ? ` and ${counts.length - countsShown} other(s)` : '';
  const describe = (requirement: Requirement | undefined): string =>
    requirement === undefined ? `${key} Exists` : describeRequirement(requirement);
  const podDomains = describe(group.isHostname ? constraint.strict.hostname : constraint.strict.set.byKey.get(key));
  const nodeDomains = group.isHostname ? `${key} In [${placeholderHostname}]` : describe(set.byKey.get(key));
  return {
    code: 'TopologyUnsatisfiable',
    message: `unsatisfiable topology constraint for ${kindNames[group.kind]}, key=${key} (counts = ${shown}${more}, podDomains = ${podDomains}, nodeDomains = ${nodeDomains}`,
    nodePool,
    keys: [key],
    suggestion: topologySuggestion(group),
  };
}

function topologySuggestion(group: TopologyGroup): string {
  if (group.kind === 'spread') {
    return `raise maxSkew (now ${group.maxSkew}) of the spread over ${group.key}, allow more domains, or make it ScheduleAnyway`;
  }
  if (group.kind === 'affinity') {
    return `start a pod the affinity over ${group.key} selects where this pod may run, or make the affinity preferred`;
  }
  return group.inverse
    ? `make the anti-affinity over ${group.key} of the pods that keep this one away preferred, or let it run in more domains`
    : `make the anti-affinity over ${group.key} preferred, or let the pod run in more domains`;
}
