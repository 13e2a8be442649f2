import { expect, test } from 'vitest';
import { diverse, existing, synthetic } from '../../../bench/workloads/snapshots.ts';
import { planSnapshot } from '../../core/index.ts';
import { planJson } from './plan-json.ts';

test('the pieces of a plan are what JSON.stringify makes of it', () => {
  const nowhere = diverse(20, { ...synthetic(1), items: [] });
  for (const snapshot of [diverse(400, synthetic(30)), existing(60, 3, 7), nowhere]) {
    const plan = { ...planSnapshot(snapshot), solveMs: 1.5 };
    expect([...planJson(plan)].join('')).toBe(JSON.stringify(plan));
  }
});

test('a large plan comes in many pieces', () => {
  const pieces = [...planJson(planSnapshot(diverse(1000)))];
  expect(pieces.length).toBeGreaterThan(2);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(512 * 1024);
});
