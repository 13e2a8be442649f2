// The controller is killed at one write after the other, spread evenly over a scale-up of fifty pods and over the
// replacement of twenty nodes, and started again: the cluster comes to the same rest, nothing is launched twice, nothing is
// left behind, nobody's budget is broken. Every single write is done in virtual time (test/scenario/lifecycle); here it is
// as many as fit into a few minutes, on a real control plane, with SIGKILL. KERF_KILLS says how many.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiProxy } from './harness/api-proxy.ts';
import { useKubelets } from './harness/kubelets.ts';
import { ofType } from './harness/manifests.ts';
import { disorderIn, watchReady } from './harness/order.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const kills = Number(process.env['KERF_KILLS'] ?? 6);
const world = useWorld({ idle: true });
useKubelets(world.cluster);
let proxy: ApiProxy;
beforeAll(async () => {
  proxy = await ApiProxy.start(world.cluster());
});
afterAll(() => proxy?.stop());

const start = async (): Promise<void> => {
  const flags = { kubeconfig: proxy.kubeconfig, 'fake-kubelets': false, 'disable-leader-election': true };
  await world.start({ flags, env: { BATCH_IDLE_DURATION: '200ms' } });
};
const apart = (app: string) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app } },
    },
  ],
});
const atRest = (room: Room, pods: number): Promise<void> =>
  room.until(`${pods} pods run, each on a node of its own`, async () => {
    expect(await disorderIn(room, pods)).toEqual([]);
    expect(await room.nodes()).toHaveLength(pods);
  });

/** What happens, with a kill at the nth write if one is given; returns how many writes there were. */
async function played(happen: () => Promise<void>, write?: number): Promise<number> {
  const before = proxy.writes;
  let isKilled = false;
  proxy.onWrite = (count) => {
    if (isKilled || write === undefined || count - before < write) return !isKilled;
    isKilled = true;
    process.kill(world.controller().pid, 'SIGKILL');
    void world
      .controller()
      .exited()
      .then(async () => {
        proxy.onWrite = () => true;
        await start();
      });
    return false;
  };
  await happen();
  proxy.onWrite = () => true;
  expect({ write, isKilled }).toEqual({ write, isKilled: write !== undefined });
  return proxy.writes - before;
}

/** Evenly spread over all writes, beginning with the first. */
const spread = (writes: number): number[] =>
  Array.from({ length: kills }, (_, index) => 1 + Math.floor((index * writes) / kills));

/** One round: fifty pods come (killed at `up`), twenty of their nodes are replaced (killed at `down`), all go. */
async function round(name: string, up?: number, down?: number): Promise<{ up: number; down: number }> {
  const room = await world.room(name);
  await room.pool({
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    requirements: [ofType('c-1x-amd64-linux')],
  });
  const ups = await played(async () => {
    await room.deployment('web', { replicas: 50, cpu: '600m', spec: apart('web') });
    await atRest(room, 50);
  }, up);
  await room.budget('web', { maxUnavailable: 5 });
  const budget = await watchReady(world.cluster(), room.name, 45);
  const going = (await room.nodes()).slice(0, 20);
  const downs = await played(async () => {
    await world.api.kubectl('delete', 'nodes', '--wait=false', ...going.map(({ metadata }) => metadata.name ?? ''));
    await room.until('they are gone', async () => {
      const left = new Set((await room.nodes()).map(({ metadata }) => metadata.uid));
      expect(going.filter(({ metadata }) => left.has(metadata.uid))).toEqual([]);
    });
    await atRest(room, 50);
  }, down);
  expect(await budget.end()).toEqual([]);
  await room.scale('web', 0);
  await room.until('nothing is left', async () => expect([await room.nodes(), await room.claims()]).toEqual([[], []]));
  return { up: ups, down: downs };
}

test('killed at writes of a scale-up and of a scale-down it goes on where it stopped', async () => {
  await start();
  const { up, down } = await round('calm');
  const [ups, downs] = [spread(up), spread(down)];
  console.log(`killed at writes ${ups.join(', ')} of ${up} and ${downs.join(', ')} of ${down}`);
  for (const [index, write] of ups.entries()) await round(`kill-${index}`, write, downs[index]);
});
