// Multi-node consolidation looks at all nodes of the cluster together: this scenario has it to itself.
import { expect, test } from 'vitest';
import { patience } from './harness/leaving.ts';
import { inValues, ofType } from './harness/manifests.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();
const quickly = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
const small = 'c-2x-amd64-linux';
const onDemand = inValues('karpenter.sh/capacity-type', 'on-demand');

test('several nodes are replaced by one that is cheaper than all of them together', async () => {
  const room = await world.room('merged');
  const types = ofType('c-1x-amd64-linux', small);
  await room.pool({ spec: { disruption: quickly }, requirements: [types, onDemand] });
  // One after the other, so that each gets a node of its own size.
  for (const app of ['one', 'two', 'three']) {
    await room.deployment(app, { cpu: '600m' });
    await room.runs(app, 1);
  }
  const node = await room.until(
    'one node is left',
    async () => {
      const nodes = await room.nodes();
      expect(nodes).toHaveLength(1);
      return nodes[0];
    },
    patience,
  );
  expect(node?.metadata.labels?.['node.kubernetes.io/instance-type']).toBe(small);
  for (const app of ['one', 'two', 'three']) await room.runs(app, 1);
});
