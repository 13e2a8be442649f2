import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { counterController } from './counter.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({ controllers: (context) => [counterController(context)] });
});
afterEach(() => bench.close());

const status = async () => (await bench.get(nodePools, 'default'))?.status;
const zeros = { cpu: '0', memory: '0', pods: '0', 'ephemeral-storage': '0', nodes: '0' };
const capacity = { cpu: '4', memory: '8Gi' };

test('an empty NodePool reads as zeros', async () => {
  await bench.pool();
  await bench.run(5_000);
  expect(await status()).toMatchObject({ resources: zeros, nodes: 0 });
});

test('machines add up, resources without a limit included, and other pools do not count', async () => {
  await bench.pool();
  await bench.machine('default', 'a', { capacity: { ...capacity, 'example.com/gpu': '2' } });
  await bench.machine('default', 'b', { capacity });
  await bench.machine('other', 'c', { capacity });
  await bench.machine(undefined, 'd', { capacity });
  await bench.run(5_000);
  expect(await status()).toMatchObject({
    resources: { ...zeros, cpu: '8', memory: '16Gi', nodes: '2', 'example.com/gpu': '2' },
    nodes: 2,
  });
});

test('the count moves from the claim to the node when the node is initialized', async () => {
  await bench.pool();
  await bench.machine('default', 'a', { node: false, capacity });
  await bench.run(5_000);
  expect((await status())?.resources).toMatchObject({ cpu: '4', memory: '8Gi' });
  await bench.machine('default', 'a', { node: { status: { capacity: { cpu: '3900m', memory: '7Gi' } } } as never });
  await bench.run(5_000);
  expect((await status())?.resources).toMatchObject({ cpu: '3900m', memory: '7Gi', nodes: '1' });
});

test('claims not yet launched and machines that leave are not counted', async () => {
  await bench.pool();
  await bench.machine('default', 'launching', { launched: false, node: false, conditions: {} });
  await bench.machine('default', 'leaving', { claim: { metadata: { finalizers: ['example.com/keep'] } } });
  await bench.machine('default', 'marked');
  await bench.remove(nodeClaims, 'leaving');
  bench.context.cluster.mark(['kwok://marked'], true);
  await bench.run(5_000);
  expect(await status()).toMatchObject({ resources: zeros, nodes: 0 });
});

test('the status drops back to zeros when the last node is gone', async () => {
  await bench.pool();
  await bench.machine('default', 'a', { node: false });
  await bench.run(5_000);
  expect(await status()).toMatchObject({ nodes: 1 });
  await bench.remove(nodeClaims, 'a');
  await bench.run(5_000);
  expect(await status()).toMatchObject({ resources: zeros, nodes: 0 });
});

test('a resource that disappeared is no longer reported', async () => {
  await bench.pool();
  await bench.machine('default', 'a', { node: false, capacity: { ...capacity, 'example.com/gpu': '2' } });
  await bench.run(5_000);
  await bench.remove(nodeClaims, 'a');
  await bench.run(5_000);
  expect(Object.keys((await status())?.resources ?? {}).sort()).toEqual(Object.keys(zeros).sort());
});
