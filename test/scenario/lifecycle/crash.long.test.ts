// The controllers are killed at writes spread evenly over each story; KERF_EVERY_WRITE=1 kills at every single one, which
// takes about an hour.
import { describe, expect, test } from 'vitest';
import { killedAt, nodesGo, scaleUp, writesOf } from './crash.ts';

const sample = process.env['KERF_EVERY_WRITE'] === '1' ? Number.POSITIVE_INFINITY : 60;

describe.each([scaleUp(50), nodesGo(20)])('$name', (story) => {
  test('and the controllers are killed at writes on the way: nothing is lost, nothing left over', async () => {
    const writes = await writesOf(story);
    const kills = Math.min(sample, writes);
    for (let index = 0; index < kills; index += 1) {
      const write = 1 + Math.floor((index * writes) / kills);
      expect({ write, problems: await killedAt(story, write) }).toEqual({ write, problems: [] });
    }
  });
});
