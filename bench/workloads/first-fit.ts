// A cluster as first-fit packing leaves it: the nodes of the first packing of T(n), running, with their pods. What
// consolidation makes of it is how far a cluster that a burst or another autoscaler left behind comes by itself.
import { awsLabel, capacityType, label } from '../../src/api/index.ts';
import { awsProviderFacts, builtInCatalogue } from '../../src/aws/catalogue.ts';
import { planSnapshot, type RequirementSpec, type Snapshot, type SnapshotObject } from '../../src/core/index.ts';
import { bound, machineOf, typeNamed } from './fragmented.ts';
import { traced } from './snapshots.ts';

/** On demand and x86, from the fifth generation on, as most pools of GPU clusters are. */
const requirements: RequirementSpec[] = [
  { key: awsLabel.instanceCategory, operator: 'In', values: ['c', 'm', 'r', 'g'] },
  { key: awsLabel.instanceGeneration, operator: 'Gt', values: ['4'] },
  { key: label.capacityType, operator: 'In', values: [capacityType.onDemand] },
  { key: label.arch, operator: 'In', values: ['amd64'] },
];

export interface FirstFitCluster {
  /** The pods while they wait. */
  readonly waiting: Snapshot;
  /** The same pods on the nodes of their first packing. */
  readonly running: Snapshot;
}

export async function firstFitCluster(count: number): Promise<FirstFitCluster> {
  const items = (await builtInCatalogue()).instanceTypes();
  const waiting = withBudget(traced(count, { items, provider: awsProviderFacts, requirements }));
  const { newNodes } = planSnapshot(waiting, { improve: false });
  const machines: SnapshotObject[] = [];
  const placeOf = new Map<string, string>();
  for (const [index, node] of newNodes.entries()) {
    const name = `node-${String(index).padStart(4, '0')}`;
    machines.push(...machineOf(name, typeNamed(items, node.chosen), node));
    for (const pod of node.pods) placeOf.set(pod, name);
  }
  const objects = waiting.objects.items.map((object) => {
    const place = placeOf.get(`default/${object.metadata.name}`);
    return object.kind === 'Pod' && place !== undefined ? bound(object, place) : object;
  });
  const running: Snapshot = {
    ...waiting,
    name: `first-fit ${waiting.name}`,
    time: '2026-01-01T12:00:00Z',
    objects: { ...waiting.objects, items: [...objects, ...machines] },
  };
  return { waiting, running };
}

/** A tenth of the nodes may be out at once, as by default. */
function withBudget(snapshot: Snapshot): Snapshot {
  const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '10%' }] };
  const items = snapshot.objects.items.map((object) =>
    object.kind === 'NodePool' ? { ...object, spec: { ...(object['spec'] as object), disruption } } : object,
  );
  return { ...snapshot, objects: { ...snapshot.objects, items } };
}
