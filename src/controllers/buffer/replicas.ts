// For how many pods a CapacityBuffer keeps room: the most anyone asks for, as far as its limits allow.
import type { CapacityBuffer } from '../../api/index.ts';
import { RequestsOfPods, ResourceTable } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';

/** `workloadReplicas` is undefined for a buffer that names a pod template. */
export function desiredReplicas(
  spec: CapacityBuffer['spec'],
  pod: Pick<Pod, 'spec'>,
  workloadReplicas: number | undefined,
): number {
  const wishes: number[] = [];
  if (spec.replicas !== undefined) wishes.push(spec.replicas);
  if (spec.percentage !== undefined && workloadReplicas !== undefined && workloadReplicas > 0)
    wishes.push(Math.ceil((spec.percentage * workloadReplicas) / 100));
  const most = allowedBy(spec.limits, pod);
  if (wishes.length === 0) return most ?? 0;
  return Math.min(Math.max(...wishes), most ?? Number.POSITIVE_INFINITY);
}

/** How many such pods fit under the limits; undefined if none of the limits speaks of anything the pod asks for. */
function allowedBy(limits: CapacityBuffer['spec']['limits'], pod: Pick<Pod, 'spec'>): number | undefined {
  if (limits === undefined) return undefined;
  const table = new ResourceTable();
  const requests = new RequestsOfPods(table).of(pod as unknown as Parameters<RequestsOfPods['of']>[0]);
  let most: number | undefined;
  for (const [name, limit] of Object.entries(limits)) {
    const request = requests.get(name) ?? 0;
    if (request > 0) most = Math.min(most ?? Number.POSITIVE_INFINITY, Math.floor(table.amount(name, limit) / request));
  }
  return most === undefined ? undefined : Math.max(0, most);
}
