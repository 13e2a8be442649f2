// Turns workloads into the pods they would have: a Deployment of three is three waiting pods, minus those that are among
// the manifests already. Names and UIDs follow from the workload alone, so the same files always give the same plan.
// All replicas share one spec object: a hundred thousand replicas cost a hundred thousand small objects, not specs.
import type { SnapshotObject } from '../../../core/index.ts';
import { type ClaimTemplate, claimsOfTemplates, type VolumeSpec } from './claims.ts';
import { type PodSpec, waitingStatus } from './waiting-pods.ts';

interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
}

interface WorkloadSpec {
  replicas?: number;
  template: PodTemplate;
  selector?: object;
  ordinals?: { start?: number };
  volumeClaimTemplates?: ClaimTemplate[];
  parallelism?: number;
  completions?: number;
  suspend?: boolean;
  jobTemplate?: { spec?: WorkloadSpec };
}

export interface Expansion {
  pods: SnapshotObject[];
  /** Claims that the controllers would make beside the pods. */
  claims: SnapshotObject[];
  /** Things left out on purpose, one line each. */
  notes: string[];
}

const workloadKinds = ['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'Job', 'CronJob'];

export function isWorkload(kind: string): boolean {
  return workloadKinds.includes(kind);
}

/** Only workloads among the manifests make pods; those of the cluster have theirs, which count where a manifest wants them. */
export function expandWorkloads(
  manifests: readonly SnapshotObject[],
  inCluster: readonly SnapshotObject[] = [],
): Expansion {
  const expansion: Expansion = { pods: [], claims: [], notes: [] };
  const owners = new OwnerIndex([...inCluster, ...manifests]);
  const present = owners.podsByWorkload();
  for (const object of manifests) {
    if (!isWorkload(object.kind) || owners.hasOwnerAmong(object)) continue;
    const spec = specOf(object);
    if (object.kind === 'CronJob') {
      expansion.notes.push(`CronJob ${idOf(object)} is not planned: its pods run only at its times`);
      continue;
    }
    if (spec.suspend === true) expansion.notes.push(`Job ${idOf(object)} is suspended: no pods planned`);
    addReplicas(object, spec, present.get(keyOf(object.kind, object)) ?? new Set(), expansion);
  }
  return expansion;
}

/** What kube-scheduler takes the selector of a default spread from, for pods of these workloads. */
export function selectorsOf(manifests: readonly SnapshotObject[]): SnapshotObject[] {
  const owners = new Map<string, SnapshotObject>();
  for (const workload of manifests) {
    const owner = ownerOfPods(workload);
    const selector = isWorkload(workload.kind) ? specOf(workload).selector : undefined;
    if (selector === undefined || owner.kind === 'Job') continue;
    const { name, namespace = 'default' } = workload.metadata;
    owners.set(keyOf(owner.kind, workload), { ...owner, metadata: { name, namespace }, spec: { selector } });
  }
  return [...owners.values()];
}

/** A Deployment's pods belong to its ReplicaSet, which has no name yet; its own stands in. */
function ownerOfPods({ kind }: SnapshotObject): { apiVersion: string; kind: string } {
  if (kind === 'Job') return { apiVersion: 'batch/v1', kind };
  if (kind === 'ReplicationController') return { apiVersion: 'v1', kind };
  return { apiVersion: 'apps/v1', kind: kind === 'Deployment' ? 'ReplicaSet' : kind };
}

function addReplicas(workload: SnapshotObject, spec: WorkloadSpec, present: Set<string>, expansion: Expansion): void {
  const wanted = replicasOf(workload.kind, spec);
  const namespace = workload.metadata.namespace ?? 'default';
  const first = workload.kind === 'StatefulSet' ? (spec.ordinals?.start ?? 0) : 1;
  const templates = spec.volumeClaimTemplates ?? [];
  const metadata = podMetadata(workload, spec.template, namespace);
  for (let index = first, made = present.size; made < wanted; index += 1) {
    const name = `${workload.metadata.name}-${index}`;
    if (present.has(name)) continue;
    made += 1;
    let podSpec = spec.template.spec;
    if (templates.length > 0) {
      const volumes: VolumeSpec[] = claimsOfTemplates(templates, name, namespace, expansion.claims);
      podSpec = { ...podSpec, volumes: [...volumes, ...(podSpec.volumes ?? [])] };
    }
    expansion.pods.push({
      apiVersion: 'v1',
      kind: 'Pod',
      // The number is padded so that UIDs, the last tie-break of the queue, sort as people count.
      metadata: {
        ...metadata,
        name,
        uid: `${namespace}/${workload.kind}/${workload.metadata.name}/${String(index).padStart(7, '0')}`,
      },
      spec: podSpec,
      status: waitingStatus,
    });
  }
}

function podMetadata(workload: SnapshotObject, template: PodTemplate, namespace: string) {
  const { labels, annotations } = template.metadata ?? {};
  const owner = ownerOfPods(workload);
  return {
    namespace,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ownerReferences: [
      {
        ...owner,
        name: workload.metadata.name,
        uid: workload.metadata.uid ?? `${namespace}/${owner.kind}/${workload.metadata.name}`,
        controller: true,
      },
    ],
  };
}

function replicasOf(kind: string, spec: WorkloadSpec): number {
  if (kind !== 'Job') return spec.replicas ?? 1;
  if (spec.suspend === true) return 0;
  return Math.min(spec.parallelism ?? 1, spec.completions ?? spec.parallelism ?? 1);
}

/** Who owns whom among the manifests, by kind, namespace and name. */
class OwnerIndex {
  private readonly objects: readonly SnapshotObject[];
  private readonly byKey = new Map<string, SnapshotObject>();

  constructor(objects: readonly SnapshotObject[]) {
    this.objects = objects;
    for (const object of objects) if (isWorkload(object.kind)) this.byKey.set(keyOf(object.kind, object), object);
  }

  /** True when a workload that is itself among the manifests makes this one. */
  hasOwnerAmong(object: SnapshotObject): boolean {
    return this.ownerOf(object) !== undefined;
  }

  /** Live pods among the manifests, by the outermost workload that wants them. */
  podsByWorkload(): Map<string, Set<string>> {
    const pods = new Map<string, Set<string>>();
    for (const object of this.objects) {
      const phase = (object['status'] as { phase?: string } | undefined)?.phase;
      if (object.kind !== 'Pod' || phase === 'Succeeded' || phase === 'Failed') continue;
      let owner = this.ownerOf(object);
      for (let next = owner; next !== undefined; next = this.ownerOf(next)) owner = next;
      if (owner === undefined) continue;
      const key = keyOf(owner.kind, owner);
      const names = pods.get(key) ?? new Set();
      pods.set(key, names.add(object.metadata.name));
    }
    return pods;
  }

  private ownerOf(object: SnapshotObject): SnapshotObject | undefined {
    const owners = object.metadata['ownerReferences'] as { kind: string; name: string }[] | undefined;
    const owner = owners?.find(({ kind }) => isWorkload(kind));
    if (owner === undefined) return undefined;
    const namespace = object.metadata.namespace;
    const found = this.byKey.get(keyOf(owner.kind, { metadata: { name: owner.name, namespace } }));
    if (found !== undefined || owner.kind !== 'ReplicaSet') return found;
    // Exports often leave ReplicaSets out; a Deployment's is named after it and the template's hash.
    const name = withoutTemplateHash(owner.name, object);
    return this.byKey.get(keyOf('Deployment', { metadata: { name, namespace } }));
  }
}

/** `web` for a pod of ReplicaSet `web-7d9f8b6c5` that carries that hash as a label. */
export function withoutTemplateHash(replicaSet: string, pod: SnapshotObject): string {
  const hash = (pod.metadata['labels'] as Record<string, string> | undefined)?.['pod-template-hash'];
  return hash !== undefined && replicaSet.endsWith(`-${hash}`) ? replicaSet.slice(0, -hash.length - 1) : replicaSet;
}

function keyOf(kind: string, object: { metadata: { name: string; namespace?: string | undefined } }): string {
  return `${kind} ${object.metadata.namespace ?? 'default'}/${object.metadata.name}`;
}

function idOf(object: SnapshotObject): string {
  return `${object.metadata.namespace ?? 'default'}/${object.metadata.name}`;
}

function specOf(object: SnapshotObject): WorkloadSpec {
  return object['spec'] as WorkloadSpec;
}
