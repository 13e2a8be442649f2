// One history of clock fuzzing: the clocks of replicas are set forwards and back, stand still and drift apart, against each
// other, the API server and the cloud. At most one replica writes at a time, no fleet expires because a clock is wrong, and
// when clocks are right again nothing is churned.
import type { Random } from '../../../bench/workloads/random.ts';
import { type Played, verdict } from './play.ts';
import type { Replica } from './replica.ts';
import { World } from './world.ts';

const secondMs = 1_000;
const dayMs = 86_400_000;
const stepsMs = [2, 20, 120, 3_600].map((seconds) => seconds * secondMs).concat([dayMs, 40 * dayMs, 400 * dayMs]);

type ClockFault = (replica: Replica, random: Random, world: World) => string;

export const clockFaults: Record<string, ClockFault> = {
  'clock set forwards': ({ clock, name }, random) => {
    const byMs = random.pick(stepsMs);
    clock.offsetMs += byMs;
    return `the clock of ${name} is set ${byMs / 1000} s forwards`;
  },
  'clock set back': ({ clock, name }, random) => {
    const byMs = random.pick(stepsMs);
    clock.offsetMs -= byMs;
    return `the clock of ${name} is set ${byMs / 1000} s back`;
  },
  'clock set right': ({ clock, name }) => {
    clock.offsetMs = 0;
    return `the clock of ${name} is right`;
  },
  'one wrong sample': ({ clock, name }, random, world) => {
    const byMs = random.pick(stepsMs);
    clock.offsetMs += byMs;
    world.clock.after(50, () => {
      clock.offsetMs -= byMs;
    });
    return `the clock of ${name} is ${byMs / 1000} s ahead for 50 ms`;
  },
  'process frozen': ({ clock, name }, random) => {
    const forMs = random.pick([3_000, 12_000, 30_000, 300_000]);
    clock.freeze(forMs);
    return `${name} stands still for ${forMs / 1000} s`;
  },
};

/** Long enough for whatever a wrong clock began to be seen. */
const calmMs = 15 * 60_000;

export async function clocks(seed: number): Promise<Played> {
  const world = await World.open(seed, { pool: { template: { expireAfter: '720h' } } });
  const { random, judge } = world;
  return verdict(seed, world, async () => {
    const pods = random.between(2, 4);
    world.room.skewMs = random.pick([0, 0, -120_000, 120_000]);
    await world.deployment('web', pods);
    await world.comesToRest(pods, 600_000);
    for (let step = random.between(4, 8); step > 0; step -= 1) {
      const kind = random.pick(Object.keys(clockFaults));
      judge.tally.add(`faults: ${kind}`);
      world.tell((clockFaults[kind] as ClockFault)(random.pick(world.replicas), random, world));
      await world.run(random.pick([100, 5_000, 20_000, 90_000]));
      await world.touch();
      await world.run(random.pick([100, 5_000, 20_000, 200_000]));
      if (judge.violations.length > 0) return;
    }
    for (const { clock } of world.replicas) clock.offsetMs = 0;
    world.tell('every clock is right');
    await world.touch();
    await world.run(calmMs);
    await world.comesToRest(pods, 600_000);
  });
}
