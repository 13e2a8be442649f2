// The controller is killed in the middle of a write, and so is the one started in its place, and the next, until there is no
// write left at which none has died. The cluster comes to the same rest as with one that lives, nothing is launched twice,
// nothing is left behind, no one's budget is broken. Here on a real control plane, with SIGKILL, one story in which all of
// them take part; test/scenario/lifecycle begins the story anew for every single write, in virtual time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiProxy, type Write } from './harness/api-proxy.ts';
import { useKubelets } from './harness/kubelets.ts';
import { apart } from './harness/leaving.ts';
import { ofType } from './harness/manifests.ts';
import { disorderIn, watchBudget } from './harness/order.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const pods = 50;
const leaving = 20;
/** How long a part of the story may take that is begun anew dozens of times. */
const patience = 900;
const deafMs = 200;

const world = useWorld({ idle: true });
useKubelets(world.cluster);
let proxy: ApiProxy;
beforeAll(async () => {
  proxy = await ApiProxy.start(world.cluster());
});
afterAll(() => proxy?.stop());

interface Said {
  involvedObject?: { kind: string };
  reason?: string;
  status?: { conditions?: { type: string; status: string; reason?: string }[] };
}

/**
 * What a write does, in words that are the same when it is done again. Two claims that are alike are two; what only tells
 * (events, verdicts) is the same for every object it sees.
 */
function deedsOf({ method, path, body, answer }: Write): string[] {
  const { involvedObject, reason, status, ...rest } = JSON.parse(body || '{}') as Said;
  if (involvedObject !== undefined) return [`tell of a ${involvedObject.kind} ${reason}`];
  const { metadata } = JSON.parse(answer) as { metadata?: { name?: string } };
  if (method === 'POST') return [`create ${path} ${metadata?.name}`];
  const conditions = status?.conditions?.map((each) => `${each.type} ${each.status} ${each.reason}`);
  const [verdicts = [], others] = [
    conditions?.filter((each) => each.startsWith('DisruptionVerdict')),
    conditions?.filter((each) => !each.startsWith('DisruptionVerdict')).sort(),
  ];
  const done = JSON.stringify({ ...rest, status: { ...status, conditions: others } });
  return [...verdicts, `${method} ${path} ${done.replaceAll(/"(resourceVersion|\w*[tT]ime(stamp)?)":"[^"]*"/g, '')}`];
}

/**
 * Controllers one after the other. Each is killed with the first thing it writes that none of them has written before: the
 * API server has carried it out, and the controller does not know. What it has under way besides is carried out unheard too;
 * every third one lives on for a moment without hearing of anything, so that all it does at the same time is done.
 */
function mortals() {
  const options = {
    flags: { kubeconfig: proxy.kubeconfig, 'fake-kubelets': false, 'disable-leader-election': true },
    env: { BATCH_IDLE_DURATION: '200ms' },
  };
  const over = new AbortController();
  const written = new Set<string>();
  let isDying = false;
  let kills = 0;
  proxy.onWrite = (write) => {
    const controller = world.controller();
    const deeds = write.status < 300 ? deedsOf(write) : [];
    const isNew = deeds.some((deed) => !written.has(deed));
    for (const deed of deeds) written.add(deed);
    // What the last one had under way may come when it is dead, or the next has begun.
    if (write.isPosthumous || controller.exit !== undefined) return false;
    if (isNew && !isDying && !over.signal.aborted) {
      isDying = true;
      kills += 1;
      setTimeout(() => process.kill(controller.pid, 'SIGKILL'), kills % 3 === 0 ? deafMs : 0);
    }
    return !isDying;
  };
  const succeed = async (): Promise<void> => {
    while (!over.signal.aborted) {
      // One that is killed before it is ready has done what it was started for.
      await world.start(options).catch(() => {});
      await world.controller().exited();
      proxy.life += 1;
      isDying = false;
    }
  };
  const succession = succeed();
  return {
    kills: () => kills,
    deeds: () => [...written],
    async end(): Promise<void> {
      over.abort();
      await world.controller().kill();
      await succession;
    },
  };
}

const allIsWell = (room: Room): Promise<void> =>
  room.until('all is well', async () => expect(await disorderIn(room, pods)).toEqual([]), patience);

test('killed at every single write, one controller after the other goes on where the last stopped', async () => {
  const controllers = mortals();
  const room = await world.room('mortal');
  await room.pool({
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    requirements: [ofType('c-1x-amd64-linux')],
  });
  await room.deployment('web', { replicas: pods, cpu: '600m', spec: apart('web') });
  await allIsWell(room);

  await room.budget('web', { maxUnavailable: 5 });
  const budget = await watchBudget(world.cluster(), room.name, pods - 5);
  const going = (await room.nodes()).slice(0, leaving).map(({ metadata: { name: node = '' } }) => node);
  await world.api.kubectl('delete', 'nodes', '--wait=false', ...going);
  await room.until(
    'they are gone',
    async () =>
      expect((await room.nodes()).filter(({ metadata: { name: node = '' } }) => going.includes(node))).toEqual([]),
    patience,
  );
  await allIsWell(room);
  expect(await budget.end()).toEqual([]);

  await room.scale('web', pods - leaving);
  await room.until('all is well', async () => expect(await disorderIn(room, pods - leaving)).toEqual([]), patience);
  await controllers.end();
  const deeds = controllers.deeds();
  const times = (deed: RegExp): number => deeds.filter((each) => deed.test(each)).length;
  expect(times(/^create \/apis\/karpenter.sh\/v1\/nodeclaims /)).toBe(pods + leaving);
  expect(times(/^create .*\/eviction /)).toBeGreaterThanOrEqual(leaving);
  expect(times(/^DELETE \/apis\/karpenter.sh\/v1\/nodeclaims\//)).toBe(2 * leaving);
  expect(controllers.kills()).toBeGreaterThan(pods);
});
