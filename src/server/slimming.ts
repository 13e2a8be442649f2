// What our caches leave out of pods and nodes: what only kubelets and people read. Everything the planner, the drain and
// the metrics look at stays, resized resources in container statuses included. Node classes get what the API server does
// not ask of them: a spec.
import { awsGroup, type EC2NodeClass } from '../api/index.ts';
import type { KubeObject, Node, Pod, Resource } from '../ports/index.ts';
import { resources } from '../ports/index.ts';
import { slimmer } from '../runtime/index.ts';

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
const perContainerStatus = ['containerID', 'image', 'imageID', 'lastState', 'started', 'state', 'user', 'volumeMounts'];

const withoutUnread = slimmer<Pod>({
  drop: [
    'metadata.generateName',
    ...perPod.map((field) => `spec.${field}`),
    ...['containers', 'initContainers'].flatMap((list) => perContainer.map((field) => `spec.${list}.*.${field}`)),
    ...['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
      perContainerStatus.map((field) => `status.${list}.*.${field}`),
    ),
    ...['hostIP', 'hostIPs', 'podIP', 'podIPs', 'qosClass'].map((field) => `status.${field}`),
  ],
  share: [
    'metadata.labels',
    'metadata.annotations',
    'metadata.ownerReferences',
    'spec.containers',
    'spec.initContainers',
    'spec.tolerations',
    'spec.topologySpreadConstraints',
    'spec.affinity',
    'spec.nodeSelector',
    'spec.volumes',
    'status.conditions',
    'status.containerStatuses',
  ],
});

/** Only volumes with a claim decide anything; the token every pod has would make each pod's list another. */
function slimPod(pod: Pod): Pod {
  const volumes = pod.spec?.volumes;
  if (pod.spec === undefined || volumes === undefined) return withoutUnread(pod);
  const claimed = volumes.filter((volume) => volume.persistentVolumeClaim ?? volume.ephemeral);
  const { volumes: _all, ...spec } = pod.spec;
  return withoutUnread({ ...pod, spec: claimed.length === 0 ? spec : { ...spec, volumes: claimed } });
}

const slimNode = slimmer<Node>({ drop: ['status.images', 'status.volumesInUse', 'status.nodeInfo', 'status.config'] });

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
  // By name: the provider's room brings the AWS SDK with it.
  [keyOf({ plural: 'ec2nodeclasses', group: awsGroup }), completeClass],
]);

/** How a cache changes objects of a resource before it keeps them; undefined keeps them as they are. */
export function slimmingOf<T extends KubeObject>(resource: Resource<T>): ((object: T) => T) | undefined {
  return rules.get(keyOf(resource)) as ((object: T) => T) | undefined;
}

function keyOf({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return `${plural}.${group}`;
}
