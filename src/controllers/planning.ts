// What every decision looks at: the cluster as it is believed to be, with what the provider offers each pool.
import { compileDeviceSelector } from '../api/index.ts';
import { inSlices, messageOf } from '../base/index.ts';
import { type InstanceTypeSpec, type PoolInstanceTypes, Round, type Snapshot } from '../core/index.ts';
import { takeSnapshot } from '../state/index.ts';
import type { ControllerContext } from './context.ts';

/** What the provider offers to each of our pools; a pool it cannot answer for carries the error. */
export function instanceTypesOfPools({ cluster, cloud, isManaged }: ControllerContext): Promise<PoolInstanceTypes[]> {
  const pools = cluster.nodePools.list().filter((pool) => isManaged(pool.spec.template.spec.nodeClassRef));
  return Promise.all(
    pools.map(async (pool): Promise<PoolInstanceTypes> => {
      const nodePool = pool.metadata.name ?? '';
      try {
        return { nodePool, items: (await cloud.instanceTypes(pool)) as InstanceTypeSpec[] };
      } catch (error) {
        return { nodePool, error: messageOf(error) };
      }
    }),
  );
}

export function snapshotFor(context: ControllerContext, instanceTypes: PoolInstanceTypes[]): Snapshot {
  const { cluster, cloud, clock, settings, ledger } = context;
  settleLaunches(context);
  return takeSnapshot(cluster, {
    nowMs: clock.now(),
    settings: {
      preferencePolicy: settings.preferencePolicy,
      minValuesPolicy: settings.minValuesPolicy,
      ignoreDRARequests: settings.ignoreDraRequests,
      ...(settings.budgetTimeZone === undefined ? {} : { budgetTimeZone: settings.budgetTimeZone }),
      ...(settings.consolidationPaybackMs
        ? { consolidationPaybackSeconds: settings.consolidationPaybackMs / 1000 }
        : {}),
      featureGates: { ...settings.featureGates },
    },
    provider: cloud.facts,
    instanceTypes,
    ledger,
  });
}

/** What disruption asks its questions to. */
export function roundOver(
  { clock }: ControllerContext,
  snapshot: Snapshot,
  queued: ReadonlySet<string>,
): Promise<Round> {
  return inSlices(clock, Round.inSlices(snapshot, { queued, compileDeviceSelector }));
}

/** Claims that were launched or are gone no longer hold anything back. */
export function settleLaunches({ cluster, ledger }: Pick<ControllerContext, 'cluster' | 'ledger'>): void {
  for (const name of ledger.claims()) {
    const claim = cluster.claims.get(name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined || claim.status?.providerID)
      ledger.settle(name);
  }
}
