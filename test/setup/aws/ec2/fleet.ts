// CreateFleet (instant) as EC2 does it: the pools of all templates in the order the strategy prefers, errors for those
// that had nothing, instances from those that did. moto makes the instances, one pool at a time; what it forgets about
// them is remembered here (launched-instance.ts).
import { randomBytes, randomUUID } from 'node:crypto';
import { type AwsAnswer, type AwsCall, AwsRefusal, ec2Answer } from '../exchange.ts';
import { type FormTree, formText, formTree, toList } from '../form.ts';
import type { PoolError, World } from '../world.ts';
import { childOf, element, fromJson, itemSet, itemsOf, textOf, type XmlElement } from '../xml.ts';
import { availableIn } from './capacity-reservations.ts';
import { dryRunSucceeded, isDryRun } from './filters.ts';
import { offerOf, type Pool, poolsOf, securityGroupsOf } from './fleet-pools.ts';
import type { LaunchedInstance } from './launched-instance.ts';
import { findPlacementGroup } from './placement-groups.ts';

export async function createFleet(call: AwsCall, world: World): Promise<AwsAnswer> {
  const pools = await poolsOf(call, world);
  await requireProfiles(call, world, pools);
  if (isDryRun(call)) throw dryRunSucceeded();
  const token = formText(call.form, 'ClientToken');
  const { ClientToken: _, ...rest } = call.form;
  const request = JSON.stringify(rest);
  const earlier = token === undefined ? undefined : world.fleetAnswers.get(token);
  if (earlier !== undefined && earlier.request !== request) {
    throw new AwsRefusal('IdempotentParameterMismatch', 'The client token was used with other parameters before.');
  }
  if (earlier !== undefined) return JSON.parse(earlier.answer) as AwsAnswer;
  const answer = await launch(call, world, pools);
  if (token !== undefined) world.fleetAnswers.set(token, { request, answer: JSON.stringify(answer) });
  return answer;
}

async function launch(call: AwsCall, world: World, pools: Pool[]): Promise<AwsAnswer> {
  const fleetId = `fleet-${randomUUID()}`;
  const instances: XmlElement[] = [];
  const errors: XmlElement[] = [];
  let wanted = Number(formText(call.form, 'TargetCapacitySpecification', 'TotalTargetCapacity') ?? 1);
  for (const pool of pools) {
    if (wanted <= 0) break;
    const { count, error } = offerOf(call, world, pool, wanted);
    if (error !== undefined) errors.push(errorItem(pool, error));
    if (count === 0) continue;
    const ids = await launchFrom(call, world, pool, count, fleetId);
    wanted -= ids.length;
    instances.push(instanceItem(pool, ids));
  }
  return ec2Answer(call, [
    element('fleetId', fleetId),
    element('errorSet', errors),
    element('fleetInstanceSet', instances),
  ]);
}

async function launchFrom(call: AwsCall, world: World, pool: Pool, count: number, fleetId: string): Promise<string[]> {
  // moto knows two markets; the others are on-demand with a reservation.
  const market = pool.capacityType === 'spot' ? 'spot' : 'on-demand';
  const request: FormTree = {
    Type: 'instant',
    LaunchTemplateConfigs: {
      1: {
        LaunchTemplateSpecification: { LaunchTemplateId: pool.template.id, Version: pool.template.version },
        Overrides: { 1: pool.override },
      },
    },
    TargetCapacitySpecification: { TotalTargetCapacity: String(count), DefaultTargetCapacityType: market },
    SpotOptions: { AllocationStrategy: 'lowest-price' },
    TagSpecification: formTree(call.form, 'TagSpecification'),
  };
  const answer = await world.upstream.ask(call, 'CreateFleet', request);
  const ids = itemsOf(answer, 'fleetInstanceSet').flatMap((item) =>
    itemsOf(item, 'instanceIds').map(({ text }) => text),
  );
  const key = `${pool.capacityType}:${pool.instanceType}:${pool.zone}`;
  const capacity = world.poolCapacity.get(key);
  if (capacity !== undefined) world.poolCapacity.set(key, capacity - ids.length);
  const addresses = world.freeAddresses.get(pool.subnetId);
  if (addresses !== undefined) world.freeAddresses.set(pool.subnetId, addresses - ids.length);
  for (const instanceId of ids) world.launched.set(instanceId, remember(call, world, pool, instanceId, fleetId));
  await Promise.all(ids.map((id) => equip(call, world, pool, id)));
  return ids;
}

function remember(call: AwsCall, world: World, pool: Pool, instanceId: string, fleetId: string): LaunchedInstance {
  const launched: LaunchedInstance = {
    instanceId,
    region: call.region,
    instanceType: pool.instanceType,
    imageId: pool.imageId,
    zone: pool.zone,
    subnetId: pool.subnetId,
    capacityType: pool.capacityType,
    launchedAtMs: world.now(),
    fleetId,
    template: pool.template.data,
    securityGroupIds: securityGroupsOf(pool),
  };
  if (pool.capacityType === 'spot') launched.spotRequestId = `sir-${randomBytes(4).toString('hex')}`;
  const reservationId = pool.capacityReservationId ?? openReservation(world, pool);
  if (reservationId !== undefined) launched.capacityReservationId = reservationId;
  const placement = childOf(pool.template.data, 'placement');
  const group = findPlacementGroup(world, textOf(placement, 'groupId'), textOf(placement, 'groupName'));
  if (group !== undefined) {
    launched.placementGroup = { groupId: group.groupId, groupName: group.groupName };
    const partitions = group.partitionCount ?? 0;
    if (group.strategy === 'partition' && partitions > 0) {
      const asked = textOf(placement, 'partitionNumber');
      launched.placementGroup.partitionNumber =
        asked === undefined ? (world.launched.size % partitions) + 1 : Number(asked);
    }
  }
  return launched;
}

/** An on-demand launch that says nothing about reservations uses a matching open one, as EC2 does. */
function openReservation(world: World, pool: Pool): string | undefined {
  const preference = textOf(pool.template.data, 'capacityReservationSpecification', 'capacityReservationPreference');
  if (pool.capacityType !== 'on-demand' || (preference ?? 'open') !== 'open') return undefined;
  for (const reservation of world.capacityReservations.values()) {
    const matches =
      reservation.state === 'active' &&
      reservation.instanceMatchCriteria === 'open' &&
      reservation.instanceType === pool.instanceType &&
      reservation.zone === pool.zone;
    if (matches && availableIn(world, reservation) > 0) return reservation.id;
  }
  return undefined;
}

/** Security groups and profile, which moto takes from a fleet's template only when asked again. */
async function equip(call: AwsCall, world: World, pool: Pool, instanceId: string): Promise<void> {
  const groups = securityGroupsOf(pool);
  const tasks: Promise<unknown>[] = [];
  if (groups.length > 0) {
    const parameters = { InstanceId: instanceId, GroupId: toList(groups) };
    tasks.push(world.upstream.ask(call, 'ModifyInstanceAttribute', parameters));
  }
  const profile = profileOf(pool);
  if (profile !== undefined) {
    const parameters = { InstanceId: instanceId, IamInstanceProfile: profile };
    tasks.push(world.upstream.ask(call, 'AssociateIamInstanceProfile', parameters));
  }
  await Promise.all(tasks);
}

export function profileOf(pool: Pick<Pool, 'template'>): FormTree | undefined {
  const profile = childOf(pool.template.data, 'iamInstanceProfile');
  const name = textOf(profile, 'name');
  if (name !== undefined) return { Name: name };
  const arn = textOf(profile, 'arn');
  return arn === undefined ? undefined : { Arn: arn };
}

async function requireProfiles(call: AwsCall, world: World, pools: Pool[]): Promise<void> {
  const names = new Set(pools.map((pool) => formText(profileOf(pool), 'Name')));
  for (const name of names) if (name !== undefined) await requireProfile(call, world, name);
}

export async function requireProfile(call: AwsCall, world: World, name: string): Promise<void> {
  try {
    await world.upstream.askIam(call, 'GetInstanceProfile', { InstanceProfileName: name });
  } catch (error) {
    if (!(error instanceof AwsRefusal) || error.facts.code !== 'NoSuchEntity') throw error;
    throw new AwsRefusal(
      'InvalidParameterValue',
      `Value (${name}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name`,
    );
  }
}

function templateAndOverrides({ template, override }: Pool): XmlElement {
  return element('launchTemplateAndOverrides', [
    element('launchTemplateSpecification', [
      element('launchTemplateId', template.id),
      element('launchTemplateName', template.name),
      element('version', template.version),
    ]),
    fromJson('overrides', override),
  ]);
}

function instanceItem(pool: Pool, ids: string[]): XmlElement {
  return element('item', [
    templateAndOverrides(pool),
    element('lifecycle', lifecycleOf(pool)),
    itemSet('instanceIds', ids),
    element('instanceType', pool.instanceType),
  ]);
}

function errorItem(pool: Pool, { code, message }: PoolError): XmlElement {
  return element('item', [
    templateAndOverrides(pool),
    element('lifecycle', lifecycleOf(pool)),
    element('errorCode', code),
    element('errorMessage', message),
  ]);
}

function lifecycleOf({ capacityType }: Pool): string {
  if (capacityType === 'spot' || capacityType === 'on-demand') return capacityType;
  return capacityType === 'capacity-block' ? 'capacity-block' : 'interruptible-capacity-reservation';
}
