// The soak in virtual time: weeks of a cluster whose nodes come and go, by scaling, consolidation and expiry, while caches list
// again, watches break, claims are deleted by their owners, machines vanish, pools are made and removed, and processes start anew. At
// the same point of every round the whole process is looked at: no Map, no Set and not the heap may have grown.
import { nodePools } from '../../../src/controllers/index.ts';
import { growth, type Sample } from '../../campaigns/soak/flatness.ts';
import { held } from '../../campaigns/soak/held.mjs';
import { nodeClassRef } from '../harness/scenario.ts';
import { type Played, verdict } from './play.ts';
import { World } from './world.ts';

const hourMs = 3_600_000;
/** What is filled once is full after these. */
const warmUpRounds = 3;

export interface SoakLength {
  rounds: number;
  /** Of simulated time, each. */
  hours: number;
}

export async function soak(seed: number, { rounds, hours }: SoakLength): Promise<Played> {
  const world = await World.open(seed, {
    replicas: 1,
    pool: {
      disruption: { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] },
      template: { expireAfter: '13h' },
    },
  });
  const { judge } = world;
  return verdict(seed, world, async () => {
    const samples: Sample[] = [];
    await world.deployment('web', 1);
    for (let round = 0; round < rounds && judge.violations.length === 0; round += 1) {
      await churn(world, round, hours * hourMs);
      tidy(world);
      const sample = await held();
      if (round >= warmUpRounds) samples.push(sample);
      judge.tally.add('rounds');
      judge.tally.add('simulated hours', hours);
    }
    judge.tally.add('samples', samples.length);
    judge.tally.add('shapes of maps and sets', shapesOf(samples.at(-1)));
    judge.violations.push(...growth(samples.map((sample) => ({ ...sample, rss: 0, descriptors: 0 }))));
  });
}

/** Busy at first, then quiet until the end. */
async function churn(world: World, round: number, roundMs: number): Promise<void> {
  const { judge, random, cluster } = world;
  const startMs = world.clock.now();
  const launched = world.room.machines.size;
  const pool = `extra-${round}`;
  await cluster.kube.create(nodePools, {
    metadata: { name: pool },
    spec: { template: { spec: { nodeClassRef, requirements: [], expireAfter: 'Never' } }, disruption: {} },
  });
  const most = 4 + random.between(0, 2);
  await world.scale('web', most);
  await world.comesToRest(most, 1_200_000);
  for (const replica of world.replicas) replica.view.endWatches(random.pick(['Expired', 'Transport'] as const));
  judge.tally.add('faults: relists');
  const [claim] = cluster.claims();
  if (claim !== undefined) {
    await world.deleteClaim(claim.metadata.name ?? '');
    judge.tally.add('faults: claims deleted by their owner');
  }
  await world.comesToRest(most, 1_200_000);
  const [machine] = world.room.alive();
  if (machine !== undefined) {
    machine.isTerminated = true;
    judge.tally.add('faults: machines that vanish');
  }
  await world.run(20 * 60_000);
  await world.comesToRest(most, 1_200_000);
  // The first is killed before samples count: what is left of the last one that ended, as long as the test lives, is no growth.
  if (round === 0 || random.chance(0.3)) {
    world.leader()?.kill();
    judge.tally.add('faults: leaders killed');
  }
  await world.touch();
  await world.scale('web', 1);
  await world.comesToRest(1, 1_800_000);
  await cluster.kube.delete(nodePools, { name: pool });
  judge.tally.add('machines launched', world.room.machines.size - launched);
  await world.run(Math.max(0, startMs + roundMs - world.clock.now()));
  await world.comesToRest(1, 1_800_000);
}

/** What the campaign itself keeps. */
function tidy(world: World): void {
  for (const { log, events } of world.replicas) {
    log.lines.length = 0;
    events.list.length = 0;
  }
  world.story.length = 0;
  for (const [id, { isTerminated }] of world.room.machines) if (isTerminated) world.room.machines.delete(id);
}

const shapesOf = (sample: Sample | undefined): number =>
  sample === undefined ? 0 : Object.keys(sample.maps).length + Object.keys(sample.sets).length;
