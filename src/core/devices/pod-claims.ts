// The ResourceClaims a pod uses: named in its specification, or made from a template and then named in its status. Entries
// without a name yet are passed over; a claim that is named but not there leaves the pod waiting for it.

import type { ResourceClaim } from '../kube/device-objects.ts';
import { namespaceOf, type Pod } from '../kube/objects.ts';

export interface PodClaims {
  /** `namespace/name`, in the order of the pod's list. */
  readonly claims: readonly string[];
  readonly error: string | undefined;
}

export function podClaims(known: ReadonlyMap<string, ResourceClaim>, pod: Pod): PodClaims {
  const claims: string[] = [];
  const statuses = new Map((pod.status?.resourceClaimStatuses ?? []).map((own) => [own.name, own.resourceClaimName]));
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const name = entry.resourceClaimName ?? statuses.get(entry.name);
    if (!name) continue;
    const key = `${namespaceOf(pod)}/${name}`;
    if (!known.has(key)) return { claims: [], error: `resourceclaim "${key}" not found` };
    if (!claims.includes(key)) claims.push(key);
  }
  return { claims, error: undefined };
}
