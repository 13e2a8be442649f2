import { describe, expect, test } from 'vitest';
import { killedAt, nodesGo, scaleDown, scaleUp, withFailures, writesOf } from './crash.ts';

describe.each([scaleUp(8), nodesGo(5), scaleDown(4)])('$name', (story) => {
  test('and the controllers are killed at a handful of writes on the way: nothing is lost, nothing left over', async () => {
    const writes = await writesOf(story);
    expect(writes).toBeGreaterThan(20);
    const sample = 6;
    for (let index = 0; index < sample; index += 1) {
      const write = 1 + Math.floor((index * writes) / sample);
      expect({ write, problems: await killedAt(story, write) }).toEqual({ write, problems: [] });
    }
  });

  test.each([1, 2, 3])('while one call in ten fails (seed %d): it ends the same way', async (seed) => {
    expect(await withFailures(story, 0.1, seed)).toEqual([]);
  });
});
