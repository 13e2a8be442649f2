// Subnets with honest address counts: moto never gives back the address of a terminated instance.
import { type AwsAnswer, type AwsCall, ec2Answer } from '../exchange.ts';
import { type FormTree, toList } from '../form.ts';
import type { World } from '../world.ts';
import { element, itemsOf, setChild, textOf, type XmlElement } from '../xml.ts';
import { dryRunSucceeded, ec2Page, isDryRun, matchesFilters, readFilters } from './filters.ts';
import { tokenOf } from './instance-types.ts';
import { stateAt } from './launched-instance.ts';
import { tagFilterValues, tagsOfElement } from './tags.ts';

export async function describeSubnets(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const page = ec2Page(call, await describeSimple(call, world, 'DescribeSubnets', 'subnetSet', 'SubnetId'));
  for (const subnet of page.items) setFreeAddresses(world, subnet);
  return ec2Answer(call, [element('subnetSet', page.items), tokenOf(page.nextToken)]);
}

export async function describeSecurityGroups(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const groups = await describeSimple(call, world, 'DescribeSecurityGroups', 'securityGroupInfo', 'GroupId');
  const page = ec2Page(call, groups);
  return ec2Answer(call, [element('securityGroupInfo', page.items), tokenOf(page.nextToken)]);
}

/** By id, each asked for once (moto knows no id that is named twice); unknown ids are refused as moto refuses them. */
export async function subnetsById(call: AwsCall, world: World, ids: string[]): Promise<Map<string, XmlElement>> {
  const answer = await world.upstream.ask(call, 'DescribeSubnets', { SubnetId: toList([...new Set(ids)]) });
  const subnets = itemsOf(answer, 'subnetSet');
  for (const subnet of subnets) setFreeAddresses(world, subnet);
  return new Map(subnets.map((subnet) => [textOf(subnet, 'subnetId') ?? '', subnet]));
}

/** moto applies the first filter of each name (it would keep the last); the others are applied here. */
async function describeSimple(
  call: AwsCall,
  world: World,
  action: string,
  set: string,
  idField: string,
): Promise<XmlElement[]> {
  const filters = readFilters(call.form);
  const first = filters.filter(({ name }, at) => filters.findIndex((other) => other.name === name) === at);
  const rest = filters.filter((filter) => !first.includes(filter));
  const parameters: FormTree = {
    Filter: toList(first.map(({ name, values }): FormTree => ({ Name: name, Value: toList(values) }))),
  };
  const ids = call.form[idField];
  if (ids !== undefined) parameters[idField] = ids;
  const names = call.form['GroupName'];
  if (names !== undefined) parameters['GroupName'] = names;
  const answer = await world.upstream.ask(call, action, parameters);
  return itemsOf(answer, set).filter((item) =>
    matchesFilters(rest, (name) => tagFilterValues(tagsOfElement(item), name)),
  );
}

function setFreeAddresses(world: World, subnet: XmlElement): void {
  const id = textOf(subnet, 'subnetId') ?? '';
  const fixed = world.freeAddresses.get(id);
  let free = fixed ?? Number(textOf(subnet, 'availableIpAddressCount') ?? 0);
  if (fixed === undefined) {
    for (const { instanceId, subnetId } of world.launched.values()) {
      const state = subnetId === id ? stateAt(world, instanceId) : 'running';
      if (state === undefined || state === 'terminated') free += 1;
    }
  }
  setChild(subnet, element('availableIpAddressCount', free));
}

export function freeAddressesOf(subnet: XmlElement): number {
  return Number(textOf(subnet, 'availableIpAddressCount') ?? 0);
}

export function subnetZone(subnet: XmlElement): string {
  return textOf(subnet, 'availabilityZone') ?? '';
}
