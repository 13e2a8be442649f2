// The embedded API in a process of its own, so that its speed and memory are not those of the client that measures it.
// Arguments: nodes and pods to begin with. It prints its port; messages ask for memory and for the longest block of its loop.
import { resources } from '../../src/ports/index.ts';
import { RealClock } from '../../src/runtime/index.ts';
import { createCluster, SimKube, serveApi } from '../../src/sim/index.ts';
import { simNode, simPod } from './sim-objects.ts';

const [nodes = 0, pods = 0] = process.argv.slice(2).map(Number);
const cluster = await createCluster({ clock: new RealClock() });
const kube = new SimKube(cluster.machinery);
for (let index = 0; index < nodes; index += 1) await kube.create(resources.nodes, simNode(index));
for (let index = 0; index < pods; index += 1) await kube.create(resources.pods, simPod(index, nodes));
const server = await serveApi(cluster.machinery);

/** Longest turn of the loop in time of this thread: on a machine shared with others, the wall clock measures them too. */
let longestTurnMs = 0;
let sampling = false;
let lastMs = 0;
const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
function sample(): void {
  const nowMs = threadMs();
  longestTurnMs = Math.max(longestTurnMs, nowMs - lastMs);
  lastMs = nowMs;
  if (sampling) setImmediate(sample);
}

process.on('message', (ask: 'reset' | 'report') => {
  if (ask === 'reset') {
    globalThis.gc?.();
    sampling = true;
    longestTurnMs = 0;
    lastMs = threadMs();
    setImmediate(sample);
  } else sampling = false;
  process.send?.({ rssMiB: process.memoryUsage().rss / 2 ** 20, longestBlockMs: longestTurnMs });
});
process.send?.({ port: server.port });
