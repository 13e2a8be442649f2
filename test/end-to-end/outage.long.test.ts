// The API server goes away and comes back under a controller at work: nothing is launched twice, nothing is left behind.
import { expect, test } from 'vitest';
import { useWorld } from './harness/world.ts';

// Without an election: an outage longer than the lease would rightly end the process, and a kubelet start it again.
const world = useWorld({ flags: { 'disable-leader-election': true } });
const disruption = { consolidateAfter: '0s' };

test('a scale-up cut in two by a crash of the API server comes to the same end', async () => {
  const room = await world.room('crash-up');
  await room.pool({ spec: { disruption } });
  await room.deployment('web', { replicas: 12, cpu: '1' });
  await room.until('the first claim is there', async () => expect(await room.claims()).not.toEqual([]));
  await world.cluster().restartApiServer(0);
  await room.runs('web', 12);
  const [claims, nodes] = [await room.claims(), await room.nodes()];
  expect(nodes.map(({ spec }) => spec?.providerID).sort()).toEqual(
    claims.map(({ status }) => status?.providerID).sort(),
  );
  expect(world.controller().exit).toBeUndefined();
});

test('a scale-down cut in two by a restart of the API server leaves nothing behind', async () => {
  const room = await world.room('crash-down');
  await room.pool({ spec: { disruption } });
  await room.deployment('web', { replicas: 6, cpu: '1' });
  await room.runs('web', 6);
  await room.scale('web', 0);
  await room.until('a node is going', async () => {
    const going = (await room.nodes()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect((await room.claims()).length === 0 || going.length > 0).toBe(true);
  });
  await world.cluster().restartApiServer();
  await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]));
  await room.until('no claim is left', async () => expect(await room.claims()).toEqual([]));
  expect(world.controller().exit).toBeUndefined();
});
