// Snapshots whose plans once broke a rule, found with fresh seeds and shrunk.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { seeded } from '../../bench/workloads/random.ts';
import { planSnapshot, type Snapshot } from '../../src/core/index.ts';
import { reordered } from './order-and-names.ts';
import { violations } from './validator/index.ts';

const files = globSync(join(import.meta.dirname, 'cases/*.json')).sort();

describe.each(files.map((file) => [basename(file, '.json'), file] as const))('%s', (_, file) => {
  const snapshot = JSON.parse(readFileSync(file, 'utf8')) as Snapshot;

  test.each([false, true])('keeps all rules (improved: %s)', (improve) => {
    expect(violations(snapshot, planSnapshot(snapshot, { improve }))).toEqual([]);
  });

  test.each([1, 2, 3, 4, 5, 6])('has one plan in any order of its input (%i)', (order) => {
    expect(planSnapshot(reordered(snapshot, seeded(order)))).toEqual(planSnapshot(snapshot));
  });
});
