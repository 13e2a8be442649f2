import { afterEach, beforeEach, expect, test } from 'vitest';
import { conditionOf, type NodeClaim } from '../../../src/api/index.ts';
import { nodeClaims } from '../../../src/controllers/index.ts';
import { resources } from '../../../src/ports/index.ts';
import { kwokNodeClasses } from '../../../src/sim/index.ts';
import { disorder } from '../harness/order.ts';
import { nodeClassRef, openScenario, type Scenario } from '../harness/scenario.ts';

let scenario: Scenario;
beforeEach(async () => {
  scenario = await openScenario({ bootTime: '5s' });
});
afterEach(() => scenario.close());

const condition = async (name: string, type: string) =>
  conditionOf((await scenario.find(nodeClaims, name))?.status?.conditions, type);

test('a claim made by hand becomes a node, and both go when it is deleted', async () => {
  const requirements = [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['c-2x-amd64-linux'] }];
  await scenario.kube.create(nodeClaims, {
    metadata: { name: 'mine' },
    spec: { nodeClassRef, requirements },
  } as unknown as NodeClaim);
  await scenario.until('it is ready', async () => (await condition('mine', 'Ready'))?.status === 'True', 60_000);
  expect(await disorder(scenario, 0)).toEqual([]);
  await scenario.kube.delete(nodeClaims, { name: 'mine' });
  await scenario.until('it is gone', async () => (await scenario.claims()).length === 0, 60_000);
  expect(await scenario.nodes()).toEqual([]);
});

test('a node with startup taints takes pods only after somebody removed them', async () => {
  await scenario.pool('default', {}, { startupTaints: [{ key: 'example.com/agent', effect: 'NoSchedule' }] });
  await scenario.deployment('web', 1);
  await scenario.run(60_000);
  const [claim] = await scenario.claims();
  const name = claim?.metadata.name ?? '';
  expect(await scenario.readyPods('web')).toEqual([]);
  expect(await condition(name, 'Initialized')).toMatchObject({
    reason: 'StartupTaintsExist',
    message: 'StartupTaint "example.com/agent:NoSchedule" still exists',
  });
  const [node] = await scenario.nodes();
  const patch = { type: 'merge', body: { spec: { taints: [] } } } as const;
  await scenario.kube.patch(resources.nodes, { name: node?.metadata.name ?? '' }, patch);
  await scenario.until('the pod runs', async () => (await scenario.readyPods('web')).length === 1, 60_000);
  expect(await disorder(scenario, 1)).toEqual([]);
  expect(await scenario.nodes()).toHaveLength(1);
});

test('a claim whose node never comes is given up after a quarter of an hour, and its pods get another', async () => {
  await scenario.pool();
  const create = scenario.kube.create.bind(scenario.kube);
  scenario.kube.create = async (resource, object, options) => {
    if (resource.plural === 'nodes') throw new Error('this machine does not boot');
    return create(resource, object, options);
  };
  await scenario.deployment('web', 1);
  await scenario.run(60_000);
  const [first] = await scenario.claims();
  expect(await condition(first?.metadata.name ?? '', 'Registered')).toMatchObject({ reason: 'NodeNotFound' });
  await scenario.run(780_000);
  expect((await scenario.claims()).map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
  scenario.kube.create = create;
  await scenario.process.stop();
  await scenario.restart();
  await scenario.until('the pod runs', async () => (await scenario.readyPods('web')).length === 1);
  expect(await disorder(scenario, 1)).toEqual([]);
});

test('pods wait while there is no node class, and get their node once there is one', async () => {
  await scenario.kube.delete(kwokNodeClasses, { name: 'default' });
  await scenario.pool();
  await scenario.deployment('web', 1);
  await scenario.run(120_000);
  expect(await scenario.claims()).toEqual([]);
  await scenario.kube.create(kwokNodeClasses, { metadata: { name: 'default' }, spec: {} });
  await scenario.until('the pod runs', async () => (await scenario.readyPods('web')).length === 1);
});

test('a node that expires is replaced and its pods move', async () => {
  await scenario.pool('default', {}, { expireAfter: '10m' });
  await scenario.deployment('web', 3);
  await scenario.until('the pods run', async () => (await scenario.readyPods('web')).length === 3);
  const before = new Set((await scenario.nodes()).map(({ metadata }) => metadata.name));
  await scenario.run(600_000);
  await scenario.until('all is well again', async () => (await disorder(scenario, 3)).length === 0);
  const after = (await scenario.nodes()).map(({ metadata }) => metadata.name);
  expect(after.some((name) => before.has(name))).toBe(false);
  const labels = { reason: 'expired', nodepool: 'default' };
  expect(scenario.metrics.value('karpenter_nodeclaims_disrupted_total', labels)).toBe(before.size);
});

test('a machine that vanishes is noticed, its claim goes and its pods get another', async () => {
  await scenario.pool();
  await scenario.deployment('web', 2);
  await scenario.until('the pods run', async () => (await scenario.readyPods('web')).length === 2);
  const [node] = await scenario.nodes();
  const name = node?.metadata.name ?? '';
  const noFinalizers = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
  await scenario.kube.patch(resources.nodes, { name }, noFinalizers);
  await scenario.kube.delete(resources.nodes, { name });
  await scenario.run(300_000);
  await scenario.until('all is well again', async () => (await disorder(scenario, 2)).length === 0);
  expect((await scenario.nodes()).map(({ metadata }) => metadata.name)).not.toContain(name);
});
