// Tells a NodePool how its launches go: the ring of outcomes with the condition NodeRegistrationHealthy that it decides,
// and the pause between tries that keep failing, with the condition LaunchesPaused that says why and until when.
// An outcome is remembered only after the condition is written, so that a lost write does not count it twice.
import {
  type ConditionChange,
  conditionReason,
  conditionType,
  type NodeClaim,
  type NodePool,
} from '../../api/index.ts';
import { conditionOf, formatTime, parseTime } from '../../base/index.ts';
import { isKubeError } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { removePoolCondition, writePoolCondition } from '../nodepool/pool-conditions.ts';
import { nodePools } from '../own-resources.ts';
import { claimCondition, whyNotRegistered } from './claim-conditions.ts';
import type { RegistrationHealth } from './registration-health.ts';

const mostAttempts = 5;

export interface HealthReporter {
  succeeded(claim: NodeClaim): Promise<void>;
  /** The claim was never launched or its node never registered in time. */
  failed(claim: NodeClaim): Promise<void>;
  /** The provider will not launch anything for this pool now. */
  refused(claim: NodeClaim, reason: string, message: string): Promise<void>;
}

export function healthReporter(context: ControllerContext, health: RegistrationHealth): HealthReporter {
  /** The pool the claim was made by, if that very pool still exists. */
  const poolOf = (claim: NodeClaim): NodePool | undefined => {
    const owner = claim.metadata.ownerReferences?.find((each) => each.kind === 'NodePool');
    const pool = context.cluster.nodePools.get(owner?.name ?? '');
    return pool?.metadata.uid === owner?.uid ? pool : undefined;
  };
  /** The pool's other controllers write its status too: whoever loses the race tries again on the newer pool. */
  const insist = async (found: NodePool, act: (pool: NodePool) => Promise<void>): Promise<void> => {
    let pool = context.cluster.nodePools.get(found.metadata.name ?? '') ?? found;
    for (let attempt = 1; pool.metadata.uid === found.metadata.uid; attempt += 1) {
      try {
        return await act(pool);
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return;
        if (!isKubeError(error, 'Conflict') || attempt === mostAttempts) throw error;
        pool = await context.kube.get(nodePools, { name: pool.metadata.name ?? '' });
      }
    }
  };
  const write = (pool: NodePool, change: Omit<ConditionChange, 'type'>): Promise<void> =>
    insist(pool, (latest) =>
      writePoolCondition(context, latest, { type: conditionType.nodeRegistrationHealthy, ...change }),
    );
  const pauseAfter = async (claim: NodeClaim, pool: NodePool, kind: string, message: string): Promise<void> => {
    const claimMs = parseTime(claim.metadata.creationTimestamp ?? '') ?? 0;
    const pause = context.cluster.launchBackoff.failed(pool.metadata.uid ?? '', { kind, message, claimMs });
    if (pause === undefined) return;
    const said = `${pause.failures} times in a row: ${message || 'no reason was given'}`;
    const change: ConditionChange = {
      type: conditionType.launchesPaused,
      status: 'True',
      reason: kind,
      message: `${said}; next try at ${formatTime(pause.untilMs)}`,
    };
    await insist(pool, (latest) => writePoolCondition(context, latest, change));
  };
  const resume = async (pool: NodePool): Promise<void> => {
    context.cluster.launchBackoff.clear(pool.metadata.uid ?? '');
    await insist(pool, (latest) => removePoolCondition(context, latest, conditionType.launchesPaused));
  };
  const present = (pool: NodePool) =>
    conditionOf(pool.status?.conditions, conditionType.nodeRegistrationHealthy)?.status;
  return {
    async succeeded(claim) {
      const pool = poolOf(claim);
      if (pool?.metadata.uid === undefined) return;
      if (health.after(pool.metadata.uid, true) === 'healthy') await write(pool, { status: 'True' });
      await resume(pool);
      health.record(pool.metadata.uid, true);
    },
    async failed(claim) {
      const pool = poolOf(claim);
      if (pool?.metadata.uid === undefined) return;
      const { reason, message, detail } = causeOf(claim);
      if (health.after(pool.metadata.uid, false) === 'unhealthy' && present(pool) !== 'False')
        await write(pool, { status: 'False', reason, message });
      health.record(pool.metadata.uid, false);
      await pauseAfter(claim, pool, reason, detail ?? message);
    },
    async refused(claim, reason, message) {
      const pool = poolOf(claim);
      if (pool !== undefined) await pauseAfter(claim, pool, reason, message);
    },
  };
}

/** Why a claim came to nothing: its node did not register, or what its launch said. */
function causeOf(claim: NodeClaim): { reason: string; message: string; detail?: string } {
  const launched = claimCondition(claim, conditionType.launched);
  if (launched?.status === 'True') {
    const message = 'Failed to register node';
    const why = whyNotRegistered(claim);
    return {
      reason: conditionReason.registrationFailed,
      message,
      ...(why === '' ? {} : { detail: `${message}: ${why}` }),
    };
  }
  return { reason: launched?.reason || conditionReason.launchFailed, message: launched?.message ?? '' };
}
