// Definitions and objects of other versions under this build, forwards and back, on real components: no instance is
// terminated, no field of a newer version is lost, and at rest nothing is written again and again.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seeded } from '../../../bench/workloads/random.ts';
import { useAwsCluster } from '../../ec2/aws-cluster.ts';
import type { Stage } from '../ec2/faults.ts';
import { closeStage, openStage, ready, tellingOf } from '../ec2/story.ts';
import { freshSeeds } from '../seeds.ts';
import { definitionsOf, type Version, versions } from './definitions.ts';
import { futureSpec, futureStatus, lostFuture } from './future.ts';

const cluster = useAwsCluster({}, { isIdle: true });
let stage: Stage;
beforeAll(async () => {
  stage = await openStage(cluster, { replicas: 1, nodes: 2 });
}, 300_000);
afterAll(() => closeStage(stage), 60_000);

const paths = {
  NodeClaim: '/apis/karpenter.sh/v1/nodeclaims',
  NodePool: '/apis/karpenter.sh/v1/nodepools',
  EC2NodeClass: '/apis/karpenter.k8s.aws/v1/ec2nodeclasses',
};
/** Two looks of every collection, ten seconds apart. */
const lookMs = 22_000;
/** What a process that has come to rest still writes in ten seconds: its lease, and now and then a condition. */
const mostWritesAtRest = 40;

test('versions come and go, no instance ends and no unknown field is lost', async () => {
  const [seed = 1] = freshSeeds('versions on EC2', 1);
  const order = [...seeded(seed).shuffled(versions), 'newer', '1.14'] as const;
  const [replica] = stage.replicas;
  if (replica === undefined) throw new Error('no replica was started');
  for (const version of order) {
    await install(version);
    stage.story.push(`${new Date().toISOString().slice(11, 19)} definitions of ${version}`);
    stage.judge.tally.add(`faults: definitions of ${version}`);
    if (version === 'newer') await eachObject(mark);
    replica.signal('SIGTERM');
    await sleep(3_000);
    await replica.ready();
    await sleep(lookMs);
    const before = replica.door.writes;
    await sleep(10_000);
    const writes = replica.door.writes - before;
    const problems: string[] = [];
    if (writes > mostWritesAtRest) problems.push(`${writes} writes in ten seconds with definitions of ${version}`);
    if (version === 'newer')
      await eachObject(async (kind, _path, object) => {
        problems.push(...lostFuture(kind, object));
        stage.judge.tally.add('objects judged');
      });
    expect(
      [...stage.judge.violations, ...problems],
      `${tellingOf(stage, seed)}${replica.output.slice(-3_000)}`,
    ).toEqual([]);
  }
  await ready(stage);
  stage.judge.tally.print('versions on EC2');
});

async function install(version: Version): Promise<void> {
  for (const definition of await definitionsOf(version))
    await rewrite(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`, (stored) => ({
      ...stored,
      spec: definition.spec,
    }));
  await cluster.kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s');
  // The API server takes a moment to serve by a new schema.
  await sleep(2_000);
}

/** Until it is stored: for a moment the API server still drops what the last definition did not have. */
async function mark(kind: string, path: string): Promise<void> {
  for (let attempt = 0; attempt < 40; attempt += 1) {
    await rewrite(path, futureSpec);
    await rewrite(path, futureStatus, '/status');
    const { body } = await cluster.controlPlane.request('GET', path);
    if (lostFuture(kind, body as object).length === 0) {
      stage.judge.tally.add('objects marked');
      return;
    }
    await sleep(500);
  }
  throw new Error(`the API server does not keep unknown fields of ${path}`);
}

async function eachObject(visit: (kind: string, path: string, object: object) => Promise<void>): Promise<void> {
  for (const [kind, path] of Object.entries(paths))
    for (const object of await stage.judge.list<{ metadata: { name: string } }>(path))
      await visit(kind, `${path}/${object.metadata.name}`, object);
}

async function rewrite(path: string, change: (object: object) => object, subresource = ''): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { body } = await cluster.controlPlane.request('GET', path);
    const answer = await cluster.controlPlane.request('PUT', `${path}${subresource}`, change(body as object));
    if (answer.status < 300) return;
    if (answer.status !== 409) throw new Error(`cannot rewrite ${path}: ${JSON.stringify(answer.body)}`);
  }
  throw new Error(`cannot rewrite ${path}: conflict after conflict`);
}
