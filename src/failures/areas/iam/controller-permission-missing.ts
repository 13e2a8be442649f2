// AWS refuses a call of the controller. Which call, and of whom, is in the message; what nodes, people and keys are refused
// belongs to other entries, and a time-out is not a refusal.

import type { Evidence } from '../../evidence.ts';
import { controllerNamespace } from '../../facts.ts';
import type { Failure, FailureId, Found, Sighting } from '../../failure.ts';
import { allCaught, aroundOf, caught, conditionItem, foundIn } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { conditionOf, refOf } from '../../objects.ts';

/** Refused to nodes (sessions named after instances), to keys, queues and people: other entries. */
const others =
  /iam:PassRole|AssumeRoleWithWebIdentity|AssumeRoleForPodIdentity|assumed-role\/[\w+=,.@-]+\/i-[0-9a-fx*]{3,}\b|\b(?:nodeadm|kubelet|pluto|sundog|cloud-init)\[|not authorized to perform: (?:kms|sqs|ecr|ssmmessages|ec2messages|eks-auth):|An error occurred \([\w.]+\) when calling|:user\/[\w+=,.@-]+ is not authorized|AssignPrivateIpAddresses|ec2:\w*NetworkInterface|ipamd|aws-node|AWSReservedSSO_|ServiceLinkedRoleCreationNotPermitted|sqs:\w+|kms:\w+|iam:CreateServiceLinkedRole|not authorized to perform:? (?!(?:ec2|iam|eks|ssm|pricing|sts|tag|resource-groups):)[a-z][a-z0-9-]*:|ec2:(?:\w*Volumes?|\w*Snapshots?|\w*LoadBalancer\w*|AuthorizeSecurityGroup\w*|RevokeSecurityGroup\w*)\b|assumed-role\/[\w+=,.@-]*(?:load-?balancer|\balb\b|external-?(?:dns|secrets)|csi|cluster-?autoscaler|vpc-?cni|fluent|cloudwatch|cert-?manager|velero)|\bStackEvents|ROLLBACK|CREATE_FAILED|cannot (?:list|get|watch|create|patch|update|delete) resource/i;

/** Without these nothing is launched. */
const launchActions =
  'ec2:(?:RunInstances|CreateFleet|CreateLaunchTemplate|CreateTags|DescribeSubnets|DescribeSecurityGroups|DescribeImages|DescribeInstanceTypes|DescribeInstanceTypeOfferings|DescribeLaunchTemplates)|ssm:GetParameters?|eks:DescribeCluster|iam:(?:CreateInstanceProfile|AddRoleToInstanceProfile|GetInstanceProfile|TagInstanceProfile)';

/** Prices are asked for twice a day; nothing of the controller waits longer between two tries. */
const longestPeriodMs = 13 * 3_600_000;

const refused = (action: string): RegExp =>
  new RegExp(
    `(?:(?:User|role): ?(?<principal>arn:aws[\\w-]*:(?:sts|iam)::[\\w*]*:[^\\s"]+) )?(?:is |isn't |are )?not authorized to perform:? (?<action>${action})(?: on resource: (?<resource>[^\\s",]+))?`,
    'i',
  );

/** Lookups that find nothing because they are refused. */
const lookups: readonly [RegExp, FailureId][] = [
  [/^ssm:GetParameter|^ec2:DescribeImages$/i, 'ami/none-for-cluster-version'],
  [/^ec2:Describe(?:Subnets|SecurityGroups)$/i, 'net/discovery-tag-missing'],
];

/** What only the controller says: it speaks with the role of its node when it has none of its own. */
const ownWords = String.raw`(?:unable to detect the cluster endpoint|failed to resolve cluster endpoint|"logger": ?"controller["./]|"commit": ?"[0-9a-f]{7})`;

export const controllerPermissionMissing: Failure = {
  id: 'iam/controller-permission-missing',
  severity: 'critical',
  symptom:
    'AccessDenied or UnauthorizedOperation in the log of the controller, for instance `User: … is not authorized to perform: iam:ListInstanceProfiles`; pools not ready.',
  cause: "The controller's role lacks an action that the release needs",
  fix: 'Apply the policy published for the running release (`kerf iam policy` prints it), then touch the node class (any annotation) so that it is validated again.',
  needs: [anyOf(texts('log'), kinds('EC2NodeClass'))],
  signs: [
    // What a launch needs is allowed again when one succeeds.
    {
      words: ['not authorized to perform'],
      pattern: refused(launchActions),
      unless: others,
      where: ['log', 'object', 'asked'],
      until: ['launched'],
      ownLog: true,
    },
    {
      words: ['not authorized to perform'],
      pattern: refused(`(?!${launchActions}\\b)[a-z][a-z0-9-]+:[A-Z][A-Za-z]+`),
      unless: others,
      where: ['log', 'object', 'asked'],
      repeatsWithinMs: longestPeriodMs,
      ownLog: true,
    },
    {
      words: ['not authorized to perform'],
      pattern: new RegExp(
        `${ownWords}.{0,600}(?<principal>arn:aws[\\w-]*:sts::[\\w*]*:assumed-role/[\\w+=,.@-]+/i-[0-9a-fx*]{3,17}) is not authorized to perform: (?<action>(?:ec2|iam|eks|ssm|pricing):\\w+)`,
        'i',
      ),
      unless: /iam:PassRole|AssumeRole|NetworkInterface|PrivateIpAddress/i,
      where: ['log', 'asked'],
      until: ['launched'],
    },
    {
      words: ["isn't authorized to call", 'unauthorized to call', 'authcheckfailed'],
      pattern:
        /(?:isn't authorized to call|unauthorized to call) (?<action>[a-z0-9]+:[A-Za-z]+)|\b(?<check>CreateFleet|CreateLaunchTemplate|RunInstances)AuthCheckFailed/i,
      where: ['log', 'object', 'asked'],
    },
    {
      words: ['unauthorizedoperation', 'encoded authorization failure'],
      pattern:
        /(?:api error |[:,;] |["(])UnauthorizedOperation\b|You are not authorized to perform this operation\.? (?:User: \S+ is not authorized to perform: (?<action>[a-z0-9]+:\w+).{0,300})?Encoded (?:authorization )?failure(?: message)?: ?(?<encoded>[\w.-]+)/i,
      unless: others,
      where: ['log', 'object', 'asked'],
      until: ['launched'],
      ownLog: true,
    },
    {
      words: ['"aws-error-code":"accessdenied', '"aws-error-code": "accessdenied', 'aws-error-code":"unauthorized'],
      pattern:
        /"aws-error-code": ?"(?:AccessDenied(?:Exception)?|UnauthorizedOperation)"(?:.{0,300}"aws-operation-name": ?"(?<operation>\w+)".{0,300}"aws-service-name": ?"(?<service>\w+)")?/i,
      unless: others,
      where: ['log', 'asked'],
      repeatsWithinMs: longestPeriodMs,
    },
    {
      words: ['"allowed"', 'explicitdeny'],
      pattern: /"allowed": ?false.{0,1200}"action": ?"(?<action>[a-z0-9-]+:\w+)"/i,
      unless: /iam:PassRole|kms:|sqs:/,
      where: ['asked', 'cli'],
    },
    // The same message printed over many lines: who, what, on what. Policies write these words in capitals.
    {
      words: ['"action": "', '"action":"'],
      pattern:
        /"arn": ?"(?<principal>arn:aws[\w-]*:sts::[\w*]*:assumed-role\/[^"]+)"[ },]{0,6}"action": ?"(?<action>[a-z0-9-]+:\w+)", ?"resource": ?"/,
      unless: /iam:PassRole|kms:|sqs:/,
      where: ['asked', 'cli'],
    },
    // A report that leaves out the message.
    {
      words: ['statuscode: 403'],
      pattern: /operation error (?<service>IAM|EC2|EKS|SSM|Pricing): (?<operation>\w+)\b.{0,80}StatusCode: 403/i,
      unless:
        /Expired|InvalidClientTokenId|SignatureDoesNotMatch|AccessDenied|UnauthorizedOperation|not authorized|AssumeRole|nodeadm|kubelet|ipamd|aws-node/i,
      confidence: 'likely',
      where: ['log', 'asked'],
      repeatsWithinMs: longestPeriodMs,
      ownLog: true,
    },
    {
      words: ['accessdenied', 'access denied'],
      pattern:
        /operation error (?<service>\w+): (?<operation>\w+), https response error StatusCode: 403,.{0,120}AccessDenied(?:Exception)?(?:: (?!.*AssumeRole))/i,
      unless: others,
      where: ['log', 'object', 'asked'],
      ownLog: true,
    },
  ],
  fromText: (sightings, evidence) => [
    {
      ...foundIn(sightings, { summary: summaryOf(sightings), fix: fixFor(sightings, evidence) }),
      explains: [
        ...(isAside(actionsOf(sightings)) ? [] : launching),
        ...actionsOf(sightings).flatMap((action) => lookups.find(([pattern]) => pattern.test(action))?.[1] ?? []),
      ],
    },
  ],
  check({ objects }): Found[] {
    return objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
      const validation = conditionOf(nodeClass.object, 'ValidationSucceeded');
      const action = /^(CreateFleet|CreateLaunchTemplate|RunInstances)AuthCheckFailed$/.exec(
        validation?.reason ?? '',
      )?.[1];
      if (validation?.status !== 'False' || action === undefined) return [];
      return [
        {
          confidence: 'certain',
          summary: `The controller's role may not call ec2:${action}: EC2NodeClass ${nodeClass.name} failed its dry run.`,
          objects: [refOf(nodeClass)],
          explains: launching,
          evidence: [conditionItem(nodeClass, validation)],
          fix: [
            statementFor([`ec2:${action}`]),
            `kubectl annotate ec2nodeclass ${nodeClass.name} kerf.dev/validate-again="$(date +%s)" --overwrite  # any annotation makes it validate again`,
          ],
        },
      ];
    });
  },
};

/** What follows where an action is missing that launches need. */
const launching = [
  'scheduling/launch-rejected-by-provider',
  'crd/nodepool-not-ready-because-nodeclass',
  'scheduling/no-usable-nodepool',
];

/** Refused, too, but in no launch's way: cleaning up, prices, interruptions. */
const isAside = (actions: readonly string[]): boolean =>
  actions.length > 0 &&
  actions.every((action) =>
    /^(?:iam:ListInstanceProfiles|iam:DeleteInstanceProfile|pricing:\w+|ec2:DescribeSpotPriceHistory|sqs:\w+)$/i.test(
      action,
    ),
  );

function actionsOf(sightings: readonly Sighting[]): string[] {
  const named = allCaught(sightings, 'action');
  const called = sightings.flatMap(({ groups }) =>
    groups['operation'] !== undefined && groups['service'] !== undefined
      ? [`${groups['service'].toLowerCase()}:${groups['operation']}`]
      : [],
  );
  const checks = allCaught(sightings, 'check').map((check) => `ec2:${check}`);
  return [...new Set([...named, ...called, ...checks])];
}

function summaryOf(sightings: readonly Sighting[]): string {
  const actions = actionsOf(sightings);
  const principal =
    caught(sightings, 'principal') ?? aroundOf(sightings, /(arn:aws[\w-]*:sts::\w*:assumed-role\/[\w+=,.@-]+)/);
  const role = principal === undefined ? undefined : /(?:assumed-role|role)\/([^/]+)/.exec(principal)?.[1];
  const who = role === undefined ? "The controller's role" : `The role ${role}`;
  const isDenied = aroundOf(sightings, /(explicit deny)/i) !== undefined;
  return `${who} may not call ${actions.length === 0 ? 'what it needs to launch (the action is in the encoded message)' : actions.join(', ')}${isDenied ? '; a policy denies it explicitly' : ''}.`;
}

function fixFor(sightings: readonly Sighting[], evidence: Evidence): string[] {
  const actions = actionsOf(sightings);
  const encoded =
    caught(sightings, 'encoded') ??
    aroundOf(sightings, /Encoded (?:authorization )?failure(?: message)?: ?([\w.-]{8,})/i);
  const isDenied = aroundOf(sightings, /(explicit deny)/i) !== undefined;
  return [
    ...(actions.length > 0 ? [statementFor(actions)] : []),
    ...(encoded === undefined && actions.length > 0
      ? []
      : [
          `aws sts decode-authorization-message --encoded-message '${encoded ?? '<the message>'}' --query DecodedMessage --output text  # names the action, the resource and the principal`,
        ]),
    ...(isDenied
      ? [
          'The denial is explicit: look for a Deny in the role, its permissions boundary, or a service control policy of the organization; an Allow does not help.',
        ]
      : []),
    `kerf iam policy prints the whole policy of the release${controllerNamespace(evidence) === undefined ? '' : ` for the controller in ${controllerNamespace(evidence)}`}; then annotate the node class so that it is validated again.`,
  ];
}

const statementFor = (actions: readonly string[]): string =>
  `Add to the controller's policy: {"Effect":"Allow","Action":${JSON.stringify(actions)},"Resource":"*"}  # kerf iam policy prints it scoped by tags`;
