import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { recordedMetrics } from '../testing/records.testing.ts';
import { Collection } from './collection.ts';

const items = (count: number, first = 0): number[] => Array.from({ length: count }, (_, index) => first + index);

function open(options: { atLeast?: number; isUrgent?: (item: number) => boolean } = {}) {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const metrics = recordedMetrics();
  const collection = new Collection<number>({ controller: 'test', clock, metrics, keyOf: String, ...options });
  const heldBack = () => metrics.value('kerf_garbage_collection_held_back', { controller: 'test' });
  return { clock, collection, heldBack };
}

describe('what looks abandoned', () => {
  test('goes at a second look some time later, not before', async () => {
    const { clock, collection } = open();
    expect(collection.choose([1], 10)).toMatchObject({ due: [], suspected: [1], againMs: 10_000 });
    await clock.runFor(4_000);
    expect(collection.choose([1], 10)).toMatchObject({ due: [], suspected: [1] });
    await clock.runFor(1_000);
    expect(collection.choose([1], 10)).toMatchObject({ due: [1], suspected: [], againMs: undefined });
  });

  test('starts anew when a look in between did not agree', async () => {
    const { clock, collection } = open();
    collection.choose([1], 10);
    await clock.runFor(10_000);
    collection.choose([], 10);
    await clock.runFor(10_000);
    expect(collection.choose([1], 10)).toMatchObject({ due: [], suspected: [1] });
  });

  test.each([
    [100, 100, undefined, 20],
    [3, 3, undefined, 1],
    [30, 30, 10, 10],
    [30, 100, 10, 20],
  ])('%i of %i, at least %s at a time: %i go', async (count, total, atLeast, expected) => {
    const { clock, collection, heldBack } = open(atLeast === undefined ? {} : { atLeast });
    collection.choose(items(count), total);
    await clock.runFor(10_000);
    const chosen = collection.choose(items(count), total);
    expect(chosen.due).toEqual(items(expected));
    expect(chosen.heldBack).toEqual(items(count - expected, expected));
    expect([heldBack(), chosen.againMs]).toEqual([count - expected, 60_000]);
  });
});

describe('what would be too late at its turn', () => {
  test('goes beside the share, which counts it', async () => {
    const { clock, collection } = open({ isUrgent: (item) => item >= 90 });
    collection.choose(items(100), 100);
    await clock.runFor(10_000);
    const chosen = collection.choose(items(100), 100);
    expect(chosen.due).toEqual([...items(10, 90), ...items(10)]);
    expect(chosen.heldBack).toEqual(items(80, 10));
  });

  test('is looked at twice all the same', async () => {
    const { clock, collection } = open({ isUrgent: () => true });
    expect(collection.choose(items(50), 50)).toMatchObject({ due: [], suspected: items(50) });
    await clock.runFor(10_000);
    expect(collection.choose(items(50), 50)).toMatchObject({ due: items(50), heldBack: [] });
  });
});
