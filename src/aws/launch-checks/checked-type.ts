// Which instance type a class is checked with: one that its pools would launch, rather an ordinary one than one with
// GPUs, which accounts often may not launch at all.
import { awsLabel, type EC2NodeClass, type NodePool } from '../../api/index.ts';
import { type InstanceTypeSpec, launchOptions, meetsRequirements, type RequirementSpec } from '../../core/index.ts';
import { imageFor } from '../images/images-for.ts';
import { amiFamilies, amiFamilyOf } from '../instance-types/ami-family.ts';
import { awsProviderFacts } from '../instance-types/provider-facts.ts';

/** Offered in every region, one for each architecture. */
const fallbacks = ['m5.large', 'm6g.large'];

/** `types` as the class sees them, `pools` those that refer to it. Undefined when no type can be launched at all. */
export function checkedType(
  nodeClass: EC2NodeClass,
  types: readonly InstanceTypeSpec[],
  pools: readonly NodePool[],
): InstanceTypeSpec | undefined {
  const images = nodeClass.status?.amis ?? [];
  const bootable = types.filter(
    (type) => type.offerings.some(({ available }) => available) && imageFor(type, images) !== undefined,
  );
  const isWindows = amiFamilies[amiFamilyOf(nodeClass.spec)].os === 'windows';
  const wanted = isWindows ? [] : wantedBy(pools, bootable);
  return (
    wanted.find((type) => !needsDevice(imageFor(type, images))) ??
    wanted[0] ??
    bootable.find(({ name }) => fallbacks.includes(name)) ??
    bootable[0]
  );
}

/** Cheapest first, pool by pool. */
function wantedBy(pools: readonly NodePool[], types: readonly InstanceTypeSpec[]): InstanceTypeSpec[] {
  return pools.flatMap((pool) =>
    launchOptions(types, requirementsOf(pool), awsProviderFacts).map(({ instanceType }) => instanceType),
  );
}

/** An image for GPUs or accelerators alone. */
const needsDevice = (image: ReturnType<typeof imageFor>): boolean =>
  image?.requirements.some(({ key, operator }) => deviceKeys.includes(key) && operator === 'Exists') ?? false;

const deviceKeys: readonly string[] = [awsLabel.instanceGpuCount, awsLabel.instanceAcceleratorCount];

/** Dedicated if a pool could ask for it: that is what may be forbidden. */
export function checkedTenancy(pools: readonly NodePool[]): 'default' | 'dedicated' {
  const dedicated: RequirementSpec = { key: awsLabel.instanceTenancy, operator: 'In', values: ['dedicated'] };
  const isAllowed = pools.some((pool) => {
    const about = requirementsOf(pool).filter(({ key }) => key === awsLabel.instanceTenancy);
    return about.length > 0 && meetsRequirements([dedicated], about);
  });
  return isAllowed ? 'dedicated' : 'default';
}

function requirementsOf({ spec }: NodePool): RequirementSpec[] {
  const { metadata, spec: template } = spec.template;
  const labels = Object.entries(metadata?.labels ?? {});
  return [
    ...template.requirements,
    ...labels.map(([key, value]): RequirementSpec => ({ key, operator: 'In', values: [value] })),
  ];
}
