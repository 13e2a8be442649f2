// A field that the installed definition does not know: misspelt, moved, or newer than the definition.

import type { Failure } from '../../failure.ts';
import { allCaught, foundIn } from '../../found.ts';
import { manifestInText } from '../../named-in-text.ts';
import { texts } from '../../needs.ts';

/** Where fields of older APIs went. */
const moved: Readonly<Record<string, string>> = {
  subnetSelector: 'spec.subnetSelectorTerms: [{tags: {karpenter.sh/discovery: <cluster>}}]',
  securityGroupSelector: 'spec.securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: <cluster>}}]',
  amiSelector: 'spec.amiSelectorTerms',
  launchTemplate: 'fields of the EC2NodeClass; custom launch templates ended with v1beta1',
  ttlSecondsAfterEmpty: 'spec.disruption.consolidationPolicy: WhenEmpty with consolidateAfter',
  ttlSecondsUntilExpired: 'spec.template.spec.expireAfter',
  expireAfter: 'spec.template.spec.expireAfter',
  kubelet: 'EC2NodeClass spec.kubelet',
  kubeletConfiguration: 'EC2NodeClass spec.kubelet',
  affinity: 'spec.template.spec.requirements; pod affinity belongs to pods',
  provider: 'an EC2NodeClass named in nodeClassRef',
  providerRef: 'spec.template.spec.nodeClassRef',
};

export const unknownField: Failure = {
  id: 'crd/unknown-field',
  severity: 'high',
  symptom:
    '`strict decoding error: unknown field "spec.template.spec.nodeClassRef.foo"` when a NodePool or node class is applied.',
  cause: 'The field is misspelt, has moved, or is newer than the definitions in the cluster',
  fix: 'If the field exists in the documentation of the release, upgrade the definitions (chart karpenter-crd); otherwise correct or remove it. `kerf validate -f` names the nearest field.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['unknown field'],
      pattern:
        /\b(?:NodePool|EC2NodeClass|NodeClaim|Provisioner|AWSNodeTemplate|NodeOverlay|karpenter\.(?:sh|k8s\.aws))\b.{0,300}unknown field "(?<field>[^"]+)"|unknown field "(?<field2>[^"]+)".{0,200}\b(?:NodePool|EC2NodeClass|NodeClaim|karpenter\.(?:sh|k8s\.aws))\b|ValidationError\((?:NodePool|EC2NodeClass|Provisioner|AWSNodeTemplate)[\w.]*\): unknown field "(?<field3>[^"]+)" in [\w.]*karpenter/,
      // The reference to the node class has an entry of its own.
      unless: /nodeClassRef\.apiVersion"/i,
    },
    {
      words: ['field not declared in schema'],
      pattern:
        /\.spec\.(?<field>[\w.[\]]+): field not declared in schema.{0,200}|karpenter.{0,200}field not declared in schema/i,
      unless: /(?:Deployment|StatefulSet|Service|Ingress)\b/,
    },
  ],
  fromText(sightings) {
    const fields = [
      ...allCaught(sightings, 'field'),
      ...allCaught(sightings, 'field2'),
      ...allCaught(sightings, 'field3'),
    ];
    const [first = 'the field'] = fields;
    const last = first.split('.').at(-1) ?? first;
    const target = moved[last];
    return [
      foundIn(sightings, {
        summary: `The installed definitions do not know ${fields.join(', ') || 'a field'}${target === undefined ? '' : `; it is now ${target}`}.`,
        fix: [
          target === undefined
            ? `Correct or remove ${first}; kerf validate -f ${manifestInText(sightings)} names the nearest field that exists.`
            : `Write ${target} instead of ${first}.`,
          'If the field belongs to your release, its definitions are older: helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd --version "$VERSION" --namespace kube-system',
        ],
      }),
    ];
  },
};
