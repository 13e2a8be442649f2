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
const perContainerStatus = ['containerID', 'image', 'imageID', 'lastState', 'started', 'state', 'user', 'volumeMounts'];

const slimPod = slimmer<Pod>({
  drop: [
    ...['containers', 'initContainers'].flatMap((list) => perContainer.map((field) => `spec.${list}.*.${field}`)),
    ...['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
      perContainerStatus.map((field) => `status.${list}.*.${field}`),
    ),
    'status.hostIPs',
    'status.podIPs',
    'spec.volumes.*.projected',
    'spec.volumes.*.configMap',
    'spec.volumes.*.secret',
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
    'spec.securityContext',
    'status.conditions',
    'status.containerStatuses',
  ],
});

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
