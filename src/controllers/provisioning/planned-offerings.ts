// The offerings a planned node may be launched from.
import { label } from '../../api/index.ts';
import { type InstanceTypeSpec, isForSale, type PlannedNode } from '../../core/index.ts';
import { offeringKey } from '../../state/index.ts';

/** Whether the node would be available there: in a zone and of a capacity type that its requirements allow. */
export function isWithin(
  { requirements: offered }: InstanceTypeSpec['offerings'][number],
  planned: PlannedNode,
): boolean {
  return [label.zone, label.capacityType].every((key) => {
    const wanted = planned.requirements.find((each) => each.key === key && each.operator === 'In')?.values;
    const has = offered.find((each) => each.key === key)?.values ?? [];
    return wanted === undefined || has.some((value) => wanted.includes(value));
  });
}

/** Their names, as the pace of launches knows them; the same list for nodes that may be launched from the same. */
export class PlannedOfferings {
  private readonly known = new Map<string, string[]>();

  of(planned: PlannedNode, types: readonly InstanceTypeSpec[]): readonly string[] {
    const places = planned.requirements.filter(({ key }) => key === label.zone || key === label.capacityType);
    const key = JSON.stringify([planned.nodePool, planned.instanceTypes, places]);
    let keys = this.known.get(key);
    if (keys === undefined) {
      const names = new Set(planned.instanceTypes);
      keys = types
        .filter(({ name }) => names.has(name))
        .flatMap(({ name: instanceType, offerings }) =>
          offerings.flatMap((offering) => {
            if (!isForSale(offering) || !isWithin(offering, planned)) return [];
            const valueOf = (of: string): string =>
              offering.requirements.find((each) => each.key === of)?.values?.[0] ?? '';
            return [
              offeringKey({ instanceType, zone: valueOf(label.zone), capacityType: valueOf(label.capacityType) }),
            ];
          }),
        );
      this.known.set(key, keys);
    }
    return keys;
  }
}
