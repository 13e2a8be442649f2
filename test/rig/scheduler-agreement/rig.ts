// Carries one planned scenario out on a real API server and scheduler and reports which planned pods were not bound.
// Nodes exist before pods; pods are created in an order in which each is legal on its node; the scheduler filters as
// always, but scores only the preference for the planned node, so that it does not fill nodes in its own order.
import type { Plan, Snapshot, SnapshotObject } from '../../../src/core/index.ts';
import { readCluster } from '../../planner/rules/cluster.ts';
import { type Pod, podKey } from '../../planner/rules/objects.ts';
import { bindAll } from '../../planner/validator/binding.ts';
import type { ApiAnswer, ControlPlane, ControlPlaneOptions } from '../../setup/control-plane.ts';
import { boundPods, csiNodesOf, freshPod, nodesOf, preferringNode } from './world.ts';

export const agreementControlPlane: ControlPlaneOptions = {
  scheduler: true,
  // Nodes are ready at once, volumes may be deleted while referred to, pods get no tolerations of their own.
  apiServerFlags: [
    '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection,DefaultTolerationSeconds',
  ],
  schedulerProfile: {
    plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeAffinity', weight: 100 }] } },
  },
};

const bindCompleted = { 'pv.kubernetes.io/bind-completed': 'yes' };
const selectedNode = 'volume.kubernetes.io/selected-node';

const paths: Record<string, (namespace: string) => string> = {
  Node: () => '/api/v1/nodes',
  Namespace: () => '/api/v1/namespaces',
  Pod: (namespace) => `/api/v1/namespaces/${namespace}/pods`,
  PersistentVolume: () => '/api/v1/persistentvolumes',
  PersistentVolumeClaim: (namespace) => `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
  StorageClass: () => '/apis/storage.k8s.io/v1/storageclasses',
  CSINode: () => '/apis/storage.k8s.io/v1/csinodes',
};

const pathOf = (object: SnapshotObject): string => {
  const path = paths[object.kind];
  if (path === undefined) throw new Error(`the rig knows no path for ${object.kind}`);
  return path(object.metadata.namespace ?? 'default');
};

interface BoundPod {
  metadata: { name: string; namespace: string };
  spec: { nodeName?: string };
  status?: { conditions?: { type: string; message?: string }[] };
}

export class AgreementRig {
  private readonly cluster: ControlPlane;
  private clean = true;

  constructor(cluster: ControlPlane) {
    this.cluster = cluster;
  }

  /**
   * Planned pods the scheduler did not bind within `patienceMs`, with what it said. Pods are created at once in their
   * order; where the scheduler heard of one before its node and so changed the order, each waits for the one before it.
   */
  async disagreements(snapshot: Snapshot, plan: Plan, patienceMs = 20_000): Promise<string[]> {
    const unbound = await this.carryOut(snapshot, plan, { patienceMs, oneByOne: false });
    return unbound.length === 0 ? [] : this.carryOut(snapshot, plan, { patienceMs, oneByOne: true });
  }

  private async carryOut(
    snapshot: Snapshot,
    plan: Plan,
    { patienceMs, oneByOne }: { patienceMs: number; oneByOne: boolean },
  ): Promise<string[]> {
    if (!this.clean) await this.clear();
    this.clean = false;
    const cluster = readCluster(snapshot);
    const nodes = nodesOf(plan, cluster);
    await this.createAll(
      snapshot.objects.items.filter((item) => item.kind === 'Namespace'),
      true,
    );
    await this.createAll([...nodes, ...csiNodesOf(snapshot, nodes)]);
    await this.createVolumes(snapshot.objects.items);
    await this.createAll(boundPods(plan, cluster).map(({ pod, node }) => freshPod(pod, { nodeName: node })));
    const { order, refused } = bindAll(plan, cluster);
    const hostname = new Map(
      nodes.map((n) => [
        n.metadata.name,
        String((n.metadata['labels'] as Record<string, string>)['kubernetes.io/hostname']),
      ]),
    );
    const planned = [
      ...order,
      ...leftOver(
        plan,
        cluster.waiting,
        order.map(({ pod }) => pod),
      ),
    ];
    for (const { pod, node } of planned) {
      await this.create(freshPod(pod, preferringNode(pod, hostname.get(node) ?? node)));
      if (!oneByOne) continue;
      const unbound = await this.waitForBinding([podKey(pod)], patienceMs);
      if (unbound.length > 0) return [...unbound, ...refused];
    }
    const unbound = await this.waitForBinding(
      planned.map(({ pod }) => podKey(pod)),
      patienceMs,
    );
    return [...unbound, ...(unbound.length > 0 ? refused : [])];
  }

  async clear(): Promise<void> {
    const namespaces = ['default', 'other'];
    const now = { gracePeriodSeconds: 0 };
    for (const namespace of namespaces) {
      await this.cluster.request('DELETE', `/api/v1/namespaces/${namespace}/pods`, now);
      await this.cluster.request('DELETE', `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, now);
    }
    for (const kind of ['Node', 'PersistentVolume', 'StorageClass', 'CSINode']) {
      await this.cluster.request('DELETE', paths[kind]?.('') ?? '', now);
    }
    this.clean = true;
  }

  private async create(object: SnapshotObject, mayExist = false): Promise<ApiAnswer> {
    const answer = await this.cluster.request('POST', pathOf(object), object);
    if (answer.status === 201 || (mayExist && answer.status === 409)) return answer;
    throw new Error(`creating ${object.kind} ${object.metadata.name}: ${JSON.stringify(answer.body).slice(0, 600)}`);
  }

  private async createAll(objects: readonly SnapshotObject[], mayExist = false): Promise<void> {
    await Promise.all(objects.map((object) => this.create(object, mayExist)));
  }

  private async createVolumes(items: readonly SnapshotObject[]): Promise<void> {
    await this.createAll(items.filter((item) => item.kind === 'StorageClass' || item.kind === 'PersistentVolume'));
    for (const claim of items.filter((item) => item.kind === 'PersistentVolumeClaim')) {
      const { status, ...object } = claim;
      await this.create(object);
      const path = `${pathOf(claim)}/${claim.metadata.name}/status`;
      await this.cluster.request('PATCH', path, { status }, 'application/merge-patch+json');
    }
  }

  private async waitForBinding(keys: readonly string[], patienceMs: number): Promise<string[]> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const pods = await this.pods();
      const waiting = keys.filter((key) => !pods.get(key)?.spec.nodeName);
      if (waiting.length === 0) return [];
      if (performance.now() > deadline) {
        return waiting.map((key) => {
          const said = pods.get(key)?.status?.conditions?.find((c) => c.type === 'PodScheduled')?.message;
          return `${key} was not bound: ${said ?? 'no word from the scheduler'}`;
        });
      }
      await this.provisionVolumes();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private async pods(): Promise<Map<string, BoundPod>> {
    const answer = await this.cluster.request('GET', '/api/v1/pods');
    const items = (answer.body as { items: BoundPod[] }).items;
    return new Map(items.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
  }

  /** A storage provisioner in three calls: claims the scheduler has chosen a node for get a volume. */
  private async provisionVolumes(): Promise<void> {
    const answer = await this.cluster.request('GET', '/api/v1/persistentvolumeclaims');
    const claims = (answer.body as { items: ProvisionedClaim[] }).items;
    for (const { metadata, spec } of claims) {
      if (spec.volumeName || metadata.annotations?.[selectedNode] === undefined) continue;
      const volumeName = `made-${metadata.namespace}-${metadata.name}`;
      await this.create({
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: volumeName },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'disk.csi.test.kerf', volumeHandle: volumeName },
          claimRef: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
        },
      });
      const path = `${paths['PersistentVolumeClaim']?.(metadata.namespace)}/${metadata.name}`;
      const merge = 'application/merge-patch+json';
      await this.cluster.request(
        'PATCH',
        path,
        { metadata: { annotations: bindCompleted }, spec: { volumeName } },
        merge,
      );
      await this.cluster.request('PATCH', `${path}/status`, { status: { phase: 'Bound' } }, merge);
    }
  }
}

interface ProvisionedClaim {
  metadata: { namespace: string; name: string; uid: string; annotations?: Record<string, string> };
  spec: { volumeName?: string };
}

/** Pods for which no legal order was found: still given to the scheduler, which has the last word. */
function leftOver(plan: Plan, waiting: readonly Pod[], done: readonly Pod[]): { pod: Pod; node: string }[] {
  return [...plan.existingNodes, ...plan.newNodes].flatMap(({ name, pods }) =>
    pods.flatMap((key) => {
      const pod = waiting.find((p) => podKey(p) === key);
      return pod === undefined || done.includes(pod) ? [] : [{ pod, node: name }];
    }),
  );
}
