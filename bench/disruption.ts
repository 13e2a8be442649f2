// Disruption at work: a full scan of every node and the search for sets on large ragged clusters, and what the search saves
// on fragmented ones beside the usual search over prefixes of one order.
import { setImmediate } from 'node:timers/promises';
import { atOnce, inSlices, type Sliced } from '../src/base/index.ts';
import { lowerBoundPerHour } from '../src/cli/plan/bound.ts';
import {
  Fleet,
  methods,
  multiNodeCommand,
  nodeVerdicts,
  planSnapshot,
  prefixCommand,
  Round,
  type Snapshot,
} from '../src/core/index.ts';
import { RealClock } from '../src/runtime/index.ts';
import { type Bar, type Bench, type Measurement, type MeasureOptions, timeRuns } from './bench.ts';
import { firstFitCluster } from './workloads/first-fit.ts';
import { raggedFleet } from './workloads/fleets.ts';
import { fragmentedCluster, usualTypes } from './workloads/fragmented.ts';
import { type Settled, settle } from './workloads/settle.ts';
import { Turns } from './workloads/turns.ts';

/** What a round of the loop does when nothing is to be done at once, and a verdict about every node. */
function* scan(snapshot: Snapshot): Sliced<number> {
  const round = yield* Round.inSlices(snapshot);
  for (const { reason, decide } of methods) if (reason !== 'Underutilized') yield* decide(round);
  const verdicts = yield* search(round);
  const single = methods.find(({ name }) => name === 'SingleNode');
  const command = single && (yield* single.decide(round)).command;
  if (command !== undefined) yield* single?.validation?.validate(round, command) ?? [];
  return verdicts;
}

/** The best set looked for and every node judged by itself. */
function* search(round: Round): Sliced<number> {
  yield* multiNodeCommand(round);
  return (yield* nodeVerdicts(round)).length;
}

async function measureScan(snapshot: Snapshot, options: MeasureOptions): Promise<Measurement> {
  const coldStart = performance.now();
  const nodes = atOnce(scan(snapshot));
  const coldMs = performance.now() - coldStart;
  const fleet = Fleet.of(snapshot);
  const runsMs = timeRuns(() => void atOnce(search(atOnce(Round.over(fleet)))), options);
  const peakRssMiB = process.resourceUsage().maxRSS / 1024;
  return { runsMs, coldMs, peakRssMiB, items: nodes, longestPauseMs: await longestPause(scan(snapshot)) };
}

/** The longest turn of the event loop while the work runs in slices as the controllers run it. */
async function longestPause(work: Sliced<unknown>): Promise<number> {
  const turns = new Turns();
  turns.start();
  await inSlices(new RealClock(), work);
  await setImmediate();
  await setImmediate();
  return turns.stop().longestMs;
}

const scanBench = (nodes: number, podsPerNode: number, bar: Bar, quick: boolean): Bench => ({
  name: `scan(${nodes})`,
  summary: `every node of ${nodes} judged and the best set looked for, about ${nodes * podsPerNode} pods`,
  quick,
  unit: 'nodes',
  bar,
  measure: (options) => measureScan(raggedFleet({ nodes, podsPerNode }), options),
});

const clusters = 30;

/** The price after everything has settled, over clusters from seeds 1 to 30; beside it that of the prefix search. */
const searchBench: Bench = {
  name: 'settle(30)',
  summary: `${clusters} fragmented clusters until nothing more is saved; greedy is the prefix search`,
  quick: false,
  unit: 'clusters',
  bar: { maxGreedyRatio: 0.95 },
  measure: async () => {
    const types = await usualTypes();
    const started = performance.now();
    const ours: Settled[] = [];
    const theirs: Settled[] = [];
    let before = 0;
    for (let seed = 1; seed <= clusters; seed++) {
      const cluster = fragmentedCluster(seed, types);
      before += Fleet.of(cluster).members.reduce((sum, member) => sum + member.price, 0);
      ours.push(settle(cluster, (round, ahead) => multiNodeCommand(round, { ahead })));
      theirs.push(settle(cluster, (round) => prefixCommand(round)));
    }
    const runsMs = [performance.now() - started];
    const [pricePerHour, greedyPricePerHour] = [priceOf(ours), priceOf(theirs)];
    const dearer = ours.filter(({ pricePerHour: own }, at) => own > (theirs[at]?.pricePerHour ?? 0) + 1e-6).length;
    const ratios = ours.map(({ pricePerHour: own }, at) => own / (theirs[at]?.pricePerHour ?? own));
    const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / clusters;
    const perDollar = (all: readonly Settled[]): number =>
      all.reduce((sum, { evictions }) => sum + evictions, 0) / (before - priceOf(all));
    const [moved, usual] = [perDollar(ours), perDollar(theirs)];
    const remark = `$${before.toFixed(2)}/h before; dearer on ${dearer} of ${clusters}; on average ${(100 * (1 - mean)).toFixed(1)} % cheaper; evictions per dollar ${moved.toFixed(1)} beside ${usual.toFixed(1)}`;
    const broken = [
      ...(dearer > 0 ? [`dearer on ${dearer} clusters`] : []),
      ...(mean > 0.95 ? ['less than 5 % cheaper on average'] : []),
      ...(moved > usual ? ['more evictions per dollar'] : []),
    ];
    return { runsMs, items: clusters, pricePerHour, greedyPricePerHour, remark, broken };
  },
};

/** A cluster that begins with the first packing of T(n) and is left to consolidation, a tenth of its nodes out at once. */
const firstFitBench = (pods: number): Bench => ({
  name: `settle T(${pods})`,
  summary: `the first packing of ${pods} pods of the GPU mix until nothing more is saved; greedy is that packing`,
  quick: false,
  unit: 'pods',
  bar: { maxBoundRatio: 1.08 },
  measure: async () => {
    const { waiting, running } = await firstFitCluster(pods);
    const boundPerHour = await lowerBoundPerHour(waiting, planSnapshot(waiting));
    const before = Fleet.of(running).members.reduce((sum, member) => sum + member.price, 0);
    const started = performance.now();
    const settled = settle(running, (round, ahead) => multiNodeCommand(round, { ahead }));
    const runsMs = [performance.now() - started];
    const { pricePerHour, evictions, commands, nodes } = settled;
    const remark = `${(before / boundPerHour).toFixed(3)} x bound before; ${commands} commands; ${evictions} evictions, ${(evictions / (before - pricePerHour)).toFixed(2)} per dollar`;
    return { runsMs, items: pods, nodes, pricePerHour, greedyPricePerHour: before, boundPerHour, remark };
  },
});

function priceOf(all: readonly Settled[]): number {
  return all.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}

export const disruptionBenches: Bench[] = [
  scanBench(1000, 30, { maxMs: 2000, maxPauseMs: 50 }, true),
  scanBench(5000, 20, { maxMs: 20_000, maxPauseMs: 50 }, false),
  scanBench(10_000, 30, { maxMs: 60_000, maxPauseMs: 50, maxRssMiB: 2_048 }, false),
  searchBench,
  firstFitBench(100),
  firstFitBench(400),
];
