// The loop on the embedded cluster in virtual time: the same parts that run against a real API server.
import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { type Lease, resources } from '../ports/index.ts';
import { createCluster, SimKube } from '../sim/index.ts';
import { done, LeaderElection, Manager, Reconciler, Reflector } from './index.ts';

const { leases } = resources;
const namespace = 'default';

test('a cache follows the embedded cluster for a day with one listing', async () => {
  const clock = new VirtualClock({ settle });
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  const reflector = new Reflector<Lease>({ kube, clock, resource: leases, namespace });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  await clock.runFor(1_000);
  for (let hour = 0; hour < 24; hour++) {
    await kube.create(leases, { metadata: { name: `hour-${hour}`, namespace }, spec: {} });
    if (hour >= 3) await kube.delete(leases, { name: `hour-${hour - 3}`, namespace });
    await clock.runFor(3_600_000);
  }
  const names = [...reflector.store.values()].map(({ metadata }) => metadata.name).sort();
  expect(names).toEqual(['hour-21', 'hour-22', 'hour-23']);
  expect(reflector.counters).toMatchObject({ lists: 1, expired: 0, failures: 0 });
  expect(reflector.counters.watches).toBeGreaterThan(24 * 6);
  stop.abort();
  await running;
  await cluster.stop();
});

test('of two replicas one works, and the other takes over at once when it is stopped', async () => {
  const clock = new VirtualClock({ settle });
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  const seenBy: Record<string, string[]> = { first: [], second: [] };
  const startReplica = (identity: string): { stop: AbortController; result: Promise<unknown> } => {
    const reflector = new Reflector<Lease>({ kube, clock, resource: leases, labelSelector: 'work=yes' });
    const reconciler = new Reconciler({
      name: 'leases',
      clock,
      workers: 2,
      reconcile: async (key) => {
        seenBy[identity]?.push(key);
        return done;
      },
    });
    reflector.subscribe(({ object }) => reconciler.queue.add(`${object.metadata.namespace}/${object.metadata.name}`));
    const election = new LeaderElection({ kube, clock, identity, lease: { name: 'leader', namespace: 'kube-system' } });
    const stop = new AbortController();
    const manager = new Manager({ clock, caches: [reflector], leading: [reconciler], election });
    return { stop, result: manager.run(stop.signal) };
  };
  const create = (name: string): Promise<Lease> =>
    kube.create(leases, { metadata: { name, namespace, labels: { work: 'yes' } }, spec: {} });

  const first = startReplica('first');
  await clock.runFor(1_000);
  const second = startReplica('second');
  await create('a');
  await clock.runFor(60_000);
  expect(seenBy).toEqual({ first: ['default/a'], second: [] });

  first.stop.abort();
  await clock.runFor(2_500);
  expect(await first.result).toEqual({ outcome: 'stopped', leftBehind: [] });
  await create('b');
  await clock.runFor(1_000);
  expect(seenBy).toEqual({ first: ['default/a'], second: ['default/a', 'default/b'] });

  second.stop.abort();
  await clock.runFor(1_000);
  await second.result;
  await cluster.stop();
});
