// A claim without a node, and no cause among what was collected: what to look at next, in order.
import { instanceOf, unregisteredClaims } from '../../claims.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName, named } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, conditionText, type Stored } from '../../objects.ts';

export const undiagnosedTimeout: Failure = {
  id: 'registration/undiagnosed-timeout',
  severity: 'critical',
  symptom:
    'NodeClaims stay Unknown for minutes (`Node not registered with cluster`); the log says only `launched nodeclaim`.',
  cause: 'The instance runs and did not join, and nothing that was collected says why',
  fix: 'Climb the ladder: instance state, console output, security groups, instance profile and role, role mapping, endpoints.',
  needs: [kinds('NodeClaim')],
  signs: [
    {
      words: [
        'registration ttl',
        'registration timeout',
        'failed to register',
        'registrationtimeout',
        'not registered with cluster',
        'nodenotfound',
      ],
      pattern:
        /registration (?:ttl|timeout)|terminating due to registration|RegistrationTimeout|Failed to register node\b(?!.{0,60}(?:Unauthorized|forbidden))|nodeclaim.{0,80}not registered within/i,
      confidence: 'likely',
      where: ['log', 'asked', 'cli'],
      until: ['registered'],
    },
    {
      words: ['instances failed to join the kubernetes cluster'],
      pattern: /Instances failed to join the kubernetes cluster/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
    {
      words: ['not registered with cluster', 'nodenotfound'],
      pattern: /Node not registered with cluster|reason["']?: ?["']?NodeNotFound/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
    {
      words: ['unknown'],
      pattern:
        /\b[a-z0-9-]+-[a-z0-9]{5}\s+[a-z0-9-]+\.[a-z0-9-]+\s+(?:spot|on-demand|reserved)\s+[a-z]{2}-[a-z-]+-\d[a-z]\s+Unknown\s+(?:[5-9]m|\d\dm|\d+h|\d+d)/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: 'A NodeClaim was launched and its node did not join; the text does not say why.',
      fix: ladder(evidence, '"$INSTANCE"'),
    }),
  ],
  check(evidence): Found[] {
    const claims = unregisteredClaims(evidence);
    if (claims.length === 0) {
      const unhealthy = evidence.objects.of('NodePool').filter(({ object }) => {
        const health = conditionOf(object, 'NodeRegistrationHealthy');
        // What was not launched cannot register; why it was not is in the condition's message.
        return health?.status === 'False' && health.reason !== 'LaunchFailed';
      });
      if (unhealthy.length === 0) return [];
      return [
        {
          confidence: 'likely',
          summary: `Nodes of ${named(unhealthy)} repeatedly failed to register; nothing that was collected says why.`,
          objects: refsOf(unhealthy),
          evidence: unhealthy.map((pool) => ({
            source: pool.source,
            text: conditionText(
              conditionOf(pool.object, 'NodeRegistrationHealthy') ?? {
                type: '',
                status: '',
                reason: '',
                message: '',
                since: '',
              },
            ),
          })),
          fix: unhealthy.every(isSimulated) ? simulated : ladder(evidence, '"$INSTANCE"'),
        },
      ];
    }
    return [
      {
        confidence: 'certain',
        summary: `${claims.length === 1 ? 'NodeClaim' : `${claims.length} NodeClaims`} ${named(claims)}: the instance was launched and did not join; nothing that was collected says why.`,
        objects: refsOf(claims),
        evidence: claims.slice(0, 4).flatMap((claim) => {
          const registered = conditionOf(claim.object, 'Registered') ?? conditionOf(claim.object, 'Initialized');
          return registered === undefined
            ? [
                {
                  source: claim.source,
                  text: `NodeClaim ${claim.name}: launched as ${instanceOf(claim)}, not registered`,
                },
              ]
            : [conditionItem(claim, registered)];
        }),
        fix: claims.every(isSimulated)
          ? simulated
          : ladder(evidence, instanceOf(claims.find((claim) => !isSimulated(claim)) as Stored) || '"$INSTANCE"'),
      },
    ];
  },
  explains: ['scheduling/no-usable-nodepool', 'startup/debug-output-missing'],
};

/** A NodeClaim or NodePool whose machines are the simulated provider's: AWS has nothing to say about them. */
const isSimulated = ({ object }: Stored): boolean =>
  [['spec'], ['spec', 'template', 'spec']].some(
    (path) => textAt(object, ...path, 'nodeClassRef', 'kind') === 'KWOKNodeClass',
  );

const simulated = [
  'These machines are simulated: kubectl get kwoknodeclasses -o yaml  # spec.faults.registration says which never join; without it, look whether the kubelets are played (kerf controller --fake-kubelets, or a KWOK controller)',
];

function ladder(evidence: Evidence, instance: string): string[] {
  const cluster = clusterName(evidence);
  return [
    `aws ec2 describe-instances --instance-ids ${instance} --query 'Reservations[0].Instances[0].[State.Name,StateReason.Message,IamInstanceProfile.Arn,SecurityGroups]'`,
    `aws ec2 get-console-output --instance-id ${instance} --latest --output text | kerf doctor -f -`,
    `aws eks list-access-entries --cluster-name ${cluster}; kubectl -n kube-system get configmap aws-auth -o yaml  # the node role must be in one of them`,
    'Put the answers into a bundle (aws/, nodes/) and run kerf doctor --bundle on it.',
  ];
}
