// nodeoverlay: looks at all overlays together, tells each whether it is in force, and puts those that are in force. It is
// the only one that asks the provider itself; everybody else sees the provider through the overlays.
import {
  byWeight,
  type ConditionChange,
  conditionReason,
  conditionType,
  joinErrors,
  type NodeOverlay,
  type NodePool,
  nodeOverlayConditions,
  nodeOverlayProblems,
  setCondition,
} from '../../api/index.ts';
import { applyOverlays, type Overlay, type OverlayPool } from '../../core/index.ts';
import { isKubeError, type KubeObject, type Resource } from '../../ports/index.ts';
import { again, type Controller, type ControllerContext, type Source, source } from '../context.ts';
import { providerLabelPolicy } from '../label-policy.ts';
import { nodeOverlays, nodePools } from '../own-resources.ts';
import { patchStatus } from '../writes.ts';
import type { OverlayStore } from './overlay-store.ts';

const everything = 'overlays';
const againMs = 6 * 3_600_000;

/** `context.cloud` must be the provider itself, not the view through the store. */
export function nodeOverlayController(context: ControllerContext, store: OverlayStore): Controller {
  const { cacheOf, cloud, clock, cluster, isManaged, kube, log } = context;
  const policy = providerLabelPolicy(cloud.facts);
  /** Pools the provider answers for; the others wait, and do not hold up these. */
  const readablePools = async (): Promise<{ pools: OverlayPool[]; failed: unknown[] }> => {
    const failed: unknown[] = [];
    const read = async (pool: NodePool): Promise<OverlayPool[]> => {
      const { name = '' } = pool.metadata;
      try {
        const items = await cloud.instanceTypes(pool);
        return [{ nodePool: name, labels: pool.spec.template.metadata?.labels ?? {}, items }];
      } catch (error) {
        log.error('could not read instance types', error, { controller: 'nodeoverlay', NodePool: { name } });
        failed.push(error);
        return [];
      }
    };
    const ours = cluster.nodePools.list().filter(({ spec }) => isManaged(spec.template.spec.nodeClassRef));
    return { pools: (await Promise.all(ours.map(read))).flat(), failed };
  };
  const tell = async (overlay: NodeOverlay, change: Omit<ConditionChange, 'type'>): Promise<boolean> => {
    const conditions = setCondition(
      nodeOverlayConditions,
      overlay.status?.conditions,
      { type: conditionType.validationSucceeded, ...change },
      {
        generation: overlay.metadata.generation ?? 1,
        creationTimestamp: overlay.metadata.creationTimestamp ?? '',
        nowMs: clock.now(),
      },
    );
    const next = { ...overlay, status: { ...overlay.status, conditions: [...conditions] } } as NodeOverlay;
    try {
      await patchStatus(kube, nodeOverlays, overlay, next);
      return true;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return true;
      if (isKubeError(error, 'Conflict')) return false;
      throw error;
    }
  };

  return {
    name: 'nodeoverlay',
    sources: [
      { ...onNewGeneration(nodeOverlays), optional: true },
      onNewGeneration(nodePools),
      ...cloud.nodeClasses.map(onNewGeneration),
    ],
    startKeys: [everything],
    concurrency: 1,
    async reconcile() {
      const overlays = [...cacheOf(nodeOverlays).values()]
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .sort(byWeight);
      const problems = new Map(overlays.map((each) => [each.metadata.name, nodeOverlayProblems(each.spec, policy)]));
      const sound = overlays.filter(({ metadata }) => problems.get(metadata.name)?.length === 0).map(overlayOf);
      const { pools, failed } = await readablePools();
      const conflicting = new Set(applyOverlays(sound, pools, cloud.facts).conflicting);
      const inForce = sound.filter(({ name }) => !conflicting.has(name));
      store.set(inForce, new Set(pools.map(({ nodePool }) => nodePool)));
      cluster.changed();
      const reported = await Promise.all(
        overlays.map((overlay) => {
          const { name = '' } = overlay.metadata;
          return tell(overlay, verdictOf(problems.get(name) ?? [], conflicting.has(name)));
        }),
      );
      return failed.length > 0 || reported.includes(false) ? { kind: 'retry' } : again(againMs);
    },
  };
}

function verdictOf(problems: readonly string[], isConflicting: boolean): Omit<ConditionChange, 'type'> {
  if (problems.length > 0)
    return { status: 'False', reason: conditionReason.runtimeValidation, message: joinErrors(problems) };
  if (isConflicting)
    return { status: 'False', reason: conditionReason.conflict, message: 'conflict with another overlay' };
  return { status: 'True' };
}

function overlayOf({ metadata, spec }: NodeOverlay): Overlay {
  const { requirements, weight = 0, price, priceAdjustment, capacity } = spec;
  return {
    name: metadata.name ?? '',
    weight,
    requirements,
    ...(price === undefined ? {} : { price }),
    ...(priceAdjustment === undefined ? {} : { priceAdjustment }),
    ...(capacity === undefined ? {} : { capacity }),
  };
}

/** Status changes nothing about what overlays apply to. */
function onNewGeneration<T extends KubeObject>(resource: Resource<T>): Source {
  return source(resource, ({ before, after }) =>
    before?.metadata.generation === after?.metadata.generation && before?.metadata.uid === after?.metadata.uid
      ? []
      : [everything],
  );
}
