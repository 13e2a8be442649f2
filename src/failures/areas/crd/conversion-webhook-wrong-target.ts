// Definitions left over from 0.33 to 1.0 ask a webhook that this installation does not run; even reading fails then.
import type { Failure, Found } from '../../failure.ts';
import { listAt } from '../../fields.ts';
import { allCaught, caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conversionFix, conversionTargets, stateOf, type TargetState } from './conversion.ts';

const says: Readonly<Record<TargetState, string>> = {
  unknown: '',
  ok: '',
  'no service': 'that Service does not exist',
  'no port': 'the Service does not have that port',
  'no endpoints': 'no pod is behind that Service',
};

export const conversionWebhookWrongTarget: Failure = {
  id: 'crd/conversion-webhook-wrong-target',
  severity: 'critical',
  symptom:
    '`conversion webhook for karpenter.sh/v1beta1, Kind=NodeClaim failed: Post "https://karpenter.kube-system.svc:8443/…": service "karpenter" not found`; even `kubectl get nodeclaims` fails.',
  cause:
    'A definition left over from 0.33 to 1.0 points at a conversion webhook that this installation does not run: another namespace or port, or a release from 1.1 on, which has none',
  fix: 'Install the definitions of the running release, which have no conversion stanza; migrate stored v1beta1 objects first. Never delete the definitions.',
  needs: [kinds('CustomResourceDefinition', 'Service')],
  signs: [
    {
      words: ['conversion webhook for karpenter'],
      pattern:
        /conversion webhook for karpenter\.(?:sh|k8s\.aws)\/\w+, Kind=(?<kind>\w+) failed: Post "?https:\/\/(?<service>[\w-]+)\.(?<namespace>[\w-]+)\.svc(?::(?<port>\d+))?[^"\s]*"?: ?(?:service "[^"]+" not found|no service port|dial tcp|context deadline|.{0,40}(?:connection refused|i\/o timeout|not found|x509|EOF|no route))/i,
    },
    {
      words: ['conversion webhook for karpenter'],
      pattern: /conversion webhook for karpenter\.(?:sh|k8s\.aws)\/\w+, Kind=(?<kind>\w+) failed/i,
      unless: /no endpoints available/i,
    },
    {
      words: ['conversion webhook for karpenter'],
      pattern:
        /conversion webhook for karpenter\.(?:sh|k8s\.aws)\/\w+, Kind=(?<kind>\w+) failed.{0,200}no endpoints available/i,
      unless:
        /garbage|graph_builder|kube-controller-manager|resource_quota|namespace_controller|syncing|unable to sync/i,
      where: ['cli', 'object'],
    },
  ],
  fromText(sightings, evidence) {
    const target = `${caught(sightings, 'service') ?? 'karpenter'}.${caught(sightings, 'namespace') ?? 'kube-system'}`;
    const crds = conversionTargets(evidence).map(({ crd }) => crd);
    return [
      foundIn(sightings, {
        summary: `Objects of ${allCaught(sightings, 'kind').join(', ')} cannot be read: their definition asks a conversion webhook at ${target}, which does not answer.`,
        fix: conversionFix(evidence, crds),
      }),
    ];
  },
  check(evidence): Found[] {
    const broken = conversionTargets(evidence).flatMap((target) => {
      const state = stateOf(target, evidence);
      return state === 'no service' || state === 'no port' ? [{ target, state }] : [];
    });
    if (broken.length === 0) return [];
    const [first] = broken;
    const crds = broken.map(({ target }) => target.crd);
    return [
      {
        confidence: 'certain',
        summary: `${crds.map(({ name }) => name).join(', ')}: the conversion webhook is ${first?.target.namespace}/${first?.target.service}:${first?.target.port}, and ${says[first?.state ?? 'no service']}.`,
        objects: refsOf(crds),
        evidence: broken.flatMap(({ target, state }) => [
          fieldItem(
            target.crd,
            'spec.conversion.webhook.clientConfig.service',
            `${target.namespace}/${target.service}:${target.port} (${says[state]})`,
          ),
          fieldItem(
            target.crd,
            'status.storedVersions',
            listAt(target.crd.object, 'status', 'storedVersions').join(', '),
          ),
        ]),
        fix: conversionFix(evidence, crds),
      },
    ];
  },
  explains: [
    'crd/conversion-webhook-blocks-garbage-collection',
    'crd/nodepool-not-ready-because-nodeclass',
    'scheduling/no-usable-nodepool',
    'startup/crd-missing-or-mismatched',
  ],
};
