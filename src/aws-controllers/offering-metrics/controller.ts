// cloudprovider.metrics: every minute, which offerings some NodePool can have and what each costs. Tens of thousands of
// series: nothing is touched while nothing changed, and what changed is written a little at a time.
import { capacityType, label, type NodePool } from '../../api/index.ts';
import type { Controller, ControllerContext } from '../../controllers/index.ts';
import { type InstanceTypeSpec, isForSale, type OfferingSpec } from '../../core/index.ts';
import type { Gauge } from '../../ports/index.ts';

const everyMs = 60_000;
/** Types written between two breaths of the event loop. */
const typesPerTurn = 50;

interface Value {
  labels: { instance_type: string; capacity_type: string; zone: string };
  available: number;
  price: number;
}

export function offeringMetricsController(
  context: ControllerContext,
  instanceTypes: (pool: NodePool) => Promise<readonly InstanceTypeSpec[]>,
): Controller {
  const { clock, cluster, metrics, settings } = context;
  const labels = ['instance_type', 'capacity_type', 'zone'];
  const available = metrics.gauge({
    name: 'karpenter_cloudprovider_instance_type_offering_available',
    help: 'Whether some NodePool can have the offering.',
    labels,
  });
  const price = metrics.gauge({
    name: 'karpenter_cloudprovider_instance_type_offering_price_estimate',
    help: 'Estimated price of the offering per hour.',
    labels,
  });
  let seen: readonly (readonly InstanceTypeSpec[])[] = [];
  let written = new Map<string, Value>();
  return {
    name: 'cloudprovider.metrics',
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      const lists = await listsOf(cluster.nodePools.list(), context, instanceTypes);
      const isSame = lists.length === seen.length && lists.every((list, index) => list === seen[index]);
      if (!isSame) {
        const values = valuesOf(lists, settings.featureGates['ReservedCapacity'] === true);
        await write(values, written, { available, price }, () => clock.sleep(0));
        written = values;
        seen = lists;
      }
      return { kind: 'again', afterMs: everyMs };
    },
  };
}

/** What each pool is offered, equal lists once; a pool whose types are unavailable is left out. */
async function listsOf(
  pools: readonly NodePool[],
  { isManaged }: ControllerContext,
  instanceTypes: (pool: NodePool) => Promise<readonly InstanceTypeSpec[]>,
): Promise<(readonly InstanceTypeSpec[])[]> {
  const own = pools.filter((pool) => isManaged(pool.spec.template.spec.nodeClassRef));
  const results = await Promise.allSettled(own.map(instanceTypes));
  return [...new Set(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])))];
}

function valuesOf(lists: readonly (readonly InstanceTypeSpec[])[], withReserved: boolean): Map<string, Value> {
  const values = new Map<string, Value>();
  const add = (
    instance_type: string,
    offering: Pick<OfferingSpec, 'available' | 'price'>,
    type: string,
    zone: string,
  ) => {
    const key = `${instance_type} ${type} ${zone}`;
    const known = values.get(key);
    if (known === undefined) {
      const facts = { instance_type, capacity_type: type, zone };
      values.set(key, { labels: facts, available: offering.available ? 1 : 0, price: offering.price });
      return;
    }
    if (!offering.available) return;
    // Several reservations are one series: the cheapest that is available.
    known.price = known.available === 1 ? Math.min(known.price, offering.price) : offering.price;
    known.available = 1;
  };
  for (const list of lists) {
    for (const { name, offerings } of list) {
      const zones = new Set<string>();
      for (const offering of offerings) {
        const type = valueOf(offering, label.capacityType);
        const zone = valueOf(offering, label.zone);
        zones.add(zone);
        const available = isForSale(offering);
        if (type !== capacityType.reserved || withReserved) add(name, { ...offering, available }, type, zone);
      }
      // Dashboards expect the series of reservations also where there are none.
      if (withReserved)
        for (const zone of zones) add(name, { available: false, price: 0 }, capacityType.reserved, zone);
    }
  }
  return values;
}

async function write(
  values: ReadonlyMap<string, Value>,
  before: ReadonlyMap<string, Value>,
  gauges: { available: Gauge; price: Gauge },
  breathe: () => Promise<void>,
): Promise<void> {
  let type = '';
  let types = 0;
  for (const [key, { labels, available, price }] of values) {
    if (labels.instance_type !== type) {
      type = labels.instance_type;
      types += 1;
      if (types % typesPerTurn === 0) await breathe();
    }
    const old = before.get(key);
    if (old?.available !== available) gauges.available.set(available, labels);
    if (old?.price !== price) gauges.price.set(price, labels);
  }
  for (const [key, { labels }] of before) {
    if (values.has(key)) continue;
    gauges.available.remove(labels);
    gauges.price.remove(labels);
  }
}

function valueOf({ requirements }: OfferingSpec, key: string): string {
  return requirements.find((requirement) => requirement.key === key)?.values?.[0] ?? '';
}
