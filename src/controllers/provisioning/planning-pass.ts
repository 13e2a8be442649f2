// One planning pass as its metrics tell it: how long it takes, what is left to do, where the waiting pods could go, and
// when each pod was first decided about.
import { conditionType, isTrue } from '../../api/index.ts';
import type { EmptyPool, Plan, Snapshot } from '../../core/index.ts';
import { nodePoolOf } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import type { ProvisioningMetrics } from './metrics.ts';

const controller = 'provisioner';
const relaxing = 'relaxing soft constraints for pod since it previously failed to schedule';
/** How often a long pass says that it is still going on. */
const tickMs = 1_000;

/** Plans, and tells the metrics about it. */
export async function planningPass(
  context: ControllerContext,
  metrics: ProvisioningMetrics,
  snapshot: Snapshot,
): Promise<{ plan: Plan; emptyPools: readonly EmptyPool[] }> {
  const { clock, log, random } = context;
  const pass = { controller, scheduling_id: Math.floor(random() * 2 ** 48).toString(16) };
  const startedMs = clock.elapsed();
  const emptyPools: EmptyPool[] = [];
  let zones: ReadonlyMap<string, number> = new Map();
  const tell = (): void => {
    metrics.unfinished.set((clock.elapsed() - startedMs) / 1000, pass);
    timer = clock.after(tickMs, tell);
  };
  let timer = clock.after(tickMs, tell);
  try {
    const plan = await context.plan(snapshot, {
      onEmptyPool: (pool) => void emptyPools.push(pool),
      onRelaxed: (pod, changes) => {
        const [namespace, name] = pod.split('/');
        for (const reason of changes) log.debug(relaxing, { controller, Pod: { name, namespace }, reason });
      },
      onZones: (pods) => {
        zones = pods;
      },
    });
    metrics.duration.observe((clock.elapsed() - startedMs) / 1000, { controller });
    metrics.queueDepth.remove({ controller });
    metrics.queueDepth.set(plan.unschedulable.length, pass);
    metrics.byZone.remove({ controller });
    for (const [zone, pods] of zones) metrics.byZone.set(pods, { controller, zone });
    await noteDecisions(context, metrics, plan);
    return { plan, emptyPools };
  } finally {
    timer.dispose();
    metrics.unfinished.remove(pass);
  }
}

/** Pods that have a node already, or only stand for a buffer's room, are not waiting for a decision. */
async function noteDecisions({ clock, cluster }: ControllerContext, metrics: ProvisioningMetrics, plan: Plan) {
  const { decisions, store } = cluster.pods;
  const nowMs = clock.now();
  const isWaiting = (key: string): boolean => {
    const pod = store.get(key);
    return pod !== undefined && !pod.spec?.nodeName;
  };
  const isHealthy = (pool: string | undefined): boolean =>
    isTrue(cluster.nodePools.get(pool ?? '')?.status?.conditions, conditionType.nodeRegistrationHealthy);
  const observe = (waitedMs: number | undefined): void => {
    if (waitedMs !== undefined) metrics.decision.observe(waitedMs / 1000);
  };
  const poolOfNode = (name: string): string | undefined => {
    const machine = cluster.machines.ofNode(name) ?? cluster.machines.ofClaim(name);
    return machine === undefined ? undefined : nodePoolOf(machine);
  };
  const placed = [
    ...plan.newNodes.map(({ pods, nodePool }) => ({ pods, pool: nodePool as string | undefined })),
    ...plan.existingNodes.map(({ pods, name }) => ({ pods, pool: poolOfNode(name) })),
  ];
  for (const { pods, pool } of placed) {
    await clock.breathe?.();
    const healthy = isHealthy(pool);
    for (const pod of pods) if (isWaiting(pod)) observe(decisions.place(pod, nowMs, healthy));
  }
  for (const { pod } of plan.unschedulable) if (isWaiting(pod)) observe(decisions.refuse(pod, nowMs));
}
