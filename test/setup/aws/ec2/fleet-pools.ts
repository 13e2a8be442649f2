// The pools a fleet request may be served from (one per override), in the order its strategy prefers, and what a pool
// says when it cannot give an instance.
import { type AwsCall, AwsRefusal } from '../exchange.ts';
import { type FormTree, formText, formTrees } from '../form.ts';
import type { PoolError, World } from '../world.ts';
import { childOf, itemsOf, textOf, type XmlElement } from '../xml.ts';
import { availableIn, unknownReservation } from './capacity-reservations.ts';
import { catalogue, onDemandPrice, zonesOf } from './catalogue.ts';
import { templateData } from './launch-templates.ts';
import type { CapacityType } from './launched-instance.ts';
import { stateAt } from './launched-instance.ts';
import { spotPrice } from './spot-prices.ts';
import { freeAddressesOf, subnetsById, subnetZone } from './subnets.ts';

export interface Pool {
  template: { id: string; name: string; version: string; data: XmlElement };
  override: FormTree;
  capacityType: CapacityType;
  instanceType: string;
  imageId: string;
  zone: string;
  subnetId: string;
  subnet: XmlElement;
  priority: number;
  price: number;
  capacityReservationId: string | undefined;
}

export async function poolsOf(call: AwsCall, world: World): Promise<Pool[]> {
  const capacityType = (formText(call.form, 'TargetCapacitySpecification', 'DefaultTargetCapacityType') ??
    'on-demand') as CapacityType;
  const configs = formTrees(call.form, 'LaunchTemplateConfigs');
  const overrides = configs.flatMap((config) => formTrees(config, 'Overrides'));
  if (overrides.length === 0) {
    throw new AwsRefusal('InvalidFleetConfiguration', 'The fleet has no overrides: nothing to launch');
  }
  const subnetIds = overrides.map((override) => formText(override, 'SubnetId') ?? '');
  const subnets = await subnetsById(call, world, subnetIds);
  const pools: Pool[] = [];
  for (const config of configs) {
    const template = await templateData(call, world, formTreeOf(config, 'LaunchTemplateSpecification'));
    for (const override of formTrees(config, 'Overrides')) {
      const subnetId = formText(override, 'SubnetId') ?? '';
      const subnet = subnets.get(subnetId);
      if (subnet === undefined) {
        throw new AwsRefusal('InvalidSubnetID.NotFound', `The subnet ID '${subnetId}' does not exist`);
      }
      pools.push(poolOf(call, world, { template, override, capacityType, subnet, subnetId }));
    }
  }
  return sorted(pools, strategyOf(call, capacityType));
}

function poolOf(
  call: AwsCall,
  world: World,
  given: Pick<Pool, 'template' | 'override' | 'capacityType' | 'subnet' | 'subnetId'>,
): Pool {
  const { template, override, capacityType, subnet } = given;
  const instanceType = formText(override, 'InstanceType') ?? textOf(template.data, 'instanceType') ?? '';
  const zone = subnetZone(subnet);
  const price =
    capacityType === 'spot'
      ? spotPrice(world, call.region, instanceType, zone)
      : onDemandPrice(call.region, instanceType);
  return {
    ...given,
    instanceType,
    zone,
    imageId: formText(override, 'ImageId') ?? textOf(template.data, 'imageId') ?? '',
    priority: Number(formText(override, 'Priority') ?? Number.POSITIVE_INFINITY),
    price: price ?? Number.POSITIVE_INFINITY,
    capacityReservationId: textOf(
      childOf(template.data, 'capacityReservationSpecification', 'capacityReservationTarget'),
      'capacityReservationId',
    ),
  };
}

function strategyOf(call: AwsCall, capacityType: CapacityType): string {
  if (capacityType === 'spot') return formText(call.form, 'SpotOptions', 'AllocationStrategy') ?? 'lowest-price';
  return formText(call.form, 'OnDemandOptions', 'AllocationStrategy') ?? 'lowest-price';
}

function sorted(pools: Pool[], strategy: string): Pool[] {
  const key = strategy.endsWith('prioritized') ? 'priority' : 'price';
  return pools.toSorted((left, right) => left[key] - right[key] || 0);
}

export interface PoolOffer {
  /** How many instances it gives, at most as many as wanted. */
  count: number;
  /** Why not all; absent when it gives all. */
  error?: PoolError;
}

export function offerOf(call: AwsCall, world: World, pool: Pool, wanted: number): PoolOffer {
  const refused = refusal(call, world, pool);
  if (refused !== undefined) return { count: 0, error: refused };
  const { capacityType, instanceType, zone, subnet, subnetId } = pool;
  let offer: PoolOffer = { count: wanted };
  const limit = (count: number, code: string, message: string): void => {
    if (count < offer.count) offer = { count: Math.max(0, count), error: { code, message } };
  };
  limit(
    world.poolCapacity.get(`${capacityType}:${instanceType}:${zone}`) ?? wanted,
    'InsufficientInstanceCapacity',
    noCapacity(instanceType, zone),
  );
  limit(
    freeAddressesOf(subnet),
    'InsufficientFreeAddressesInSubnet',
    `There are not enough free addresses in subnet '${subnetId}' to satisfy the requested number of instances.`,
  );
  const vcpus = catalogue().types.get(instanceType)?.VCpuInfo.DefaultVCpus ?? 1;
  const quota = world.vcpuLimits.get(capacityType);
  if (quota !== undefined) {
    const [code, message]: [string, string] =
      capacityType === 'spot'
        ? ['MaxSpotInstanceCountExceeded', 'Max spot instance count exceeded']
        : [
            'VcpuLimitExceeded',
            `You have requested more vCPU capacity than your current vCPU limit of ${quota} allows.`,
          ];
    limit(Math.floor((quota - vcpusInUse(world, capacityType)) / vcpus), code, message);
  }
  if (pool.capacityReservationId !== undefined) {
    const reservation = world.capacityReservations.get(pool.capacityReservationId);
    if (reservation === undefined) throw unknownReservation(pool.capacityReservationId);
    limit(
      reservation.state === 'active' ? availableIn(world, reservation) : 0,
      'ReservationCapacityExceeded',
      'Requested reservation does not have sufficient compatible and available capacity for this request.',
    );
  }
  return offer;
}

function refusal(call: AwsCall, world: World, pool: Pool): PoolError | undefined {
  const { capacityType, instanceType, zone, override, imageId } = pool;
  const set = world.poolError(capacityType, instanceType, zone);
  if (set !== undefined) return set;
  const zones = zonesOf(call.region, instanceType);
  if (!catalogue().types.has(instanceType)) {
    return { code: 'InvalidParameterValue', message: `Invalid value '${instanceType}' for InstanceType.` };
  }
  if (zones !== undefined && !zones.includes(zone)) {
    const message = `Your requested instance type (${instanceType}) is not supported in your requested Availability Zone (${zone}).`;
    return { code: 'Unsupported', message };
  }
  const askedZone = formText(override, 'AvailabilityZone');
  if (askedZone !== undefined && askedZone !== zone) {
    return { code: 'InvalidParameterValue', message: `The subnet is in zone ${zone}, not in ${askedZone}.` };
  }
  if (!world.images.has(imageId)) {
    return { code: 'InvalidAMIID.NotFound', message: `The image id '[${imageId}]' does not exist` };
  }
  const architecture = world.images.get(imageId)?.architecture ?? '';
  const supported = catalogue().types.get(instanceType)?.ProcessorInfo.SupportedArchitectures ?? [];
  if (!supported.includes(architecture)) {
    const message = `The architecture '${supported[0]}' of the specified instance type does not match the architecture '${architecture}' of the specified AMI.`;
    return { code: 'InvalidParameterValue', message };
  }
  return undefined;
}

export function noCapacity(instanceType: string, zone: string): string {
  return `We currently do not have sufficient ${instanceType} capacity in the Availability Zone you requested (${zone}).`;
}

function vcpusInUse(world: World, capacityType: CapacityType): number {
  let sum = 0;
  for (const instance of world.launched.values()) {
    const state = stateAt(world, instance.instanceId);
    if (instance.capacityType !== capacityType || (state !== 'pending' && state !== 'running')) continue;
    sum += catalogue().types.get(instance.instanceType)?.VCpuInfo.DefaultVCpus ?? 1;
  }
  return sum;
}

export function securityGroupsOf({ template }: Pool): string[] {
  const ofInterfaces = itemsOf(template.data, 'networkInterfaceSet').flatMap((item) => itemsOf(item, 'groupSet'));
  const direct = itemsOf(template.data, 'securityGroupIdSet');
  return [...new Set([...ofInterfaces, ...direct].map(({ text }) => text))];
}

function formTreeOf(tree: FormTree, key: string): FormTree {
  const found = tree[key];
  return typeof found === 'object' ? found : {};
}
