// The embedded cluster with everything at work: scheduler, workload controllers and kubelets take a hundred Deployments
// from nothing to running, so that the size it is meant for is one it has carried, not only stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { resources } from '../src/ports/index.ts';
import { RealClock } from '../src/runtime/index.ts';
import { growSlowly } from '../src/server/memory-limit.ts';
import { createCluster, SimKube, startBehaviour } from '../src/sim/index.ts';
import type { Bench, Measurement } from './bench.ts';
import { simDeployment, simNode } from './workloads/sim-objects.ts';

const deployments = 100;

async function measureRunning(nodes: number, pods: number): Promise<Measurement> {
  const clock = new RealClock();
  // As `kerf up` does.
  const memory = growSlowly({ clock });
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  const behaviour = startBehaviour(kube, clock, { random: () => 0.5 });
  await behaviour.whenSynced();
  const start = performance.now();
  for (let index = 0; index < nodes; index += 1) await kube.create(resources.nodes, simNode(index));
  for (let index = 0; index < deployments; index += 1)
    await kube.create(resources.deployments, simDeployment(index, pods / deployments));
  let peakRssMiB = 0;
  for (let running = 0; running < pods; ) {
    await sleep(500);
    peakRssMiB = Math.max(peakRssMiB, process.memoryUsage().rss / 2 ** 20);
    running = 0;
    for (const pod of behaviour.pods()) if (pod.status?.phase === 'Running') running += 1;
    if (performance.now() - start > 1_800_000) throw new Error(`after half an hour only ${running} of ${pods} run`);
  }
  const runsMs = [performance.now() - start];
  await behaviour.stop();
  await cluster.stop();
  memory.dispose();
  return { runsMs, items: pods, nodes, peakRssMiB };
}

export const simRunningBenches: Bench[] = [
  {
    name: 'sim/running',
    summary: '100 Deployments of 1,000 pods come to run on 5,000 nodes, everything at work',
    quick: false,
    unit: 'pods',
    bar: { maxRssMiB: 1_229 },
    measure: () => measureRunning(5_000, 100_000),
  },
];
