// The same pods under other rules: what it adds up to, against sums made by hand.
import { expect, test } from 'vitest';
import type { NodePool } from '../../api/index.ts';
import type { InstanceTypeSpec, SnapshotObject } from '../../core/index.ts';
import { instanceType, nodePool, offering, pod, requirement, snapshot } from '../../core/testing/builders.testing.ts';
import { RealClock } from '../../runtime/index.ts';
import { type DayChange, type DayCost, OtherDay } from './other-day.ts';

/** One pod per node: spot for 1 $/h, on demand for 3. */
const single = (name: string, spot: number, onDemand: number): InstanceTypeSpec =>
  instanceType({
    name,
    cpu: '2',
    offerings: ['zone-1', 'zone-2', 'zone-3'].flatMap((zone) => [
      offering(zone, 'spot', spot),
      offering(zone, 'on-demand', onDemand),
    ]),
  });
const types = [single('small', 1, 3)];
const disruption = { consolidateAfter: '10m', budgets: [{ nodes: '100%' }] };
const pool = nodePool({ name: 'default', spec: { disruption } });
const all = Array.from({ length: 4 }, (_, at) => pod({ name: `web-${at}`, cpu: '1500m' }));

const at = (minutes: number, pods: readonly SnapshotObject[]) =>
  snapshot([pool, ...pods], { types, time: new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString() });

async function day(change: Partial<DayChange>, passes: readonly ReturnType<typeof at>[]): Promise<DayCost> {
  const other = new OtherDay(new RealClock(), { pools: [], without: new Set(), ...change });
  for (const each of passes) await other.take(each);
  return other.total();
}

const passes = [at(0, all), at(60, []), at(120, [])];

test('nodes cost from when their pods come until consolidation has waited for quiet', async () => {
  const { dollars, launched, removed, mostNodes, evictions } = await day({}, passes);
  expect({ launched, removed, mostNodes, evictions }).toEqual({ launched: 4, removed: 4, mostNodes: 4, evictions: 0 });
  // Four nodes for an hour, and for ten quiet minutes.
  expect(dollars).toBeCloseTo(4 + 4 / 6, 6);
});

test('without consolidation every node stays', async () => {
  const { dollars, removed } = await day({ without: new Set(['consolidation']) }, passes);
  expect(removed).toBe(0);
  expect(dollars).toBeCloseTo(8, 6);
});

test('without spot the same nodes are bought on demand', async () => {
  const { dollars } = await day({ without: new Set(['consolidation', 'spot']) }, passes);
  expect(dollars).toBeCloseTo(24, 6);
});

test('with another NodePool the pods follow its rules; nothing else changes', async () => {
  const requirements = [requirement('karpenter.sh/capacity-type', 'In', ['on-demand'])];
  const written = nodePool({ name: 'default', spec: { disruption }, requirements }) as unknown as NodePool;
  const { dollars, launched } = await day({ pools: [written] }, passes.slice(0, 2));
  expect(launched).toBe(4);
  expect(dollars).toBeCloseTo(12, 6);
});

test('a NodePool whose offers are unknown is refused with what to write instead', async () => {
  const written = structuredClone(nodePool({ name: 'other' })) as unknown as NodePool;
  (written.spec.template.spec.nodeClassRef as { name: string }).name = 'elsewhere';
  await expect(day({ pools: [written] }, passes)).rejects.toThrow(/name a node class of the recording/);
});

test('pods that fit nowhere are counted by the hour', async () => {
  const large = pod({ name: 'large', cpu: '64' });
  const { podHoursWithoutPlace, dollars } = await day({}, [at(0, [large]), at(30, [large])]);
  expect([podHoursWithoutPlace, dollars]).toEqual([0.5, 0]);
});

test('pods that move to fuller nodes are evictions', async () => {
  // Two nodes with two pods each; then one pod of each leaves, and what is left fits on one.
  const half = Array.from({ length: 4 }, (_, each) => pod({ name: `half-${each}`, cpu: '800m' }));
  const left = [half[0], half[2]] as SnapshotObject[];
  const { evictions, removed } = await day({}, [at(0, half), at(5, left), at(90, left)]);
  expect({ evictions, removed }).toEqual({ evictions: 1, removed: 1 });
});
