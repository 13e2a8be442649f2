// A spread counts zones that no pool of the pod can serve: with no pod there, the others may not grow.
import type { Evidence } from '../../evidence.ts';
import { waitingPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { at, isPlain, listAt, textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, labelsOf, type Stored } from '../../objects.ts';
import { couldServe, podDemands, zoneKey, zonesOf } from '../../pools.ts';

export const spreadOverUnreachableDomain: Failure = {
  id: 'scheduling/spread-over-unreachable-domain',
  severity: 'high',
  symptom: 'With topologySpreadConstraints (DoNotSchedule, zone) the first replicas start and later ones stay Pending.',
  cause:
    "Eligible domains come from the pod's own requirements, not from the pools it can use: a zone that no compatible pool serves counts with zero pods",
  fix: "Add the pool's zones as required node affinity on the pod.",
  needs: [kinds('Pod', 'NodePool', 'EC2NodeClass')],
  signs: [
    {
      words: ['unsatisfiable topology constraint', 'topology spread'],
      pattern:
        /unsatisfiable topology constraint for (?:topology spread|pod topology spread),? key=(?<key>[\w./-]+)|(?:would violate|violates) max-?skew.{0,160}key=(?<key2>[\w./-]+)/i,
      confidence: 'likely',
      until: ['launched'],
    },
  ],
  fromText(sightings) {
    const key = caught(sightings, 'key') ?? caught(sightings, 'key2') ?? zoneKey;
    return [
      foundIn(sightings, {
        summary: `The spread over ${key} cannot be met: a domain is counted that no compatible pool serves.`,
        fix: [fixFor(key, [])],
      }),
    ];
  },
  check(evidence): Found[] {
    const pools = evidence.objects.of('NodePool');
    const all = [...new Set(pools.flatMap((pool) => zonesOf(pool, evidence) ?? []))];
    const stuck = waitingPods(evidence).flatMap((pod) => {
      if (!spreadsOverZones(pod) || podDemands(pod).has(zoneKey)) return [];
      const serving = pools.filter((pool) => couldServe(pool, pod));
      const zones = serving.map((pool) => zonesOf(pool, evidence));
      if (serving.length === 0 || zones.includes(undefined)) return [];
      const served = [...new Set(zones.flatMap((list) => list ?? []))];
      const counted = [...new Set([...all, ...zonesOfNodes(pod, evidence)])];
      const unreachable = counted.filter((zone) => !served.includes(zone));
      return served.length > 0 && unreachable.length > 0 ? [{ pod, served, unreachable, pool: serving[0] }] : [];
    });
    if (stuck.length === 0) return [];
    const [first] = stuck;
    return [
      {
        confidence: 'likely',
        summary: `${first?.pod.name}${stuck.length > 1 ? ` and ${stuck.length - 1} more pods` : ''}: the spread counts ${first?.unreachable.join(', ')}, which no compatible pool serves (${first?.pool?.name} serves ${first?.served.join(', ')}).`,
        objects: refsOf(stuck.slice(0, 10).map(({ pod }) => pod)),
        evidence: [
          fieldItem(first?.pod as Stored, 'spec.topologySpreadConstraints', `${zoneKey}, DoNotSchedule`),
          ...(first?.pool === undefined ? [] : [fieldItem(first.pool, 'zones', first.served.join(', '))]),
        ],
        fix: [fixFor(zoneKey, first?.served ?? [])],
      },
    ];
  },
};

/** Zones that kube-scheduler counts because nodes of others are there, where it says that the spread is in the way. */
function zonesOfNodes({ object }: Stored, { objects }: Evidence): string[] {
  if (!/topology spread/.test(conditionOf(object, 'PodScheduled')?.message ?? '')) return [];
  const selector = at(object, 'spec', 'nodeSelector');
  const wanted = isPlain(selector) ? Object.entries(selector) : [];
  const eligible = objects.of('Node').filter((node) => {
    const labels = labelsOf(node.object);
    return wanted.every(([key, value]) => textAt(labels, key) === value);
  });
  return [...new Set(eligible.map((node) => textAt(labelsOf(node.object), zoneKey)))].filter((zone) => zone !== '');
}

const spreadsOverZones = ({ object }: Stored): boolean =>
  listAt(object, 'spec', 'topologySpreadConstraints').some(
    (one) => textAt(one, 'topologyKey') === zoneKey && textAt(one, 'whenUnsatisfiable') !== 'ScheduleAnyway',
  );

const fixFor = (key: string, values: readonly string[]): string =>
  `Add to the pod template: affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: ${key}, operator: In, values: [${values.length > 0 ? values.join(', ') : 'the values that the pool serves'}]}]}]}}}`;
