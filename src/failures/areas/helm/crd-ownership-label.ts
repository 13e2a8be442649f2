// Definitions that Helm did not create are not taken over by a release.
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';
import { annotationFix, definitionsIn, labelFix, otherOwner, releaseIn } from './ownership.ts';

export const crdOwnershipLabel: Failure = {
  id: 'helm/crd-ownership-label',
  severity: 'medium',
  symptom:
    '`invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"`.',
  cause:
    'The definitions were created by the controller chart, by kubectl or by another tool, so that Helm does not count them as its own',
  fix: '`kubectl label crd ec2nodeclasses.karpenter.k8s.aws nodepools.karpenter.sh nodeclaims.karpenter.sh nodeoverlays.karpenter.sh app.kubernetes.io/managed-by=Helm --overwrite` (also the CapacityBuffer definition from 1.14), and the two annotations of the release. Never delete the definitions: that deletes every NodePool and node.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['label validation error'],
      pattern:
        /(?:CustomResourceDefinition "(?<crd>[\w.-]+)".{0,240})?label validation error:? (?:missing key|key) "app\.kubernetes\.io\/managed-by"/i,
      unless: otherOwner,
    },
  ],
  fromText(sightings, evidence) {
    const crds = definitionsIn(sightings, evidence);
    return [
      foundIn(sightings, {
        summary: `Helm does not take over ${crds.join(', ')}: the label app.kubernetes.io/managed-by=Helm is missing.`,
        fix: [
          labelFix(crds),
          annotationFix(crds, releaseIn(sightings, evidence)),
          'Do not delete the definitions: every NodePool, NodeClaim and node class would go with them.',
        ],
      }),
    ];
  },
};
