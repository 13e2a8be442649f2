// Everything that keeps a pod from a fresh node of one pool, in the order in which nodes are judged: taints, labels,
// volumes, topology, resources and offerings, limits. What stands behind an obstacle is looked at as if it were gone, as
// far as that can be said, so that removing the first is not followed by a surprise.

import { label } from '../../api/names.ts';
import { type Bitset, isEmptyBitset } from '../../base/index.ts';
import { describeTaint, untolerated } from '../kube/taints.ts';
import { typesOfRows } from '../packing/new-node.ts';
import { attachableRows } from '../packing/new-node-fit.ts';
import type { NewNodePacking } from '../packing/new-node-packing.ts';
import type { Reason } from '../plan.ts';
import { portsConflict } from '../pods/host-ports.ts';
import { failedText } from '../pools/failed-offerings.ts';
import { minValuesMessage, unmetMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import { grants, placeholderHostname, refusal } from '../requirements/node-wish.ts';
import { describeRequirement, operatorOf } from '../requirements/requirement.ts';
import { describeSet, type RequirementSet } from '../requirements/requirement-set.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import { noAttachments } from '../volumes/pod-volumes.ts';
import type { Constraint, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { failedOfferingsFor } from './failed-offerings-for.ts';
import { type FilterOutcome, filterOutcome, filterReason } from './filter-reason.ts';
import { blockingTopology, topologyReason } from './topology-reason.ts';

export interface ObstacleContext {
  readonly world: World;
  readonly topology: TopologyState;
  readonly packing: NewNodePacking;
}

/** Empty if nothing is in the way. */
export function poolObstacles(
  context: ObstacleContext,
  group: PodGroup,
  constraint: Constraint,
  template: Template,
): Reason[] {
  const { world, packing } = context;
  const { table } = world;
  const nodePool = template.poolName;
  const taints = untolerated(template.taints, constraint.tolerations).map(describeTaint);
  const untoleratedTaints: Reason[] =
    taints.length === 0
      ? []
      : [
          {
            code: 'TaintNotTolerated',
            message: taints.map((taint) => `did not tolerate taint (taint=${taint})`).join('; '),
            nodePool,
            suggestion: `add a toleration for ${taints.join(' and ')} to the pod`,
          },
        ];
  const limits = packing.poolLimits.rowsWithin(template);
  const spent = limitsSpent(template, limits);
  const before = [...(spent === undefined ? [] : [spent]), ...untoleratedTaints];
  if (constraint.wish.contradictory) {
    const keys = constraint.wish.set.requirements
      .filter((requirement) => operatorOf(requirement) === 'DoesNotExist')
      .map(({ key }) => key);
    return [
      ...before,
      {
        code: 'RequirementsIncompatible',
        message: `incompatible requirements, the pod's own requirements for ${keys.join(', ')} exclude each other`,
        nodePool,
        keys,
        suggestion: `make the pod's node selector and required node affinity for ${keys.join(', ')} agree`,
      },
    ];
  }
  // Limits that leave nothing at all are named already; the rest is judged as if they were raised.
  const rows = limits === undefined || spent !== undefined ? template.viable : limits;
  const { mismatches, rest } = labelMismatches(context, constraint, template);
  const base = table.meet(template.set, rest);
  const wishes = constraint.volumes.length === 0 ? [undefined] : constraint.volumes;
  let last: Reason | undefined;
  for (const volume of wishes) {
    const reason = alternativeReason(context, group, constraint, template, base, rows, volume);
    if (reason !== undefined) last = reason;
  }
  const isCertain = mismatches.length === 0 || last?.code !== 'ReservedCapacityDeferred';
  return [...before, ...mismatches, ...(last === undefined || !isCertain ? [] : [last])];
}

/** What the pod asks for that nodes of the pool cannot be, and what it asks for beside that. */
function labelMismatches(
  { world: { table } }: ObstacleContext,
  { wish }: Constraint,
  template: Template,
): { mismatches: Reason[]; rest: RequirementSet } {
  const nodePool = template.poolName;
  const mismatches: Reason[] = [];
  const add = (why: string, keys: readonly string[]): void => {
    const named = keys.length === 0 ? [label.hostname] : [...keys];
    mismatches.push({
      code: 'RequirementsIncompatible',
      message: `incompatible requirements, ${why}`,
      nodePool,
      keys: named,
      suggestion: `allow what the pod asks for in the requirements of NodePool ${nodePool}, or change the pod's node selector or affinity for ${named.join(', ')}`,
    });
  };
  let rest = wish.set;
  const first = refusal(table, template.set, placeholderHostname, wish, 'wellKnown');
  if (first !== undefined) {
    const conflicting = table.conflictingKeys(template.set, rest, 'wellKnown');
    const keys = conflicting.length > 0 ? conflicting : wish.present;
    add(first, keys);
    rest = table.without(rest, keys);
  }
  for (;;) {
    const next = table.incompatibility(template.set, rest, 'wellKnown');
    if (next === undefined) return { mismatches, rest };
    const keys = table.conflictingKeys(template.set, rest, 'wellKnown');
    add(next, keys);
    rest = table.without(rest, keys);
  }
}

function limitsSpent(template: Template, limits: Bitset | undefined): Reason | undefined {
  const nodePool = template.poolName;
  if (limits === undefined) {
    return {
      code: 'LimitsExceeded',
      message: `node limits have been exhausted for nodepool (NodePool=${nodePool})`,
      nodePool,
      suggestion: `raise limits.nodes of NodePool ${nodePool}`,
    };
  }
  if (!isEmptyBitset(limits) || isEmptyBitset(template.viable)) return undefined;
  return {
    code: 'LimitsExceeded',
    message: `all available instance types exceed limits for nodepool (NodePool=${nodePool})`,
    nodePool,
    suggestion: `raise the limits of NodePool ${nodePool}`,
  };
}

function alternativeReason(
  context: ObstacleContext,
  group: PodGroup,
  constraint: Constraint,
  template: Template,
  base: RequirementSet,
  limits: Bitset,
  volume: Constraint['volumes'][number] | undefined,
): Reason | undefined {
  const { world, topology, packing } = context;
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
            ? `give the pod volumes that one node of NodePool ${nodePool} can reach: they differ in ${apart.map(({ key }) => key).join(', ')}`
            : `allow in the pod and in NodePool ${nodePool} where the pod's volumes are: ${places}`,
      };
    }
    set = table.meet(base, volume.set);
  }
  const blocked = blockingTopology(topology, constraint, set);
  if (blocked !== undefined) return topologyReason(topology, constraint, blocked, set, nodePool);
  topology.prepare(constraint.rules);
  const narrowed = topology.narrow(constraint.rules, set, 'wellKnown');
  if (narrowed === undefined) return undefined;
  const fixed = volume?.set.requirements.map(({ key }) => key) ?? [];
  const within = (rows: Bitset): FilterOutcome =>
    filterOutcome(world, template, narrowed, group.need, rows, constraint.ports, fixed);
  const outcome = within(limits);
  const unmet = unmetMinValues(narrowed, typesOfRows(template, outcome.remaining));
  const isFlexible = unmet.size === 0 || world.settings.relaxMinValues;
  if (isFlexible && !isEmptyBitset(outcome.remaining)) {
    const fresh = { template, attached: noAttachments };
    if (isEmptyBitset(attachableRows(fresh, outcome.remaining, group.attachments)))
      return tooManyVolumes(group, nodePool);
    const message = packing.fit.deferral(template, narrowed, outcome.remaining);
    return message === undefined ? undefined : deferredReason(message, nodePool);
  }
  const unlimited = limits === template.viable ? outcome : within(template.viable);
  if (unlimited !== outcome && !isEmptyBitset(unlimited.remaining)) {
    return limitsTooTight(context, template);
  }
  if (!isFlexible) {
    const keys = [...unmet.keys()];
    return {
      code: 'MinValuesUnsatisfied',
      message: `${minValuesMessage(keys)}, ${outcome.suffix}`,
      nodePool,
      keys,
      suggestion: `lower minValues of ${keys.join(', ')} in NodePool ${nodePool}, or let it use more instance types`,
    };
  }
  const failed = failedOfferingsFor(world, template, narrowed, group.need);
  if (failed.length > 0) {
    return {
      code: 'NoOffering',
      message: `no instance type has the required offering, launches failed recently: ${failedText(failed)}`,
      nodePool,
      suggestion: `wait for the next try, or allow more zones, capacity types or instance types in NodePool ${nodePool} and in the pod`,
    };
  }
  if (template.daemonGroups.every((daemons) => portsConflict(constraint.ports, daemons.ports))) {
    return {
      code: 'HostPortConflict',
      message: 'pod hostport conflicts with existing hostport configuration of the daemons of every instance type',
      nodePool,
      suggestion: 'use another host port, or keep the daemon that has it off these nodes',
    };
  }
  const reason = filterReason(unlimited, nodePool);
  // Where the pod would have a node but for the domains its topology rules leave, those are what has to change.
  const narrower = narrowed.requirements.filter(({ key }) => narrowed.byKey.get(key) !== set.byKey.get(key));
  const without = filterOutcome(world, template, set, group.need, template.viable, constraint.ports, fixed);
  if (narrower.length === 0 || isEmptyBitset(without.remaining)) return reason;
  const keys = narrower.map(({ key }) => key);
  const domains = narrower.map(describeRequirement).join(' and ');
  const suggestion = `${topologyInTheWay} ${keys.join(', ')}: they ask for ${domains}, where NodePool ${nodePool} has nothing that fits`;
  return { ...reason, keys, suggestion };
}

/** How the suggestion begins where only the domains of spread or affinity are in the way. */
const topologyInTheWay = "relax the pod's topology rules over";

function tooManyVolumes({ attachments }: PodGroup, nodePool: string): Reason {
  const counts = [...attachments].map(([driver, names]) => `${names.size} of ${driver}`).join(', ');
  return {
    code: 'VolumeRequirementsIncompatible',
    message: `would exceed volume limit for all instance type options (volumes=${counts})`,
    nodePool,
    suggestion: `give the pod fewer volumes, or allow instance types in NodePool ${nodePool} that attach more`,
  };
}

/** Types that would hold the pod are larger than what the limits leave. */
function limitsTooTight({ world, packing }: ObstacleContext, template: Template): Reason {
  const { resources } = world;
  const nodePool = template.poolName;
  const left = packing.poolLimits
    .scarce(template, packing.newNodes)
    .map(({ column, left: amount }) => `${resources.names[column]} ${resources.format(column, Math.max(0, amount))}`);
  return {
    code: 'LimitsExceeded',
    message: `all instance types large enough exceed limits for nodepool (NodePool=${nodePool}, left=${left.join(', ')})`,
    nodePool,
    suggestion: `raise the limits of NodePool ${nodePool}: they leave ${left.join(' and ')}`,
  };
}

export function deferredReason(message: string, nodePool?: string): Reason {
  return {
    code: 'ReservedCapacityDeferred',
    message,
    ...(nodePool === undefined ? {} : { nodePool }),
    suggestion: 'nothing to do: the pod is planned again once reserved capacity is free or known to be used up',
  };
}
