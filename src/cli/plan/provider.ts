// The cloud providers a plan can be made for, without any cloud: what each registers with the planner and what it offers.
import { awsGroup, kwokGroup } from '../../api/names.ts';
import type { InstanceTypeSpec, ProviderFacts, SnapshotObject } from '../../core/index.ts';
import { catalogueNamed, simulatedCatalogue } from '../simulated-catalogue.ts';

export const providerNames = ['kwok', 'aws'] as const;
export type ProviderName = (typeof providerNames)[number];

export interface PlanProvider {
  name: ProviderName;
  facts: ProviderFacts;
  /** Of the provider as a whole: figures that stand in for others. */
  notes: readonly string[];
  /** What it offers to a NodePool of a node class; the same list for the same class and zones. */
  offers(pool: SnapshotObject, ref: NodeClassRef, nodeClass: SnapshotObject | undefined): ProviderOffer;
}

export interface ProviderOffer {
  items: InstanceTypeSpec[];
  /** What was taken for granted about a node class that is missing or that no cloud has looked at. */
  assumption?: string;
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
  /** Zones in which node classes without subnets in their status are taken to have some. */
  zones?: readonly string[];
  /** Prices that AWS gave just now, for the region it was asked about. */
  livePrices?: (region: string) => Promise<LivePrices>;
}

export interface LivePrices {
  onDemand(instanceType: string): number | undefined;
  spot(instanceType: string, zone: string): number | undefined;
}

export async function loadProvider(
  name: ProviderName,
  objects: readonly SnapshotObject[],
  options: ProviderOptions = {},
): Promise<PlanProvider> {
  if (name !== 'aws') return loadKwok(objects);
  const { loadAws } = await import('./aws-provider.ts');
  return loadAws(objects, options);
}

async function loadKwok(objects: readonly SnapshotObject[]): Promise<PlanProvider> {
  const { catalogue, facts } = await simulatedCatalogue(catalogueNamed(objects));
  const types = [...catalogue];
  return { name: 'kwok', facts, notes: [], offers: () => ({ items: types }) };
}
