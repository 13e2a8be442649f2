// The role's trust policy names another namespace or service account than the one the controller runs as.
import { controllerIdentity, describedRole } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { aroundOf, foundIn } from '../../found.ts';
import { conditionValues, coversAction, isAllow, matches, statementsOf } from '../../iam-policy.ts';
import { answer, kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

export const irsaTrustSubjectMismatch: Failure = {
  id: 'iam/irsa-trust-subject-mismatch',
  severity: 'critical',
  symptom: 'CrashLoopBackOff with `AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity`.',
  cause: "The trust policy of the controller's role names another namespace or service account",
  fix: 'Update the trust policy: `sub` = `system:serviceaccount:<namespace>:<service account>` and `aud` = `sts.amazonaws.com`; or install in the namespace that the policy names.',
  needs: [kinds('ServiceAccount', 'Deployment'), answer('iam-get-role')],
  signs: [
    {
      words: ['assumerolewithwebidentity'],
      pattern:
        /(?:AccessDenied|not authorized|403)\b.{0,160}sts:AssumeRoleWithWebIdentity|AssumeRoleWithWebIdentity.{0,200}(?:AccessDenied|Not authorized to perform)/i,
      unless: /No OpenIDConnect provider|InvalidIdentityToken|i\/o timeout|An error occurred \(/i,
      confidence: 'likely',
      where: ['log', 'object', 'asked'],
      until: ['controllerStarted'],
      ownLog: true,
    },
    // The aws command and other SDKs say it so; pipelines and other pods do too, so the text must speak of the autoscaler.
    {
      words: ['assumerolewithwebidentity'],
      pattern: /An error occurred \(AccessDenied\) when calling the AssumeRoleWithWebIdentity operation/i,
      confidence: 'likely',
      where: ['log', 'asked'],
      until: ['controllerStarted'],
      beside: 'autoscaler',
    },
  ],
  fromText(sightings, evidence) {
    const identity = controllerIdentity(evidence);
    const role = aroundOf(sightings, /(arn:aws[\w-]*:iam::\d+:role\/[\w+=,.@/-]+)/) ?? identity?.roleArn;
    return [
      foundIn(sightings, {
        summary: `AWS does not let the controller assume its role${role ? ` ${role}` : ''}: most often the trust policy names another namespace or service account.`,
        fix: fixFor(evidence, role ?? '', identity?.namespace ?? 'kube-system', identity?.account ?? 'karpenter'),
      }),
    ];
  },
  check(evidence): Found[] {
    const identity = controllerIdentity(evidence);
    if (identity === undefined || identity.roleArn === '') return [];
    const role = describedRole(evidence, identity.roleArn);
    if (role?.trust === undefined) return [];
    const statements = statementsOf(role.trust).filter(
      (one) => isAllow(one) && coversAction(one, 'sts:AssumeRoleWithWebIdentity'),
    );
    const subjects = statements.flatMap((one) => conditionValues(one, ':sub'));
    const isOpen = statements.some((one) => conditionValues(one, ':sub').length === 0);
    if (isOpen || subjects.some((subject) => matches(subject, identity.subject))) return [];
    const named = subjects.length === 0 ? 'no service account at all' : subjects.join(', ');
    return [
      {
        confidence: 'certain',
        summary: `The controller runs as ${identity.subject}, but its role ${role.role} trusts ${named}.`,
        objects: [refOf(identity.workload)],
        evidence: [
          { source: role.source, text: `trust policy of ${role.role}: sub = ${named}` },
          {
            source: identity.serviceAccount?.source ?? identity.workload.source,
            text: `ServiceAccount ${identity.namespace}/${identity.account}: eks.amazonaws.com/role-arn: ${identity.roleArn}`,
          },
        ],
        fix: fixFor(evidence, identity.roleArn, identity.namespace, identity.account),
      },
    ];
  },
};

function fixFor(evidence: Evidence, roleArn: string, namespace: string, account: string): string[] {
  const role = roleArn.split('/').at(-1) || '"$CONTROLLER_ROLE"';
  const described = describedRole(evidence, roleArn);
  const statement = statementsOf(described?.trust).find((one) => coversAction(one, 'sts:AssumeRoleWithWebIdentity'));
  const provider = textAt(statement, 'Principal', 'Federated') || 'arn:aws:iam::$ACCOUNT:oidc-provider/$ISSUER';
  const issuer = provider.split('oidc-provider/')[1] ?? '$ISSUER';
  const trust = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Federated: provider },
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: {
            [`${issuer}:sub`]: `system:serviceaccount:${namespace}:${account}`,
            [`${issuer}:aud`]: 'sts.amazonaws.com',
          },
        },
      },
    ],
  };
  return [
    `aws iam update-assume-role-policy --role-name ${role} --policy-document '${JSON.stringify(trust)}'`,
    `kubectl -n ${namespace} rollout restart deployment karpenter`,
  ];
}
