// Rules that the random scenarios do not draw, one by one: for every case the planner and a real kube-scheduler must say the
// same about one pod on one node that exists.
import { beforeEach, describe, expect, test } from 'vitest';
import { label } from '../../src/api/index.ts';
import type { SnapshotObject, SnapshotSettings } from '../../src/core/index.ts';
import { node, object, pod } from '../../src/core/testing/builders.testing.ts';
import { isOlderThan } from '../setup/kubernetes-release.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { type Case, clear, type Fields, pinned, place, placed, verdicts } from './scheduler-agreement/one-pod.ts';
import { agreementControlPlane } from './scheduler-agreement/rig.ts';

const byZone = { maxSkew: 1, topologyKey: label.zone, whenUnsatisfiable: 'DoNotSchedule' };
const spreadSettings = { defaultTopologySpreadConstraints: [byZone] } as SnapshotSettings;
const plain = useControlPlane(agreementControlPlane);
const spreading = useControlPlane({
  ...agreementControlPlane,
  schedulerProfile: {
    ...(agreementControlPlane.schedulerProfile as Fields),
    pluginConfig: [{ name: 'PodTopologySpread', args: { defaultConstraints: [byZone], defaultingType: 'List' } }],
  },
});
const driver = 'disk.csi.test.kerf';

beforeEach(async () => {
  for (const cluster of [plain(), spreading()]) await clear(cluster);
});

const sidecar = (port: number): Fields => ({
  initContainers: [
    { name: 's', image: 'i', restartPolicy: 'Always', ports: [{ containerPort: port, hostPort: port }] },
  ],
});
const plainPort = (port: number): Fields => ({
  containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port, hostPort: port }] }],
});
const volume = (name: string): SnapshotObject[] => [
  object('v1', 'PersistentVolume', name, {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'disk',
      csi: { driver, volumeHandle: name },
      claimRef: { namespace: 'default', name },
    },
    status: { phase: 'Bound' },
  }),
  object('v1', 'PersistentVolumeClaim', name, {
    metadata: { namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'disk',
      volumeName: name,
      resources: { requests: { storage: '1Gi' } },
    },
    status: { phase: 'Bound' },
  }),
];
const using = (claim: string): Fields => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: claim } }] });
const attached = (count: number): SnapshotObject[] => [
  placed('n'),
  object('storage.k8s.io/v1', 'CSINode', 'n', {
    spec: { drivers: [{ name: driver, nodeID: 'n', topologyKeys: [], allocatable: { count } }] },
  }),
  object('storage.k8s.io/v1', 'StorageClass', 'disk', { provisioner: driver }),
  ...volume('one'),
  ...volume('two'),
  pod({ name: 'there', node: 'n', cpu: '100m', spec: using('one') }),
];
const stored = (capacity: string): SnapshotObject[] => [
  placed('n'),
  object('storage.k8s.io/v1', 'CSINode', 'n', {
    spec: { drivers: [{ name: driver, nodeID: 'n', topologyKeys: [label.hostname] }] },
  }),
  object('storage.k8s.io/v1', 'CSIDriver', driver, { spec: { storageCapacity: true, attachRequired: false } }),
  object('storage.k8s.io/v1', 'StorageClass', 'local', {
    provisioner: driver,
    volumeBindingMode: 'WaitForFirstConsumer',
  }),
  object('storage.k8s.io/v1', 'CSIStorageCapacity', 'room', {
    metadata: { namespace: 'default' },
    storageClassName: 'local',
    capacity,
    nodeTopology: { matchLabels: { [label.hostname]: 'n' } },
  }),
  object('v1', 'PersistentVolumeClaim', 'wanted', {
    metadata: { namespace: 'default' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      resources: { requests: { storage: '10Gi' } },
    },
    status: { phase: 'Pending' },
  }),
];
const web = { app: 'web' };
/** The pod that asks fits on one of two nodes only; both zones count. */
const spreadOver = (fitting: 'n' | 'm'): SnapshotObject[] => [
  ...['n', 'm'].map((name) => {
    const allocatable = { cpu: name === fitting ? '4' : '500m', memory: '8Gi', pods: '20' };
    return node({ name, zone: name === 'n' ? 'zone-1' : 'zone-2', labels: { [place]: 'either' }, allocatable });
  }),
  object('v1', 'Service', 'web', {
    metadata: { namespace: 'default' },
    spec: { selector: web, ports: [{ port: 80 }] },
  }),
  pod({ name: 'there', node: 'n', cpu: '100m', labels: web }),
];
const askingWeb = pod({ name: 'asking', cpu: '2', labels: web, spec: { nodeSelector: { [place]: 'either' } } });

const cases: Case[] = [
  {
    what: 'a host port that a sidecar has',
    objects: [placed('n'), pod({ name: 'there', node: 'n', cpu: '100m', spec: sidecar(8080) })],
    asking: pinned('n', { spec: plainPort(8080) }),
    fits: false,
  },
  {
    what: 'a host port that a sidecar wants and a container has',
    objects: [placed('n'), pod({ name: 'there', node: 'n', cpu: '100m', spec: plainPort(8080) })],
    asking: pinned('n', { spec: sidecar(8080) }),
    fits: false,
  },
  {
    what: 'another host port than a sidecar has',
    objects: [placed('n'), pod({ name: 'there', node: 'n', cpu: '100m', spec: sidecar(8080) })],
    asking: pinned('n', { spec: plainPort(8081) }),
    fits: true,
  },
  {
    what: 'a volume beyond the attach limit',
    objects: attached(1),
    asking: pinned('n', { spec: using('two') }),
    fits: false,
  },
  {
    what: 'a volume within the attach limit',
    objects: attached(2),
    asking: pinned('n', { spec: using('two') }),
    fits: true,
  },
  {
    what: 'more storage than is left',
    objects: stored('5Gi'),
    asking: pinned('n', { spec: using('wanted') }),
    fits: false,
  },
  { what: 'storage that is left', objects: stored('20Gi'), asking: pinned('n', { spec: using('wanted') }), fits: true },
  {
    what: 'a zone that the default spread rules out',
    objects: spreadOver('n'),
    asking: askingWeb,
    fits: false,
    settings: spreadSettings,
  },
  {
    what: 'a zone that the default spread allows',
    objects: spreadOver('m'),
    asking: askingWeb,
    fits: true,
    settings: spreadSettings,
  },
];

const agrees = async (each: Case): Promise<void> => {
  const cluster = each.settings === spreadSettings ? spreading() : plain();
  expect(await verdicts(cluster, each)).toEqual({ planner: each.fits, scheduler: each.fits });
};

test.each(cases)('kube-scheduler and the planner agree about $what', agrees);

/** A pod of one cpu that still holds so many, while it is being resized: of a container, or of the pod as a whole. */
const holding = (cpu: string, whole = false): SnapshotObject[] => {
  const asked = { requests: { cpu: '1' } };
  const held = { resources: { requests: { cpu } }, allocatedResources: { cpu } };
  const main = { name: 'main', image: 'i' };
  const reported = { ...main, imageID: '', ready: true, restartCount: 0 };
  const spec = whole ? { resources: asked, containers: [main] } : { containers: [{ ...main, resources: asked }] };
  const status = whole ? held : { containerStatuses: [{ ...reported, ...held }] };
  return [
    placed('n', { allocatable: { cpu: '4', memory: '8Gi', pods: '20' } }),
    pod({ name: 'there', node: 'n', spec, status: { phase: 'Running', ...status } }),
  ];
};
const wantsTwo = pod({ name: 'asking', cpu: '2', spec: { nodeSelector: { [place]: 'n' } } });

test.each<Case>([
  { what: 'holds more than it asks for', objects: holding('3'), asking: wantsTwo, fits: false },
  { what: 'holds no more', objects: holding('1'), asking: wantsTwo, fits: true },
])('kube-scheduler and the planner agree about a pod whose container $what', agrees);

describe.skipIf(isOlderThan(36, 'pods are resized as a whole by default since then'))('a pod that as a whole', () => {
  test.each<Case>([
    { what: 'holds more than it asks for', objects: holding('3', true), asking: wantsTwo, fits: false },
    { what: 'holds no more', objects: holding('1', true), asking: wantsTwo, fits: true },
  ])('$what', agrees);
});

const missing = (isPrevented: boolean): SnapshotObject[] => [
  placed('n'),
  object('storage.k8s.io/v1', 'CSINode', 'n', { spec: { drivers: [] } }),
  object('storage.k8s.io/v1', 'CSIDriver', driver, { spec: { preventPodSchedulingIfMissing: isPrevented } }),
  object('storage.k8s.io/v1', 'StorageClass', 'disk', { provisioner: driver }),
  ...volume('one'),
];

describe.skipIf(isOlderThan(37, 'preventPodSchedulingIfMissing is on by default since then'))(
  'a driver that is not there yet',
  () => {
    test.each<Case>([
      {
        what: 'keeps pods away where it says so',
        objects: missing(true),
        asking: pinned('n', { spec: using('one') }),
        fits: false,
      },
      {
        what: 'is waited for where not',
        objects: missing(false),
        asking: pinned('n', { spec: using('one') }),
        fits: true,
      },
    ])('$what', agrees);
  },
);
