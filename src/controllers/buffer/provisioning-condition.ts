// What a planning pass means for a buffer: whether its room is there already, or had to be asked for.
import { type CapacityBuffer, conditionType } from '../../api/index.ts';
import type { Plan } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { keyOf } from '../../state/index.ts';
import type { BufferCondition } from './buffer-conditions.ts';
import { bufferOf } from './virtual-pods.ts';

/** Where a buffer's virtual pods went. */
export interface BufferOutcome {
  existing: number;
  added: number;
  failed: number;
}

/** By buffer, as `namespace/name`. */
export function bufferOutcomes(plan: Plan, pods: readonly Pod[]): Map<string, BufferOutcome> {
  const owners = new Map(pods.map((pod) => [keyOf(pod), bufferOf(pod)]));
  const outcomes = new Map<string, BufferOutcome>();
  const count = (pod: string, where: keyof BufferOutcome): void => {
    const owner = owners.get(pod);
    if (owner === undefined) return;
    let outcome = outcomes.get(owner);
    if (outcome === undefined) outcomes.set(owner, (outcome = { existing: 0, added: 0, failed: 0 }));
    outcome[where] += 1;
  };
  for (const { pods: placed } of plan.existingNodes) for (const pod of placed) count(pod, 'existing');
  for (const { pods: placed } of plan.newNodes) for (const pod of placed) count(pod, 'added');
  for (const { pod } of plan.unschedulable) count(pod, 'failed');
  return outcomes;
}

/** What to say about the buffer after the pass; undefined if the pass did not settle it. */
export function provisioningCondition(
  buffer: CapacityBuffer,
  outcome: BufferOutcome = { existing: 0, added: 0, failed: 0 },
): BufferCondition | undefined {
  const says = (status: 'True' | 'False', reason: string, message: string): BufferCondition => ({
    type: conditionType.provisioning,
    status,
    reason,
    message,
  });
  const ready = buffer.status?.conditions?.find(({ type }) => type === conditionType.readyForProvisioning);
  if (ready?.status !== 'True') return says('False', 'NotReadyForProvisioning', 'Buffer is not ReadyForProvisioning');
  const total = buffer.status?.replicas ?? 0;
  if (total === 0) return says('False', 'BufferEmpty', 'Buffer has zero desired replicas');
  const { existing, added, failed } = outcome;
  if (added > 0 || failed > 0)
    return says(
      'False',
      'RequiresNewCapacity',
      `${added}/${total} virtual pods required new capacity, ${failed} failed`,
    );
  if (existing === total)
    return says('True', 'FitsExistingCapacity', `All ${total} virtual pods fit on existing capacity`);
  return undefined;
}
