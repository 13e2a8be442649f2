// v1beta1 allowed consolidateAfter only with WhenEmpty; v1 requires it with every policy.
import type { Failure, FailureId, Found, Sighting } from '../../failure.ts';
import { at, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';

/** What else the API server says of a NodePool of v1beta1 that is applied as v1. */
const sameManifest: readonly FailureId[] = ['crd/consolidation-policy-renamed', 'crd/nodeclassref-incomplete'];

export const consolidateAfterNotAllowedV1beta1: Failure = {
  id: 'crd/consolidate-after-not-allowed-v1beta1',
  severity: 'medium',
  symptom: '`consolidateAfter cannot be combined with consolidationPolicy=WhenUnderutilized` on v1beta1.',
  cause: 'v1beta1 allows consolidateAfter only with the policy WhenEmpty; v1 allows and requires it with every policy',
  fix: 'Move to v1 and keep `consolidateAfter`; on v1beta1 remove it or use `WhenEmpty`.',
  needs: [anyOf(kinds('NodePool'), texts('cli'))],
  signs: [
    {
      words: ['consolidateafter'],
      pattern:
        /consolidateAfter cannot be (?:combined|used|set) (?:with|when|if) consolidationPolicy ?(?:=|is) ?["']?WhenUnderutilized|consolidateAfter must be (?:specified|set) (?:only )?(?:with|if|when) consolidationPolicy ?(?:=|is) ?["']?WhenEmpty/i,
    },
    {
      words: ['consolidateafter: required value', 'consolidateafter: required'],
      pattern: /spec\.disruption\.(?<required>consolidateAfter): Required value/i,
    },
  ],
  fromText: (sightings, evidence) => {
    const isRequired = sightings.every(({ groups }) => groups['required'] !== undefined);
    // One manifest of v1beta1 applied as v1: the other entry's fix says this too.
    if (isRequired && sameManifest.some((id) => evidence.sightings.has(id))) return [];
    return [found(sightings, isRequired)];
  },
  check({ objects }): Found[] {
    const pools = objects
      .of('NodePool')
      .filter(
        ({ object }) =>
          textAt(object, 'apiVersion') === 'karpenter.sh/v1beta1' &&
          at(object, 'spec', 'disruption', 'consolidateAfter') !== undefined &&
          textAt(object, 'spec', 'disruption', 'consolidateAfter') !== 'Never' &&
          textAt(object, 'spec', 'disruption', 'consolidationPolicy') !== 'WhenEmpty',
      );
    if (pools.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${pools.map(({ name }) => `NodePool ${name}`).join(', ')}: v1beta1 refuses consolidateAfter with the policy WhenUnderutilized.`,
        objects: refsOf(pools),
        evidence: pools.map((pool) =>
          fieldItem(
            pool,
            'spec.disruption.consolidateAfter',
            textAt(pool.object, 'spec', 'disruption', 'consolidateAfter'),
          ),
        ),
        fix: pools.map(
          ({ name }) =>
            `kubectl get nodepool ${name} -o yaml | kerf convert -f -  # apply what it prints: in v1 both are allowed`,
        ),
      },
    ];
  },
};

function found(sightings: readonly Sighting[], isRequired: boolean): Found {
  return foundIn(sightings, {
    summary: isRequired
      ? 'spec.disruption is written without consolidateAfter, which v1 requires there.'
      : 'v1beta1 allows consolidateAfter only with consolidationPolicy WhenEmpty.',
    fix: [
      'On v1: write spec.disruption.consolidateAfter beside the policy, for instance consolidateAfter: 1m.',
      'Best: move the NodePool to karpenter.sh/v1 (kerf convert -f <the manifest>), where consolidateAfter goes with every policy.',
      'On v1beta1: remove spec.disruption.consolidateAfter, or write consolidationPolicy: WhenEmpty.',
    ],
  });
}
