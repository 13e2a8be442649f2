// Dynamic resource allocation: whether the drivers a claim counts on have reported what devices its node has. A driver
// publishes a pool as several ResourceSlices; the pool is complete when all slices of its newest generation are there.
import { annotation, type NodeClaim } from '../../../api/index.ts';
import type { KubeObject, Resource } from '../../../ports/index.ts';

export interface ResourceSlice extends KubeObject {
  spec: {
    driver: string;
    nodeName?: string;
    pool: { name: string; generation: number; resourceSliceCount: number };
  };
}

export const resourceSlices: Resource<ResourceSlice> = {
  group: 'resource.k8s.io',
  version: 'v1',
  plural: 'resourceslices',
  kind: 'ResourceSlice',
  namespaced: false,
};

/** Drivers the claim's pods asked for that have no complete pool on the node, in the annotation's order. */
export function driversWithoutPool(claim: NodeClaim, nodeName: string, slices: Iterable<ResourceSlice>): string[] {
  const wanted = claim.metadata.annotations?.[annotation.requestedDraDrivers] ?? '';
  const drivers = wanted.split(',').filter((driver) => driver !== '');
  if (drivers.length === 0) return [];
  const complete = driversWithPool(nodeName, slices);
  return drivers.filter((driver) => !complete.has(driver));
}

function driversWithPool(nodeName: string, slices: Iterable<ResourceSlice>): Set<string> {
  const newest = new Map<string, { driver: string; generation: number; wanted: number; found: number }>();
  for (const { spec } of slices) {
    if (spec.nodeName !== nodeName) continue;
    const { driver, pool } = spec;
    const key = `${driver}/${pool.name}`;
    const known = newest.get(key);
    if (known === undefined || pool.generation > known.generation) {
      newest.set(key, { driver, generation: pool.generation, wanted: pool.resourceSliceCount, found: 1 });
    } else if (pool.generation === known.generation) known.found += 1;
  }
  return new Set([...newest.values()].filter(({ wanted, found }) => found >= wanted).map(({ driver }) => driver));
}
