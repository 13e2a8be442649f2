// Where consolidation ends: on fragmented clusters the search never ends dearer than the ordinary one (the longest prefix
// of one order that works, then single nodes), and mostly cheaper. The benchmark runs thirty; here a few keep it honest.
import { expect, test } from 'vitest';
import { fragmentedCluster, usualTypes } from '../../bench/workloads/fragmented.ts';
import { settle } from '../../bench/workloads/settle.ts';
import { multiNodeCommand, prefixCommand } from '../../src/core/index.ts';

test('consolidation never ends dearer than the search over prefixes', { timeout: 240_000 }, async () => {
  const types = await usualTypes();
  let cheaper = 0;
  for (const seed of [1, 5, 7]) {
    const cluster = fragmentedCluster(seed, types);
    const ours = settle(cluster, (round, ahead) => multiNodeCommand(round, { ahead })).pricePerHour;
    const theirs = settle(cluster, (round) => prefixCommand(round)).pricePerHour;
    expect(ours).toBeLessThanOrEqual(theirs + 1e-6);
    if (ours < theirs - 1e-6) cheaper += 1;
  }
  expect(cheaper).toBeGreaterThan(0);
});
