import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Node, resources } from '../../../ports/index.ts';
import { nodeClaims } from '../../own-resources.ts';
import { asStaying, type LifecycleBench, openLifecycle } from '../../testing/lifecycle.testing.ts';

const deadline = 'karpenter.sh/nodeclaim-termination-timestamp';
const nodeClassLabel = 'karpenter.kwok.sh/kwoknodeclass';
const ours = { finalizers: ['karpenter.sh/termination'], labels: { [nodeClassLabel]: 'default' } };

let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle();
});
afterEach(() => bench.close());

const deleteNode = async (name = 'a'): Promise<void> => {
  await bench.remove(resources.nodes, name);
  await bench.run(100);
};
/** Ends every pod that was asked to go, as a kubelet would. */
const endTerminating = async (): Promise<void> => {
  const pods = await bench.list(resources.pods);
  for (const { metadata } of pods)
    if (metadata.deletionTimestamp !== undefined) await bench.endPod(metadata.name ?? '');
};
const isReadyNow = { conditions: [{ type: 'Ready', status: 'True' }] };

describe('a deleted node', () => {
  test('goes with its claim and its machine', async () => {
    await bench.makeMachine();
    await deleteNode();
    expect((await bench.claim()).metadata.deletionTimestamp).toBeDefined();
    expect(await bench.condition('DeletionReason')).toMatchObject({
      reason: 'NodeDeleted',
      message: 'its Node a was deleted',
    });
    await bench.run(30_000);
    expect(await bench.isNodeGone()).toBe(true);
    expect(await bench.isGone()).toBe(true);
    expect(bench.cloud.machines.size).toBe(0);
    expect(bench.eventsOf('NodeDeleted')).toHaveLength(1);
  });

  test('goes also without a claim, and no machine is asked for', async () => {
    await bench.kube.create(resources.nodes, {
      metadata: { name: 'a', ...ours },
      spec: { providerID: 'scripted://x' },
    });
    await bench.apply(resources.nodes, { metadata: { name: 'a' }, status: isReadyNow });
    bench.cloud.launch('scripted://x');
    await bench.run(100);
    await deleteNode();
    expect(await bench.isNodeGone()).toBe(true);
    expect(bench.cloud.deletions).toEqual([]);
  });

  test('stays while a claim that no cache shows is stored and has its machine', async () => {
    await bench.makeMachine();
    await bench.run(30_000);
    const claim = await bench.claim();
    bench.context.cluster.removeClaim(claim);
    await deleteNode();
    await bench.run(60_000);
    expect([await bench.isNodeGone(), bench.cloud.deletions]).toEqual([false, []]);
  });

  test('another Node that has taken its name keeps its finalizer', async () => {
    await bench.kube.create(resources.nodes, {
      metadata: { name: 'a', ...ours },
      spec: { providerID: 'scripted://x' },
    });
    await bench.run(100);
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = async (resource, ref, change, options) => {
      if (JSON.stringify(change.body).includes('deleteFromPrimitiveList')) {
        // In the moment before it is released it goes otherwise, and the next machine with its address joins.
        bench.kube.patch = patch;
        await patch(resource, ref, { type: 'merge', body: { metadata: { finalizers: [] } } });
        await bench.kube.create(resources.nodes, { metadata: { name: 'a', ...ours } });
      }
      return patch(resource, ref, change, options);
    };
    await deleteNode();
    await bench.run(1_000);
    const { finalizers, deletionTimestamp } = (await bench.node()).metadata;
    expect({ finalizers, deletionTimestamp }).toEqual({ finalizers: ours.finalizers, deletionTimestamp: undefined });
  });

  test('stays while the API server has a pod on it that no cache shows, and its machine too', async () => {
    await bench.makeMachine();
    const unseen = { metadata: { name: 'unseen', namespace: 'default', uid: 'unseen' }, spec: { containers: [] } };
    const catchUp = bench.storedOtherwise(resources.pods, (pods) => [...pods, unseen]);
    await deleteNode();
    await bench.run(60_000);
    expect([await bench.isNodeGone(), bench.cloud.deletions]).toEqual([false, []]);
    expect((await bench.condition('Drained'))?.status).toBe('Unknown');
    catchUp();
    await bench.run(30_000);
    expect([await bench.isNodeGone(), bench.cloud.machines.size]).toEqual([true, 0]);
  });

  test.each<[string, (node: Node) => Node | undefined]>([
    ['has it as one that stays', asStaying],
    ['has another of that name', (node) => ({ ...node, metadata: { ...node.metadata, uid: 'another' } })],
    ['does not have it', () => undefined],
  ])('does not end its claim while the API server %s', async (_, change) => {
    await bench.makeMachine();
    const catchUp = bench.storedOtherwise(resources.nodes, (nodes) => nodes.flatMap((node) => change(node) ?? []));
    await deleteNode();
    await bench.run(60_000);
    expect((await bench.claim()).metadata.deletionTimestamp).toBeUndefined();
    expect(bench.cloud.deletions).toEqual([]);
    catchUp();
    await bench.run(40_000);
    expect([await bench.isNodeGone(), bench.cloud.machines.size]).toEqual([true, 0]);
  });

  test('keeps its machine while the API server has its claim as one that stays', async () => {
    await bench.makeMachine();
    const catchUp = bench.storedOtherwise(nodeClaims, (claims) => claims.map(asStaying));
    await deleteNode();
    await bench.run(60_000);
    expect([await bench.isNodeGone(), bench.cloud.deletions]).toEqual([false, []]);
    expect(bench.log.lines).toContainEqual(expect.objectContaining({ message: 'keeping instance for now' }));
    catchUp();
    await bench.run(30_000);
    expect([await bench.isNodeGone(), bench.cloud.machines.size]).toEqual([true, 0]);
  });

  test('goes also when two claims have its provider id, and then without either', async () => {
    await bench.makeMachine();
    const { status } = await bench.claim();
    await bench.machine('default', 'twin', {
      node: false,
      claim: { status: { providerID: status?.providerID ?? '' } },
    });
    await bench.run(100);
    await deleteNode();
    await bench.run(1_000);
    expect(await bench.isNodeGone()).toBe(true);
    expect((await bench.claim('a')).metadata.deletionTimestamp).toBeUndefined();
    expect((await bench.claim('twin')).metadata.deletionTimestamp).toBeUndefined();
  });

  test('that names the machine of another Node goes alone', async () => {
    await bench.makeMachine();
    const spec = { providerID: (await bench.claim()).status?.providerID ?? '' };
    await bench.kube.create(resources.nodes, { metadata: { name: 'foreign', ...ours }, spec });
    await bench.apply(resources.nodes, { metadata: { name: 'foreign' }, status: isReadyNow });
    await bench.run(100);
    await deleteNode('foreign');
    await bench.run(30_000);
    expect([await bench.isNodeGone('foreign'), await bench.isNodeGone()]).toEqual([true, false]);
    expect((await bench.claim()).metadata.deletionTimestamp).toBeUndefined();
    expect(bench.cloud.deletions).toEqual([]);
  });

  test('of someone else is left alone', async () => {
    await bench.kube.create(resources.nodes, { metadata: { name: 'a', finalizers: ours.finalizers }, spec: {} });
    await bench.run(100);
    await deleteNode();
    await bench.run(60_000);
    expect((await bench.node()).spec?.taints?.some(({ key }) => key === 'karpenter.sh/disrupted')).toBe(false);
  });

  test('that is not Ready and whose machine is gone is released at once', async () => {
    await bench.makeMachine();
    await bench.runPod('web');
    await bench.setReadiness('Unknown');
    bench.cloud.machines.clear();
    await deleteNode();
    expect(await bench.isNodeGone()).toBe(true);
    expect(await bench.isTerminating('web')).toBe(false);
  });

  test('that only the cache has as not Ready is drained when the provider says that its machine is gone', async () => {
    await bench.makeMachine();
    await bench.runPod('web');
    await bench.setReadiness('Unknown');
    bench.storedOtherwise(resources.nodes, (nodes) =>
      nodes.map((node) => ({ ...node, status: { ...node.status, ...isReadyNow } })),
    );
    bench.cloud.machines.clear();
    await deleteNode();
    await bench.run(1_000);
    expect(await bench.isTerminating('web')).toBe(true);
    expect(await bench.isNodeGone()).toBe(false);
  });

  test('that is Ready is drained even when the provider says that its machine is gone', async () => {
    await bench.makeMachine();
    await bench.runPod('web');
    bench.cloud.machines.clear();
    await deleteNode();
    await bench.run(1_000);
    expect(await bench.isTerminating('web')).toBe(true);
    expect(await bench.isNodeGone()).toBe(false);
    await endTerminating();
    await bench.run(10_000);
    expect(await bench.isNodeGone()).toBe(true);
  });

  test('that is not Ready is drained while its machine is there', async () => {
    await bench.makeMachine();
    await bench.runPod('web');
    await bench.setReadiness('False');
    await deleteNode();
    await bench.run(1_000);
    expect(await bench.isTerminating('web')).toBe(true);
  });

  test('is tainted against new pods and taken out of load balancers', async () => {
    await bench.makeMachine();
    await bench.runPod('web');
    await bench.apply(resources.nodes, {
      metadata: { name: 'a' },
      spec: {
        taints: [
          { key: 'karpenter.sh/disrupted', value: 'old', effect: 'NoExecute' },
          { key: 'dedicated', effect: 'NoSchedule' },
        ],
      },
    });
    await deleteNode();
    const { metadata, spec } = await bench.node();
    expect(spec?.taints).toEqual([
      { key: 'dedicated', effect: 'NoSchedule' },
      { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' },
    ]);
    expect(metadata.labels?.['node.kubernetes.io/exclude-from-external-load-balancers']).toBe('karpenter');
    expect(bench.log.lines.filter(({ message }) => message === 'tainted node')).toHaveLength(1);
  });

  test('loses only our finalizer', async () => {
    await bench.makeMachine();
    const { finalizers = [] } = (await bench.node()).metadata;
    await bench.apply(resources.nodes, { metadata: { name: 'a', finalizers: [...finalizers, 'example.com/keep'] } });
    await deleteNode();
    await bench.run(30_000);
    expect((await bench.node()).metadata.finalizers).toEqual(['example.com/keep']);
  });

  test('is counted with how long its end and its life took', async () => {
    await bench.makeMachine();
    await bench.run(3_600_000);
    await deleteNode();
    await bench.run(60_000);
    const nodepool = 'default';
    expect(bench.metrics.value('karpenter_nodes_terminated_total', { nodepool, zone: 'zone-a' })).toBe(1);
    expect(bench.metrics.value('karpenter_nodes_drained_total', { nodepool })).toBe(1);
    expect(bench.metrics.value('karpenter_nodes_termination_duration_seconds', { nodepool })).toBeGreaterThan(4);
    expect(bench.metrics.value('karpenter_nodes_lifetime_duration_seconds', { nodepool })).toBeGreaterThan(3_600);
    expect(bench.log.lines.some(({ message }) => message === 'deleted node')).toBe(true);
  });
});

describe('draining', () => {
  test('goes through the four groups in order, each only when the one before is gone', async () => {
    await bench.makeMachine();
    const labels = { app: 'agents' };
    const { metadata } = await bench.kube.create(resources.daemonSets, {
      metadata: { name: 'agents', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.com/agent' }] } },
      },
    });
    const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agents', uid: metadata.uid ?? '' };
    await bench.runPod('ordinary');
    await bench.runPod('daemon', { metadata: { ownerReferences: [daemonSet] } });
    await bench.runPod('critical', { spec: { priorityClassName: 'system-cluster-critical' } });
    await bench.runPod('critical-daemon', {
      metadata: { ownerReferences: [daemonSet] },
      spec: { priorityClassName: 'system-node-critical' },
    });
    const going = async (): Promise<string[]> =>
      (await bench.list(resources.pods))
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.name ?? '');
    await deleteNode();
    for (const name of ['ordinary', 'daemon', 'critical', 'critical-daemon']) {
      await bench.run(5_000);
      expect(await going()).toEqual([name]);
      await bench.endPod(name);
    }
    await bench.run(10_000);
    expect(await bench.isNodeGone()).toBe(true);
  });

  test('says how many pods it waits for, on the claim and in an event', async () => {
    await bench.makeMachine();
    await bench.runPod('one');
    await bench.runPod('two', { spec: { priorityClassName: 'system-node-critical' } });
    await deleteNode();
    expect(await bench.condition('Drained')).toMatchObject({
      status: 'Unknown',
      reason: 'Draining',
      message: 'Draining',
    });
    expect(bench.eventsOf('FailedDraining')[0]).toMatchObject({
      type: 'Warning',
      subject: { kind: 'Node', name: 'a' },
      message: 'Failed to drain node, 2 pods are waiting to be evicted',
    });
  });

  test('takes at least five seconds even when there is nothing to drain', async () => {
    await bench.makeMachine();
    await deleteNode();
    await bench.run(3_500);
    expect((await bench.condition('Drained'))?.status).toBe('Unknown');
    expect(bench.cloud.deletions).toEqual([]);
    await bench.run(2_000);
    expect(bench.cloud.deletions).toHaveLength(1);
    expect(await bench.condition('Drained')).toMatchObject({ status: 'True', reason: 'Drained' });
  });

  test('waits for a protected pod, for ever without a grace period', async () => {
    await bench.makeMachine();
    await bench.runPod('protected', { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
    await deleteNode();
    await bench.run(3_600_000);
    expect(await bench.isTerminating('protected')).toBe(false);
    expect(await bench.isNodeGone()).toBe(false);
  });

  test('leaves alone pods that tolerate the disruption, static pods and finished ones', async () => {
    await bench.makeMachine();
    await bench.runPod('tolerant', { spec: { tolerations: [{ key: 'karpenter.sh/disrupted', operator: 'Exists' }] } });
    await bench.runPod('done', { status: { phase: 'Succeeded' } });
    await deleteNode();
    await bench.run(10_000);
    expect(bench.eventsOf('Evicted')).toEqual([]);
    expect(await bench.isNodeGone()).toBe(true);
  });

  test('waits for a pod that only a wrong clock calls stuck', async () => {
    await bench.makeMachine();
    const dayMs = 86_400_000;
    const { metadata, ...pod } = await bench.runPod('ending', { spec: { terminationGracePeriodSeconds: 3_600 } });
    // As the server writes it, whose clock is right.
    bench.time.heard(bench.clock.now() - dayMs);
    const ending = { ...pod, metadata: { ...metadata, deletionTimestamp: bench.nowPlus(3_600_000 - dayMs) } };
    bench.context.cluster.setPod(ending);
    bench.storedOtherwise(resources.pods, () => [ending]);
    await deleteNode();
    await bench.run(600_000);
    expect([await bench.isNodeGone(), bench.cloud.deletions]).toEqual([false, []]);
  });

  test('goes on without a pod that is stuck for more than a minute', async () => {
    await bench.makeMachine();
    await bench.runPod('stuck', { spec: { terminationGracePeriodSeconds: 10 } });
    await deleteNode();
    await bench.run(65_000);
    expect(await bench.isNodeGone()).toBe(false);
    await bench.run(20_000);
    expect(await bench.isNodeGone()).toBe(true);
  });
});

describe('the pods of a node that the cache has as deleted', () => {
  test.each<[string, (node: Node) => Node | undefined]>([
    ['has it as one that stays', asStaying],
    ['has another of that name', (node) => ({ ...node, metadata: { ...node.metadata, uid: 'another' } })],
    ['does not have it', () => undefined],
  ])('stay while the API server %s', async (_, change) => {
    await bench.makeMachine();
    await bench.runPod('web');
    // Both are cached as deleted, so the claim does not ask for the Node any more.
    const catchUp = bench.storedOtherwise(resources.nodes, (nodes) => nodes.flatMap((node) => change(node) ?? []));
    await bench.remove(nodeClaims, 'a');
    await bench.run(60_000);
    expect((await bench.node()).metadata.deletionTimestamp).toBeDefined();
    expect(await bench.isTerminating('web')).toBe(false);
    expect(bench.log.lines).toContainEqual(expect.objectContaining({ message: 'keeping node for now' }));
    catchUp();
    await bench.run(15_000);
    expect(await bench.isTerminating('web')).toBe(true);
  });

  test('stay when a drain under way is no longer what is stored', async () => {
    await bench.makeMachine();
    await bench.runPod('first');
    await bench.runPod('critical', { spec: { priorityClassName: 'system-cluster-critical' } });
    await deleteNode();
    await bench.run(2_000);
    expect([await bench.isTerminating('first'), await bench.isTerminating('critical')]).toEqual([true, false]);
    bench.storedOtherwise(resources.nodes, (nodes) => nodes.map(asStaying));
    await bench.run(60_000);
    await endTerminating();
    await bench.run(60_000);
    expect(await bench.isTerminating('critical')).toBe(false);
  });

  test('cost a look at what is stored once a minute, not with every pod', async () => {
    await bench.makeMachine();
    await bench.runPod('web', { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
    let looks = 0;
    bench.storedOtherwise(resources.nodes, (nodes) => {
      looks += 1;
      return nodes;
    });
    await deleteNode();
    await bench.run(10 * 60_000);
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThanOrEqual(12);
  });

  test('are not taken by force for a deadline that is not stored any more', async () => {
    await bench.makeMachine('a', { spec: { terminationGracePeriod: '2m' } });
    await bench.runPod('web', { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
    const later = { [deadline]: bench.nowPlus(3_600_000) };
    const catchUp = bench.storedOtherwise(nodeClaims, (claims) =>
      claims.map((each) => ({ ...each, metadata: { ...each.metadata, annotations: later } })),
    );
    await deleteNode();
    await bench.run(5 * 60_000);
    expect(await bench.isTerminating('web')).toBe(false);
    catchUp();
    await bench.run(15_000);
    expect(await bench.isTerminating('web')).toBe(true);
  });
});

describe('a deadline', () => {
  const grace = { spec: { terminationGracePeriod: '5m' } };

  test('is reported on the node', async () => {
    await bench.makeMachine('a', grace);
    await bench.runPod('protected', { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
    await deleteNode();
    await bench.run(1_000);
    const at = (await bench.claim()).metadata.annotations?.[deadline];
    const reported = bench.eventsOf('TerminationGracePeriodExpiring').find(({ subject }) => subject.kind === 'Node');
    expect(reported).toMatchObject({ type: 'Warning', message: `All pods will be deleted by ${at}` });
  });

  test('takes protected pods by force, early enough for their own grace period', async () => {
    await bench.makeMachine('a', grace);
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    await bench.runPod('short', { metadata: { annotations }, spec: { terminationGracePeriodSeconds: 30 } });
    await bench.runPod('long', { metadata: { annotations }, spec: { terminationGracePeriodSeconds: 120 } });
    await bench.runPod('longest', { metadata: { annotations }, spec: { terminationGracePeriodSeconds: 900 } });
    await deleteNode();
    await bench.run(2_000);
    expect([await bench.isTerminating('longest'), await bench.isTerminating('long')]).toEqual([true, false]);
    await bench.run(176_000);
    expect(await bench.isTerminating('long')).toBe(false);
    await bench.run(5_000);
    expect([await bench.isTerminating('long'), await bench.isTerminating('short')]).toEqual([true, false]);
    await bench.run(90_000);
    expect(await bench.isTerminating('short')).toBe(true);
    const at = (await bench.claim()).metadata.annotations?.[deadline];
    const [, event] = bench.eventsOf('Disrupted');
    const granted = (await bench.pod('long'))?.metadata.deletionGracePeriodSeconds;
    expect(granted).toBeGreaterThanOrEqual(118);
    expect(event).toMatchObject({
      type: 'Normal',
      subject: { kind: 'Pod', name: 'long' },
      message: `Deleting the pod to accommodate the terminationTime ${at} of the node. The pod was granted ${granted} seconds of grace-period of its 120 terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.`,
    });
  });

  test('cuts the grace period of pods that were asked to go with more time', async () => {
    await bench.makeMachine('a', grace);
    await bench.runPod('slow', { spec: { terminationGracePeriodSeconds: 3_600 } });
    await bench.kube.delete(resources.pods, { name: 'slow', namespace: 'default' });
    await bench.run(100);
    await deleteNode();
    await bench.run(2_000);
    const pod = await bench.pod('slow');
    const at = (await bench.claim()).metadata.annotations?.[deadline] ?? '';
    expect(Date.parse(pod?.metadata.deletionTimestamp ?? '')).toBeLessThanOrEqual(Date.parse(at));
  });

  test('that cannot be read keeps the node as it is until it is fixed', async () => {
    await bench.makeMachine('a', { metadata: { annotations: { [deadline]: 'soon' } } });
    await deleteNode();
    await bench.run(60_000);
    expect(await bench.isNodeGone()).toBe(false);
    expect(bench.log.lines.some(({ error }) => String(error).includes('2026-01-31T12:00:00Z'))).toBe(true);
    await bench.apply(nodeClaims, { metadata: { name: 'a', annotations: { [deadline]: bench.nowPlus(0) } } });
    await bench.run(60_000);
    expect(await bench.isNodeGone()).toBe(true);
  });
});

describe('volumes', () => {
  const attach = (name: string, persistentVolumeName: string | undefined, nodeName = 'a') =>
    bench.kube.create(resources.volumeAttachments, {
      metadata: { name },
      spec: { attacher: 'csi.example', nodeName, source: { persistentVolumeName } },
    } as never);
  const detach = (name: string) => bench.kube.delete(resources.volumeAttachments, { name });

  test('are waited for, on the claim and in an event that names the first five', async () => {
    await bench.makeMachine();
    for (let index = 1; index <= 6; index += 1) await attach(`va-${index}`, `pv-${index}`);
    await attach('elsewhere', 'pv-9', 'other');
    await bench.run(100);
    await deleteNode();
    await bench.run(20_000);
    expect(await bench.condition('VolumesDetached')).toMatchObject({
      status: 'Unknown',
      reason: 'AwaitingVolumeDetachment',
      message: 'AwaitingVolumeDetachment',
    });
    expect(bench.eventsOf('AwaitingVolumeDetachment')[0]).toMatchObject({
      type: 'Normal',
      subject: { kind: 'Node', name: 'a' },
      message: 'Awaiting deletion of bound volumeattachments (va-1, va-2, va-3, va-4, va-5 and 1 other(s))',
    });
    expect(bench.cloud.deletions).toEqual([]);
    for (let index = 1; index <= 6; index += 1) await detach(`va-${index}`);
    await bench.run(100);
    expect(bench.cloud.deletions).toHaveLength(1);
    expect((await bench.condition('VolumesDetached'))?.status).toBe('True');
    await bench.run(10_000);
    expect(await bench.isNodeGone()).toBe(true);
  });

  test('of pods that stay to the end are not waited for, nor attachments without a volume', async () => {
    await bench.makeMachine();
    const claim = (name: string, volumeName: string) =>
      bench.kube.create(resources.persistentVolumeClaims, {
        metadata: { name, namespace: 'default' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName },
      });
    await claim('data', 'pv-1');
    await claim('tolerant-scratch', 'pv-2');
    await bench.runPod('tolerant', {
      spec: {
        tolerations: [{ operator: 'Exists' }],
        volumes: [
          { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
          {
            name: 'scratch',
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
              },
            },
          },
        ],
      },
    });
    await attach('va-1', 'pv-1');
    await attach('va-2', 'pv-2');
    await bench.run(100);
    await deleteNode();
    await bench.run(20_000);
    expect(await bench.isNodeGone()).toBe(true);
  });

  test('are not waited for past the deadline', async () => {
    await bench.makeMachine('a', { spec: { terminationGracePeriod: '1m' } });
    await attach('va-1', 'pv-1');
    bench.cloud.outlives = 100;
    await bench.run(100);
    await deleteNode();
    await bench.run(55_000);
    expect(bench.cloud.deletions).toEqual([]);
    await bench.run(10_000);
    expect(bench.cloud.deletions.length).toBeGreaterThan(0);
    expect(await bench.condition('VolumesDetached')).toMatchObject({
      status: 'False',
      reason: 'TerminationGracePeriodElapsed',
      message: 'TerminationGracePeriodElapsed',
    });
  });
});

describe('the machine', () => {
  test('is asked for every five seconds until it is gone; the node stays until then', async () => {
    bench.cloud.outlives = 3;
    await bench.makeMachine();
    await deleteNode();
    await bench.run(6_000);
    expect(await bench.condition('InstanceTerminating')).toMatchObject({ status: 'True' });
    expect(bench.cloud.deletions).toHaveLength(1);
    await bench.run(10_000);
    expect(bench.cloud.deletions).toHaveLength(3);
    expect(await bench.isNodeGone()).toBe(false);
    await bench.run(10_000);
    expect(await bench.isNodeGone()).toBe(true);
  });

  test('is asked for again when the provider fails', async () => {
    await bench.makeMachine();
    bench.cloud.deleteError = new Error('throttled');
    await deleteNode();
    await bench.run(10_000);
    expect(await bench.isNodeGone()).toBe(false);
    bench.cloud.deleteError = undefined;
    await bench.run(30_000);
    expect(await bench.isNodeGone()).toBe(true);
    expect(await bench.isGone()).toBe(true);
  });
});

test('a deleted claim is drained the same way, through its node', async () => {
  await bench.makeMachine();
  await bench.runPod('web');
  await bench.remove(nodeClaims, 'a');
  await bench.run(1_000);
  expect(await bench.isTerminating('web')).toBe(true);
  await endTerminating();
  await bench.run(30_000);
  expect(await bench.isGone()).toBe(true);
  expect(await bench.isNodeGone()).toBe(true);
});
