// Which zone waiting pods can only go to, counted: what is left of the zones after the pod's own requirements, its volumes
// and the topology rules it cannot be relaxed out of. `none` has no zone left, `flexible` more than one.

import { label } from '../../api/names.ts';
import { allows, type Requirement } from '../requirements/requirement.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import type { Constraint, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';

const anyZone = 'flexible';
const noZone = 'none';

/** Pods by effective zone. */
export function effectiveZones(world: World, topology: TopologyState): Map<string, number> {
  const zoneOf = new Map<PodGroup, string>();
  const counts = new Map<string, number>();
  for (const { pod, group } of world.workload.pods) {
    if (pod.spec?.nodeName) continue;
    let zone = zoneOf.get(group);
    if (zone === undefined) {
      zone = effectiveZone(group, topology);
      zoneOf.set(group, zone);
    }
    counts.set(zone, (counts.get(zone) ?? 0) + 1);
  }
  return counts;
}

function effectiveZone({ steps }: PodGroup, topology: TopologyState): string {
  const [asWritten] = steps;
  const relaxed = steps.at(-1);
  if (asWritten === undefined || relaxed === undefined) return anyZone;
  const own = asWritten.constraint.strict.set.byKey.get(label.zone);
  let zones = own === undefined ? undefined : concrete(own);
  const narrow = (more: ReadonlySet<string> | undefined): void => {
    if (more !== undefined) zones = zones === undefined ? more : new Set([...zones].filter((zone) => more.has(zone)));
  };
  narrow(zonesOfVolumes(relaxed.constraint));
  narrow(openZones(relaxed.constraint, topology));
  // What the requirement only excludes or bounds is taken off at the end, once there are names to take it off.
  if (zones !== undefined && own !== undefined) zones = new Set([...zones].filter((zone) => allows(own, zone)));
  if (zones === undefined || zones.size > 1) return anyZone;
  const [only = noZone] = zones;
  return only;
}

/** The values it names, if it names any rather than excluding some. */
function concrete({ complement, values }: Requirement): ReadonlySet<string> | undefined {
  return complement ? undefined : new Set(values);
}

/** The zones of all alternatives together; undefined if one of them does not care. */
function zonesOfVolumes({ volumes }: Constraint): ReadonlySet<string> | undefined {
  if (volumes.length === 0) return undefined;
  const zones = new Set<string>();
  for (const { set } of volumes) {
    const requirement = set.byKey.get(label.zone);
    const named = requirement === undefined ? undefined : concrete(requirement);
    if (named === undefined) return undefined;
    for (const zone of named) zones.add(zone);
  }
  return zones;
}

/** Zones that satisfy every zonal topology rule now; undefined without such rules. */
function openZones({ rules }: Constraint, topology: TopologyState): ReadonlySet<string> | undefined {
  const zonal = rules.keys.find(({ domains }) => domains.key === label.zone);
  if (zonal === undefined) return undefined;
  topology.prepare({ ...rules, keys: [zonal] });
  return new Set(zonal.options.map((id) => zonal.domains.names[id] ?? ''));
}
