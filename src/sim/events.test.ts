import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { resources } from '../ports/index.ts';
import { createCluster } from './cluster.ts';
import { events, eventTeller } from './events.ts';
import { SimKube } from './sim-kube.ts';

test('of one object so much is reported and then little by little; others as before', async () => {
  const clock = new VirtualClock({ settle });
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  const tell = eventTeller(kube, clock, 'test');
  const about = (uid: string): void =>
    tell(
      resources.pods,
      { metadata: { name: uid, namespace: 'default', uid } },
      { type: 'Normal', reason: 'R', message: '' },
    );
  const reported = async (uid: string): Promise<number> =>
    (await kube.list(events)).items.filter(({ metadata }) => metadata.name?.startsWith(`${uid}.`)).length;
  for (let i = 0; i < 100; i++) about('busy');
  about('quiet');
  expect(await reported('busy')).toBe(25);
  expect(await reported('quiet')).toBe(1);
  await clock.runFor(11 * 60_000);
  for (let i = 0; i < 100; i++) about('busy');
  expect(await reported('busy')).toBe(27);
  await cluster.stop();
});
