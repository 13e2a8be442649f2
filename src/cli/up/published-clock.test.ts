import { expect, test } from 'vitest';
import type { Clock } from '../../base/index.ts';
import { clusterTimeMs } from '../snapshot/controller-facts.ts';
import { publishedClock } from './published-clock.ts';

const settable = (): Clock & { ms: number } => ({
  ms: Date.parse('2026-01-01T00:00:00.750Z'),
  now() {
    return this.ms;
  },
  elapsed() {
    return this.ms;
  },
  after: () => ({ cancel() {}, dispose() {} }),
  sleep: () => Promise.resolve(),
});

test('a reader knows the time of a fast cluster to the minute, also when its machine cannot keep up', () => {
  const [real, cluster] = [settable(), settable()];
  const clock = publishedClock(cluster, { speed: () => 60, real });
  const offMs = (): number => Math.abs(clusterTimeMs(real.ms, { clock: clock() }) - cluster.ms);
  for (const pace of [60, 60, 60, 20, 20, 20, 20, 60, 60]) {
    real.ms += 5_000;
    cluster.ms += 5_000 * pace;
    expect(offMs()).toBeLessThanOrEqual(60_000);
  }
  // Between two reports as well, once the pace is known.
  clock();
  const [at, said] = [cluster.ms, clock()];
  expect(Math.abs(clusterTimeMs(real.ms + 4_000, { clock: said }) - (at + 4_000 * 60))).toBeLessThanOrEqual(60_000);
});

test('the same text as long as readers are right', () => {
  const [real, cluster] = [settable(), settable()];
  const clock = publishedClock(cluster, { speed: () => 10, real });
  const first = clock();
  real.ms += 5_000;
  cluster.ms += 50_000;
  expect(clock()).toBe(first);
});

test('a change of pace and a pause are reported at once', () => {
  const [real, cluster] = [settable(), settable()];
  let speed = 10;
  const clock = publishedClock(cluster, { speed: () => speed, real });
  clock();
  speed = 0;
  expect(clock().speed).toBe(0);
  speed = 5;
  expect(clock().speed).toBe(5);
});
