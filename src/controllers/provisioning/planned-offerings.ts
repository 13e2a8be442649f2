// The offerings a planned node may be launched from.
import { label } from '../../api/index.ts';
import { type InstanceTypeSpec, isForSale, type PlannedNode } from '../../core/index.ts';
import { offeringKey } from '../../state/index.ts';

type Offering = InstanceTypeSpec['offerings'][number];

/** Whether the node would be available there: in a zone and of a capacity type that its requirements allow. */
export function isWithin({ requirements }: PlannedNode): (offering: Offering) => boolean {
  const wanted = [label.zone, label.capacityType].flatMap((key) => {
    const values = requirements.find((each) => each.key === key && each.operator === 'In')?.values;
    return values === undefined ? [] : [{ key, values }];
  });
  return ({ requirements: offered }) =>
    wanted.every(({ key, values }) => {
      const has = offered.find((each) => each.key === key)?.values ?? [];
      return has.some((value) => values.includes(value));
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
      const fitsInto = isWithin(planned);
      keys = types
        .filter(({ name }) => names.has(name))
        .flatMap(({ name: instanceType, offerings }) =>
          offerings.flatMap((offering) => {
            if (!isForSale(offering) || !fitsInto(offering)) return [];
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
