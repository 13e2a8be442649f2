export {
  type AskOptions,
  type Cloud,
  CloudError,
  type CloudErrorKind,
  type CreateOptions,
  cloudWith,
  type Instance,
  isCloudError,
  type RegistrationHook,
  type RepairPolicy,
} from './cloud.ts';
export type {
  Decision,
  DecisionAlternative,
  DecisionDraft,
  DecisionKind,
  DecisionObject,
  DecisionOffering,
  DecisionOutcome,
  DecisionReason,
} from './decision.ts';
export type {
  CallOptions,
  DeleteOptions,
  Kube,
  KubeList,
  KubeObject,
  ListOptions,
  ObjectMeta,
  ObjectRef,
  OwnerReference,
  Patch,
  Resource,
  Subresource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './kube.ts';
export { isKubeError, KubeError, type KubeErrorFields } from './kube-error.ts';
export type { Log, LogFields } from './log.ts';
export type {
  Counter,
  Distribution,
  Gauge,
  GaugeDefinition,
  HistogramDefinition,
  Labels,
  MetricDefinition,
  Metrics,
  SummaryDefinition,
} from './metrics.ts';
export type { EventSubject, RecordedEvent, Recorder } from './recorder.ts';
export {
  type CSINode,
  type DaemonSet,
  type Deployment,
  type Lease,
  type Namespace,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodDisruptionBudget,
  type PodTemplate,
  type ReplicaSet,
  resources,
  type StatefulSet,
  type StorageClass,
  type VolumeAttachment,
} from './resources.ts';
export type { SeenClaim, ShadowLaunch, ShadowMove, ShadowReport } from './shadow-report.ts';
