import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resources } from '../../../ports/index.ts';
import { type LifecycleBench, openLifecycle } from '../../testing/lifecycle.testing.ts';

const unregistered = { key: 'karpenter.sh/unregistered', effect: 'NoExecute' };
let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle();
});
afterEach(() => bench.close());

const taintsOf = async (name = 'a') => ((await bench.node(name)).spec?.taints ?? []).map(({ key }) => key);

describe('a claim whose node has not joined', () => {
  test('is Unknown NodeNotFound', async () => {
    await bench.makeClaim();
    expect(await bench.condition('Registered')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeNotFound',
      message: 'Node not registered with cluster',
    });
  });

  test('says after three minutes what the provider thinks keeps it, and given up after fifteen all the same', async () => {
    let asked = 0;
    let why: () => Promise<string | undefined> = async () => 'the instance is terminated';
    bench.cloud.joinTrouble = () => {
      asked += 1;
      return why();
    };
    await bench.makeClaim();
    await bench.run(170_000);
    expect((await bench.condition('Registered'))?.message).toBe('Node not registered with cluster');
    expect(asked).toBe(0);
    await bench.run(20_000);
    expect(await bench.condition('Registered')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeNotFound',
      message: 'Node not registered with cluster: the instance is terminated',
    });
    why = () => Promise.reject(new Error('EC2 is busy'));
    await bench.run(120_000);
    expect((await bench.condition('Registered'))?.message).toBe('Node not registered with cluster');
    await bench.run(10 * 60_000);
    await expect(bench.claim()).rejects.toThrow(/no NodeClaim a/);
  });

  test('does not take a node of another provider id', async () => {
    await bench.makeClaim();
    await bench.join('a', { spec: { providerID: 'scripted://another' } });
    expect((await bench.condition('Registered'))?.reason).toBe('NodeNotFound');
  });

  test('fails for good when two nodes have its provider id', async () => {
    const { status } = await bench.makeClaim();
    const spec = { providerID: status?.providerID ?? '' };
    await Promise.all(['b', 'c'].map((name) => bench.kube.create(resources.nodes, { metadata: { name }, spec })));
    await bench.run(2_000);
    expect(await bench.condition('Registered')).toMatchObject({
      status: 'False',
      reason: 'MultipleNodesFound',
      message: 'Invariant violated, matched multiple nodes',
    });
  });
});

describe('a node that joined', () => {
  test('gets finalizer, owner, labels and annotations of its claim, and loses the unregistered taint', async () => {
    await bench.makeClaim('a', {
      metadata: { labels: { team: 'claim' }, annotations: { note: 'claim' } },
    });
    await bench.join('a', { metadata: { labels: { team: 'node', own: 'node' }, annotations: { note: 'node' } } });
    const { metadata } = await bench.node();
    const { uid } = (await bench.claim()).metadata;
    expect(metadata.finalizers).toEqual(['karpenter.sh/termination']);
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'a', uid, blockOwnerDeletion: true },
    ]);
    expect(metadata.labels).toMatchObject({ team: 'claim', own: 'node', 'karpenter.sh/registered': 'true' });
    expect(metadata.annotations).toMatchObject({ note: 'claim' });
    expect(await taintsOf()).toEqual([]);
  });

  test('is counted and reported once, however often the claim has to be written', async () => {
    await bench.makeClaim();
    const patch = bench.kube.patch.bind(bench.kube);
    let refusals = 3;
    bench.kube.patch = (resource, ref, change, options) => {
      const isStatusOfClaim = resource.plural === 'nodeclaims' && options?.subresource === 'status';
      if (isStatusOfClaim && (refusals -= 1) >= 0) return Promise.reject(new Error('not now'));
      return patch(resource, ref, change, options);
    };
    await bench.join();
    await bench.run(60_000);
    expect((await bench.condition('Registered'))?.status).toBe('True');
    expect(bench.metrics.value('karpenter_nodes_created_total', { nodepool: 'default' })).toBe(1);
    const reported = bench.log.lines.map(({ message }) => message);
    expect(reported.filter((message) => message === 'registered nodeclaim')).toHaveLength(1);
    expect(reported.filter((message) => message === 'initialized nodeclaim')).toHaveLength(1);
  });

  test('makes the claim Registered, names the node in its status and is counted', async () => {
    await bench.makeClaim();
    await bench.join();
    expect(await bench.condition('Registered')).toMatchObject({ status: 'True', reason: 'Registered', message: '' });
    expect((await bench.claim()).status?.nodeName).toBe('a');
    const labels = { nodepool: 'default', zone: 'zone-a' };
    expect(bench.metrics.value('karpenter_nodes_created_total', labels)).toBe(1);
    expect(bench.log.lines.some(({ message }) => message === 'registered nodeclaim')).toBe(true);
  });

  test('gets taints and startup taints by key and effect, once', async () => {
    await bench.makeClaim('a', {
      spec: {
        taints: [
          { key: 'dedicated', value: 'claim', effect: 'NoSchedule' },
          { key: 'dedicated', value: 'claim', effect: 'NoExecute' },
        ],
        startupTaints: [{ key: 'starting', effect: 'NoSchedule' }],
      },
    });
    await bench.join('a', {
      spec: { taints: [unregistered, { key: 'dedicated', value: 'node', effect: 'NoSchedule' }] },
    });
    expect((await bench.node()).spec?.taints).toEqual([
      { key: 'dedicated', value: 'node', effect: 'NoSchedule' },
      { key: 'dedicated', value: 'claim', effect: 'NoExecute' },
      { key: 'starting', effect: 'NoSchedule' },
    ]);
  });

  test('keeps its own taints if it asks to', async () => {
    await bench.makeClaim('a', { spec: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } });
    await bench.join('a', { metadata: { labels: { 'karpenter.sh/do-not-sync-taints': 'true' } } });
    expect(await taintsOf()).toEqual([]);
    expect((await bench.condition('Registered'))?.status).toBe('True');
  });

  test('is synced once: startup taints that were removed stay removed', async () => {
    await bench.makeClaim('a', { spec: { startupTaints: [{ key: 'starting', effect: 'NoSchedule' }] } });
    await bench.join();
    await bench.apply(resources.nodes, { metadata: { name: 'a', labels: { team: 'later' } }, spec: { taints: [] } });
    await bench.run(60_000);
    expect(await taintsOf()).toEqual([]);
  });

  test('gets no second owner reference to its claim', async () => {
    const { metadata } = await bench.makeClaim();
    const owner = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'a', uid: metadata.uid ?? '' };
    await bench.join('a', { metadata: { ownerReferences: [owner] } });
    expect((await bench.node()).metadata.ownerReferences).toEqual([owner]);
  });

  test('without the unregistered taint is reported and registered anyway', async () => {
    await bench.makeClaim();
    await bench.join('a', { spec: { taints: [] } });
    expect(bench.eventsOf('UnregisteredTaintMissing')).toMatchObject([
      {
        type: 'Warning',
        subject: { kind: 'NodeClaim', name: 'a' },
        message:
          'Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes',
      },
    ]);
    expect((await bench.condition('Registered'))?.status).toBe('True');
  });
});

describe('registration hooks', () => {
  test('hold the node unregistered but synced, and are asked again at the shortest interval', async () => {
    let isReady = false;
    const asked: string[] = [];
    const hook = (name: string, retryMs: number) => ({
      name,
      isReady: async () => {
        asked.push(name);
        return isReady ? { ready: true } : { ready: false, retryMs };
      },
    });
    bench.cloud.registrationHooks.push(hook('slow', 60_000), hook('quick', 2_000));
    await bench.makeClaim('a', { spec: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } });
    await bench.join();
    expect(await bench.condition('Registered')).toMatchObject({
      status: 'Unknown',
      reason: 'RegistrationHookPending',
      message: 'slow, quick',
    });
    expect(await taintsOf()).toEqual(['karpenter.sh/unregistered', 'dedicated']);
    expect((await bench.node()).metadata.finalizers).toEqual(['karpenter.sh/termination']);
    asked.length = 0;
    isReady = true;
    await bench.run(1_800);
    expect(asked).toEqual([]);
    await bench.run(300);
    expect(asked).toEqual(['slow', 'quick']);
    expect((await bench.condition('Registered'))?.status).toBe('True');
    expect(await taintsOf()).toEqual(['dedicated']);
  });

  test('that fail are pending too, and are tried again', async () => {
    let fails = true;
    const isReady = async () => {
      if (fails) throw new Error('no answer');
      return { ready: true };
    };
    bench.cloud.registrationHooks.push(
      { name: 'flaky', isReady },
      { name: 'fine', isReady: async () => ({ ready: true }) },
    );
    await bench.makeClaim();
    await bench.join();
    expect(await bench.condition('Registered')).toMatchObject({ reason: 'RegistrationHookPending', message: 'flaky' });
    fails = false;
    await bench.run(5_000);
    expect((await bench.condition('Registered'))?.status).toBe('True');
  });

  test('can add labels, which appear on the node and on the claim', async () => {
    const labels = { partition: '3' };
    bench.cloud.registrationHooks.push({ name: 'partition', isReady: async () => ({ ready: true, labels }) });
    await bench.makeClaim();
    await bench.join();
    expect((await bench.node()).metadata.labels).toMatchObject(labels);
    expect((await bench.claim()).metadata.labels).toMatchObject(labels);
  });
});

describe('a Node that is not the claim’s', () => {
  const away = { key: 'example.com/away', effect: 'NoExecute' } as const;
  const isLeftAlone = async (): Promise<void> => {
    const { metadata } = await bench.node();
    expect([metadata.finalizers, metadata.labels]).toEqual([undefined, undefined]);
    expect(await taintsOf()).not.toContain(away.key);
    expect(await bench.condition('Registered')).toMatchObject({ status: 'Unknown', reason: 'InstanceForeign' });
    expect(bench.eventsOf('InstanceForeign')[0]?.message).toContain('Node a is left alone');
  };

  test('because the machine was not launched for this cluster gets nothing of it', async () => {
    const { status } = await bench.makeClaim('a', { spec: { taints: [away] } });
    bench.cloud.foreign.set(status?.providerID ?? '', 'instance i-1 has no tag karpenter.sh/nodepool');
    await bench.join();
    await isLeftAlone();
    bench.cloud.foreign.clear();
    await bench.run(130_000);
    expect(await bench.condition('Registered')).toMatchObject({ status: 'True' });
  });

  test('because another claim that is stored has it gets nothing of it', async () => {
    const { status } = await bench.makeClaim('a', { spec: { taints: [away] } });
    await bench.machine('default', 'owner', {
      node: false,
      claim: { status: { providerID: status?.providerID ?? '' } },
    });
    const { apiVersion = '', kind = '', metadata } = await bench.claim('owner');
    bench.context.cluster.removeClaim(await bench.claim('owner'));
    const ownerReferences = [{ apiVersion, kind, name: 'owner', uid: metadata.uid ?? '' }];
    await bench.join('a', { metadata: { ownerReferences } });
    await isLeftAlone();
  });
});
