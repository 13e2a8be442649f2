// The devices a node of some instance type will bring, as its provider declares them: pools of devices that are not
// published yet, and which of them will have an attribute in common whose value is unknown before the node runs.

import type { ResourceSlice } from '../kube/device-objects.ts';
import type { AttributeBinding, DynamicResources, ResourceSliceTemplate } from '../snapshot.ts';
import { type DevicePool, deviceId, devicePools } from './device-pools.ts';
import type { ReachContext } from './reach.ts';

export interface TypeDevices {
  readonly pools: readonly DevicePool[];
  /** By attribute, devices by id: those with equal numbers will have equal values. */
  readonly bonds: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export const noDevices: TypeDevices = { pools: [], bonds: new Map() };

/** Compiles what types bring; types that bring the same share one answer, so that it is searched once for all of them. */
export function typeDevicesIn(context: ReachContext): (declared: DynamicResources | undefined) => TypeDevices {
  const known = new Map<DynamicResources | string, TypeDevices>();
  return (declared) => {
    if (declared === undefined) return noDevices;
    let devices = known.get(declared);
    if (devices === undefined) {
      const text = JSON.stringify(declared);
      devices = known.get(text) ?? compiled(context, declared);
      known.set(text, devices).set(declared, devices);
    }
    return devices;
  };
}

function compiled(context: ReachContext, declared: DynamicResources): TypeDevices {
  const { resourceSliceTemplates: templates = [], attributeBindings: bindings = [] } = declared;
  if (templates.length === 0 && bindings.length === 0) return noDevices;
  const pools = devicePools(
    context,
    templates.map((template) => sliceOf(template, templates)),
    { reach: { kind: 'own' } },
  );
  return { pools, bonds: bondsOf(bindings) };
}

/** Every slice of a pool is there: nothing more is announced. */
function sliceOf(template: ResourceSliceTemplate, all: readonly ResourceSliceTemplate[]): ResourceSlice {
  const { driver, pool, devices = [], sharedCounters = [] } = template;
  const resourceSliceCount = all.filter((other) => other.driver === driver && other.pool.name === pool.name).length;
  return {
    metadata: { name: pool.name },
    spec: { driver, pool: { name: pool.name, resourceSliceCount }, devices, sharedCounters },
  };
}

/** What is bound to the same device is bound to each other; a binding of one device alone says nothing. */
function bondsOf(bindings: readonly AttributeBinding[]): Map<string, Map<string, number>> {
  const groupsOf = new Map<string, Set<string>[]>();
  for (const { attribute, devices } of bindings) {
    if (devices.length < 2) continue;
    const joined = new Set(devices.map(({ driver, pool, device }) => deviceId(driver, pool, device)));
    const apart: Set<string>[] = [];
    for (const group of groupsOf.get(attribute) ?? []) {
      if ([...group].some((id) => joined.has(id))) for (const id of group) joined.add(id);
      else apart.push(group);
    }
    groupsOf.set(attribute, [...apart, joined]);
  }
  const bonds = new Map<string, Map<string, number>>();
  for (const [attribute, groups] of groupsOf) {
    bonds.set(attribute, new Map(groups.flatMap((group, number) => [...group].map((id) => [id, number] as const))));
  }
  return bonds;
}
