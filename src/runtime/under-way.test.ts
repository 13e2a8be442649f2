import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { UnderWay } from './under-way.ts';

const minute = 60_000;

test('work that does not end is named after twenty minutes, work that does is forgotten', async () => {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const underWay = new UnderWay(clock);
  void underWay.during('quick', () => clock.sleep(minute));
  void underWay
    .during('failing', () => clock.sleep(minute).then(() => Promise.reject(new Error('no'))))
    .catch(() => {});
  void underWay.during('hanging', () => new Promise(() => {}));
  await clock.runFor(20 * minute);
  expect(underWay.problem()).toBeUndefined();
  clock.step(86_400_000);
  expect(underWay.problem()).toBeUndefined();
  await clock.runFor(minute);
  expect(underWay.problem()).toBe('hanging has not ended for 1260 s');
});
