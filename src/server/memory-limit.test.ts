import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { collectWhenQuiet, growSlowly, watchMemory } from './memory-limit.ts';

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

test('room for new objects grows up to a limit, and again when it has shrunk', async () => {
  const clock = new VirtualClock({ settle: () => Promise.resolve() });
  const flags: string[] = [];
  let young = 2 ** 20;
  const watch = growSlowly({ clock, youngBytes: () => young, setFlags: (flag) => flags.push(flag) });
  await clock.runFor(1_000);
  expect(flags).toEqual(['--heap-growing-percent=20']);
  young = 16 * 2 ** 20;
  await clock.runFor(1_000);
  expect(flags.slice(1)).toEqual(['--semi-space-growth-factor=1']);
  young = 8 * 2 ** 20;
  await clock.runFor(1_000);
  expect(flags.slice(2)).toEqual(['--semi-space-growth-factor=2']);
  watch.dispose();
  young = 64 * 2 ** 20;
  await clock.runFor(1_000);
  expect(flags).toHaveLength(3);
});

test('garbage of a burst is collected once the process is quiet, and again only when more has gathered', async () => {
  const clock = new VirtualClock({ startMs: 0, settle: () => Promise.resolve() });
  const process = { used: 300, busy: 0.5, collected: 0 };
  const timer = collectWhenQuiet({
    clock,
    usedBytes: () => process.used,
    busyShare: () => process.busy,
    collect: () => {
      process.collected += 1;
      process.used = 100;
    },
  });
  await clock.runFor(60_000);
  expect(process.collected).toBe(0);
  process.busy = 0.01;
  await clock.runFor(60_000);
  expect(process.collected).toBe(1);
  process.used = 109;
  await clock.runFor(60_000);
  expect(process.collected).toBe(1);
  process.used = 111;
  await clock.runFor(60_000);
  expect(process.collected).toBe(2);
  process.used = 257 * 2 ** 20;
  await clock.runFor(60_000);
  expect(process.collected).toBe(2);
  timer.dispose();
  process.used = 300;
  await clock.runFor(60_000);
  expect(process.collected).toBe(2);
});
