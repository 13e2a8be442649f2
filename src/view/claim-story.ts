// What became of a NodeClaim that is not a machine yet: whether it waits to be launched or keeps failing, since when, and
// what its pool does meanwhile.
import { label } from '../api/names.ts';
import { parseTime } from '../base/index.ts';
import type { PoolStateEntry, Snapshot, SnapshotObject } from '../core/index.ts';
import { spanText } from './span-text.ts';

interface Condition {
  type: string;
  status?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ClaimStory {
  nodeClaim: string;
  nodePool?: string;
  /** One readable line. */
  message: string;
  ageSeconds?: number;
  /** The conditions that are not true, with what they say. */
  conditions: Condition[];
  /** How many instance types it may become. */
  instanceTypes: number;
  /** Of its pool. */
  pausedUntil?: string;
}

/** Undefined for a claim that has a machine, or that is not there. */
export function claimStory(snapshot: Snapshot, name: string): ClaimStory | undefined {
  const claim = snapshot.objects.items.find(({ kind, metadata }) => kind === 'NodeClaim' && metadata.name === name);
  const status = claim?.['status'] as { providerID?: string; conditions?: Condition[] } | undefined;
  if (claim === undefined || status?.providerID) return undefined;
  const nodePool = (claim.metadata['labels'] as Record<string, string> | undefined)?.[label.nodePool];
  const nowMs = parseTime(snapshot.time ?? '') ?? 0;
  const createdMs = parseTime(String(claim.metadata['creationTimestamp'] ?? ''));
  const ageMs = createdMs === undefined ? undefined : Math.max(0, nowMs - createdMs);
  const conditions = (status?.conditions ?? []).filter((each) => each.status !== 'True' && each.type !== 'Ready');
  const state = snapshot.poolState?.find((entry) => entry.nodePool === nodePool);
  const isPaused = state?.pausedUntil !== undefined && (parseTime(state.pausedUntil) ?? 0) > nowMs;
  return {
    nodeClaim: name,
    ...(nodePool === undefined ? {} : { nodePool }),
    message: messageOf(claim, status?.conditions ?? [], ageMs),
    ...(ageMs === undefined ? {} : { ageSeconds: ageMs / 1000 }),
    conditions: conditions.filter(
      ({ reason, type }) => reason !== undefined && reason !== 'AwaitingReconciliation' && type !== 'DisruptionVerdict',
    ),
    instanceTypes: typesOf(claim),
    ...(isPaused ? { pausedUntil: (state as PoolStateEntry & { pausedUntil: string }).pausedUntil } : {}),
  };
}

function messageOf(claim: SnapshotObject, conditions: readonly Condition[], ageMs: number | undefined): string {
  const ago = ageMs === undefined ? '' : ` ${spanText(ageMs)} ago`;
  if (claim.metadata['deletionTimestamp'] !== undefined) return 'is being deleted; it never became a machine';
  const launched = conditions.find(({ type }) => type === 'Launched');
  if (launched?.reason === undefined || launched.reason === 'AwaitingReconciliation')
    return `was created${ago} and waits to be launched`;
  return `was created${ago} and has not been launched: ${launched.reason}`;
}

function typesOf(claim: SnapshotObject): number {
  const spec = claim['spec'] as { requirements?: { key: string; values?: string[] }[] } | undefined;
  return spec?.requirements?.find(({ key }) => key === label.instanceType)?.values?.length ?? 0;
}
