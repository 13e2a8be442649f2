// How nodes end: drained in order, with everybody's budgets, volumes and wishes, and by force only at a named time.
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../src/ports/index.ts';
import { all, conditionOf } from './harness/api.ts';
import { ofType } from './harness/manifests.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();
const doNotDisrupt = { 'karpenter.sh/do-not-disrupt': 'true' };
const lingers = (seconds: number) => ({ 'pod-delete.stage.kwok.x-k8s.io/delay': `${seconds}s` });

const onlyNodeName = async (room: Room): Promise<string> => {
  const nodes = await room.nodes();
  expect(nodes).toHaveLength(1);
  return nodes[0]?.metadata.name ?? '';
};
const deleteNode = (name: string): Promise<void> => world.api.remove(all.nodes, name);
const isGone = (room: Room, name: string) =>
  room.until(`node ${name} is gone`, async () => expect(await world.api.find(all.nodes, name)).toBeUndefined());
const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

describe.concurrent('a node that is deleted', () => {
  test('is tainted and taken from load balancers, its pods move to a new node, then machine and claim go', async () => {
    const room = await world.room('replace');
    await room.pool();
    await room.deployment('web', { replicas: 3, annotations: lingers(5), spec: { terminationGracePeriodSeconds: 30 } });
    await room.runs('web', 3);
    const old = await onlyNodeName(room);
    const [claim] = await room.claims();
    await deleteNode(old);
    await room.until('the node says it is leaving', async () => {
      const node = await world.api.get(all.nodes, old);
      expect(node.spec?.taints).toContainEqual({ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' });
      expect(node.metadata.labels?.['node.kubernetes.io/exclude-from-external-load-balancers']).toBe('karpenter');
    });
    await room.until('the claim says it drains', async () => {
      const draining = await world.api.get(all.nodeClaims, claim?.metadata.name ?? '');
      expect(draining.metadata.deletionTimestamp).toBeDefined();
      expect(conditionOf(draining, 'Drained')).toMatchObject({ status: 'Unknown', reason: 'Draining' });
    });
    await isGone(room, old);
    await room.until('its claim is gone', async () =>
      expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined(),
    );
    await room.runs('web', 3);
    expect(await onlyNodeName(room)).not.toBe(old);
    await room.until('the evictions are reported', async () => {
      const evicted = await room.events('Evicted');
      expect(evicted.length).toBeGreaterThanOrEqual(3);
      expect(evicted[0]).toMatchObject({ type: 'Normal', message: 'Evicted pod: Forceful Termination' });
    });
  });

  test('lets go of pods in four groups, each only when the one before is gone', async () => {
    const room = await world.room('order');
    await room.pool({ requirements: [ofType('c-8x-amd64-linux')] });
    const critical = { priorityClassName: 'system-cluster-critical', terminationGracePeriodSeconds: 30 };
    const plain = { terminationGracePeriodSeconds: 30 };
    const annotations = lingers(3);
    await room.pod('a-plain', { annotations, spec: plain });
    await room.runs('a-plain', 1);
    await room.daemonSet('b-daemon', { annotations, spec: plain });
    await room.pod('c-critical', { annotations, spec: critical });
    await room.daemonSet('d-critical-daemon', { annotations, spec: critical });
    const groups = ['a-plain', 'b-daemon', 'c-critical', 'd-critical-daemon'];
    for (const app of groups) await room.runs(app, 1);
    const node = await onlyNodeName(room);
    const before = new Map((await room.pods()).map((pod) => [pod.metadata.uid, pod.metadata.labels?.['app']]));
    await deleteNode(node);
    const order: string[] = [];
    await room.until('all four are asked to go', async () => {
      const now = (await room.pods()).filter(({ metadata }) => before.has(metadata.uid));
      const there = new Set(now.map(({ metadata }) => metadata.labels?.['app']));
      for (const pod of now.filter(isLeaving)) {
        const app = pod.metadata.labels?.['app'] ?? '';
        if (order.includes(app)) continue;
        for (const earlier of groups.slice(0, groups.indexOf(app))) expect([...there]).not.toContain(earlier);
        order.push(app);
      }
      expect(order).toEqual(groups);
    });
    await isGone(room, node);
  });

  test('is held by a budget that allows nothing, and goes when it allows', async () => {
    const room = await world.room('pdb');
    await room.pool();
    await room.deployment('web', { replicas: 2 });
    await room.budget('web', { maxUnavailable: 0 });
    await room.runs('web', 2);
    const node = await onlyNodeName(room);
    await deleteNode(node);
    await room.until('the node says why', async () => {
      const messages = (await room.events('FailedDraining', node)).map(({ message }) => message);
      expect(messages.join('\n')).toMatch(/Failed to drain node, evicting pod violates a PDB \(Pod=pdb\/web-/);
      expect(messages.join('\n')).toMatch(/Failed to drain node, 2 pods are waiting to be evicted/);
    });
    expect(await room.ready('web')).toHaveLength(2);
    await room.budget('web', { maxUnavailable: 1 });
    await isGone(room, node);
    await room.runs('web', 2);
  });

  test('says that a pod has two budgets', async () => {
    const room = await world.room('two-pdbs');
    await room.pool();
    await room.deployment('web', { replicas: 1, labels: { also: 'other' } });
    await room.budget('web', { maxUnavailable: 1 });
    await room.apply({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'second', namespace: room.name },
      spec: { maxUnavailable: 1, selector: { matchLabels: { also: 'other' } } },
    });
    await room.runs('web', 1);
    const node = await onlyNodeName(room);
    await deleteNode(node);
    await room.until('the node says why', async () => {
      const messages = (await room.events('FailedDraining', node)).map(({ message }) => message);
      expect(messages.join('\n')).toMatch(/eviction does not support multiple PDBs \(Pod=two-pdbs\/web-/);
    });
    // Both: Kubernetes may have kept the status of only one of them.
    for (const name of ['web', 'second']) await world.api.remove(all.podDisruptionBudgets, name, room.name);
    await isGone(room, node);
  });

  test('never has more pods down than the budget allows', async () => {
    const room = await world.room('pdb-count');
    await room.pool();
    await room.deployment('web', { replicas: 4 });
    await room.budget('web', { maxUnavailable: 1 });
    await room.runs('web', 4);
    await room.until('the budget is known', async () =>
      expect((await world.api.get(all.podDisruptionBudgets, 'web', room.name)).status?.disruptionsAllowed).toBe(1),
    );
    const node = await onlyNodeName(room);
    await deleteNode(node);
    let least = 4;
    await room.until('the node is gone', async () => {
      least = Math.min(least, (await room.ready('web')).length);
      expect(await world.api.find(all.nodes, node)).toBeUndefined();
    });
    expect(least).toBeGreaterThanOrEqual(3);
    await room.runs('web', 4);
  });

  test('waits for a protected pod as long as there is no deadline', async () => {
    const room = await world.room('protected');
    await room.pool();
    await room.pod('guarded', { annotations: doNotDisrupt });
    await room.pod('plain');
    await room.runs('guarded', 1);
    await room.runs('plain', 1);
    const node = await onlyNodeName(room);
    await deleteNode(node);
    await room.until('the other pod is gone', async () => expect(await room.pods('plain')).toEqual([]));
    await room.stays('the protected pod runs', 10, async () => expect(await room.ready('guarded')).toHaveLength(1));
    await world.api.remove(all.pods, 'guarded', room.name);
    await isGone(room, node);
  });

  test('takes a protected pod by force when its grace period ends, and says so before', async () => {
    const room = await world.room('forced');
    await room.pool({ template: { terminationGracePeriod: '20s' } });
    await room.pod('guarded', { annotations: doNotDisrupt, spec: { terminationGracePeriodSeconds: 5 } });
    await room.budget('guarded', { maxUnavailable: 0 });
    await room.runs('guarded', 1);
    const node = await onlyNodeName(room);
    const [claim] = await room.claims();
    await deleteNode(node);
    const deadline = await room.until('the claim has its deadline', async () => {
      const { metadata } = await world.api.get(all.nodeClaims, claim?.metadata.name ?? '');
      const at = metadata.annotations?.['karpenter.sh/nodeclaim-termination-timestamp'] ?? 'not yet';
      expect(Date.parse(at)).not.toBeNaN();
      expect(Date.parse(at)).toBe(Date.parse(metadata.deletionTimestamp ?? '') + 20_000);
      return at;
    });
    await room.until('both are warned', async () => {
      for (const subject of [node, claim?.metadata.name ?? '']) {
        const [event] = await room.events('TerminationGracePeriodExpiring', subject);
        expect(event).toMatchObject({ type: 'Warning', message: `All pods will be deleted by ${deadline}` });
      }
    });
    await isGone(room, node);
    const [event] = await room.events('Disrupted', 'guarded');
    expect(event?.type).toBe('Normal');
    expect(event?.message).toContain(`Deleting the pod to accommodate the terminationTime ${deadline} of the node.`);
    expect(event?.message).toMatch(/was granted \d+ seconds of grace-period of its 5 terminationGracePeriodSeconds/);
    expect(await room.pods('guarded')).toEqual([]);
  });

  test('leaves alone the pods that tolerate its leaving', async () => {
    const room = await world.room('tolerant');
    await room.pool();
    await room.pod('plain');
    await room.runs('plain', 1);
    await room.daemonSet('agent', { spec: { tolerations: [{ operator: 'Exists' }] } });
    await room.runs('agent', 1);
    const node = await onlyNodeName(room);
    await deleteNode(node);
    let wasEvicted = false;
    await room.until('the node is gone', async () => {
      const there = await world.api.find(all.nodes, node);
      if (there !== undefined) wasEvicted ||= (await room.pods('agent')).some(isLeaving);
      expect(there).toBeUndefined();
    });
    expect(await room.events('Evicted', 'plain')).toHaveLength(1);
    expect(
      wasEvicted &&
        (await room.events('Evicted')).some(({ involvedObject }) => involvedObject.name.startsWith('agent')),
    ).toBe(false);
  });

  test('waits until its volumes are detached', async () => {
    const room = await world.room('volumes');
    await room.pool();
    await room.pod('plain');
    await room.runs('plain', 1);
    const node = await onlyNodeName(room);
    await world.api.apply(
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: 'volumes-disk' },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'csi.example.com', volumeHandle: 'disk' },
        },
      },
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name: 'volumes-attachment', finalizers: ['example.com/attacher'] },
        spec: { attacher: 'csi.example.com', nodeName: node, source: { persistentVolumeName: 'volumes-disk' } },
      },
    );
    await deleteNode(node);
    const [claim] = await room.claims();
    await room.until('it says what it waits for', async () => {
      const [event] = await room.events('AwaitingVolumeDetachment', node);
      expect(event?.message).toBe('Awaiting deletion of bound volumeattachments (volumes-attachment)');
      const waiting = await world.api.get(all.nodeClaims, claim?.metadata.name ?? '');
      expect(conditionOf(waiting, 'Drained')?.status).toBe('True');
      expect(conditionOf(waiting, 'VolumesDetached')).toMatchObject({
        status: 'Unknown',
        reason: 'AwaitingVolumeDetachment',
        message: 'AwaitingVolumeDetachment',
      });
    });
    await world.api.remove(all.volumeAttachments, 'volumes-attachment');
    await world.api.patch(all.volumeAttachments, 'volumes-attachment', { metadata: { finalizers: null } });
    await isGone(room, node);
  });
});

describe.concurrent('a claim that is deleted', () => {
  test('drains its node, and its pods get another', async () => {
    const room = await world.room('claim-deleted');
    await room.pool();
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    const node = await onlyNodeName(room);
    const [claim] = await room.claims();
    await world.api.remove(all.nodeClaims, claim?.metadata.name ?? '');
    await isGone(room, node);
    await room.until('the claim is gone', async () =>
      expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined(),
    );
    await room.runs('web', 2);
    await room.until('its end is reported', async () => {
      const events = await room.events('Finalized', claim?.metadata.name);
      expect(events[0]).toMatchObject({ type: 'Normal', message: 'Finalized karpenter.sh/termination' });
    });
  });

  test('whose machine vanished is released without a drain', async () => {
    const room = await world.room('vanished');
    await room.pool();
    await room.pod('guarded', { annotations: doNotDisrupt });
    await room.runs('guarded', 1);
    const node = await onlyNodeName(room);
    await world.api.patch(all.nodes, node, { metadata: { annotations: { 'kwok.x-k8s.io/node': 'gone' } } });
    await world.api.patch(
      all.nodes,
      node,
      { status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Test', message: '' }] } },
      { subresource: 'status', type: 'strategic' },
    );
    await deleteNode(node);
    await isGone(room, node);
    expect(await room.events('Evicted', 'guarded')).toEqual([]);
  });
});

describe.concurrent('a pool that is deleted', () => {
  test('takes its claims and nodes with it, drained', async () => {
    const room = await world.room('pool-deleted');
    const pool = await room.pool();
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    await world.api.remove(all.nodePools, pool);
    await room.until('all of it is gone', async () => {
      expect(await room.nodes()).toEqual([]);
      expect(await room.claims()).toEqual([]);
      expect(await room.pools()).toEqual([]);
    });
    expect(await room.pods('web')).toHaveLength(2);
    expect(await room.ready('web')).toEqual([]);
    await room.until('the evictions are reported', async () =>
      expect((await room.events('Evicted')).length).toBeGreaterThanOrEqual(2),
    );
  });

  test('while its nodes are still coming leaves nothing behind', async () => {
    const room = await world.room('pool-in-flight');
    await world.api.apply({
      apiVersion: 'karpenter.kwok.sh/v1alpha1',
      kind: 'KWOKNodeClass',
      metadata: { name: 'slow' },
      spec: { nodeRegistrationDelay: '8s' },
    });
    const ref = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'slow' };
    const pool = await room.pool({ template: { nodeClassRef: ref } });
    await room.deployment('web', { replicas: 2 });
    await room.until('a claim is launched', async () => {
      const [claim] = await room.claims();
      expect(conditionOf(claim, 'Launched')?.status).toBe('True');
    });
    await world.api.remove(all.nodePools, pool);
    await room.until('all of it is gone', async () => {
      expect(await room.claims()).toEqual([]);
      expect(await room.pools()).toEqual([]);
    });
    await room.stays('no node comes late', 12, async () => expect(await room.nodes()).toEqual([]));
  });
});
