import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resources } from '../../ports/index.ts';
import { type LifecycleBench, openLifecycle } from '../testing/lifecycle.testing.ts';
import { podEventsController } from './pod-events.ts';

let bench: LifecycleBench;
const open = (): Promise<LifecycleBench> => openLifecycle({ controllers: (context) => [podEventsController(context)] });
beforeEach(async () => {
  bench = await open();
  await bench.machine('default', 'a');
});
afterEach(() => bench.close());

const last = async (): Promise<string | undefined> => (await bench.claim()).status?.lastPodEventTime;
/** Runs something a minute later and tells whether the claim noted it. */
const isNoted = async (event: () => Promise<unknown>): Promise<boolean> => {
  await bench.run(60_000);
  const now = bench.nowPlus(0);
  await event();
  await bench.run(10);
  return (await last()) === now;
};
const patchPod = (name: string, change: object, subresource?: 'status') =>
  bench.kube.patch(
    resources.pods,
    { name, namespace: 'default' },
    { type: 'merge', body: change },
    subresource === undefined ? {} : { subresource },
  );

describe('a claim notes when', () => {
  test('a pod comes, ends, is asked to go, and goes', async () => {
    expect(await isNoted(() => bench.runPod('web'))).toBe(true);
    expect(await isNoted(() => patchPod('web', { status: { phase: 'Failed' } }, 'status'))).toBe(true);
    expect(await isNoted(() => bench.runPod('api', { metadata: { finalizers: ['example.com/keep'] } }))).toBe(true);
    const remove = (gracePeriodSeconds?: number) =>
      bench.kube.delete(
        resources.pods,
        { name: 'api', namespace: 'default' },
        gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds },
      );
    expect(await isNoted(() => remove())).toBe(true);
    expect(await isNoted(() => patchPod('api', { metadata: { finalizers: null } }))).toBe(false);
    expect(await isNoted(() => remove(0))).toBe(true);
  });

  test('a waiting pod is bound to its node', async () => {
    const pod = { metadata: { name: 'web', namespace: 'default' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    expect(await isNoted(() => bench.kube.create(resources.pods, pod))).toBe(false);
    expect(await isNoted(() => bench.kube.bind({ name: 'web', namespace: 'default' }, 'a'))).toBe(true);
  });
});

test('a pod that is resized in place is an event, be it by a container, a sidecar or as a whole; other changes are not', () => {
  const [source] = podEventsController(bench.context).sources;
  const container = { name: 'main', resources: { requests: { cpu: '1' } } };
  const pod = (spec: object, labels = {}) => ({
    metadata: { name: 'web', namespace: 'default', labels },
    spec: { nodeName: 'a', containers: [container], ...spec },
  });
  const isNews = (before: object, after: object): boolean =>
    [...(source?.keys({ before: before as never, after: after as never }) ?? [])].length > 0;
  const larger = { ...container, resources: { requests: { cpu: '2' } } };
  expect(isNews(pod({}), pod({ containers: [larger] }))).toBe(true);
  const sidecar = { ...container, restartPolicy: 'Always' };
  expect(isNews(pod({ initContainers: [sidecar] }), pod({ initContainers: [{ ...sidecar, ...larger }] }))).toBe(true);
  const whole = (cpu: string) => pod({ resources: { requests: { cpu } } });
  expect(isNews(whole('1'), whole('2'))).toBe(true);
  expect(isNews(pod({}), pod({ tolerations: [{ operator: 'Exists' }] }, { color: 'blue' }))).toBe(false);
});

describe('a claim does not note', () => {
  test('other changes of a pod', async () => {
    await bench.runPod('web');
    expect(await isNoted(() => patchPod('web', { metadata: { labels: { color: 'blue' } } }))).toBe(false);
  });

  test('pods of DaemonSets', async () => {
    const spec = {
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    };
    const { metadata } = await bench.kube.create(resources.daemonSets, {
      metadata: { name: 'agents', namespace: 'default' },
      spec,
    });
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agents', uid: metadata.uid ?? '' };
    expect(await isNoted(() => bench.runPod('agent', { metadata: { ownerReferences: [owner] } }))).toBe(false);
  });

  test('more than one event in ten seconds', async () => {
    await bench.runPod('one');
    await bench.run(10);
    const first = await last();
    await bench.run(8_000);
    await bench.runPod('two');
    await bench.run(10);
    expect(await last()).toBe(first);
    await bench.run(3_000);
    await bench.runPod('three');
    await bench.run(10);
    expect(await last()).not.toBe(first);
  });

  test('pods on nodes that have no claim', async () => {
    await bench.kube.create(resources.nodes, { metadata: { name: 'bare' } });
    expect(await isNoted(() => bench.runPod('web', {}, 'bare'))).toBe(false);
    expect(bench.log.lines.filter(({ error }) => error !== undefined)).toEqual([]);
  });
});

describe('a process that starts', () => {
  /** What the controller's source says about a pod that is simply there. */
  const isNews = (boundSecondsAgo: number): boolean => {
    const [source] = podEventsController(bench.context).sources;
    const at = bench.nowPlus(-boundSecondsAgo * 1000);
    const pod = {
      metadata: { name: 'web', namespace: 'default', creationTimestamp: at },
      spec: { nodeName: 'a', containers: [] },
      status: { conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: at }] },
    };
    return [...(source?.keys({ before: undefined, after: pod }) ?? [])].length > 0;
  };

  test('takes pods for news only if they came after what is noted, so that quiet nodes stay quiet', async () => {
    await bench.runPod('web');
    await bench.run(600_000);
    expect(isNews(700)).toBe(false);
    expect(isNews(598)).toBe(false);
    expect(isNews(300)).toBe(true);
  });

  test('takes every pod for news if nothing is noted', () => {
    expect(isNews(700)).toBe(true);
  });
});
