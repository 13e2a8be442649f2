// WhenUnderutilized became WhenEmptyOrUnderutilized in v1.
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';

export const consolidationPolicyRenamed: Failure = {
  id: 'crd/consolidation-policy-renamed',
  severity: 'high',
  symptom: '`spec.disruption.consolidationPolicy: Unsupported value: "WhenUnderutilized"`.',
  cause: 'The policy was renamed in v1; allowed are WhenEmpty, WhenEmptyOrUnderutilized and, since 1.14, Balanced',
  fix: '`consolidationPolicy: WhenEmptyOrUnderutilized`.',
  needs: [anyOf(kinds('NodePool'), texts('cli'))],
  signs: [
    {
      words: ['whenunderutilized'],
      pattern:
        /Unsupported value: "WhenUnderutilized"|consolidationPolicy.{0,60}(?:Unsupported|Invalid|not (?:one of|supported|valid)|must be one of).{0,120}WhenUnderutilized|"WhenUnderutilized".{0,40}(?:is not (?:one of|a valid)|not supported|supported values)/i,
      unless: /cannot be combined/i,
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'The NodePool is refused: consolidationPolicy WhenUnderutilized is called WhenEmptyOrUnderutilized in v1.',
      fix: [
        'spec.disruption.consolidationPolicy: WhenEmptyOrUnderutilized',
        'v1 also requires spec.disruption.consolidateAfter where disruption is written: 0s keeps the old behaviour.',
      ],
    }),
  ],
  check({ objects }): Found[] {
    const pools = objects
      .of('NodePool')
      .filter(
        ({ object }) =>
          textAt(object, 'apiVersion') === 'karpenter.sh/v1' &&
          textAt(object, 'spec', 'disruption', 'consolidationPolicy') === 'WhenUnderutilized',
      );
    if (pools.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${pools.map(({ name }) => `NodePool ${name}`).join(', ')}: the policy WhenUnderutilized does not exist in v1.`,
        objects: refsOf(pools),
        evidence: pools.map((pool) => fieldItem(pool, 'spec.disruption.consolidationPolicy', 'WhenUnderutilized')),
        fix: pools.map(
          ({ name }) =>
            `kubectl patch nodepool ${name} --type=merge -p '{"spec":{"disruption":{"consolidationPolicy":"WhenEmptyOrUnderutilized"}}}'`,
        ),
      },
    ];
  },
};
