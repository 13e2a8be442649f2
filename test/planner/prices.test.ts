// What plans cost, on random snapshots with every shape of work: several pools of equal and different weight, limits, taints,
// reserved capacity, minValues, volumes, ports, spreads and nodes that exist.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Plan, planSnapshot, type Snapshot } from '../../src/core/index.ts';
import { agreeable, type Mix, snapshots } from './generate/snapshot.ts';
import { placementOf } from './same-placement.ts';
import { violations } from './validator/index.ts';

/** More pods than elsewhere, so that there is something to buy anew. */
const crowds: Mix = { ...agreeable, invalid: false, pods: 8, replicas: 10 };

/** With spreads, and many pods that count without being spread, binding depends on an order that is not ours to choose. */
const crowdsInAnyOrder: Mix = { ...crowds, spreads: false };

const holds = (mix: Mix, seed: number, numRuns: number, check: (snapshot: Snapshot) => void): void =>
  fc.assert(fc.property(snapshots(mix), check), { seed, numRuns });

/** A pod that had no place may have one now, at its own price. */
function expectNotDearer(plan: Plan, than: Plan): void {
  const [placed, before] = [placementOf(plan).placed, placementOf(than).placed];
  expect(placed).toEqual(expect.arrayContaining([...before]));
  const most = placed.length === before.length ? than.pricePerHour + 1e-9 : Number.POSITIVE_INFINITY;
  expect(plan.pricePerHour).toBeLessThanOrEqual(most);
}

test('a plan is never dearer than as packed, nor than with each pool bought by itself', () => {
  holds(crowds, 17, 1000, (snapshot) => {
    const plan = planSnapshot(snapshot);
    expectNotDearer(plan, planSnapshot(snapshot, { improve: false }));
    expectNotDearer(plan, planSnapshot(snapshot, { improve: 'pool by pool' }));
  });
});

test('buying anew breaks no rule that the first packing kept', () => {
  holds(crowdsInAnyOrder, 18, 300, (snapshot) => {
    if (violations(snapshot, planSnapshot(snapshot, { improve: false })).length > 0) return;
    expect(violations(snapshot, planSnapshot(snapshot))).toEqual([]);
  });
});
