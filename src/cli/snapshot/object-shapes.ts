// The fields of Kubernetes objects that planning reads, with their types. What is not listed is never read and may be
// anything; what is listed and of the wrong type is reported before the planner could stumble over it.
import { deviceShapes } from './device-shapes.ts';
import { anything, choice, flag, integer, listOf, mapOf, openFields, quantity, type Shape, text } from './shape.ts';

const intOrText = anything;
const resources = mapOf(quantity);
const labels = mapOf(text);
const time = text;

const owner = openFields({ apiVersion: text, kind: text, name: text, uid: text, controller: flag });
const metadataFields = {
  name: text,
  generateName: text,
  namespace: text,
  uid: text,
  labels,
  annotations: labels,
  creationTimestamp: time,
  deletionTimestamp: time,
  ownerReferences: listOf(owner),
};
const metadata = openFields(metadataFields);

// A broken selector makes its pod invalid, which the plan says; it does not make the snapshot unreadable.
const selectorRequirement = openFields({ key: text, operator: text, values: listOf(text) });
const labelSelector = openFields({ matchLabels: labels, matchExpressions: listOf(selectorRequirement) });
const nodeSelectorTerm = openFields({
  matchExpressions: listOf(openFields({ key: text, operator: text, values: listOf(text) }, ['key', 'operator'])),
  matchFields: listOf(selectorRequirement),
});
/** Kubernetes refuses other operators, and nothing judges preferences or volumes again before they are used. */
const strictTerm = openFields({
  matchExpressions: listOf(
    openFields(
      { key: text, operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'), values: listOf(text) },
      ['key', 'operator'],
    ),
  ),
});
const podAffinityTerm = openFields({
  labelSelector,
  namespaceSelector: labelSelector,
  namespaces: listOf(text),
  topologyKey: text,
  matchLabelKeys: listOf(text),
  mismatchLabelKeys: listOf(text),
});
const podAffinity = openFields({
  requiredDuringSchedulingIgnoredDuringExecution: listOf(podAffinityTerm),
  preferredDuringSchedulingIgnoredDuringExecution: listOf(
    openFields({ weight: integer, podAffinityTerm }, ['podAffinityTerm']),
  ),
});
const affinityWith = (requiredTerm: Shape): Shape =>
  openFields({
    nodeAffinity: openFields({
      requiredDuringSchedulingIgnoredDuringExecution: openFields({ nodeSelectorTerms: listOf(requiredTerm) }),
      preferredDuringSchedulingIgnoredDuringExecution: listOf(
        openFields({ weight: integer, preference: strictTerm }, ['preference']),
      ),
    }),
    podAffinity,
    podAntiAffinity: podAffinity,
  });
const container = openFields({
  name: text,
  restartPolicy: text,
  resources: openFields({ requests: resources, limits: resources, claims: listOf(anything) }),
  ports: listOf(openFields({ hostPort: integer, hostIP: text, protocol: text })),
});
const volume = openFields({
  name: text,
  persistentVolumeClaim: openFields({ claimName: text }),
  ephemeral: openFields({ volumeClaimTemplate: openFields({ metadata, spec: anything }) }),
});
const taint = openFields({ key: text, value: text, effect: text }, ['key']);
const toleration = openFields({ key: text, operator: text, value: text, effect: text });
const condition = openFields({ type: text, status: text, reason: text, message: text });
const spread = openFields({
  maxSkew: integer,
  topologyKey: text,
  whenUnsatisfiable: text,
  labelSelector,
  minDomains: integer,
  matchLabelKeys: listOf(text),
  nodeAffinityPolicy: text,
  nodeTaintsPolicy: text,
});

const podSpecWith = (requiredTerm: Shape): Shape =>
  openFields({
    nodeName: text,
    nodeSelector: labels,
    affinity: affinityWith(requiredTerm),
    tolerations: listOf(toleration),
    topologySpreadConstraints: listOf(spread),
    containers: listOf(container),
    initContainers: listOf(container),
    overhead: resources,
    resources: openFields({ requests: resources, limits: resources }),
    volumes: listOf(volume),
    runtimeClassName: text,
    schedulingGates: listOf(anything),
    resourceClaims: listOf(openFields({ name: text, resourceClaimName: text, resourceClaimTemplateName: text })),
  });
const podTemplate = openFields({ metadata, spec: podSpecWith(strictTerm) }, ['spec']);

const requirement = openFields(
  {
    key: text,
    operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'),
    values: listOf(text),
    minValues: integer,
  },
  ['key', 'operator'],
);
const nodeClassRef = openFields({ group: text, kind: text, name: text });

const object = (parts: Record<string, Shape>, required: string[] = []): Shape =>
  openFields({ apiVersion: text, kind: text, metadata, ...parts }, ['kind', 'metadata', ...required]);

/** Every kind that planning understands, beside the workloads it can expand. */
export const objectShapes: Readonly<Record<string, Shape>> = {
  Namespace: object({}),
  Pod: object(
    {
      spec: podSpecWith(nodeSelectorTerm),
      status: openFields({
        phase: text,
        conditions: listOf(condition),
        nominatedNodeName: text,
        startTime: text,
        containerStatuses: listOf(openFields({ allocatedResources: resources })),
        allocatedResources: resources,
      }),
    },
    ['spec'],
  ),
  Node: object({
    spec: openFields({ providerID: text, taints: listOf(taint), unschedulable: flag }),
    status: openFields({ capacity: resources, allocatable: resources, conditions: listOf(condition) }),
  }),
  NodePool: object(
    {
      spec: openFields(
        {
          weight: integer,
          replicas: integer,
          limits: resources,
          template: openFields(
            {
              metadata: openFields({ labels, annotations: labels }),
              spec: openFields({
                nodeClassRef,
                requirements: listOf(requirement),
                taints: listOf(taint),
                startupTaints: listOf(taint),
              }),
            },
            ['spec'],
          ),
        },
        ['template'],
      ),
      status: openFields({ conditions: listOf(condition), resources }),
    },
    ['spec'],
  ),
  NodeClaim: object({
    spec: openFields({
      nodeClassRef,
      requirements: listOf(requirement),
      taints: listOf(taint),
      startupTaints: listOf(taint),
      resources: openFields({ requests: resources }),
    }),
    status: openFields({
      providerID: text,
      nodeName: text,
      capacity: resources,
      allocatable: resources,
      conditions: listOf(condition),
    }),
  }),
  DaemonSet: object({ spec: openFields({ selector: labelSelector, template: podTemplate }, ['template']) }, ['spec']),
  PodDisruptionBudget: object({
    spec: openFields({ selector: labelSelector, minAvailable: intOrText, maxUnavailable: intOrText }),
    status: openFields({ disruptionsAllowed: integer }),
  }),
  PersistentVolumeClaim: object({
    spec: openFields({ storageClassName: text, volumeName: text }),
    status: openFields({ phase: text }),
  }),
  PersistentVolume: object({
    spec: openFields({
      nodeAffinity: openFields({ required: openFields({ nodeSelectorTerms: listOf(strictTerm) }) }),
      csi: openFields({ driver: text }),
      storageClassName: text,
    }),
  }),
  StorageClass: object({
    provisioner: text,
    volumeBindingMode: text,
    allowedTopologies: listOf(
      openFields({ matchLabelExpressions: listOf(openFields({ key: text, values: listOf(text) })) }),
    ),
  }),
  CSINode: object({
    spec: openFields({
      drivers: listOf(openFields({ name: text, allocatable: openFields({ count: integer }) })),
    }),
  }),
  Service: object({ spec: openFields({ selector: labels }) }),
  CSIDriver: object({ spec: openFields({ storageCapacity: flag, preventPodSchedulingIfMissing: flag }) }),
  CSIStorageCapacity: object({ storageClassName: text, capacity: quantity, maximumVolumeSize: quantity }),
  ResourceSlice: object(deviceShapes.ResourceSlice),
  ResourceClaim: object(deviceShapes.ResourceClaim),
  DeviceClass: object(deviceShapes.DeviceClass),
  DeviceTaintRule: object(deviceShapes.DeviceTaintRule),
  VolumeAttachment: object({ spec: openFields({ attacher: text, nodeName: text }) }),
  EC2NodeClass: object({
    spec: openFields({
      amiFamily: text,
      amiSelectorTerms: listOf(openFields({ alias: text })),
      kubelet: openFields({
        maxPods: anything,
        podsPerCore: integer,
        kubeReserved: mapOf(anything),
        systemReserved: mapOf(anything),
        evictionHard: labels,
      }),
      blockDeviceMappings: listOf(openFields({ deviceName: text, ebs: openFields({ volumeSize: quantity }) })),
      instanceStorePolicy: text,
      networkInterfaces: listOf(openFields({ networkCardIndex: integer, deviceIndex: integer, interfaceType: text })),
    }),
    status: openFields({
      subnets: listOf(openFields({ zone: text, zoneID: text })),
      capacityReservations: listOf(
        openFields({ id: text, instanceType: text, availabilityZone: text }, [
          'id',
          'instanceType',
          'availabilityZone',
        ]),
      ),
    }),
  }),
  KWOKNodeClass: object({}),
  NodeOverlay: object({
    spec: openFields({
      weight: integer,
      requirements: listOf(requirement),
      price: text,
      priceAdjustment: text,
      capacity: resources,
    }),
  }),
};

const scaled = (parts: Record<string, Shape>): Shape =>
  object({ spec: openFields({ template: podTemplate, ...parts }, ['template']) }, ['spec']);

/** Workloads as far as pods of a snapshot are spread by their selectors. */
export const ownerShapes: Readonly<Record<string, Shape>> = {
  ReplicaSet: object({ spec: openFields({ selector: labelSelector }) }),
  StatefulSet: object({ spec: openFields({ selector: labelSelector }) }),
  ReplicationController: object({ spec: openFields({ selector: labels }) }),
};

/** Kinds that stand for pods or shape them; manifests may hold them, snapshots need not. */
export const workloadShapes: Readonly<Record<string, Shape>> = {
  Deployment: scaled({ replicas: integer, selector: labelSelector }),
  ReplicaSet: scaled({ replicas: integer, selector: labelSelector }),
  ReplicationController: scaled({ replicas: integer, selector: labels }),
  StatefulSet: scaled({
    replicas: integer,
    ordinals: openFields({ start: integer }),
    volumeClaimTemplates: listOf(openFields({ metadata, spec: anything }, ['metadata'])),
  }),
  Job: scaled({ parallelism: integer, completions: integer, suspend: flag }),
  CronJob: object({ spec: openFields({ jobTemplate: openFields({ spec: openFields({ template: podTemplate }) }) }) }, [
    'spec',
  ]),
  LimitRange: object({
    spec: openFields({
      limits: listOf(
        openFields({
          type: choice('Container', 'Pod', 'PersistentVolumeClaim'),
          default: resources,
          defaultRequest: resources,
        }),
      ),
    }),
  }),
  RuntimeClass: object({
    overhead: openFields({ podFixed: resources }),
    scheduling: openFields({ nodeSelector: labels, tolerations: listOf(toleration) }),
  }),
};
