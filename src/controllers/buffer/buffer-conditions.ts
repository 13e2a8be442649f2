// Conditions of a CapacityBuffer: two that stand side by side, without a root that sums them up.
import type { CapacityBuffer, Condition } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';

export interface BufferCondition {
  type: string;
  status: 'True' | 'False';
  reason: string;
  message: string;
}

/** The buffer with the condition set; the very same buffer if it says so already. */
export function withBufferCondition(buffer: CapacityBuffer, change: BufferCondition, nowMs: number): CapacityBuffer {
  const conditions = buffer.status?.conditions ?? [];
  const observedGeneration = buffer.metadata.generation ?? 1;
  const old = conditions.find(({ type }) => type === change.type);
  const isSame =
    old?.status === change.status &&
    old.reason === change.reason &&
    old.message === change.message &&
    old.observedGeneration === observedGeneration;
  if (isSame) return buffer;
  const lastTransitionTime = old?.status === change.status ? old.lastTransitionTime : formatTime(nowMs);
  const next: Required<Condition> = { ...change, lastTransitionTime, observedGeneration };
  const others = conditions.filter(({ type }) => type !== change.type);
  return { ...buffer, status: { ...buffer.status, conditions: [...others, next] } };
}
