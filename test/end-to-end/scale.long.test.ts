// Many pods at once, and none again.
import { expect, test } from 'vitest';
import { useWorld } from './harness/world.ts';

const world = useWorld();

test('a Deployment goes from 0 to 500 and back, and leaves no node behind', async () => {
  const room = await world.room('scale');
  const budgets = [{ nodes: '100%' }];
  await room.pool({ spec: { disruption: { consolidateAfter: '5s', budgets } } });
  await room.deployment('web', { replicas: 0, cpu: '1', memory: '1Gi' });
  await room.scale('web', 500);
  await room.runs('web', 500, 420);
  const metrics = await world.controller().metrics();
  const nodes = await room.nodes();
  expect(nodes.length).toBeGreaterThan(0);
  expect(metrics.sum('karpenter_nodeclaims_created_total', { nodepool: room.name })).toBe(nodes.length);
  // 500 cores in the largest machines there are: two of 192 and 128 … or the like, never one per pod.
  expect(nodes.length).toBeLessThan(20);
  expect(world.controller().exit).toBeUndefined();
  expect(await world.controller().probe('/healthz')).toBe(200);
  await room.scale('web', 0);
  await room.until(
    'no pod, node or claim is left',
    async () => {
      expect(await room.pods()).toHaveLength(0);
      expect(await room.nodes()).toHaveLength(0);
      expect(await room.claims()).toHaveLength(0);
    },
    420,
  );
  expect(
    world
      .controller()
      .logs()
      .filter(({ message }) => message === 'Reconciler error'),
  ).toEqual([]);
});
