// Every controller that only the AWS provider needs, in one list.
import type {
  CapacityReservations,
  Images,
  InstanceProfiles,
  PlacementGroups,
  SecurityGroups,
  Subnets,
} from '../aws/index.ts';
import type { Controller, ControllerContext } from '../controllers/index.ts';
import { instanceProfileCollectionController } from './instance-profile-collection/controller.ts';
import { capacityReservationsStep } from './nodeclass/capacity-reservations.ts';
import { nodeClassController } from './nodeclass/controller.ts';
import type { Step } from './nodeclass/draft.ts';
import { imagesStep } from './nodeclass/images.ts';
import { instanceProfileStep } from './nodeclass/instance-profile.ts';
import { placementGroupStep } from './nodeclass/placement-group.ts';
import { securityGroupsStep } from './nodeclass/security-groups.ts';
import { subnetsStep } from './nodeclass/subnets.ts';
import type { TerminationParts } from './nodeclass/termination.ts';
import { nodeClassHashController } from './nodeclass-hash/controller.ts';
import { parameterInvalidationController } from './parameter-invalidation/controller.ts';

/** What the controllers of node classes ask of AWS. */
export interface NodeClassServices {
  images: Images;
  subnets: Subnets;
  securityGroups: SecurityGroups;
  reservations: CapacityReservations;
  placementGroups: PlacementGroups;
  profiles: InstanceProfiles;
  launchTemplates: TerminationParts['launchTemplates'];
  /** Base64; empty if none is known. */
  caBundle: string;
  /** IAM cannot be reached from here. */
  isolatedVpc: boolean;
}

export { replacingRebalanced } from './interruption/rebalance-drift.ts';
export { lostCapacityOf, machineControllersOf } from './machine-controllers.ts';

export function awsControllersOf(context: ControllerContext, services: NodeClassServices): Controller[] {
  const { images, profiles, launchTemplates, caBundle, isolatedVpc } = services;
  return [
    nodeClassController(context, {
      steps: stepsOf(context, services),
      ...(isolatedVpc ? {} : { profiles }),
      launchTemplates,
      forget: () => undefined,
    }),
    nodeClassHashController(context, { caBundle }),
    parameterInvalidationController(images),
    ...(isolatedVpc ? [] : [instanceProfileCollectionController(context, profiles)]),
  ];
}

function stepsOf({ clock, settings }: ControllerContext, services: NodeClassServices): Step[] {
  const hasReservations = settings.featureGates['ReservedCapacity'] === true;
  return [
    imagesStep(services.images),
    ...(hasReservations ? [capacityReservationsStep(services.reservations, clock)] : []),
    placementGroupStep(services.placementGroups),
    subnetsStep(services.subnets),
    securityGroupsStep(services.securityGroups),
    instanceProfileStep(services.profiles),
  ];
}
