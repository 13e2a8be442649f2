// Which offerings would have done, had their launches not failed lately.

import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import { at } from '../resources/resource-table.ts';
import type { FailedOffering } from '../snapshot.ts';
import type { Need } from '../workload.ts';
import type { World } from '../world.ts';

/** Of the pool's types those large enough, daemons not counted. */
export function failedOfferingsFor(
  { table, offeredTypes }: Pick<World, 'table' | 'offeredTypes'>,
  { poolName }: Pick<Template, 'poolName'>,
  set: RequirementSet,
  need?: Need,
): FailedOffering[] {
  return (offeredTypes.get(poolName) ?? []).flatMap((type) =>
    type.failed
      .filter(({ offering, allocatable }) => {
        const isLargeEnough =
          need?.columns.every((column, index) => (need.amounts[index] as number) <= at(allocatable, column)) ?? true;
        return isLargeEnough && table.intersects(set, type.set) && table.compatible(set, offering.set, 'wellKnown');
      })
      .map(({ because }) => because),
  );
}
