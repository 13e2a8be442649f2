// One history of the long outage: the API server, the cloud or both are out of reach for an hour. Meanwhile replicas ask
// seldom; afterwards the cluster is whole again within the time stated here, and nothing that was there is lost.
import { type Played, verdict } from './play.ts';
import { World } from './world.ts';

const hourMs = 3_600_000;
/**
 * Of one replica, while the API server is away: some twenty caches that try every thirty seconds, and the election's tries.
 * In the first minute waits are still short, and the leader starts anew.
 */
const mostApiRequestsPerMinute = 200;
const mostInFirstMinute = 450;
/** Launches that fail are tried ever more rarely, and collections come every two minutes. */
const mostCloudRequestsPerMinute = 60;
/** From the end of the outage until every pod runs: caches wait at most half a minute, pools that kept failing a quarter of an hour. */
const recoveryMs = 17 * 60_000;

export type Away = 'API server' | 'cloud' | 'both';

export async function outage(seed: number, away: Away): Promise<Played> {
  const world = await World.open(seed);
  const { judge, random } = world;
  return verdict(seed, world, async () => {
    let pods = random.between(2, 5);
    await world.deployment('web', pods);
    await world.comesToRest(pods, 600_000);
    const before = new Set(world.room.alive().map(({ instance }) => instance.providerID));
    // In the middle of something, half of the time.
    if (random.chance(0.5)) {
      pods += random.between(1, 3);
      await world.scale('web', pods);
      await world.run(random.between(0, 4_000));
    }
    set(world, away, true);
    world.tell(`${away} out of reach`);
    judge.tally.add(`faults: ${away} away for an hour`);
    if (away === 'cloud') {
      pods += 1;
      await world.scale('web', pods);
    }
    await anHour(world);
    set(world, away, false);
    world.tell(`${away} within reach`);
    const tookMs = await world.comesToRest(pods, recoveryMs);
    world.tell(`whole again after ${tookMs / 1000} s`);
    const after = new Set(world.room.alive().map(({ instance }) => instance.providerID));
    for (const id of before) if (!after.has(id)) judge.violations.push(`machine ${id} was lost`);
  });
}

function set({ replicas }: World, away: Away, isAway: boolean): void {
  for (const { view, door } of replicas) {
    if (away !== 'cloud') {
      view.isCutOff = isAway;
      if (isAway) view.endWatches('Transport');
    }
    if (away !== 'API server') door.mood = isAway ? 'away' : 'well';
  }
}

async function anHour(world: World): Promise<void> {
  const { judge } = world;
  let last = counts(world);
  for (let minute = 0; minute < hourMs / 60_000; minute += 1) {
    await world.run(60_000);
    const now = counts(world);
    now.forEach(({ api, cloud }, index) => {
      judge.tally.add('minutes of requests judged');
      const asked = { api: api - (last[index]?.api ?? 0), cloud: cloud - (last[index]?.cloud ?? 0) };
      if (asked.api > (minute === 0 ? mostInFirstMinute : mostApiRequestsPerMinute))
        judge.violations.push(`minute ${minute}: replica ${index} asked the API server ${asked.api} times`);
      if (asked.cloud > mostCloudRequestsPerMinute)
        judge.violations.push(`minute ${minute}: replica ${index} asked the cloud ${asked.cloud} times`);
    });
    last = now;
  }
}

const counts = ({ replicas }: World): { api: number; cloud: number }[] =>
  replicas.map(({ view, door }) => ({ api: view.requests, cloud: door.requests }));
