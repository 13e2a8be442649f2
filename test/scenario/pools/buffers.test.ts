import { afterEach, expect, test } from 'vitest';
import { capacityBuffers } from '../../../src/controllers/own-resources.ts';
import { resources } from '../../../src/ports/index.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

let scenario: Scenario;
afterEach(() => scenario.close());

const namespace = 'default';
const gates = { settings: { featureGates: { CapacityBuffer: true } }, bootTime: '60s' };

async function spareRoomFor(replicas: number): Promise<void> {
  await scenario.kube.create(resources.podTemplates, {
    metadata: { name: 'web', namespace },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'example.com/main', resources: { requests: { cpu: '1' } } }] },
    },
  });
  await scenario.kube.create(capacityBuffers, {
    metadata: { name: 'spare', namespace },
    spec: { podTemplateRef: { name: 'web' }, replicas },
  });
}
const provisioning = async () =>
  (await scenario.find(capacityBuffers, 'spare', namespace))?.status?.conditions?.find(
    ({ type }) => type === 'Provisioning',
  );
/** Machines that still boot count as capacity; what pods can use at once is only on nodes that are up. */
const isKept = async (): Promise<boolean> =>
  (await provisioning())?.status === 'True' &&
  (await scenario.claims()).every((claim) =>
    claim.status?.conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True'),
  );

test('a buffer has room ready before pods come; pods that come take it at once, and it is kept anew', async () => {
  scenario = await openScenario(gates);
  await scenario.pool();
  await spareRoomFor(3);
  await scenario.until('room is kept', isKept);
  const before = (await scenario.claims()).length;
  expect(before).toBe(1);

  const startMs = scenario.clock.now();
  await scenario.deployment('web', 3);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 3);
  expect(scenario.clock.now() - startMs).toBeLessThan(30_000);

  await scenario.until('new room was asked for', async () => (await scenario.claims()).length > before);
  await scenario.until('room is kept again', isKept);
  await scenario.run(300_000);
  expect(await scenario.claims()).toHaveLength(2);
});

test('while the machine of a buffer boots, nothing more is launched for it', async () => {
  scenario = await openScenario({ ...gates, bootTime: '240s' });
  await scenario.pool();
  await spareRoomFor(3);
  await scenario.run(230_000);
  expect(await scenario.claims()).toHaveLength(1);
});

test('empty nodes that hold a buffer stay, and go with it', async () => {
  scenario = await openScenario(gates);
  await scenario.pool('default', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } });
  await spareRoomFor(3);
  await scenario.until('room is kept', isKept);
  await scenario.run(300_000);
  expect(await scenario.claims()).toHaveLength(1);
  await scenario.kube.delete(capacityBuffers, { name: 'spare', namespace });
  await scenario.until('no claim', async () => (await scenario.claims()).length === 0, 90_000);
});
