// The garbage collector lists every kind; one kind whose conversion does not answer stops it for the whole cluster.
import type { Failure, Found } from '../../failure.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds } from '../../needs.ts';
import { conversionFix, conversionTargets, stateOf } from './conversion.ts';

export const conversionWebhookBlocksGarbageCollection: Failure = {
  id: 'crd/conversion-webhook-blocks-garbage-collection',
  severity: 'critical',
  symptom: 'After an upgrade, deleting a Deployment no longer deletes its pods, anywhere in the cluster.',
  cause:
    'The garbage collector must list every kind, and the conversion webhook of one kind has no endpoints, which stops it for all',
  fix: 'Bring the endpoints of the webhook back, or install the current definitions without conversion. Deleting the definitions instead drains every node.',
  needs: [kinds('CustomResourceDefinition', 'Service'), anyOf(kinds('Endpoints'), kinds('EndpointSlice'))],
  signs: [
    {
      words: ['conversion webhook for karpenter'],
      pattern:
        /(?:garbage|graph_builder|kube-controller-manager|resource_quota|namespace_controller|unable to sync|failed to list|reflector)\b.{0,400}conversion webhook for karpenter\.(?:sh|k8s\.aws)\/\w+, Kind=\w+ failed|conversion webhook for karpenter\.(?:sh|k8s\.aws)\/\w+, Kind=\w+ failed.{0,250}no endpoints available for service/i,
      where: ['log', 'asked', 'node'],
    },
    {
      words: ['garbage collector', 'garbagecollector'],
      pattern:
        /(?:unable to sync caches for garbage collector|garbagecollector\.go.{0,200}(?:timed out|unable to sync)).{0,400}karpenter/i,
    },
  ],
  fromText(sightings, evidence) {
    const crds = conversionTargets(evidence).map(({ crd }) => crd);
    return [
      foundIn(sightings, {
        summary:
          'The garbage collector of the cluster is stopped: the conversion webhook of a Karpenter kind has no endpoints, so deleted owners leave their pods behind.',
        fix: [
          'kubectl -n kube-system rollout status deployment/karpenter  # its pods are the endpoints, up to 1.0.x',
          ...conversionFix(evidence, crds),
        ],
      }),
    ];
  },
  check(evidence): Found[] {
    const dead = conversionTargets(evidence).filter((target) => stateOf(target, evidence) === 'no endpoints');
    if (dead.length === 0) return [];
    const crds = dead.map(({ crd }) => crd);
    const [first] = dead;
    return [
      {
        confidence: 'certain',
        summary: `No pod is behind ${first?.namespace}/${first?.service}, the conversion webhook of ${crds.map(({ name }) => name).join(', ')}: these kinds cannot be listed, and garbage collection stops for the whole cluster.`,
        objects: refsOf(crds),
        evidence: dead.map(({ crd, namespace, service, port }) =>
          fieldItem(
            crd,
            'spec.conversion.webhook.clientConfig.service',
            `${namespace}/${service}:${port} (no endpoints)`,
          ),
        ),
        fix: [
          `kubectl -n ${first?.namespace} get pods  # the endpoints are the controller's pods, up to 1.0.x`,
          ...conversionFix(evidence, crds),
        ],
      },
    ];
  },
};
