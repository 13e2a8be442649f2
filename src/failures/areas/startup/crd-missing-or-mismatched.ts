// The controller needs its definitions in the cluster, of its own release. Helm installs a chart's `crds/` once and never
// touches them again, so upgrades leave old ones behind.
import type { Evidence } from '../../evidence.ts';
import { controllerContainer, controllerDeployments, releaseName, releaseNamespace, releaseOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { allCaught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

const neededAlways = ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh'];

export const crdMissingOrMismatched: Failure = {
  id: 'startup/crd-missing-or-mismatched',
  severity: 'critical',
  symptom:
    'CrashLoopBackOff after an upgrade: `panic: failed to setup nodeclaim provider id indexer: no matches for kind "NodeClaim"`.',
  cause:
    'The definitions are not installed or come from another release; Helm installs those in a chart only once and never upgrades them',
  fix: '`helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd --version "$VERSION" -n kube-system`, then the controller chart of the same version.',
  needs: [kinds('CustomResourceDefinition', 'Deployment')],
  signs: [
    {
      words: ['no matches for kind', 'indexer', 'no kind is registered', 'could not find the requested resource'],
      pattern:
        /(?:panic|failed to (?:setup|set up|start)|indexer|unable to (?:start|create)|if kind is a CRD|failed to get informer|setting up|Reconciler|kind source)\b.{0,250}no matches for kind "(?<kind>NodeClaim|NodePool|EC2NodeClass|NodeOverlay|Machine|Provisioner|AWSNodeTemplate|CapacityBuffer)"|no matches for kind "(?<kind2>NodeClaim|NodePool|EC2NodeClass|NodeOverlay|CapacityBuffer)".{0,200}(?:if kind is a CRD|indexer|kind source|panic|goroutine)/i,
      unless: /resource mapping not found|ensure CRDs are installed first|unable to recognize/i,
      where: ['log', 'object', 'asked'],
      until: ['launched'],
    },
    {
      words: ['the server could not find the requested resource'],
      pattern:
        /(?:failed to list|failed to watch|Failed to watch) \*?v1\w*\.(?<kind>NodeClaim|NodePool|EC2NodeClass|NodeOverlay|Provisioner|Machine)\b.{0,200}the server could not find the requested resource/i,
      where: ['log', 'object', 'asked'],
      until: ['launched'],
      atLeast: 2,
    },
    {
      words: ['complete list of server apis'],
      pattern:
        /(?:panic|indexer|setting up|unable to (?:start|create)|setup).{0,250}unable to retrieve the complete list of server APIs: karpenter\.(?:sh|k8s\.aws)\/v1\w*: the server could not find the requested resource/i,
      where: ['log', 'object', 'asked'],
      until: ['launched'],
    },
    {
      words: ['could not find the requested resource (get '],
      pattern:
        /the server could not find the requested resource \(get (?<crd>(?:nodeclaims|nodepools|nodeoverlays)\.karpenter\.sh|ec2nodeclasses\.karpenter\.k8s\.aws|capacitybuffers\.autoscaling\.x-k8s\.io)\)/i,
      where: ['asked'],
      confidence: 'likely',
    },
    // A manifest of today, and a cluster without its definition.
    {
      words: ['no matches for kind'],
      pattern:
        /no matches for kind "(?<kind>NodePool|NodeClaim|EC2NodeClass)" in version "karpenter\.(?:sh|k8s\.aws)\/v1"|no matches for kind "(?<kind2>NodeOverlay)" in version "karpenter\.sh\/v1alpha1"/i,
      where: ['cli', 'asked'],
      confidence: 'likely',
    },
    // A controller of 0.33 to 1.0 with a webhook, and definitions of a release without one.
    {
      words: ['configured for webhook conversion'],
      pattern: /custom resource "(?<crd>[\w.]*karpenter\.(?:sh|k8s\.aws))" isn't configured for webhook conversion/i,
    },
  ],
  fromText(sightings, evidence) {
    const missing = [...allCaught(sightings, 'kind'), ...allCaught(sightings, 'kind2')];
    const names = missing.length === 0 ? 'a definition' : `the definition of ${missing.join(', ')}`;
    return [
      foundIn(sightings, {
        summary: `${sightings.every(({ sign }) => sign.confidence === 'likely') ? 'Objects cannot be applied' : 'The controller cannot start'}: ${names} is missing in the cluster or lacks the version that this release serves.`,
        fix: fixFor(evidence),
      }),
    ];
  },
  check(evidence): Found[] {
    const deployment = controllerDeployments(evidence)[0];
    const { objects } = evidence;
    if (deployment === undefined || !objects.isCollected('CustomResourceDefinition')) return [];
    const release = releaseOf(evidence);
    // Before 0.32 there were other kinds.
    if (release !== undefined && release < 32) return [];
    const missing = isWholeListing(evidence)
      ? neededAlways.filter((name) => objects.find('CustomResourceDefinition', name) === undefined)
      : [];
    const unserved = objects.of('CustomResourceDefinition').filter(({ name, object }) => {
      if (!neededAlways.includes(name) && name !== 'ec2nodeclasses.karpenter.k8s.aws') return false;
      const needed = release === undefined || release >= 100 ? 'v1' : 'v1beta1';
      return !listAt(object, 'spec', 'versions').some(
        (version) => textAt(version, 'name') === needed && textAt(version, 'served') !== 'false',
      );
    });
    if (missing.length === 0 && unserved.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary:
          missing.length > 0
            ? `The cluster lacks ${missing.join(' and ')}, which the controller needs to start.`
            : `${unserved.map(({ name }) => name).join(', ')}: the installed definition does not serve the version that the controller reads.`,
        objects: [refOf(deployment), ...refsOf(unserved)],
        evidence: [
          fieldItem(deployment, 'image', textAt(controllerContainer(deployment), 'image')),
          ...unserved.map((crd) =>
            fieldItem(
              crd,
              'spec.versions',
              listAt(crd.object, 'spec', 'versions')
                .map((version) => textAt(version, 'name'))
                .join(', '),
            ),
          ),
          ...missing.map((name) => ({ source: deployment.source, text: `CustomResourceDefinition ${name} is absent` })),
        ],
        fix: fixFor(evidence),
      },
    ];
  },
  explains: ['scheduling/no-usable-nodepool', 'crd/removed-api-version'],
};

/** One of the autoscaler's definitions and nothing else was asked for by name: the others are not absent. */
function isWholeListing({ objects }: Evidence): boolean {
  const all = objects.of('CustomResourceDefinition');
  return all.length !== 1 || all.every(({ name }) => !/\.karpenter\.(?:sh|k8s\.aws)$/.test(name));
}

function fixFor(evidence: Evidence): string[] {
  return [
    `helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd --version ${releaseName(evidence)} --namespace ${releaseNamespace(evidence)}`,
    'Use the version of the controller chart itself; for Kerf: kerf crds | kubectl apply --server-side -f -',
  ];
}
