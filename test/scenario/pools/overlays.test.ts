import { afterEach, expect, test } from 'vitest';
import { nodeOverlays } from '../../../src/controllers/own-resources.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

let scenario: Scenario;
afterEach(() => scenario.close());

const typeKey = 'node.kubernetes.io/instance-type';
const gates = { settings: { featureGates: { NodeOverlay: true } } };

test('a pod gets the machine an overlay made cheap, and the claim says that an overlay had a say', async () => {
  scenario = await openScenario(gates);
  await scenario.kube.create(nodeOverlays, {
    metadata: { name: 'cheap' },
    spec: { requirements: [{ key: typeKey, operator: 'In', values: ['m-8x-arm64-linux'] }], price: '0.001' },
  });
  await scenario.pool();
  await scenario.deployment('web', 1);
  await scenario.until('the pod runs', async () => (await scenario.readyPods('web')).length === 1);
  const [claim] = await scenario.claims();
  expect(claim?.metadata.annotations?.['karpenter.sh/price-overlay-applied']).toBe('true');
  const listed = claim?.spec.requirements.find(({ key }) => key === typeKey)?.values;
  expect(listed?.[0]).toBe('m-8x-arm64-linux');
  expect(claim?.metadata.labels?.[typeKey]).toBe('m-8x-arm64-linux');
});

test('a pod gets a resource that only an overlay knows of', async () => {
  scenario = await openScenario(gates);
  await scenario.pool();
  const resources = { requests: { cpu: '1' }, limits: { 'example.com/gpu': '1' } };
  await scenario.deployment('gpu', 1, { containers: [{ name: 'main', image: 'example.com/main', resources }] });
  await scenario.run(30_000);
  expect(await scenario.claims()).toEqual([]);
  await scenario.kube.create(nodeOverlays, {
    metadata: { name: 'gpus' },
    spec: {
      requirements: [{ key: typeKey, operator: 'In', values: ['c-4x-amd64-linux'] }],
      capacity: { 'example.com/gpu': '2' },
    },
  });
  await scenario.until('the pod runs', async () => (await scenario.readyPods('gpu')).length === 1);
  await scenario.run(60_000);
  expect(await scenario.claims()).toHaveLength(1);
  const [claim] = await scenario.claims();
  expect(claim?.metadata.annotations?.['karpenter.sh/capacity-overlay-applied']).toBe('true');
  expect(claim?.spec.requirements.find(({ key }) => key === typeKey)?.values).toEqual(['c-4x-amd64-linux']);
});
