// Handing the cluster to the planner: references only, however many pods there are.
import { VirtualClock } from '../src/base/index.ts';
import type { KubeObject } from '../src/ports/index.ts';
import { Cluster, takeSnapshot } from '../src/state/index.ts';
import { type Bench, type Measurement, type MeasureOptions, timeRuns } from './bench.ts';
import { testProvider } from './workloads/catalogue.ts';
import { raggedFleet } from './workloads/fleets.ts';
import { threadMs } from './workloads/turns.ts';

function measure(options: MeasureOptions): Measurement {
  const fleet = raggedFleet({ nodes: 5_000, podsPerNode: 20 });
  const cluster = new Cluster(new VirtualClock({ settle: () => Promise.resolve() }));
  const set: Record<string, (object: never) => void> = {
    NodePool: (pool) => cluster.setNodePool(pool),
    NodeClaim: (claim) => cluster.setClaim(claim),
    Node: (node) => cluster.setNode(node),
    Pod: (pod) => cluster.setPod(pod),
  };
  const known = new Set<KubeObject>();
  for (const object of fleet.objects.items as unknown as KubeObject[]) {
    set[object.kind ?? '']?.(object as never);
    known.add(object);
  }
  const inputs = { nowMs: 0, settings: {}, provider: testProvider, instanceTypes: [] };
  const pods = cluster.pods.store.list();
  const runsMs = timeRuns(
    () => {
      // As after a change: the list of pods is made anew.
      cluster.setPod(pods[0] as never);
      const { items } = takeSnapshot(cluster, inputs).objects;
      if (items.length !== known.size) throw new Error(`the snapshot has ${items.length} of ${known.size} objects`);
    },
    options,
    threadMs,
  );
  const { items } = takeSnapshot(cluster, inputs).objects;
  const copies = (items as unknown as KubeObject[]).filter((object) => object.kind === 'Pod' && !known.has(object));
  if (copies.length > 0) throw new Error(`${copies.length} pods were copied`);
  return { runsMs, items: pods.length, nodes: 5_000 };
}

export const snapshotBench: Bench = {
  name: 'snapshot(5000)',
  summary: 'a snapshot of 5,000 nodes and 100,000 pods, without copying any',
  quick: true,
  unit: 'pods',
  bar: { maxMs: 20 },
  measure: (options) => Promise.resolve(measure(options)),
};
