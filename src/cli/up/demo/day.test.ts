import { expect, test } from 'vitest';
import { busyness, dailyJobs, wantedAt } from './day.ts';

const hour = (value: number): number => value / 24;

test('nights are quiet, noon is busy, evenings are busiest', () => {
  expect(busyness(hour(3))).toBeLessThan(0.05);
  expect(busyness(hour(12))).toBeGreaterThan(0.5);
  expect(busyness(hour(20))).toBeGreaterThan(busyness(hour(12)));
  for (let step = 0; step < 96; step++) {
    expect(busyness(step / 96)).toBeGreaterThanOrEqual(0);
    expect(busyness(step / 96)).toBeLessThanOrEqual(1);
  }
});

test('the load has no jumps, also not at midnight', () => {
  for (let step = 0; step < 96; step++) {
    const now = wantedAt(step / 96);
    const next = wantedAt(((step + 1) / 96) % 1);
    for (const name of ['web', 'checkout', 'worker'] as const) {
      expect(Math.abs(next[name] - now[name])).toBeLessThanOrEqual(6);
    }
  }
});

test('something always runs', () => {
  for (let step = 0; step < 96; step++) expect(Math.min(...Object.values(wantedAt(step / 96)))).toBeGreaterThan(0);
});

test('jobs of different days and hours have different names', () => {
  const names = [0, 1, 2].flatMap((day) => dailyJobs.map(({ job }) => job(day).metadata.name));
  expect(new Set(names).size).toBe(names.length);
});
