import { describe, expect, test } from 'vitest';
import { label } from '../api/names.ts';
import type { SnapshotObject } from './index.ts';
import {
  expectOnNode,
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  node,
  nodeClaim,
  nodePool,
  object,
  offering,
  plan,
  pod,
  pods,
  provider,
  reasonsOf,
  requirement,
  spread,
  valuesOf,
} from './testing/builders.testing.ts';

const bound = { 'pv.kubernetes.io/bind-completed': 'yes' };

const storageClass = (name: string, zones: string[] = [], more: object = {}) =>
  object('storage.k8s.io/v1', 'StorageClass', name, {
    provisioner: 'ebs.csi.aws.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...(zones.length > 0
      ? { allowedTopologies: zones.map((zone) => ({ matchLabelExpressions: [{ key: label.zone, values: [zone] }] })) }
      : {}),
    ...more,
  });
const volume = (name: string, zones: string[] = [], more: object = {}) =>
  object('v1', 'PersistentVolume', name, {
    spec: {
      csi: { driver: 'ebs.csi.aws.com' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: zones.map((zone) => ({ matchExpressions: [requirement(label.zone, 'In', [zone])] })),
        },
      },
      ...more,
    },
  });
const claim = (name: string, spec: object, more: object = {}) =>
  object('v1', 'PersistentVolumeClaim', name, {
    metadata: { namespace: 'default', annotations: bound, ...more },
    spec,
  });
const using = (...claims: string[]) => ({
  volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});

test('a bound volume pins the pod to its zone', () => {
  const waiting = pod({ spec: using('data') });
  const result = plan([nodePool(), volume('pv', ['zone-3']), claim('data', { volumeName: 'pv' }), waiting]);
  expect(valuesOf(newNodeOf(result, waiting), label.zone)).toEqual(['zone-3']);
});

test('a bound claim needs no storage class, and a missing one does not matter', () => {
  for (const storageClassName of [undefined, '', 'gone']) {
    const waiting = pod({ spec: using('data') });
    expectScheduled(
      plan([nodePool(), volume('pv'), claim('data', { volumeName: 'pv', storageClassName }), waiting]),
      waiting,
    );
  }
});

test('an unbound claim goes where its storage class allows, the alternatives in order', () => {
  const waiting = pod({ spec: using('data') });
  const objects = [storageClass('fast', ['zone-2', 'zone-3']), claim('data', { storageClassName: 'fast' }), waiting];
  expect(valuesOf(newNodeOf(plan([nodePool(), ...objects]), waiting), label.zone)).toEqual(['zone-2']);
  const pool = nodePool({ requirements: [requirement(label.zone, 'In', ['zone-3'])] });
  expect(valuesOf(newNodeOf(plan([pool, ...objects]), waiting), label.zone)).toEqual(['zone-3']);
});

test('a pod waits for reserved capacity only if the last place its volume allows would have it wait', () => {
  const waiting = pod({ spec: using('data') });
  const used = offering('zone-2', 'reserved', 0.001, { reservationCapacity: 0 });
  const types = [instanceType({ capacityTypes: ['reserved'], offerings: [used] })];
  const codeFor = (...zones: string[]) => {
    const objects = [storageClass('s', zones), claim('data', { storageClassName: 's' }), waiting];
    return reasonsOf(plan([nodePool(), ...objects], { types }), waiting)[0]?.code;
  };
  expect(codeFor('zone-1', 'zone-2')).toBe('ReservedCapacityDeferred');
  expect(codeFor('zone-2', 'zone-1')).not.toBe('ReservedCapacityDeferred');
});

test('several volumes must agree', () => {
  const waiting = pod({ spec: using('a', 'b') });
  const objects = (second: string) => [
    storageClass('s', ['zone-1', 'zone-2']),
    claim('a', { storageClassName: 's' }),
    volume('pv', [second]),
    claim('b', { volumeName: 'pv' }),
    waiting,
  ];
  expect(valuesOf(newNodeOf(plan([nodePool(), ...objects('zone-2')]), waiting), label.zone)).toEqual(['zone-2']);
  expectUnscheduled(plan([nodePool(), ...objects('zone-3')]), waiting);
});

test('local volumes forget their host, others are held to it', () => {
  const affinity = {
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [requirement(label.hostname, 'In', ['old'])] }] },
    },
  };
  const local = pod({ spec: using('data') });
  const claims = claim('data', { volumeName: 'pv' });
  expectScheduled(plan([nodePool(), volume('pv', [], { ...affinity, local: {} }), claims, local]), local);
  expect(reasonsOf(plan([nodePool(), volume('pv', [], affinity), claims, local]), local)[0]?.code).toBe(
    'VolumeRequirementsIncompatible',
  );
});

test.each<[string, SnapshotObject[], string]>([
  [
    'a missing claim',
    [],
    'getting persistent volume claim, PersistentVolumeClaim "data" not found (PersistentVolumeClaim=data)',
  ],
  [
    'a claim being deleted',
    [claim('data', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    'persistentvolumeclaim is being deleted (PersistentVolumeClaim=default/data)',
  ],
  [
    'a lost claim',
    [{ ...claim('data', { volumeName: 'pv' }), status: { phase: 'Lost' } }],
    'persistentvolumeclaim bound to non-existent persistentvolume',
  ],
  ['a missing volume', [claim('data', { volumeName: 'pv' })], 'failed to validate pvc, '],
  [
    'no bind annotation',
    [volume('pv'), claim('data', { volumeName: 'pv' }, { annotations: {} })],
    'pvc is considered unbound because it does not contain annotation',
  ],
  ['no storage class', [claim('data', {})], 'unbound pvc must define a storage class'],
  [
    'an unknown storage class',
    [claim('data', { storageClassName: 'x' })],
    'failed to validate pvc, failed to get storage class, ',
  ],
  [
    'immediate binding',
    [storageClass('s', [], { volumeBindingMode: 'Immediate' }), claim('data', { storageClassName: 's' })],
    'failed to validate pvc, pvc with immediate volume binding mode must be bound',
  ],
  [
    'an unsupported topology key',
    [
      storageClass('s', [], { allowedTopologies: [{ matchLabelExpressions: [{ key: 'bad', values: ['x'] }] }] }),
      claim('data', { storageClassName: 's' }),
    ],
    'failed to validate pvc, storage class uses unsupported topology key',
  ],
  [
    'an unsupported provisioner',
    [storageClass('s', [], { provisioner: 'bad.io' }), claim('data', { storageClassName: 's' })],
    'failed to validate pvc, provisioner is not supported',
  ],
])('%s makes the pod invalid, and only that pod', (_, objects, message) => {
  const broken = pod({ spec: using('data') });
  const fine = pod();
  const facts = { ...provider, unsupportedProvisioners: ['bad.io'], unsupportedTopologyKeys: ['bad'] };
  const result = plan([nodePool(), ...objects, broken, fine], { provider: facts });
  expect(reasonsOf(result, broken)[0]?.code).toBe('PodInvalid');
  expect(reasonsOf(result, broken)[0]?.message).toContain(message);
  expectScheduled(result, fine);
});

test('an ephemeral volume is looked up as pod-volume', () => {
  const waiting = pod({
    name: 'web',
    spec: { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: {} } }] },
  });
  const objects = [storageClass('s', ['zone-2']), claim('web-scratch', { storageClassName: 's' })];
  expect(valuesOf(newNodeOf(plan([nodePool(), ...objects, waiting]), waiting), label.zone)).toEqual(['zone-2']);
});

const csiNode = (count: number) =>
  object('storage.k8s.io/v1', 'CSINode', 'node-1', {
    spec: { drivers: [{ name: 'ebs.csi.aws.com', allocatable: { count } }] },
  });

test('a node attaches no more volumes than its driver can; a shared claim counts once', () => {
  const objects = [
    storageClass('s', [], { provisioner: 'kubernetes.io/aws-ebs' }),
    claim('a', { storageClassName: 's' }),
    claim('b', { storageClassName: 's' }),
  ];
  const [first, second, shared] = [
    pod({ cpu: '2', spec: using('a') }),
    pod({ cpu: '1', spec: using('b') }),
    pod({ spec: using('a') }),
  ];
  const result = plan([nodePool(), node(), csiNode(1), ...objects, first, second, shared]);
  expectOnNode(result, 'node-1', first, shared);
  newNodeOf(result, second);
  const unlimited = plan([nodePool(), node(), ...objects, first, second, shared]);
  expectOnNode(unlimited, 'node-1', first, second, shared);
});

test('many pods that share one claim share one node', () => {
  const sharing = pods(5, { cpu: '100m', spec: using('a') });
  const objects = [storageClass('s'), claim('a', { storageClassName: 's' }), csiNode(1), node()];
  expectOnNode(plan([nodePool(), ...objects, ...sharing]), 'node-1', ...sharing);
});

test.each([
  ['an in-tree EBS volume counts as one of its CSI driver', { awsElasticBlockStore: { volumeID: 'v' } }, false],
  ['volumes of other in-tree plugins are not counted', { nfs: { server: 's', path: '/' } }, true],
])('%s', (_, source, fits) => {
  const old = object('v1', 'PersistentVolume', 'pv', { spec: source });
  const objects = [old, claim('a', { volumeName: 'pv' }), csiNode(0), node()];
  const waiting = pod({ cpu: '1', spec: using('a') });
  const { existingNodes } = plan([nodePool(), ...objects, waiting]);
  expect(existingNodes).toHaveLength(fits ? 1 : 0);
});

test('a claim in flight attaches any number of volumes until its CSINode is there', () => {
  const objects = [storageClass('s'), claim('a', { storageClassName: 's' }), claim('b', { storageClassName: 's' })];
  const waiting = pod({ cpu: '1', spec: using('a', 'b') });
  expectOnNode(plan([nodePool(), nodeClaim('c'), csiNode(1), ...objects, waiting]), 'c', waiting);
});

test('volumes already attached to a node count', () => {
  const objects = [storageClass('s'), claim('a', { storageClassName: 's' }), claim('b', { storageClassName: 's' })];
  const waiting = pod({ spec: using('b') });
  const result = plan([nodePool(), node(), csiNode(1), ...objects, pod({ node: 'node-1', spec: using('a') }), waiting]);
  newNodeOf(result, waiting);
});

test('volume zones restrict the node, not the counting of spreads', () => {
  const app = { app: 'db' };
  const running = [
    node({ name: 'n2', zone: 'zone-2', allocatable: { cpu: '0', pods: '0' } }),
    pod({ labels: app, node: 'n2' }),
  ];
  const waiting = pod({ labels: app, spec: { ...spread(label.zone, app), ...using('data') } });
  const objects = [volume('pv', ['zone-2']), claim('data', { volumeName: 'pv' })];
  expectUnscheduled(plan([nodePool(), ...running, ...objects, waiting]), waiting);
});

describe('attachments of new nodes', () => {
  const driver = 'ebs.csi.aws.com';
  const volumes = (count: number) =>
    Array.from({ length: count }, (_, index) => [
      volume(`pv-${index}`, [], { csi: { driver } }),
      claim(`data-${index}`, { volumeName: `pv-${index}` }),
      pod({ spec: using(`data-${index}`) }),
    ]).flat();
  const limited = (limit: number, name = 'small') => ({
    ...instanceType({ name }),
    volumeAttachmentLimits: { [driver]: limit },
  });

  test('a node takes as many pods as it can attach volumes', () => {
    const result = plan([nodePool(), ...volumes(4)], { types: [limited(2)] });
    expect(result.newNodes.map((planned) => planned.pods.length)).toEqual([2, 2]);
  });

  test('types that attach too few are left out', () => {
    const result = plan([nodePool(), ...volumes(4)], { types: [limited(2), { ...limited(4, 'large') }] });
    expect(result.newNodes.map((planned) => planned.instanceTypes)).toEqual([['large']]);
  });

  test('a volume that several pods share is attached once', () => {
    const shared = [volume('pv', [], { csi: { driver } }), claim('data', { volumeName: 'pv' })];
    const waiting = pods(3, { spec: using('data') });
    expect(plan([nodePool(), ...shared, ...waiting], { types: [limited(1)] }).newNodes).toHaveLength(1);
  });

  test('a pod with more volumes than any type attaches is reported', () => {
    const [, , , ...rest] = volumes(3);
    const objects = rest.filter(({ kind }) => kind !== 'Pod');
    const waiting = pod({ spec: using('data-1', 'data-2') });
    const [reason] = reasonsOf(plan([nodePool(), ...objects, waiting], { types: [limited(1)] }), waiting);
    expect(reason?.message).toContain('would exceed volume limit for all instance type options');
  });

  const labels = { [label.nodePool]: 'default', [label.instanceType]: 'small' };
  const csiNode = (drivers: object[]) => object('storage.k8s.io/v1', 'CSINode', 'node-1', { spec: { drivers } });
  const fits = (...more: Parameters<typeof plan>[0]) =>
    plan([nodePool(), node({ labels }), ...more, ...volumes(3)], { types: [limited(2)] }).existingNodes[0]?.pods
      .length ?? 0;

  test('an existing node attaches what its type does, until its driver says otherwise', () => {
    expect(fits()).toBe(2);
    expect(fits(csiNode([]))).toBe(2);
    expect(fits(csiNode([{ name: driver, allocatable: { count: 1 } }]))).toBe(1);
    expect(fits(csiNode([{ name: driver }]))).toBe(3);
  });

  test('a node without a driver that pods must have takes none of them', () => {
    const required = object('storage.k8s.io/v1', 'CSIDriver', driver, {
      spec: { preventPodSchedulingIfMissing: true },
    });
    expect(fits(required)).toBe(0);
    expect(fits(required, csiNode([{ name: driver, allocatable: { count: 2 } }]))).toBe(2);
  });

  test('storage that a driver keeps account of must be there, on nodes that exist', () => {
    const waiting = pod({ spec: using('data') });
    const local = 'local.csi.example.com';
    const objects = [
      { ...storageClass('local'), provisioner: local },
      claim('data', { storageClassName: 'local', resources: { requests: { storage: '10Gi' } } }),
      object('storage.k8s.io/v1', 'CSIDriver', local, { spec: { storageCapacity: true } }),
      waiting,
    ];
    const capacity = (size: string, zone = 'zone-1') =>
      object('storage.k8s.io/v1', 'CSIStorageCapacity', 'c', {
        storageClassName: 'local',
        nodeTopology: { matchLabels: { [label.zone]: zone } },
        capacity: size,
      });
    const onNode = (...more: Parameters<typeof plan>[0]) =>
      plan([nodePool(), node(), ...objects, ...more]).existingNodes.length === 1;
    expect([onNode(), onNode(capacity('9Gi')), onNode(capacity('10Gi')), onNode(capacity('10Gi', 'zone-2'))]).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expectScheduled(plan([nodePool(), node(), ...objects]), waiting);
  });
});
