// Manifests and stored objects of API versions that newer releases no longer serve.

import type { Evidence } from '../../evidence.ts';
import { controllerDeployments, releaseOf } from '../../facts.ts';
import type { Failure, Found, Sighting } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { allCaught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { manifestInText } from '../../named-in-text.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import type { Stored } from '../../objects.ts';

const definitions = ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh', 'ec2nodeclasses.karpenter.k8s.aws'];

const oldKinds = ['Provisioner', 'AWSNodeTemplate', 'Machine'];

export const removedApiVersion: Failure = {
  id: 'crd/removed-api-version',
  severity: 'high',
  symptom:
    '`no matches for kind "NodePool" in version "karpenter.sh/v1beta1"`, or schema errors when old manifests are applied.',
  cause:
    'v1beta1 was served last by 1.0.x, and Provisioner, AWSNodeTemplate and Machine ended with 0.32; the manifest is older than the definitions in the cluster',
  fix: 'Rewrite to `karpenter.sh/v1` and `karpenter.k8s.aws/v1`: `kerf convert -f old.yaml` prints the manifest as v1.',
  needs: [anyOf(texts('cli'), kinds('NodePool'))],
  signs: [
    {
      words: ['no matches for kind', 'not recognized', 'the server doesn', 'could not find the requested resource'],
      pattern:
        /no matches for kind "(?<kind>NodePool|NodeClaim|EC2NodeClass|Provisioner|AWSNodeTemplate|Machine)" in version "(?<version>karpenter\.(?:sh|k8s\.aws)\/v1(?:alpha|beta)\d)"/i,
    },
    // Objects stored as v1beta1 under definitions that no longer have it.
    {
      words: ['storedversions', 'invalid group/version'],
      pattern:
        /"(?<crd>[\w-]+\.karpenter\.(?:sh|k8s\.aws))" is invalid:.{0,300}status\.storedVersions\[\d+\]: Invalid value: "(?<stored>v1(?:alpha|beta)\d)"|request to convert CR from an invalid group\/version: (?<version>karpenter\.(?:sh|k8s\.aws)\/v1(?:alpha|beta)\d)/i,
    },
    {
      words: ['could not find version'],
      pattern:
        /could not find version "(?<version>v1(?:alpha|beta)\d)" of karpenter\.(?:sh|k8s\.aws)\/(?<kind>\w+) for requested resource/i,
    },
    {
      words: ["isn't valid for cluster"],
      pattern:
        /resource \[(?<version>karpenter\.(?:sh|k8s\.aws)\/v1(?:alpha|beta)\d)\/(?<kind>\w+)\] isn't valid for cluster/i,
    },
    {
      words: ['resource type'],
      pattern: /the server doesn't have a resource type "(?<kind>provisioners?|awsnodetemplates?)"/i,
    },
    {
      words: [
        'karpenter.sh/v1beta1',
        'karpenter.k8s.aws/v1beta1',
        'karpenter.sh/v1alpha5',
        'karpenter.k8s.aws/v1alpha1',
      ],
      pattern:
        /(?<version>karpenter\.(?:sh|k8s\.aws)\/v1(?:alpha|beta)\d)\b.{0,120}(?:not (?:served|supported|available)|no longer|could not find the requested resource|API did not recognize|cannot be found|not found in (?:the )?(?:cluster|API))/i,
      unless: /conversion webhook/i,
    },
    {
      words: ['could not find the requested resource'],
      pattern:
        /the server could not find the requested resource.{0,300}apiVersion: ?(?<version>karpenter\.(?:sh|k8s\.aws)\/v1(?:alpha|beta)\d)\b(?:.{0,20}kind: ?(?<kind>\w+))?/i,
      where: ['cli', 'asked'],
    },
  ],
  fromText(sightings) {
    const versions = [...new Set(allCaught(sightings, 'version'))];
    const seen = [...new Set(allCaught(sightings, 'kind'))];
    const stored = sightings.filter(({ around }) => /storedVersions|request to convert CR/.test(around));
    if (stored.length > 0) return [foundIn(sightings, storedAsOld(stored))];
    return [
      foundIn(sightings, {
        summary: `${seen.join(', ') || 'The manifest'}${versions.length > 0 ? ` of ${versions.join(', ')}` : ''} is not served by this cluster any more.`,
        fix: fixLines(manifestInText(sightings)),
      }),
    ];
  },
  check(evidence): Found[] {
    const { objects } = evidence;
    const left = oldKinds.flatMap((kind) => objects.of(kind));
    const release = releaseOf(evidence);
    // 0.32 was the last release that read them.
    const isNew = controllerDeployments(evidence).length > 0 && (isV1(evidence) || (release ?? 0) >= 33);
    // Up to 1.0 this is the API of the release.
    const isOwnApi = release !== undefined && release < 101;
    const old = isOwnApi
      ? []
      : ['NodePool', 'NodeClaim', 'EC2NodeClass'].flatMap((kind) => objects.of(kind)).filter(isAppliedOld);
    const found = [...(isNew || objects.of('NodePool').length > 0 ? left : []), ...old];
    if (found.length === 0) return [];
    return [
      {
        confidence: old.length > 0 ? 'likely' : 'certain',
        summary: `${found.length === 1 ? 'An object' : `${found.length} objects`} of an API that this release does not read: ${found
          .slice(0, 3)
          .map(({ kind, name }) => `${kind} ${name}`)
          .join(', ')}. Nothing acts on them.`,
        objects: refsOf(found),
        evidence: found.slice(0, 5).map((one) => fieldItem(one, 'apiVersion', textAt(one.object, 'apiVersion'))),
        fix: [
          ...found
            .slice(0, 3)
            .map(({ kind, name }) => `kubectl get ${kind.toLowerCase()} ${name} -o yaml | kerf convert -f -`),
          'Apply what it prints, check that the NodePool is Ready, then delete the old object.',
        ],
        // Without a pool that is read, they are why there is none.
        explains: objects.of('NodePool').some((one) => !isAppliedOld(one)) ? [] : ['scheduling/no-usable-nodepool'],
      },
    ];
  },
};

const fixLines = (file: string): string[] => [
  `kerf convert -f ${file} > v1.yaml, then: kubectl apply -f v1.yaml`,
  'v1 needs nodeClassRef.group and kind, amiSelectorTerms, and has expireAfter under spec.template.spec.',
];

const isV1 = ({ objects }: Evidence): boolean =>
  objects.of('NodePool').some(({ object }) => textAt(object, 'apiVersion') === 'karpenter.sh/v1');

/** Served as v1beta1 still: read from a cluster in the middle of a migration. */
const isAppliedOld = ({ object }: Stored): boolean => /\/v1(alpha|beta)\d$/.test(textAt(object, 'apiVersion'));

/** Definitions of 1.1 and later cannot read what is stored in an older version. */
function storedAsOld(sightings: readonly Sighting[]): { summary: string; fix: string[] } {
  const named = allCaught(sightings, 'crd');
  const crds = named.length > 0 ? named : definitions;
  return {
    summary: `Objects are still stored as v1beta1, which the definitions of 1.1 and later do not have${named.length > 0 ? `: ${named.join(', ')}` : ''}.`,
    fix: [
      'Run a controller and definitions of 1.0.x first: it rewrites every stored object as v1 (annotation karpenter.sh/stored-version-migrated on each).',
      ...crds.map(
        (crd) =>
          `kubectl patch crd ${crd} --subresource=status --type=merge -p '{"status":{"storedVersions":["v1"]}}'  # only when every object of it carries that annotation`,
      ),
    ],
  };
}
