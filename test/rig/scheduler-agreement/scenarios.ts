// Random scenarios for the agreement suites: snapshots of which the planner places something, with their plans.
import * as fc from 'fast-check';
import { type Plan, planSnapshot, type Snapshot } from '../../../src/core/index.ts';
import { agreeable, snapshots } from '../../planner/generate/snapshot.ts';

export interface Scenario {
  /** Seed and number, to find it again. */
  name: string;
  snapshot: Snapshot;
  plan: Plan;
  placed: number;
}

export function scenarios(seed: number, count: number): Scenario[] {
  const found: Scenario[] = [];
  // About one random snapshot in five has no usable pool or only hopeless pods.
  const drawn = fc.sample(snapshots(agreeable), { seed, numRuns: 2 * count + 10 });
  for (const [number, snapshot] of drawn.entries()) {
    if (found.length === count) break;
    const plan = planSnapshot(snapshot);
    const placed = [...plan.newNodes, ...plan.existingNodes].reduce((sum, { pods }) => sum + pods.length, 0);
    if (placed > 0) found.push({ name: `seed ${seed} number ${number}`, snapshot, plan, placed });
  }
  if (found.length < count) throw new Error(`only ${found.length} of ${count} scenarios place a pod; draw more`);
  return found;
}
