// An account that never used spot has no role for it, and the controller may not create one.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt, textsAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { answer, anyOf, texts } from '../../needs.ts';
import type { Stored } from '../../objects.ts';

export const spotServiceLinkedRoleMissing: Failure = {
  id: 'iam/spot-service-linked-role-missing',
  severity: 'high',
  symptom: 'NodeClaims fail to launch with `AuthFailure.ServiceLinkedRoleCreationNotPermitted`.',
  cause: 'The account never used Spot, so its service-linked role does not exist, and the controller may not create it',
  fix: '`aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`, once per account; or leave `spot` out of `karpenter.sh/capacity-type`.',
  needs: [anyOf(texts('log', 'object'), answer('iam-get-role'))],
  signs: [
    {
      words: [
        'servicelinkedrolecreationnotpermitted',
        'spotslrcreationfailed',
        'service-linked role for ec2 spot',
        'createservicelinkedrole',
      ],
      pattern:
        /ServiceLinkedRoleCreationNotPermitted|SpotSLRCreationFailed|do(?:es)? not have permission to create the service-linked role for EC2 Spot|not authorized to perform:? iam:CreateServiceLinkedRole.{0,200}(?:spot\.amazonaws\.com|AWSServiceRoleForEC2Spot)/i,
    },
    {
      words: ['awsserviceroleforec2spot'],
      pattern: /NoSuchEntity.{0,160}AWSServiceRoleForEC2Spot\b(?!Fleet)/i,
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'Spot instances cannot be launched: the account has no service-linked role for EC2 Spot.',
      fix: fixLines,
    }),
  ],
  check(evidence): Found[] {
    const refused = evidence.aws
      .absent('iam-get-role')
      .filter(({ suffix, text }) => /AWSServiceRoleForEC2Spot\b/i.test(`${suffix} ${text}`));
    const pools = spotPools(evidence);
    if (refused.length === 0 || pools.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `The account has no service-linked role for EC2 Spot, and ${pools.map(({ name }) => `NodePool ${name}`).join(', ')} asks for spot.`,
        objects: refsOf(pools),
        evidence: [
          ...refused.map(({ source, text }) => ({ source, text })),
          ...pools.map((pool) => fieldItem(pool, 'requirement karpenter.sh/capacity-type', 'spot')),
        ],
        fix: fixLines,
      },
    ];
  },
  explains: ['scheduling/launch-rejected-by-provider'],
};

const fixLines = [
  'aws iam create-service-linked-role --aws-service-name spot.amazonaws.com',
  'Or, to do without spot: leave it out of the requirement karpenter.sh/capacity-type of the NodePool.',
];

/** Pools that name spot as a capacity type. */
export function spotPools({ objects }: Evidence): Stored[] {
  return [...objects.of('NodePool'), ...objects.of('Provisioner')].filter(({ object, kind }) => {
    const path = kind === 'NodePool' ? ['spec', 'template', 'spec', 'requirements'] : ['spec', 'requirements'];
    return listAt(object, ...path).some(
      (one) =>
        textAt(one, 'key') === 'karpenter.sh/capacity-type' &&
        textAt(one, 'operator') === 'In' &&
        textsAt(one, 'values').includes('spot'),
    );
  });
}
