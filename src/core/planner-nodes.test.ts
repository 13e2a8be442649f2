import { expect, test } from 'vitest';
import { annotation, label } from '../api/names.ts';
import type { SnapshotObject } from './index.ts';
import {
  expectOnNode,
  expectScheduled,
  expectUnscheduled,
  newNodeOf,
  node,
  nodeClaim,
  nodePool,
  object,
  plan,
  pod,
  pods,
  reasonsOf,
} from './testing/builders.testing.ts';

/** A node and the claim it came from. */
function managed(
  name: string,
  parts: {
    registered?: boolean;
    initialized?: boolean;
    taints?: object[];
    claim?: Parameters<typeof nodeClaim>[1];
    allocatable?: Record<string, string>;
  } = {},
): SnapshotObject[] {
  const { registered = true, initialized = true } = parts;
  return [
    node({
      name,
      providerID: `test:///claim-${name}`,
      labels: {
        [label.nodePool]: 'default',
        ...(registered ? { [label.registered]: 'true' } : {}),
        ...(initialized ? { [label.initialized]: 'true' } : {}),
      },
      taints: (parts.taints ?? []) as Record<string, unknown>[],
      ...(parts.allocatable ? { allocatable: parts.allocatable } : {}),
    }),
    nodeClaim(`claim-${name}`, parts.claim),
  ];
}

test('nodes that exist are used before new ones, also unmanaged ones', () => {
  const waiting = pod({ cpu: '1' });
  expectOnNode(plan([nodePool(), node(), waiting]), 'node-1', waiting);
});

test('initialised nodes come before those still starting, then by name', () => {
  const waiting = pod({ cpu: '1' });
  const result = plan([nodePool(), ...managed('a', { initialized: false }), ...managed('c'), ...managed('b'), waiting]);
  expectOnNode(result, 'b', waiting);
});

test('a namespace written on an object of the cluster is not part of its name', () => {
  const waiting = pod({ cpu: '1' });
  const [stray, claim] = managed('a') as [SnapshotObject, SnapshotObject];
  stray.metadata.namespace = 'default';
  expectOnNode(plan([nodePool(), stray, claim, waiting]), 'a', waiting);
});

test('a claim without a node takes pods under its own name', () => {
  const waiting = pod({ cpu: '1' });
  expectOnNode(plan([nodePool(), nodeClaim('default-x'), waiting]), 'default-x', waiting);
});

test('a claim that is not launched does not count yet, and a terminating one is not reused', () => {
  const waiting = pod({ cpu: '1' });
  const unlaunched = nodeClaim('a', { status: { providerID: '' } });
  const terminating = nodeClaim('b', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  const stopping = nodeClaim('c', { status: { conditions: [{ type: 'InstanceTerminating', status: 'True' }] } });
  newNodeOf(plan([nodePool(), unlaunched, terminating, stopping, waiting]), waiting);
});

test('what runs on a node is subtracted, finished pods are not', () => {
  const waiting = pod({ cpu: '3' });
  const running = pod({ cpu: '2', node: 'node-1' });
  const finished = pod({ cpu: '2', node: 'node-1', phase: 'Succeeded' });
  newNodeOf(plan([nodePool(), node(), running, waiting]), waiting);
  expectOnNode(plan([nodePool(), node(), finished, waiting]), 'node-1', waiting);
});

test('daemons still to come keep their room; those running are not counted twice; unexpected ones free nothing', () => {
  const daemon = (cpu: string) =>
    object('apps/v1', 'DaemonSet', 'agent', {
      metadata: { namespace: 'default' },
      spec: { template: { spec: { containers: [{ name: 'd', resources: { requests: { cpu } } }] } } },
    });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', controller: true };
  const three = pod({ cpu: '3' });
  newNodeOf(plan([nodePool(), node(), daemon('2'), three]), three);
  const started = pod({ cpu: '1', node: 'node-1', owner });
  expectOnNode(plan([nodePool(), node(), daemon('1'), started, three]), 'node-1', three);
  const unexpected = pod({ cpu: '2', node: 'node-1', owner: { ...owner, name: 'other' } });
  newNodeOf(plan([nodePool(), node(), daemon('1'), unexpected, three]), three);
});

test('a node with anything negative takes nothing, not even a pod that asks for nothing', () => {
  const overfull = pod({ cpu: '5', node: 'node-1' });
  const waiting = pod();
  newNodeOf(plan([nodePool(), node(), overfull, waiting]), waiting);
});

test('asking for nothing of what a node does not have is not an obstacle', () => {
  const waiting = pod({ cpu: '1', requests: { 'x.com/device': '0' } });
  expectOnNode(plan([nodePool(), node(), waiting]), 'node-1', waiting);
});

test('a pod with a toleration for everything goes wherever there is room', () => {
  const waiting = pod({ cpu: '1', spec: { tolerations: [{ operator: 'Exists' }] } });
  const taints = [
    { key: 'a', effect: 'NoSchedule' },
    { key: 'b', value: 'c', effect: 'NoExecute' },
  ];
  expectOnNode(plan([nodePool(), node({ taints }), waiting]), 'node-1', waiting);
});

test('labels of an existing node are final: what it lacks it will not get', () => {
  const waiting = pod({ spec: { nodeSelector: { team: 'x' } } });
  const pool = nodePool({ labels: { team: 'x' } });
  newNodeOf(plan([pool, node(), waiting]), waiting);
  expectOnNode(plan([pool, node({ labels: { team: 'x' } }), waiting]), 'node-1', waiting);
});

test('taints of a registered node count, cordons too; those of start-up do not until it is initialised', () => {
  const waiting = pod({ cpu: '1' });
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const readiness = { key: 'readiness.k8s.io/gate', effect: 'NoSchedule' };
  const startup = { key: 'init', effect: 'NoExecute' };
  const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  const claim = { spec: { startupTaints: [startup] } };
  const starting = managed('a', { initialized: false, taints: [notReady, startup, readiness], claim });
  expectOnNode(plan([nodePool(), ...starting, waiting]), 'a', waiting);
  const started = managed('a', { taints: [notReady], claim });
  newNodeOf(plan([nodePool(), ...started, waiting]), waiting);
  const cordoned = managed('a', { initialized: false, taints: [cordon], claim });
  newNodeOf(plan([nodePool(), ...cordoned, waiting]), waiting);
  const [held = node(), ...itsClaim] = cordoned;
  const annotations = { [annotation.daemonSetRoom]: '2026-01-01T00:00:00Z' };
  const holding = [{ ...held, metadata: { ...held.metadata, annotations } }, ...itsClaim];
  expectOnNode(plan([nodePool(), ...holding, waiting]), 'a', waiting);
  newNodeOf(plan([nodePool(), node({ taints: [notReady] }), waiting]), waiting);
});

test.each([
  ['node.kubernetes.io/not-ready', 'NoSchedule'],
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoSchedule'],
  ['node.cloudprovider.kubernetes.io/uninitialized', 'NoSchedule'],
  ['karpenter.sh/unregistered', 'NoExecute'],
  ['readiness.k8s.io/network', 'NoSchedule'],
])('the taint %s:%s passes by itself while a managed node starts', (key, effect) => {
  const waiting = pod({ cpu: '1' });
  const taints = [{ key, effect }];
  expectOnNode(plan([nodePool(), ...managed('a', { initialized: false, taints }), waiting]), 'a', waiting);
  newNodeOf(plan([nodePool(), ...managed('a', { taints }), waiting]), waiting);
  newNodeOf(plan([nodePool(), node({ taints }), waiting]), waiting);
});

test('until a managed node is registered its claim speaks for its taints, labels and name', () => {
  const waiting = pod({ cpu: '1', spec: { nodeSelector: { team: 'x' } } });
  const unregistered = managed('a', {
    registered: false,
    initialized: false,
    taints: [
      { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
      { key: 'other', effect: 'NoSchedule' },
    ],
    claim: { labels: { team: 'x' } },
  });
  expectOnNode(plan([nodePool(), ...unregistered, waiting]), 'claim-a', waiting);
});

test('devices a kubelet reports as zero before initialisation fall back to the claim', () => {
  const waiting = pod({ requests: { 'a.com/gpu': '1' } });
  const allocatable = { cpu: '4', memory: '8Gi', pods: '20', 'a.com/gpu': '0' };
  const claim = { status: { allocatable: { ...allocatable, 'a.com/gpu': '2' } } };
  expectOnNode(plan([nodePool(), ...managed('a', { initialized: false, allocatable, claim }), waiting]), 'a', waiting);
  expectUnscheduled(plan([nodePool(), ...managed('a', { allocatable, claim }), waiting]), waiting);
});

test('only machines in nodeState take pods, as it describes them', () => {
  const waiting = pod({ cpu: '1' });
  newNodeOf(plan([nodePool(), node(), waiting], { nodeState: [] }), waiting);
  expectOnNode(plan([nodePool(), node(), waiting], { nodeState: [{ node: 'node-1' }] }), 'node-1', waiting);
  const starting = managed('a', { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] });
  const nodeState = [{ node: 'a', nodeClaim: 'claim-a', initialized: false }];
  expectOnNode(plan([nodePool(), ...starting, waiting], { nodeState }), 'a', waiting);
});

test('without a usable pool nothing is placed, not even on nodes that exist', () => {
  const waiting = pod({ cpu: '1' });
  expect(reasonsOf(plan([nodePool({ ready: 'Unknown' }), node(), waiting]), waiting)).toMatchObject([
    { code: 'NoNodePools' },
  ]);
});

test('pools without instance types still let pods use nodes that exist', () => {
  const waiting = pods(2, { cpu: '3' });
  const result = plan([nodePool(), node(), ...waiting], { types: [] });
  expect(result.existingNodes).toHaveLength(1);
  expect(result.unschedulable).toMatchObject([{ reasons: [{ code: 'NoInstanceTypes' }, {}] }]);
});

test('a port of an init container is not reserved, and a pod does not conflict with itself', () => {
  const ports = [{ containerPort: 1, hostPort: 80 }];
  const initial = { initContainers: [{ name: 'i', ports }], containers: [{ name: 'm' }] };
  const twice = {
    containers: [
      { name: 'a', ports },
      { name: 'b', ports },
    ],
  };
  const waiting = pod({ spec: twice });
  expectOnNode(plan([nodePool(), node(), pod({ node: 'node-1', spec: initial }), waiting]), 'node-1', waiting);
});

test.each(['0.0.0.0', '::', '10.0.0.1'])('the address %s takes a port that is taken on 10.0.0.1', (hostIP) => {
  const spec = (ip: string) => ({
    containers: [{ name: 'm', ports: [{ containerPort: 1, hostPort: 80, hostIP: ip }] }],
  });
  const waiting = pod({ spec: spec(hostIP) });
  newNodeOf(plan([nodePool(), node(), pod({ node: 'node-1', spec: spec('10.0.0.1') }), waiting]), waiting);
});

test('a host port taken on a node is not given again', () => {
  const spec = { containers: [{ name: 'm', ports: [{ containerPort: 1, hostPort: 80 }] }] };
  const waiting = pod({ spec });
  newNodeOf(plan([nodePool(), node(), pod({ node: 'node-1', spec }), waiting]), waiting);
});

const leaving = [{ node: 'node-1', markedForDeletion: true }];
const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's' };
const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r' };

test.each([
  ['an active pod', {}, true],
  ['a terminating StatefulSet pod', { deleting: true, owner: statefulSet }, true],
  ['a terminating ReplicaSet pod', { deleting: true, owner: replicaSet }, false],
  ['a finished pod', { phase: 'Failed' }, false],
  ['a DaemonSet pod', { owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd' } }, false],
  ['a static pod', { owner: { apiVersion: 'v1', kind: 'Node', name: 'node-1' } }, false],
  ['a pod protected for good', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, false],
  ['a pod protected without a start time', { annotations: { 'karpenter.sh/do-not-disrupt': '1h' } }, false],
  [
    'a pod whose protection has passed',
    { annotations: { 'karpenter.sh/do-not-disrupt': '5m' }, status: { startTime: '2026-01-01T00:00:00Z' } },
    true,
  ],
  ['a pod with a protection no one understands', { annotations: { 'karpenter.sh/do-not-disrupt': 'soon' } }, true],
])('%s on a leaving node is planned: %o', (_, parts, planned) => {
  const result = plan([nodePool(), node(), pod({ node: 'node-1', cpu: '1', ...parts })], { nodeState: leaving });
  expect(result.pods).toBe(planned ? 1 : 0);
  expect(result.newNodes).toHaveLength(planned ? 1 : 0);
});

test.each([
  ['maxUnavailable 0', [{ maxUnavailable: 0 }], false],
  ['maxUnavailable 0%', [{ maxUnavailable: '0%' }], false],
  ['minAvailable 100%', [{ minAvailable: '100%' }], false],
  ['minAvailable 1', [{ minAvailable: 1 }], true],
  ['two budgets', [{ minAvailable: 1 }, { maxUnavailable: 1 }], false],
])('a pod behind %s is planned away from a leaving node: %o', (_, budgets, planned) => {
  const labels = { app: 'web' };
  const objects = budgets.map((spec, at) =>
    object('policy/v1', 'PodDisruptionBudget', `b${at}`, {
      metadata: { namespace: 'default' },
      spec: { selector: { matchLabels: labels }, ...spec },
    }),
  );
  const result = plan([nodePool(), node(), ...objects, pod({ node: 'node-1', labels })], { nodeState: leaving });
  expect(result.pods).toBe(planned ? 1 : 0);
});

test('a leaving node takes no pods and does not count against limits', () => {
  const waiting = pod({ cpu: '1' });
  const going = node({ labels: { [label.nodePool]: 'default' } });
  const pool = nodePool({ limits: { cpu: '2' } });
  const types = plan([pool, going, waiting], { nodeState: leaving });
  expectScheduled(types, waiting);
  expect(types.newNodes).toHaveLength(1);
});

test.each([
  ['bound', { node: 'node-1' }, 0],
  ['not yet tried by the scheduler', { status: { conditions: [] } }, 0],
  ['about to come to a node with room', { status: { nominatedNodeName: 'node-1' } }, 0],
  ['nominated to an unknown node', { status: { nominatedNodeName: 'other' } }, 0],
  ['nominated to a node without room', { cpu: '5', status: { nominatedNodeName: 'node-1' } }, 1],
  ['of a DaemonSet', { owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd' } }, 0],
  ['waiting', {}, 1],
  ['waiting, whatever its phase', { phase: 'Running' }, 1],
])('a pod that is %s is planned or not', (_, parts, count) => {
  expect(plan([nodePool(), node(), pod(parts)]).pods).toBe(count);
});

test('a pod nominated to a node from which others are being evicted waits for their room', () => {
  const victim = pod({ node: 'node-1', cpu: '4', deleting: true });
  const waiting = pod({ cpu: '4', status: { nominatedNodeName: 'node-1' } });
  expect(plan([nodePool(), node(), victim, waiting]).pods).toBe(0);
  expect(plan([nodePool(), node(), pod({ node: 'node-1', cpu: '4' }), waiting]).pods).toBe(1);
});

test('an unknown node is waited for as long as it may still come', () => {
  const since = (lastTransitionTime: string) => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', lastTransitionTime }];
    return plan([nodePool(), pod({ status: { nominatedNodeName: 'other', conditions } })], {
      time: '2026-01-01T00:10:00Z',
    }).pods;
  };
  expect(since('2026-01-01T00:05:01Z')).toBe(0);
  expect(since('2026-01-01T00:04:59Z')).toBe(1);
});
