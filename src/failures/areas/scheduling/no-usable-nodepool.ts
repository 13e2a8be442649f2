// Pods wait, and there is nothing to provision from.
import { ageMs, type Evidence } from '../../evidence.ts';
import { named, waitingPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, isDeleting, type Stored } from '../../objects.ts';
import { isUsable } from '../../pools.ts';

export const noUsableNodepool: Failure = {
  id: 'scheduling/no-usable-nodepool',
  severity: 'critical',
  symptom: 'Pods wait; the log says `no nodepools found`.',
  cause: 'There is no NodePool, none is ready, or all are being deleted',
  fix: 'Apply a NodePool and its node class; fix what keeps them from being ready.',
  needs: [kinds('Pod', 'NodePool')],
  signs: [
    {
      words: [
        'no nodepools found',
        'no dynamic nodepools found',
        'no provisioners found',
        'nodepools not found',
        'provisioners not found',
      ],
      pattern:
        /no (?:dynamic |ready |usable )?(?:nodepools|provisioners) (?:were )?found|(?:nodepools|provisioners) not found/i,
      until: ['launched'],
    },
  ],
  fromText(sightings, evidence) {
    // Without pods that wait, an empty cluster is just that.
    if (evidence.objects.isCollected('Pod') && waitingPods(evidence, 0).length === 0) return [];
    if (evidence.objects.of('NodePool').some(isUsable)) return [];
    const isWaitingKnown = evidence.isAsked || evidence.objects.isCollected('Pod');
    const found = foundIn(sightings, {
      summary: 'There is no NodePool to provision from: none exists, or none is ready.',
      fix: fixLines,
    });
    // A log alone does not say whether pods wait, and a fresh install has no pool yet.
    return [isWaitingKnown ? found : { ...found, confidence: 'possible' }];
  },
  check(evidence): Found[] {
    const { objects } = evidence;
    if (!objects.isCollected('NodePool') || objects.of('Provisioner').length > 0) return [];
    // However short the wait: what is not there does not come by waiting.
    const waiting = waitingPods(evidence, 0).filter(
      ({ namespace, name }) => !/^(karpenter|kerf)-/.test(name) || namespace === '',
    );
    const pools = objects.of('NodePool');
    if (waiting.length === 0 || pools.some((pool) => isUsable(pool) || isNew(pool, evidence))) return [];
    return [
      {
        confidence: 'certain',
        summary: `${waiting.length === 1 ? 'A pod waits' : `${waiting.length} pods wait`} (${named(waiting)}), and ${pools.length === 0 ? 'there is no NodePool' : `none of the NodePools (${named(pools)}) can be used`}.`,
        objects: [...refsOf(pools), ...refsOf(waiting.slice(0, 5))],
        evidence: [
          ...pools.flatMap((pool) => {
            const ready = conditionOf(pool.object, 'Ready');
            if (isDeleting(pool.object))
              return [{ source: pool.source, text: `NodePool ${pool.name} is being deleted` }];
            return ready === undefined ? [] : [conditionItem(pool, ready)];
          }),
          ...waiting.slice(0, 3).map((pod) => ({ source: pod.source, text: `Pod ${pod.namespace}/${pod.name} waits` })),
        ],
        fix:
          pools.length === 0
            ? fixLines
            : pools.map(({ name }) => `kubectl describe nodepool ${name}  # fix the condition that is False`),
      },
    ];
  },
};

/** A pool that was just applied is not ready for some seconds. */
const isNew = (pool: Stored, evidence: Evidence): boolean =>
  !isDeleting(pool.object) && (ageMs(evidence, textAt(pool.object, 'metadata', 'creationTimestamp')) ?? newMs) < newMs;

const newMs = 60_000;

const fixLines = [
  'kubectl get nodepools,ec2nodeclasses  # apply a NodePool and an EC2NodeClass; examples/ has complete ones',
  'kerf validate -f nodepool.yaml  # before applying',
];
