// state.pricing: what the machines of a pool cost per hour, by what the provider asks for them now.
import { label, type NodeClaim } from '../../api/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { done } from '../../runtime/index.ts';
import { again, type Controller, type ControllerContext, ownKey, source } from '../context.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';

/** Prices change rarely; machines that come and go are counted at once. */
const refreshMs = 3_600_000;

/** `overlays` says when prices are corrected otherwise than before. */
export function costController(
  { cloud, cluster, isManaged, log, metrics }: ControllerContext,
  overlays?: { onChange(listener: () => void): void },
): Controller {
  const cost = metrics.gauge({
    name: 'karpenter_nodepools_cost_total',
    help: 'What the nodes of a NodePool cost, in USD per hour.',
    labels: ['nodepool'],
  });
  const errors = metrics.counter({
    name: 'karpenter_nodepools_cost_tracker_errors_total',
    help: 'Times that the cost of a NodePool could not be computed completely.',
    labels: ['nodepool'],
  });
  return {
    name: 'state.pricing',
    sources: [
      ownKey(nodePools),
      source(nodeClaims, ({ before, after }) => {
        if (before !== undefined && after !== undefined && placeOf(before) === placeOf(after)) return [];
        return [before, after].flatMap((claim) => claim?.metadata.labels?.[label.nodePool] ?? []);
      }),
    ],
    listen(wake) {
      overlays?.onChange(() => {
        for (const { metadata } of cluster.nodePools.list()) wake(metadata.name ?? '');
      });
    },
    async reconcile(nodepool) {
      const pool = cluster.nodePools.get(nodepool);
      if (pool === undefined || !isManaged(pool.spec.template.spec.nodeClassRef)) {
        cost.remove({ nodepool });
        return done;
      }
      try {
        const types = await cloud.instanceTypes(pool);
        const { total, unknown } = costOf(cluster.claims.list(), nodepool, pricesOf(types));
        cost.set(total, { nodepool });
        if (unknown > 0) errors.add({ nodepool });
      } catch (error) {
        errors.add({ nodepool });
        log.debug('could not read prices', { controller: 'state.pricing', NodePool: { name: nodepool }, error });
        return { kind: 'retry' };
      }
      return again(refreshMs);
    },
  };
}

function costOf(
  claims: readonly NodeClaim[],
  nodepool: string,
  prices: ReadonlyMap<string, number>,
): { total: number; unknown: number } {
  let total = 0;
  let unknown = 0;
  for (const claim of claims) {
    if (claim.metadata.labels?.[label.nodePool] !== nodepool || !claim.status?.providerID) continue;
    const price = prices.get(placeOf(claim));
    if (price === undefined) unknown += 1;
    else total += price;
  }
  return { total, unknown };
}

/** What decides a price: type, zone and capacity type. */
export function placeOf({ metadata, status }: NodeClaim): string {
  const { labels = {} } = metadata;
  const isLaunched = Boolean(status?.providerID);
  return isLaunched ? placeKey(labels[label.instanceType], labels[label.zone], labels[label.capacityType]) : '';
}

const placeKey = (...parts: (string | undefined)[]): string => parts.map((part) => part ?? '').join('\u0000');

const known = new WeakMap<readonly InstanceTypeSpec[], Map<string, number>>();

/** By place; worked out once per list of types. */
export function pricesOf(types: readonly InstanceTypeSpec[]): ReadonlyMap<string, number> {
  let prices = known.get(types);
  if (prices === undefined) known.set(types, (prices = pricesByPlace(types)));
  return prices;
}

/** Of every offering, available or not: a machine that runs costs what it costs. */
function pricesByPlace(types: readonly InstanceTypeSpec[]): Map<string, number> {
  const prices = new Map<string, number>();
  for (const { name, offerings } of types) {
    for (const { requirements, price } of offerings) {
      const valuesOf = (key: string): string[] => requirements.find((each) => each.key === key)?.values ?? [];
      for (const zone of valuesOf(label.zone))
        for (const capacityType of valuesOf(label.capacityType)) prices.set(placeKey(name, zone, capacityType), price);
    }
  }
  return prices;
}
