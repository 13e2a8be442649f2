import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { KubeError, type Pod, resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import { type LifecycleBench, openLifecycle } from '../testing/lifecycle.testing.ts';
import { EvictionQueue } from './eviction-queue.ts';

const requests = 'karpenter_pods_eviction_requests_total';
let bench: LifecycleBench;
let queue: EvictionQueue;
beforeEach(async () => {
  bench = await openLifecycle({
    controllers: (context) => {
      queue = new EvictionQueue(context);
      return [queue.controller];
    },
  });
  await bench.machine('default', 'a');
});
afterEach(() => bench.close());

const evict = async (pod: Pod): Promise<void> => {
  queue.add([pod]);
  await bench.run(10);
};
/** The API server answers every eviction with this until set otherwise. */
const answerWith = (error: KubeError | undefined): { calls: number } => {
  const counted = { calls: 0 };
  const evictForReal = Object.getPrototypeOf(bench.kube).evict.bind(bench.kube);
  bench.kube.evict = async (ref, options) => {
    counted.calls += 1;
    if (error !== undefined) throw error;
    return evictForReal(ref, options);
  };
  return counted;
};
const refusal = (status: number, reason: string, message: string, cause?: string): KubeError =>
  new KubeError({ status, reason, message, causes: cause === undefined ? [] : [{ reason: cause }] });
const budgetIsSpent = refusal(
  429,
  'TooManyRequests',
  "Cannot evict pod as it would violate the pod's disruption budget.",
  'DisruptionBudget',
);

describe('an eviction the API server agrees to', () => {
  test('ends the pod gracefully, with an event and counted', async () => {
    await evict(await bench.runPod('web', { spec: { terminationGracePeriodSeconds: 45 } }));
    expect((await bench.pod('web'))?.metadata.deletionGracePeriodSeconds).toBe(45);
    expect(bench.eventsOf('Evicted')).toMatchObject([
      { type: 'Normal', subject: { kind: 'Pod', name: 'web' }, message: 'Evicted pod: Forceful Termination' },
    ]);
    expect(bench.metrics.value(requests, { code: '200' })).toBe(1);
    expect(bench.metrics.value('karpenter_pods_drained_total', { reason: 'Forceful Termination' })).toBe(1);
  });

  test('is not asked for again before the watch has reported that the pod ends', async () => {
    const pod = await bench.runPod('web', { spec: { terminationGracePeriodSeconds: 600 } });
    const counted = answerWith(undefined);
    await evict(pod);
    // The watch lags behind: everybody still sees the pod as it was, and the drain asks every second.
    const seen = vi.spyOn(bench.context.cluster.pods.store, 'get').mockReturnValue(pod);
    for (let second = 0; second < 5; second++) {
      queue.add([pod]);
      await bench.run(1_000);
    }
    seen.mockRestore();
    await bench.run(60_000);
    expect(counted.calls).toBe(1);
    expect(bench.metrics.value(requests, { code: '200' })).toBe(1);
    expect(bench.metrics.value('karpenter_pods_drained_total', { reason: 'Forceful Termination' })).toBe(1);
  });

  test('is asked for again if the pod goes on all the same', async () => {
    const pod = await bench.runPod('web');
    let calls = 0;
    bench.kube.evict = async () => void (calls += 1);
    await evict(pod);
    await bench.run(15_000);
    expect(calls).toBe(2);
  });

  test('names why the node is disrupted', async () => {
    const at = bench.nowPlus(0);
    const condition = { type: 'DisruptionReason', status: 'True', reason: 'Drifted', message: 'Drifted' };
    await bench.apply(nodeClaims, {
      metadata: { name: 'a' },
      status: { conditions: [{ ...condition, lastTransitionTime: at }] },
    } as never);
    await evict(await bench.runPod('web'));
    expect(bench.eventsOf('Evicted')[0]?.message).toBe('Evicted pod: Drifted');
    expect(bench.metrics.value('karpenter_pods_drained_total', { reason: 'Drifted' })).toBe(1);
  });

  test('names no reason when the claim of the node is unknown', async () => {
    await bench.kube.create(resources.nodes, { metadata: { name: 'bare' } });
    await evict(await bench.runPod('web', {}, 'bare'));
    expect(bench.eventsOf('Evicted')[0]?.message).toBe('Evicted pod: ');
  });
});

describe('an eviction the API server refuses', () => {
  test('for the budget is reported on the node and tried again, first soon, then every ten seconds', async () => {
    const pod = await bench.runPod('web');
    const counted = answerWith(budgetIsSpent);
    await evict(pod);
    expect(counted.calls).toBe(1);
    await bench.run(100);
    expect(counted.calls).toBe(2);
    await bench.run(200);
    expect(counted.calls).toBe(3);
    await bench.run(60_000);
    const before = counted.calls;
    await bench.run(60_000);
    expect(counted.calls - before).toBe(6);
    expect(bench.eventsOf('FailedDraining')[0]).toMatchObject({
      type: 'Warning',
      subject: { kind: 'Node', name: 'a' },
      message: 'Failed to drain node, evicting pod violates a PDB (Pod=default/web)',
    });
    expect(bench.metrics.value(requests, { code: '429' })).toBe(counted.calls);
    expect(bench.log.lines.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  test('for the budget goes through as soon as the budget allows', async () => {
    const pod = await bench.runPod('web');
    answerWith(budgetIsSpent);
    await evict(pod);
    await bench.run(1_000);
    answerWith(undefined);
    await bench.run(10_000);
    expect(await bench.isTerminating('web')).toBe(true);
  });

  test('because of two budgets is reported on the node and tried again', async () => {
    const pod = await bench.runPod('web');
    const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    const counted = answerWith(refusal(500, 'InternalError', message));
    await evict(pod);
    await bench.run(1_000);
    expect(counted.calls).toBeGreaterThan(2);
    expect(bench.eventsOf('FailedDraining')[0]?.message).toBe(
      'Failed to drain node, eviction does not support multiple PDBs (Pod=default/web)',
    );
  });

  test('because it is busy is tried again without blaming a budget', async () => {
    const pod = await bench.runPod('web');
    const counted = answerWith(refusal(429, 'TooManyRequests', 'the server is busy'));
    await evict(pod);
    await bench.run(1_000);
    expect(counted.calls).toBeGreaterThan(2);
    expect(bench.eventsOf('FailedDraining')).toEqual([]);
  });

  test.each([
    [404, 'NotFound'],
    [409, 'Conflict'],
  ])('with %d is over: the pod is gone or another one', async (status, reason) => {
    const pod = await bench.runPod('web');
    const counted = answerWith(refusal(status, reason, 'no'));
    await evict(pod);
    await bench.run(60_000);
    expect(counted.calls).toBe(1);
    expect(bench.events).toEqual([]);
    expect(bench.metrics.value(requests, { code: String(status) })).toBe(1);
  });
});

describe('the queue', () => {
  test('asks for one pod at a time, however often it is added', async () => {
    const pod = await bench.runPod('web');
    const counted = answerWith(budgetIsSpent);
    await evict(pod);
    for (let again = 0; again < 20; again += 1) queue.add([pod]);
    await bench.run(1);
    expect(counted.calls).toBe(1);
  });

  test('does not evict a pod that was made again under the same name', async () => {
    const pod = await bench.runPod('web');
    answerWith(budgetIsSpent);
    await evict(pod);
    await bench.endPod('web');
    const successor = await bench.runPod('web');
    expect(successor.metadata.uid).not.toBe(pod.metadata.uid);
    answerWith(undefined);
    await bench.run(60_000);
    expect(await bench.isTerminating('web')).toBe(false);
  });

  test('names the UID it means, so that the API server refuses if it is another pod by now', async () => {
    const pod = await bench.runPod('web');
    let uid: string | undefined;
    bench.kube.evict = async (_, options) => {
      uid = options?.preconditions?.uid;
    };
    await evict(pod);
    expect(uid).toBe(pod.metadata.uid);
  });

  test('drops a pod that became protected, or is going already', async () => {
    const pod = await bench.runPod('web');
    const counted = answerWith(budgetIsSpent);
    await evict(pod);
    await bench.apply(resources.pods, {
      metadata: { name: 'web', namespace: 'default', annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
    });
    const before = counted.calls;
    await bench.run(60_000);
    expect(counted.calls).toBe(before);
  });
});
