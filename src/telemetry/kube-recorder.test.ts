import { expect, test } from 'vitest';
import { type Clock, sleepWith } from '../base/index.ts';
import { type Kube, KubeError, type RecordedEvent } from '../ports/index.ts';
import { silentLog } from './json-log.ts';
import { kubeRecorder } from './kube-recorder.ts';

function recorder() {
  const written: Record<string, unknown>[] = [];
  let now = Date.UTC(2026, 0, 1);
  const after: Clock['after'] = () => ({ dispose: () => {} });
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    after,
    sleep: (ms, signal) => sleepWith(after, ms, signal),
  };
  const expired = new Set<string>();
  const kube = {
    create: async (_: unknown, object: { metadata: { name: string } }) => void written.push(object),
    patch: async (_: unknown, { name }: { name: string }, { body }: { body: object }) => {
      const stored = written.find((each) => (each['metadata'] as { name: string }).name === name);
      if (stored === undefined || expired.has(name))
        throw new KubeError({ status: 404, reason: 'NotFound', message: `no event ${name}` });
      Object.assign(stored, body);
    },
  };
  return {
    recorder: kubeRecorder(kube as unknown as Kube, clock, silentLog),
    written,
    /** The API forgets events. */
    expire: () => written.forEach(({ metadata }) => expired.add((metadata as { name: string }).name)),
    pass: (ms: number) => (now += ms),
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const nominated = (pod: string): RecordedEvent => ({
  subject: { apiVersion: 'v1', kind: 'Pod', name: pod, namespace: 'shop', uid: `uid-${pod}` },
  type: 'Normal',
  reason: 'Nominated',
  message: 'Pod should schedule on: nodeclaim/default-abc',
});

test('an event is written to the namespace of its object, by component karpenter', async () => {
  const { recorder: events, written } = recorder();
  events.publish(nominated('web-1'));
  await settled();
  expect(written).toMatchObject([
    {
      metadata: { namespace: 'shop' },
      involvedObject: { kind: 'Pod', name: 'web-1' },
      source: { component: 'karpenter' },
      count: 1,
    },
  ]);
});

test('events of cluster-scoped objects go to the default namespace', async () => {
  const { recorder: events, written } = recorder();
  events.publish({ ...nominated('x'), subject: { apiVersion: 'v1', kind: 'Node', name: 'n1' } });
  await settled();
  expect(written).toMatchObject([{ metadata: { namespace: 'default' } }]);
});

test('the same event within two minutes is dropped, and counted on the one that is there afterwards', async () => {
  const { recorder: events, written, pass } = recorder();
  events.publish(nominated('web-1'));
  pass(119_000);
  events.publish(nominated('web-1'));
  pass(2_000);
  const { subject } = nominated('web-1');
  events.publish({ ...nominated('web-1'), subject: { ...subject, resourceVersion: '7' } });
  await settled();
  expect(written).toMatchObject([
    { count: 2, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:02:01Z' },
  ]);
});

test('a repeat of an event that the API has forgotten is a new one', async () => {
  const { recorder: events, written, pass, expire } = recorder();
  events.publish(nominated('web-1'));
  await settled();
  expire();
  pass(3_600_000);
  events.publish(nominated('web-1'));
  await settled();
  expect(written).toMatchObject([{ count: 1 }, { count: 1, firstTimestamp: '2026-01-01T01:00:00Z' }]);
});

test('another message about the same object is another event', async () => {
  const { recorder: events, written } = recorder();
  events.publish(nominated('web-1'));
  events.publish({ ...nominated('web-1'), message: 'Pod should schedule on: nodeclaim/default-xyz' });
  await settled();
  expect(written).toMatchObject([{ count: 1 }, { count: 1 }]);
});

test('a rate limit is shared by all events with that reason', async () => {
  const { recorder: events, written, pass } = recorder();
  const publish = (pod: string): void => events.publish({ ...nominated(pod), rateLimit: { perSecond: 5, burst: 10 } });
  for (let i = 0; i < 20; i += 1) publish(`a-${i}`);
  pass(1000);
  for (let i = 0; i < 20; i += 1) publish(`b-${i}`);
  await settled();
  expect(written).toHaveLength(15);
});
