// EC2 hands out the credentials of a role only if the role trusts EC2.

import { describedRole } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import { nodeRoles, regionOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textsAt } from '../../fields.ts';
import { aroundOf, foundIn, refsOf } from '../../found.ts';
import { coversAction, isAllow, statementsOf } from '../../iam-policy.ts';
import { answer, kinds } from '../../needs.ts';
import { incompleteProfiles } from './node-profiles.ts';

export const nodeRoleTrustWrong: Failure = {
  id: 'iam/node-role-trust-wrong',
  severity: 'high',
  symptom: 'Instances launch without usable credentials; the kubelet cannot authenticate.',
  cause: 'The trust policy of the node role does not name EC2: it was written for another service',
  fix: 'A trust policy that allows `sts:AssumeRole` to `ec2.amazonaws.com`.',
  needs: [kinds('EC2NodeClass'), answer('iam-get-role')],
  signs: [
    {
      words: ['assumeroleunauthorizedaccess', 'ec2 cannot assume the role'],
      pattern: /AssumeRoleUnauthorizedAccess|EC2 cannot assume the role (?<role>[\w+=,@-]+(?:\.[\w+=,@-]+)*)/i,
    },
    {
      words: ['security-credentials', 'imds', 'no iam role', 'unable to locate credentials'],
      pattern:
        /(?:kubelet|nodeadm|bootstrap|aws-iam-authenticator|pluto|cloud-init|ecr-credential-provider).{0,300}(?:no EC2 IMDS role found|security-credentials\/?.{0,40}(?:404|not found)|Unable to locate credentials|NoCredentialProviders)/i,
      where: ['node', 'asked'],
      confidence: 'likely',
      until: ['registered'],
    },
  ],
  fromText(sightings, evidence) {
    const role =
      aroundOf(sightings, /assume the role ([\w+=,@-]+(?:\.[\w+=,@-]+)*)/) ??
      nodeRoles(evidence)[0]?.role ??
      '"$NODE_ROLE"';
    return [
      foundIn(sightings, {
        summary: `Instances get no credentials: EC2 may not assume the node role ${role}, or its instance profile is empty.`,
        fix: fixFor(role, 'ec2.amazonaws.com'),
      }),
    ];
  },
  check: (evidence) => [...incompleteProfiles(evidence), ...foreignTrusts(evidence)],
  // Without credentials the API server refuses the kubelet as well.
  explainsInText: ['registration/node-role-not-mapped'],
  explains: [
    'registration/undiagnosed-timeout',
    'registration/kubelet-never-posted-status',
    'init/cni-not-initialised',
    'ami/sandbox-image-pull-stuck',
  ],
};

function foreignTrusts(evidence: Evidence): Found[] {
  return nodeRoles(evidence).flatMap(({ role, nodeClasses }): Found[] => {
    const described = describedRole(evidence, role);
    // A trust policy without statements is none that IAM would store: the answer is not whole.
    if (described?.trust === undefined || statementsOf(described.trust).length === 0) return [];
    const services = statementsOf(described.trust)
      .filter((one) => isAllow(one) && coversAction(one, 'sts:AssumeRole'))
      .flatMap((one) => textsAt(one, 'Principal', 'Service'));
    if (services.some((service) => /^ec2\.amazonaws\.com(\.cn)?$/.test(service))) return [];
    const service = regionOf(evidence).startsWith('cn-') ? 'ec2.amazonaws.com.cn' : 'ec2.amazonaws.com';
    return [
      {
        confidence: 'certain',
        summary: `The node role ${role} does not trust EC2 (it trusts ${services.join(', ') || 'no service'}), so instances get no credentials.`,
        objects: refsOf(nodeClasses),
        evidence: [
          { source: described.source, text: `trust policy of ${role}: services ${services.join(', ') || 'none'}` },
        ],
        fix: fixFor(role, service),
        key: role,
      },
    ];
  });
}

const fixFor = (role: string, service: string): string[] => [
  `aws iam update-assume-role-policy --role-name ${role} --policy-document '${JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' }] })}'`,
];
