// What goes wrong in the first campaign on real components. Each begins at once and says in words what it was; `heal` ends
// everything that lasts.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../bench/workloads/random.ts';
import type { AwsCluster } from '../../ec2/aws-cluster.ts';
import { type WrongAnswer, wrongAnswers } from './api-door.ts';
import { type Ec2Judge, healthQuestions } from './judge.ts';
import type { ReplicaProcess } from './replica-process.ts';

export interface Stage {
  cluster: AwsCluster;
  replicas: ReplicaProcess[];
  judge: Ec2Judge;
  random: Random;
  story: string[];
  /** Instances that the fleet should have: one per pod. */
  nodes: number;
}

type Fault = (stage: Stage) => string | Promise<string>;

const kindsSeen = ['nodeclaims', 'nodeclaims', 'nodes', 'ec2nodeclasses', '*'];
const anyReplica = ({ replicas, random }: Stage): ReplicaProcess => random.pick(replicas);

export async function leaderOf({ replicas }: Stage): Promise<ReplicaProcess | undefined> {
  for (const replica of replicas) if (await replica.isLeading()) return replica;
  return undefined;
}

/** Half of the time the one that leads: a lie to a standby counts when it takes over. */
async function oftenLeader(stage: Stage): Promise<ReplicaProcess> {
  return (stage.random.chance(0.5) ? await leaderOf(stage) : undefined) ?? anyReplica(stage);
}

const lies = Object.keys(wrongAnswers).map((name): [string, Fault] => [
  `wrong answers: ${name}`,
  async (stage) => {
    const replica = await oftenLeader(stage);
    const plural = stage.random.pick(['nodeclaims', 'nodeclaims', 'nodes', 'ec2nodeclasses', 'nodepools']);
    replica.door.wrong.set(plural, name as WrongAnswer);
    replica.door.expire(plural);
    return `listings of ${plural} are answered to ${replica.name} with: ${name}`;
  },
]);

const awsFaults = (name: string, add: (stage: Stage, accessKeyId: string) => void): [string, Fault] => [
  `EC2 ${name}`,
  async (stage) => {
    const replica = await oftenLeader(stage);
    add(stage, replica.accessKeyId);
    return `EC2 is ${name} for ${replica.name}`;
  },
];

export const faults: Record<string, Fault> = {
  ...Object.fromEntries(lies),
  'frozen watches': async (stage) => {
    const replica = await oftenLeader(stage);
    const plural = stage.random.pick(kindsSeen);
    replica.door.freeze(plural);
    return `${replica.name} hears nothing of ${plural}`;
  },
  relists: (stage) => {
    const replica = anyReplica(stage);
    replica.door.expire();
    return `the history of ${replica.name} expired`;
  },
  'cut watches': (stage) => {
    const replica = anyReplica(stage);
    replica.door.cut();
    return `watches of ${replica.name} are cut`;
  },
  'leader killed': async (stage) => {
    const leader = await leaderOf(stage);
    leader?.signal('SIGKILL');
    return `${leader?.name ?? 'no replica'} is killed`;
  },
  'leader stopped': async (stage) => {
    const leader = await leaderOf(stage);
    leader?.signal('SIGTERM');
    return `${leader?.name ?? 'no replica'} is asked to stop`;
  },
  'leader frozen': async (stage) => {
    const leader = await leaderOf(stage);
    leader?.signal('SIGSTOP');
    setTimeout(() => leader?.signal('SIGCONT'), 20_000).unref();
    return `${leader?.name ?? 'no replica'} stands still for 20 s`;
  },
  'leader cut off': async (stage) => {
    const leader = await leaderOf(stage);
    if (leader === undefined) return 'no replica leads';
    leader.door.isShut = true;
    leader.door.cut();
    return `${leader.name} is cut off`;
  },
  'lease lost with AWS calls under way': (stage) =>
    loseLease(stage, ({ door }) => {
      door.isShut = true;
      door.cut();
    }),
  'frozen with AWS calls under way': (stage) =>
    loseLease(stage, (leader) => {
      leader.signal('SIGSTOP');
      setTimeout(() => leader.signal('SIGCONT'), 18_000).unref();
    }),
  ...Object.fromEntries([
    awsFaults('late', ({ cluster }, accessKeyId) =>
      cluster.aws.addFault({ action: '*', service: 'ec2', accessKeyId, delayMs: 6_000, count: 12 }),
    ),
    awsFaults('stalled', ({ cluster }, accessKeyId) =>
      cluster.aws.addFault({ action: '*', service: 'ec2', accessKeyId, stall: true, count: 2 }),
    ),
    awsFaults('silent', ({ cluster }, accessKeyId) =>
      cluster.aws.addFault({ action: '*', service: 'ec2', accessKeyId, hang: true, count: 2 }),
    ),
    awsFaults('throttled', ({ cluster }, accessKeyId) =>
      cluster.aws.addFault({
        action: '*',
        service: 'ec2',
        accessKeyId,
        code: 'RequestLimitExceeded',
        status: 503,
        count: 12,
      }),
    ),
    awsFaults('eventually consistent', ({ cluster }, accessKeyId) =>
      cluster.aws.setBlindSpot({ accessKeyId, forMs: 60_000 }),
    ),
    awsFaults('denying everything', ({ cluster }, accessKeyId) =>
      cluster.aws.setBlindSpot({ accessKeyId, forMs: 86_400_000 }),
    ),
  ]),
  'EC2 wrong about health': async (stage) => {
    const { aws } = stage.cluster;
    const ids = (await stage.cluster.instances()).map(({ InstanceId }) => InstanceId ?? '');
    const health = {
      systemStatus: 'impaired' as const,
      impairedSince: new Date(Date.now() - 600_000).toISOString(),
      events: [{ code: 'instance-stop', notBefore: new Date(Date.now() + 120_000).toISOString() }],
    };
    for (const instanceId of ids) aws.setHealth({ instanceId, ...health });
    // A look is three questions, once a minute; the next one, ten seconds later, is answered with the truth.
    const [seen, endMs] = [stage.judge.tally.of(healthQuestions), Date.now() + 75_000];
    while (Date.now() < endMs && stage.judge.tally.of(healthQuestions) < seen + 3) await sleep(100);
    await sleep(1_000);
    for (const instanceId of ids) aws.setHealth({ instanceId });
    return 'EC2 says once that every instance is impaired and about to stop';
  },
  'unparsable claims': async (stage) => {
    const claims = await stage.judge.claims();
    if (claims.length === 0) return 'no claim to make unparsable';
    const { metadata } = stage.random.pick(claims);
    await rewriteClaim(stage, metadata.name ?? '', true);
    return `NodeClaim ${metadata.name} cannot be parsed any more`;
  },
  'etcd restored': async (stage) => {
    const { controlPlane } = stage.cluster;
    const backup = await controlPlane.backUp();
    await sleep(stage.random.pick([2_000, 8_000]));
    await controlPlane.restore(backup);
    const alive = new Set((await stage.cluster.instances()).map(({ InstanceId }) => InstanceId));
    for (const { metadata, status } of await stage.judge.claims())
      if (!alive.has(status?.providerID?.split('/').at(-1))) stage.judge.givenUp.add(metadata.name ?? '');
    return 'etcd is what it was before';
  },
};

/** Launches and tags are on their way, late and refused, and more of them wait their turn, when the lease goes. */
async function loseLease(stage: Stage, lose: (leader: ReplicaProcess) => void): Promise<string> {
  const leader = await leaderOf(stage);
  if (leader === undefined) return 'no replica leads';
  const { accessKeyId } = leader;
  for (const action of ['CreateFleet', 'CreateTags', 'CreateLaunchTemplate'])
    stage.cluster.aws.addFault({
      action,
      accessKeyId,
      delayMs: 4_000,
      code: 'RequestLimitExceeded',
      status: 503,
      count: 200,
    });
  stage.nodes += 1;
  await stage.cluster.kubectl('scale', 'deployment', 'web', `--replicas=${stage.nodes}`);
  await sleep(3_000);
  lose(leader);
  await sleep(22_000);
  return `${leader.name} loses its lease with AWS calls under way`;
}

/** Everything that lasts comes to its end. */
export async function heal(stage: Stage): Promise<void> {
  const { cluster, replicas } = stage;
  cluster.aws.clearFaults();
  for (const { door, accessKeyId } of replicas) {
    cluster.aws.setBlindSpot({ accessKeyId, forMs: 0 });
    door.heal();
    door.expire();
  }
  for (const { metadata } of await stage.judge.claims()) await rewriteClaim(stage, metadata.name ?? '', false);
}

/**
 * A claim as a newer build leaves it: an operator that this one does not know. The campaign's definitions allow it and let
 * anybody change the spec of a claim.
 */
async function rewriteClaim({ cluster }: Stage, name: string, isUnparsable: boolean): Promise<void> {
  const path = `/apis/karpenter.sh/v1/nodeclaims/${name}`;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { status, body } = await cluster.controlPlane.request('GET', path);
    if (status === 404) return;
    const claim = body as { spec: { requirements: { operator: string }[] } };
    const sound = claim.spec.requirements.filter(({ operator }) => operator !== 'Near');
    const more = isUnparsable ? [{ key: 'example.com/new', operator: 'Near', values: ['a'] }] : [];
    if (!isUnparsable && sound.length === claim.spec.requirements.length) return;
    const next = { ...claim, spec: { ...claim.spec, requirements: [...sound, ...more] } };
    const answer = await cluster.controlPlane.request('PUT', path, next);
    if (answer.status < 300) return;
    if (answer.status !== 409) throw new Error(`cannot rewrite NodeClaim ${name}: ${JSON.stringify(answer.body)}`);
  }
}
