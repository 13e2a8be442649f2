// The CreateFleet request of one launch: an instant fleet over every pool that would do, so that EC2 takes the next one
// by itself where the first has nothing.
import type { FleetLaunchTemplateConfigRequest, FleetLaunchTemplateOverridesRequest } from '@aws-sdk/client-ec2';
import { annotation, capacityType, type EC2NodeClass, type NodeClaim } from '../../api/index.ts';
import type { FleetRequest } from '../batching/ec2-batchers.ts';
import { tagList } from '../tags.ts';
import { type Candidate, type ReservationFacts, zoneOf } from './candidates.ts';

export interface FleetTemplate {
  name: string;
  imageId: string;
  candidates: readonly Candidate[];
}

export interface FleetWish {
  nodeClass: EC2NodeClass;
  claim: NodeClaim;
  capacityType: string;
  /** Of a reserved launch. */
  reservation?: ReservationFacts | undefined;
  tags: Readonly<Record<string, string>>;
  templates: readonly FleetTemplate[];
  /** The subnet to launch into, by zone. */
  subnets: ReadonlyMap<string, { id: string }>;
}

/** Undefined when no pool is left to name. */
export function fleetRequest(wish: FleetWish): FleetRequest | undefined {
  const configs = wish.templates.flatMap((template): FleetLaunchTemplateConfigRequest[] => {
    const Overrides = overridesOf(template, wish.subnets);
    if (Overrides.length === 0) return [];
    return [{ LaunchTemplateSpecification: { LaunchTemplateName: template.name, Version: '$Latest' }, Overrides }];
  });
  if (configs.length === 0) return undefined;
  const { annotations = {} } = wish.claim.metadata;
  const { context } = wish.nodeClass.spec;
  // A relaxed claim may use what the context would not have let it.
  const isContextSent = context !== undefined && annotations[annotation.minValuesRelaxed] !== 'true';
  const tags = tagList(wish.tags);
  return {
    Type: 'instant',
    ...(isContextSent ? { Context: context } : {}),
    LaunchTemplateConfigs: configs,
    TargetCapacitySpecification: { DefaultTargetCapacityType: targetTypeOf(wish) },
    ...optionsOf(wish, annotation.priceOverlayApplied in annotations),
    TagSpecifications: (['instance', 'volume', 'fleet'] as const).map((ResourceType) => ({ ResourceType, Tags: tags })),
  };
}

function overridesOf(
  { imageId, candidates }: FleetTemplate,
  subnets: FleetWish['subnets'],
): FleetLaunchTemplateOverridesRequest[] {
  return candidates.flatMap(({ type, offerings }) => {
    const byZone = new Map<string, FleetLaunchTemplateOverridesRequest>();
    for (const offering of offerings) {
      const zone = zoneOf(offering);
      const subnet = subnets.get(zone);
      // Offerings of several partitions are one pool to EC2.
      if (subnet === undefined || byZone.has(zone)) continue;
      byZone.set(zone, {
        InstanceType: type.name as NonNullable<FleetLaunchTemplateOverridesRequest['InstanceType']>,
        SubnetId: subnet.id,
        ImageId: imageId,
        AvailabilityZone: zone,
        Priority: offering.price,
      });
    }
    return [...byZone.values()];
  });
}

type TargetType = FleetRequest['TargetCapacitySpecification']['DefaultTargetCapacityType'];

function targetTypeOf({ capacityType: type, reservation }: FleetWish): TargetType {
  if (type === capacityType.spot) return 'spot';
  if (type !== capacityType.reserved) return 'on-demand';
  if (reservation?.type === 'capacity-block') return 'capacity-block';
  return reservation?.interruptible === true ? 'reserved-capacity' : 'on-demand';
}

/** With prices of the user's own EC2 goes by our order; otherwise by its own knowledge of prices and capacity. */
function optionsOf(wish: FleetWish, hasOwnPrices: boolean): Partial<FleetRequest> {
  switch (targetTypeOf(wish)) {
    case 'spot':
      return {
        SpotOptions: {
          AllocationStrategy: hasOwnPrices ? 'capacity-optimized-prioritized' : 'price-capacity-optimized',
        },
      };
    case 'on-demand':
      return { OnDemandOptions: { AllocationStrategy: hasOwnPrices ? 'prioritized' : 'lowest-price' } };
    case 'capacity-block':
      return {};
    case 'reserved-capacity':
      return { ReservedCapacityOptions: { ReservationTypes: ['interruptible-capacity-reservation'] } };
  }
}
