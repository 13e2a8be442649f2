// Templates planned for a claim, with everything about the machine that a test does not care for left plain.
import type { EC2NodeClass } from '../../api/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { type BootWish, type LaunchWish, type PlannedTemplate, plannedTemplates } from './launch-plan.ts';

export interface PlannedFor {
  types: readonly InstanceTypeSpec[];
  nodeClass?: Pick<EC2NodeClass, 'spec'> | { spec: Partial<EC2NodeClass['spec']> };
  claim?: object;
  /** Sees what each template's nodes are given at boot. */
  onBoot?: (wish: BootWish) => void;
}

export function templatesFor({ types, nodeClass, claim = {}, onBoot }: PlannedFor): PlannedTemplate[] {
  const wish = {
    nodeClass: { metadata: { name: 'default' }, spec: {}, ...nodeClass },
    claim: { metadata: {}, spec: { requirements: [] }, ...claim },
    candidates: types.map((type) => ({ type, offerings: type.offerings.slice(0, 1) })),
    allTypes: [],
    capacityType: 'on-demand',
    tenancy: 'default',
    placementGroup: undefined,
    tags: {},
  } as unknown as LaunchWish;
  return plannedTemplates(wish, {
    region: 'us-east-1',
    clusterName: 'test',
    isIpv6: false,
    reservedCapacity: true,
    imageFor: () => 'ami-1',
    blockDevicesOf: () => [],
    bootOf: (boot) => {
      onBoot?.(boot);
      return { inputs: {}, render: () => '' };
    },
  });
}
