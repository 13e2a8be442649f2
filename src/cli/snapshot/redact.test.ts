import { expect, test } from 'vitest';
import { planSnapshot, type Snapshot, type SnapshotObject } from '../../core/index.ts';
import { genericCatalogue, kwokProviderFacts } from '../../sim/index.ts';
import { redactSnapshot } from './redact.ts';
import { checkSnapshot } from './snapshot-document.ts';

const waiting = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'acme' }],
};

const pod = (name: string, spec: object = {}, metadata: object = {}): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `acme-${name}`,
    namespace: 'acme-shop',
    uid: name,
    labels: {
      team: 'acme-team',
      'app.kubernetes.io/name': 'acme-web',
      'batch.kubernetes.io/job-name': 'acme-nightly',
      'jobset.sigs.k8s.io/jobset-name': 'acme-training',
    },
    annotations: { 'acme.com/note': 'acme', 'karpenter.sh/do-not-disrupt': 'true' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'acme-web', uid: 'u', controller: true }],
    ...metadata,
  },
  spec: {
    hostname: 'acme-host',
    subdomain: 'acme-domain',
    containers: [
      {
        name: 'acme-main',
        image: 'registry.acme.com/web',
        command: ['acme'],
        env: [{ name: 'ACME_TOKEN', value: 'acme' }],
        resources: { requests: { cpu: '1' } },
      },
    ],
    volumes: [
      { name: 'acme-config', configMap: { name: 'acme-config' } },
      { name: 'acme-scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { team: 'acme-team' } },
      },
    ],
    affinity: {
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: {
              topologyKey: 'topology.kubernetes.io/zone',
              namespaces: ['acme-shop'],
              labelSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['acme-team'] }] },
            },
          },
        ],
      },
    },
    ...spec,
  },
  status: waiting,
});

const claim = (name: string): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: `acme-${name}-acme-scratch`, namespace: 'acme-shop' },
  spec: { storageClassName: 'fast' },
  status: { phase: 'Pending' },
});

const snapshot: Snapshot = {
  apiVersion: 'kerf/v1',
  kind: 'Snapshot',
  name: 'context acme',
  time: '2026-11-16T04:00:00Z',
  provider: kwokProviderFacts(),
  instanceTypes: [{ nodePool: 'default', items: genericCatalogue() }],
  nodeState: [{ node: 'ip-1.acme.internal', providerID: 'aws:///us-east-1a/i-acme', initialized: true }],
  objects: {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        metadata: { name: 'default' },
        spec: {
          template: {
            spec: {
              nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
              requirements: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }],
            },
          },
        },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      },
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'fast' },
        provisioner: 'ebs.csi.aws.com',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name: 'ip-1.acme.internal',
          labels: { 'kubernetes.io/hostname': 'ip-1.acme.internal', 'topology.kubernetes.io/zone': 'test-zone-a' },
        },
        spec: { providerID: 'aws:///us-east-1a/i-acme' },
        status: {
          allocatable: { cpu: '1500m', memory: '8Gi', pods: '10' },
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        },
      },
      ...['a', 'b', 'c', 'd', 'e'].map((name) => pod(name)),
      ...['a', 'b', 'c', 'd', 'e'].map(claim),
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'acme-shop', labels: { 'kubernetes.io/metadata.name': 'acme-shop' } },
      },
    ],
  },
};

test('nothing of the owner’s own is left', () => {
  const text = JSON.stringify({ ...redactSnapshot(snapshot), instanceTypes: [] });
  expect(text).not.toMatch(/acme|10\.0\.0\.1/i);
  expect(text).toContain('test-zone-a');
  expect(text).toContain('karpenter.sh/do-not-disrupt');
});

test('the redacted snapshot is a valid one', () => {
  expect(checkSnapshot(redactSnapshot(snapshot)).problems).toEqual([]);
});

test('the redacted snapshot plans alike: selectors, owners and claims still meet', () => {
  const shape = (input: Snapshot) => {
    const plan = planSnapshot(input);
    return {
      pods: plan.pods,
      price: plan.pricePerHour,
      nodes: plan.newNodes.map(({ chosen, pods }) => [chosen.instanceType, chosen.zone, pods.length]),
      existing: plan.existingNodes.map(({ pods }) => pods.length),
      unschedulable: plan.unschedulable.length,
    };
  };
  expect(shape(snapshot)).toMatchObject({ pods: 5, unschedulable: 0 });
  expect(shape(redactSnapshot(snapshot))).toEqual(shape(snapshot));
});

test('pods, claims, classes, pools and devices still meet', () => {
  const api = 'resource.k8s.io/v1';
  const counters = (value: string): object => ({ slots: { value } });
  const own = { driver: 'gpu.example.com', pool: { name: 'acme-pool', generation: 1, resourceSliceCount: 2 } };
  const device = { name: 'acme-gpu', consumesCounters: [{ counterSet: 'acme-set', counters: counters('1') }] };
  const nodeSelector = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'team', operator: 'In', values: ['acme-team'] }] }],
  };
  const held = { driver: own.driver, pool: 'acme-pool', device: 'acme-gpu', request: 'acme-first' };
  const withDevices = (status?: object): Snapshot => ({
    ...snapshot,
    settings: { ignoreDRARequests: false },
    nodeState: [{ node: 'acme-node' }],
    objects: {
      ...snapshot.objects,
      items: [
        ...snapshot.objects.items.filter(({ kind }) => kind === 'NodePool' || kind === 'Namespace'),
        { apiVersion: api, kind: 'DeviceClass', metadata: { name: 'acme-class' }, spec: {} },
        {
          apiVersion: api,
          kind: 'ResourceSlice',
          metadata: { name: 'acme-a' },
          spec: { ...own, nodeSelector, devices: [device] },
        },
        {
          apiVersion: api,
          kind: 'ResourceSlice',
          metadata: { name: 'acme-b' },
          spec: { ...own, allNodes: true, sharedCounters: [{ name: 'acme-set', counters: counters('1') }] },
        },
        ...['acme-held', 'acme-wanted'].map((name) => ({
          apiVersion: api,
          kind: 'ResourceClaim',
          metadata: { name, namespace: 'acme-shop' },
          spec: {
            devices: {
              requests: [{ name: 'acme-first', exactly: { deviceClassName: 'acme-class', count: 1 } }],
              constraints: [{ requests: ['acme-second'], matchAttribute: 'example.com/none' }],
            },
          },
          ...(name === 'acme-held' && status !== undefined ? { status } : {}),
        })),
        {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: 'acme-node', labels: { 'kubernetes.io/hostname': 'acme-node', team: 'acme-team' } },
          status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } },
        },
        pod('a', {
          volumes: [],
          topologySpreadConstraints: [],
          resourceClaims: [{ name: 'acme-use', resourceClaimName: 'acme-wanted' }],
        }),
      ],
    },
  });
  const placed = (input: Snapshot): number => planSnapshot(input).existingNodes.length;
  const free = withDevices();
  const taken = withDevices({ allocation: { devices: { results: [held] } } });
  expect([free, taken].map(placed)).toEqual([1, 0]);
  expect([free, taken].map(redactSnapshot).map(placed)).toEqual([1, 0]);
  expect(JSON.stringify({ ...redactSnapshot(taken), instanceTypes: [] })).not.toMatch(/acme/i);
});

test('a default spread meets its Services and owners in a redacted snapshot as well', () => {
  const bare = (name: string) => pod(name, { topologySpreadConstraints: [], affinity: {}, volumes: [] });
  const zones = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' } as const;
  const spread: Snapshot = {
    ...snapshot,
    settings: { defaultTopologySpreadConstraints: [zones] },
    objects: {
      ...snapshot.objects,
      items: [
        ...snapshot.objects.items.filter(({ kind }) => kind === 'NodePool' || kind === 'Namespace'),
        bare('a'),
        bare('b'),
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'acme-web', namespace: 'acme-shop' },
          spec: { selector: { team: 'acme-team' } },
        },
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          metadata: { name: 'acme-web', namespace: 'acme-shop' },
          spec: { selector: { matchLabels: { team: 'acme-team' } } },
        },
      ],
    },
  };
  const redacted = redactSnapshot(spread);
  expect(JSON.stringify({ ...redacted, instanceTypes: [] })).not.toMatch(/acme/i);
  expect(planSnapshot(redacted).newNodes).toHaveLength(2);
  expect(planSnapshot(spread).newNodes).toHaveLength(2);
});
