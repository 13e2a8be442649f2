import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type NodeClaim } from '../../../src/api/index.ts';
import { conditionOf } from '../../../src/base/index.ts';
import { nodeClaims } from '../../../src/controllers/index.ts';
import { type Kube, KubeError, resources } from '../../../src/ports/index.ts';
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

test('a node with startup taints takes pods only after someone removed them', async () => {
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

describe('a claim whose author is unknown', () => {
  /** The API server carries out the first claims that are written, and the answers are lost. */
  const forgetful = (times: number) => (kube: Kube) => {
    let left = times;
    return {
      ...bound(kube),
      create: async (...args: Parameters<Kube['create']>) => {
        const made = await kube.create(...args);
        if (args[0].plural !== nodeClaims.plural || left-- <= 0) return made;
        throw new KubeError({ status: 0, reason: 'Transport', message: 'the answer was lost' });
      },
    } as Kube;
  };

  test('holds the pods it was made for: no second node is launched for them', async () => {
    await scenario.close();
    scenario = await openScenario({ between: forgetful(2) });
    await slowly({ launch: { delay: '5s' } });
    await scenario.pool();
    await scenario.deployment('web', 2, apart('web'));
    await scenario.run(2_500);
    expect(await scenario.claims()).toHaveLength(2);
    await scenario.deployment('more', 1);
    await scenario.run(120_000);
    expect(await disorder(scenario, 3, 3)).toEqual([]);
  });

  test('that cannot be launched holds up other pods for ten seconds, and no longer', async () => {
    await scenario.close();
    scenario = await openScenario({ between: forgetful(1) });
    await slowly({ launch: { delay: '4m' } });
    await scenario.pool();
    await scenario.deployment('stuck', 1);
    await scenario.run(2_500);
    await slowly(null);
    await scenario.deployment('fine', 1);
    await scenario.until('the other runs', async () => (await scenario.readyPods('fine')).length === 1, 30_000);
    expect(await scenario.readyPods('stuck')).toEqual([]);
  });
});

const slowly = (faults: object | null) =>
  scenario.kube.patch(kwokNodeClasses, { name: 'default' }, { type: 'merge', body: { spec: { faults } } });

const apart = (app: string) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app } },
    },
  ],
});

/** Its methods, free of their object. */
function bound(kube: Kube): Kube {
  const names = ['get', 'list', 'watch', 'create', 'replace', 'patch', 'delete', 'evict', 'bind'] as const;
  return Object.fromEntries(names.map((name) => [name, kube[name].bind(kube)])) as unknown as Kube;
}
