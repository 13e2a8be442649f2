// Definitions carry the name and namespace of the release they belong to; those of another release are not taken over.
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';
import { annotationFix, definitionsIn, otherOwner, releaseIn } from './ownership.ts';

export const crdOwnershipAnnotation: Failure = {
  id: 'helm/crd-ownership-annotation',
  severity: 'medium',
  symptom: '`annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "karpenter"`.',
  cause:
    'The definitions were created outside this release: the annotations that name their release are missing or name another one',
  fix: '`kubectl annotate crd … meta.helm.sh/release-name=karpenter-crd meta.helm.sh/release-namespace="$NS" --overwrite`, with the namespace the release is really in.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['annotation validation error'],
      pattern:
        /(?:CustomResourceDefinition "(?<crd>[\w.-]+)".{0,400})?annotation validation error:? (?:missing key|key) "meta\.helm\.sh\/release-name(?:space)?"/i,
      unless: otherOwner,
    },
  ],
  fromText(sightings, evidence) {
    const crds = definitionsIn(sightings, evidence);
    const release = releaseIn(sightings, evidence);
    return [
      foundIn(sightings, {
        summary: `Helm does not take over ${crds.join(', ')}: their annotations do not name the release ${release.name} in ${release.namespace}.`,
        fix: [annotationFix(crds, release)],
      }),
    ];
  },
};
