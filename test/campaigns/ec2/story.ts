// One run of the first campaign on real components: a fleet that no one asked to end, two replicas, and faults at random
// from a seed, alone and mixed. At the end everything is healed, and the fleet must be whole.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { seeded } from '../../../bench/workloads/random.ts';
import { customResourceDefinition, kinds } from '../../../src/api/index.ts';
import type { AwsCluster } from '../../ec2/aws-cluster.ts';
import { capacity, deployment, nodeClass, pool } from '../../ec2/objects.ts';
import type { Tally } from '../tally.ts';
import { faults, heal, type Stage } from './faults.ts';
import { Ec2Judge } from './judge.ts';
import { ReplicaProcess } from './replica-process.ts';

export interface StoryOptions {
  seed: number;
  /** How long faults go on. */
  faultsMs: number;
  pauseMs: readonly number[];
  /** Only these, in this order, before others are drawn. */
  first?: readonly string[];
  /** Instances of the fleet. */
  nodes: number;
}

/** Large enough for one to fill a machine of eight cores. */
const requests = { cpu: '5', memory: '1Gi' };
const eightCores = { key: 'karpenter.k8s.aws/instance-cpu', operator: 'In', values: ['8'] };

/** A cluster whose definitions are those of a newer version: they allow what this build does not know. */
export async function openStage(cluster: AwsCluster, { replicas = 2, nodes = 0 } = {}): Promise<Stage> {
  await cluster.apply(...kinds.map(customResourceDefinition).map(permissive));
  const judge = new Ec2Judge(cluster);
  const started = await Promise.all(
    Array.from({ length: replicas }, (_, index) => ReplicaProcess.start(`replica${index}`, cluster)),
  );
  for (const replica of started) judge.watch(replica);
  const stage: Stage = { cluster, replicas: started, judge, random: seeded(1), story: [], nodes };
  await Promise.all(started.map((replica) => replica.ready()));
  await cluster.apply(
    nodeClass(),
    pool([capacity('on-demand'), eightCores], { disruption: { consolidateAfter: 'Never' } }),
  );
  await cluster.kubectl('wait', 'ec2nodeclass/default', '--for=condition=Ready', '--timeout=120s');
  if (nodes > 0) await settle(stage);
  return stage;
}

export async function closeStage({ replicas, cluster }: Stage): Promise<void> {
  cluster.aws.listen({});
  for (const replica of replicas) await replica.close();
}

export async function tellStory(stage: Stage, options: StoryOptions): Promise<Tally> {
  const { judge, story } = stage;
  const random = seeded(options.seed);
  const reported: Stage = { ...stage, random, nodes: options.nodes };
  const tell = (what: string): void => void story.push(`${new Date().toISOString().slice(11, 19)} ${what}`);
  await settle(reported);
  const endMs = Date.now() + options.faultsMs;
  const waiting = [...(options.first ?? [])];
  while ((waiting.length > 0 || Date.now() < endMs) && judge.violations.length === 0) {
    const kind = waiting.shift() ?? random.pick(Object.keys(faults));
    judge.tally.add(`faults: ${kind}`);
    tell(await (faults[kind] as (stage: Stage) => Promise<string>)(reported));
    await sleep(random.pick(options.pauseMs));
    // Faults are met alone, or several at a time.
    if (waiting.length === 0 && random.chance(0.4)) {
      await heal(reported);
      tell('all is well');
    }
  }
  await heal(reported);
  tell('peace');
  if (judge.violations.length === 0) await ready(reported);
  judge.tally.add('stories');
  expect(judge.violations, tellingOf(stage, options.seed)).toEqual([]);
  return judge.tally;
}

export function tellingOf({ story, replicas }: Stage, seed: number): string {
  const exits = replicas.map(({ name, exits: ended }) => `${name} ended: ${ended.join(', ') || 'never'}`);
  return [`seed ${seed} (KERF_SEED=${seed} plays it again)`, ...story, ...exits, ''].join('\n');
}

/** The fleet as it is before anything happens: whatever spares young machines does not spare these. */
async function settle(stage: Stage): Promise<void> {
  await stage.cluster.apply(deployment('web', stage.nodes, requests));
  await ready(stage);
  stage.cluster.aws.age({ byMs: 3_600_000 });
}

/** Every pod runs, and instances and claims are the same. */
export async function ready({ cluster, judge, nodes }: Stage): Promise<void> {
  await vi.waitFor(
    async () => {
      if (judge.violations.length > 0) return;
      expect(await cluster.readyReplicas('web')).toBe(nodes);
      const instances = (await cluster.instances())
        .filter(({ State }) => State?.Name === 'running' || State?.Name === 'pending')
        .map(({ InstanceId }) => InstanceId ?? '');
      const claimed = (await judge.claims()).map(({ status }) => status?.providerID?.split('/').at(-1) ?? '');
      expect(claimed.sort()).toEqual(instances.sort());
    },
    { timeout: 420_000, interval: 1_000 },
  );
}

/** Operators are not limited, and the spec of a claim may be changed. */
function permissive(definition: object): object {
  return JSON.parse(JSON.stringify(definition), (key, value: unknown) => {
    if (key === 'x-kubernetes-validations') return undefined;
    const isOperator = key === 'operator' && typeof value === 'object' && value !== null && 'enum' in value;
    return isOperator ? { ...value, enum: undefined } : value;
  }) as object;
}
