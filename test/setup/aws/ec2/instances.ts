// DescribeInstances, TerminateInstances, CreateTags and DescribeInstanceStatus: moto's list, with the overlay, the states
// of our clock, filters of the same name, duplicate ids and whole pages put right.
import { type AwsAnswer, type AwsCall, AwsRefusal, accessKeyOf, ec2Answer } from '../exchange.ts';
import { type FormTree, formText, formTexts, toList } from '../form.ts';
import type { World } from '../world.ts';
import { childOf, element, itemSet, itemsOf, textOf, type XmlElement } from '../xml.ts';
import { dryRunSucceeded, ec2Page, type Filter, isDryRun, matchesFilters, readFilters } from './filters.ts';
import { tokenOf } from './instance-types.ts';
import { overlay, stateAt, stateElement } from './launched-instance.ts';
import { tagFilterValues, tagsOfElement } from './tags.ts';

export async function describeInstances(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const ids = instanceIds(call);
  if (ids.length > 0 && formText(call.form, 'MaxResults') !== undefined) {
    throw new AwsRefusal(
      'InvalidParameterCombination',
      'The parameter instancesSet cannot be used with the parameter maxResults',
    );
  }
  refuseForgotten(world, ids);
  refuseUnseen(world, call, ids);
  const { forwarded, ours } = splitFilters(readFilters(call.form));
  const reservations = await fetchReservations(call, world, ids, forwarded);
  for (const reservation of reservations) {
    const instances = childOf(reservation, 'instancesSet');
    if (instances === undefined) continue;
    instances.children = instances.children.filter(
      (item) =>
        isSeen(world, call, textOf(item, 'instanceId') ?? '') &&
        overlay(world, item) &&
        matchesFilters(ours, (name) => instanceFilterValues(item, name)),
    );
  }
  const shown = reservations.filter((reservation) => itemsOf(reservation, 'instancesSet').length > 0);
  const page = ec2Page(call, shown);
  return ec2Answer(call, [element('reservationSet', page.items), tokenOf(page.nextToken)]);
}

/** moto keeps only the last of several filters of one name, and its states are not ours. */
function splitFilters(filters: Filter[]): { forwarded: Filter[]; ours: Filter[] } {
  const forwarded: Filter[] = [];
  const ours: Filter[] = [];
  for (const filter of filters) {
    const isSecond = forwarded.some(({ name }) => name === filter.name);
    if (filter.name.startsWith('instance-state-') || isSecond) ours.push(filter);
    else forwarded.push(filter);
  }
  return { forwarded, ours };
}

function instanceFilterValues(item: XmlElement, name: string): (string | undefined)[] | undefined {
  switch (name) {
    case 'instance-state-name':
      return [textOf(item, 'instanceState', 'name')];
    case 'instance-state-code':
      return [textOf(item, 'instanceState', 'code')];
    case 'instance-type':
      return [textOf(item, 'instanceType')];
    case 'availability-zone':
      return [textOf(item, 'placement', 'availabilityZone')];
    default:
      return tagFilterValues(tagsOfElement(item), name);
  }
}

async function fetchReservations(call: AwsCall, world: World, ids: string[], filters: Filter[]): Promise<XmlElement[]> {
  const base: FormTree = {
    InstanceId: toList(ids),
    Filter: toList(filters.map(({ name, values }): FormTree => ({ Name: name, Value: toList(values) }))),
  };
  const found: XmlElement[] = [];
  let nextToken: string | undefined;
  do {
    const paging: FormTree = nextToken === undefined ? {} : { NextToken: nextToken };
    const answer = await world.upstream.ask(call, 'DescribeInstances', { ...base, ...paging });
    found.push(...itemsOf(answer, 'reservationSet'));
    nextToken = textOf(answer, 'nextToken') || undefined;
  } while (nextToken !== undefined);
  return found;
}

export async function terminateInstances(call: AwsCall, world: World): Promise<AwsAnswer> {
  const ids = instanceIds(call);
  refuseForgotten(world, ids);
  refuseUnseen(world, call, ids);
  if (isDryRun(call)) throw dryRunSucceeded();
  await requireInstances(call, world, ids);
  const before = new Map(ids.map((id) => [id, stateAt(world, id)]));
  await world.upstream.ask(call, 'TerminateInstances', { InstanceId: toList(ids) });
  const changes = ids.map((id) => {
    if (!world.terminatedAt.has(id)) world.terminatedAt.set(id, world.now());
    const previous = before.get(id) ?? 'running';
    return [
      element('instanceId', id),
      stateElement('currentState', previous === 'terminated' ? 'terminated' : 'shutting-down'),
      stateElement('previousState', previous),
    ];
  });
  return ec2Answer(call, [itemSet('instancesSet', changes)]);
}

export async function createTags(call: AwsCall, world: World): Promise<AwsAnswer | undefined> {
  const ids = formTexts(call.form, 'ResourceId').filter((id) => id.startsWith('i-'));
  refuseForgotten(world, ids);
  if (isDryRun(call)) throw dryRunSucceeded();
  await requireInstances(call, world, ids);
  return undefined;
}

export async function describeInstanceStatus(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const ids = instanceIds(call);
  refuseForgotten(world, ids);
  const answer = await world.upstream.ask(call, 'DescribeInstanceStatus', {
    InstanceId: toList(ids),
    IncludeAllInstances: 'true',
  });
  const includeAll = formText(call.form, 'IncludeAllInstances') === 'true';
  const filters = readFilters(call.form);
  const found: XmlElement[] = [];
  for (const item of itemsOf(answer, 'instanceStatusSet')) {
    const id = textOf(item, 'instanceId') ?? '';
    const state = stateAt(world, id);
    if (state === undefined || (!includeAll && state !== 'running')) continue;
    const health = world.health.get(id) ?? {};
    const { instanceStatus = 'ok', systemStatus = 'ok', events = [] } = health;
    const zone = textOf(item, 'availabilityZone');
    const values: Record<string, (string | undefined)[]> = {
      'instance-status.status': [instanceStatus],
      'system-status.status': [systemStatus],
      'event.code': events.map(({ code }) => code),
      'instance-state-name': [state],
      'availability-zone': [zone],
    };
    if (!matchesFilters(filters, (name) => values[name])) continue;
    found.push(
      element('item', [
        element('instanceId', id),
        element('availabilityZone', zone),
        stateElement('instanceState', state),
        statusElement('instanceStatus', instanceStatus, health.impairedSince),
        statusElement('systemStatus', systemStatus, health.impairedSince),
        itemSet(
          'eventsSet',
          events.map(({ code, description = '', notBefore }) => [
            element('code', code),
            element('description', description),
            notBefore === undefined ? undefined : element('notBefore', notBefore),
          ]),
        ),
      ]),
    );
  }
  const page = ec2Page(call, found, 1000);
  return ec2Answer(call, [element('instanceStatusSet', page.items), tokenOf(page.nextToken)]);
}

function statusElement(name: string, status: string, since: string | undefined): XmlElement {
  const isBad = status === 'impaired';
  const detail = [
    element('name', 'reachability'),
    element('status', isBad ? 'failed' : 'passed'),
    isBad && since !== undefined ? element('impairedSince', since) : undefined,
  ];
  return element(name, [element('status', status), itemSet('details', [detail])]);
}

/** EC2 takes an id twice; moto answers that with an uncaught error. */
function instanceIds(call: AwsCall): string[] {
  return [...new Set(formTexts(call.form, 'InstanceId'))];
}

async function requireInstances(call: AwsCall, world: World, ids: string[]): Promise<void> {
  if (ids.length > 0) await world.upstream.ask(call, 'DescribeInstances', { InstanceId: toList(ids) });
}

/** EC2 is eventually consistent: for a while a caller may not see a new instance. */
function isSeen(world: World, call: AwsCall, id: string): boolean {
  const blindMs = world.blindSpots.get(accessKeyOf(call)) ?? 0;
  const launched = world.launched.get(id);
  return blindMs === 0 || launched === undefined || world.now() >= launched.launchedAtMs + blindMs;
}

function refuseUnseen(world: World, call: AwsCall, ids: string[]): void {
  refuse(ids.filter((id) => !isSeen(world, call, id)));
}

function refuseForgotten(world: World, ids: string[]): void {
  refuse(ids.filter((id) => stateAt(world, id) === undefined));
}

function refuse(gone: string[]): void {
  if (gone.length === 0) return;
  const noun = gone.length === 1 ? `ID '${gone[0]}' does` : `IDs '${gone.join(', ')}' do`;
  throw new AwsRefusal('InvalidInstanceID.NotFound', `The instance ${noun} not exist`);
}
