// What everybody tries first.
import { expect, test } from 'vitest';
import { ofType } from './harness/manifests.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();

test.concurrent('a Deployment gets a node, and the node goes when the Deployment does', async () => {
  const room = await world.room('first');
  const pool = await room.pool({
    spec: { disruption: { consolidateAfter: '0s' } },
    requirements: [ofType('c-4x-amd64-linux', 'm-4x-amd64-linux')],
  });
  await room.deployment('web', { replicas: 3, cpu: '500m' });
  await room.runs('web', 3);
  const nodes = await room.initializedNodes(pool);
  expect(nodes.map(({ metadata }) => metadata.labels?.['node.kubernetes.io/instance-type'])).toEqual([
    'c-4x-amd64-linux',
  ]);
  await room.scale('web', 0);
  await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]));
  await room.until('no claim is left', async () => expect(await room.claims()).toEqual([]));
});
