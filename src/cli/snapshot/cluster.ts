// A snapshot of a live cluster: read-only lists of the kinds that decisions look at. Secrets and ConfigMaps are never
// read. Kinds that the cluster does not serve (no AWS node classes, say) are simply absent.
import { awsGroup, group, kwokGroup } from '../../api/names.ts';
import { formatTime } from '../../base/index.ts';
import type { Snapshot, SnapshotObject } from '../../core/index.ts';
import { isKubeError, type Kube, type Resource, resources } from '../../ports/index.ts';
import { notKubernetes } from '../kubernetes-answers.ts';
import type { Progress } from '../output/index.ts';
import { version } from '../version.ts';
import { type ControllerReading, clusterTimeMs, readController } from './controller-facts.ts';
import { machinesOf } from './machines.ts';

const own = (kind: string, plural: string, group: string, version: string): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced: false,
});

const wantedResources: Resource[] = [
  resources.namespaces,
  own('NodePool', 'nodepools', group, 'v1'),
  own('NodeClaim', 'nodeclaims', group, 'v1'),
  own('EC2NodeClass', 'ec2nodeclasses', awsGroup, 'v1'),
  own('KWOKNodeClass', 'kwoknodeclasses', kwokGroup, 'v1alpha1'),
  resources.nodes,
  resources.pods,
  resources.daemonSets,
  resources.podDisruptionBudgets,
  resources.persistentVolumeClaims,
  resources.persistentVolumes,
  resources.storageClasses,
  resources.csiNodes,
  resources.csiDrivers,
  resources.csiStorageCapacities,
  resources.volumeAttachments,
  resources.resourceSlices,
  resources.resourceClaims,
  resources.deviceClasses,
  resources.deviceTaintRules,
];

/** They count only where the controller has its gate on. */
const nodeOverlays = own('NodeOverlay', 'nodeoverlays', group, 'v1alpha1');

/** What pods are spread among where kube-scheduler has a spread for those that declare none. */
const spreadResources: Resource[] = [
  resources.services,
  resources.replicationControllers,
  resources.replicaSets,
  resources.statefulSets,
];

/** What the API server's own clients ask for per page. */
const pageSize = 500;
const mostAttempts = 3;

/** Written by `kubectl apply`: a second copy of the whole object, environment included. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export interface ClusterOptions {
  env: Record<string, string | undefined>;
  context?: string;
  kubeconfig?: string;
  progress?: Progress;
}

export interface ClusterReading {
  snapshot: Snapshot;
  controller: ControllerReading;
}

export async function snapshotOfCluster(options: ClusterOptions): Promise<ClusterReading> {
  const [{ findAccess, KubeClient }, { RealClock }] = await Promise.all([
    import('../../kube/index.ts'),
    import('../../runtime/index.ts'),
  ]);
  const clock = new RealClock();
  const { env, context, kubeconfig } = options;
  const access = await findAccess({
    clock,
    env,
    ...(context === undefined ? {} : { context }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  });
  const kube = new KubeClient({ access, clock, userAgent: `kerf/${version}`, rateLimit: { qps: 50, burst: 100 } });
  try {
    const { snapshot, controller } = await collectSnapshot(kube, clock.now(), options.progress);
    return { snapshot: { ...snapshot, name: access.source }, controller };
  } finally {
    await kube.close();
  }
}

/** Everything a decision reads, as the API has it now. */
export async function collectSnapshot(
  kube: Pick<Kube, 'list'>,
  nowMs: number,
  progress?: Progress,
): Promise<ClusterReading> {
  const items: SnapshotObject[] = [];
  for (const wanted of wantedResources) {
    for (const object of await listAll(kube, wanted, progress)) items.push(cleaned(object));
  }
  const controller = await readController(kube);
  const facts = controller.kind === 'found' ? controller.facts : undefined;
  const { defaultTopologySpreadConstraints = [], featureGates = {} } = facts?.settings.settings ?? {};
  if (featureGates['NodeOverlay'] === true) {
    for (const object of await listAll(kube, nodeOverlays, progress)) items.push(cleaned(object));
  }
  if (defaultTopologySpreadConstraints.length > 0) {
    for (const wanted of spreadResources) {
      for (const object of await listAll(kube, wanted, progress)) items.push(...selectorOf(object));
    }
  }
  const { poolState, failedOfferings, nominated } = facts?.state ?? {};
  const failed = failedOfferings?.flatMap(({ instanceTypes, ...alike }) =>
    instanceTypes.map((instanceType) => ({ instanceType, ...alike })),
  );
  const snapshot: Snapshot = {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    time: formatTime(clusterTimeMs(nowMs, facts?.state ?? {})),
    ...(facts === undefined ? {} : { settings: facts.settings.settings }),
    objects: { apiVersion: 'v1', kind: 'List', items },
    nodeState: machinesOf(items, new Set(nominated)),
    ...(poolState === undefined ? {} : { poolState }),
    ...(failed === undefined ? {} : { failedOfferings: failed }),
  };
  return { snapshot, controller };
}

async function listAll(kube: Pick<Kube, 'list'>, wanted: Resource, progress?: Progress): Promise<SnapshotObject[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await listPages(kube, wanted, progress);
    } catch (thrown) {
      if (isKubeError(thrown, 'NotFound') && wanted.group !== '') return [];
      // Every Kubernetes serves these: whatever answers here is something else.
      if (isKubeError(thrown, 'NotFound')) throw notKubernetes(wanted, thrown);
      // The pages have outlived the server's memory of that moment: begin again, but not for ever.
      if (!isKubeError(thrown, 'Expired') || attempt === mostAttempts) throw thrown;
    }
  }
}

async function listPages(kube: Pick<Kube, 'list'>, wanted: Resource, progress?: Progress): Promise<SnapshotObject[]> {
  const objects: SnapshotObject[] = [];
  let token: string | undefined;
  do {
    const page = await kube.list(wanted, { limit: pageSize, ...(token === undefined ? {} : { continue: token }) });
    for (const item of page.items) objects.push(item as SnapshotObject);
    token = page.continue;
    progress?.show(() => `reading ${wanted.plural}: ${objects.length}`);
  } while (token !== undefined);
  return objects;
}

function cleaned(object: SnapshotObject): SnapshotObject {
  const {
    managedFields: _,
    annotations,
    ...metadata
  } = object.metadata as SnapshotObject['metadata'] & {
    annotations?: Record<string, string>;
  };
  if (annotations === undefined) return { ...object, metadata };
  const { [lastApplied]: __, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

/** Its selector is all that counts; what wants no pods, as older revisions of a Deployment do, counts for nothing. */
function selectorOf(object: SnapshotObject): SnapshotObject[] {
  const { apiVersion, kind, metadata } = object;
  const { replicas, selector } = (object['spec'] ?? {}) as { replicas?: number; selector?: object };
  if (replicas === 0 || selector === undefined) return [];
  const { name, namespace, uid } = metadata;
  return [
    { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }) }, spec: { selector } },
  ];
}
