import { expect, test } from 'vitest';
import { diverse, existing, generic, synthetic } from '../../../bench/workloads/snapshots.ts';
import { indexSnapshot, planWorld } from '../../core/index.ts';
import { lowerBoundPerHour } from './bound.ts';

test('no plan costs less than its lower bound', async () => {
  for (const snapshot of [generic(300), diverse(200), diverse(60, synthetic(12)), existing(200, 10)]) {
    const world = indexSnapshot(snapshot);
    for (const improve of [false, true]) {
      const plan = planWorld(world, { improve });
      const bound = await lowerBoundPerHour(world, plan);
      expect(bound).toBeGreaterThan(0);
      expect(bound).toBeLessThanOrEqual(plan.pricePerHour * (1 + 1e-9));
    }
  }
}, 300_000);

test('the bound of pods that fill machines exactly is their price', async () => {
  // S(1) has one type: 1 cpu less 100m, 2Gi less 10Mi, 10 pods. Nine pods of 100m and 200Mi fill its cpu.
  const snapshot = generic(0, synthetic(1));
  const [pool] = snapshot.objects.items;
  const pods = generic(27, synthetic(1)).objects.items.filter((item) => item.kind === 'Pod');
  const items = pods.map((pod) => ({
    ...pod,
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m', memory: '200Mi' } } }] },
  }));
  if (pool === undefined) throw new Error('the workload has no pool');
  const full = { ...snapshot, objects: { ...snapshot.objects, items: [pool, ...items] } };
  const world = indexSnapshot(full);
  const plan = planWorld(world);
  expect(plan.newNodes).toHaveLength(3);
  expect(await lowerBoundPerHour(world, plan)).toBeCloseTo(plan.pricePerHour, 4);
});

test('pods without a place cost nothing', async () => {
  const snapshot = generic(3, { ...synthetic(1), items: [] });
  expect(await lowerBoundPerHour(snapshot, planWorld(indexSnapshot(snapshot)))).toBe(0);
});

test('a pod may use a label that another pod gives to their node', async () => {
  const snapshot = generic(0, synthetic(1));
  const asking = (operator: string, cpu: string, values: string[] = []) => ({
    spec: {
      containers: [{ name: 'main', resources: { requests: { cpu } } }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'tier', operator, ...(values.length > 0 && { values }) }] },
            ],
          },
        },
      },
    },
  });
  const [first, second] = generic(2, synthetic(1)).objects.items.filter((item) => item.kind === 'Pod');
  if (first === undefined || second === undefined) throw new Error('the workload has no pods');
  const pods = [
    { ...first, ...asking('NotIn', '400m', ['tin']) },
    { ...second, ...asking('Exists', '100m') },
  ];
  const items = [...snapshot.objects.items, ...pods];
  const world = indexSnapshot({ ...snapshot, objects: { ...snapshot.objects, items } });
  const plan = planWorld(world);
  expect(plan.newNodes.map((node) => node.pods.length)).toEqual([2]);
  expect(await lowerBoundPerHour(world, plan)).toBeLessThanOrEqual(plan.pricePerHour);
});
