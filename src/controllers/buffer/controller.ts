// capacitybuffer: resolves what each CapacityBuffer asks for into virtual pods, which every plan then makes room for.
import { type CapacityBuffer, conditionReason, conditionType } from '../../api/index.ts';
import type { Plan } from '../../core/index.ts';
import { isKubeError, type Pod, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { again, type Controller, type ControllerContext, ownKey, source } from '../context.ts';
import { capacityBuffers } from '../own-resources.ts';
import { patchStatus } from '../writes.ts';
import { withBufferCondition } from './buffer-conditions.ts';
import { bufferOutcomes, provisioningCondition } from './provisioning-condition.ts';
import { desiredReplicas } from './replicas.ts';
import { type Resolution, resolve, workloads } from './resolution.ts';
import { virtualPods } from './virtual-pods.ts';

const resolveAgainMs = 30_000;

export interface Buffers {
  controller: Controller;
  /** Tells every buffer what a planning pass did for it. */
  afterPass(plan: Plan): Promise<void>;
}

/** `trigger` asks for a planning pass on behalf of an object, by its UID. */
export function capacityBuffersController(context: ControllerContext, trigger: (uid: string) => void): Buffers {
  const { cacheOf, clock, cluster, kube, log } = context;
  const kept = new Map<string, { identity: string; pods: readonly Pod[] }>();
  /** Replaces the pods of one buffer, unless they are the ones it has: equal pods stay the same objects. */
  const keep = (key: string, identity: string, pods: () => readonly Pod[]): void => {
    if ((kept.get(key)?.identity ?? '') === identity) return;
    if (identity === '') kept.delete(key);
    else kept.set(key, { identity, pods: pods() });
    cluster.setBufferPods([...kept.values()].flatMap((each) => each.pods));
  };
  /** The room is no longer kept: the planner may give it to pods that wait. */
  const keepNone = (key: string): void => {
    if (!kept.has(key)) return;
    keep(key, '', () => []);
    trigger(key);
  };

  const reconcile = async (key: string, buffer: CapacityBuffer): Promise<Outcome> => {
    const resolution = await resolve(kube, buffer);
    const next = resolvedBuffer(buffer, resolution, clock.now());
    await patchStatus(kube, capacityBuffers, buffer, next);
    if (resolution.kind === 'failed') {
      keepNone(key);
      return resolution.mayPass ? { kind: 'retry' } : again(resolveAgainMs);
    }
    const { template } = resolution;
    const replicas = next.status?.replicas ?? 0;
    const identity = JSON.stringify([buffer.metadata.uid, replicas, template]);
    keep(key, replicas === 0 ? '' : identity, () => virtualPods(buffer, template, replicas));
    trigger(buffer.metadata.uid ?? key);
    return again(resolveAgainMs);
  };

  return {
    controller: {
      name: 'capacitybuffer',
      sources: [
        { ...ownKey(capacityBuffers), optional: true },
        source(resources.podTemplates, ({ before, after }) =>
          usersOf(cacheOf(capacityBuffers).values(), 'PodTemplate', after ?? before),
        ),
        ...Object.entries(workloads).map(([kind, resource]) =>
          source(resource, ({ before, after }) =>
            before?.metadata.generation === after?.metadata.generation
              ? []
              : usersOf(cacheOf(capacityBuffers).values(), kind, after ?? before),
          ),
        ),
      ],
      async reconcile(key) {
        const buffer = cacheOf(capacityBuffers).get(key);
        if (buffer === undefined || buffer.metadata.deletionTimestamp !== undefined) {
          keepNone(key);
          return done;
        }
        try {
          return await reconcile(key, buffer);
        } catch (error) {
          if (isKubeError(error, 'Conflict') || isKubeError(error, 'NotFound')) return { kind: 'retry' };
          throw error;
        }
      },
    },
    async afterPass(plan) {
      const outcomes = bufferOutcomes(plan, cluster.getBufferPods());
      const tell = async (buffer: CapacityBuffer): Promise<void> => {
        const { namespace, name } = buffer.metadata;
        const condition = provisioningCondition(buffer, outcomes.get(`${namespace}/${name}`));
        if (condition === undefined) return;
        try {
          await patchStatus(kube, capacityBuffers, buffer, withBufferCondition(buffer, condition, clock.now()));
        } catch (error) {
          // The next pass says it again.
          if (isKubeError(error, 'Conflict') || isKubeError(error, 'NotFound')) return;
          log.error('could not update capacitybuffer', error, {
            controller: 'capacitybuffer',
            CapacityBuffer: { name, namespace },
          });
        }
      };
      await Promise.all([...cacheOf(capacityBuffers).values()].map(tell));
    },
  };
}

/** The buffer with a status that says what the resolution came to. */
function resolvedBuffer(buffer: CapacityBuffer, resolution: Resolution, nowMs: number): CapacityBuffer {
  const type = conditionType.readyForProvisioning;
  if (resolution.kind === 'failed') {
    const { reason, message } = resolution;
    return withBufferCondition(buffer, { type, status: 'False', reason, message }, nowMs);
  }
  const { template, generation, workloadReplicas } = resolution;
  const { podTemplateRef, provisioningStrategy } = buffer.spec;
  const status = {
    ...buffer.status,
    ...(podTemplateRef === undefined ? {} : { podTemplateRef: { name: podTemplateRef.name } }),
    ...(generation === undefined ? {} : { podTemplateGeneration: generation }),
    ...(provisioningStrategy === undefined ? {} : { provisioningStrategy }),
    replicas: desiredReplicas(buffer.spec, template, workloadReplicas),
  };
  return withBufferCondition(
    { ...buffer, status },
    { type, status: 'True', reason: conditionReason.resolved, message: 'Pod template resolved successfully' },
    nowMs,
  );
}

function* usersOf(
  buffers: Iterable<CapacityBuffer>,
  kind: string,
  used: { metadata: { name?: string; namespace?: string } } | undefined,
): Iterable<string> {
  for (const { metadata, spec } of buffers) {
    const name = kind === 'PodTemplate' ? spec.podTemplateRef?.name : nameOf(spec.scalableRef, kind);
    if (metadata.namespace === used?.metadata.namespace && name === used?.metadata.name)
      yield `${metadata.namespace}/${metadata.name}`;
  }
}

const nameOf = (ref: { kind: string; name: string } | undefined, kind: string): string | undefined =>
  ref?.kind === kind ? ref.name : undefined;
