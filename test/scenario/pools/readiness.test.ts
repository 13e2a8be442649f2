import { afterEach, expect, test } from 'vitest';
import { nodePools } from '../../../src/controllers/index.ts';
import { kwokNodeClasses } from '../../../src/sim/index.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

let scenario: Scenario;
afterEach(() => scenario.close());

const late = { nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'late' } };

test('pods wait while the node class is missing, and are served when it comes', async () => {
  scenario = await openScenario();
  await scenario.pool('default', {}, late);
  await scenario.deployment('web', 2);
  await scenario.run(60_000);
  expect(await scenario.claims()).toEqual([]);
  await scenario.kube.create(kwokNodeClasses, { metadata: { name: 'late' }, spec: {} });
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 2);
});

test('a pool that fails validation is passed over; the others serve', async () => {
  scenario = await openScenario();
  const nobodyHas = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['free'] }];
  await scenario.pool('broken', { weight: 100 }, { requirements: nobodyHas });
  await scenario.pool('sound');
  await scenario.deployment('web', 2);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 2);
  const [claim] = await scenario.claims();
  expect(claim?.metadata.labels?.['karpenter.sh/nodepool']).toBe('sound');
  const ready = (await scenario.find(nodePools, 'broken'))?.status?.conditions?.find(({ type }) => type === 'Ready');
  expect(ready).toMatchObject({ status: 'False', message: 'ValidationSucceeded=False' });
});

test('a pool tells how its registrations went', async () => {
  scenario = await openScenario();
  await scenario.pool();
  await scenario.deployment('web', 1);
  await scenario.until('the pod runs', async () => (await scenario.readyPods('web')).length === 1);
  const conditions = (await scenario.find(nodePools, 'default'))?.status?.conditions;
  expect(conditions?.find(({ type }) => type === 'NodeRegistrationHealthy')?.status).toBe('True');
});
