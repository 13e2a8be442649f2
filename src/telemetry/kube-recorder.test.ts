import { expect, test } from 'vitest';
import { type Clock, sleepWith } from '../base/index.ts';
import type { Kube, RecordedEvent } from '../ports/index.ts';
import { silentLog } from './json-log.ts';
import { kubeRecorder } from './kube-recorder.ts';

function recorder() {
  const written: Record<string, unknown>[] = [];
  let now = Date.UTC(2026, 0, 1);
  const after: Clock['after'] = () => ({ dispose: () => {} });
  const clock: Clock = { now: () => now, after, sleep: (ms, signal) => sleepWith(after, ms, signal) };
  const kube = { create: async (_: unknown, object: Record<string, unknown>) => void written.push(object) };
  return {
    recorder: kubeRecorder(kube as unknown as Kube, clock, silentLog),
    written,
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

test('the same event within two minutes is dropped, and written again afterwards', async () => {
  const { recorder: events, written, pass } = recorder();
  events.publish(nominated('web-1'));
  pass(119_000);
  events.publish(nominated('web-1'));
  pass(2_000);
  events.publish(nominated('web-1'));
  await settled();
  expect(written).toHaveLength(2);
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
