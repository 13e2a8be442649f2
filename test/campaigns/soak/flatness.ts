// Whether what a process holds stays as large as it was. Samples are taken at the same point of each round of the same work,
// so that what differs between them is what was left behind.

export interface Sample {
  rss: number;
  heapUsed: number;
  external: number;
  descriptors: number;
  maps: Record<string, number>;
  sets: Record<string, number>;
}

/**
 * Memories that are bounded by a number, not by what there is: they fill up to their bound and stay there, which takes
 * longer than a soak. Each names its bound.
 */
const bounded: { kind: 'maps' | 'sets'; shape: RegExp; most: number; what: string }[] = [
  { kind: 'sets', shape: /^#$/, most: 10_000, what: 'objects that are gone (state/recency.ts)' },
  { kind: 'maps', shape: /^d-#$/, most: 5_000, what: 'decisions of late (telemetry/decision-ring.ts)' },
  {
    kind: 'maps',
    shape: /^\["[^"]*v#","\w+",(null|"[^"]*"),"/,
    most: 4_096,
    what: 'events that repeats are counted on (telemetry/kube-recorder.ts)',
  },
  { kind: 'maps', shape: /^number$/, most: 200_000, what: 'equal parts of objects (runtime/shared-parts.ts)' },
  // Shared by the embedded API, which is in the process only where time is virtual.
  {
    kind: 'sets',
    shape: /^#T#:#:#Z$/,
    most: 10_001,
    what: 'times as they should be written (sim/api/schema.ts)',
  },
];

/** What grew from the first third of the samples to the last, and has not shrunk again: memories with a time limit breathe. */
export function growth(samples: readonly Sample[]): string[] {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const problems: string[] = [];
  const compare = (what: string, of: (sample: Sample) => number, share: number, slack: number): void => {
    const [before, after] = [median(first.map(of)), median(last.map(of))];
    const isLargest = Math.max(...samples.slice(-1).map(of)) >= Math.max(...samples.map(of)) * 0.95;
    if (isLargest && after > before * (1 + share) + slack) problems.push(`${what} grew from ${before} to ${after}`);
  };
  const mib = 2 ** 20;
  compare('resident memory in MiB', ({ rss }) => Math.round(rss / mib), 0.1, 12);
  compare('live heap in MiB', ({ heapUsed }) => Math.round(heapUsed / mib), 0.1, 4);
  compare('descriptors', ({ descriptors }) => descriptors, 0.1, 6);
  for (const kind of ['maps', 'sets'] as const) {
    const shapes = new Set(samples.flatMap((sample) => Object.keys(sample[kind])));
    for (const shape of shapes) {
      const limit = bounded.find((each) => each.kind === kind && each.shape.test(shape));
      const most = Math.max(...samples.map((sample) => sample[kind][shape] ?? 0));
      if (limit === undefined) compare(`${kind} of ${shape}`, (sample) => sample[kind][shape] ?? 0, 0.25, 40);
      else if (most > limit.most) problems.push(`${kind} of ${shape} hold ${most}: ${limit.what} may be ${limit.most}`);
    }
  }
  return problems;
}

function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
