// What our caches leave out of pods and nodes: what only kubelets and people read. Everything the planner, the drain and
// the metrics look at stays, resized resources in container statuses included.
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

/** How objects of a resource are made smaller before a cache keeps them; undefined keeps them whole. */
export function slimmingOf<T extends KubeObject>(resource: Resource<T>): ((object: T) => T) | undefined {
  const rules: Record<string, unknown> = { [resources.pods.plural]: slimPod, [resources.nodes.plural]: slimNode };
  return resource.group === '' ? (rules[resource.plural] as ((object: T) => T) | undefined) : undefined;
}
