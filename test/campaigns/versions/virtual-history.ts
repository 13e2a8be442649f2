// One history of versions in virtual time: definitions and objects of other versions come and go under this build, forwards
// and back. No machine ends for it, and no field of a newer version is lost to our writes.
import { nodeClaims, nodePools } from '../../../src/controllers/index.ts';
import { isKubeError, type KubeObject, type Resource } from '../../../src/ports/index.ts';
import { kwokNodeClasses } from '../../../src/sim/index.ts';
import { type Played, verdict } from '../../scenario/campaigns/play.ts';
import { definitions, World } from '../../scenario/campaigns/world.ts';
import { definitionsOf, type Version, versions } from './definitions.ts';
import { futureSpec, futureStatus, lostFuture } from './future.ts';

const kindsMarked: Resource[] = [nodeClaims, nodePools, kwokNodeClasses];

export async function versionHistory(seed: number): Promise<Played> {
  const world = await World.open(seed);
  const { random, judge } = world;
  return verdict(seed, world, async () => {
    let pods = random.between(2, 4);
    await world.deployment('web', pods);
    await world.comesToRest(pods, 600_000);
    for (let step = random.between(3, 5); step > 0; step -= 1) {
      const version = step === 2 ? 'newer' : random.pick(versions);
      await install(world, version);
      judge.tally.add(`faults: definitions of ${version}`);
      if (version === 'newer') await mark(world);
      if (random.chance(0.6)) world.leader()?.kill();
      await world.run(random.pick([30_000, 90_000]));
      if (random.chance(0.5)) {
        pods = random.between(1, 5);
        await world.scale('web', pods);
      }
      await world.touch();
      await world.run(60_000);
      if (version === 'newer') judge.violations.push(...(await lost(world)));
      if (judge.violations.length > 0) return;
    }
    await install(world, '1.14');
    await world.touch();
    await world.comesToRest(pods, 600_000);
  });
}

async function install(world: World, version: Version): Promise<void> {
  for (const definition of await definitionsOf(version)) {
    const { name } = definition.metadata;
    const { metadata } = await world.cluster.kube.get(definitions, { name });
    const { resourceVersion = '' } = metadata;
    const next = { ...definition, metadata: { name, resourceVersion } };
    await world.cluster.kube.replace(definitions, next);
  }
  world.tell(`definitions of ${version}`);
  await world.run(1_000);
}

/** The other version writes what only it knows. */
async function mark(world: World): Promise<void> {
  await eachObject(world, async (resource, object) => {
    const { kube } = world.cluster;
    const ref = { name: object.metadata.name ?? '' };
    const marked = await kube.replace(resource, futureSpec(object) as KubeObject);
    const status = futureStatus(marked) as { status: object };
    await kube.patch(resource, ref, { type: 'merge', body: { status: status.status } }, { subresource: 'status' });
    world.judge.tally.add('objects marked');
  });
  world.marked = new Set(world.cluster.claims().map(({ metadata }) => metadata.uid ?? ''));
}

async function lost(world: World): Promise<string[]> {
  const problems: string[] = [];
  await eachObject(world, async (resource, object) => {
    // Claims that were made since are ours.
    if (resource.plural === 'nodeclaims' && !world.marked.has(object.metadata.uid ?? '')) return;
    problems.push(...lostFuture(resource.kind, object));
    world.judge.tally.add('objects judged');
  });
  return problems;
}

async function eachObject(
  world: World,
  visit: (resource: Resource, object: KubeObject) => Promise<void>,
): Promise<void> {
  for (const resource of kindsMarked)
    for (const object of (await world.cluster.kube.list(resource)).items)
      for (let attempt = 0; ; attempt += 1) {
        try {
          await visit(
            resource,
            attempt === 0 ? object : await world.cluster.kube.get(resource, { name: object.metadata.name ?? '' }),
          );
          break;
        } catch (error) {
          // Another writer was first, or it is gone.
          if (isKubeError(error, 'NotFound')) break;
          if (!isKubeError(error, 'Conflict') || attempt > 5) throw error;
        }
      }
}
