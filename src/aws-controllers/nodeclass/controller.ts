// nodeclass: what a class selects, looked up about every minute, and whether nodes can be launched with it. Every step
// runs, also after another failed; the status is written once.
import { awsFinalizer, type EC2NodeClass, ec2NodeClassConditions } from '../../api/index.ts';
import { ec2NodeClasses } from '../../aws/index.ts';
import { KerfError, messageOf } from '../../base/index.ts';
import {
  again,
  type Controller,
  type ControllerContext,
  nodeClaims,
  ownKey,
  patchObject,
  patchStatus,
  source,
  subjectOf,
} from '../../controllers/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { Draft, type Step } from './draft.ts';
import { longestMessage } from './not-found.ts';
import { type TerminationParts, terminate } from './termination.ts';

export interface NodeClassParts extends TerminationParts {
  /** Is given what wakes the controller for a class. */
  listen?(wake: (name: string) => void): void;
  /** In order: later ones rely on the conditions of earlier ones. */
  steps: readonly Step[];
}

/** When every call runs into its deadline, the rest is left to the next try instead of taking the better part of an hour. */
const longestMs = 5 * 60_000;

export function nodeClassController(context: ControllerContext, parts: NodeClassParts): Controller {
  const { cacheOf, clock, kube, recorder, settings } = context;
  const conditions = ec2NodeClassConditions(settings.featureGates['ReservedCapacity'] === true);

  const bringUpToDate = async (found: EC2NodeClass): Promise<Outcome> => {
    const nodeClass = await withFinalizer(found);
    const draft = new Draft(nodeClass, conditions, clock.now());
    const errors: unknown[] = [];
    let afterMs = Number.POSITIVE_INFINITY;
    const startedMs = clock.elapsed();
    for (const step of parts.steps) {
      if (clock.elapsed() - startedMs > longestMs) {
        errors.push(
          new KerfError('NodeClassSlow', `AWS took ${longestMs / 60_000} minutes for a part of it`, {
            retryable: true,
          }),
        );
        break;
      }
      try {
        afterMs = Math.min(afterMs, (await step(draft)) ?? afterMs);
      } catch (error) {
        errors.push(error);
      }
    }
    await patchStatus(kube, ec2NodeClasses, nodeClass, draft.nodeClass);
    if (errors.length > 0) throw combined(errors);
    return Number.isFinite(afterMs) ? again(afterMs) : done;
  };

  const withFinalizer = async (nodeClass: EC2NodeClass): Promise<EC2NodeClass> => {
    const { finalizers = [] } = nodeClass.metadata;
    if (finalizers.includes(awsFinalizer.termination)) return nodeClass;
    const metadata = { ...nodeClass.metadata, finalizers: [...finalizers, awsFinalizer.termination] };
    const patched = await patchObject(kube, ec2NodeClasses, nodeClass, { ...nodeClass, metadata }, { locked: true });
    // The lock keeps the spec as it was read; the server's answer has none where none was written.
    return { ...patched, spec: nodeClass.spec };
  };

  return {
    name: 'nodeclass',
    sources: [
      ownKey(ec2NodeClasses),
      // A class that is being deleted waits for its last claim.
      source(nodeClaims, ({ before, after }) =>
        after === undefined && before !== undefined ? [before.spec.nodeClassRef.name] : [],
      ),
    ],
    ...(parts.listen === undefined ? {} : { listen: parts.listen }),
    concurrency: 10,
    backoff: { baseMs: 100, maxMs: 60_000 },
    async reconcile(key) {
      const nodeClass = cacheOf(ec2NodeClasses).get(key);
      if (nodeClass === undefined) return done;
      try {
        const isLeaving = nodeClass.metadata.deletionTimestamp !== undefined;
        return await (isLeaving ? terminate(context, parts, nodeClass) : bringUpToDate(nodeClass));
      } catch (error) {
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (isKubeError(error, 'NotFound')) return done;
        recorder.publish({
          subject: subjectOf(`${ec2NodeClasses.group}/${ec2NodeClasses.version}`, ec2NodeClasses.kind, nodeClass),
          type: 'Warning',
          reason: 'ReconcileFailed',
          message: messageOf(error).slice(0, longestMessage),
        });
        throw error;
      }
    },
  };
}

/** Worth another try unless nothing but an edited class can help with any of them. */
function combined(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const isHopeless = errors.every((error) => error instanceof KerfError && !error.retryable);
  return new KerfError('NodeClassNotReconciled', errors.map(messageOf).join('; '), {
    retryable: !isHopeless,
    cause: new AggregateError(errors),
  });
}
