import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../../api/index.ts';
import { KubeError, resources } from '../../../ports/index.ts';
import { nodeClaims, nodePools } from '../../own-resources.ts';
import { nodeClassRef } from '../../testing/bench.testing.ts';
import { asStaying, type LifecycleBench, openLifecycle } from '../../testing/lifecycle.testing.ts';
import { MachineRemoval } from '../machine-removal.ts';
import { lifecycleController } from './controller.ts';

const unheard = { succeeded: async () => {}, failed: async () => {}, refused: async () => {} };
const deadline = 'karpenter.sh/nodeclaim-termination-timestamp';
let bench: LifecycleBench;
beforeEach(async () => {
  // Without the nodes' own controller: what becomes of nodes is the test's to say.
  bench = await openLifecycle({
    controllers: (context, metrics) => [lifecycleController(context, metrics, unheard, new MachineRemoval(context))],
  });
});
afterEach(() => bench.close());

const deleteClaim = async (name = 'a'): Promise<void> => {
  await bench.remove(nodeClaims, name);
  await bench.run(100);
};
/** What the nodes' own controller does once it has drained one. */
const releaseNode = async (name = 'a'): Promise<void> => {
  await bench.apply(resources.nodes, { metadata: { name, finalizers: [] } });
  await bench.run(100);
};

describe('the finalizer', () => {
  test('is there before anything is launched', async () => {
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = () => Promise.reject(new Error('not now'));
    await bench.makeClaim();
    expect(bench.cloud.creations).toEqual([]);
    bench.kube.patch = patch;
    await bench.run(2_000);
    expect(bench.cloud.creations).toEqual(['a']);
    expect((await bench.claim()).metadata.finalizers).toEqual(['karpenter.sh/termination']);
  });

  test('is not put on claims of a node class that is not ours', async () => {
    await bench.makeClaim('a', { spec: { nodeClassRef: { ...nodeClassRef, kind: 'OtherNodeClass' } } });
    const { metadata, status } = await bench.claim();
    expect(metadata.finalizers).toBeUndefined();
    expect(status?.conditions).toBeUndefined();
    expect(bench.cloud.creations).toEqual([]);
  });

  test('keeps the finalizers of others', async () => {
    await bench.makeClaim('a', { metadata: { finalizers: ['example.com/mine'] } });
    expect((await bench.claim()).metadata.finalizers).toEqual(['example.com/mine', 'karpenter.sh/termination']);
    await deleteClaim();
    await bench.run(10_000);
    expect((await bench.claim()).metadata.finalizers).toEqual(['example.com/mine']);
  });
});

describe('a deleted claim', () => {
  test('that was never launched goes at once, without asking the provider', async () => {
    bench.cloud.createError = new Error('no');
    await bench.makeClaim();
    await bench.kube.create(resources.nodes, { metadata: { name: 'bare' } });
    await deleteClaim();
    expect(await bench.isGone()).toBe(true);
    expect(bench.cloud.deletions).toEqual([]);
    expect(await bench.isNodeGone('bare')).toBe(false);
  });

  test.each<[string, (claim: NodeClaim) => NodeClaim | undefined]>([
    ['has it as one that stays', asStaying],
    ['has another of that name', (claim) => ({ ...claim, metadata: { ...claim.metadata, uid: 'another' } })],
    ['does not have it', () => undefined],
  ])('keeps its machine while the API server %s', async (_, change) => {
    await bench.makeClaim();
    bench.storedOtherwise(nodeClaims, (claims) => claims.flatMap((claim) => change(claim) ?? []));
    await deleteClaim();
    await bench.run(60_000);
    expect([await bench.isGone(), bench.cloud.deletions]).toEqual([false, []]);
  });

  test('keeps its node while the API server has it as one that stays', async () => {
    await bench.makeMachine();
    const catchUp = bench.storedOtherwise(nodeClaims, (claims) => claims.map(asStaying));
    await deleteClaim();
    await bench.run(60_000);
    expect((await bench.node()).metadata.deletionTimestamp).toBeUndefined();
    catchUp();
    await bench.run(15_000);
    expect((await bench.node()).metadata.deletionTimestamp).toBeDefined();
  });

  test('keeps node and machine while another claim that stays names the same machine', async () => {
    await bench.makeMachine();
    const { status } = await bench.claim();
    await bench.machine('default', 'twin', {
      node: false,
      claim: { status: { providerID: status?.providerID ?? '' } },
    });
    await bench.run(100);
    await deleteClaim();
    await bench.run(60_000);
    expect((await bench.node()).metadata.deletionTimestamp).toBeUndefined();
    expect(bench.cloud.deletions).toEqual([]);
    expect(bench.log.lines).toContainEqual(
      expect.objectContaining({
        message: 'keeping instance for now',
        fields: expect.objectContaining({ reason: 'NodeClaim twin names it, too, and is not being deleted' }),
      }),
    );
    await deleteClaim('twin');
    await bench.run(15_000);
    await releaseNode();
    await bench.run(15_000);
    expect(bench.cloud.machines.size).toBe(0);
  });

  test('keeps node and machine while the claim that the Node names is stored, has them and is in no cache', async () => {
    await bench.makeMachine();
    const own = await bench.claim();
    await bench.machine('default', 'twin', {
      node: false,
      claim: {
        status: { providerID: own.status?.providerID ?? '' },
        metadata: { finalizers: ['karpenter.sh/termination'] },
      },
    });
    // As the gate hides a claim that cannot be parsed.
    bench.context.cluster.removeClaim(own);
    await deleteClaim('twin');
    await bench.run(60_000);
    expect((await bench.node()).metadata.deletionTimestamp).toBeUndefined();
    expect(bench.cloud.deletions).toEqual([]);
  });

  test('that names the machine of others leaves the Node alone', async () => {
    const providerID = 'scripted://elsewhere';
    bench.cloud.launch(providerID);
    bench.cloud.foreign.set(providerID, 'instance i-1 has no tag karpenter.sh/nodepool');
    bench.cloud.deleteError = new Error('cannot terminate: it is foreign');
    await bench.kube.create(resources.nodes, { metadata: { name: 'other' }, spec: { providerID } });
    await bench.machine('default', 'a', {
      node: false,
      claim: { status: { providerID, nodeName: 'other' }, metadata: { finalizers: ['karpenter.sh/termination'] } },
    });
    await deleteClaim();
    await bench.run(60_000);
    expect((await bench.node('other')).metadata.deletionTimestamp).toBeUndefined();
    expect(bench.eventsOf('InstanceForeign')[0]?.message).toContain('Node other is left alone');
  });

  test('that did not register takes its machine down and leaves nodes alone', async () => {
    await bench.makeClaim();
    bench.cloud.registrationHooks.push({ name: 'never', isReady: async () => ({ ready: false }) });
    const { status } = await bench.claim();
    const spec = { providerID: status?.providerID ?? '' };
    await Promise.all(['b', 'c'].map((name) => bench.kube.create(resources.nodes, { metadata: { name }, spec })));
    await bench.run(1_000);
    await deleteClaim();
    await bench.run(10_000);
    expect(await bench.isGone()).toBe(true);
    expect(bench.cloud.machines.size).toBe(0);
    expect(await bench.isNodeGone('b')).toBe(false);
  });

  test('whose node registered before the claim could say so drains it like any other', async () => {
    await bench.makeClaim();
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = (resource, ...rest) =>
      resource.plural === 'nodeclaims' ? Promise.reject(new Error('not now')) : patch(resource, ...rest);
    await bench.join();
    expect((await bench.node()).metadata.labels?.['karpenter.sh/registered']).toBe('true');
    expect((await bench.condition('Registered'))?.status).toBe('Unknown');
    await bench.remove(nodeClaims, 'a');
    bench.kube.patch = patch;
    await bench.run(60_000);
    expect((await bench.node()).metadata.deletionTimestamp).toBeDefined();
    expect(bench.cloud.deletions).toEqual([]);
    expect(await bench.isGone()).toBe(false);
    await releaseNode();
    await bench.run(10_000);
    expect(await bench.isGone()).toBe(true);
  });

  test('deletes its node first and waits until it is gone', async () => {
    await bench.makeMachine();
    await deleteClaim();
    expect((await bench.node()).metadata.deletionTimestamp).toBeDefined();
    await bench.run(60_000);
    expect(bench.cloud.deletions).toEqual([]);
    expect(await bench.isGone()).toBe(false);
    await releaseNode();
    await bench.run(10_000);
    expect(await bench.isGone()).toBe(true);
    expect(bench.cloud.machines.size).toBe(0);
  });

  test('deletes every node of its provider id and waits for all', async () => {
    await bench.makeMachine();
    const { status } = await bench.claim();
    const metadata = { name: 'twin', finalizers: ['example.com/keep'] };
    await bench.kube.create(resources.nodes, { metadata, spec: { providerID: status?.providerID ?? '' } });
    await bench.run(100);
    await deleteClaim();
    expect((await bench.node('twin')).metadata.deletionTimestamp).toBeDefined();
    await releaseNode('a');
    await bench.run(10_000);
    expect(bench.cloud.deletions).toEqual([]);
    await releaseNode('twin');
    await bench.run(10_000);
    expect(await bench.isGone()).toBe(true);
  });

  test('asks the provider every five seconds until the machine is gone, and says so in a condition', async () => {
    bench.cloud.outlives = 2;
    await bench.makeClaim();
    const isReadyBefore = (await bench.condition('Ready'))?.status;
    await deleteClaim();
    expect(await bench.condition('InstanceTerminating')).toMatchObject({
      status: 'True',
      reason: 'InstanceTerminating',
    });
    expect((await bench.condition('Ready'))?.status).toBe(isReadyBefore);
    expect(bench.cloud.deletions).toHaveLength(1);
    await bench.run(5_000);
    expect(bench.cloud.deletions).toHaveLength(2);
    await bench.run(5_000);
    expect(bench.cloud.deletions).toHaveLength(3);
    expect(await bench.isGone()).toBe(false);
    await bench.run(5_000);
    expect(await bench.isGone()).toBe(true);
    const labels = { nodepool: 'default' };
    const tookSeconds = bench.metrics.value('karpenter_nodeclaims_instance_termination_duration_seconds', labels);
    expect(tookSeconds).toBeGreaterThan(14);
    expect(tookSeconds).toBeLessThan(17);
  });

  test('tries again when the provider fails', async () => {
    await bench.makeClaim();
    bench.cloud.deleteError = new Error('throttled');
    await deleteClaim();
    await bench.run(10_000);
    expect(await bench.isGone()).toBe(false);
    expect(bench.cloud.deletions.length).toBeGreaterThan(2);
    bench.cloud.deleteError = undefined;
    await bench.run(30_000);
    expect(await bench.isGone()).toBe(true);
  });

  test('is counted when it is gone', async () => {
    await bench.makeClaim();
    await deleteClaim();
    await bench.run(10_000);
    const labels = { nodepool: 'default', capacity_type: 'spot', zone: 'zone-a' };
    expect(bench.metrics.value('karpenter_nodeclaims_terminated_total', labels)).toBe(1);
    const took = bench.metrics.value('karpenter_nodeclaims_termination_duration_seconds', { nodepool: 'default' });
    expect(took).toBeGreaterThan(4);
    expect(bench.log.lines.some(({ message }) => message === 'deleted nodeclaim')).toBe(true);
  });

  test('brings the observed generations of its conditions up to date', async () => {
    bench.cloud.outlives = 10;
    await bench.makeClaim();
    await deleteClaim();
    const { metadata, status } = await bench.claim();
    const observed = status?.conditions?.map(({ observedGeneration }) => observedGeneration);
    expect(new Set(observed)).toEqual(new Set([metadata.generation]));
  });

  test('takes down a machine whose launch could not be written because the claim was deleted meanwhile', async () => {
    const create = bench.cloud.create.bind(bench.cloud);
    bench.cloud.create = async (claim) => {
      await bench.kube.delete(nodeClaims, { name: 'a' });
      return create(claim);
    };
    await bench.makeClaim();
    await bench.run(10_000);
    expect(bench.cloud.creations).toEqual(['a']);
    expect(bench.cloud.machines.size).toBe(0);
    expect(await bench.isGone()).toBe(true);
  });
});

describe('a termination grace period', () => {
  test('becomes a deadline on the claim when it is deleted, with an event', async () => {
    await bench.makeMachine('a', { spec: { terminationGracePeriod: '5m' } });
    await deleteClaim();
    const { metadata } = await bench.claim();
    const at = new Date(Date.parse(metadata.deletionTimestamp ?? '') + 300_000).toISOString().replace('.000', '');
    expect(metadata.annotations?.[deadline]).toBe(at);
    expect(bench.log.lines).toContainEqual({
      level: 'info',
      message: 'annotated nodeclaim',
      fields: { controller: 'nodeclaim.lifecycle', NodeClaim: { name: 'a' }, [deadline]: at },
    });
    expect(bench.eventsOf('TerminationGracePeriodExpiring')).toMatchObject([
      { type: 'Warning', subject: { kind: 'NodeClaim', name: 'a' }, message: `All pods will be deleted by ${at}` },
    ]);
  });

  test('does not replace a deadline that is there', async () => {
    const given = '2026-01-01T00:30:00Z';
    await bench.makeMachine('a', {
      spec: { terminationGracePeriod: '5m' },
      metadata: { annotations: { [deadline]: given } },
    });
    await deleteClaim();
    expect((await bench.claim()).metadata.annotations?.[deadline]).toBe(given);
    expect(bench.eventsOf('TerminationGracePeriodExpiring')).toEqual([]);
  });

  test('that is not set gives no deadline', async () => {
    await bench.makeMachine();
    await deleteClaim();
    expect((await bench.claim()).metadata.annotations?.[deadline]).toBeUndefined();
  });
});

describe('a claim that ends says why', () => {
  const said = async (code: string): Promise<object> => ({
    condition: (await bench.condition('DeletionReason'))?.message,
    event: bench.eventsOf(code).map(({ message, type }) => `${type}: ${message}`),
  });
  const logged = async (): Promise<unknown> => {
    await bench.run(20_000);
    return bench.log.lines.find(({ message }) => message === 'deleted nodeclaim')?.fields?.['reason'];
  };
  beforeEach(() => {
    bench.cloud.outlives = 2;
  });

  test('when others deleted it', async () => {
    await bench.makeClaim();
    await deleteClaim();
    const message = 'its deletion was requested by a user or another program';
    await bench.run(10_000);
    expect(await said('Deleted')).toEqual({ condition: message, event: [`Normal: Deleted: ${message}`] });
    expect(await logged()).toBe(message);
  });

  test('when its NodePool was deleted, whether that is gone already or waits for its claims', async () => {
    const { metadata } = await bench.pool('default');
    const ownerReferences = [
      { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', uid: metadata.uid ?? '' },
    ];
    await bench.makeClaim('a', { metadata: { ownerReferences } });
    await bench.remove(nodePools, 'default');
    await bench.run(100);
    await deleteClaim();
    const message = 'its NodePool default was deleted';
    expect(await said('NodePoolDeleted')).toEqual({ condition: message, event: [`Normal: Deleted: ${message}`] });
    expect(await logged()).toBe(message);
  });

  test('and ends all the same when that cannot be written', async () => {
    await bench.makeClaim();
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = (resource, ref, body, options) =>
      JSON.stringify(body).includes('DeletionReason')
        ? Promise.reject(new KubeError({ reason: 'Invalid', status: 422, message: 'not this condition' }))
        : patch(resource, ref, body, options);
    await deleteClaim();
    expect(await logged()).toBe('its deletion was requested by a user or another program');
    expect(await bench.isGone()).toBe(true);
  });
});
