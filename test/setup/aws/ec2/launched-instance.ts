// What was asked for when an instance was launched, and how it shows in DescribeInstances. moto forgets most of a launch
// template; this remembers it and lays it over moto's answer. States follow the emulator's clock.

import type { World } from '../world.ts';
import { childOf, element, itemSet, itemsOf, setChild, textOf, type XmlElement } from '../xml.ts';
import { tagSet, tagsOfElement } from './tags.ts';

export type CapacityType = 'on-demand' | 'spot' | 'capacity-block' | 'reserved-capacity';

export interface LaunchedInstance {
  instanceId: string;
  region: string;
  instanceType: string;
  imageId: string;
  zone: string;
  subnetId: string;
  capacityType: CapacityType;
  launchedAtMs: number;
  fleetId: string;
  /** `launchTemplateData` of the template used. */
  template: XmlElement;
  securityGroupIds: string[];
  capacityReservationId?: string;
  spotRequestId?: string;
  placementGroup?: { groupId: string; groupName: string; partitionNumber?: number };
}

export type InstanceState = 'pending' | 'running' | 'shutting-down' | 'terminated' | 'stopping' | 'stopped';

const stateCodes: Record<InstanceState, number> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};

export function stateElement(name: string, state: InstanceState): XmlElement {
  return element(name, [element('code', stateCodes[state]), element('name', state)]);
}

/** Undefined when EC2 has never heard of it any more. `known` is what moto says, for instances we did not launch. */
export function stateAt(world: World, instanceId: string, known: InstanceState = 'running'): InstanceState | undefined {
  const { pendingMs, shuttingDownMs, forgetMs } = world.lifecycle;
  const terminatedAt = world.terminatedAt.get(instanceId);
  const now = world.now();
  if (terminatedAt !== undefined) {
    if (now < terminatedAt + shuttingDownMs) return 'shutting-down';
    return now < terminatedAt + shuttingDownMs + forgetMs ? 'terminated' : undefined;
  }
  const launched = world.launched.get(instanceId);
  if (launched !== undefined && now < launched.launchedAtMs + pendingMs) return 'pending';
  return known;
}

/** Changes moto's `item` of an instance in place. False: it is forgotten and must not be shown. */
export function overlay(world: World, item: XmlElement): boolean {
  const instanceId = textOf(item, 'instanceId') ?? '';
  const known = textOf(item, 'instanceState', 'name') as InstanceState | undefined;
  const state = stateAt(world, instanceId, known);
  if (state === undefined) return false;
  setChild(item, stateElement('instanceState', state));
  const launched = world.launched.get(instanceId);
  if (launched !== undefined) overlayLaunch(world, item, launched);
  return true;
}

function overlayLaunch(world: World, item: XmlElement, launched: LaunchedInstance): void {
  const { template } = launched;
  const image = world.images.get(launched.imageId);
  setChild(item, element('launchTime', new Date(launched.launchedAtMs).toISOString()));
  setChild(item, element('architecture', image?.architecture ?? textOf(item, 'architecture')));
  setChild(item, element('virtualizationType', 'hvm'));
  if (image?.platform !== undefined) setChild(item, element('platform', image.platform));
  setChild(item, tagSet({ ...tagsOfElement(item), 'aws:ec2:fleet-id': launched.fleetId }));
  if (launched.spotRequestId !== undefined) {
    setChild(item, element('spotInstanceRequestId', launched.spotRequestId));
  }
  overlayLifecycle(item, launched);
  overlayReservation(item, launched);
  overlayPlacement(item, launched);
  overlayDnsName(item, launched);
  setChild(item, groupSet(launched.securityGroupIds));
  setChild(item, networkInterfaces(item, launched));
  const monitored = textOf(template, 'monitoring', 'enabled') === 'true';
  setChild(item, element('monitoring', [element('state', monitored ? 'enabled' : 'disabled')]));
  for (const part of ['metadataOptions', 'enclaveOptions', 'cpuOptions']) {
    const asked = childOf(template, part);
    if (asked === undefined) continue;
    const shown = childOf(item, part) ?? element(part);
    for (const field of asked.children) setChild(shown, field);
    setChild(item, shown);
  }
}

function overlayLifecycle(item: XmlElement, { capacityType }: LaunchedInstance): void {
  item.children = item.children.filter(({ name }) => name !== 'instanceLifecycle');
  const lifecycle = {
    'on-demand': undefined,
    spot: 'spot',
    'capacity-block': 'capacity-block',
    'reserved-capacity': 'interruptible-capacity-reservation',
  }[capacityType];
  if (lifecycle !== undefined) item.children.push(element('instanceLifecycle', lifecycle));
}

function overlayReservation(item: XmlElement, { template, capacityReservationId }: LaunchedInstance): void {
  const asked = childOf(template, 'capacityReservationSpecification');
  if (asked !== undefined) setChild(item, asked);
  if (capacityReservationId !== undefined) setChild(item, element('capacityReservationId', capacityReservationId));
}

function overlayPlacement(item: XmlElement, { template, placementGroup }: LaunchedInstance): void {
  const placement = childOf(item, 'placement');
  if (placement === undefined) return;
  setChild(placement, element('tenancy', textOf(template, 'placement', 'tenancy') ?? 'default'));
  if (placementGroup === undefined) return;
  setChild(placement, element('groupName', placementGroup.groupName));
  setChild(placement, element('groupId', placementGroup.groupId));
  if (placementGroup.partitionNumber !== undefined) {
    setChild(placement, element('partitionNumber', placementGroup.partitionNumber));
  }
}

/** moto names fleet instances of every region as if they were in us-east-1. */
function overlayDnsName(item: XmlElement, { region }: LaunchedInstance): void {
  const suffix = region === 'us-east-1' ? 'ec2.internal' : `${region}.compute.internal`;
  const address = textOf(item, 'privateIpAddress');
  if (address === undefined) return;
  setChild(item, element('privateDnsName', `ip-${address.replaceAll('.', '-')}.${suffix}`));
}

function groupSet(ids: string[]): XmlElement {
  return itemSet(
    'groupSet',
    ids.map((id) => [element('groupId', id), element('groupName', id)]),
  );
}

function networkInterfaces(item: XmlElement, { instanceId, template }: LaunchedInstance): XmlElement {
  const shown = itemsOf(item, 'networkInterfaceSet');
  const asked = itemsOf(template, 'networkInterfaceSet');
  if (asked.length === 0) return element('networkInterfaceSet', shown);
  const interfaces = asked.map((wanted, index) => {
    const groups = itemsOf(wanted, 'groupSet').map(({ text }) => text);
    const primary = index === 0 ? shown[0] : undefined;
    const made = element('item', [...(primary?.children ?? [])]);
    if (primary === undefined) setChild(made, element('networkInterfaceId', `eni-${instanceId.slice(2)}${index}`));
    setChild(made, element('interfaceType', textOf(wanted, 'interfaceType') ?? 'interface'));
    if (groups.length > 0) setChild(made, groupSet(groups));
    setChild(
      made,
      element('attachment', [
        element('attachmentId', `eni-attach-${instanceId.slice(2)}${index}`),
        element('deviceIndex', textOf(wanted, 'deviceIndex') ?? index),
        element('networkCardIndex', textOf(wanted, 'networkCardIndex') ?? 0),
        element('status', 'attached'),
        element('deleteOnTermination', true),
      ]),
    );
    return made;
  });
  return element('networkInterfaceSet', interfaces);
}
