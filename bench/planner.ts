// The planner's workloads with their bars. Times count from a snapshot that has been indexed once, as the controller keeps
// it, to a finished plan with reasons; the cold time counts from raw objects in a fresh process.
import { readFileSync } from 'node:fs';
import { awsLabel, capacityType, label } from '../src/api/names.ts';
import { awsProviderFacts, builtInCatalogue } from '../src/aws/catalogue.ts';
import { lowerBoundPerHour } from '../src/cli/plan/bound.ts';
import { indexSnapshot, planWorld, type Snapshot } from '../src/core/index.ts';
import { type Bar, type Bench, type Growth, type Measurement, type MeasureOptions, timeRuns } from './bench.ts';
import {
  type Catalogue,
  diverse,
  existing,
  fromLines,
  generic,
  hostnameSpread,
  preferences,
  traced,
  tracedWithoutGpu,
  varied,
  web,
} from './workloads/snapshots.ts';

async function measureSnapshot(snapshot: Snapshot, options: MeasureOptions): Promise<Measurement> {
  const coldStart = performance.now();
  const cold = planWorld(indexSnapshot(snapshot));
  const coldMs = performance.now() - coldStart;
  const world = indexSnapshot(snapshot);
  const runsMs = timeRuns(() => void planWorld(world), options);
  const peakRssMiB = process.resourceUsage().maxRSS / 1024;
  const greedy = planWorld(world, { improve: false });
  const boundPerHour = await lowerBoundPerHour(world, cold);
  return {
    runsMs,
    coldMs,
    peakRssMiB,
    items: cold.pods,
    nodes: cold.newNodes.length,
    unplaced: cold.unschedulable.length,
    pricePerHour: cold.pricePerHour,
    greedyPricePerHour: greedy.pricePerHour,
    boundPerHour,
  };
}

async function ec2() {
  const catalogue = await builtInCatalogue();
  return { items: catalogue.instanceTypes(), provider: awsProviderFacts };
}

/** Families that a pool names, from the fifth generation on; on demand and for x86, as most pods of traces are. */
async function families(...categories: string[]): Promise<Catalogue> {
  return {
    ...(await ec2()),
    requirements: [
      { key: awsLabel.instanceCategory, operator: 'In', values: categories },
      { key: awsLabel.instanceGeneration, operator: 'Gt', values: ['4'] },
      { key: label.capacityType, operator: 'In', values: [capacityType.onDemand] },
      { key: label.arch, operator: 'In', values: ['amd64'] },
      // Types of older generations make it a zone that spreads count with, and none of these families is for sale there.
      { key: label.zone, operator: 'NotIn', values: ['us-east-1e'] },
    ],
  };
}

interface Work {
  name: string;
  summary: string;
  quick?: boolean;
  bar?: Bar;
  /** The peer plans it too. */
  peer?: boolean;
  snapshot: (options: MeasureOptions) => Snapshot | Promise<Snapshot>;
}

const bench = (work: Work): Bench => ({
  name: work.name,
  summary: work.summary,
  quick: work.quick ?? false,
  unit: 'pods',
  ...(work.bar === undefined ? {} : { bar: work.bar }),
  measure: async (options) => measureSnapshot(await work.snapshot(options), options),
  ...(work.peer ? { peerSnapshot: async () => work.snapshot({ runs: 1, warmupMs: 0 }) } : {}),
});

const diverseBench = (count: number, bar: Bar, quick = false): Bench =>
  bench({
    name: `D(${count})`,
    summary: `${count} diverse pods, catalogue S(400)`,
    quick,
    // The peer packs D(n) into n/5 nodes from 50 pods on.
    bar: { maxNodes: Math.max(1, count / 5), ...bar },
    snapshot: () => diverse(count),
  });

/** The same pods with a pool open to every type and with one that names its families. */
const mixBenches = (
  name: string,
  summary: string,
  { maxGreedyRatio, ...bar }: Bar,
  categories: string[],
  snapshot: (catalogue: Catalogue) => Snapshot,
  { peer, quick } = { peer: true, quick: true },
): Bench[] => [
  bench({
    name: `${name} open`,
    summary: `${summary}, every type of us-east-1`,
    // Where families are named, first-fit is too close to the bound to be a bar (decision 50).
    bar: maxGreedyRatio === undefined ? bar : { ...bar, maxGreedyRatio },
    peer,
    snapshot: async () => snapshot(await ec2()),
  }),
  bench({
    name: `${name} ${categories.join('')}`,
    summary: `${summary}, ${categories.join(', ')} from the fifth generation on`,
    quick,
    bar,
    peer,
    snapshot: async () => snapshot(await families(...categories)),
  }),
];

export const plannerBenches: Bench[] = [
  ...mixBenches(
    'T(8152)',
    'the mix of a GPU trace',
    { maxBoundRatio: 1.04, maxGreedyRatio: 0.65 },
    ['c', 'm', 'r', 'g'],
    (catalogue) => traced(8152, catalogue),
  ),
  ...mixBenches('T(1088) without GPU', 'its pods without GPU', { maxBoundRatio: 1.04 }, ['c', 'm', 'r'], (catalogue) =>
    tracedWithoutGpu(1088, catalogue),
  ),
  ...mixBenches(
    'W(5000)',
    'small pods, some spread over zones or hosts',
    { maxBoundRatio: 1.03 },
    ['c', 'm', 'r'],
    (catalogue) => web(5000, catalogue),
  ),
  ...mixBenches('T(400)', 'fewer pods of the GPU trace', { maxBoundRatio: 1.04 }, ['c', 'm', 'r', 'g'], (catalogue) =>
    traced(400, catalogue),
  ),
  ...mixBenches('W(500)', 'fewer small pods', {}, ['c', 'm', 'r'], (catalogue) => web(500, catalogue)),
  ...mixBenches(
    'V(10000,1000)',
    '10000 pods of 1000 requests',
    { maxMs: 2000 },
    ['c', 'm', 'r'],
    (catalogue) => varied(10_000, 1000, catalogue),
    { peer: false, quick: true },
  ),
  diverseBench(1, { maxMs: 0.8 }, true),
  diverseBench(50, { maxMs: 4 }, true),
  diverseBench(100, {}),
  diverseBench(500, { maxMs: 20 }, true),
  diverseBench(1000, { maxMs: 40 }, true),
  diverseBench(2000, {}),
  diverseBench(5000, {}),
  diverseBench(10_000, { maxMs: 270, minPeerRatio: 150 }, true),
  diverseBench(20_000, { maxMs: 750 }),
  diverseBench(100_000, { maxMs: 5000, maxRssMiB: 1024 }, true),
  bench({
    name: 'P(4000) respected',
    summary: '4000 equal pods with preferences, respected',
    quick: true,
    bar: { maxMs: 570, maxNodes: 4000 },
    snapshot: () => preferences(4000, 'Respect'),
  }),
  bench({
    name: 'P(4000) ignored',
    summary: '4000 equal pods with preferences, ignored',
    bar: { maxNodes: 6 },
    snapshot: () => preferences(4000, 'Ignore'),
  }),
  bench({
    name: 'H(2000)',
    summary: 'two deployments spread over hostnames',
    quick: true,
    bar: { maxMs: 100 },
    snapshot: () => hostnameSpread(2000),
  }),
  bench({
    name: 'H(20000)',
    summary: 'two deployments spread over hostnames',
    bar: { maxMs: 1500 },
    snapshot: () => hostnameSpread(20_000),
  }),
  bench({
    name: 'E(10000,1000)',
    summary: '10000 diverse pods over 1000 half-full nodes',
    quick: true,
    bar: { maxMs: 500 },
    snapshot: () => existing(10_000, 1000),
  }),
  bench({
    name: 'D(10000) EC2',
    summary: '10000 diverse pods, every type of us-east-1',
    quick: true,
    bar: { maxMs: 500 },
    snapshot: async () => diverse(10_000, await ec2()),
  }),
  bench({
    name: 'G(2000) EC2',
    summary: '2000 generic pods, every type of us-east-1: the price against the lower bound',
    quick: true,
    bar: { maxBoundRatio: 1.05 },
    snapshot: async () => generic(2000, await ec2()),
  }),
  {
    ...bench({
      name: 'R',
      summary: 'the pods of the file given with --file, every type of us-east-1',
      snapshot: async ({ file }) => fromLines(readFileSync(file ?? '', 'utf8'), await ec2()),
    }),
    quick: true,
    applies: ({ file }) => file !== undefined,
  },
];

export const plannerGrowth: Growth[] = [
  {
    name: 'D(1000) to D(100000)',
    from: { bench: 'D(1000)', size: 1000 },
    to: { bench: 'D(100000)', size: 100_000 },
    max: 1.2,
  },
];
