// What only feature gates allow: static pools exchange their drifted nodes one for one, and spot nodes are exchanged for
// cheaper spot nodes where there is enough choice.
import { expect, test } from 'vitest';
import { all } from './harness/api.ts';
import { drift, keeps, nameOf, othersThan, patience, settledNode, settledNodes } from './harness/leaving.ts';
import { inValues, ofType } from './harness/manifests.ts';
import { useWorld } from './harness/world.ts';

/** Static pools ask for nodes without looking at pods: the type must be named. */
const requirements = [ofType('c-2x-amd64-linux')];
const world = useWorld({ flags: { 'feature-gates': 'StaticCapacity=true,SpotToSpotConsolidation=true' } });

test.concurrent('a static pool exchanges drifted nodes within its budget and never has fewer than it should', async () => {
  const room = await world.room('static-drift');
  const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '1' }] };
  const pool = await room.pool({ spec: { replicas: 2, disruption }, requirements });
  const old = await settledNodes(room, 2);
  await drift(room, pool);
  let least = 2;
  await room.until(
    'both nodes are others',
    async () => {
      const nodes = (await room.initializedNodes()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      least = Math.min(least, nodes.length);
      for (const node of await room.nodes()) expect(old.map(nameOf)).not.toContain(nameOf(node));
    },
    patience,
  );
  expect(least).toBe(2);
  await settledNodes(room, 2);
});

test.concurrent('a static pool keeps its empty nodes', async () => {
  const room = await world.room('static-empty');
  const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
  await room.pool({ spec: { replicas: 1, disruption }, requirements });
  await keeps(room, await settledNode(room));
});

test.concurrent('a static pool at its node limit does not drift, and does when there is room', async () => {
  const room = await world.room('static-limit');
  const pool = await room.pool({
    spec: { replicas: 1, limits: { nodes: '1' }, disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    requirements,
  });
  const node = await settledNode(room);
  await drift(room, pool);
  await keeps(room, node);
  await room.api.patch(all.nodePools, pool, { spec: { limits: { nodes: '2' } } });
  await othersThan(room, [node]);
});

test.concurrent('a spot node is exchanged for a cheaper spot node where fifteen types are cheaper', async () => {
  const room = await world.room('spot-flexible');
  await room.pool({
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    requirements: [inValues('karpenter.sh/capacity-type', 'spot'), inValues('kubernetes.io/os', 'linux')],
  });
  await room.deployment('web', { cpu: '14' });
  await room.runs('web', 1);
  const old = await settledNode(room);
  await room.deployment('web', { cpu: '200m' });
  const [fresh] = await othersThan(room, [old]);
  expect(fresh?.metadata.labels?.['karpenter.sh/capacity-type']).toBe('spot');
  await room.runs('web', 1);
});

test.concurrent('a spot node stays where fewer than fifteen types are cheaper', async () => {
  const room = await world.room('spot-inflexible');
  await room.pool({
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    requirements: [inValues('karpenter.sh/capacity-type', 'spot'), ofType('c-2x-amd64-linux', 'c-8x-amd64-linux')],
  });
  await room.deployment('web', { cpu: '6' });
  await room.runs('web', 1);
  const node = await settledNode(room);
  await room.pod('other');
  await room.runs('other', 1);
  await room.scale('web', 0);
  await room.until(
    'it says why',
    async () => {
      const events = await room.events('Unconsolidatable', nameOf(node));
      expect(events.map(({ message }) => message).join('\n')).toMatch(
        /requires 15 cheaper instance type options .* got 1/,
      );
    },
    patience,
  );
  await keeps(room, node, 20);
});
