// A pod in a manifest has no status: whoever plans it means that it waits for a node. These are the marks a scheduler
// would leave on it, and what admission would have filled in before: defaults of LimitRanges, overhead of RuntimeClasses.
import type { SnapshotObject } from '../../../core/index.ts';
import type { VolumeSpec } from './claims.ts';

type Resources = Record<string, string | number>;

interface Container {
  resources?: { requests?: Resources; limits?: Resources };
}

export interface PodSpec {
  nodeName?: string;
  containers?: Container[];
  initContainers?: Container[];
  volumes?: VolumeSpec[];
  overhead?: Resources;
  runtimeClassName?: string;
  nodeSelector?: Record<string, string>;
  tolerations?: unknown[];
  schedulingGates?: unknown[];
}

/** What a scheduler writes on a pod it found no node for. */
export const waitingStatus = Object.freeze({
  phase: 'Pending',
  conditions: Object.freeze([Object.freeze({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' })]),
});

interface PodStatus {
  phase?: string;
  conditions?: { type: string; reason?: string }[];
  nominatedNodeName?: string;
}

/** The pod as it would wait in a cluster; pods that run, ended, are leaving or are gated stay as they are. */
export function markWaiting(pod: SnapshotObject): SnapshotObject {
  const spec = (pod['spec'] ?? {}) as PodSpec;
  const status = (pod['status'] ?? {}) as PodStatus;
  const settled = status.phase === 'Succeeded' || status.phase === 'Failed';
  const gated = (spec.schedulingGates?.length ?? 0) > 0;
  if (spec.nodeName || settled || gated || status.nominatedNodeName || pod.metadata['deletionTimestamp']) return pod;
  if (status.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable')) return pod;
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  return { ...pod, status: { ...status, ...waitingStatus, conditions: [...others, ...waitingStatus.conditions] } };
}

/** What admission adds to the pods of one namespace. */
export class Admission {
  private readonly defaults = new Map<string, { requests: Resources; limits: Resources }>();
  private readonly runtimeClasses = new Map<string, RuntimeClass>();
  /** Replicas share their spec; it is completed once. */
  private readonly done = new Map<string, WeakMap<object, PodSpec>>();

  constructor(objects: readonly SnapshotObject[]) {
    for (const object of objects) {
      if (object.kind === 'LimitRange') this.addLimitRange(object);
      if (object.kind === 'RuntimeClass')
        this.runtimeClasses.set(object.metadata.name, object as unknown as RuntimeClass);
    }
  }

  admit(pod: SnapshotObject): SnapshotObject {
    const namespace = pod.metadata.namespace ?? 'default';
    const spec = pod['spec'] as PodSpec;
    let done = this.done.get(namespace);
    if (done === undefined) this.done.set(namespace, (done = new WeakMap()));
    let completed = done.get(spec);
    if (completed === undefined) done.set(spec, (completed = this.complete(spec, namespace)));
    return completed === spec ? pod : { ...pod, spec: completed };
  }

  private complete(spec: PodSpec, namespace: string): PodSpec {
    const defaults = this.defaults.get(namespace);
    const runtime = spec.runtimeClassName === undefined ? undefined : this.runtimeClasses.get(spec.runtimeClassName);
    if (defaults === undefined && runtime === undefined) return spec;
    const completed: PodSpec = { ...spec };
    if (defaults !== undefined) {
      const fill = (container: Container): Container => withDefaults(container, defaults);
      if (spec.containers !== undefined) completed.containers = spec.containers.map(fill);
      if (spec.initContainers !== undefined) completed.initContainers = spec.initContainers.map(fill);
    }
    if (runtime?.overhead?.podFixed !== undefined) completed.overhead = spec.overhead ?? runtime.overhead.podFixed;
    if (runtime?.scheduling !== undefined) {
      completed.nodeSelector = { ...spec.nodeSelector, ...runtime.scheduling.nodeSelector };
      completed.tolerations = [...(spec.tolerations ?? []), ...(runtime.scheduling.tolerations ?? [])];
    }
    return completed;
  }

  private addLimitRange(object: SnapshotObject): void {
    const namespace = object.metadata.namespace ?? 'default';
    const limits = (object['spec'] as { limits?: LimitRangeItem[] } | undefined)?.limits ?? [];
    const known = this.defaults.get(namespace) ?? { requests: {}, limits: {} };
    for (const item of limits) {
      if (item.type !== 'Container') continue;
      Object.assign(known.limits, item.default);
      Object.assign(known.requests, item.default, item.defaultRequest);
    }
    this.defaults.set(namespace, known);
  }
}

interface LimitRangeItem {
  type: string;
  default?: Resources;
  defaultRequest?: Resources;
}

interface RuntimeClass {
  overhead?: { podFixed?: Resources };
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: unknown[] };
}

/** A request the container does not make: its own limit if it has one, else the namespace's default. */
function withDefaults(container: Container, defaults: { requests: Resources; limits: Resources }): Container {
  const { requests, limits } = container.resources ?? {};
  return {
    ...container,
    resources: {
      ...container.resources,
      limits: { ...defaults.limits, ...limits },
      requests: { ...defaults.requests, ...limits, ...requests },
    },
  };
}
