// The selector matches no image. Most often: AL2 on a version of Kubernetes for which EKS publishes none.

import { imageArchitectures, poolArchitectures } from '../../architectures.ts';
import type { Evidence } from '../../evidence.ts';
import { minorVersion } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { conditionItem, fieldItem, foundIn } from '../../found.ts';
import { objectInText } from '../../named-in-text.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, refOf, type Stored } from '../../objects.ts';
import { nodeClassNameOf } from '../../relations.ts';

/** The first minor version for which EKS publishes no AL2 image. */
const firstWithoutAl2 = 33;

export const noneForClusterVersion: Failure = {
  id: 'ami/none-for-cluster-version',
  severity: 'critical',
  symptom:
    'The pool is never ready and no NodeClaims are made: AMIsReady=False, AMINotFound, `AMISelector did not match any AMIs`.',
  cause: 'The selector matches no image; EKS publishes no AL2 image for Kubernetes 1.33 and later',
  fix: '`amiSelectorTerms: [{alias: al2023@latest}]` (pin a release in production) or Bottlerocket. The cluster does not have to be recreated at an older version.',
  needs: [kinds('EC2NodeClass')],
  signs: [
    {
      words: [
        'did not match any amis',
        'aminotfound',
        'al2 aliases are no longer',
        'unsupportedalias',
        'no amis exist',
        'no amis found',
        'discover any amis',
        'discover amis for alias',
        'amisnotfoundforalias',
        'failed to resolve amis',
        'satisfy requirements of ami',
      ],
      pattern:
        /AMISelector did not match any AMIs|\bAMINotFound\b|AL2 aliases are no longer supported|\bUnsupportedAlias\b|no amis (?:exist given constraints|found|were found)|failed to discover (?:any )?AMIs\b|failed to resolve AMIs\b|\bAMIsNotFoundForAlias\b|no instance types satisfy (?:the )?requirements of amis?\b/i,
      // Without credentials nothing is found.
      unless: /get credentials:|AssumeRoleWithWebIdentity|NoCredentialProviders|UnauthorizedOperation|AccessDenied/i,
      where: ['log', 'cli', 'asked'],
      until: ['launched'],
    },
    {
      words: ['amazon-linux-2/', '/aws/service/eks/optimized-ami/'],
      pattern:
        /(?:ParameterNotFound|getting ssm parameter|resolving ami).{0,200}\/aws\/service\/eks\/optimized-ami\/1\.\d+\/amazon-linux-2[-/]/i,
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: `No image matches the selector of the node class${isPastAl2(evidence) ? ' for this version of Kubernetes' : ''}; no node can be launched from it.`,
      fix: fixFor(objectInText(sightings, 'EC2NodeClass') ?? 'default'),
    }),
  ],
  check(evidence): Found[] {
    return [...unmatched(evidence), ...poolsWithoutImage(evidence).map(withoutImage)];
  },
  explains: ['crd/nodepool-not-ready-because-nodeclass', 'scheduling/no-usable-nodepool'],
};

function unmatched(evidence: Evidence): Found[] {
  return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
    const ready = conditionOf(nodeClass.object, 'AMIsReady');
    const isAl2 = usesAl2(nodeClass) && isPastAl2(evidence);
    const isUnmatched =
      ready?.status === 'False' &&
      /AMINotFound|UnsupportedAlias|did not match any/.test(`${ready.reason} ${ready.message}`);
    if (!isUnmatched && !(isAl2 && listAt(nodeClass.object, 'status', 'amis').length === 0)) return [];
    return [
      {
        confidence: 'certain',
        summary: isAl2
          ? `EC2NodeClass ${nodeClass.name} asks for AL2 images, which EKS does not publish for Kubernetes 1.${minorVersion(evidence)}.`
          : `The image selector of EC2NodeClass ${nodeClass.name} matches no image.`,
        objects: [refOf(nodeClass)],
        evidence: [
          ...(ready === undefined ? [] : [conditionItem(nodeClass, ready)]),
          fieldItem(
            nodeClass,
            'spec.amiSelectorTerms',
            JSON.stringify(listAt(nodeClass.object, 'spec', 'amiSelectorTerms')),
          ),
        ],
        fix: fixFor(nodeClass.name),
        key: nodeClass.name,
      },
    ];
  });
}

interface WithoutImage {
  pool: Stored;
  nodeClass: Stored;
  asked: readonly string[];
  offered: readonly string[];
}

/** NodePools none of whose architectures the images of their class are for: nothing can be launched from them. */
export function poolsWithoutImage(evidence: Evidence): WithoutImage[] {
  return evidence.objects.of('NodePool').flatMap((pool): WithoutImage[] => {
    const nodeClass = evidence.objects.find('EC2NodeClass', nodeClassNameOf(pool));
    if (nodeClass === undefined) return [];
    const offered = imageArchitectures(nodeClass);
    const asked = poolArchitectures(pool, evidence);
    if (offered === undefined || asked === undefined || asked.length === 0) return [];
    return asked.some((one) => offered.includes(one)) ? [] : [{ pool, nodeClass, asked, offered }];
  });
}

function withoutImage({ pool, nodeClass, asked, offered }: WithoutImage): Found {
  const [image] = listAt(nodeClass.object, 'status', 'amis');
  return {
    confidence: 'certain',
    summary: `NodePool ${pool.name} allows only ${asked.join(', ')}, and the images of EC2NodeClass ${nodeClass.name} are for ${offered.join(', ')}: nothing can be launched from it.`,
    objects: [refOf(pool)],
    evidence: [
      fieldItem(nodeClass, 'status.amis', `${textAt(image, 'name') || textAt(image, 'id')} for ${offered.join(', ')}`),
      fieldItem(pool, 'kubernetes.io/arch', asked.join(', ')),
    ],
    fix: [
      `kubectl patch ec2nodeclass ${nodeClass.name} --type=merge -p '{"spec":{"amiSelectorTerms":[{"alias":"al2023@latest"}]}}'  # an alias has images for both architectures; pin a release in production`,
      `Or let NodePool ${pool.name} use ${offered.join(', ')}: kubernetes.io/arch In [${offered.join(', ')}].`,
    ],
    explains: ['scheduling/no-instance-type-fits'],
    key: `${nodeClass.name}/${pool.name}`,
  };
}

const isPastAl2 = (evidence: Evidence): boolean => (minorVersion(evidence) ?? 0) >= firstWithoutAl2;

function usesAl2({ object }: Stored): boolean {
  const aliases = listAt(object, 'spec', 'amiSelectorTerms').map((term) => textAt(term, 'alias'));
  return aliases.some((alias) => alias.startsWith('al2@')) || textAt(object, 'spec', 'amiFamily') === 'AL2';
}

const fixFor = (name: string): string[] => [
  `kubectl patch ec2nodeclass ${name} --type=merge -p '{"spec":{"amiFamily":null,"amiSelectorTerms":[{"alias":"al2023@latest"}]}}'  # pin a release in production`,
  'There is no need to recreate the cluster at an older version.',
];
