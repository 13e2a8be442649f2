// One history of the first campaign: a fleet that no one asked to end, two replicas, and everything that can be wrong with
// what they see. Drawn from a seed; the judge looks on, and at the end the fleet must be whole.
import type { Random } from '../../../bench/workloads/random.ts';
import { finalizer, label } from '../../../src/api/index.ts';
import { isKubeError, resources } from '../../../src/ports/index.ts';
import type { CloudMood } from './cloud-door.ts';
import { type Played, verdict } from './play.ts';
import type { Replica } from './replica.ts';
import { World } from './world.ts';

/** What can go wrong; each returns what it was, in words. */
type Fault = (world: World, random: Random) => string | Promise<string>;

const kindsSeen = ['nodeclaims', 'nodes', 'nodepools', '*'];
const lyingKinds = ['nodeclaims', 'nodeclaims', 'nodes', 'nodepools'];

const anyReplica = ({ replicas }: World, random: Random): Replica => random.pick(replicas);
const away = (random: Random): number => random.pick([5_000, 20_000, 60_000, 200_000]);

export const faults: Record<string, Fault> = {
  'frozen watches': (world, random) => {
    const replica = anyReplica(world, random);
    const kind = random.pick(kindsSeen);
    replica.view.frozen.add(kind);
    // Longer than a claim may take to launch: what a cache still shows then is no reason to give it up.
    world.clock.after(random.pick([5_000, 20_000, 60_000, 200_000, 600_000]), () => replica.view.thaw());
    return `${replica.name} hears nothing of ${kind}`;
  },
  'empty lists': (world, random) => lie(world, random, 'empty'),
  'truncated lists': (world, random) => lie(world, random, 'truncated'),
  relists: (world, random) => {
    const replica = anyReplica(world, random);
    replica.view.endWatches('Expired');
    return `the history of ${replica.name} expired`;
  },
  'cut watches': (world, random) => {
    const replica = anyReplica(world, random);
    replica.view.endWatches('Transport');
    return `watches of ${replica.name} are cut`;
  },
  'unparsable claims': async (world, random) => {
    const names = world.cluster.claims().map(({ metadata }) => metadata.name ?? '');
    if (names.length === 0) return 'no claim to make unparsable';
    const name = random.pick(names);
    await makeUnparsable(world, name);
    return `NodeClaim ${name} cannot be parsed any more`;
  },
  'foreign Nodes': async (world, random) => {
    const registered = world.cluster.claims().filter(({ status }) => Boolean(status?.nodeName));
    if (registered.length === 0) return 'no machine for a Node to name';
    const { metadata, status } = random.pick(registered);
    const { providerID = '' } = status ?? {};
    const name = `${foreign}${world.clock.now()}`;
    const { [label.nodePool]: pool = '' } = metadata.labels ?? {};
    const labels = {
      [label.nodePool]: pool,
      [label.instanceType]: 'foreign',
      'karpenter.kwok.sh/kwoknodeclass': 'default',
    };
    const node = { metadata: { name, labels, finalizers: [finalizer.termination] }, spec: { providerID } };
    await world.cluster.kube.create(resources.nodes, node);
    // Its owner takes it away again: that ends nothing else.
    world.clock.after(random.pick([2_000, 20_000, 60_000]), () => void removeNode(world, name));
    return `Node ${name} joins and names the machine of NodeClaim ${metadata.name}`;
  },
  'etcd restored': async (world, random) => {
    const backup = world.cluster.backup();
    await world.run(random.pick([5_000, 30_000, 120_000]));
    await world.restore(backup);
    return 'etcd is what it was before';
  },
  'leader killed': (world) => {
    const leader = world.leader();
    leader?.kill();
    return `${leader?.name ?? 'no replica'} is killed`;
  },
  'leader stopped': (world) => {
    const leader = world.leader();
    leader?.stop();
    return `${leader?.name ?? 'no replica'} is asked to stop`;
  },
  'leader frozen': (world, random) => {
    const leader = world.leader();
    leader?.clock.freeze(random.pick([8_000, 18_000, 40_000]));
    return `${leader?.name ?? 'no replica'} stands still`;
  },
  'leader cut off': (world, random) => {
    const leader = world.leader();
    if (leader === undefined) return 'no replica leads';
    leader.view.isCutOff = true;
    leader.view.endWatches('Transport');
    world.clock.after(away(random), () => {
      leader.view.isCutOff = false;
    });
    return `${leader.name} is cut off`;
  },
  'EC2 late': (world, random) => mood(world, random, 'late'),
  'EC2 stalled': (world, random) => mood(world, random, 'stalled'),
  'EC2 throttled': (world, random) => mood(world, random, 'throttled'),
  'EC2 eventually consistent': (world, random) => mood(world, random, 'forgetful'),
  'EC2 lists nothing': (world, random) => mood(world, random, 'empty'),
  'EC2 denies everything': (world, random) => mood(world, random, 'denying'),
};

const foreign = 'foreign-';

const removeNode = (world: World, name: string): Promise<unknown> =>
  world.cluster.kube.delete(resources.nodes, { name }).catch(ignoreGone);

function lie(world: World, random: Random, what: 'empty' | 'truncated'): string {
  const replica = anyReplica(world, random);
  const kind = random.pick(lyingKinds);
  replica.view.lies.set(kind, what);
  replica.view.endWatches('Expired');
  world.clock.after(random.pick([2_000, 10_000, 40_000]), () => {
    replica.view.lies.delete(kind);
    replica.view.endWatches('Expired');
  });
  return `listings of ${kind} are ${what} for ${replica.name}`;
}

function mood(world: World, random: Random, what: CloudMood): string {
  const replica = anyReplica(world, random);
  replica.door.mood = what;
  world.clock.after(away(random), () => {
    replica.door.mood = 'well';
  });
  return `the cloud is ${what} for ${replica.name}`;
}

/** As a newer build would leave it: an operator that ours does not know. The stored schema of the campaign allows it. */
async function makeUnparsable(world: World, name: string): Promise<void> {
  world.cluster.rewrite('nodeclaims.karpenter.sh', name, (claim) => {
    const spec = claim['spec'] as { requirements: object[] };
    return {
      ...claim,
      spec: {
        ...spec,
        requirements: [...spec.requirements, { key: 'example.com/new', operator: 'Near', values: ['a'] }],
      },
    };
  });
}

const steps = { least: 5, most: 9 };
const pauses = [1_000, 5_000, 15_000, 35_000, 60_000, 180_000];

export async function liveMachines(seed: number, only?: readonly string[]): Promise<Played> {
  const world = await World.open(seed, { bootMs: seed % 3 === 0 ? 30_000 : 5_000 });
  const { random, judge } = world;
  const kinds = Object.keys(faults).filter((name) => only?.includes(name) ?? true);
  let pods = random.between(2, 5);
  return verdict(seed, world, async () => {
    await world.deployment('web', pods);
    await world.run(random.pick([10_000, 45_000, 90_000]));
    for (let step = random.between(steps.least, steps.most); step > 0; step -= 1) {
      if (random.chance(0.75)) {
        const kind = random.pick(kinds);
        judge.tally.add(`faults: ${kind}`);
        world.tell(await (faults[kind] as Fault)(world, random));
      } else {
        pods = await act(world, random, pods);
      }
      await world.run(random.pick(pauses));
      if (judge.violations.length > 0) return;
    }
    await rest(world, pods);
  });
}

/** What owners do meanwhile. */
async function act(world: World, random: Random, pods: number): Promise<number> {
  const kind = random.below(3);
  if (kind === 0) {
    const next = random.between(1, 6);
    await world.scale('web', next);
    world.tell(`web is scaled to ${next}`);
    return next;
  }
  const names = world.cluster
    .claims()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name ?? '');
  if (kind === 1 && names.length > 0) {
    const name = random.pick(names);
    await world.deleteClaim(name);
    world.tell(`NodeClaim ${name} is deleted by its owner`);
    return pods;
  }
  const [pod] = random.shuffled((await world.cluster.kube.list(resources.pods)).items);
  if (pod !== undefined) {
    const ref = { name: pod.metadata.name ?? '', namespace: pod.metadata.namespace ?? '' };
    await world.cluster.kube.delete(resources.pods, ref).catch(ignoreGone);
    world.tell(`pod ${ref.name} is deleted`);
  }
  return pods;
}

function ignoreGone(error: unknown): void {
  if (!isKubeError(error, 'NotFound')) throw error;
}

/** All is well again: what was unparsable is put right, and the fleet comes to rest, whole. */
async function rest(world: World, pods: number): Promise<void> {
  const { cluster } = world;
  world.tell('peace');
  for (const replica of world.replicas) {
    replica.view.lies.clear();
    replica.view.isCutOff = false;
    replica.view.thaw();
    replica.view.endWatches('Expired');
    replica.door.mood = 'well';
  }
  // A restored backup may have brought some back.
  for (const { metadata } of cluster.nodes())
    if (metadata.name?.startsWith(foreign) === true) await removeNode(world, metadata.name);
  for (const { metadata } of cluster.claims())
    cluster.rewrite('nodeclaims.karpenter.sh', metadata.name ?? '', parsable);
  await world.comesToRest(pods, 20 * 60_000);
}

function parsable(claim: Record<string, unknown>): Record<string, unknown> {
  const spec = claim['spec'] as { requirements: { operator: string }[] };
  return { ...claim, spec: { ...spec, requirements: spec.requirements.filter(({ operator }) => operator !== 'Near') } };
}
