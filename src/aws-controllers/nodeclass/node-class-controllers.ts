// The controllers of node classes, built from what they ask of AWS.
import type {
  CapacityReservations,
  Images,
  InstanceProfiles,
  PlacementGroups,
  SecurityGroups,
  Subnets,
} from '../../aws/index.ts';
import type { Controller, ControllerContext } from '../../controllers/index.ts';
import { instanceProfileCollectionController } from '../instance-profile-collection/controller.ts';
import { type LaunchCheckParts, LaunchChecksLoop } from '../launch-checks/controller.ts';
import { nodeClassHashController } from '../nodeclass-hash/controller.ts';
import { parameterInvalidationController } from '../parameter-invalidation.ts';
import { capacityReservationsStep } from './capacity-reservations.ts';
import { isOfClass } from './claims-of.ts';
import { nodeClassController } from './controller.ts';
import type { Step } from './draft.ts';
import { imagesStep } from './images.ts';
import { instanceProfileStep } from './instance-profile.ts';
import { launchesPausedStep } from './launches-paused.ts';
import { tellNotFound } from './not-found.ts';
import { placementGroupStep } from './placement-group.ts';
import { securityGroupsStep } from './security-groups.ts';
import { subnetsStep } from './subnets.ts';
import type { TerminationParts } from './termination.ts';
import { unusedReservationsStep } from './unused-reservations.ts';
import { Validation, type ValidationParts } from './validation.ts';

/** What the controllers of node classes ask of AWS. */
export interface NodeClassServices {
  images: Images;
  subnets: Subnets;
  securityGroups: SecurityGroups;
  reservations: CapacityReservations;
  placementGroups: PlacementGroups;
  profiles: InstanceProfiles;
  launchTemplates: TerminationParts['launchTemplates'];
  validation: Omit<ValidationParts, 'clock' | 'poolsOf'>;
  /** What is asked of the account before launches; absent: nothing. */
  launchChecks?: LaunchCheckParts;
  /** Base64; empty if none is known. */
  caBundle: string;
  /** IAM cannot be reached from here. */
  isolatedVpc: boolean;
}

export function nodeClassControllersOf(context: ControllerContext, services: NodeClassServices): Controller[] {
  const { images, profiles, launchTemplates, caBundle, isolatedVpc } = services;
  const validation = new Validation({
    ...services.validation,
    clock: context.clock,
    tell: (nodeClass, message) =>
      void tellNotFound(context.recorder)(nodeClass, { reason: 'LaunchCheckFailed', message }, async () => undefined),
    poolsOf: (name) => context.cluster.nodePools.list().filter((pool) => isOfClass(pool.spec.template, name)),
  });
  const checks = services.launchChecks && new LaunchChecksLoop(context, services.launchChecks);
  return [
    nodeClassController(context, {
      steps: [
        ...discoverySteps(context, services),
        validation.step,
        ...(checks === undefined ? [] : [launchesPausedStep(checks.verdicts)]),
      ],
      ...(checks === undefined ? {} : { listen: (wake: (name: string) => void) => checks.onChange(wake) }),
      ...(isolatedVpc ? {} : { profiles }),
      launchTemplates,
      forget: (name) => validation.forget(name),
    }),
    ...(checks === undefined ? [] : [checks.controller()]),
    nodeClassHashController(context, { caBundle }),
    parameterInvalidationController(images),
    ...(isolatedVpc ? [] : [instanceProfileCollectionController(context, profiles)]),
  ];
}

type DiscoveryServices = Pick<
  NodeClassServices,
  'images' | 'subnets' | 'securityGroups' | 'reservations' | 'placementGroups'
>;
type DiscoveryContext = Pick<ControllerContext, 'clock' | 'recorder'> & {
  settings: Pick<ControllerContext['settings'], 'featureGates'>;
};

function discoverySteps(context: ControllerContext, services: NodeClassServices): Step[] {
  const { clock, recorder } = context;
  return [
    ...selectionSteps(context, services),
    ...(hasReservations(context) ? [unusedReservationsStep(services.reservations, clock, tellNotFound(recorder))] : []),
    instanceProfileStep(services.profiles),
  ];
}

const hasReservations = ({ settings }: Pick<DiscoveryContext, 'settings'>): boolean =>
  settings.featureGates['ReservedCapacity'] === true;

/** What the selectors of a class find; nothing is written anywhere. */
export function selectionSteps(context: DiscoveryContext, services: DiscoveryServices): Step[] {
  const { clock, recorder } = context;
  const tell = tellNotFound(recorder);
  return [
    imagesStep(services.images, tell),
    ...(hasReservations(context) ? [capacityReservationsStep(services.reservations, clock)] : []),
    placementGroupStep(services.placementGroups, tell),
    subnetsStep(services.subnets, tell),
    securityGroupsStep(services.securityGroups, tell),
  ];
}
