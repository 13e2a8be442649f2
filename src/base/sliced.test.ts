import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Clock } from './clock.ts';
import { atOnce, inSlices, type Sliced, sortInSlices } from './sliced.ts';
import { VirtualClock } from './virtual-clock.ts';

test('work in slices gives the result of work at once', async () => {
  function* sum(): Sliced<number> {
    let total = 0;
    for (let number = 1; number <= 100; number++) {
      total += number;
      yield;
    }
    return total;
  }
  expect(atOnce(sum())).toBe(5050);
  expect(await inSlices(new VirtualClock({ settle: () => Promise.resolve() }), sum())).toBe(5050);
});

test('others have a turn when the clock says so, and not before', async () => {
  const clock: Clock = new VirtualClock({ settle: () => Promise.resolve() });
  const log: string[] = [];
  let pieces = 0;
  clock.breathe = () => (++pieces % 3 === 0 ? Promise.resolve().then(() => void log.push('turn')) : undefined);
  function* sevenPieces(): Sliced<void> {
    for (let piece = 1; piece <= 7; piece++) {
      log.push(String(piece));
      yield;
    }
  }
  await inSlices(clock, sevenPieces());
  expect(log).toEqual(['1', '2', '3', 'turn', '4', '5', '6', 'turn', '7']);
});

test('an error in the work reaches whoever runs it', async () => {
  function* failing(): Sliced<void> {
    yield;
    throw new Error('broken');
  }
  expect(() => atOnce(failing())).toThrow('broken');
  await expect(inSlices(new VirtualClock({ settle: () => Promise.resolve() }), failing())).rejects.toThrow('broken');
});

test('sorting in slices is stable sorting', () => {
  const entries = fc.array(fc.record({ rank: fc.integer({ min: 0, max: 5 }), id: fc.integer() }), { maxLength: 200 });
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 60 }), (some, copies) => {
      const all = Array.from({ length: copies }, () => some).flat();
      const byRank = (left: { rank: number }, right: { rank: number }): number => left.rank - right.rank;
      expect(atOnce(sortInSlices(all, byRank))).toEqual([...all].sort(byRank));
    }),
    { numRuns: 50 },
  );
});
