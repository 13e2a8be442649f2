// From a pending pod to a node: what the NodeClaim says, what the Node gets, which events the pod and its owner get.
import { describe, expect, test } from 'vitest';
import { all, conditionOf, conditionsOf } from './harness/api.ts';
import { inValues, nodeClassRef, ofType } from './harness/manifests.ts';
import type { Room } from './harness/room.ts';
import type { World } from './harness/world.ts';

/** The room's only claim, once it is Ready. */
const readyClaim = (room: Room) =>
  room.until('the claim is Ready', async () => {
    const [claim, ...others] = await room.claims();
    expect(others).toEqual([]);
    expect(conditionOf(claim, 'Ready')?.status).toBe('True');
    if (claim === undefined) throw new Error('no claim');
    return claim;
  });
const onlyNode = async (room: Room) => {
  const [node, ...others] = await room.nodes();
  expect(others).toEqual([]);
  if (node === undefined) throw new Error('no node');
  return node;
};

export function claimScenarios(world: World): void {
  describe.concurrent('a NodeClaim made for pods', () => {
    test('says where it comes from, what it may be and how much it must hold', async () => {
      const room = await world.room('claim-contents');
      await room.pool({
        annotations: { note: 'from the template' },
        labels: { team: 'a' },
        requirements: [
          ofType('c-4x-amd64-linux', 'm-4x-amd64-linux'),
          inValues('example.com/tier', 'gold'),
          inValues('topology.kubernetes.io/zone', 'test-zone-b'),
        ],
        template: { expireAfter: '48h', terminationGracePeriod: '10m' },
      });
      await room.deployment('web', { replicas: 2, cpu: '600m', memory: '100Mi' });
      await room.runs('web', 2);
      const claim = await readyClaim(room);
      const pool = await world.api.get(all.nodePools, room.name);
      const { metadata, spec, status } = claim;
      expect(metadata.name).toMatch(/^claim-contents-[a-z0-9]{5}$/);
      expect(metadata.generateName).toBe('claim-contents-');
      expect(metadata.finalizers).toEqual(['karpenter.sh/termination']);
      expect(metadata.ownerReferences).toEqual([
        {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          name: pool.metadata.name,
          uid: pool.metadata.uid,
          blockOwnerDeletion: true,
        },
      ]);
      expect(metadata.labels).toMatchObject({
        room: room.name,
        team: 'a',
        'example.com/tier': 'gold',
        'karpenter.sh/nodepool': room.name,
        'karpenter.kwok.sh/kwoknodeclass': 'default',
        'karpenter.sh/capacity-type': 'spot',
        'node.kubernetes.io/instance-type': 'c-4x-amd64-linux',
        'topology.kubernetes.io/zone': 'test-zone-b',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
      });
      expect(metadata.annotations).toMatchObject({
        note: 'from the template',
        'karpenter.sh/nodepool-hash': pool.metadata.annotations?.['karpenter.sh/nodepool-hash'],
        'karpenter.sh/nodepool-hash-version': 'v3',
        'karpenter.sh/nodeclaim-min-values-relaxed': 'false',
      });
      expect(spec).toMatchObject({
        nodeClassRef,
        expireAfter: '48h',
        terminationGracePeriod: '10m',
        taints: [{ key: 'room', value: room.name, effect: 'NoSchedule' }],
        resources: { requests: { cpu: '1200m', memory: '200Mi', pods: '2' } },
      });
      const requirement = (key: string) => spec.requirements.find((each) => each.key === key);
      expect(requirement('node.kubernetes.io/instance-type')).toMatchObject({
        operator: 'In',
        values: ['c-4x-amd64-linux', 'm-4x-amd64-linux'],
      });
      expect(requirement('karpenter.sh/capacity-type')).toMatchObject({
        operator: 'In',
        values: ['on-demand', 'spot'],
      });
      expect(requirement('example.com/tier')).toMatchObject({ operator: 'In', values: ['gold'] });
      expect(requirement('karpenter.sh/nodepool')).toMatchObject({ operator: 'In', values: [room.name] });
      expect(spec.requirements.map(({ key }) => key)).not.toContain('kubernetes.io/hostname');
      expect(spec.requirements.map(({ key }) => key)).not.toContain('karpenter.sh/registered');
      expect(status).toMatchObject({
        providerID: expect.stringMatching(/^kwok:\/\/kwok-claim-contents-/),
        capacity: { cpu: '4', pods: '64' },
        allocatable: { cpu: '3900m' },
      });
      expect(status?.nodeName).toBe((await onlyNode(room)).metadata.name);
    });

    test('ends Ready with conditions in the order of their times and Ready last', async () => {
      const room = await world.room('claim-conditions');
      await room.pool();
      await room.pod('one');
      await room.runs('one', 1);
      const claim = await readyClaim(room);
      const trueOnes = Object.fromEntries(
        conditionsOf(claim).map(({ type, status, reason, message }) => [type, { status, reason, message }]),
      );
      for (const type of ['Launched', 'Registered', 'Initialized', 'Ready'])
        expect(trueOnes[type]).toEqual({ status: 'True', reason: type, message: '' });
      const times = conditionsOf(claim)
        .filter(({ type }) => type !== 'Ready')
        .map(({ lastTransitionTime = '' }) => lastTransitionTime);
      expect(times).toEqual([...times].sort());
      expect(conditionsOf(claim).at(-1)?.type).toBe('Ready');
      expect(new Set(conditionsOf(claim).map(({ observedGeneration }) => observedGeneration))).toEqual(new Set([1]));
    });

    test('cannot be changed', async () => {
      const room = await world.room('claim-immutable');
      await room.pool();
      await room.pod('one');
      await room.runs('one', 1);
      const { metadata } = await readyClaim(room);
      const change = world.api.patch(all.nodeClaims, metadata.name ?? '', { spec: { expireAfter: '1h' } });
      await expect(change).rejects.toThrow(/spec is immutable/);
    });

    test('counts what daemons need, with the defaults of the LimitRange', async () => {
      const room = await world.room('daemon-overhead');
      await world.api.apply({
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'defaults', namespace: room.name },
        spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '300m' } }] },
      });
      await room.pool({ requirements: [ofType('c-4x-amd64-linux', 'c-32x-amd64-linux')] });
      await room.daemonSet('agent', { spec: { containers: [{ name: 'main', image: 'example.com/agent' }] } });
      await room.daemonSet('metered', { cpu: '250m' });
      await room.daemonSet('elsewhere', { cpu: '2', spec: { nodeSelector: { 'example.com/gpu': 'yes' } } });
      // The pods of the first node have the defaults filled in; the second node is planned with them.
      await room.pod('first', { cpu: '500m' });
      await room.runs('first', 1);
      await room.until('a pod of the daemon exists', async () => expect(await room.pods('agent')).toHaveLength(1));
      await room.pod('second', { cpu: '30' });
      await room.runs('second', 1);
      const claims = await room.claims();
      const requests = claims.map(({ spec }) => spec.resources?.requests?.['cpu']).sort();
      expect(claims).toHaveLength(2);
      expect(requests).toContain('30550m');
      await room.until('daemons run on both nodes', async () => {
        expect(await room.ready('agent')).toHaveLength(2);
        expect(await room.ready('metered')).toHaveLength(2);
      });
      expect(await room.pods('elsewhere')).toEqual([]);
    });

    test('gets a concrete value for a label the pool only says exists', async () => {
      const room = await world.room('custom-label');
      await room.pool({ requirements: [{ key: 'example.com/shard', operator: 'Exists' }] });
      for (const shard of ['blue', 'green'])
        await room.pod(shard, { spec: { nodeSelector: { 'example.com/shard': shard } } });
      await room.runs('blue', 1);
      await room.runs('green', 1);
      const nodes = await room.nodes();
      expect(nodes.map(({ metadata }) => metadata.labels?.['example.com/shard']).sort()).toEqual(['blue', 'green']);
    });
  });

  describe.concurrent('a Node that joins', () => {
    test('gets labels, annotations, taints, owner and finalizer of its claim and loses the taint it came with', async () => {
      const room = await world.room('node-contents');
      await room.pool({
        labels: { team: 'a' },
        annotations: { note: 'kept' },
        taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }],
      });
      await room.pod('one', { spec: { tolerations: [{ key: 'dedicated', operator: 'Exists' }] } });
      await room.runs('one', 1);
      const claim = await readyClaim(room);
      const node = await onlyNode(room);
      expect(node.metadata.name).toMatch(/^kwok-node-contents-/);
      expect(node.spec?.providerID).toBe(`kwok://${node.metadata.name}`);
      expect(node.metadata.finalizers).toContain('karpenter.sh/termination');
      expect(node.metadata.ownerReferences).toEqual([
        {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodeClaim',
          name: claim.metadata.name,
          uid: claim.metadata.uid,
          blockOwnerDeletion: true,
        },
      ]);
      expect(node.metadata.labels).toMatchObject({
        team: 'a',
        'karpenter.sh/nodepool': room.name,
        'karpenter.kwok.sh/kwoknodeclass': 'default',
        'karpenter.sh/registered': 'true',
        'karpenter.sh/initialized': 'true',
        'kubernetes.io/hostname': claim.metadata.name,
        'kwok.x-k8s.io/node': 'fake',
      });
      expect(node.metadata.annotations).toMatchObject({
        note: 'kept',
        'karpenter.sh/nodepool-hash': claim.metadata.annotations?.['karpenter.sh/nodepool-hash'],
        'karpenter.sh/nodepool-hash-version': 'v3',
      });
      const taints = (node.spec?.taints ?? []).map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`);
      expect(taints.sort()).toEqual(['dedicated=x:NoSchedule', `room=${room.name}:NoSchedule`]);
    });

    test('is initialized only when its startup taints are gone, and its pods wait as long', async () => {
      const room = await world.room('startup-taints');
      await room.pool({
        template: { startupTaints: [{ key: 'example.com/booting', value: 'yes', effect: 'NoSchedule' }] },
      });
      await room.pod('one');
      const node = await room.until('the node is registered', async () => {
        const node = await onlyNode(room);
        expect(node.metadata.labels?.['karpenter.sh/registered']).toBe('true');
        return node;
      });
      expect(node.spec?.taints).toContainEqual({ key: 'example.com/booting', value: 'yes', effect: 'NoSchedule' });
      await room.until('the claim says what it waits for', async () => {
        const [claim] = await room.claims();
        expect(conditionOf(claim, 'Initialized')).toMatchObject({
          status: 'Unknown',
          reason: 'StartupTaintsExist',
          message: 'StartupTaint "example.com/booting=yes:NoSchedule" still exists',
        });
        expect(conditionOf(claim, 'Ready')).toMatchObject({
          status: 'Unknown',
          reason: 'ReconcilingDependents',
          message: 'Initialized=Unknown',
        });
      });
      await room.stays('one node is enough', 5, async () => expect(await room.claims()).toHaveLength(1));
      const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== 'example.com/booting');
      await world.api.patch(all.nodes, node.metadata.name ?? '', { spec: { taints } });
      await room.runs('one', 1);
      await readyClaim(room);
      expect((await onlyNode(room)).spec?.taints).not.toContainEqual(
        expect.objectContaining({ key: 'example.com/booting' }),
      );
    });
  });

  describe.concurrent('a NodeClaim written by hand', () => {
    const standalone = (name: string, over: object = {}) => ({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name, labels: { room: name } },
      spec: { nodeClassRef, requirements: [ofType('c-2x-amd64-linux')], ...over },
    });

    test('becomes a node, holds pods, and goes with its node when deleted', async () => {
      const room = await world.room('standalone');
      await world.api.apply(
        standalone(room.name, { taints: [{ key: 'room', value: room.name, effect: 'NoSchedule' }] }),
      );
      const claim = await readyClaim(room);
      expect(claim.metadata.labels).toMatchObject({ 'node.kubernetes.io/instance-type': 'c-2x-amd64-linux' });
      expect(claim.metadata.labels).not.toHaveProperty('karpenter.sh/nodepool');
      expect(claim.metadata.finalizers).toEqual(['karpenter.sh/termination']);
      await room.pod('one');
      await room.runs('one', 1);
      await world.api.remove(all.nodeClaims, room.name);
      await room.until('node and claim are gone', async () => {
        expect(await room.nodes()).toEqual([]);
        expect(await room.claims()).toEqual([]);
      });
    });

    test('without an instance type is tried again, and says why', async () => {
      const room = await world.room('no-type');
      await world.api.apply(standalone(room.name, { requirements: [] }));
      await room.until('the claim says why', async () => {
        const [claim] = await room.claims();
        expect(conditionOf(claim, 'Launched')).toMatchObject({ status: 'Unknown', reason: 'LaunchFailed' });
        expect(conditionOf(claim, 'Launched')?.message).toContain('instance type requirement not found');
      });
      // While a claim is not launched nothing is planned for anybody: it must not stay.
      await world.api.remove(all.nodeClaims, room.name);
      await room.until('the claim is gone', async () => expect(await room.claims()).toEqual([]));
    });

    test('of a kind that is not served here is left alone', async () => {
      const room = await world.room('foreign');
      await world.api.apply(
        standalone(room.name, { nodeClassRef: { group: 'example.com', kind: 'OtherClass', name: 'x' } }),
      );
      await room.stays('untouched', 5, async () => {
        const [claim] = await room.claims();
        expect(claim?.metadata.finalizers).toBeUndefined();
        expect(conditionsOf(claim)).toEqual([]);
      });
    });
  });

  describe.concurrent('pods are notified', () => {
    /** Events by us, not by kube-scheduler. */
    const reported = async (room: Room, reason: string | undefined, pod: string) =>
      (await room.events(reason, pod)).filter(({ source }) => source?.component === 'karpenter');

    test('why there is no node for them, and their neighbours get theirs', async () => {
      const room = await world.room('bad-pods');
      // The first of all pools: an event holds only the beginning of what every pool answers.
      await room.pool({ requirements: [ofType('c-4x-amd64-linux')], spec: { weight: 100 } });
      const bad: Record<string, [object, RegExp]> = {
        huge: [
          { cpu: '500' },
          /^Failed to schedule pod, .*no instance type has enough resources, requirements=.*resources=\{/,
        ],
        nowhere: [
          { spec: { nodeSelector: { 'topology.kubernetes.io/zone': 'test-zone-z' } } },
          /^Failed to schedule pod, zone test-zone-z does not exist/,
        ],
        unknown: [
          { spec: { nodeSelector: { 'example.com/none': 'x' } } },
          /label "example.com\/none" does not have known values/,
        ],
        restricted: [
          { spec: { nodeSelector: { 'karpenter.sh/custom': 'x' } } },
          /using label karpenter.sh\/custom is not allowed/,
        ],
        fields: [
          {
            spec: {
              affinity: {
                nodeAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: {
                    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['x'] }] }],
                  },
                },
              },
            },
          },
          /node selector term with matchFields is not supported/,
        ],
        claimless: [
          { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }] } },
          /persistentvolumeclaim.* "missing" not found/i,
        ],
      };
      for (const [name, [parts]] of Object.entries(bad)) await room.pod(name, parts);
      await room.deployment('good', { replicas: 3 });
      await room.runs('good', 3);
      for (const [name, [, message]] of Object.entries(bad)) {
        await room.until(`${name} has its event`, async () => {
          const events = await reported(room, 'FailedScheduling', name);
          expect(events.map((event) => event.message).join('\n')).toMatch(message);
          expect(events[0]?.type).toBe('Warning');
        });
      }
      expect(await room.claims()).toHaveLength(1);
    });

    test('nothing when they refuse our nodes', async () => {
      const room = await world.room('not-for-us');
      await room.pool();
      await room.pod('stranger', {
        spec: {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: 'karpenter.sh/nodepool', operator: 'DoesNotExist' }] }],
              },
            },
          },
        },
      });
      await room.pod('friend');
      await room.runs('friend', 1);
      expect(await reported(room, undefined, 'stranger')).toEqual([]);
      expect(await room.claims()).toHaveLength(1);
    });
  });
}
