// From EC2's description of a type to what the planner reads: labels, capacity, overhead, offerings for one class.
import type { InstanceTypeSpec } from '../../core/index.ts';
import { attachmentLimits } from './attachments.ts';
import { capacityOf } from './capacity.ts';
import type { InstanceTypeContext } from './context.ts';
import { devicesOf } from './devices.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { kubeletValues } from './kubelet-values.ts';
import { offeringBuilder } from './offerings.ts';
import { overheadBuilder } from './overhead.ts';
import { requirementBuilder } from './requirements.ts';

export interface InstanceTypeBuilder {
  build(info: InstanceTypeInfo): InstanceTypeSpec;
  /** What changes from minute to minute, while the rest of a type stays. */
  offeringsOf(info: InstanceTypeInfo, options?: { probing?: boolean }): InstanceTypeSpec['offerings'];
}

/** What types have in common is made once, for all that one builder makes. */
export function instanceTypeBuilder(context: InstanceTypeContext): InstanceTypeBuilder {
  const requirementsOf = requirementBuilder(context);
  const overheadOf = overheadBuilder(context);
  const offersOf = offeringBuilder(context);
  const valuesOf = (info: InstanceTypeInfo) =>
    context.expressions.length === 0 ? undefined : kubeletValues(info, context);
  // The configuration of a machine cannot be computed: none is launched, and the class says so in its status.
  const offeringsOf: InstanceTypeBuilder['offeringsOf'] = (info, options) => {
    const values = valuesOf(info);
    return values !== undefined && 'error' in values ? [] : offersOf(info, options);
  };
  return {
    offeringsOf,
    build: (info) => {
      const values = valuesOf(info);
      const own = values !== undefined && 'kubelet' in values ? { ...context, kubelet: values.kubelet } : context;
      const dynamicResources = devicesOf(info, context);
      return {
        name: info.InstanceType,
        requirements: requirementsOf(info),
        capacity: capacityOf(info, own),
        overhead: own === context ? overheadOf(info) : overheadBuilder(own)(info),
        volumeAttachmentLimits: attachmentLimits(info, context),
        ...(dynamicResources === undefined ? {} : { dynamicResources }),
        offerings: offeringsOf(info),
      };
    },
  };
}

/** Every type, in the order given; one that the class cannot launch has no available offering. */
export function instanceTypesFor(infos: readonly InstanceTypeInfo[], context: InstanceTypeContext): InstanceTypeSpec[] {
  const { build } = instanceTypeBuilder(context);
  return infos.map(build);
}
