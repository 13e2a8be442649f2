// NodePools from outside: readiness, validation, counts, hashes, columns; and the features behind gates.
import { describe, expect, test } from 'vitest';
import { all, conditionOf, conditionsOf } from './harness/api.ts';
import { inValues, nodeClassRef, ofType, podTemplate, poolManifest } from './harness/manifests.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld({
  flags: { 'feature-gates': 'StaticCapacity=true,CapacityBuffer=true,NodeOverlay=true,NodeRepair=true' },
});

const nodeClass = (name: string, spec: object = {}) => ({
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name },
  spec,
});
const refTo = (name: string) => ({ nodeClassRef: { ...nodeClassRef, name } });
const condition = (room: Room, type: string, expected: object) =>
  room.until(`${type} is as it should be`, async () => {
    expect(conditionOf(await world.api.get(all.nodePools, room.name), type)).toMatchObject(expected);
  });
const setReady = (name: string, status: string, reason: string, message: string) =>
  world.api.patch(
    all.nodeClasses,
    name,
    {
      status: {
        conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: new Date().toISOString() }],
      },
    },
    { subresource: 'status' },
  );

describe.concurrent('a pool', () => {
  test('whose node class is missing is not Ready, and is once it comes', async () => {
    const room = await world.room('class-missing');
    await room.pool({ unready: true, template: refTo('late') });
    await condition(room, 'NodeClassReady', {
      status: 'False',
      reason: 'NodeClassNotFound',
      message: 'NodeClass not found on cluster',
    });
    await condition(room, 'Ready', {
      status: 'False',
      reason: 'UnhealthyDependents',
      message: 'NodeClassReady=False',
    });
    await room.pod('one');
    await room.stays('nothing is launched', 4, async () => expect(await room.claims()).toEqual([]));
    await world.api.apply(nodeClass('late'));
    await condition(room, 'Ready', { status: 'True', reason: 'Ready' });
    await room.runs('one', 1);
  });

  test('whose node class is not ready says what the class says', async () => {
    const room = await world.room('class-unready');
    await world.api.apply(nodeClass('ill'));
    await setReady('ill', 'False', 'NoSubnets', 'there is no subnet');
    await room.pool({ unready: true, template: refTo('ill') });
    await condition(room, 'NodeClassReady', { status: 'False', reason: 'NoSubnets', message: 'there is no subnet' });
    await setReady('ill', 'Unknown', 'Looking', 'please wait');
    await condition(room, 'NodeClassReady', {
      status: 'False',
      reason: 'NodeClassReadinessUnknown',
      message: 'Node Class Readiness Unknown',
    });
    await setReady('ill', 'True', 'Ready', '');
    await condition(room, 'Ready', { status: 'True' });
  });

  test('whose node class is being deleted is not Ready', async () => {
    const room = await world.room('class-leaving');
    await world.api.apply({ ...nodeClass('leaving'), metadata: { name: 'leaving', finalizers: ['example.com/keep'] } });
    await room.pool({ template: refTo('leaving') });
    await world.api.remove(all.nodeClasses, 'leaving');
    await condition(room, 'NodeClassReady', {
      status: 'False',
      reason: 'NodeClassTerminating',
      message: 'NodeClass is Terminating',
    });
    await world.api.patch(all.nodeClasses, 'leaving', { metadata: { finalizers: null } });
    await condition(room, 'NodeClassReady', { status: 'False', reason: 'NodeClassNotFound' });
  });

  test('with mistakes only we can see names all of them, and is not used', async () => {
    const room = await world.room('invalid');
    await room.pool({
      unready: true,
      requirements: [inValues('karpenter.sh/capacity-type', 'cheap')],
      taints: [{ key: 'room', value: 'again', effect: 'NoSchedule' }],
    });
    await condition(room, 'ValidationSucceeded', { status: 'False', reason: 'NodePoolValidationFailed' });
    const { message = '' } = conditionOf(await world.api.get(all.nodePools, room.name), 'ValidationSucceeded') ?? {};
    expect(message).toContain('duplicate taint Key/Effect pair room=NoSchedule');
    expect(message).toContain('no valid values found in [cheap] for karpenter.sh/capacity-type');
    await room.pod('one');
    await room.stays('nothing is launched', 4, async () => expect(await room.claims()).toEqual([]));
    await room.pool({});
    await room.runs('one', 1);
  });

  test('of a kind that is not served here is left alone', async () => {
    const room = await world.room('foreign-pool');
    await room.pool({ unready: true, template: { nodeClassRef: { group: 'example.com', kind: 'Other', name: 'x' } } });
    await room.stays('untouched', 4, async () => {
      const pool = await world.api.get(all.nodePools, room.name);
      expect(conditionsOf(pool)).toEqual([]);
      expect(pool.metadata.annotations?.['karpenter.sh/nodepool-hash']).toBeUndefined();
    });
  });

  test('counts its nodes and their resources, and shows them to kubectl', async () => {
    const room = await world.room('counting');
    await room.pool({ requirements: [ofType('c-4x-amd64-linux')], spec: { weight: 7 } });
    const zeros = { cpu: '0', memory: '0', pods: '0', 'ephemeral-storage': '0', nodes: '0' };
    await room.until('zeros', async () => {
      const { status } = await world.api.get(all.nodePools, room.name);
      expect(status?.resources).toEqual(zeros);
      expect(status?.nodes ?? 0).toBe(0);
    });
    await room.deployment('web', { replicas: 2, cpu: '3' });
    await room.runs('web', 2);
    await room.until('two nodes', async () => {
      const { status } = await world.api.get(all.nodePools, room.name);
      expect(status?.nodes).toBe(2);
      expect(status?.resources).toEqual({
        cpu: '8',
        memory: '16Gi',
        pods: '128',
        'ephemeral-storage': '40Gi',
        nodes: '2',
      });
    });
    const [header = '', line = ''] = (await world.api.kubectl('get', 'nodepool', room.name, '-o', 'wide')).split('\n');
    expect(header.split(/\s+/)).toEqual(['NAME', 'NODECLASS', 'NODES', 'READY', 'AGE', 'WEIGHT', 'CPU', 'MEMORY']);
    expect(line).toMatch(/^counting\s+default\s+2\s+True\s+\S+\s+7\s+8\s+16Gi/);
    const claims = (await world.api.kubectl('get', 'nodeclaims', '-l', `room=${room.name}`)).split('\n');
    expect(claims[0]?.split(/\s+/)).toEqual(['NAME', 'TYPE', 'CAPACITY', 'ZONE', 'NODE', 'READY', 'AGE']);
    expect(claims[1]).toMatch(/^counting-\S+\s+c-4x-amd64-linux\s+spot\s+test-zone-\w\s+kwok-counting-\S+\s+True/);
    await room.scale('web', 0);
    for (const { metadata } of await room.claims()) await world.api.remove(all.nodeClaims, metadata.name ?? '');
    await room.until('zeros again', async () => {
      expect((await world.api.get(all.nodePools, room.name)).status?.resources).toEqual(zeros);
    });
  });

  test('carries the hash of its template, which behaviour does not change', async () => {
    const room = await world.room('hash');
    // A template with a hash known from elsewhere: nothing but node class and expiry.
    await world.api.apply({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: room.name },
      spec: { template: { spec: { nodeClassRef, requirements: [], expireAfter: 'Never' } } },
    });
    const hash = async () => (await world.api.get(all.nodePools, room.name)).metadata.annotations ?? {};
    await room.until('the hash is there', async () => {
      expect(await hash()).toMatchObject({
        'karpenter.sh/nodepool-hash': '7428780003907761376',
        'karpenter.sh/nodepool-hash-version': 'v3',
      });
    });
    await world.api.patch(all.nodePools, room.name, {
      spec: { weight: 5, limits: { cpu: '100' }, disruption: { consolidateAfter: '1h' } },
    });
    await room.stays('the hash is the same', 3, async () =>
      expect((await hash())['karpenter.sh/nodepool-hash']).toBe('7428780003907761376'),
    );
    await world.api.patch(all.nodePools, room.name, { spec: { template: { spec: { expireAfter: '0s' } } } });
    await room.until('the hash is another', async () =>
      expect((await hash())['karpenter.sh/nodepool-hash']).toBe('13546070544088512816'),
    );
    await world.api.remove(all.nodePools, room.name);
  });

  test('is refused where its schema says so', async () => {
    const room = await world.room('admission');
    const refused = async (spec: object, message: string) => {
      const answer = await world.api.tryCreate(poolManifest(room.name, room.name, { spec }));
      expect(answer.status).toBe(422);
      expect((answer.body as { message: string }).message).toContain(message);
    };
    await refused({ weight: 101 }, 'spec.weight');
    await refused({ replicas: 1, weight: 5 }, "'weight' is not supported on static NodePools");
    await refused({ replicas: 1, limits: { cpu: '1' } }, "only 'limits.nodes' is supported on static NodePools");
    await refused(
      { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '1', schedule: '* * * * *' }] } },
      "'schedule' must be set with 'duration'",
    );
  });

  test('knows whether its nodes register', async () => {
    const room = await world.room('healthy');
    await room.pool();
    await condition(room, 'NodeRegistrationHealthy', { status: 'Unknown' });
    await room.pod('one');
    await room.runs('one', 1);
    await condition(room, 'NodeRegistrationHealthy', { status: 'True' });
    await world.api.patch(all.nodePools, room.name, { spec: { weight: 3 } });
    await condition(room, 'NodeRegistrationHealthy', { status: 'Unknown' });
  });
});

describe.concurrent('a static pool', () => {
  const staticPool = (room: Room, replicas: number, over: object = {}) =>
    room.pool({ requirements: [ofType('c-2x-amd64-linux')], spec: { replicas, ...over } });
  const has = (room: Room, count: number) =>
    room.until(`${count} initialized nodes`, async () => {
      expect(await room.initializedNodes()).toHaveLength(count);
      expect(await room.claims()).toHaveLength(count);
    });

  test('has the nodes kubectl scale asks for, up and down to none', async () => {
    const room = await world.room('static-scale');
    await staticPool(room, 2);
    await has(room, 2);
    await world.api.kubectl('scale', 'nodepool', room.name, '--replicas=4');
    await has(room, 4);
    await world.api.kubectl('scale', 'nodepool', room.name, '--replicas=0');
    await has(room, 0);
  });

  test('gives up empty nodes first', async () => {
    const room = await world.room('static-empty');
    await staticPool(room, 3);
    await has(room, 3);
    await room.pod('one', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    const [pod] = await room.runs('one', 1);
    await world.api.kubectl('scale', 'nodepool', room.name, '--replicas=1');
    await has(room, 1);
    expect((await room.nodes()).map(({ metadata }) => metadata.name)).toEqual([pod?.spec?.nodeName]);
  });

  test('replaces a node that is deleted', async () => {
    const room = await world.room('static-replace');
    await staticPool(room, 1);
    await has(room, 1);
    const [claim] = await room.claims();
    await world.api.remove(all.nodeClaims, claim?.metadata.name ?? '');
    await room.until('another one', async () => {
      const claims = await room.claims();
      expect(claims).toHaveLength(1);
      expect(claims[0]?.metadata.name).not.toBe(claim?.metadata.name);
      expect(conditionOf(claims[0], 'Ready')?.status).toBe('True');
    });
  });

  test('stops at its limit on nodes, and plans of pods do not use it', async () => {
    const room = await world.room('static-limit');
    await staticPool(room, 3, { limits: { nodes: '2' } });
    await has(room, 2);
    await room.deployment('web', { replicas: 3, cpu: '1500m' });
    await room.until('two run where there is room', async () => expect(await room.ready('web')).toHaveLength(2));
    await room.stays('no third node', 5, async () => expect(await room.claims()).toHaveLength(2));
  });

  test('cannot become dynamic', async () => {
    const room = await world.room('static-mode');
    await staticPool(room, 0);
    await expect(world.api.patch(all.nodePools, room.name, { spec: { replicas: null } })).rejects.toThrow(
      /Cannot transition NodePool between static \(replicas set\) and dynamic \(replicas unset\) provisioning modes/,
    );
  });
});

describe.concurrent('a buffer', () => {
  const buffer = (room: Room, spec: object) => ({
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: { name: 'spare', namespace: room.name },
    spec,
  });
  const template = (room: Room, name: string) => ({
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { name, namespace: room.name },
    template: podTemplate(room.name, 'spare', { cpu: '1' }),
  });
  const reported = (room: Room, type: string, expected: object) =>
    room.until(`the buffer says ${type}`, async () =>
      expect(conditionOf(await world.api.get(all.buffers, 'spare', room.name), type)).toMatchObject(expected),
    );

  test('has room before any pod comes, which the pods then use', async () => {
    const room = await world.room('buffer');
    await room.pool({ requirements: [ofType('c-4x-amd64-linux')] });
    await room.apply(template(room, 'shape'), buffer(room, { podTemplateRef: { name: 'shape' }, replicas: 3 }));
    await reported(room, 'ReadyForProvisioning', {
      status: 'True',
      reason: 'Resolved',
      message: 'Pod template resolved successfully',
    });
    await reported(room, 'Provisioning', {
      status: 'True',
      reason: 'FitsExistingCapacity',
      message: 'All 3 virtual pods fit on existing capacity',
    });
    await room.until('the node is there', async () => expect(await room.initializedNodes()).toHaveLength(1));
    expect(await room.pods()).toEqual([]);
    const [before] = await room.claims();
    await room.deployment('web', { replicas: 3, cpu: '1' });
    const pods = await room.runs('web', 3);
    expect(new Set(pods.map(({ spec }) => spec?.nodeName))).toEqual(new Set([before?.status?.nodeName]));
    // What the pods took is bought again.
    await room.until('there is room for three more', async () => expect(await room.initializedNodes()).toHaveLength(2));
  });

  test('of a Deployment is a share of it', async () => {
    const room = await world.room('buffer-share');
    await room.pool();
    await room.deployment('web', { replicas: 4, cpu: '1' });
    await room.runs('web', 4);
    await room.apply(
      buffer(room, { scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' }, percentage: 50 }),
    );
    await room.until('half of it', async () =>
      expect((await world.api.get(all.buffers, 'spare', room.name)).status?.['replicas']).toBe(2),
    );
    await reported(room, 'Provisioning', { status: 'True', message: 'All 2 virtual pods fit on existing capacity' });
  });

  test('that names nothing says so', async () => {
    const room = await world.room('buffer-nothing');
    await room.apply(buffer(room, { podTemplateRef: { name: 'missing' }, replicas: 1 }));
    await reported(room, 'ReadyForProvisioning', { status: 'False', reason: 'PodTemplateNotFound' });
    await reported(room, 'Provisioning', {
      status: 'False',
      reason: 'NotReadyForProvisioning',
      message: 'Buffer is not ReadyForProvisioning',
    });
    await room.apply(template(room, 'missing'));
    await reported(room, 'ReadyForProvisioning', { status: 'True' });
  });
});

describe.concurrent('an overlay', () => {
  const overlay = (name: string, spec: object) => ({
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name },
    spec,
  });
  const ready = (room: Room, name: string, expected: object) =>
    room.until(`overlay ${name} is judged`, async () =>
      expect(conditionOf(await world.api.get(all.nodeOverlays, name), 'Ready')).toMatchObject(expected),
    );
  const forPool = (name: string) => inValues('karpenter.sh/nodepool', name);

  test('makes a type cheap, which is then bought', async () => {
    const room = await world.room('overlay-price');
    await world.api.apply(
      overlay('overlay-price', { requirements: [ofType('m-8x-arm64-linux'), forPool(room.name)], price: '0.001' }),
    );
    await room.pool();
    await ready(room, 'overlay-price', { status: 'True' });
    await room.pod('one');
    await room.runs('one', 1);
    const [claim] = await room.claims();
    expect(claim?.metadata.labels?.['node.kubernetes.io/instance-type']).toBe('m-8x-arm64-linux');
    expect(claim?.metadata.annotations?.['karpenter.sh/price-overlay-applied']).toBe('true');
  });

  test('gives a type a resource, which pods can ask for', async () => {
    const room = await world.room('overlay-capacity');
    await world.api.apply(
      overlay('overlay-capacity', {
        requirements: [ofType('c-8x-amd64-linux'), forPool(room.name)],
        capacity: { 'example.com/fpga': '2' },
      }),
    );
    await room.pool();
    await ready(room, 'overlay-capacity', { status: 'True' });
    await room.pod('one', {
      requests: { 'example.com/fpga': '1' },
      container: {
        resources: { requests: { cpu: '1', 'example.com/fpga': '1' }, limits: { 'example.com/fpga': '1' } },
      },
    });
    await room.until('a claim of that type', async () => {
      const [claim] = await room.claims();
      expect(claim?.metadata.labels?.['node.kubernetes.io/instance-type']).toBe('c-8x-amd64-linux');
      expect(claim?.metadata.annotations?.['karpenter.sh/capacity-overlay-applied']).toBe('true');
    });
  });

  test('of the same weight for the same offering is a conflict', async () => {
    const room = await world.room('overlay-conflict');
    await room.pool();
    const requirements = [ofType('c-1x-amd64-linux'), forPool(room.name)];
    await world.api.apply(
      overlay('overlay-conflict-a', { requirements, price: '1.0' }),
      overlay('overlay-conflict-b', { requirements, price: '2.0' }),
    );
    await ready(room, 'overlay-conflict-b', { status: 'True' });
    await ready(room, 'overlay-conflict-a', { status: 'False' });
    expect(
      conditionOf(await world.api.get(all.nodeOverlays, 'overlay-conflict-a'), 'ValidationSucceeded'),
    ).toMatchObject({ status: 'False', reason: 'Conflict', message: 'conflict with another overlay' });
  });
});

describe.concurrent('an unhealthy node', () => {
  const claimWithNode = (room: Room) =>
    room.until('its claim names its node', async () => {
      const [claim] = await room.claims();
      expect(claim?.status?.nodeName).toBeTruthy();
      return claim;
    });
  const makeIll = (name: string, minutes: number) =>
    world.api.patch(
      all.nodes,
      name,
      {
        status: {
          conditions: [
            {
              type: 'Ready',
              status: 'False',
              reason: 'Test',
              message: '',
              lastTransitionTime: new Date(Date.now() - minutes * 60_000).toISOString(),
            },
          ],
        },
      },
      { subresource: 'status', type: 'strategic' },
    );

  test('is replaced after ten minutes, whatever its pods wish', async () => {
    const room = await world.room('repair');
    await room.pool();
    await room.deployment('web', { replicas: 1, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    await room.runs('web', 1);
    const claim = await claimWithNode(room);
    await makeIll(claim?.status?.nodeName ?? '', 11);
    await room.until('the claim is gone', async () =>
      expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined(),
    );
    await room.runs('web', 1);
  });

  test('is left alone before that', async () => {
    const room = await world.room('repair-early');
    await room.pool();
    await room.pod('one');
    await room.runs('one', 1);
    const claim = await claimWithNode(room);
    await makeIll(claim?.status?.nodeName ?? '', 5);
    await room.stays('the claim stays', 5, async () => {
      const found = await world.api.find(all.nodeClaims, claim?.metadata.name ?? '');
      expect(found?.metadata.deletionTimestamp).toBeUndefined();
    });
  });

  test('is left alone when too many are, and all are notified', async () => {
    const room = await world.room('repair-blocked');
    await room.pool({ requirements: [ofType('c-2x-amd64-linux')] });
    await room.deployment('web', { replicas: 3, cpu: '1500m' });
    await room.runs('web', 3);
    // Pods may run a moment before the claim says where.
    await room.until('every claim has its node', async () => {
      for (const { status } of await room.claims()) expect(status?.nodeName).toBeTruthy();
    });
    const claims = await room.claims();
    for (const { status } of claims.slice(0, 2)) await makeIll(status?.nodeName ?? '', 2);
    const ill = claims[0];
    await makeIll(ill?.status?.nodeName ?? '', 11);
    await room.until('it is notified', async () => {
      for (const subject of [ill?.status?.nodeName, ill?.metadata.name, room.name]) {
        const [event] = await room.events('NodeRepairBlocked', subject);
        expect(event).toMatchObject({
          type: 'Warning',
          message: `more than 20% of nodes in nodepool "${room.name}" are unhealthy`,
        });
      }
    });
    expect(await room.claims()).toHaveLength(3);
  });
});
