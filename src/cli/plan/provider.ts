// The cloud providers a plan can be made for, without any cloud: what each registers with the planner and what it offers.
import { awsGroup, kwokGroup, label } from '../../api/names.ts';
import type { NodeClassShape } from '../../aws/catalogue.ts';
import type { InstanceTypeSpec, ProviderFacts, SnapshotObject } from '../../core/index.ts';
import { catalogueNamed, simulatedCatalogue } from '../simulated-catalogue.ts';

export const providerNames = ['kwok', 'aws'] as const;
export type ProviderName = (typeof providerNames)[number];

export interface PlanProvider {
  name: ProviderName;
  facts: ProviderFacts;
  /** What it takes for granted about a node class that is missing or that no cloud has looked at; nothing to say: undefined. */
  assumes(ref: NodeClassRef, nodeClass: SnapshotObject | undefined): string | undefined;
  /** What it offers to NodePools of a node class; the same list for the same class. */
  instanceTypes(nodeClass: SnapshotObject | undefined): InstanceTypeSpec[];
}

/** The provider whose node classes the NodePools (or, without any, the NodeClaims) name; the simulated one otherwise. */
export function guessProvider(objects: readonly SnapshotObject[]): ProviderName {
  for (const kind of ['NodePool', 'NodeClaim', 'EC2NodeClass']) {
    const found = objects.filter((object) => object.kind === kind);
    if (found.some((object) => object.kind === 'EC2NodeClass' || nodeClassRefOf(object)?.group === awsGroup))
      return 'aws';
    if (found.some((object) => nodeClassRefOf(object)?.group === kwokGroup)) return 'kwok';
  }
  return 'kwok';
}

export interface NodeClassRef {
  group: string;
  kind: string;
  name: string;
}

/** The node class a NodePool or NodeClaim names. */
export function nodeClassRefOf(object: SnapshotObject): NodeClassRef | undefined {
  const spec = object['spec'] as Record<string, unknown> | undefined;
  const template = spec?.['template'] as { spec?: { nodeClassRef?: NodeClassRef } } | undefined;
  return template?.spec?.nodeClassRef ?? (spec?.['nodeClassRef'] as NodeClassRef | undefined);
}

export interface ProviderOptions {
  /** AWS region; by default the one the objects are in. */
  region?: string;
  /** Settings of the controller that change what an AWS node is taken to have. */
  reservedEnis?: number;
  vmMemoryOverhead?: number;
}

export async function loadProvider(
  name: ProviderName,
  objects: readonly SnapshotObject[],
  options: ProviderOptions = {},
): Promise<PlanProvider> {
  return name === 'aws' ? loadAws(objects, options) : loadKwok(objects);
}

async function loadKwok(objects: readonly SnapshotObject[]): Promise<PlanProvider> {
  const { catalogue, facts } = await simulatedCatalogue(catalogueNamed(objects));
  const types = [...catalogue];
  return { name: 'kwok', facts, assumes: () => undefined, instanceTypes: () => types };
}

async function loadAws(objects: readonly SnapshotObject[], options: ProviderOptions): Promise<PlanProvider> {
  const { awsProviderFacts, builtInCatalogue } = await import('../../aws/catalogue.ts');
  const zones = zonesOf(objects);
  const region = options.region ?? zones[0]?.replace(/[a-z]$/, '');
  const catalogue = await builtInCatalogue({ ...options, ...(region === undefined ? {} : { region }), zones });
  const known = new Map<SnapshotObject | undefined, InstanceTypeSpec[]>();
  return {
    name: 'aws',
    facts: awsProviderFacts,
    assumes: (ref, nodeClass) => awsAssumption(ref, nodeClass, catalogue.zones),
    instanceTypes(nodeClass) {
      let types = known.get(nodeClass);
      if (types === undefined)
        known.set(nodeClass, (types = catalogue.instanceTypes(nodeClass as NodeClassShape | undefined)));
      return types;
    },
  };
}

function awsAssumption(
  ref: NodeClassRef,
  nodeClass: SnapshotObject | undefined,
  zones: readonly string[],
): string | undefined {
  const everywhere = `subnets in ${zones[0]} to ${zones.at(-1)}`;
  if (nodeClass === undefined) return `there is no ${ref.kind} ${ref.name}: assumed AL2023 and ${everywhere}`;
  const status = nodeClass['status'] as { subnets?: unknown } | undefined;
  if (status?.subnets !== undefined) return undefined;
  return `${ref.kind} ${ref.name} has no subnets in its status: assumed ${everywhere}`;
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
    if (zone !== undefined && /^[a-z]{2,}(-[a-z]+)+-\d[a-z]$/.test(zone)) zones.add(zone);
  }
  return [...zones];
}
