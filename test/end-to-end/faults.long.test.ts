// The same stories as on good days, on an API server that refuses one request in ten (409 and 429), ends every watch after
// three seconds and is restarted in the middle of each: it takes longer, and comes to the same end.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiProxy } from './harness/api-proxy.ts';
import { useKubelets } from './harness/kubelets.ts';
import { ofType } from './harness/manifests.ts';
import { disorderIn, watchBudget } from './harness/order.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const pods = 30;
const world = useWorld({ idle: true });
useKubelets(world.cluster);
let proxy: ApiProxy;
let weather: NodeJS.Timeout;
beforeAll(async () => {
  proxy = await ApiProxy.start(world.cluster());
  const flags = { kubeconfig: proxy.kubeconfig, 'fake-kubelets': false, 'disable-leader-election': true };
  await (await world.start({ flags })).leading();
  proxy.failureRate = 0.1;
  weather = setInterval(() => proxy.cutWatches(), 3_000);
});
afterAll(async () => {
  clearInterval(weather);
  await proxy?.stop();
});

const allIsWell = (room: Room): Promise<void> =>
  room.until('all is well', async () => expect(await disorderIn(room, pods)).toEqual([]), 300);

test('thirty pods come, their nodes are deleted under a budget, and they go again', async () => {
  const room = await world.room('weather');
  await room.pool({
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    // Room for one pod each.
    requirements: [ofType('c-1x-amd64-linux')],
  });
  await room.deployment('web', { replicas: pods, cpu: '600m' });
  await room.until('the first claim is there', async () => expect(await room.claims()).not.toEqual([]));
  await world.cluster().restartApiServer();
  await allIsWell(room);

  await room.budget('web', { maxUnavailable: 6 });
  const budget = await watchBudget(world.cluster(), room.name, pods - 6);
  const before = await room.nodes();
  await world.api.kubectl('delete', 'nodes', '--wait=false', ...before.map(({ metadata }) => metadata.name ?? ''));
  const old = new Set(before.map(({ metadata }) => metadata.uid));
  const left = async () => (await room.nodes()).filter(({ metadata }) => old.has(metadata.uid));
  await room.until('some of them are gone', async () => expect((await left()).length).toBeLessThan(pods));
  await world.cluster().restartApiServer(0);
  await room.until('all of them are gone', async () => expect(await left()).toEqual([]), 300);
  await allIsWell(room);
  expect(await budget.end()).toEqual([]);

  await room.scale('web', 0);
  await room.until(
    'nothing is left',
    async () => expect([await room.nodes(), await room.claims()]).toEqual([[], []]),
    300,
  );
  expect(world.controller().exit).toBeUndefined();
  const refused = [...proxy.refused.values()].reduce((sum, count) => sum + count, 0);
  expect([...proxy.refused.keys()].sort()).toEqual([409, 429]);
  expect(refused / proxy.requests).toBeGreaterThan(0.05);
  expect(proxy.cut).toBeGreaterThan(100);
});
