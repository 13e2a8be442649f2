// What EC2 said about the pools of a fleet that gave nothing: remembered so that the next launch looks elsewhere, and
// counted. Errors are looked at even when an instance came, once per fleet however many launches shared it.
import type { CreateFleetError } from '@aws-sdk/client-ec2';
import { capacityType as capacityTypes } from '../../api/index.ts';
import type { Counter, Metrics } from '../../ports/index.ts';
import type { Pool, UnavailableOfferings } from '../unavailable-offerings/unavailable-offerings.ts';
import { failureReason } from './failure-reason.ts';

export const serviceLinkedRoleCode = 'AuthFailure.ServiceLinkedRoleCreationNotPermitted';
const noAddressesCode = 'InsufficientFreeAddressesInSubnet';
const spreadGroupFull = 'limit of instances in this spread placement group';

/** Codes that say: not here, not now. */
const capacityCodes: ReadonlySet<string> = new Set([
  'InsufficientInstanceCapacity',
  'MaxSpotInstanceCountExceeded',
  'VcpuLimitExceeded',
  'UnfulfillableCapacity',
  'Unsupported',
  noAddressesCode,
  'MaxFleetCountExceeded',
  'ReservationCapacityExceeded',
]);

/** Of those the ones that speak of machines, not of an account's limits. */
const shortageCodes: ReadonlySet<string> = new Set(['InsufficientInstanceCapacity', 'UnfulfillableCapacity']);

export const isCapacityError = ({ ErrorCode = '' }: CreateFleetError): boolean => capacityCodes.has(ErrorCode);

export const isRoleError = ({ ErrorCode }: CreateFleetError): boolean => ErrorCode === serviceLinkedRoleCode;

export const fleetErrorText = ({ ErrorCode = '', ErrorMessage = '' }: CreateFleetError): string =>
  `${ErrorCode}: ${ErrorMessage}`;

export interface FleetErrorsOptions {
  metrics: Metrics;
  unavailable: UnavailableOfferings;
  zoneIdOf(zone: string): string | undefined;
  /** Of subnets: EC2 has no address left there. */
  markFull(subnetId: string): void;
  /** Of reservations: EC2 has no room left in it. */
  exhausted(reservationId: string): void;
}

export interface FleetFacts {
  capacityType: string;
  placementGroup?: Pool['placementGroup'];
  /** Every type the fleet named. */
  instanceTypes: readonly string[];
  /** The reservation a template is for. */
  reservationOf(templateName: string): string | undefined;
}

export class FleetErrors {
  private readonly options: FleetErrorsOptions;
  private readonly failures: Counter;
  private readonly handled = new WeakSet<readonly CreateFleetError[]>();

  constructor(options: FleetErrorsOptions) {
    this.options = options;
    this.failures = options.metrics.counter({
      name: 'karpenter_cloudprovider_instance_launch_failures_total',
      help: 'Pools that gave no instance when a fleet asked them.',
      labels: ['zone', 'zone_id', 'capacity_type', 'reason'],
    });
  }

  /** The list itself tells whether it was handled: launches that share a fleet share it. */
  handle(errors: readonly CreateFleetError[], facts: FleetFacts): void {
    if (this.handled.has(errors)) return;
    this.handled.add(errors);
    for (const error of errors) {
      this.count(error, facts);
      if (isRoleError(error)) this.options.unavailable.markCapacityType(capacityTypes.spot);
      else if (isCapacityError(error)) this.mark(error, facts);
    }
  }

  private count(error: CreateFleetError, { capacityType }: FleetFacts): void {
    const zone = error.LaunchTemplateAndOverrides?.Overrides?.AvailabilityZone ?? '';
    this.failures.add({
      zone,
      zone_id: this.options.zoneIdOf(zone) ?? '',
      capacity_type: capacityType,
      reason: failureReason(fleetErrorText(error)).reason,
    });
  }

  private mark(error: CreateFleetError, facts: FleetFacts): void {
    const { unavailable, markFull, exhausted } = this.options;
    const { LaunchTemplateSpecification: template, Overrides } = error.LaunchTemplateAndOverrides ?? {};
    const { InstanceType, AvailabilityZone: zone, SubnetId } = Overrides ?? {};
    if (error.ErrorCode === noAddressesCode && SubnetId !== undefined) {
      unavailable.markSubnet(SubnetId);
      markFull(SubnetId);
    }
    const isGroupFull = (error.ErrorMessage ?? '').includes(spreadGroupFull);
    const reservation = facts.reservationOf(template?.LaunchTemplateName ?? '');
    if (reservation !== undefined) {
      if (!isGroupFull) exhausted(reservation);
      return;
    }
    if (zone === undefined) return;
    const { capacityType, placementGroup } = facts;
    const isForAllTypes = isGroupFull && placementGroup !== undefined;
    const types = isForAllTypes ? facts.instanceTypes : InstanceType === undefined ? [] : [InstanceType];
    const isShortage = shortageCodes.has(error.ErrorCode ?? '');
    for (const instanceType of types)
      unavailable.markPool({ instanceType, zone, capacityType, placementGroup }, { isShortage });
  }
}
