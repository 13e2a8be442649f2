import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimMetrics } from '../../controllers/index.ts';
import { ScriptedCloud } from '../../controllers/testing/scripted-cloud.testing.ts';
import { type Node, resources } from '../../ports/index.ts';
import { type AwsBench, makeInstance, openAwsBench, providerIdOf } from '../aws-bench.testing.ts';
import { capacityTypeController } from './capacity-type.ts';
import { reservationExpirationController } from './expiration.ts';

const minute = 60_000;
const reservation = {
  'karpenter.sh/capacity-type': 'reserved',
  'karpenter.k8s.aws/capacity-reservation-id': 'cr-1',
  'karpenter.k8s.aws/capacity-reservation-type': 'default',
  'karpenter.k8s.aws/capacity-reservation-interruptible': 'false',
};
let bench: AwsBench;
let cloud: ScriptedCloud;
let expiring: Set<string>;
beforeEach(async () => {
  cloud = new ScriptedCloud();
  expiring = new Set();
  bench = await openAwsBench({
    cloud: () => cloud,
    controllers: (context) => [
      capacityTypeController(context),
      reservationExpirationController(context, claimMetrics(context.metrics), () => expiring),
    ],
  });
});
afterEach(() => bench.close());

const runs = (as: string): void => {
  cloud.facets = { labels: { 'karpenter.sh/capacity-type': as } };
  cloud.launch(providerIdOf('i-a'));
};
const reserve = async (): Promise<void> => {
  await makeInstance(bench, 'a', reservation);
  await bench.apply(resources.nodes, { metadata: { name: 'a', labels: reservation } });
};
const labels = async (): Promise<Record<string, string>[]> => {
  const node = (await bench.get(resources.nodes, 'a')) as Node;
  return [(await bench.claim('a')).metadata.labels ?? {}, node.metadata.labels ?? {}];
};
const fallen = {
  'karpenter.sh/capacity-type': 'on-demand',
  'karpenter.k8s.aws/capacity-reservation-interruptible': 'false',
};

describe('a reserved instance that runs on demand now', () => {
  test('is on demand on its claim and its node; the interruptible label stays', async () => {
    runs('on-demand');
    await reserve();
    await bench.run(2 * minute);
    for (const each of await labels()) {
      expect(each).toMatchObject(fallen);
      expect(Object.keys(each)).not.toContain('karpenter.k8s.aws/capacity-reservation-id');
      expect(Object.keys(each)).not.toContain('karpenter.k8s.aws/capacity-reservation-type');
    }
  });

  test('has its node alone fixed when the claim was fixed earlier', async () => {
    runs('on-demand');
    await makeInstance(bench, 'a', fallen);
    await bench.apply(resources.nodes, { metadata: { name: 'a', labels: reservation } });
    await bench.run(2 * minute);
    expect((await labels())[1]).toMatchObject(fallen);
  });

  test('is left as it is while it still is reserved', async () => {
    runs('reserved');
    await reserve();
    await bench.run(2 * minute);
    for (const each of await labels()) expect(each).toMatchObject(reservation);
  });
});

describe('a capacity block that is about to end', () => {
  test('takes its claims down; a reservation that is not expiring keeps them', async () => {
    runs('reserved');
    await makeInstance(bench, 'a', reservation);
    await makeInstance(bench, 'b', { ...reservation, 'karpenter.k8s.aws/capacity-reservation-id': 'cr-2' });
    expiring = new Set(['cr-1']);
    await bench.run(2 * minute);
    expect([await bench.isDeleted('a'), await bench.isDeleted('b')]).toEqual([true, false]);
  });
});
