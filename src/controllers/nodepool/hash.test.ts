import { afterEach, beforeEach, expect, test } from 'vitest';
import { type NodePool, nodePoolHash } from '../../api/index.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { hashController } from './hash.ts';

const hashKey = 'karpenter.sh/nodepool-hash';
const versionKey = 'karpenter.sh/nodepool-hash-version';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({ controllers: (context) => [hashController(context)] });
});
afterEach(() => bench.close());

const annotationsOf = async (kind: 'pool' | 'claim', name: string) =>
  (await bench.get<NodePool>(kind === 'pool' ? nodePools : (nodeClaims as never), name))?.metadata.annotations ?? {};
const machine = (name: string, version: string, conditions: Record<string, string> = {}) =>
  bench.machine('default', name, {
    conditions,
    claim: { metadata: { annotations: { [hashKey]: 'old', [versionKey]: version } } },
  });

test('a NodePool carries the hash of its template and the version of the algorithm', async () => {
  const pool = await bench.pool();
  await bench.run(1_000);
  expect(await annotationsOf('pool', 'default')).toEqual({
    [hashKey]: nodePoolHash(pool.spec.template),
    [versionKey]: 'v3',
  });
});

test('behaviour fields do not change the hash; the template does', async () => {
  await bench.pool();
  await bench.run(1_000);
  const before = await annotationsOf('pool', 'default');
  await bench.pool('default', { spec: { limits: { cpu: '7' }, weight: 3, disruption: { consolidateAfter: '5m' } } });
  await bench.run(1_000);
  expect(await annotationsOf('pool', 'default')).toEqual(before);
  await bench.pool('default', { spec: { template: { metadata: { labels: { team: 'a' } } } } });
  await bench.run(1_000);
  expect((await annotationsOf('pool', 'default'))[hashKey]).not.toBe(before[hashKey]);
});

test('a new version of the algorithm stamps claims anew, except the hash of drifted ones', async () => {
  await machine('stale', 'v2');
  await machine('drifted', 'v2', { Drifted: 'True' });
  await machine('current', 'v3');
  const pool = await bench.pool();
  await bench.run(1_000);
  expect(await annotationsOf('claim', 'stale')).toEqual({
    [hashKey]: nodePoolHash(pool.spec.template),
    [versionKey]: 'v3',
  });
  expect(await annotationsOf('claim', 'drifted')).toEqual({ [hashKey]: 'old', [versionKey]: 'v3' });
  expect(await annotationsOf('claim', 'current')).toEqual({ [hashKey]: 'old', [versionKey]: 'v3' });
});

test('claims are never touched while the versions match', async () => {
  await bench.pool();
  await bench.run(1_000);
  await machine('later', 'v2');
  await bench.pool('default', { spec: { template: { metadata: { labels: { team: 'a' } } } } });
  await bench.run(1_000);
  expect(await annotationsOf('claim', 'later')).toEqual({ [hashKey]: 'old', [versionKey]: 'v2' });
});
