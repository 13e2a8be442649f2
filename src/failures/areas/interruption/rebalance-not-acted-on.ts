// Rebalance recommendations are published as events and, as upstream, nothing more; slow pods then have two minutes.
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';

export const rebalanceNotActedOn: Failure = {
  id: 'interruption/rebalance-not-acted-on',
  severity: 'medium',
  symptom: 'A rebalance recommendation came long before the interruption, and only the two-minute notice was used.',
  cause: 'By default a rebalance recommendation is only published as an event',
  fix: 'Kerf: `--spot-rebalance-policy` lets it replace the node within its budgets. Karpenter has no setting for it.',
  needs: [kinds('Event')],
  signs: [
    {
      words: ['rebalance recommendation'],
      pattern: /spot rebalance recommendation(?: was triggered)?/i,
      // Said about someone else who does act, or about a rule of EventBridge.
      unless: /node-termination-handler|REBALANCE_RECOMMENDATION|EventPattern|detail-type/i,
      confidence: 'possible',
      evenWhenWell: true,
      where: ['object', 'log'],
    },
    {
      words: ['rebalance recommendation'],
      pattern: /spot rebalance recommendation(?: was triggered)?/i,
      unless: /node-termination-handler|REBALANCE_RECOMMENDATION|EventPattern|detail-type/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'A rebalance recommendation was published and not acted on: pods have the two minutes of the interruption notice.',
      fix: [
        'Kerf: --spot-rebalance-policy (SPOT_REBALANCE_POLICY) lets the node be replaced, within its budgets, before the notice.',
        'Give pods a terminationGracePeriodSeconds below 120 and a second replica.',
      ],
    }),
  ],
};
