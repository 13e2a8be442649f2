// What the simulated provider sells: its own made-up machines, or those of EC2. `kerf up` says on the node class which it
// is, so that a plan for its cluster, live or from a snapshot, knows the same machines and prices.
import { annotation } from '../api/names.ts';
import type { SnapshotObject } from '../core/index.ts';
import type { BorrowedCatalogue } from '../sim/index.ts';

export const simulatedCatalogues = ['ec2', 'generic'] as const;
export type SimulatedCatalogue = (typeof simulatedCatalogues)[number];

/** Three zones, as most clusters have. */
const zones = ['us-east-1a', 'us-east-1b', 'us-east-1c'];

export async function simulatedCatalogue(name: SimulatedCatalogue): Promise<BorrowedCatalogue> {
  const { borrowedEc2Catalogue, genericCatalogue, kwokProviderFacts } = await import('../sim/index.ts');
  if (name === 'generic') return { catalogue: genericCatalogue(), facts: kwokProviderFacts() };
  const { builtInCatalogue } = await import('../aws/catalogue.ts');
  const { instanceTypes } = await builtInCatalogue();
  const subnets = zones.map((zone) => ({ id: `subnet-${zone}`, zone }));
  return borrowedEc2Catalogue(instanceTypes({ status: { subnets } }));
}

/** The one that the cluster these objects are of was started with. */
export function catalogueNamed(objects: readonly SnapshotObject[]): SimulatedCatalogue {
  const isEc2 = ({ kind, metadata }: SnapshotObject): boolean =>
    kind === 'KWOKNodeClass' &&
    (metadata['annotations'] as Record<string, string> | undefined)?.[annotation.catalogue] === 'ec2';
  return objects.some(isEc2) ? 'ec2' : 'generic';
}
