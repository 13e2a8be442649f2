// The three things everybody expects of disruption: empty nodes go, budgets hold, and drifted nodes are replaced first.
import { expect, test } from 'vitest';
import { drift, keeps, othersThan, reported, setBudgets, settledNode } from './harness/leaving.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();
const quickly = { disruption: { consolidateAfter: '0s' } };

test.concurrent('a node with nothing but daemons on it is empty, and goes', async () => {
  const room = await world.room('only-daemons');
  await room.pool({ spec: quickly });
  await room.daemonSet('agent');
  await room.deployment('web');
  await room.runs('web', 1);
  await settledNode(room);
  await room.scale('web', 0);
  await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]));
});

test.concurrent('a budget of zero keeps an empty node and says so; without it the node goes', async () => {
  const room = await world.room('budget-zero');
  const pool = await room.pool({ spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '0' }] } } });
  await room.deployment('web');
  await room.runs('web', 1);
  const node = await settledNode(room);
  await room.scale('web', 0);
  const text = /No allowed disruptions for disruption reason Empty due to blocking budget/;
  await reported(room, pool, 'DisruptionBlocked', text);
  await keeps(room, node, 15);
  await setBudgets(room, pool, [{ nodes: '1' }]);
  await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]));
});

test.concurrent('a drifted node goes after its replacement has come, and its pods run on', async () => {
  const room = await world.room('drifted');
  const pool = await room.pool();
  await room.deployment('web', { replicas: 2 });
  await room.runs('web', 2);
  const old = await settledNode(room);
  await drift(room, pool);
  const [fresh] = await othersThan(room, [old]);
  expect(fresh?.metadata.labels?.['revision']).toBe('new');
  await room.runs('web', 2);
});
