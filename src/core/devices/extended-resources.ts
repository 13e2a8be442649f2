// Extended resources that come as devices: pods ask for `example.com/gpu: 2`, and a DeviceClass says that its devices serve
// them, by `extendedResourceName` or by its implicit name. Nodes and types that do not have the resource of their own have
// as much of it as they have devices of the class that no claim holds. Counted once with the world: the rest of planning
// sees a resource like any other.
//
// As kube-scheduler does: where a node reports the resource itself, a device plugin serves it, and the class does not count.
import { parseQuantity } from '../../base/index.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import type { DeviceClass } from '../kube/device-objects.ts';
import type { Pod } from '../kube/objects.ts';
import type { Machine } from '../nodes/machines.ts';
import type { InstanceTypeSpec, ResourceQuantities } from '../snapshot.ts';
import type { Device, DevicePool } from './device-pools.ts';
import type { DeviceWorld } from './device-world.ts';
import { type CompileDeviceSelector, classRequest, type DeviceRequest } from './resource-claim-requests.ts';

const implicitPrefix = 'deviceclass.resource.kubernetes.io/';
/** On claims that the scheduler makes for such pods: their devices are counted by what the pods ask for. */
const madeForPods = 'resource.kubernetes.io/extended-resource-claim';

export class ExtendedResources {
  /** By resource: what its class asks of devices. */
  private readonly requests: ReadonlyMap<string, DeviceRequest>;
  private readonly devices: DeviceWorld;
  private readonly held: ReadonlySet<string>;
  /** Types that have a resource by their devices only, with the drivers of those. */
  private readonly given = new Map<string, Map<string, ReadonlySet<string>>>();

  constructor(requests: ReadonlyMap<string, DeviceRequest>, devices: DeviceWorld, held: ReadonlySet<string>) {
    this.requests = requests;
    this.devices = devices;
    this.held = held;
  }

  ofMachine(machine: Machine): Machine {
    const own = this.devices.pools.filter(({ devices }) =>
      devices.some(({ reach }) => reach.kind === 'node' && reach.name === machine.name),
    );
    const carried = this.devices.carried.get(machine.name)?.pools ?? [];
    const more = this.amounts([...own, ...carried], machine.allocatable, machine.name);
    return more === undefined ? machine : { ...machine, allocatable: { ...machine.allocatable, ...more } };
  }

  ofType(type: InstanceTypeSpec): InstanceTypeSpec {
    if (type.dynamicResources === undefined) return type;
    const { pools } = this.devices.brought(type.dynamicResources);
    const more = this.amounts(pools, type.capacity);
    if (more === undefined) return type;
    const drivers = new Set(pools.map(({ driver }) => driver));
    this.given.set(type.name, new Map(Object.keys(more).map((name) => [name, drivers])));
    return { ...type, capacity: { ...type.capacity, ...more } };
  }

  /** What a launch can be asked for: not what only devices of these types give. Answers the drivers of those. */
  withoutGiven(
    requests: Record<string, string>,
    types: readonly string[],
  ): { requests: Record<string, string>; drivers: ReadonlySet<string> } {
    const drivers = new Set<string>();
    const entries = Object.entries(requests).filter(([name]) => {
      if (!this.requests.has(name)) return true;
      const from = types.map((type) => this.given.get(type)?.get(name));
      if (from.includes(undefined)) return true;
      for (const each of from) for (const driver of each ?? []) drivers.add(driver);
      return false;
    });
    return { requests: Object.fromEntries(entries), drivers };
  }

  private amounts(
    pools: readonly DevicePool[],
    known: ResourceQuantities,
    nodeName?: string,
  ): ResourceQuantities | undefined {
    const more: ResourceQuantities = {};
    for (const [name, request] of this.requests) {
      if (parseQuantity(known[name] ?? 0).nano > 0n) continue;
      const count = pools.reduce((sum, pool) => sum + this.countIn(pool, request, nodeName), 0);
      if (count > 0) more[name] = String(count);
    }
    return Object.keys(more).length === 0 ? undefined : more;
  }

  /** Devices of the pool that serve the request at once: what they share is given out in their order. */
  private countIn(pool: DevicePool, request: DeviceRequest, nodeName: string | undefined): number {
    if (!pool.complete || pool.invalid) return 0;
    const used = new Map<string, bigint>();
    let count = 0;
    for (const device of pool.devices) {
      const { reach } = device;
      if (reach.kind !== 'own' && !(reach.kind === 'node' && reach.name === nodeName)) continue;
      if (device.taints.length > 0 || this.held.has(device.id) || request.selects(device) !== true) continue;
      if (takesShares(device, used)) count += 1;
    }
    return count;
  }
}

function takesShares({ counters, pool }: Device, used: Map<string, bigint>): boolean {
  const fits = counters.every(
    ({ counter, amount }) => (used.get(counter) ?? 0n) + amount <= (pool.counters.get(counter) ?? 0n),
  );
  if (fits) for (const { counter, amount } of counters) used.set(counter, (used.get(counter) ?? 0n) + amount);
  return fits;
}

/** Undefined where no pod asks for a resource that a class serves. */
export function extendedResources(
  devices: DeviceWorld | undefined,
  objects: ClusterObjects,
  compile: CompileDeviceSelector,
): ExtendedResources | undefined {
  if (devices === undefined || objects.deviceClasses.size === 0) return undefined;
  const classes = servingClasses(objects.deviceClasses);
  const asked = new Set(objects.pods.flatMap(resourceNames).filter((name) => classes.has(name)));
  const requests = new Map<string, DeviceRequest>();
  for (const name of asked) {
    const request = classRequest({ classes: objects.deviceClasses, compile }, classes.get(name) ?? '');
    if (!('error' in request)) requests.set(name, request);
  }
  if (requests.size === 0) return undefined;
  const held = new Set<string>();
  for (const [key, claim] of devices.held)
    if (objects.resourceClaims.get(key)?.metadata.annotations?.[madeForPods] !== 'true')
      for (const { id } of claim.devices) held.add(id);
  return new ExtendedResources(requests, devices, held);
}

/** By resource the class that serves it: of several the youngest, then the first by name. */
function servingClasses(all: ReadonlyMap<string, DeviceClass>): Map<string, string> {
  const classes = new Map<string, string>();
  const ageOf = ({ metadata }: DeviceClass): string => metadata.creationTimestamp ?? '';
  const byPreference = [...all.values()].sort((left, right) =>
    ageOf(left) === ageOf(right)
      ? left.metadata.name < right.metadata.name
        ? -1
        : 1
      : ageOf(left) > ageOf(right)
        ? -1
        : 1,
  );
  for (const { metadata, spec } of byPreference) {
    const name = spec?.extendedResourceName;
    if (name && !classes.has(name)) classes.set(name, metadata.name);
    classes.set(`${implicitPrefix}${metadata.name}`, metadata.name);
  }
  return classes;
}

function resourceNames({ spec }: Pod): string[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys({ ...resources?.limits, ...resources?.requests }),
  );
}
