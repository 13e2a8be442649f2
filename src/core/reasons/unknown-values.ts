// A pod that asks for a zone, an instance type or another label value that nothing here has: that is the whole reason, and
// naming what there is helps more than a list of everything that was compared.

import { label } from '../../api/names.ts';
import { nearestName } from '../../base/index.ts';
import type { Reason } from '../plan.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { Constraint } from '../workload.ts';
import type { World } from '../world.ts';

const plainNames: Readonly<Record<string, string>> = {
  [label.zone]: 'zone',
  [label.instanceType]: 'instance type',
  [label.capacityType]: 'capacity type',
  [label.arch]: 'architecture',
  [label.os]: 'operating system',
};

const mostNamed = 8;

/** One reason per key of which no value the pod accepts exists. */
export function unknownValueReasons(world: World, { wish }: Constraint): Reason[] {
  const reasons: Reason[] = [];
  for (const requirement of wish.set.requirements) {
    if (requirement.complement || requirement.values.length === 0) continue;
    const known = knownValues(world, requirement.key);
    if (known === undefined || requirement.values.some((value) => known.has(value))) continue;
    reasons.push(reasonFor(requirement, [...known].sort()));
  }
  return reasons;
}

function reasonFor({ key, values }: Requirement, known: readonly string[]): Reason {
  const what = plainNames[key] ?? key;
  const near = values.flatMap((value) => nearestName(value, known) ?? []);
  const some = near.length > 0 && known.length > mostNamed ? near : known;
  const shown = some.slice(0, mostNamed).join(', ');
  const more = some.length > mostNamed ? ` and ${some.length - mostNamed} more` : '';
  const one = values.length === 1;
  const available = some === near ? `similar: ${shown}` : `available: ${shown}${more}`;
  return {
    code: 'UnknownValue',
    message: `${what} ${values.join(', ')} ${one ? 'does' : 'do'} not exist here; ${available}`,
    keys: [key],
    suggestion: `ask for ${near.length > 0 ? near.join(' or ') : `an available ${what}`} in the pod's node selector or affinity for ${key}`,
  };
}

/** Undefined where the key is none that instance types have values for. */
function knownValues(world: World, key: string): Set<string> | undefined {
  const values = new Set<string>();
  let isKnown = false;
  const seen = new Set<InstanceType>();
  for (const types of world.offeredTypes.values()) {
    for (const type of types) {
      if (seen.has(type)) continue;
      seen.add(type);
      const requirement = type.set.byKey.get(key);
      if (requirement === undefined) continue;
      // A type that can have any value has the one asked for.
      if (requirement.complement) return undefined;
      isKnown = true;
      for (const value of requirement.values) values.add(value);
    }
  }
  for (const node of world.nodes) for (const value of node.set.byKey.get(key)?.values ?? []) values.add(value);
  return isKnown ? values : undefined;
}
