import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { watchMemory } from './memory-limit.ts';

test('garbage is collected near the limit, and only there', async () => {
  const clock = new VirtualClock({ settle: () => Promise.resolve() });
  let resident = 89;
  let collections = 0;
  const watch = watchMemory(100, { clock, residentBytes: () => resident, collect: () => collections++ });
  await clock.runFor(60_000);
  expect(collections).toBe(0);
  resident = 91;
  await clock.runFor(60_000);
  expect(collections).toBe(2);
  watch.dispose();
  await clock.runFor(60_000);
  expect(collections).toBe(2);
});

test('without a limit nothing is watched', async () => {
  const clock = new VirtualClock({ settle: () => Promise.resolve() });
  watchMemory(-1, { clock, residentBytes: () => Number.MAX_VALUE, collect: () => expect.unreachable() });
  await clock.runFor(60_000);
});
