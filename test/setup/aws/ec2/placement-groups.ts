// Placement groups, which moto does not have: create, describe, delete.
import { randomBytes } from 'node:crypto';
import { type AwsAnswer, type AwsCall, AwsRefusal, ec2Answer } from '../exchange.ts';
import { formText, formTexts } from '../form.ts';
import type { World } from '../world.ts';
import { element } from '../xml.ts';
import { dryRunSucceeded, isDryRun, matchesFilters, readFilters } from './filters.ts';
import { tagFilterValues, tagSet, tagsOfCall } from './tags.ts';

export interface PlacementGroup {
  groupId: string;
  groupName: string;
  strategy: 'cluster' | 'partition' | 'spread';
  state: 'available' | 'pending' | 'deleting' | 'deleted';
  partitionCount?: number;
  spreadLevel?: 'host' | 'rack';
  tags: Record<string, string>;
}

export function newPlacementGroup(facts: Partial<PlacementGroup> & Pick<PlacementGroup, 'groupName'>): PlacementGroup {
  const groupId = `pg-${randomBytes(8).toString('hex')}0`;
  return { groupId, strategy: 'cluster', state: 'available', tags: {}, ...facts };
}

export async function createPlacementGroup(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const groupName = formText(call.form, 'GroupName') ?? '';
  if (world.placementGroups.has(groupName)) {
    throw new AwsRefusal('InvalidPlacementGroup.Duplicate', `The placement group '${groupName}' already exists.`);
  }
  const partitions = formText(call.form, 'PartitionCount');
  const group = newPlacementGroup({
    groupName,
    strategy: (formText(call.form, 'Strategy') ?? 'cluster') as PlacementGroup['strategy'],
    tags: tagsOfCall(call, 'placement-group'),
    ...(partitions === undefined ? {} : { partitionCount: Number(partitions) }),
  });
  world.placementGroups.set(groupName, group);
  return ec2Answer(call, [described(group, 'placementGroup')]);
}

export async function deletePlacementGroup(call: AwsCall, world: World): Promise<AwsAnswer> {
  const groupName = formText(call.form, 'GroupName') ?? '';
  if (!world.placementGroups.delete(groupName)) throw unknownGroup(groupName);
  return ec2Answer(call, [element('return', true)]);
}

export async function describePlacementGroups(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const filters = readFilters(call.form);
  const groups = [...world.placementGroups.values()];
  const names = formTexts(call.form, 'GroupName');
  const ids = formTexts(call.form, 'GroupId');
  for (const name of names) if (!world.placementGroups.has(name)) throw unknownGroup(name);
  for (const id of ids) if (!groups.some((group) => group.groupId === id)) throw unknownGroup(id);
  const found = groups.filter(
    (group) =>
      (names.length === 0 || names.includes(group.groupName)) &&
      (ids.length === 0 || ids.includes(group.groupId)) &&
      matchesFilters(filters, (name) => filterValues(group, name)),
  );
  return ec2Answer(call, [
    element(
      'placementGroupSet',
      found.map((group) => described(group, 'item')),
    ),
  ]);
}

export function findPlacementGroup(world: World, groupId: string | undefined, groupName: string | undefined) {
  return [...world.placementGroups.values()].find(
    (group) => group.groupId === groupId || group.groupName === groupName,
  );
}

function filterValues(group: PlacementGroup, name: string): string[] | undefined {
  if (name === 'group-name') return [group.groupName];
  if (name === 'state') return [group.state];
  if (name === 'strategy') return [group.strategy];
  return tagFilterValues(group.tags, name);
}

function unknownGroup(name: string): AwsRefusal {
  return new AwsRefusal('InvalidPlacementGroup.Unknown', `The Placement Group '${name}' is unknown.`);
}

function described(group: PlacementGroup, name: string) {
  const { groupId, groupName, strategy, state, partitionCount, spreadLevel, tags } = group;
  return element(name, [
    element('groupId', groupId),
    element('groupName', groupName),
    element('strategy', strategy),
    element('state', state),
    partitionCount === undefined ? undefined : element('partitionCount', partitionCount),
    spreadLevel === undefined ? undefined : element('spreadLevel', spreadLevel),
    tagSet(tags),
  ]);
}
