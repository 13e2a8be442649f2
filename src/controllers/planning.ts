// What every decision looks at: the cluster as it is believed to be, with what the provider offers each pool.
import { inSlices, messageOf } from '../base/index.ts';
import {
  type InstanceTypeSpec,
  type PoolInstanceTypes,
  type ProviderFacts,
  Round,
  type Snapshot,
  type SnapshotSettings,
} from '../core/index.ts';
import type { AskOptions } from '../ports/index.ts';
import { takeSnapshot } from '../state/index.ts';
import type { ControllerContext, ControllerSettings } from './context.ts';
import { compileUntrustedSelector } from './device-selectors.ts';
import { healthOf, isRepairMethod } from './health/health.ts';

/** What the provider offers to each of our pools; a pool it cannot answer for carries the error. */
export function instanceTypesOfPools(
  { cluster, cloud, isManaged }: ControllerContext,
  options: AskOptions = {},
): Promise<PoolInstanceTypes[]> {
  const pools = cluster.nodePools.list().filter((pool) => isManaged(pool.spec.template.spec.nodeClassRef));
  return Promise.all(
    pools.map(async (pool): Promise<PoolInstanceTypes> => {
      const nodePool = pool.metadata.name ?? '';
      try {
        return { nodePool, items: (await cloud.instanceTypes(pool, options)) as InstanceTypeSpec[] };
      } catch (error) {
        return { nodePool, error: messageOf(error) };
      }
    }),
  );
}

export function snapshotFor(
  context: ControllerContext,
  instanceTypes: PoolInstanceTypes[],
  asking: Pick<AskOptions, 'probing'> = {},
): Snapshot {
  const { cluster, cloud, clock, settings, ledger } = context;
  settleLaunches(context);
  return takeSnapshot(cluster, {
    nowMs: clock.now(),
    settings: snapshotSettings(settings),
    provider: providerFacts(context),
    instanceTypes,
    failedOfferings: cloud.failedOfferings?.(asking) ?? [],
    ledger,
    ...(isRepairMethod(context) ? { unhealthySince: (node) => healthOf(context).since(node) } : {}),
  });
}

const factsWithRepair = new WeakMap<ControllerContext['cloud'], ProviderFacts>();

/** With the repair policies where repair is a disruption method; one object, so that whoever compiles it does so once. */
function providerFacts(context: ControllerContext): ProviderFacts {
  const { cloud } = context;
  if (!isRepairMethod(context)) return cloud.facts;
  const facts = factsWithRepair.get(cloud) ?? { ...cloud.facts, repairPolicies: cloud.repairPolicies() };
  factsWithRepair.set(cloud, facts);
  return facts;
}

/** Of the settings those that decisions look at. */
export function snapshotSettings(settings: ControllerSettings): SnapshotSettings {
  return {
    preferencePolicy: settings.preferencePolicy,
    minValuesPolicy: settings.minValuesPolicy,
    ignoreDRARequests: settings.ignoreDraRequests,
    ...(settings.budgetTimeZone === undefined ? {} : { budgetTimeZone: settings.budgetTimeZone }),
    ...(settings.nodeCostPerHour === undefined ? {} : { nodeCostPerHour: settings.nodeCostPerHour }),
    ...(settings.consolidationPaybackMs ? { consolidationPaybackSeconds: settings.consolidationPaybackMs / 1000 } : {}),
    ...(settings.defaultSpread === undefined || settings.defaultSpread.length === 0
      ? {}
      : { defaultTopologySpreadConstraints: settings.defaultSpread }),
    featureGates: { ...settings.featureGates },
  };
}

/** What disruption asks its questions to. */
export function roundOver(
  { clock }: ControllerContext,
  snapshot: Snapshot,
  queued: ReadonlySet<string>,
): Promise<Round> {
  return inSlices(clock, Round.inSlices(snapshot, { queued, compileDeviceSelector: compileUntrustedSelector }));
}

/** Claims that were launched or are gone no longer hold anything back. */
export function settleLaunches({ cluster, ledger }: Pick<ControllerContext, 'cluster' | 'ledger'>): void {
  for (const name of ledger.claims()) {
    const claim = cluster.claims.get(name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined || claim.status?.providerID)
      ledger.settle(name);
  }
}
