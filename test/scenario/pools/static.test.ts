import { afterEach, expect, test } from 'vitest';
import { nodeClaims, nodePools } from '../../../src/controllers/index.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

let scenario: Scenario;
afterEach(() => scenario.close());

const gates = { settings: { featureGates: { StaticCapacity: true } } };
const small = {
  requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['c-4x-amd64-linux'] }],
};
const staticPool = (replicas: number, more: object = {}) => scenario.pool('static', { replicas, ...more }, small);
const scaleTo = (replicas: number) =>
  scenario.kube.patch(nodePools, { name: 'static' }, { type: 'merge', body: { spec: { replicas } } });
const readyNodes = async (): Promise<number> =>
  (await scenario.nodes()).filter(({ metadata }) => metadata.labels?.['karpenter.sh/initialized'] === 'true').length;
const hasNodes = (count: number) => async (): Promise<boolean> =>
  (await readyNodes()) === count && (await scenario.claims()).length === count;

test('a static pool has its nodes ready before any pod asks, and pods use them', async () => {
  scenario = await openScenario({ ...gates, bootTime: '20s' });
  await staticPool(3);
  await scenario.until('three nodes', hasNodes(3));
  await scenario.deployment('web', 6);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 6);
  expect(await scenario.claims()).toHaveLength(3);
  expect((await scenario.find(nodePools, 'static'))?.status).toMatchObject({ nodes: 3, resources: { cpu: '12' } });
});

test('a deleted claim of a static pool is replaced while its node still drains', async () => {
  scenario = await openScenario(gates);
  await staticPool(2);
  await scenario.until('two nodes', hasNodes(2));
  const [gone] = await scenario.claims();
  await scenario.kube.delete(nodeClaims, { name: gone?.metadata.name ?? '' });
  await scenario.run(1_000);
  const names = async () => (await scenario.claims()).map(({ metadata }) => metadata.name);
  expect(await names()).toHaveLength(3);
  expect(await names()).toContain(gone?.metadata.name);
  await scenario.until('two other nodes', hasNodes(2));
  expect(await names()).not.toContain(gone?.metadata.name);
});

test('a static pool scaled to zero has no nodes left, and grows again', async () => {
  scenario = await openScenario(gates);
  await staticPool(4);
  await scenario.until('four nodes', hasNodes(4));
  await scaleTo(0);
  await scenario.until('no node', async () => (await scenario.nodes()).length === 0 && (await hasNodes(0)()));
  await scaleTo(2);
  await scenario.until('two nodes', hasNodes(2));
});

test('a static pool never exceeds its node limit', async () => {
  scenario = await openScenario(gates);
  await staticPool(5, { limits: { nodes: '3' } });
  for (let second = 0; second < 120; second += 1) {
    await scenario.run(1_000);
    expect((await scenario.claims()).length).toBeLessThanOrEqual(3);
  }
  expect(await readyNodes()).toBe(3);
});

test('a process that dies while a static pool grows leaves it neither short nor over', async () => {
  scenario = await openScenario({ ...gates, bootTime: '10s' });
  await staticPool(5);
  await scenario.run(1_500);
  scenario.process.kill();
  await scenario.run(5_000);
  await scenario.restart();
  await scenario.until('five nodes', hasNodes(5));
  await scenario.run(120_000);
  expect(await scenario.claims()).toHaveLength(5);
});

test('without its gate a static pool gets nothing, and no pod is placed on it', async () => {
  scenario = await openScenario();
  await staticPool(2);
  await scenario.deployment('web', 1);
  await scenario.run(120_000);
  expect(await scenario.claims()).toEqual([]);
});

test('a deleted NodePool takes its claims and nodes along', async () => {
  scenario = await openScenario(gates);
  await staticPool(2);
  await scenario.until('two nodes', hasNodes(2));
  await scenario.kube.delete(nodePools, { name: 'static' });
  await scenario.until('no node', async () => (await scenario.nodes()).length === 0 && (await hasNodes(0)()));
});
