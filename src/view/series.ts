// Figures over time, kept in memory within bounds: a day at fine steps, a month at coarse ones. A sample that comes early
// replaces the one before it in the same step, so nothing grows with how often samples are taken.

export interface SeriesSteps {
  stepMs: number;
  points: number;
}

const fine: SeriesSteps = { stepMs: 15_000, points: 24 * 60 * 4 };
const coarse: SeriesSteps = { stepMs: 600_000, points: 30 * 24 * 6 };

export interface SeriesView {
  apiVersion: 'kerf/v1';
  kind: 'SeriesView';
  /** Milliseconds since 1970. */
  times: number[];
  series: Record<string, (number | null)[]>;
}

/** Most that one answer holds. */
export const seriesLimits = { series: 12, points: 2_000 };

interface Track {
  times: number[];
  values: Map<string, (number | null)[]>;
}

export class Series {
  private readonly tracks: { steps: SeriesSteps; track: Track }[] = [fine, coarse].map((steps) => ({
    steps,
    track: { times: [], values: new Map() },
  }));

  sample(nowMs: number, figures: Readonly<Record<string, number>>): void {
    for (const { steps, track } of this.tracks) put(track, steps, nowMs, figures);
  }

  names(): string[] {
    return [...(this.tracks[0]?.track.values.keys() ?? [])];
  }

  /** By the finest steps that reach back far enough; thinned out to the limits. */
  read(names: readonly string[], fromMs: number, toMs: number, stepMs = 0): SeriesView {
    const reaching = this.tracks.find(({ track }) => (track.times[0] ?? Number.POSITIVE_INFINITY) <= fromMs);
    const longest = this.tracks.at(-1) as (typeof this.tracks)[number];
    const finest = this.tracks[0] as (typeof this.tracks)[number];
    // A coarse step begins before its first fine one: as long as nothing fine is forgotten, fine steps tell the same and more.
    const isYoung = (finest.track.times[0] ?? 0) < (longest.track.times[0] ?? 0) + longest.steps.stepMs;
    const { track } = reaching ?? (isYoung ? finest : longest);
    let chosen: number[] = [];
    let lastMs = Number.NEGATIVE_INFINITY;
    track.times.forEach((time, at) => {
      if (time < fromMs || time > toMs || time - lastMs < stepMs) return;
      lastMs = time;
      chosen.push(at);
    });
    const every = Math.ceil(chosen.length / seriesLimits.points);
    if (every > 1) chosen = chosen.filter((_, at) => at % every === 0);
    const series: SeriesView['series'] = {};
    for (const name of names.slice(0, seriesLimits.series)) {
      const values = track.values.get(name);
      if (values !== undefined) series[name] = chosen.map((at) => values[at] ?? null);
    }
    return { apiVersion: 'kerf/v1', kind: 'SeriesView', times: chosen.map((at) => track.times[at] ?? 0), series };
  }
}

function put(
  track: Track,
  { stepMs, points }: SeriesSteps,
  nowMs: number,
  figures: Readonly<Record<string, number>>,
): void {
  const atMs = Math.floor(nowMs / stepMs) * stepMs;
  const last = track.times.at(-1);
  // Time never goes back; a clock that does starts anew.
  if (last !== undefined && atMs < last) return;
  if (last !== atMs) {
    track.times.push(atMs);
    for (const values of track.values.values()) values.push(null);
    if (track.times.length > points) {
      track.times.shift();
      for (const values of track.values.values()) values.shift();
    }
  }
  for (const [name, figure] of Object.entries(figures)) {
    let values = track.values.get(name);
    if (values === undefined) {
      if (track.values.size >= mostNames) continue;
      track.values.set(name, (values = track.times.map(() => null)));
    }
    values[values.length - 1] = figure;
  }
}

/** Series that are kept: totals, and a few per pool and code. */
const mostNames = 200;
