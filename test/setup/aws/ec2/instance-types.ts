// DescribeInstanceTypes and DescribeInstanceTypeOfferings from the project's own figures: moto ignores pages and dry runs,
// loses types when filtered, and takes seconds.
import { type AwsAnswer, type AwsCall, ec2Answer } from '../exchange.ts';
import { formText, formTexts } from '../form.ts';
import type { World } from '../world.ts';
import { element, fromJson, itemsOf, textOf, type XmlElement } from '../xml.ts';
import { catalogue, type TypeFigures, zonesOf } from './catalogue.ts';
import { dryRunSucceeded, ec2Page, isDryRun, matchesFilters, readFilters } from './filters.ts';

export async function describeInstanceTypes(call: AwsCall): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const filters = readFilters(call.form);
  const names = formTexts(call.form, 'InstanceType');
  const found = [...catalogue().types.values()].filter(
    (figures) =>
      (names.length === 0 || names.includes(figures.InstanceType)) &&
      (zonesOf(call.region, figures.InstanceType)?.length ?? 1) > 0 &&
      matchesFilters(filters, (name) => filterValues(figures, name)),
  );
  const page = ec2Page(call, found, 100);
  return ec2Answer(call, [
    element(
      'instanceTypeSet',
      page.items.map((figures) => fromJson('item', described(figures))),
    ),
    tokenOf(page.nextToken),
  ]);
}

function filterValues(figures: TypeFigures, name: string): string[] | undefined {
  switch (name) {
    case 'instance-type':
      return [figures.InstanceType];
    case 'processor-info.supported-architecture':
      return figures.ProcessorInfo.SupportedArchitectures;
    case 'supported-virtualization-type':
      return ['hvm'];
    case 'supported-usage-class':
      return figures.SupportedUsageClasses;
    case 'hypervisor':
      return [figures.Hypervisor ?? ''];
    case 'bare-metal':
      return [String(figures.BareMetal ?? false)];
    default:
      return undefined;
  }
}

/** The figures as shipped, and the fields that are the same for all types of a kind. */
function described(figures: TypeFigures): object {
  const isNitro = figures.Hypervisor !== 'xen';
  return {
    ...figures,
    SupportedVirtualizationTypes: ['hvm'],
    SupportedRootDeviceTypes: ['ebs'],
    NetworkInfo: { EnaSupport: isNitro ? 'required' : 'supported', ...figures.NetworkInfo },
    PlacementGroupInfo: { SupportedStrategies: ['cluster', 'partition', 'spread'] },
  };
}

/** Undefined for regions whose offerings we do not hold: moto's list is then the better one. */
export async function describeInstanceTypeOfferings(call: AwsCall, world: World): Promise<AwsAnswer | undefined> {
  const letters = catalogue().zoneLetters[call.region];
  if (letters === undefined) return undefined;
  const locationType = formText(call.form, 'LocationType') ?? 'region';
  const locate = await locator(call, world, locationType);
  const filters = readFilters(call.form);
  const rows: XmlElement[] = [];
  for (const type of Object.keys(letters)) {
    for (const location of locate(zonesOf(call.region, type) ?? [])) {
      const values: Record<string, string[]> = { 'instance-type': [type], location: [location] };
      if (!matchesFilters(filters, (name) => values[name])) continue;
      rows.push(
        element('item', [
          element('instanceType', type),
          element('locationType', locationType),
          element('location', location),
        ]),
      );
    }
  }
  const page = ec2Page(call, rows);
  return ec2Answer(call, [element('instanceTypeOfferingSet', page.items), tokenOf(page.nextToken)]);
}

async function locator(call: AwsCall, world: World, locationType: string): Promise<(zones: string[]) => string[]> {
  if (locationType === 'region') return (zones) => (zones.length > 0 ? [call.region] : []);
  if (locationType === 'availability-zone') return (zones) => zones;
  const answer = await world.upstream.ask(call, 'DescribeAvailabilityZones', {});
  const ids = new Map(
    itemsOf(answer, 'availabilityZoneInfo').map((zone) => [textOf(zone, 'zoneName'), textOf(zone, 'zoneId')]),
  );
  return (zones) => zones.map((zone) => ids.get(zone)).filter((id) => id !== undefined);
}

export function tokenOf(nextToken: string | undefined): XmlElement | undefined {
  return nextToken === undefined ? undefined : element('nextToken', nextToken);
}
