// EC2 as a plan without an account sees it: the built-in figures, in the zones that node classes reach. A class that no
// cluster has looked at has no subnets yet; it is taken to reach every zone in which its NodePool can have a machine.
import { label } from '../../api/names.ts';
import { awsProviderFacts, builtInCatalogue, type NodeClassShape } from '../../aws/catalogue.ts';
import { KerfError } from '../../base/index.ts';
import { type InstanceTypeSpec, launchOptions, type RequirementSpec, type SnapshotObject } from '../../core/index.ts';
import type { NodeClassRef, PlanProvider, ProviderOptions } from './provider.ts';

/** Zones as AWS names them, local zones left out: the region and a letter. */
const zoneName = /^[a-z]{2,}(?:-[a-z]+)+-\d[a-z]$/;

export async function loadAws(objects: readonly SnapshotObject[], options: ProviderOptions): Promise<PlanProvider> {
  const seen = zonesOf(objects);
  const region = options.region ?? (options.zones?.[0] ?? seen[0])?.replace(/[a-z]$/, '');
  checkZones(options.zones ?? [], region);
  checkRegion(options.region, seen);
  const { livePrices, zones: asked, ...sizes } = options;
  const prices = livePrices === undefined ? undefined : await livePrices(region ?? 'us-east-1');
  const catalogue = await builtInCatalogue({
    ...sizes,
    ...(region === undefined ? {} : { region }),
    ...(prices === undefined ? {} : { prices }),
    zones: [...(asked ?? []), ...seen],
  });
  checkOffered(asked ?? [], catalogue.zones, catalogue.region);
  const known = new Map<string, InstanceTypeSpec[]>();
  const typesIn = (nodeClass: SnapshotObject | undefined, zones: readonly string[]): InstanceTypeSpec[] => {
    const key = JSON.stringify([nodeClass?.metadata.name, zones]);
    let types = known.get(key);
    if (types === undefined) known.set(key, (types = catalogue.instanceTypes(withSubnets(nodeClass, zones))));
    return types;
  };
  return {
    name: 'aws',
    facts: awsProviderFacts,
    notes: [
      ...catalogue.standIns,
      ...(prices === undefined ? [] : [`prices are those AWS gave just now for ${catalogue.region}`]),
    ],
    offers(pool, ref, nodeClass) {
      const given = statusZones(nodeClass);
      if (given !== undefined) return { items: typesIn(nodeClass, given) };
      const everywhere = asked ?? catalogue.zones;
      const zones = zonesWithOfferings(pool, typesIn(nodeClass, everywhere), everywhere);
      return { items: typesIn(nodeClass, zones), assumption: assumptionText(ref, nodeClass, zones, everywhere) };
    },
  };
}

function checkZones(zones: readonly string[], region: string | undefined): void {
  const odd = zones.find((zone) => !zoneName.test(zone) || (region !== undefined && zone.slice(0, -1) !== region));
  if (odd === undefined) return;
  const example = `${region ?? 'us-east-1'}a`;
  throw new KerfError(
    'FlagsInvalid',
    `--zones ${odd} is not a zone of ${region}: write them like ${example},${example.slice(0, -1)}b`,
  );
}

/** A slip of the hand would leave every pod without a place, for a reason that names no zone. */
function checkOffered(asked: readonly string[], zones: readonly string[], region: string): void {
  const unknown = asked.find((zone) => !zones.includes(zone));
  if (unknown === undefined) return;
  throw new KerfError(
    'FlagsInvalid',
    `--zones ${unknown}: the figures of ${region} have no instance types there, only in ${zones.join(', ')}`,
  );
}

/** Types of a region are not offered in zones of another, so no pod would have a place. */
function checkRegion(region: string | undefined, seen: readonly string[]): void {
  if (region === undefined || seen.length === 0 || seen.some((zone) => zone.startsWith(region))) return;
  throw new KerfError(
    'FlagsInvalid',
    `--region ${region}: the subnets and nodes given are in ${seen.slice(0, 3).join(', ')}; leave --region out, or leave status.subnets out of the node classes`,
  );
}

function statusZones(nodeClass: SnapshotObject | undefined): string[] | undefined {
  const status = nodeClass?.['status'] as { subnets?: { zone: string }[] } | undefined;
  return status?.subnets?.map(({ zone }) => zone);
}

/** The class with subnets in these zones, unless its status has its own. */
function withSubnets(nodeClass: SnapshotObject | undefined, zones: readonly string[]): NodeClassShape {
  const shape = (nodeClass ?? { spec: { amiFamily: 'AL2023' } }) as NodeClassShape;
  if (shape.status?.subnets !== undefined) return shape;
  return { ...shape, status: { ...shape.status, subnets: zones.map((zone) => ({ zone })) } };
}

/** A zone in which the pool can have no machine would only be one that pods cannot be spread over. */
function zonesWithOfferings(
  pool: SnapshotObject,
  types: InstanceTypeSpec[],
  everywhere: readonly string[],
): readonly string[] {
  const template = (pool['spec'] as { template?: { spec?: { requirements?: RequirementSpec[] } } } | undefined)
    ?.template;
  const options = launchOptions(types, template?.spec?.requirements ?? [], awsProviderFacts);
  const found = new Set(
    options.map(({ offering }) => offering.requirements.find(({ key }) => key === label.zone)?.values?.[0] ?? ''),
  );
  const zones = everywhere.filter((zone) => found.has(zone));
  return zones.length === 0 ? everywhere : zones;
}

function assumptionText(
  ref: NodeClassRef,
  nodeClass: SnapshotObject | undefined,
  zones: readonly string[],
  everywhere: readonly string[],
): string {
  const left = everywhere.filter((zone) => !zones.includes(zone));
  const where =
    `subnets in ${zones.join(', ')}` +
    (left.length === 0 ? '' : ` (not ${left.join(', ')}, which has none of the NodePool's instance types)`) +
    '; --zones says otherwise';
  return nodeClass === undefined
    ? `there is no ${ref.kind} ${ref.name}: assumed AL2023 and ${where}`
    : `${ref.kind} ${ref.name} has no subnets in its status: assumed ${where}`;
}

/** Zones the cluster is known to use: subnets of node classes, then labels of nodes. */
function zonesOf(objects: readonly SnapshotObject[]): string[] {
  const zones = new Set<string>();
  for (const object of objects) {
    if (object.kind !== 'EC2NodeClass') continue;
    const status = object['status'] as { subnets?: { zone: string }[] } | undefined;
    for (const { zone } of status?.subnets ?? []) zones.add(zone);
  }
  for (const object of objects) {
    const labels = object.metadata['labels'] as Record<string, string> | undefined;
    const zone = object.kind === 'Node' ? labels?.[label.zone] : undefined;
    if (zone !== undefined && zoneName.test(zone)) zones.add(zone);
  }
  return [...zones];
}
