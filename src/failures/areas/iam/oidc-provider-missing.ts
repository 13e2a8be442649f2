// IAM does not know the cluster as an identity provider, so no token of it is worth anything there.
import { controllerIdentity, describedRole, issuerOf } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { aroundOf, foundIn } from '../../found.ts';
import { coversAction, statementsOf } from '../../iam-policy.ts';
import { answer } from '../../needs.ts';
import { refOf } from '../../objects.ts';

export const oidcProviderMissing: Failure = {
  id: 'iam/oidc-provider-missing',
  severity: 'critical',
  symptom: 'The controller may not assume its role although the subject in the trust policy is right.',
  cause: "The cluster's OIDC provider is not registered in IAM, or the trust policy names that of another cluster",
  fix: '`eksctl utils associate-iam-oidc-provider --cluster "$CLUSTER" --approve`; correct the provider in the trust policy.',
  needs: [answer('iam-list-open-id-connect-providers'), answer('eks-describe-cluster')],
  signs: [
    {
      words: ['no openidconnect provider found', 'invalididentitytoken', 'openidconnect provider'],
      pattern:
        /No OpenIDConnect provider found in your account|InvalidIdentityToken(?!.{0,80}(?:expired|ExpiredToken))|Couldn't retrieve verification key from your identity provider/i,
      unless: /Token is expired/i,
      where: ['log', 'object', 'asked'],
      until: ['controllerStarted'],
    },
  ],
  fromText(sightings, evidence) {
    const issuer = aroundOf(sightings, /https:\/\/(oidc\.eks\.[\w.-]+\/id\/[A-Z0-9]+)/i);
    return [
      foundIn(sightings, {
        summary: `IAM has no identity provider for the cluster's issuer${issuer === undefined ? '' : ` ${issuer}`}.`,
        fix: fixFor(evidence),
      }),
    ];
  },
  check(evidence): Found[] {
    const issuer = issuerOf(evidence);
    const identity = controllerIdentity(evidence);
    // With Pod Identity no one needs the provider.
    if (issuer === undefined || identity === undefined || identity.roleArn === '') return [];
    const role = describedRole(evidence, identity.roleArn);
    const trusted = statementsOf(role?.trust)
      .filter((one) => coversAction(one, 'sts:AssumeRoleWithWebIdentity'))
      .map((one) => textAt(one, 'Principal', 'Federated').split('oidc-provider/')[1] ?? '');
    const isForeign = trusted.length > 0 && trusted.every((one) => one !== '' && one !== issuer);
    const listed = evidence.aws.items('iam-list-open-id-connect-providers');
    const isListed = listed.some(({ item }) => textAt(item, 'Arn').endsWith(issuer));
    const isAbsent = evidence.aws.of('iam-list-open-id-connect-providers').length > 0 && !isListed;
    if (!isAbsent && !isForeign) return [];
    return [
      {
        confidence: 'certain',
        summary: isAbsent
          ? `IAM has no identity provider for the issuer of the cluster (${issuer}), so the controller's token is refused.`
          : `The role ${role?.role ?? ''} trusts the identity provider ${trusted[0]}, but the issuer of this cluster is ${issuer}.`,
        objects: [refOf(identity.workload)],
        evidence: [
          ...(isAbsent
            ? [
                {
                  source: evidence.aws.of('iam-list-open-id-connect-providers')[0]?.source ?? '',
                  text: `no entry for ${issuer}; there are: ${listed.map(({ item }) => textAt(item, 'Arn')).join(', ') || 'none'}`,
                },
              ]
            : [{ source: role?.source ?? '', text: `Principal.Federated: ${trusted.join(', ')}` }]),
          ...evidence.aws
            .of('eks-describe-cluster')
            .map(({ source }) => ({ source, text: `identity.oidc.issuer: https://${issuer}` })),
        ],
        fix: fixFor(evidence),
      },
    ];
  },
  // The same refusal shows in the log whichever of the two is wrong.
  explains: ['iam/irsa-trust-subject-mismatch'],
};

const fixFor = (evidence: Evidence): string[] => [
  `eksctl utils associate-iam-oidc-provider --cluster ${clusterName(evidence)} --approve`,
  "Then check that Principal.Federated and the condition keys of the controller role's trust policy name the issuer of this cluster.",
];
