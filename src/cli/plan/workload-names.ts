// Pods by the workload they belong to, the way people think of them: `shop/web` instead of three hundred pod names.
import type { Snapshot, SnapshotObject } from '../../core/index.ts';
import { withoutTemplateHash } from './manifests/workloads.ts';

/** From `namespace/name` of a pod to the name of what it is a replica of; a pod of its own stands for itself. */
export class WorkloadNames {
  private readonly names = new Map<string, string>();

  constructor(snapshot: Snapshot) {
    for (const object of snapshot.objects.items) {
      if (object.kind === 'Pod') this.names.set(podKey(object), workloadOf(object));
    }
  }

  of(pod: string): string {
    return this.names.get(pod) ?? pod;
  }

  /** Workloads of these pods with how many pods of each, most first. */
  count(pods: readonly string[]): [workload: string, count: number][] {
    const counts = new Map<string, number>();
    for (const pod of pods) {
      const name = this.of(pod);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].sort(([left, few], [right, many]) => many - few || (left < right ? -1 : 1));
  }
}

function podKey({ metadata }: SnapshotObject): string {
  return `${metadata.namespace ?? 'default'}/${metadata.name}`;
}

function workloadOf(pod: SnapshotObject): string {
  const owners = pod.metadata['ownerReferences'] as { kind: string; name: string; controller?: boolean }[] | undefined;
  const owner = owners?.find(({ controller }) => controller === true) ?? owners?.[0];
  if (owner === undefined) return podKey(pod);
  const name = owner.kind === 'ReplicaSet' ? withoutTemplateHash(owner.name, pod) : owner.name;
  return `${pod.metadata.namespace ?? 'default'}/${name}`;
}

/** `shop/web ×3, shop/api`; no more than `most` names. */
export function listWorkloads(counts: readonly (readonly [workload: string, count: number])[], most: number): string {
  const shown = counts.slice(0, most).map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
  const left = counts.slice(most).reduce((sum, [, count]) => sum + count, 0);
  if (left > 0) shown.push(`and ${left} more`);
  return shown.join(', ');
}
