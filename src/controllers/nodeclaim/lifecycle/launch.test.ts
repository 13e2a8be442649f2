import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CloudError, resources } from '../../../ports/index.ts';
import { nodeClaims } from '../../own-resources.ts';
import { type LifecycleBench, openLifecycle } from '../../testing/lifecycle.testing.ts';
import { claimMetrics } from '../claim-metrics.ts';
import { MachineRemoval } from '../machine-removal.ts';
import { lifecycleController } from './controller.ts';

const disrupted = 'karpenter_nodeclaims_disrupted_total';
let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle();
});
afterEach(() => bench.close());

describe('a launch that works', () => {
  test('gives the claim its provider id, image, capacity and allocatable, and makes it Launched', async () => {
    const { status } = await bench.makeClaim();
    expect(status).toMatchObject({
      providerID: 'scripted://a-1',
      imageID: 'image-1',
      capacity: { cpu: '4', memory: '8Gi' },
      allocatable: { cpu: '3900m', memory: '7Gi' },
    });
    expect(await bench.condition('Launched')).toMatchObject({ status: 'True', reason: 'Launched', message: '' });
    expect(bench.log.lines.some(({ message }) => message === 'launched nodeclaim')).toBe(true);
  });

  test("lays the claim's labels over the provider's, and the provider's annotations over the claim's", async () => {
    bench.cloud.facets = { labels: { zone: 'cloud', only: 'cloud' }, annotations: { note: 'cloud', only: 'cloud' } };
    const { metadata } = await bench.makeClaim('a', {
      metadata: { labels: { zone: 'claim' }, annotations: { note: 'claim', mine: 'claim' } },
    });
    expect(metadata.labels).toMatchObject({ zone: 'claim', only: 'cloud' });
    expect(metadata.annotations).toMatchObject({ note: 'cloud', only: 'cloud', mine: 'claim' });
  });

  test('works for a claim that belongs to no pool', async () => {
    await bench.makeClaim('a', { metadata: { labels: {} } });
    expect((await bench.condition('Launched'))?.status).toBe('True');
  });

  test('happens once, also when the status that tells of it could not be written', async () => {
    let refusals = 2;
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = async (resource, ref, change, options) => {
      const isLaunch = JSON.stringify(change.body).includes('scripted://');
      if (isLaunch && refusals-- > 0) throw new Error('connection reset');
      return patch(resource, ref, change, options);
    };
    await bench.makeClaim();
    expect((await bench.claim()).status?.providerID).toBeUndefined();
    await bench.run(10_000);
    expect((await bench.claim()).status?.providerID).toBe('scripted://a-1');
    expect(bench.cloud.creations).toEqual(['a']);
  });
});

describe('a launch that fails', () => {
  test('for lack of capacity deletes the claim with an event and counts it', async () => {
    bench.cloud.createError = new CloudError('insufficientCapacity', 'x'.repeat(2_000));
    await bench.makeClaim();
    expect(await bench.isGone()).toBe(true);
    const [event] = bench.eventsOf('InsufficientCapacityError');
    const text = `NodeClaim a event: insufficient capacity, ${'x'.repeat(2_000)}`.slice(0, 1_021);
    expect(event).toMatchObject({ type: 'Warning', message: `${text}...` });
    expect(event?.subject).toMatchObject({ kind: 'NodeClaim', name: 'a' });
    expect(bench.metrics.value(disrupted, { reason: 'insufficient_capacity', nodepool: 'default' })).toBe(1);
  });

  test.each(['insufficientCapacity', 'nodeClassNotReady'] as const)(
    '%s: keeps a claim that is stored as launched, by a replica that led before',
    async (kind) => {
      bench.cloud.createError = new CloudError(kind, 'no');
      const launched = { type: 'Launched', status: 'True', reason: 'Launched', message: '' } as const;
      const catchUp = bench.storedOtherwise(nodeClaims, (claims) =>
        claims.map((claim) => ({
          ...claim,
          status: { ...claim.status, conditions: [{ ...launched, lastTransitionTime: bench.nowPlus(0) }] },
        })),
      );
      await bench.makeClaim();
      await bench.run(30_000);
      expect((await bench.claim()).metadata.deletionTimestamp).toBeUndefined();
      catchUp();
      await bench.run(60_000);
      expect(await bench.isGone()).toBe(true);
    },
  );

  test('for lack of capacity is reported to the pods that waited for the claim, as long as they wait', async () => {
    bench.cloud.createError = new CloudError('insufficientCapacity', 'sold out');
    for (const name of ['waits', 'bound']) {
      await bench.apply(resources.pods, {
        metadata: { name, namespace: 'default' },
        spec: { containers: [{ name: 'c', image: 'i' }], ...(name === 'bound' ? { nodeName: 'n' } : {}) },
      });
    }
    await bench.run(100);
    bench.context.cluster.pods.promises.promise('a', ['default/waits', 'default/bound', 'default/gone']);
    await bench.makeClaim();
    const reported = bench.eventsOf('InsufficientCapacityError').filter(({ subject }) => subject.kind === 'Pod');
    expect(reported.map(({ subject }) => subject.name)).toEqual(['waits']);
    expect(reported[0]?.message).toContain(
      'NodeClaim a nominated for this pod failed to launch: insufficient capacity, sold out; the next',
    );
  });

  test('for lack of capacity leaves a probe in place, which is tried every 15 seconds and outlives the launch timeout', async () => {
    bench.cloud.createError = new CloudError('insufficientCapacity', 'sold out');
    await bench.apply(resources.pods, {
      metadata: { name: 'waits', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await bench.run(100);
    const { pace } = bench.context.ledger;
    pace.addProbe('a', { pods: ['default/waits'], startedMs: bench.context.clock.elapsed() });
    await bench.makeClaim();
    expect(await bench.condition('Launched')).toMatchObject({
      status: 'Unknown',
      reason: 'InsufficientCapacity',
      message: 'insufficient capacity, sold out; tried again every 15 s while pods wait for it',
    });
    await bench.run(600_000);
    expect(bench.cloud.creations.length).toBeGreaterThanOrEqual(38);
    expect(bench.cloud.creations.length).toBeLessThanOrEqual(42);
    await bench.kube.delete(resources.pods, { name: 'waits', namespace: 'default' }, { gracePeriodSeconds: 0 });
    await bench.run(30_000);
    expect(await bench.isGone()).toBe(true);
  });

  test('for lack of capacity ends a probe after half an hour', async () => {
    bench.cloud.createError = new CloudError('insufficientCapacity', 'sold out');
    await bench.apply(resources.pods, {
      metadata: { name: 'waits', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await bench.run(100);
    bench.context.ledger.pace.addProbe('a', {
      pods: ['default/waits'],
      startedMs: bench.context.clock.elapsed(),
    });
    await bench.makeClaim();
    await bench.run(29 * 60_000);
    expect(await bench.isGone()).toBe(false);
    await bench.run(2 * 60_000);
    expect(await bench.isGone()).toBe(true);
  });

  test('because the node class is not ready deletes the claim without an event', async () => {
    bench.cloud.createError = new CloudError('nodeClassNotReady', 'subnets are missing');
    await bench.makeClaim();
    expect(await bench.isGone()).toBe(true);
    expect(bench.events).toEqual([]);
    expect(bench.metrics.value(disrupted, { reason: 'nodeclass_not_ready' })).toBe(1);
  });

  test("with the provider's own words puts them into the condition and is tried again", async () => {
    const words = { conditionReason: 'QuotaExceeded', conditionMessage: `ask for more ${'y'.repeat(400)}` };
    bench.cloud.createError = new CloudError('createFailed', 'quota', words);
    await bench.makeClaim();
    expect(await bench.condition('Launched')).toMatchObject({
      status: 'Unknown',
      reason: 'QuotaExceeded',
      message: words.conditionMessage,
    });
    bench.cloud.createError = undefined;
    await bench.run(2_000);
    expect((await bench.condition('Launched'))?.status).toBe('True');
  });

  test('for any other reason is LaunchFailed with the text cut short, and is tried again', async () => {
    bench.cloud.createError = new Error('z'.repeat(1_025));
    await bench.makeClaim();
    expect(await bench.condition('Launched')).toMatchObject({
      status: 'Unknown',
      reason: 'LaunchFailed',
      message: `${'z'.repeat(1_021)}...`,
    });
    bench.cloud.createError = undefined;
    await bench.run(2_000);
    expect((await bench.condition('Launched'))?.status).toBe('True');
  });

  test('is tried again after one second, then ever more rarely up to once a minute, whatever its words', async () => {
    // Words that differ from try to try change the status each time, and every change wakes the claim.
    bench.cloud.create = async ({ metadata }) => {
      bench.cloud.creations.push(metadata.name ?? '');
      throw new CloudError('createFailed', `request ${bench.cloud.creations.length}`);
    };
    await bench.makeClaim();
    const tries = async (durationMs: number): Promise<number> => {
      const before = bench.cloud.creations.length;
      await bench.run(durationMs);
      return bench.cloud.creations.length - before;
    };
    expect(bench.cloud.creations).toHaveLength(1);
    expect(await tries(1_000)).toBe(1);
    expect(await tries(2_000)).toBe(1);
    await bench.run(120_000);
    expect(await tries(60_000)).toBe(1);
  });

  test('without an answer is looked up before it is tried again, so that a machine is not launched twice', async () => {
    bench.cloud.losesAnswers = true;
    await bench.makeClaim();
    expect((await bench.condition('Launched'))?.reason).toBe('LaunchFailed');
    await bench.run(2_000);
    expect((await bench.claim()).status?.providerID).toBe('scripted://a-1');
    expect(bench.cloud.creations).toEqual(['a']);
  });
});

describe('a process that starts', () => {
  /** A claim from before, and a controller that has just begun. */
  const restarted = async (over: { machine?: string; isDeleting?: boolean } = {}) => {
    const idle = await openLifecycle({ controllers: () => [] });
    await idle.makeClaim();
    if (over.machine !== undefined) {
      idle.cloud.facets = { isDeleting: over.isDeleting ?? false };
      idle.cloud.launch(over.machine, 'a');
    }
    await idle.run(5_000);
    const unheard = { succeeded: async () => {}, failed: async () => {}, refused: async () => {} };
    const metrics = claimMetrics(idle.context.metrics);
    const controller = lifecycleController(idle.context, metrics, unheard, new MachineRemoval(idle.context));
    controller.listen?.(() => {});
    const reconcile = () => controller.reconcile('a', new AbortController().signal);
    return { idle, reconcile };
  };

  test('takes over a machine that was launched for the claim before', async () => {
    const { idle, reconcile } = await restarted({ machine: 'scripted://before' });
    await reconcile();
    expect((await idle.claim()).status?.providerID).toBe('scripted://before');
    expect(idle.cloud.creations).toEqual([]);
    await idle.close();
  });

  test('takes it over also if the process is older than the claim and only waited for its turn', async () => {
    const idle = await openLifecycle({ controllers: () => [] });
    const metrics = claimMetrics(idle.context.metrics);
    const unheard = { succeeded: async () => {}, failed: async () => {}, refused: async () => {} };
    const standby = lifecycleController(idle.context, metrics, unheard, new MachineRemoval(idle.context));
    await idle.run(60_000);
    await idle.makeClaim();
    idle.cloud.launch('scripted://by-the-leader', 'a');
    await idle.run(5_000);
    standby.listen?.(() => {});
    await standby.reconcile('a', new AbortController().signal);
    expect((await idle.claim()).status?.providerID).toBe('scripted://by-the-leader');
    expect(idle.cloud.creations).toEqual([]);
    await idle.close();
  });

  test('launches if there is none', async () => {
    const { idle, reconcile } = await restarted();
    await reconcile();
    expect(idle.cloud.creations).toEqual(['a']);
    await idle.close();
  });

  test('does not take over a machine that is going', async () => {
    const { idle, reconcile } = await restarted({ machine: 'scripted://going', isDeleting: true });
    await reconcile();
    expect((await idle.claim()).status?.providerID).toBe('scripted://a-1');
    await idle.close();
  });

  test('takes the machine down if the claim was deleted before its launch was written down', async () => {
    const { idle, reconcile } = await restarted({ machine: 'scripted://before' });
    await idle.apply(nodeClaims, { metadata: { name: 'a', finalizers: ['karpenter.sh/termination'] } });
    await idle.remove(nodeClaims, 'a');
    await reconcile();
    await idle.run(5_000);
    await reconcile();
    expect(idle.cloud.machines.size).toBe(0);
    expect(await idle.isGone()).toBe(true);
    await idle.close();
  });

  test('launches claims younger than itself without asking for a list', async () => {
    await bench.run(5_000);
    await bench.makeClaim();
    expect(bench.cloud.creations).toEqual(['a']);
    expect(bench.cloud.listings).toBe(0);
  });
});
