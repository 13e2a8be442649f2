// What our caches leave out of pods and nodes: what only kubelets and people read. Everything the planner, the drain and
// the metrics look at stays, resized resources in container statuses included. Node classes get what the API server does
// not ask of them: a spec.
import { awsGroup, type EC2NodeClass } from '../api/index.ts';
import type { KubeObject, Node, Pod, Resource } from '../ports/index.ts';
import { resources } from '../ports/index.ts';
import { type Slimming, slimmer } from '../runtime/index.ts';

const perContainer = [
  'args',
  'command',
  'env',
  'envFrom',
  'image',
  'imagePullPolicy',
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'securityContext',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'volumeMounts',
  'volumeDevices',
];
const perPod = [
  'dnsConfig',
  'dnsPolicy',
  'enableServiceLinks',
  'hostAliases',
  'imagePullSecrets',
  'preemptionPolicy',
  'restartPolicy',
  'schedulerName',
  'securityContext',
  'serviceAccount',
  'serviceAccountName',
];
const perContainerStatus = [
  'containerID',
  'image',
  'imageID',
  'lastState',
  'ready',
  'restartCount',
  'started',
  'state',
  'user',
  'volumeMounts',
];
/** Steps of a pod's start that only people read; each has times of its own, so nothing of them could be shared. */
const unreadConditions = new Set(['PodReadyToStartContainers', 'Initialized', 'ContainersReady']);

type Volumes = NonNullable<NonNullable<Pod['spec']>['volumes']>;
type Conditions = NonNullable<NonNullable<Pod['status']>['conditions']>;

const slimPod = slimmer<Pod>({
  sift: {
    // Only volumes with a claim decide anything; the token every pod has would make each pod's list another.
    'spec.volumes': (volumes) => {
      const claimed = (volumes as Volumes).filter((volume) => volume.persistentVolumeClaim ?? volume.ephemeral);
      return claimed.length === 0 ? undefined : claimed;
    },
    'status.conditions': (conditions) => (conditions as Conditions).filter(({ type }) => !unreadConditions.has(type)),
  },
  drop: [
    'metadata.generateName',
    ...perPod.map((field) => `spec.${field}`),
    ...['containers', 'initContainers'].flatMap((list) => perContainer.map((field) => `spec.${list}.*.${field}`)),
    ...['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
      perContainerStatus.map((field) => `status.${list}.*.${field}`),
    ),
    ...['lastProbeTime', 'message', 'observedGeneration'].map((field) => `status.conditions.*.${field}`),
    ...['hostIP', 'hostIPs', 'podIP', 'podIPs', 'qosClass'].map((field) => `status.${field}`),
  ],
  share: [
    'metadata.namespace',
    'metadata.labels',
    'metadata.annotations',
    'metadata.ownerReferences',
    'spec.nodeName',
    'spec.containers',
    'spec.initContainers',
    'spec.tolerations',
    'spec.topologySpreadConstraints',
    'spec.affinity',
    'spec.nodeSelector',
    'status.containerStatuses',
    'status.initContainerStatuses',
    'status.conditions.*.type',
    'status.conditions.*.reason',
  ],
});

/** All but the boot id, by which reboots are seen. */
const perNodeInfo = [
  'architecture',
  'containerRuntimeVersion',
  'kernelVersion',
  'kubeProxyVersion',
  'kubeletVersion',
  'machineID',
  'operatingSystem',
  'osImage',
  'swap',
  'systemUUID',
];
const slimNode = slimmer<Node>({
  drop: [
    ...['images', 'volumesInUse', 'config'].map((field) => `status.${field}`),
    ...perNodeInfo.map((field) => `status.nodeInfo.${field}`),
    // Another every few minutes, and nothing else is new.
    'status.conditions.*.lastHeartbeatTime',
  ],
});

/** Only that they change, and whom they select, is of interest. */
const slimWorkload = slimmer<KubeObject>({ drop: ['metadata.annotations', 'spec.template', 'status'] });

const nothingSelected: EC2NodeClass['spec'] = {
  subnetSelectorTerms: [],
  securityGroupSelectorTerms: [],
  amiSelectorTerms: [],
};
const completeClass = (nodeClass: EC2NodeClass): EC2NodeClass => ({
  ...nodeClass,
  spec: nodeClass.spec ?? nothingSelected,
});

const rules = new Map<string, unknown>([
  [keyOf(resources.pods), slimPod],
  [keyOf(resources.nodes), slimNode],
  [keyOf(resources.deployments), slimWorkload],
  [keyOf(resources.replicaSets), slimWorkload],
  [keyOf(resources.statefulSets), slimWorkload],
  // By name: the provider's room brings the AWS SDK with it.
  [keyOf({ plural: 'ec2nodeclasses', group: awsGroup }), completeClass],
]);

/** How a cache changes objects of a resource before it keeps them; undefined keeps them as they are. */
export function slimmingOf<T extends KubeObject>(resource: Resource<T>): Slimming<T> | undefined {
  return rules.get(keyOf(resource)) as Slimming<T> | undefined;
}

function keyOf({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return `${plural}.${group}`;
}
