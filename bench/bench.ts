// What a benchmark is. Benchmarks live in lists, one file per subject, and are gathered in registry.ts; the harness runs
// each in a process of its own, so that memory figures belong to one workload and warm-up to none but its own.

export interface MeasureOptions {
  /** Timed runs; the best counts, all are shown. */
  runs: number;
  /** Untimed runs go on for at least this long, so that the compiler has settled. */
  warmupMs: number;
  /** File of workload R. */
  file?: string;
}

export interface Measurement {
  /** Every timed run. */
  runsMs: number[];
  /** One run in a fresh process on raw input, everything included. */
  coldMs?: number;
  /** Up to the end of the timed runs; what is measured afterwards does not count. */
  peakRssMiB?: number;
  /** Items handled per run (pods, objects, …); throughput is made from it. */
  items: number;
  nodes?: number;
  unplaced?: number;
  pricePerHour?: number;
  greedyPricePerHour?: number;
  boundPerHour?: number;
  /** The longest others had to wait while the work ran in slices. */
  longestPauseMs?: number;
  /** What else is worth knowing, in words. */
  remark?: string;
  /** Promises that figures of its own show broken, in words. */
  broken?: string[];
}

export interface Bar {
  maxMs?: number;
  maxRssMiB?: number;
  /** The peer, in the same run, takes at least this many times our cold time. */
  minPeerRatio?: number;
  /** Price over the lower bound. */
  maxBoundRatio?: number;
  maxNodes?: number;
  maxPauseMs?: number;
  /** Price over that of the method compared with. */
  maxGreedyRatio?: number;
}

export interface Bench {
  name: string;
  summary: string;
  /** Part of `--quick`. */
  quick: boolean;
  /** Unit of `items`. */
  unit: string;
  bar?: Bar;
  /** False when the bench cannot run with these options (R without a file). */
  applies?(options: MeasureOptions): boolean;
  measure(options: MeasureOptions): Promise<Measurement>;
  /** What the peer's scheduler is given for the same work; absent where it is not compared. */
  peerSnapshot?(): Promise<object>;
}

/** Growth of time with size between two benches: the exponent of `time = size ^ exponent`. */
export interface Growth {
  name: string;
  from: { bench: string; size: number };
  to: { bench: string; size: number };
  max: number;
}

/** Runs shorter than this are repeated more often: five of them would measure the machine's mood. */
const shortRunMs = 20;
const mostRuns = 50;

/** Runs `task` untimed until warm, then `runs` times with the clock (wall time by default), and short ones more often. */
export function timeRuns(
  task: () => void,
  options: MeasureOptions,
  nowMs: () => number = () => performance.now(),
): number[] {
  const begin = performance.now();
  do task();
  while (performance.now() - begin < options.warmupMs);
  const runsMs: number[] = [];
  let last = Number.POSITIVE_INFINITY;
  while (runsMs.length < options.runs || (last < shortRunMs && runsMs.length < mostRuns)) {
    if (last >= shortRunMs) collectGarbage();
    const start = nowMs();
    task();
    last = nowMs() - start;
    runsMs.push(last);
  }
  return runsMs;
}

/** Only in processes started with --expose-gc: garbage of one run must not be paid by the next. */
function collectGarbage(): void {
  (globalThis as { gc?: () => void }).gc?.();
}
