import { expect, test } from 'vitest';
import { Series } from './series.ts';

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 0, 1, 10, 7, 30);

/** One sample every 15 seconds. */
function sampled(minutes: number): Series {
  const series = new Series();
  for (let at = 0; at <= minutes * 4; at++) series.sample(startMs + at * 15_000, { cost: at });
  return series;
}

test('a young series is shown in fine steps, however far back is asked', () => {
  const { times, series } = sampled(15).read(['cost'], 0, Number.POSITIVE_INFINITY);
  expect(times).toHaveLength(61);
  expect(series['cost']?.at(-1)).toBe(60);
});

test('once fine steps are forgotten, a question that reaches further back is answered in coarse ones', () => {
  const all = sampled(25 * 60);
  const long = all.read(['cost'], 0, Number.POSITIVE_INFINITY);
  expect(long.times[0]).toBe(Math.floor(startMs / (10 * minuteMs)) * 10 * minuteMs);
  expect(long.times.length).toBeLessThanOrEqual(151);
  const late = startMs + 24 * 60 * minuteMs;
  const short = all.read(['cost'], late, Number.POSITIVE_INFINITY);
  expect((short.times[1] ?? 0) - (short.times[0] ?? 0)).toBe(15_000);
});
