// Which EC2 actions the proxy answers or puts right, and where.
import type { Handler } from '../exchange.ts';
import type { World } from '../world.ts';
import {
  cancelCapacityReservation,
  createCapacityReservation,
  describeCapacityReservations,
} from './capacity-reservations.ts';
import { describeImages } from './describe-images.ts';
import { runInstances } from './dry-runs.ts';
import { createFleet } from './fleet.ts';
import { describeInstanceTypeOfferings, describeInstanceTypes } from './instance-types.ts';
import { createTags, describeInstanceStatus, describeInstances, terminateInstances } from './instances.ts';
import { createLaunchTemplate, deleteLaunchTemplate, describeLaunchTemplates } from './launch-templates.ts';
import { createPlacementGroup, deletePlacementGroup, describePlacementGroups } from './placement-groups.ts';
import { describeSpotPriceHistory } from './spot-prices.ts';
import { describeSecurityGroups, describeSubnets } from './subnets.ts';

export const ec2Handlers: Record<string, Handler<World>> = {
  CancelCapacityReservation: cancelCapacityReservation,
  CreateCapacityReservation: createCapacityReservation,
  CreateFleet: createFleet,
  CreateLaunchTemplate: createLaunchTemplate,
  CreatePlacementGroup: createPlacementGroup,
  CreateTags: createTags,
  DeleteLaunchTemplate: deleteLaunchTemplate,
  DeletePlacementGroup: deletePlacementGroup,
  DescribeCapacityReservations: describeCapacityReservations,
  DescribeImages: describeImages,
  DescribeInstanceStatus: describeInstanceStatus,
  DescribeInstanceTypeOfferings: describeInstanceTypeOfferings,
  DescribeInstanceTypes: describeInstanceTypes,
  DescribeInstances: describeInstances,
  DescribeLaunchTemplates: describeLaunchTemplates,
  DescribePlacementGroups: describePlacementGroups,
  DescribeSecurityGroups: describeSecurityGroups,
  DescribeSpotPriceHistory: describeSpotPriceHistory,
  DescribeSubnets: describeSubnets,
  RunInstances: runInstances,
  TerminateInstances: terminateInstances,
};
