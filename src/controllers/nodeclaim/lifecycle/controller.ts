// nodeclaim.lifecycle: the four steps a claim goes through, in order, and its end. The finalizer is written before
// anything else happens, so that whatever a step starts is always taken down again.
import { finalizer, type NodeClaim } from '../../../api/index.ts';
import { KerfError, messageOf } from '../../../base/index.ts';
import { isKubeError, type Node, resources } from '../../../ports/index.ts';
import { done, type Outcome } from '../../../runtime/index.ts';
import { again, type Controller, type ControllerContext, concurrencyFor, ownKey, source } from '../../context.ts';
import { nodeClaims } from '../../own-resources.ts';
import { patchObject, patchStatus } from '../../writes.ts';
import { withInitialConditions } from '../claim-conditions.ts';
import type { ClaimMetrics } from '../claim-metrics.ts';
import type { HealthReporter } from '../health-reporter.ts';
import type { MachineRemoval } from '../machine-removal.ts';
import { resourceSlices } from './dra-pools.ts';
import { initialization } from './initialization.ts';
import { ClaimLauncher } from './launch.ts';
import { liveness } from './liveness.ts';
import { registration } from './registration.ts';
import type { StepResult } from './step.ts';
import { terminating } from './termination.ts';

export function lifecycleController(
  context: ControllerContext,
  metrics: ClaimMetrics,
  health: HealthReporter,
  removals: MachineRemoval,
): Controller {
  const { cluster, clock, kube, settings, isManaged } = context;
  const launcher = new ClaimLauncher(context, metrics, health);
  const alive = liveness(context, metrics, health);
  const steps = [launcher.step, registration(context, metrics, health), initialization(context), alive.step];
  const terminate = terminating(context, metrics, launcher, removals);

  const live = async (found: NodeClaim): Promise<Outcome> => {
    let stored = found;
    if (!stored.metadata.finalizers?.includes(finalizer.termination)) {
      const finalizers = [...(stored.metadata.finalizers ?? []), finalizer.termination];
      stored = await patchObject(
        kube,
        nodeClaims,
        stored,
        { ...stored, metadata: { ...stored.metadata, finalizers } },
        { locked: true },
      );
    }
    let claim = withInitialConditions(stored, clock.now());
    let againMs = Number.POSITIVE_INFINITY;
    const errors: unknown[] = [];
    const afterWrites: NonNullable<StepResult['afterWrite']>[] = [];
    for (const step of steps) {
      const result: StepResult = await step(claim).catch((error: unknown) => ({ claim, error }));
      if (result.gone) return done;
      if (result.afterWrite !== undefined) afterWrites.push(result.afterWrite);
      claim = result.claim;
      if (result.againMs !== undefined) againMs = Math.min(againMs, result.againMs);
      if (result.error !== undefined) errors.push(result.error);
    }
    // Locked, so that the status written next is based on what was read: no one's change in between is undone.
    const patched = await patchObject(kube, nodeClaims, stored, claim, { locked: true });
    const written = await patchStatus(kube, nodeClaims, patched, { ...patched, status: claim.status } as NodeClaim);
    // The model must not wait for the watch to tell what was just written.
    cluster.setClaim(written);
    for (const afterWrite of afterWrites) await afterWrite();
    if (errors.length > 0) throw combined(errors, claim);
    return Number.isFinite(againMs) ? again(againMs) : done;
  };

  const keysOfNode = (node: Node | undefined): string[] =>
    cluster.claims.filedUnder(node?.spec?.providerID ?? '').map(({ metadata }) => metadata.name ?? '');

  /** Devices appear after their node: the claim that waits for them is the node's. */
  const deviceSources = settings.ignoreDraRequests
    ? []
    : [
        {
          ...source(resourceSlices, ({ before, after }) =>
            keysOfNode(cluster.nodes.get((after ?? before)?.spec.nodeName ?? '')),
          ),
          optional: true,
        },
      ];

  return {
    name: 'nodeclaim.lifecycle',
    sources: [
      ownKey(nodeClaims),
      source(resources.nodes, ({ before, after }) => [...keysOfNode(before), ...keysOfNode(after)]),
      ...deviceSources,
    ],
    listen: () => launcher.begin(),
    concurrency: concurrencyFor(settings, 100, 5_000),
    backoff: { baseMs: 1_000, maxMs: 60_000 },
    async reconcile(key) {
      const claim = cluster.claims.get(key);
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) alive.forget(key);
      if (claim === undefined || !isManaged(claim.spec.nodeClassRef)) return done;
      try {
        if (claim.metadata.deletionTimestamp === undefined) return await live(claim);
        return claim.metadata.finalizers?.includes(finalizer.termination) ? await terminate(claim) : done;
      } catch (error) {
        // Another writer was first, or the claim is gone: the watch brings the newer state, and with it the next try.
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (isKubeError(error, 'NotFound')) return done;
        throw error;
      }
    },
  };
}

/** Steps fail for reasons that pass: whatever they threw, the claim is tried again. */
function combined(errors: readonly unknown[], { metadata }: NodeClaim): unknown {
  const conflict = errors.find((error) => isKubeError(error, 'Conflict'));
  if (errors.length === 1 && conflict !== undefined) return conflict;
  return new KerfError('NodeClaimStepFailed', errors.map(messageOf).join('; '), {
    subject: `NodeClaim ${metadata.name}`,
    retryable: true,
    cause: errors[0],
  });
}
