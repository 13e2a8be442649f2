// With Pod Identity the role comes by an association of namespace and service account, through an agent on the node.
import { controllerIdentity } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName, releaseNamespace } from '../../facts.ts';
import type { Failure, Found, Sighting } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { aroundOf, foundIn } from '../../found.ts';
import { answer, kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

export const podIdentityAssociationWrong: Failure = {
  id: 'iam/pod-identity-association-wrong',
  severity: 'critical',
  symptom: '"Unable to assume role"; the controller has no credentials.',
  cause:
    'The Pod Identity association is missing or names another namespace or service account, or its agent does not run on the node',
  fix: '`aws eks create-pod-identity-association` for the namespace and service account of the controller; install the add-on `eks-pod-identity-agent`; restart the pod.',
  needs: [kinds('ServiceAccount', 'Deployment'), answer('eks-list-pod-identity-associations')],
  signs: [
    {
      words: [
        '169.254.170.23',
        'assumeroleforpodidentity',
        'assume the associated role',
        'association found',
        'associations found',
      ],
      pattern:
        /AssumeRoleForPodIdentity.{0,200}(?:AccessDenied|ResourceNotFound|Unauthorized|not found)|EKS does not have permissions to assume the associated role|(?:failed to (?:load|refresh|retrieve) (?:cached )?credentials|credentials).{0,160}169\.254\.170\.23.{0,160}(?:connection refused|i\/o timeout|deadline exceeded|no route|404|403|400|not found)|No (?:pod identity )?associations? found/i,
      where: ['log', 'object', 'asked'],
      until: ['controllerStarted'],
    },
    {
      words: [
        'no ec2 imds role found',
        'nocredentialproviders',
        'unable to assume role',
        'no valid providers in chain',
        'ec2imds: getregion',
      ],
      // The region comes with the role: a controller that asks the machine for it was given neither.
      pattern:
        /no EC2 IMDS role found|NoCredentialProviders|no valid providers in chain|Unable to assume role|ec2imds: GetRegion\b.{0,120}(?:canceled|deadline exceeded|timeout|40[134])/i,
      unless:
        /kubelet|nodeadm|An error occurred \(|WebIdentityErr|AssumeRoleWithWebIdentity|is not authorized to perform: sts:AssumeRole on/i,
      where: ['log', 'object', 'asked'],
      confidence: 'likely',
      until: ['controllerStarted'],
      ownLog: true,
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary:
        'The controller gets no credentials: no Pod Identity association fits its namespace and service account, or the agent does not answer on its node.',
      fix: fixFor(evidence, subjectIn(sightings)),
    }),
  ],
  check(evidence): Found[] {
    const { aws, objects } = evidence;
    const identity = controllerIdentity(evidence);
    if (identity?.serviceAccount === undefined || identity.roleArn !== '') return [];
    const listed = aws.of('eks-list-pod-identity-associations');
    if (listed.length === 0) return [];
    const all = aws.items('eks-list-pod-identity-associations');
    const own = all.filter(
      ({ item }) =>
        textAt(item, 'namespace') === identity.namespace && textAt(item, 'serviceAccount') === identity.account,
    );
    const subject = `${identity.namespace}/${identity.account}`;
    const source = listed[0]?.source ?? '';
    if (own.length === 0) {
      const near = all
        .map(({ item }) => `${textAt(item, 'namespace')}/${textAt(item, 'serviceAccount')}`)
        .filter((one) => /karpenter|kerf/.test(one));
      return [
        {
          confidence: 'certain',
          summary: `No Pod Identity association fits the controller's service account ${subject}${near.length > 0 ? `; there is one for ${near.join(', ')}` : ''}, and the account has no role annotation.`,
          objects: [refOf(identity.workload)],
          evidence: [
            { source, text: `associations: ${near.join(', ') || 'none for the controller'}` },
            {
              source: identity.serviceAccount.source,
              text: `ServiceAccount ${subject}: no annotation eks.amazonaws.com/role-arn`,
            },
          ],
          fix: fixFor(evidence),
        },
      ];
    }
    const isAgentAbsent =
      objects.isCollected('DaemonSet') &&
      !objects.of('DaemonSet').some(({ name }) => name.includes('pod-identity-agent'));
    if (!isAgentAbsent) return [];
    return [
      {
        confidence: 'certain',
        summary: `The association for ${subject} exists, but no agent (eks-pod-identity-agent) runs in the cluster to hand out its credentials.`,
        objects: [refOf(identity.workload)],
        evidence: [
          { source, text: `association for ${subject}` },
          { source: identity.workload.source, text: 'DaemonSet eks-pod-identity-agent is absent' },
        ],
        fix: [
          `aws eks create-addon --cluster-name ${clusterName(evidence)} --addon-name eks-pod-identity-agent`,
          `kubectl -n ${identity.namespace} rollout restart deployment ${identity.workload.name}`,
        ],
      },
    ];
  },
};

/** Whom EKS found no association for. */
function subjectIn(sightings: readonly Sighting[]): { namespace?: string; account?: string } {
  const account = aroundOf(sightings, /for service account ([\w.-]+) in namespace [\w-]+/i);
  const namespace = aroundOf(sightings, /for service account [\w.-]+ in namespace ([\w-]+)/i);
  return account === undefined || namespace === undefined ? {} : { account, namespace };
}

function fixFor(evidence: Evidence, said: { namespace?: string; account?: string } = {}): string[] {
  const identity = controllerIdentity(evidence);
  const namespace = said.namespace ?? identity?.namespace ?? releaseNamespace(evidence);
  const role = evidence.aws
    .items('eks-list-pod-identity-associations')
    .map(({ item }) => textAt(item, 'roleArn'))
    .find((arn) => /karpenter|kerf/i.test(arn));
  return [
    `aws eks create-pod-identity-association --cluster-name ${clusterName(evidence)} --namespace ${namespace} --service-account ${said.account ?? identity?.account ?? 'karpenter'} --role-arn ${role ?? '"$CONTROLLER_ROLE_ARN"'}`,
    `aws eks create-addon --cluster-name ${clusterName(evidence)} --addon-name eks-pod-identity-agent  # unless it is installed`,
    `kubectl -n ${namespace} rollout restart deployment ${identity?.workload.name ?? 'karpenter'}`,
  ];
}
