// The Node Termination Handler drains what the autoscaler has just bought, and the autoscaler buys the same again.
import type { Evidence } from '../../evidence.ts';
import { containersOf, envOf, podSpecOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { fieldItem, foundIn } from '../../found.ts';
import { anyOf, kinds } from '../../needs.ts';
import { refOf, type Stored } from '../../objects.ts';
import { usersOfSpot } from './spot-pools.ts';

const handlers = /(?:aws-)?node-termination-handler/;

export const nthRelaunchLoop: Failure = {
  id: 'interruption/nth-relaunch-loop',
  severity: 'medium',
  symptom: 'Spot nodes of the same type live for minutes, over and over.',
  cause:
    'The AWS Node Termination Handler drains nodes on rebalance recommendations; the autoscaler does not know why and buys the same capacity again',
  fix: 'Remove the Node Termination Handler, or set `enableSpotInterruptionDraining: false` and `enableRebalanceDraining: false` in its chart.',
  needs: [anyOf(kinds('DaemonSet'), kinds('Deployment'))],
  signs: [
    {
      words: ['rebalance', 'node-termination-handler', 'rebalance_recommendation'],
      pattern:
        /(?:kind=|"kind":"?)REBALANCE_RECOMMENDATION.{0,400}(?:cordon|drain|evict)|aws-node-termination-handler.{0,300}(?:cordoned and drained|draining).{0,200}rebalance|aws-node-termination-handler.{0,200}rebalance recommendation (?:received|detected).{0,200}(?:cordon|drain)|rebalance recommendation.{0,300}node-termination-handler.{0,200}(?:cordon|drain)/i,
      confidence: 'likely',
      evenWhenWell: true,
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'The Node Termination Handler drains nodes on rebalance recommendations, and the same capacity is bought again.',
      fix: fixFor('kube-system', 'aws-node-termination-handler'),
    }),
  ],
  check(evidence): Found[] {
    const spot = usersOfSpot(evidence);
    const { objects } = evidence;
    const isUnknown = !objects.isCollected('NodePool') && !objects.isCollected('Provisioner');
    if (spot.length === 0 && !isUnknown) return [];
    return handlersIn(evidence).flatMap((handler) => {
      const rebalance = drains(handler, 'ENABLE_REBALANCE_DRAINING');
      const interruption = drains(handler, 'ENABLE_SPOT_INTERRUPTION_DRAINING');
      if (rebalance !== 'true' && (interruption === 'false' || spot.length === 0)) return [];
      return [
        {
          confidence: rebalance === 'true' && spot.length > 0 ? ('certain' as const) : ('likely' as const),
          summary: `${handler.namespace}/${handler.name} drains spot nodes${rebalance === 'true' ? ' on rebalance recommendations' : ''} beside the autoscaler, which buys the same capacity again.`,
          objects: [refOf(handler)],
          evidence: [
            fieldItem(handler, 'ENABLE_REBALANCE_DRAINING', rebalance ?? 'not set'),
            fieldItem(handler, 'ENABLE_SPOT_INTERRUPTION_DRAINING', interruption ?? 'not set (drains)'),
            ...spot.slice(0, 2).map((one) => fieldItem(one, 'karpenter.sh/capacity-type', 'spot')),
          ],
          fix: fixFor(handler.namespace, handler.name),
        },
      ];
    });
  },
};

function handlersIn({ objects }: Evidence): Stored[] {
  return [...objects.of('DaemonSet'), ...objects.of('Deployment')].filter(
    (one) => handlers.test(one.name) && !/windows/.test(one.name),
  );
}

function drains(handler: Stored, variable: string): string | undefined {
  for (const container of containersOf(podSpecOf(handler))) {
    const value = envOf(container, variable);
    if (value !== undefined) return value.toLowerCase();
  }
  return undefined;
}

function fixFor(namespace: string, name: string): string[] {
  return [
    `helm uninstall ${name} --namespace ${namespace} (interruptions are handled through the queue), or:`,
    `helm upgrade ${name} eks/aws-node-termination-handler --namespace ${namespace} --reuse-values --set enableSpotInterruptionDraining=false --set enableRebalanceDraining=false`,
  ];
}
