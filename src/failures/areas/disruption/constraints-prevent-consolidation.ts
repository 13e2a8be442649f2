// A node stays because some pod on it has no other legal place: affinity, anti-affinity or spread, preferred ones included.
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';

const constraint = String.raw`(?:anti-?affinity|pod affinity|affinity|topology spread|unsatisfiable topology|topologySpread|max ?skew|incompatible requirements|did not tolerate|node selector)`;

export const constraintsPreventConsolidation: Failure = {
  id: 'disruption/constraints-prevent-consolidation',
  severity: 'medium',
  symptom: '`Unconsolidatable`: half-empty nodes stay.',
  cause:
    'No other legal place is found for a pod of the node because of its affinity, anti-affinity or spread; preferred rules count as well by default',
  fix: 'Loosen the rule of the pod, or set `PREFERENCE_POLICY=Ignore` so that preferences do not hold nodes.',
  needs: [kinds('Event')],
  signs: [
    {
      words: ['not all pods would schedule'],
      pattern: new RegExp(`not all pods would schedule,? ?(?<pod>[\\w-]+/[\\w.-]+)?.{0,500}${constraint}`, 'i'),
      evenWhenWell: true,
      confidence: 'likely',
    },
    {
      words: ['unconsolidatable'],
      pattern: new RegExp(`Unconsolidatable.{0,300}${constraint}`, 'i'),
      unless: /not all pods would schedule|SpotToSpot|prevents pod evictions/i,
      evenWhenWell: true,
      confidence: 'likely',
    },
  ],
  fromText(sightings) {
    const pod = caught(sightings, 'pod');
    return [
      foundIn(sightings, {
        summary: `${pod === undefined ? 'A pod of the node' : `Pod ${pod}`} has no other legal place, so its node is not consolidated.`,
        fix: [
          `Loosen the affinity, anti-affinity or spread of ${pod ?? 'the pod'} (preferred instead of required, ScheduleAnyway, a wider topologyKey).`,
          'PREFERENCE_POLICY=Ignore (--set settings.preferencePolicy=Ignore) when only preferences hold the node.',
        ],
      }),
    ];
  },
};
