// Troubles of one place that another text of the same place shows to be over: a node's journal says that it joined after its
// console showed an error, the controller's next log begins where the last one ended.
import type { Milestone, Sighting } from '../failure.ts';
import type { ScannedText, TextSource } from './scan.ts';

export interface Scan {
  source: TextSource;
  /** Texts of one place (a node, the controller) share a group. */
  group: string;
  scanned: ScannedText;
}

export function stillOpen(scans: readonly Scan[]): Sighting[] {
  const reached = new Map<string, { milestone: Milestone; timeMs: number | undefined; source: string }[]>();
  for (const { group, scanned, source } of scans)
    for (const { milestone, timeMs } of scanned.milestones) {
      const known = reached.get(group) ?? [];
      known.push({ milestone, timeMs, source: source.source });
      reached.set(group, known);
    }
  return scans.flatMap(({ group, scanned }) =>
    scanned.sightings.filter((sighting) => {
      const { until } = sighting.sign;
      if (until === undefined || group === '') return true;
      return !(reached.get(group) ?? []).some(
        ({ milestone, timeMs, source }) =>
          source !== sighting.source && until.includes(milestone) && isAfter(sighting, timeMs, group),
      );
    }),
  );
}

/** Journals carry no year, so on one node a milestone counts unless it is known to be earlier; elsewhere it must be later. */
function isAfter({ timeMs }: Sighting, reachedMs: number | undefined, group: string): boolean {
  if (timeMs !== undefined && reachedMs !== undefined) return reachedMs > timeMs;
  return group.startsWith('node ');
}
