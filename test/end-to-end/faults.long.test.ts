// The same stories as on good days, on an API server that refuses one request in ten (409 and 429), ends watches in the
// middle and is restarted: it takes longer, and comes to the same end.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiProxy } from './harness/api-proxy.ts';
import { useKubelets } from './harness/kubelets.ts';
import { ofType } from './harness/manifests.ts';
import { disorderIn, watchReady } from './harness/order.ts';
import { useWorld } from './harness/world.ts';

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

test('thirty pods come, their nodes are deleted under a budget, and they go again', async () => {
  const room = await world.room('weather');
  await room.pool({
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    // Room for one pod each.
    requirements: [ofType('c-1x-amd64-linux')],
  });
  await room.deployment('web', { replicas: 30, cpu: '600m' });
  await room.until('the first claim is there', async () => expect(await room.claims()).not.toEqual([]));
  await world.cluster().restartApiServer();
  await room.until('all is well', async () => expect(await disorderIn(room, 30)).toEqual([]), 240);

  await room.budget('web', { maxUnavailable: 6 });
  await sleep(2_000);
  const budget = await watchReady(world.cluster(), room.name, 24);
  const before = await room.nodes();
  await world.api.kubectl('delete', 'nodes', '--wait=false', ...before.map(({ metadata }) => metadata.name ?? ''));
  await room.until(
    'every node was replaced',
    async () => {
      const old = new Set(before.map(({ metadata }) => metadata.uid));
      expect((await room.nodes()).filter(({ metadata }) => old.has(metadata.uid))).toEqual([]);
      expect(await disorderIn(room, 30)).toEqual([]);
    },
    300,
  );
  expect(await budget.end()).toEqual([]);

  await room.scale('web', 0);
  await room.until(
    'nothing is left',
    async () => expect([await room.nodes(), await room.claims()]).toEqual([[], []]),
    240,
  );
  expect(world.controller().exit).toBeUndefined();
  expect(proxy.refused).toBeGreaterThan(100);
});
