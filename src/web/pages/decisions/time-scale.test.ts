import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timeScale } from './time-scale.ts';

const minute = 60_000;

test('a stretch in which nothing happened is folded, and what happened gets the room', () => {
  const times = [0, 1, 2, 3].map((at) => at * minute).concat([120 * minute, 121 * minute]);
  const scale = timeScale(times, 0, 122 * minute, 1_000);
  expect(scale.folds.map(({ fromMs, toMs }) => [fromMs / minute, toMs / minute])).toEqual([[3, 120]]);
  expect(scale.x(2 * minute) - scale.x(minute)).toBeGreaterThan(100);
});

test('without idle stretches it is a plain line', () => {
  const scale = timeScale([10_000, 30_000], 0, 50_000, 100);
  expect(scale.folds).toEqual([]);
  expect(scale.x(25_000)).toBeCloseTo(50);
});

test('later is never further left, both ends are the ends, and a place is the time that is shown there', () => {
  const time = fc.integer({ min: 0, max: 10_000_000 });
  fc.assert(
    fc.property(fc.array(time, { maxLength: 40 }), time, time, (times, one, other) => {
      const scale = timeScale(times, 0, 10_000_000, 1_000);
      const [early, late] = one < other ? [one, other] : [other, one];
      expect(scale.x(early)).toBeLessThanOrEqual(scale.x(late) + 1e-9);
      expect(scale.x(0)).toBe(0);
      expect(scale.x(10_000_000)).toBeCloseTo(1_000);
      expect(Math.abs(scale.timeAt(scale.x(one)) - one)).toBeLessThan(2);
    }),
  );
});
