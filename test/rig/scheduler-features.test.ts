// Rules that the random scenarios do not draw, one by one: for every case the planner and a real kube-scheduler must say the
// same about one pod on one node that exists.
import { beforeEach, expect, test } from 'vitest';
import { label } from '../../src/api/index.ts';
import type { SnapshotObject, SnapshotSettings } from '../../src/core/index.ts';
import { node, nodePool, object, plan, pod } from '../../src/core/testing/builders.testing.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { agreementControlPlane } from './scheduler-agreement/rig.ts';

type Fields = Record<string, unknown>;

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
type ClusterOf = typeof plain;

const listOf: Record<string, string> = {
  Node: '/api/v1/nodes',
  Pod: '/api/v1/namespaces/default/pods',
  Service: '/api/v1/namespaces/default/services',
  PersistentVolume: '/api/v1/persistentvolumes',
  PersistentVolumeClaim: '/api/v1/namespaces/default/persistentvolumeclaims',
  StorageClass: '/apis/storage.k8s.io/v1/storageclasses',
  CSINode: '/apis/storage.k8s.io/v1/csinodes',
  CSIDriver: '/apis/storage.k8s.io/v1/csidrivers',
  CSIStorageCapacity: '/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities',
};
const driver = 'disk.csi.test.kerf';

beforeEach(async () => {
  for (const cluster of [plain(), spreading()])
    for (const [kind, path] of Object.entries(listOf))
      if (kind !== 'Service') await cluster.request('DELETE', path, { gracePeriodSeconds: 0 });
});

async function create(cluster: ClusterOf, item: SnapshotObject): Promise<void> {
  const { status, ...rest } = item as SnapshotObject & { status?: Fields };
  const { uid: _uid, creationTimestamp: _created, ...metadata } = item.metadata as Fields;
  const path = listOf[item.kind] ?? '';
  const written = { ...rest, metadata, ...(item.kind === 'Node' ? { status: ready(status) } : {}) };
  const answer = await cluster().request('POST', path, written);
  if (answer.status !== 201 && answer.status !== 409) throw new Error(JSON.stringify(answer.body).slice(0, 500));
  if (item.kind.startsWith('PersistentVolume') && status !== undefined)
    await cluster().request(
      'PATCH',
      `${path}/${item.metadata.name}/status`,
      { status },
      'application/merge-patch+json',
    );
}

const ready = (status: Fields | undefined): Fields => ({ ...status, conditions: [{ type: 'Ready', status: 'True' }] });

/** Whether the scheduler binds the pod; what it said if not. */
async function bound(cluster: ClusterOf, item: SnapshotObject): Promise<boolean> {
  const path = `${listOf['Pod']}/${item.metadata.name}`;
  for (const startedMs = performance.now(); ; ) {
    const { body } = await cluster().request('GET', path);
    const { spec, status } = body as { spec: Fields; status?: { conditions?: { type: string; reason?: string }[] } };
    if (spec['nodeName']) return true;
    if (status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable'))
      return false;
    if (performance.now() - startedMs > 20_000) throw new Error(`no word about ${item.metadata.name}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Case {
  what: string;
  objects: SnapshotObject[];
  asking: SnapshotObject;
  fits: boolean;
  settings?: SnapshotSettings;
}

/** New nodes do not have it: the pod goes to the node or nowhere. */
const place = 'example.com/place';
const placed = (name: string, more: Parameters<typeof node>[0] = {}): SnapshotObject =>
  node({ name, labels: { [place]: name }, ...more });

const pinned = (name: string, parts: { spec?: Fields } = {}) =>
  pod({ name: 'asking', ...parts, cpu: '100m', spec: { nodeSelector: { [place]: name }, ...parts.spec } });
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

test.each(cases)(
  'kube-scheduler and the planner agree about $what',
  async ({ objects, asking, fits, settings = {} }) => {
    const cluster = settings === spreadSettings ? spreading : plain;
    for (const item of [...objects, asking]) await create(cluster, item);
    const planned = plan([nodePool(), ...objects, asking], { settings });
    const isPlanned = planned.existingNodes.some(({ pods }) => pods.includes('default/asking'));
    // A claim that waits for its first pod is provisioned after the choice of a node, which the annotation shows.
    const isChosen = async (): Promise<boolean> => {
      if (!JSON.stringify(objects).includes('WaitForFirstConsumer') || !fits) return bound(cluster, asking);
      const path = `${listOf['PersistentVolumeClaim']}/wanted`;
      for (const startedMs = performance.now(); performance.now() - startedMs < 20_000; ) {
        const { body } = await cluster().request('GET', path);
        const { annotations = {} } = (body as { metadata: { annotations?: Record<string, string> } }).metadata;
        if (annotations['volume.kubernetes.io/selected-node'] === 'n') return true;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return false;
    };
    expect({ planner: isPlanned, scheduler: await isChosen() }).toEqual({ planner: fits, scheduler: fits });
  },
);
