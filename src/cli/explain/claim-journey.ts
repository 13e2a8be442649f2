// Where a NodeClaim is on its way to being a node: the steps behind it with their times, the one it is in, how long that
// usually takes, and what happens next and when.
import { formatTime, parseTime } from '../../base/index.ts';
import type { Snapshot, SnapshotObject } from '../../core/index.ts';
import { spanText } from '../../view/index.ts';
import type { Paint } from '../output/index.ts';

export interface JourneyStep {
  step: 'Created' | 'Launched' | 'Registered' | 'Initialized';
  state: 'done' | 'now' | 'later';
  at?: string;
}

export interface ClaimJourney {
  nodeClaim: string;
  steps: JourneyStep[];
  /** How long the present step usually takes. */
  usual: string;
  /** What happens if nothing changes, and when. */
  next: string;
  nextAt?: string;
}

interface Condition {
  type: string;
  status?: string;
  lastTransitionTime?: string;
}

const minute = 60_000;
const ways = {
  Launched: {
    usual: 'an instance is usually launched within a few seconds',
    deadlineMs: 5 * minute,
    next: 'the claim is given up, and its pods are planned anew',
  },
  Registered: {
    usual: 'a node usually joins within two minutes of its launch',
    deadlineMs: 15 * minute,
    next: 'the claim and its instance are given up, and its pods are planned anew',
  },
  Initialized: {
    usual: 'a node is usually ready, with its devices and without startup taints, within a minute of joining',
    deadlineMs: undefined,
    next: 'the node stays until it is initialized or deleted: nothing ends this step by itself',
  },
} as const;

/** Undefined when there is no such claim, or it has arrived. */
export function claimJourney(snapshot: Snapshot, name: string): ClaimJourney | undefined {
  const claim = snapshot.objects.items.find(({ kind, metadata }) => kind === 'NodeClaim' && metadata.name === name);
  if (claim === undefined || claim.metadata['deletionTimestamp'] !== undefined) return undefined;
  const conditions = conditionsOf(claim);
  const createdAt = String(claim.metadata['creationTimestamp'] ?? '');
  const present = (Object.keys(ways) as (keyof typeof ways)[]).find((type) => conditions.get(type)?.status !== 'True');
  if (present === undefined) return undefined;
  const { usual, deadlineMs, next } = ways[present];
  // Counted from the last change of the condition, which is there from the beginning.
  const sinceMs = parseTime(conditions.get(present)?.lastTransitionTime ?? createdAt);
  const nextMs = deadlineMs === undefined || sinceMs === undefined ? undefined : sinceMs + deadlineMs;
  let isBehind = true;
  const steps = (Object.keys(ways) as (keyof typeof ways)[]).map((step): JourneyStep => {
    const at = conditions.get(step)?.lastTransitionTime;
    if (step === present) isBehind = false;
    if (isBehind) return { step, state: 'done', ...(at === undefined ? {} : { at }) };
    return { step, state: step === present ? 'now' : 'later' };
  });
  return {
    nodeClaim: name,
    steps: [{ step: 'Created', state: 'done', ...(createdAt === '' ? {} : { at: createdAt }) }, ...steps],
    usual,
    next,
    ...(nextMs === undefined ? {} : { nextAt: formatTime(nextMs) }),
  };
}

function conditionsOf(claim: SnapshotObject): Map<string, Condition> {
  const { conditions = [] } = (claim['status'] ?? {}) as { conditions?: Condition[] };
  return new Map(conditions.map((condition) => [condition.type, condition]));
}

export function renderJourney({ steps, usual, next, nextAt }: ClaimJourney, nowMs: number, paint: Paint): string {
  const words = steps.map(({ step, state, at }) => {
    const atMs = parseTime(at ?? '');
    const ago = atMs === undefined ? '' : ` ${spanText(Math.max(0, nowMs - atMs))} ago`;
    if (state === 'now') return paint.bold(`${step}: not yet`);
    return state === 'done' ? `${step}${ago}` : paint.dim(step);
  });
  const leftMs = (parseTime(nextAt ?? '') ?? nowMs) - nowMs;
  const when = nextAt === undefined ? '' : `at ${nextAt} (${leftMs > 0 ? `in ${spanText(leftMs)}` : 'now'}) `;
  return `  on its way: ${words.join(' > ')}\n  usual: ${usual}\n  next: ${when}${next}\n`;
}
