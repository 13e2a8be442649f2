// Dynamic resources as a plan finds them: the published devices of nodes that take pods, those that new nodes and nodes
// on their way bring, every claim with what it asks for, and which devices are in use. Compiled once with the rest of the world, and only where devices are not ignored.

import { label } from '../../api/names.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import type { ResourceClaim, ResourceSlice } from '../kube/device-objects.ts';
import type { Machine } from '../nodes/machines.ts';
import type { DynamicResources, PoolInstanceTypes } from '../snapshot.ts';
import { amountOf, type DevicePool, deviceId, devicePools, ownerOf, taintsByRules } from './device-pools.ts';
import { type Reach, type ReachContext, reachOfSelector } from './reach.ts';
import { type ClaimWork, type CompileDeviceSelector, claimWork, remembering } from './resource-claim-requests.ts';
import { type TypeDevices, typeDevicesIn } from './type-devices.ts';

/** An allocation that is there: the devices it holds and where they can be used. */
export interface HeldClaim {
  /** The pods it is reserved for; undefined if it is not for pods alone. */
  readonly uids: readonly string[] | undefined;
  readonly devices: readonly { readonly id: string; readonly consumed: ReadonlyMap<string, bigint> | undefined }[];
  readonly reach: Reach;
}

export interface DeviceWorld {
  readonly pools: readonly DevicePool[];
  readonly work: ReadonlyMap<string, ClaimWork | { readonly error: string }>;
  readonly held: ReadonlyMap<string, HeldClaim>;
  /** The devices that come with a node of a type that declares these. */
  brought(declared: DynamicResources | undefined): TypeDevices;
  /** By name of nodes that are not initialized: what they will have published then. */
  readonly carried: ReadonlyMap<string, TypeDevices>;
}

export interface DeviceWorldContext extends ReachContext {
  readonly objects: ClusterObjects;
  readonly machines: readonly Machine[];
  readonly compile: CompileDeviceSelector;
  readonly offered: ReadonlyMap<string, PoolInstanceTypes>;
}

export function deviceWorld(context: DeviceWorldContext): DeviceWorld {
  const { objects } = context;
  const requests = { classes: objects.deviceClasses, compile: remembering(context.compile) };
  const work = new Map<string, ClaimWork | { readonly error: string }>();
  const held = new Map<string, HeldClaim>();
  for (const [key, claim] of objects.resourceClaims) {
    work.set(key, claimWork(requests, claim));
    if (claim.status?.allocation !== undefined && claim.status.allocation !== null)
      held.set(key, heldClaim(context, claim));
  }
  const brought = typeDevicesIn(context);
  const pools = devicePools(context, publishedSlices(context), { taintsOf: taintsByRules(objects.deviceTaintRules) });
  return { pools, work, held, brought, carried: carriedDevices(context, brought) };
}

/** What is published of a node before it is initialized may not be all: until then its type tells. */
function carriedDevices(
  { machines, offered }: DeviceWorldContext,
  brought: DeviceWorld['brought'],
): Map<string, TypeDevices> {
  const carried = new Map<string, TypeDevices>();
  for (const { name, initialized, labels } of machines) {
    if (initialized) continue;
    const types = offered.get(labels[label.nodePool] ?? '')?.items;
    const declared = types?.find((type) => type.name === labels[label.instanceType])?.dynamicResources;
    if (declared !== undefined) carried.set(name, brought(declared));
  }
  return carried;
}

/** Slices that no node owns, and those of nodes that are ready for pods and stay. */
function publishedSlices({ objects, machines }: DeviceWorldContext): ResourceSlice[] {
  const ready = new Set<string | undefined>();
  for (const { node, initialized, leaving } of machines) if (initialized && !leaving) ready.add(node?.metadata.name);
  return objects.resourceSlices.filter((slice) => {
    const owner = ownerOf(slice);
    return owner === undefined || ready.has(owner);
  });
}

/** The same without what these nodes published, were they gone. */
export function withoutNodes(world: DeviceWorld, nodes: ReadonlySet<string>): DeviceWorld {
  if (nodes.size === 0) return world;
  return { ...world, pools: world.pools.flatMap((pool) => pool.without(nodes) ?? []) };
}

function heldClaim(context: DeviceWorldContext, claim: ResourceClaim): HeldClaim {
  const { allocation, reservedFor = [] } = claim.status ?? {};
  const onlyPods = reservedFor.every(({ apiGroup, resource }) => !apiGroup && resource === 'pods');
  const selector = allocation?.nodeSelector;
  return {
    uids: onlyPods && reservedFor.length > 0 ? reservedFor.map(({ uid = '' }) => uid) : undefined,
    devices: (allocation?.devices?.results ?? [])
      .filter(({ adminAccess }) => adminAccess !== true)
      .map(({ driver = '', pool = '', device = '', consumedCapacity }) => ({
        id: deviceId(driver, pool, device),
        consumed:
          consumedCapacity === undefined
            ? undefined
            : new Map(Object.entries(consumedCapacity).map(([name, value]) => [name, amountOf(value)])),
      })),
    reach: selector === undefined || selector === null ? { kind: 'everywhere' } : reachOfSelector(context, selector),
  };
}
