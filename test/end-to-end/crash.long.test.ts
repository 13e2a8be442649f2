// The controller is killed in the middle of a write, and so is the one started in its place, and the next, each after it has
// written more than the one before: one that never gets far enough could never finish a move. The cluster comes to the same
// rest as with one that lives, nothing is launched twice, nothing is left behind, nobody's budget is broken. Here on a real
// control plane, with SIGKILL, at a few dozen writes; test/scenario/lifecycle does it at every single one in virtual time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiProxy } from './harness/api-proxy.ts';
import { useKubelets } from './harness/kubelets.ts';
import { apart } from './harness/leaving.ts';
import { ofType } from './harness/manifests.ts';
import { disorderIn, watchBudget } from './harness/order.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const pods = 50;
const leaving = 20;
/** How long a story may take that is begun anew a dozen times. */
const patience = 300;

const world = useWorld({ idle: true });
useKubelets(world.cluster);
let proxy: ApiProxy;
beforeAll(async () => {
  proxy = await ApiProxy.start(world.cluster());
});
afterAll(() => proxy?.stop());

/** Controllers one after the other; `during` kills them, each when the API server has carried out its nth write. */
function mortals() {
  const options = {
    flags: { kubeconfig: proxy.kubeconfig, 'fake-kubelets': false, 'disable-leader-election': true },
    env: { BATCH_IDLE_DURATION: '200ms' },
  };
  const over = new AbortController();
  let deaths: number[] = [];
  let writes = 0;
  proxy.onWrite = () => {
    writes += 1;
    const [nth = Number.POSITIVE_INFINITY] = deaths;
    if (writes < nth) return true;
    // What it still has under way is carried out or not, and it hears of nothing.
    if (writes === nth) process.kill(world.controller().pid, 'SIGKILL');
    return false;
  };
  const succeed = async (): Promise<void> => {
    while (!over.signal.aborted) {
      // One that is killed before it is ready has done what it was started for.
      await world.start(options).catch(() => {});
      await world.controller().exited();
      deaths = deaths.slice(1);
      writes = 0;
      proxy.life += 1;
    }
  };
  const succession = succeed();
  return {
    /** Fails unless every kill came to pass. */
    async during(kills: readonly number[], happen: () => Promise<void>): Promise<void> {
      [deaths, writes] = [[...kills], 0];
      await happen();
      expect(deaths).toEqual([]);
    },
    async end(): Promise<void> {
      over.abort();
      await world.controller().kill();
      await succession;
    },
  };
}

const allIsWell = (room: Room): Promise<void> =>
  room.until('all is well', async () => expect(await disorderIn(room, pods)).toEqual([]), patience);

test.each([
  ['few', [1, 4, 12, 25, 40, 60]],
  ['many', [2, 8, 18, 33, 50, 80]],
] as const)(
  'killed after %s writes, one controller after the other goes on where the last stopped',
  async (name, kills) => {
    const controllers = mortals();
    const room = await world.room(name);
    await room.pool({
      spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
      requirements: [ofType('c-1x-amd64-linux')],
    });
    await controllers.during(kills, async () => {
      await room.deployment('web', { replicas: pods, cpu: '600m', spec: apart('web') });
      await allIsWell(room);
    });

    await room.budget('web', { maxUnavailable: 5 });
    const budget = await watchBudget(world.cluster(), room.name, pods - 5);
    const going = (await room.nodes()).slice(0, leaving).map(({ metadata: { name: node = '' } }) => node);
    await controllers.during(kills, async () => {
      await world.api.kubectl('delete', 'nodes', '--wait=false', ...going);
      await room.until(
        'they are gone',
        async () =>
          expect((await room.nodes()).filter(({ metadata: { name: node = '' } }) => going.includes(node))).toEqual([]),
        patience,
      );
      await allIsWell(room);
    });
    expect(await budget.end()).toEqual([]);

    await controllers.during(kills, async () => {
      await room.scale('web', 0);
      await room.until(
        'nothing is left',
        async () => expect([await room.nodes(), await room.claims()]).toEqual([[], []]),
        patience,
      );
    });
    await controllers.end();
  },
);
