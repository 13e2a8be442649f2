// Disruption at work: a full scan of every node and the search for sets on large ragged clusters, and what the search saves
// on fragmented ones beside the usual search over prefixes of one order.
import { Fleet, multiNodeCommand, nodeVerdicts, prefixCommand, Round, type Snapshot } from '../src/core/index.ts';
import { type Bar, type Bench, type Measurement, type MeasureOptions, timeRuns } from './bench.ts';
import { raggedFleet } from './workloads/fleets.ts';
import { drain, settle } from './workloads/settle.ts';

/** Every node judged by itself and the best set looked for, on a fleet compiled once. */
function scan(fleet: Fleet): number {
  const round = new Round(fleet);
  drain(multiNodeCommand(round));
  return drain(nodeVerdicts(round)).length;
}

function measureScan(snapshot: Snapshot, options: MeasureOptions): Measurement {
  const coldStart = performance.now();
  const fleet = new Fleet(snapshot);
  const nodes = scan(fleet);
  const coldMs = performance.now() - coldStart;
  const runsMs = timeRuns(() => void scan(fleet), options);
  return { runsMs, coldMs, peakRssMiB: process.resourceUsage().maxRSS / 1024, items: nodes };
}

const scanBench = (nodes: number, podsPerNode: number, bar: Bar, quick: boolean): Bench => ({
  name: `scan(${nodes})`,
  summary: `every node of ${nodes} judged and the best set looked for, about ${nodes * podsPerNode} pods`,
  quick,
  unit: 'nodes',
  bar,
  measure: (options) => Promise.resolve(measureScan(raggedFleet({ nodes, podsPerNode }), options)),
});

const fragmented = (seed: number): Snapshot =>
  raggedFleet({ nodes: 24, podsPerNode: 12, fullness: [0.35, 0.9], seed, workloads: 24 });

const clusters = 30;

/** The price after everything has settled, over all clusters; beside it that of the prefix search. */
const searchBench: Bench = {
  name: 'settle(30)',
  summary: `${clusters} fragmented clusters until nothing more is saved; greedy is the prefix search`,
  quick: false,
  unit: 'clusters',
  measure: () => {
    let pricePerHour = 0;
    let greedyPricePerHour = 0;
    const started = performance.now();
    for (let seed = 1; seed <= clusters; seed++) {
      pricePerHour += settle(fragmented(seed), (round) => multiNodeCommand(round)).pricePerHour;
      greedyPricePerHour += settle(fragmented(seed), (round) => prefixCommand(round)).pricePerHour;
    }
    const runsMs = [performance.now() - started];
    return Promise.resolve({ runsMs, items: clusters, pricePerHour, greedyPricePerHour });
  },
};

export const disruptionBenches: Bench[] = [
  scanBench(1000, 30, { maxMs: 2000 }, true),
  scanBench(5000, 20, { maxMs: 20_000 }, false),
  searchBench,
];
