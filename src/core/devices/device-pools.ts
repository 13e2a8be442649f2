// Devices as they are published: ResourceSlices gathered into pools. Of a pool only the newest generation counts; it is complete when
// all slices it announces are there, and invalid when its slices contradict each other. Slices of nodes that take no pods
// yet, or no more, are left out by the caller.

import { parseQuantity } from '../../base/index.ts';
import type {
  DeviceAttribute,
  DeviceCapacity,
  DeviceTaint,
  DeviceTaintRule,
  ResourceSlice,
  SliceDevice,
} from '../kube/device-objects.ts';
import { type Reach, type ReachContext, reachOf } from './reach.ts';

export interface CounterUse {
  /** `counterSet/counter`. */
  readonly counter: string;
  readonly amount: bigint;
}

export interface Device {
  /** `driver/pool/name`. */
  readonly id: string;
  readonly driver: string;
  readonly pool: DevicePool;
  readonly reach: Reach;
  readonly attributes: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity: Readonly<Record<string, DeviceCapacity>>;
  /** May serve several claims at a time, each with a part of its capacity. */
  readonly shared: boolean;
  readonly counters: readonly CounterUse[];
  /** Those that keep requests away. */
  readonly taints: readonly DeviceTaint[];
}

/** What taints devices beside their slices. */
export type TaintsOf = (driver: string, pool: string, device: string) => readonly DeviceTaint[];

const keepsAway = ({ effect }: DeviceTaint): boolean => effect === 'NoSchedule' || effect === 'NoExecute';

export function taintsByRules(rules: readonly DeviceTaintRule[]): TaintsOf {
  const known = rules.flatMap(({ spec }) =>
    spec?.taint === undefined ? [] : [{ ...spec.deviceSelector, taint: spec.taint }],
  );
  const names = (own: string | undefined, value: string): boolean => own === undefined || own === value;
  return (driver, pool, device) =>
    known.flatMap((rule) =>
      names(rule.driver, driver) && names(rule.pool, pool) && names(rule.device, device) ? [rule.taint] : [],
    );
}

const noTaints: TaintsOf = () => [];

export interface DevicePool {
  readonly driver: string;
  readonly name: string;
  readonly complete: boolean;
  readonly invalid: boolean;
  readonly devices: Device[];
  /** What is shared by its devices: `counterSet/counter` to the amount there is. */
  readonly counters: ReadonlyMap<string, bigint>;
  /** What is left of it without the slices of these nodes; undefined if nothing is. */
  without(nodes: ReadonlySet<string>): DevicePool | undefined;
}

/** The node whose slice it is, and with which it goes. */
export function ownerOf({ metadata }: ResourceSlice): string | undefined {
  return metadata.ownerReferences?.find(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Node')?.name;
}

/** Devices can be used where their slices say, unless it is said here. */
export function devicePools(
  context: ReachContext,
  slices: readonly ResourceSlice[],
  { reach, taintsOf = noTaints }: { reach?: Reach; taintsOf?: TaintsOf } = {},
): DevicePool[] {
  const byPool = new Map<string, ResourceSlice[]>();
  for (const slice of slices) {
    const key = JSON.stringify([slice.spec?.driver, slice.spec?.pool?.name]);
    const own = byPool.get(key);
    if (own) own.push(slice);
    else byPool.set(key, [slice]);
  }
  return [...byPool]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, own]) => poolOf(context, own, reach, taintsOf));
}

function poolOf(
  context: ReachContext,
  slices: readonly ResourceSlice[],
  reach: Reach | undefined,
  taintsOf: TaintsOf,
): DevicePool {
  const generationOf = (slice: ResourceSlice): number => slice.spec?.pool?.generation ?? 0;
  const newest = Math.max(...slices.map(generationOf));
  const current = slices.filter((slice) => generationOf(slice) === newest);
  const spec = current[0]?.spec ?? {};
  const counters = new Map<string, bigint>();
  let invalid = false;
  const sets = new Set<string>();
  for (const { name, counters: own = {} } of current.flatMap((slice) => slice.spec?.sharedCounters ?? [])) {
    invalid ||= sets.has(name);
    sets.add(name);
    for (const [counter, { value }] of Object.entries(own)) counters.set(`${name}/${counter}`, amountOf(value));
  }
  const devices: Device[] = [];
  const pool = {
    driver: spec.driver ?? '',
    name: spec.pool?.name ?? '',
    complete: current.length === (spec.pool?.resourceSliceCount ?? 1),
    invalid,
    devices,
    counters,
    without: (nodes: ReadonlySet<string>): DevicePool | undefined => {
      const isLeft = (slice: ResourceSlice): boolean => !nodes.has(ownerOf(slice) ?? '');
      if (slices.every(isLeft)) return pool;
      const left = slices.filter(isLeft);
      return left.length === 0 ? undefined : poolOf(context, left, reach, taintsOf);
    },
  };
  const names = new Set<string>();
  for (const slice of current) {
    for (const device of slice.spec?.devices ?? []) {
      pool.invalid ||= names.has(device.name);
      names.add(device.name);
      const usable = reach ?? reachOf(context, slice.spec?.perDeviceNodeSelection ? device : (slice.spec ?? {}));
      const compiled = deviceOf(device, pool, usable, taintsOf);
      pool.invalid ||= compiled.counters.some((use) => !counters.has(use.counter));
      devices.push(compiled);
    }
  }
  return pool;
}

function deviceOf(device: SliceDevice, pool: DevicePool, reach: Reach, taintsOf: TaintsOf): Device {
  const counters: CounterUse[] = [];
  for (const { counterSet, counters: own = {} } of device.consumesCounters ?? []) {
    for (const [counter, { value }] of Object.entries(own)) {
      counters.push({ counter: `${counterSet}/${counter}`, amount: amountOf(value) });
    }
  }
  return {
    id: deviceId(pool.driver, pool.name, device.name),
    driver: pool.driver,
    pool,
    reach,
    attributes: device.attributes ?? {},
    capacity: device.capacity ?? {},
    shared: device.allowMultipleAllocations === true,
    counters,
    taints: [...(device.taints ?? []), ...taintsOf(pool.driver, pool.name, device.name)].filter(keepsAway),
  };
}

export function deviceId(driver: string, pool: string, name: string): string {
  return `${driver}/${pool}/${name}`;
}

/** An attribute by its full name; names without a domain belong to the driver's. */
export function attributeOf({ attributes, driver }: Device, name: string): DeviceAttribute | undefined {
  if (Object.hasOwn(attributes, name)) return attributes[name];
  const slash = name.indexOf('/');
  const short = name.slice(slash + 1);
  if (slash < 0) return attributes[`${driver}/${name}`];
  return name.slice(0, slash) === driver && Object.hasOwn(attributes, short) ? attributes[short] : undefined;
}

/** Quantities of devices are counted in billionths, exactly. */
export function amountOf(quantity: string | number): bigint {
  return parseQuantity(quantity).nano;
}
