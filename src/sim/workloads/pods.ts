// What workload controllers say about pods: which count, which are ready, which go first, and how one is made.

import { annotation } from '../../api/index.ts';
import { type Clock, parseTime } from '../../base/index.ts';
import { isKubeError, type Kube, type KubeObject, type Pod, type Resource, resources } from '../../ports/index.ts';
import type { ReadableStore } from '../../runtime/index.ts';
import { ownerReferenceTo, type Unseen } from './frame.ts';

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Pod['spec'];
}

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

export const isActive = (pod: Pod): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;

export const readyCondition = ({ status }: Pod) =>
  status?.conditions?.find((condition) => condition.type === 'Ready' && condition.status === 'True');

export const isReady = (pod: Pod): boolean => readyCondition(pod) !== undefined;

/** Ready for at least this long. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const ready = readyCondition(pod);
  if (ready === undefined) return false;
  return (
    minReadySeconds === 0 || nowMs - (parseTime(ready.lastTransitionTime ?? '') ?? nowMs) >= minReadySeconds * 1000
  );
}

export interface PodParts {
  owner: KubeObject;
  resource: Resource;
  template: PodTemplate;
  /** Exact, or the start of a generated one. */
  name: { exact: string } | { prefix: string };
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  spec?: Partial<NonNullable<Pod['spec']>>;
}

export async function createPod(
  kube: Kube,
  unseen: Unseen,
  store: ReadableStore<Pod>,
  { owner, resource, template, name, labels, annotations, spec }: PodParts,
): Promise<Pod> {
  const { namespace = '' } = owner.metadata;
  const pod = await kube.create(resources.pods, {
    metadata: {
      ...('exact' in name ? { name: name.exact } : { generateName: name.prefix }),
      namespace,
      labels: { ...template.metadata?.labels, ...labels },
      annotations: { ...template.metadata?.annotations, ...annotations },
      ownerReferences: [ownerReferenceTo(resource, owner)],
    },
    spec: { ...template.spec, ...spec },
  } as Pod);
  unseen.created(owner, store, `${namespace}/${pod.metadata.name}`);
  return pod;
}

export async function deletePod(
  kube: Kube,
  unseen: Unseen,
  store: ReadableStore<Pod>,
  owner: KubeObject,
  pod: Pod,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  try {
    await kube.delete(resources.pods, { name, namespace }, { preconditions: { uid } });
    unseen.deleted(owner, store, pod);
  } catch (error) {
    if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) throw error;
  }
}

/** Who goes first when there are too many: not placed, not running, not ready, cheap to lose, young. */
export function byDispensability(clock: Clock): (left: Pod, right: Pod) => number {
  const nowMs = clock.now();
  const rank = (pod: Pod): number[] => [
    pod.spec?.nodeName ? 1 : 0,
    pod.status?.phase === 'Running' ? 1 : 0,
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.[annotation.podDeletionCost] ?? 0) || 0,
    // Younger first.
    nowMs - (parseTime(pod.metadata.creationTimestamp ?? '') ?? nowMs),
  ];
  return (left, right) => {
    const [a, b] = [rank(left), rank(right)];
    for (let i = 0; i < a.length; i++) {
      const difference = (a[i] as number) - (b[i] as number);
      if (difference !== 0) return difference;
    }
    return (left.metadata.name ?? '') < (right.metadata.name ?? '') ? -1 : 1;
  };
}

/** A short text that is the same for the same template. */
export function templateHash(template: PodTemplate): string {
  const text = canonical(template);
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    high = Math.imul(high ^ text.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ text.charCodeAt(i), 0x85ebca6b);
  }
  // Letters and digits that make no words, as generated names use.
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
  let value = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  let hash = '';
  for (let i = 0; i < 10; i++) {
    hash += alphabet[Number(value % 27n)];
    value /= 27n;
  }
  return hash;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, each]) => each !== undefined && each !== null);
  return `{${entries
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, each]) => `${key}:${canonical(each)}`)
    .join()}}`;
}

/** A count or a share of `total`, rounded as asked. */
export function amountOf(
  value: number | string | undefined,
  total: number,
  round: 'up' | 'down',
  fallback: number,
): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value);
  if (percent === null) return Number(value) || 0;
  const share = (Number(percent[1]) * total) / 100;
  return round === 'up' ? Math.ceil(share) : Math.floor(share);
}
