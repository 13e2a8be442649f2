// The demo company on the embedded cluster with our controllers, in virtual time: hours in seconds, and the same to the
// byte from the same seed.
import { expect, test } from 'vitest';
import { type Moment, playDay } from './demo-day.ts';

/** A day of an hour. */
const dayMs = 3_600_000;

test('the company gets the nodes it needs as its day goes by, and gives them back at night', async () => {
  const { moments, failures } = await playDay({ seed: 1, hours: 24, dayMs });
  expect(failures).toEqual([]);
  const at = (hour: number): Moment =>
    moments.reduce((best, each) => (Math.abs(each.hour - hour) < Math.abs(best.hour - hour) ? each : best));
  // A cluster that scales all day is healthy; in a day of an hour nodes do come and go.
  const findings = moments.flatMap((moment) => moment.findings);
  expect(findings.filter((finding) => !finding.startsWith('disruption/consolidation-thrash'))).toEqual([]);
  expect(at(20).running).toBeGreaterThan(60);
  expect(at(20).nodes).toBeGreaterThan(at(4).nodes);
  expect(Math.max(...moments.map(({ longestWaitMs }) => longestWaitMs))).toBeLessThan(60_000);
}, 900_000);

test('the same seed gives the same cluster, to the byte', async () => {
  const [first, second] = [await playDay({ seed: 7, hours: 4, dayMs }), await playDay({ seed: 7, hours: 4, dayMs })];
  expect(second.moments).toEqual(first.moments);
  expect(second.dump).toBe(first.dump);
}, 900_000);
