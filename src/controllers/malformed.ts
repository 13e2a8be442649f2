// malformed: tells the owner of an object that cannot be worked with what is wrong with it, on the object itself: an
// event, and the condition its kind has for it. The object is kept from everybody else until it is fixed.
import { conditionReason, conditionType, type NodeClaim, type NodePool } from '../api/index.ts';
import { isKubeError, type KubeObject, type Resource } from '../ports/index.ts';
import { done } from '../runtime/index.ts';
import { again, type Controller, type ControllerContext } from './context.ts';
import { subjectOf } from './event-subjects.ts';
import type { NodeClassRef } from './managed.ts';
import { claimCondition, withCondition, withInitialConditions } from './nodeclaim/claim-conditions.ts';
import { withPoolCondition } from './nodepool/pool-conditions.ts';
import { nodeClaims, nodePools } from './own-resources.ts';
import { patchStatus } from './writes.ts';

export interface Refused {
  resource: Resource;
  object: KubeObject;
  /** Each with its field. */
  problems: readonly string[];
}

/** What was kept from the controllers. */
export interface RefusedObjects {
  readonly refused: ReadonlyMap<string, Refused>;
  onRefused: (key: string) => void;
}

/** Reported again this often until it is fixed. */
const remindMs = 600_000;
const mostProblems = 5;

export function malformedController(context: ControllerContext, objects: RefusedObjects): Controller {
  const { clock, isManaged, kube, log, recorder } = context;

  const isOfAnotherProvider = (object: KubeObject): boolean => {
    const { spec } = object as { spec?: { nodeClassRef?: unknown; template?: { spec?: { nodeClassRef?: unknown } } } };
    const ref = (spec?.nodeClassRef ?? spec?.template?.spec?.nodeClassRef) as Partial<NodeClassRef> | undefined;
    return typeof ref?.group === 'string' && typeof ref.kind === 'string' && !isManaged(ref as NodeClassRef);
  };

  const writeCondition = async ({ resource, object }: Refused, message: string): Promise<void> => {
    if (resource.kind === nodePools.kind) {
      const pool = object as NodePool;
      const reason = conditionReason.nodePoolValidationFailed;
      const change = { type: conditionType.validationSucceeded, status: 'False', reason, message } as const;
      await patchStatus(kube, nodePools, pool, withPoolCondition(pool, change, clock.now()));
    } else if (resource.kind === nodeClaims.kind) {
      const claim = withInitialConditions(object as NodeClaim, clock.now());
      // One that runs already was launched by a spec that was sound then.
      if (claimCondition(claim, conditionType.launched)?.status === 'True') return;
      const reason = conditionReason.launchFailed;
      const change = { type: conditionType.launched, status: 'Unknown', reason, message } as const;
      await patchStatus(kube, nodeClaims, object as NodeClaim, withCondition(claim, change, clock.now()));
    }
  };

  return {
    name: 'malformed',
    sources: [],
    listen: (wake) => {
      objects.onRefused = wake;
      for (const key of objects.refused.keys()) wake(key);
    },
    async reconcile(key) {
      const refused = objects.refused.get(key);
      if (refused === undefined || isOfAnotherProvider(refused.object)) return done;
      const { resource, object, problems } = refused;
      const more = problems.length > mostProblems ? `; and ${problems.length - mostProblems} more` : '';
      const message = `cannot work with this ${resource.kind}: ${problems.slice(0, mostProblems).join('; ')}${more}`;
      log.error('ignoring malformed object', message, { [resource.kind]: { name: object.metadata.name } });
      const subject = subjectOf(`${resource.group}/${resource.version}`, resource.kind, object);
      recorder.publish({ subject, type: 'Warning', reason: 'Malformed', message });
      try {
        await writeCondition(refused, message);
      } catch (error) {
        // Another writer was first: the gate has the newer object, or soon will.
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (!isKubeError(error, 'NotFound')) throw error;
      }
      return again(remindMs);
    },
  };
}
