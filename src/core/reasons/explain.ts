// Why a pod found no place: for every pool everything that is in the way, as codes with one readable line each and the
// change that would help; the pool with the least in the way first. Made once per group of equal pods, after planning.

import type { DeviceState } from '../devices/device-state.ts';
import type { Failure } from '../packing/solve.ts';
import type { EmptyPool, Reason, ReasonCode } from '../plan.ts';
import { failedText } from '../pools/failed-offerings.ts';
import type { PausedTemplate } from '../pools/offered-pools.ts';
import { pauseText } from '../pools/pauses.ts';
import type { GroupStep, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { failedOfferingsFor } from './failed-offerings-for.ts';
import { otherKind } from './filter-reason.ts';
import { deferredReason, type ObstacleContext, poolObstacles } from './pool-obstacles.ts';
import { unknownValueReasons } from './unknown-values.ts';

export interface ExplainContext extends ObstacleContext {
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
  const { constraint } = step;
  const pools = [
    ...world.templates.map((template) => {
      const obstacles = poolObstacles(context, group, constraint, template);
      return obstacles.length > 0 ? obstacles : [unknownReason(template.poolName)];
    }),
    ...world.pausedTemplates.map((paused) => [
      pausedReason(paused),
      ...poolObstacles(context, group, constraint, paused.template),
    ]),
  ];
  const unusable = emptyPoolReasons(world);
  if (failure === 'deferred') {
    const deferred = pools.flat().find((reason) => reason.code === 'ReservedCapacityDeferred');
    return [deferred ?? deferredReason('reserved capacity is in use by other nodes of this plan')];
  }
  if (pools.length === 0) {
    // A pool that only waits for failed offerings is not one whose requirements leave nothing.
    const waiting = unusable.filter(({ code }) => code === 'NoOffering');
    return waiting.length > 0
      ? [...waiting, ...unusable.filter((each) => !waiting.includes(each))]
      : [noTypesReason, ...unusable];
  }
  const unknown = unknownValueReasons(world, constraint);
  if (unknown.length > 0) return unknown;
  const nearest = [...pools, ...unusable.map((reason) => [reason])]
    .map((obstacles, at) => ({ obstacles, at, distance: distanceOf(obstacles, at < pools.length) }))
    .sort(
      (left, right) =>
        left.distance - right.distance || left.obstacles.length - right.obstacles.length || left.at - right.at,
    );
  return nearest.flatMap(({ obstacles }) => obstacles);
}

/** How far the pod is from a node: what passes by itself is near, what asks for another kind of node is far. */
const distances: Partial<Record<ReasonCode, number>> = {
  NodePoolPaused: 1,
  LimitsExceeded: 1,
  InsufficientResources: 2,
  NoOffering: 3,
  TopologyUnsatisfiable: 3,
  HostPortConflict: 3,
  VolumeRequirementsIncompatible: 4,
  NoInstanceTypeFits: 4,
  TaintNotTolerated: 5,
  RequirementsIncompatible: 5,
  NoInstanceTypes: 7,
};
/** The pool has nothing of a resource the pod asks for: it was made for other pods. */
const farAway = 6;

function distanceOf(obstacles: readonly Reason[], isUsable: boolean): number {
  // minValues that cannot be met decide, wherever they are asked for.
  if (isUsable && obstacles.some(({ code }) => code === 'MinValuesUnsatisfied')) return 0;
  const each = obstacles.map(({ code, message, suggestion = '' }) => {
    if (code === 'NoOffering' && message.includes('failed recently')) return 1;
    const isOtherKind = suggestion.startsWith(otherKind) || / at most 0\b/.test(suggestion);
    return isOtherKind ? farAway : (distances[code] ?? farAway);
  });
  return Math.max(...each);
}

const noTypesReason: Reason = {
  code: 'NoInstanceTypes',
  message: 'nodepool requirements filtered out all available instance types',
  suggestion: 'widen the requirements of a NodePool until some instance type is left',
};

function pausedReason({ template: { poolName }, pause }: PausedTemplate): Reason {
  return {
    code: 'NodePoolPaused',
    message: `${pauseText(pause)} (NodePool=${poolName})`,
    nodePool: poolName,
    suggestion: `remove the cause, or change NodePool ${poolName} or its node class: that ends the pause; otherwise the next try is at ${pause.until}`,
  };
}

function unknownReason(nodePool: string): Reason {
  return {
    code: 'NoInstanceTypeFits',
    message: 'no instance type met the requirements/resources/offering tuple',
    nodePool,
    suggestion: 'plan again: what was in the way has changed while planning',
  };
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
    const failed =
      outcome.kind === 'unusable' && outcome.why === 'filtered'
        ? failedOfferingsFor(world, { poolName }, outcome.set)
        : [];
    if (failed.length > 0) {
      return {
        code: 'NoOffering',
        message: `every offering the NodePool allows failed recently: ${failedText(failed)}`,
        nodePool: poolName,
        suggestion: `wait for the next try, or allow more zones, capacity types or instance types in NodePool ${poolName}`,
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
