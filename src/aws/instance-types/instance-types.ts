// From EC2's description of a type to what the planner reads: labels, capacity, overhead, offerings for one class.
import type { InstanceTypeSpec } from '../../core/index.ts';
import { capacityOf } from './capacity.ts';
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { offeringBuilder } from './offerings.ts';
import { overheadBuilder } from './overhead.ts';
import { requirementBuilder } from './requirements.ts';

/** Every type, in the order given; one that the class cannot launch has no available offering. */
export function instanceTypesFor(infos: readonly InstanceTypeInfo[], context: InstanceTypeContext): InstanceTypeSpec[] {
  const requirementsOf = requirementBuilder(context);
  const overheadOf = overheadBuilder(context);
  const offeringsOf = offeringBuilder(context);
  return infos.map((info) => ({
    name: info.InstanceType,
    requirements: requirementsOf(info),
    capacity: capacityOf(info, context),
    overhead: overheadOf(info),
    offerings: offeringsOf(info),
  }));
}
