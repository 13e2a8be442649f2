// What happens to machines that expire, vanish, never come, or lose their objects; and the basics of voluntary disruption.
import { describe, expect, test } from 'vitest';
import { all, conditionOf } from './harness/api.ts';
import { inValues, nodeClassRef, ofType } from './harness/manifests.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();

const claimGone = (room: Room, name: string | undefined) =>
  room.until(`claim ${name} is gone`, async () =>
    expect(await world.api.find(all.nodeClaims, name ?? '')).toBeUndefined(),
  );
const nodeClass = (name: string, spec: object) => ({
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name },
  spec,
});
const refTo = (name: string) => ({ nodeClassRef: { ...nodeClassRef, name } });
const metric = async (name: string, labels: Record<string, string>) =>
  (await world.controller().metrics()).sum(name, labels);

describe.concurrent('a claim', () => {
  test('older than its expireAfter is replaced, budgets or not', async () => {
    const room = await world.room('expired');
    await room.pool({
      template: { expireAfter: '30s' },
      spec: { disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '0' }] } },
    });
    await room.deployment('web', { replicas: 2, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    await room.runs('web', 2);
    const [claim] = await room.claims();
    await room.until('the claim is asked to go', async () => {
      const leaving = await world.api.get(all.nodeClaims, claim?.metadata.name ?? '');
      expect(leaving.metadata.deletionTimestamp).toBeDefined();
    });
    expect(await metric('karpenter_nodeclaims_disrupted_total', { reason: 'expired', nodepool: room.name })).toBe(1);
    // Its pods are protected and there is no deadline: they stay until their owner takes them.
    expect(await room.ready('web')).toHaveLength(2);
    await world.api.remove(all.deployments, 'web', room.name);
    await claimGone(room, claim?.metadata.name);
  });

  test('whose machine vanished is collected, and its pods get another node', async () => {
    const room = await world.room('collected');
    await room.pool();
    await room.deployment('web', { replicas: 1 });
    await room.runs('web', 1);
    const [claim] = await room.claims();
    // The machine is gone without a word: no one keeps its node alive any more.
    await world.api.patch(all.nodes, claim?.status?.nodeName ?? '', {
      metadata: { annotations: { 'kwok.x-k8s.io/node': 'gone' } },
    });
    await room.until(
      'the claim is gone',
      async () => expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined(),
      300,
    );
    await room.runs('web', 1, 180);
    expect(
      await metric('karpenter_nodeclaims_disrupted_total', { reason: 'garbage_collected', nodepool: room.name }),
    ).toBe(1);
  });

  test('whose Node was removed with its finalizer is collected too', async () => {
    const room = await world.room('node-removed');
    await room.pool();
    await room.deployment('web', { replicas: 1 });
    await room.runs('web', 1);
    const [claim] = await room.claims();
    const node = claim?.status?.nodeName ?? '';
    await world.api.patch(all.nodes, node, { metadata: { finalizers: null } });
    await world.api.remove(all.nodes, node);
    await room.until(
      'the claim is gone',
      async () => expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined(),
      300,
    );
    await room.runs('web', 1, 180);
  });

  test('whose node never comes says so and waits', async () => {
    const room = await world.room('never-joins');
    await world.api.apply(nodeClass('never', { faults: { registration: { percent: 100 } } }));
    await room.pool({ template: refTo('never') });
    await room.pod('one');
    await room.until('the claim says what it waits for', async () => {
      const [claim] = await room.claims();
      expect(conditionOf(claim, 'Launched')?.status).toBe('True');
      expect(conditionOf(claim, 'Registered')).toMatchObject({
        status: 'Unknown',
        reason: 'NodeNotFound',
        message: 'Node not registered with cluster',
      });
      expect(conditionOf(claim, 'Initialized')).toMatchObject({ status: 'Unknown' });
      expect(conditionOf(claim, 'Ready')?.status).toBe('Unknown');
    });
    await room.stays('no second claim', 12, async () => expect(await room.claims()).toHaveLength(1));
    const [claim] = await room.claims();
    await world.api.remove(all.nodePools, room.name);
    await claimGone(room, claim?.metadata.name);
  });

  test('that is unavailable is deleted with an event, and its pods get the next best', async () => {
    const room = await world.room('no-capacity');
    await world.api.apply(
      nodeClass('short', {
        faults: { insufficientCapacity: [{ zones: ['test-zone-a', 'test-zone-b', 'test-zone-c'] }] },
      }),
    );
    await room.pool({
      suffix: 'short',
      template: refTo('short'),
      requirements: [inValues('topology.kubernetes.io/zone', 'test-zone-a')],
      spec: { weight: 50 },
    });
    await room.pod('one');
    await room.until('the claim failed', async () => {
      const events = (await world.api.list(all.events)).filter(
        ({ reason, involvedObject }) =>
          reason === 'InsufficientCapacityError' && involvedObject.name.startsWith('no-capacity-short-'),
      );
      expect(events[0]?.type).toBe('Warning');
      expect(events[0]?.message).toMatch(/^NodeClaim no-capacity-short-\w+ event: insufficient capacity, /);
    });
    expect(
      await metric('karpenter_nodeclaims_disrupted_total', {
        reason: 'insufficient_capacity',
        nodepool: 'no-capacity-short',
      }),
    ).toBeGreaterThanOrEqual(1);
    await room.pool({ suffix: 'long', spec: { weight: 90 } });
    await room.runs('one', 1);
  });

  test('with two Nodes of its provider id is not registered', async () => {
    const room = await world.room('twins');
    await world.api.apply(nodeClass('slow-twins', { nodeRegistrationDelay: '6s' }));
    await room.pool({ template: refTo('slow-twins') });
    await room.pod('one');
    const claim = await room.until('the claim is launched', async () => {
      const [launched] = await room.claims();
      expect(launched?.status?.providerID).toBeDefined();
      return launched;
    });
    for (const name of ['twins-a', 'twins-b']) {
      await world.api.apply({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { 'karpenter.sh/nodepool': room.name } },
        spec: {
          providerID: claim?.status?.providerID,
          taints: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }],
        },
      });
    }
    await room.until('it says so', async () => {
      const found = conditionOf(await world.api.get(all.nodeClaims, claim?.metadata.name ?? ''), 'Registered');
      // One of them may have been seen first, and is then its node.
      expect([found?.status, found?.reason, found?.message]).toBeOneOf([
        ['False', 'MultipleNodesFound', 'Invariant violated, matched multiple nodes'],
        ['True', 'Registered', ''],
      ]);
    });
    await world.api.remove(all.nodePools, room.name);
    for (const name of ['twins-a', 'twins-b']) await world.api.remove(all.nodes, name);
    await claimGone(room, claim?.metadata.name);
  });

  test('remembers when pods came and went', async () => {
    const room = await world.room('pod-events');
    await room.pool();
    await room.pod('one');
    await room.runs('one', 1);
    await room.until('the time is there', async () => {
      const [claim] = await room.claims();
      expect(Date.parse(claim?.status?.lastPodEventTime ?? '')).not.toBeNaN();
    });
  });

  test('gets back the label of its node class', async () => {
    const room = await world.room('hydrated');
    await room.pool();
    await room.pod('one');
    await room.runs('one', 1);
    const [claim] = await room.claims();
    const key = 'karpenter.kwok.sh/kwoknodeclass';
    await world.api.patch(all.nodeClaims, claim?.metadata.name ?? '', { metadata: { labels: { [key]: null } } });
    await world.api.patch(all.nodes, claim?.status?.nodeName ?? '', { metadata: { labels: { [key]: null } } });
    await room.until('it is back on both', async () => {
      expect((await world.api.get(all.nodeClaims, claim?.metadata.name ?? '')).metadata.labels?.[key]).toBe('default');
      expect((await world.api.get(all.nodes, claim?.status?.nodeName ?? '')).metadata.labels?.[key]).toBe('default');
    });
  });

  test('is checked against its node', async () => {
    const room = await world.room('consistent');
    await room.pool();
    await room.pod('one');
    await room.runs('one', 1);
    await room.until('it is found consistent', async () => {
      const [claim] = await room.claims();
      expect(conditionOf(claim, 'ConsistentStateFound')?.status).toBe('True');
    });
  });
});

describe.concurrent('volumes', () => {
  const storageClass = (name: string, over: object) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'csi.example.com',
    ...over,
  });
  const volumeClaim = (room: Room, name: string, over: object) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: room.name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...over },
  });
  const withVolume = (claimName: string) => ({
    spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
  });

  test('that are bound decide the zone of the node', async () => {
    const room = await world.room('zonal-volume');
    await room.pool();
    await world.api.apply(
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: 'zonal' },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          storageClassName: '',
          csi: { driver: 'csi.example.com', volumeHandle: 'zonal' },
          claimRef: { namespace: room.name, name: 'data' },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [inValues('topology.kubernetes.io/zone', 'test-zone-c')] }],
            },
          },
        },
      },
      volumeClaim(room, 'data', { storageClassName: '', volumeName: 'zonal' }),
    );
    await room.until('it is bound', async () =>
      expect((await world.api.get(all.persistentVolumeClaims, 'data', room.name)).status?.phase).toBe('Bound'),
    );
    await room.pod('one', withVolume('data'));
    await room.runs('one', 1);
    const [node] = await room.nodes();
    expect(node?.metadata.labels?.['topology.kubernetes.io/zone']).toBe('test-zone-c');
  });

  test('that wait for their pod get a node where their class allows them', async () => {
    const room = await world.room('late-volume');
    await room.pool();
    await world.api.apply(
      storageClass('late-volume', {
        volumeBindingMode: 'WaitForFirstConsumer',
        allowedTopologies: [
          { matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values: ['test-zone-b'] }] },
        ],
      }),
      volumeClaim(room, 'data', { storageClassName: 'late-volume' }),
    );
    await room.pod('one', withVolume('data'));
    await room.until('a node in that zone', async () => {
      const [node] = await room.initializedNodes();
      expect(node?.metadata.labels?.['topology.kubernetes.io/zone']).toBe('test-zone-b');
    });
    expect(await room.claims()).toHaveLength(1);
  });

  test('that should be bound already and are not are reported', async () => {
    const room = await world.room('unbound-volume');
    await room.pool();
    await world.api.apply(
      storageClass('at-once', { volumeBindingMode: 'Immediate' }),
      volumeClaim(room, 'data', { storageClassName: 'at-once' }),
    );
    await room.pod('one', withVolume('data'));
    await room.until('the pod is notified', async () => {
      const messages = (await room.events('FailedScheduling', 'one')).map(({ message }) => message).join('\n');
      expect(messages).toContain('pvc with immediate volume binding mode must be bound');
    });
    expect(await room.claims()).toEqual([]);
  });
});

describe.concurrent('disruption', () => {
  const eager = { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } };

  test('removes empty nodes', async () => {
    const room = await world.room('emptiness');
    await room.pool({ spec: eager, requirements: [ofType('c-2x-amd64-linux')] });
    await room.deployment('web', { replicas: 2, cpu: '1500m' });
    await room.runs('web', 2);
    const [claim] = await room.claims();
    await room.scale('web', 0);
    await room.until('the claim is Consolidatable or gone', async () => {
      const found = await world.api.find(all.nodeClaims, claim?.metadata.name ?? '');
      expect(found === undefined ? 'True' : conditionOf(found, 'Consolidatable')?.status).toBe('True');
    });
    await room.until('no node is left', async () => {
      expect(await room.nodes()).toEqual([]);
      expect(await room.claims()).toEqual([]);
    });
    expect(await metric('karpenter_nodeclaims_disrupted_total', { reason: 'empty', nodepool: room.name })).toBe(2);
  });

  test('moves pods to fewer, cheaper nodes', async () => {
    const room = await world.room('consolidation');
    await room.pool({ spec: eager, requirements: [inValues('karpenter.sh/capacity-type', 'on-demand')] });
    await room.deployment('large', { replicas: 1, cpu: '10' });
    await room.deployment('small', { replicas: 1, cpu: '500m' });
    await room.runs('large', 1);
    await room.runs('small', 1);
    await room.scale('large', 0);
    await room.until(
      'one small node is left',
      async () => {
        const [node, ...others] = await room.nodes();
        expect(others).toEqual([]);
        expect(node?.metadata.labels?.['karpenter.kwok.sh/instance-cpu']).toBe('1');
      },
      240,
    );
    await room.runs('small', 1);
    const [event] = (await world.api.list(all.events)).filter(
      ({ reason, involvedObject: { name } }) => reason === 'DisruptionTerminating' && name.startsWith('consolidation-'),
    );
    expect(event?.message).toBe('Disrupting NodeClaim: Underutilized');
  });

  test('replaces nodes whose template changed, with the new one ready first', async () => {
    const room = await world.room('drift');
    await room.pool({ spec: { disruption: { consolidateAfter: 'Never' } } });
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    const [claim] = await room.claims();
    await world.api.patch(all.nodePools, room.name, {
      spec: { template: { metadata: { labels: { version: 'two' } } } },
    });
    await claimGone(room, claim?.metadata.name);
    const [next, ...others] = await room.claims();
    expect(others).toEqual([]);
    expect(next?.metadata.labels?.['version']).toBe('two');
    await room.runs('web', 2);
    const [event] = await room.events('DisruptionTerminating', claim?.metadata.name);
    expect(event?.message).toBe('Disrupting NodeClaim: Drifted');
    expect(await metric('karpenter_nodeclaims_disrupted_total', { reason: 'drifted', nodepool: room.name })).toBe(1);
  });

  test('is held back by a budget of zero, which is reported', async () => {
    const room = await world.room('no-budget');
    await room.pool({ spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '0' }] } } });
    await room.deployment('web', { replicas: 1 });
    await room.runs('web', 1);
    await room.scale('web', 0);
    await room.until('the pool is notified', async () => {
      const messages = (await room.events('DisruptionBlocked', room.name)).map(({ message }) => message);
      expect(messages).toContain('No allowed disruptions for disruption reason Empty due to blocking budget');
    });
    expect(await room.claims()).toHaveLength(1);
  });

  test('is held back by the pods and nodes that ask for it, which is reported', async () => {
    const room = await world.room('blocked');
    await room.pool({ spec: eager });
    await room.pod('one', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    await room.runs('one', 1);
    const [node] = await room.nodes();
    await room.until('the node is notified', async () => {
      const messages = (await room.events('DisruptionBlocked', node?.metadata.name)).map(({ message }) => message);
      expect(messages).toContain('Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=blocked/one)');
    });
    expect(await room.claims()).toHaveLength(1);
  });
});
