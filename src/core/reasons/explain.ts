// Why a pod found no place: for every pool the check at which it failed, in the order in which nodes are judged, as a code
// with one readable line and the change that would help. Made once per group of equal pods, after planning.

import { label } from '../../api/names.ts';
import { type Bitset, isEmptyBitset } from '../../base/index.ts';
import type { DeviceState } from '../devices/device-state.ts';
import { describeTaint, untolerated } from '../kube/taints.ts';
import { typesOfRows } from '../packing/claim.ts';
import type { ClaimPacking } from '../packing/claim-packing.ts';
import type { Failure } from '../packing/solve.ts';
import type { EmptyPool, Reason } from '../plan.ts';
import { portsConflict } from '../pods/host-ports.ts';
import { minValuesMessage, unmetMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import { grants, placeholderHostname, refusal } from '../requirements/node-wish.ts';
import { describeRequirement, operatorOf, type Requirement } from '../requirements/requirement.ts';
import { describeSet, type RequirementSet } from '../requirements/requirement-set.ts';
import type { TopologyGroup } from '../topology/topology-groups.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import type { Constraint, GroupStep, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { filterOutcome, filterReason } from './filter-reason.ts';

export interface ExplainContext {
  readonly world: World;
  readonly topology: TopologyState;
  readonly claims: ClaimPacking;
  readonly devices?: DeviceState | undefined;
}

export const noPoolsReason: Reason = {
  code: 'NoNodePools',
  message: 'no dynamic nodepools found',
  suggestion: 'create a NodePool with a supported node class, or look at the Ready condition of the ones there are',
};

export function explain(context: ExplainContext, group: PodGroup, failure: Failure): Reason[] {
  const { world } = context;
  if (failure === 'devices') {
    return [
      {
        code: 'DynamicResourcesUnsupported',
        message: 'pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter',
        suggestion: 'remove the resource claims from the pod, or run it on a node group that offers the devices',
      },
    ];
  }
  // Devices are looked for last: where they were looked for, everything else was in order.
  const withoutDevices = group.devices === undefined ? undefined : context.devices?.refusalOf(group.devices);
  if (withoutDevices !== undefined && failure !== 'deferred') {
    return [
      {
        code: 'DevicesUnavailable',
        message: withoutDevices,
        suggestion: 'free or add devices that the claims of the pod select, or let the claims select others',
      },
    ];
  }
  const step = (failure === 'deferred' ? group.steps[0] : group.steps.at(-1)) as GroupStep;
  const reasons = world.templates.map((template) => explainTemplate(context, group, step.constraint, template));
  const fromPools = emptyPoolReasons(world);
  if (world.templates.length === 0) {
    return [
      {
        code: 'NoInstanceTypes',
        message: 'nodepool requirements filtered out all available instance types',
        suggestion: 'widen the requirements of a NodePool until some instance type is left',
      },
      ...fromPools,
    ];
  }
  const all = [...reasons, ...fromPools];
  if (failure === 'deferred') {
    const deferred = all.findIndex((reason) => reason.code === 'ReservedCapacityDeferred');
    const reason =
      deferred < 0
        ? deferredReason('reserved capacity is in use by other nodes of this plan')
        : (all[deferred] as Reason);
    return [reason];
  }
  // A code that decides anywhere goes first; the others keep the order in which pools are tried.
  const rank = (reason: Reason): number =>
    reason.code === 'MinValuesUnsatisfied' && fromPools.indexOf(reason) < 0 ? 0 : 1;
  return all
    .map((reason, at) => ({ reason, at }))
    .sort((a, b) => rank(a.reason) - rank(b.reason) || a.at - b.at)
    .map(({ reason }) => reason);
}

const filteredOut = 'NodePool requirements filtered out all compatible available instance types';
const becauseOfMinValues = `${filteredOut} due to minValues incompatibility`;

/** Pools that have types but none their own requirements accept. */
export function emptyPools(world: World): EmptyPool[] {
  return world.emptyPools.flatMap(({ poolName, outcome }) => {
    if (outcome.kind === 'minValues') return [{ nodePool: poolName, message: becauseOfMinValues }];
    const isFiltered = outcome.kind === 'unusable' && outcome.why === 'filtered';
    return isFiltered ? [{ nodePool: poolName, message: filteredOut }] : [];
  });
}

function emptyPoolReasons(world: World): Reason[] {
  return world.emptyPools.map(({ poolName, outcome }): Reason => {
    if (outcome.kind === 'minValues') {
      return {
        code: 'MinValuesUnsatisfied',
        message: becauseOfMinValues,
        nodePool: poolName,
        keys: [...outcome.keys],
        suggestion: `lower minValues of ${outcome.keys.join(', ')} in NodePool ${poolName}, or allow more instance types`,
      };
    }
    const message = outcome.kind === 'unusable' ? outcome.message : '';
    return {
      code: 'NoInstanceTypes',
      message: `NodePool cannot be used: ${message}`,
      nodePool: poolName,
      suggestion: `check the requirements of NodePool ${poolName} against the instance types its provider offers`,
    };
  });
}

function deferredReason(message: string, nodePool?: string): Reason {
  return {
    code: 'ReservedCapacityDeferred',
    message,
    ...(nodePool === undefined ? {} : { nodePool }),
    suggestion: 'nothing to do: the pod is planned again once reserved capacity is free or known to be used up',
  };
}

/** The first check that fails on an empty node of the template. */
function explainTemplate(context: ExplainContext, group: PodGroup, constraint: Constraint, template: Template): Reason {
  const { world, claims } = context;
  const { table } = world;
  const nodePool = template.poolName;
  const limits = claims.poolLimits.rowsWithin(template);
  if (limits === undefined) {
    return {
      code: 'LimitsExceeded',
      message: `node limits have been exhausted for nodepool (NodePool=${nodePool})`,
      nodePool,
      suggestion: `raise limits.nodes of NodePool ${nodePool}`,
    };
  }
  if (isEmptyBitset(limits) && !isEmptyBitset(template.viable)) {
    return {
      code: 'LimitsExceeded',
      message: `all available instance types exceed limits for nodepool (NodePool=${nodePool})`,
      nodePool,
      suggestion: `raise the limits of NodePool ${nodePool}`,
    };
  }
  const taints = untolerated(template.taints, constraint.tolerations);
  if (taints.length > 0) {
    const named = taints.map(describeTaint);
    return {
      code: 'TaintNotTolerated',
      message: named.map((taint) => `did not tolerate taint (taint=${taint})`).join('; '),
      nodePool,
      suggestion: `add a toleration for ${named.join(' and ')} to the pod`,
    };
  }
  if (constraint.wish.contradictory) {
    const keys = constraint.wish.set.requirements
      .filter((requirement) => operatorOf(requirement) === 'DoesNotExist')
      .map(({ key }) => key);
    return {
      code: 'RequirementsIncompatible',
      message: `incompatible requirements, the pod's own requirements for ${keys.join(', ')} exclude each other`,
      nodePool,
      keys,
      suggestion: `make the pod's node selector and required node affinity for ${keys.join(', ')} agree`,
    };
  }
  const incompatible = refusal(table, template.set, placeholderHostname, constraint.wish, 'wellKnown');
  if (incompatible !== undefined) {
    const conflicting = table.conflictingKeys(template.set, constraint.wish.set, 'wellKnown');
    const keys = conflicting.length > 0 ? conflicting : [...constraint.wish.present];
    return {
      code: 'RequirementsIncompatible',
      message: `incompatible requirements, ${incompatible}`,
      nodePool,
      keys: keys.length === 0 ? [label.hostname] : keys,
      suggestion: `allow what the pod asks for in the requirements of NodePool ${nodePool}, or change the pod's node selector or affinity for ${keys.join(', ') || label.hostname}`,
    };
  }
  const base = table.meet(template.set, constraint.wish.set);
  const wishes = constraint.volumes.length === 0 ? [undefined] : constraint.volumes;
  let last: Reason | undefined;
  for (const volume of wishes) {
    const reason = explainAlternative(context, group, constraint, template, base, limits, volume);
    if (reason === undefined) continue;
    last = reason;
  }
  return last ?? unknownReason(nodePool);
}

function explainAlternative(
  context: ExplainContext,
  group: PodGroup,
  constraint: Constraint,
  template: Template,
  base: RequirementSet,
  limits: Bitset,
  volume: Constraint['volumes'][number] | undefined,
): Reason | undefined {
  const { world, topology, claims } = context;
  const { table } = world;
  const nodePool = template.poolName;
  let set = base;
  if (volume !== undefined) {
    if (!grants(table, base, placeholderHostname, volume, 'wellKnown')) {
      const why = refusal(table, base, placeholderHostname, volume, 'wellKnown') ?? '';
      const apart = volume.set.requirements.filter((requirement) => operatorOf(requirement) === 'DoesNotExist');
      const places = describeSet(volume.set) || 'another host';
      return {
        code: 'VolumeRequirementsIncompatible',
        message: `incompatible volume requirements, ${why}`,
        nodePool,
        keys: volume.set.requirements.map(({ key }) => key),
        suggestion:
          apart.length > 0
            ? `give the pod volumes that one node can reach: they differ in ${apart.map(({ key }) => key).join(', ')}`
            : `allow in the pod and in NodePool ${nodePool} where the pod's volumes are: ${places}`,
      };
    }
    set = table.meet(base, volume.set);
  }
  const blocked = blockingTopology(context, constraint, set);
  if (blocked !== undefined) return topologyReason(topology, constraint, blocked, set, nodePool);
  topology.prepare(constraint.rules);
  const narrowed = topology.narrow(constraint.rules, set, 'wellKnown');
  if (narrowed === undefined) return undefined;
  const fixed = volume?.set.requirements.map(({ key }) => key) ?? [];
  const outcome = filterOutcome(world, template, narrowed, group.need, limits, constraint.ports, fixed);
  const unmet = unmetMinValues(narrowed, typesOfRows(template, outcome.remaining));
  if (unmet.size > 0 && !world.settings.relaxMinValues) {
    const keys = [...unmet.keys()];
    return {
      code: 'MinValuesUnsatisfied',
      message: `${minValuesMessage(keys)}, ${outcome.suffix}`,
      nodePool,
      keys,
      suggestion: `lower minValues of ${keys.join(', ')} in NodePool ${nodePool}, or let it use more instance types`,
    };
  }
  if (isEmptyBitset(outcome.remaining)) {
    if (template.daemonGroups.every((daemons) => portsConflict(constraint.ports, daemons.ports))) {
      return {
        code: 'HostPortConflict',
        message: 'pod hostport conflicts with existing hostport configuration of the daemons of every instance type',
        nodePool,
        suggestion: 'use another host port, or keep the daemon that has it off these nodes',
      };
    }
    return filterReason(outcome, nodePool);
  }
  const message = claims.deferral(template, narrowed, outcome.remaining);
  return message === undefined ? undefined : deferredReason(message, nodePool);
}

/** The topology rule that leaves a new node of the pool no domain. */
function blockingTopology(
  { topology }: ExplainContext,
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

function topologyReason(
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

function unknownReason(nodePool: string): Reason {
  return {
    code: 'NoInstanceTypeFits',
    message: 'no instance type met the requirements/resources/offering tuple',
    nodePool,
    suggestion: 'plan again: what was in the way has changed while planning',
  };
}
