import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../base/index.ts';
import { resources } from '../../../ports/index.ts';
import { createCluster, SimKube } from '../../../sim/index.ts';
import { startDemo } from './demo.ts';

test('what a person scales stays as it is until it is what the hour asks for', async () => {
  const clock = new VirtualClock({ settle });
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  const failures: unknown[] = [];
  const hourMs = 60_000;
  const demo = await startDemo({ kube, clock, dayMs: 24 * hourMs, onFailure: (error) => failures.push(error) });
  const web = { name: 'web', namespace: 'shop' };
  const replicas = async (): Promise<number> => (await kube.get(resources.deployments, web)).spec?.replicas ?? 0;
  const scale = (count: number) =>
    kube.patch(resources.deployments, web, { type: 'merge', body: { spec: { replicas: count } } });

  await clock.runFor(4 * hourMs);
  const noon = await replicas();
  expect(noon).toBeGreaterThan(20);
  await scale(80);
  await clock.runFor(8 * hourMs);
  expect(await replicas()).toBe(80);
  // The others go on following the day.
  const checkout = { name: 'checkout', namespace: 'shop' };
  expect((await kube.get(resources.deployments, checkout)).spec?.replicas).toBeGreaterThan(10);
  // Half past two at night, when six are enough.
  await clock.runFor(6.5 * hourMs);
  await scale(6);
  await clock.runFor(8 * hourMs);
  expect(await replicas()).toBeGreaterThan(6);
  expect(await replicas()).toBeLessThan(80);
  expect(failures).toEqual([]);
  demo.dispose();
  await cluster.stop();
});
