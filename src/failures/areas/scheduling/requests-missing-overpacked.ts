// Packing follows requests; pods without them fill a node beyond what it has.
import { isController } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { at, listAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import type { Stored } from '../../objects.ts';

export const requestsMissingOverpacked: Failure = {
  id: 'scheduling/requests-missing-overpacked',
  severity: 'medium',
  symptom: 'CPU throttling and OOM kills on full nodes.',
  cause: 'Packing follows requests, and containers without requests put too many pods on a node',
  fix: 'LimitRange defaults per namespace; requests of the right size.',
  needs: [kinds('Pod')],
  signs: [
    {
      words: ['low on resource', 'exceeds its request of 0', 'request is 0'],
      pattern:
        /The node was low on resource: (?:memory|ephemeral-storage).{0,160}(?:exceeds its request of 0|request is 0)/i,
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'Pods without requests were evicted: the node was filled beyond its memory.',
      fix: fixFor(sightings[0]?.about?.namespace ?? 'default'),
    }),
  ],
  check({ objects }): Found[] {
    // The controller's own memory is another matter (startup/controller-starved).
    const hurt = objects.of('Pod').filter((pod) => !isController(pod) && isWithoutRequests(pod) && wasHurt(pod));
    if (hurt.length === 0) return [];
    const namespaces = [...new Set(hurt.map(({ namespace }) => namespace))];
    return [
      {
        confidence: 'likely',
        summary: `${hurt.length === 1 ? `Pod ${hurt[0]?.name} has` : `${hurt.length} pods have`} no memory request and ${hurt.length === 1 ? 'was' : 'were'} killed or evicted for memory.`,
        objects: refsOf(hurt.slice(0, 10)),
        evidence: hurt.slice(0, 5).map((pod) => fieldItem(pod, 'requests', 'none; OOMKilled or Evicted')),
        fix: namespaces.slice(0, 3).flatMap(fixFor),
      },
    ];
  },
};

const isWithoutRequests = ({ object }: Stored): boolean => {
  const containers = listAt(object, 'spec', 'containers');
  return (
    containers.length > 0 &&
    containers.every(
      (one) =>
        at(one, 'resources', 'requests', 'memory') === undefined &&
        at(one, 'resources', 'limits', 'memory') === undefined,
    )
  );
};

function wasHurt({ object }: Stored): boolean {
  if (textAt(object, 'status', 'reason') === 'Evicted') return true;
  return listAt(object, 'status', 'containerStatuses').some(
    (status) =>
      textAt(status, 'lastState', 'terminated', 'reason') === 'OOMKilled' ||
      textAt(status, 'state', 'terminated', 'reason') === 'OOMKilled',
  );
}

const fixFor = (namespace: string): string[] => [
  `kubectl -n ${namespace} apply -f - <<< '{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"defaults"},"spec":{"limits":[{"type":"Container","defaultRequest":{"cpu":"100m","memory":"128Mi"}}]}}'`,
];
