// NodeOverlays among the objects, applied to the catalogues that a plan fills in. Those of a snapshot are applied already.
import {
  applyOverlays,
  type Overlay,
  type PoolInstanceTypes,
  type ProviderFacts,
  type SnapshotObject,
} from '../../core/index.ts';

/** The catalogues as the overlays leave them; overlays that cannot count are named in `notes`. */
export async function withOverlays(
  catalogues: PoolInstanceTypes[],
  objects: readonly SnapshotObject[],
  facts: ProviderFacts,
  notes: Set<string>,
): Promise<PoolInstanceTypes[]> {
  const overlays = await validOverlays(objects, facts, notes);
  if (overlays.length === 0) return catalogues;
  const pools = catalogues.map(({ nodePool, items = [] }) => ({
    nodePool,
    labels: templateLabels(objects, nodePool),
    items,
  }));
  const { items, conflicting } = applyOverlays(overlays, pools, facts);
  for (const name of conflicting) {
    notes.add(`NodeOverlay ${name} is not applied: another of the same weight changes the same offering or resource`);
  }
  return catalogues.map((entry, index) =>
    entry.items === undefined ? entry : { ...entry, items: items[index] ?? [] },
  );
}

async function validOverlays(
  objects: readonly SnapshotObject[],
  facts: ProviderFacts,
  notes: Set<string>,
): Promise<Overlay[]> {
  const overlays = objects.filter(({ kind }) => kind === 'NodeOverlay');
  if (overlays.length === 0) return [];
  const { labelPolicy, nodeOverlayProblems } = await import('../../api/index.ts');
  const policy = labelPolicy({
    wellKnown: facts.wellKnownLabels,
    restrictedDomains: facts.restrictedLabelDomains ?? [],
    normalized: facts.normalizedLabels ?? {},
  });
  return overlays.flatMap((object) => {
    const spec = { requirements: [], ...(object['spec'] as Partial<Overlay> | undefined) };
    const [problem] = nodeOverlayProblems(spec, policy);
    if (problem === undefined) return [{ ...spec, name: object.metadata.name }];
    notes.add(`NodeOverlay ${object.metadata.name} is not applied: ${problem}`);
    return [];
  });
}

function templateLabels(objects: readonly SnapshotObject[], nodePool: string): Record<string, string> {
  const pool = objects.find(({ kind, metadata }) => kind === 'NodePool' && metadata.name === nodePool);
  const spec = pool?.['spec'] as { template?: { metadata?: { labels?: Record<string, string> } } } | undefined;
  return spec?.template?.metadata?.labels ?? {};
}
