// EC2 refuses what is asked of it, for a reason that no other entry has.
import type { Failure, Found, Sighting } from '../../failure.ts';
import { allCaught, conditionItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { conditionOf } from '../../objects.ts';

/** What to do about codes that have no entry of their own. */
const advice: readonly [RegExp, string][] = [
  [
    /MaxSpotInstanceCountExceeded/,
    'aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-34B43A08 --desired-value 1000  # spot requests of standard instances; or allow on-demand in the NodePool',
  ],
  [
    /VcpuLimitExceeded|InstanceLimitExceeded/,
    'aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-1216C47A --desired-value 1000  # running on-demand standard instances; L-34B43A08 is that of spot',
  ],
  [
    /InvalidSubnetID|InvalidSubnet\./,
    'A subnet of the node class does not exist any more: correct spec.subnetSelectorTerms.',
  ],
  [
    /InvalidGroup|InvalidSecurityGroupID|InvalidParameter.*[Ss]ecurity group/,
    'A security group of the node class does not exist or belongs to another VPC: correct spec.securityGroupSelectorTerms.',
  ],
  [
    /InvalidBlockDeviceMapping/,
    "EC2 refuses a volume: spec.blockDeviceMappings[].ebs of the EC2NodeClass must be at least as large as the image's snapshot, with iops and throughput that its type allows.",
  ],
  [/InvalidAMIID/, 'An image of the node class does not exist in this region: correct spec.amiSelectorTerms.'],
  [
    /InvalidLaunchTemplate/,
    'The launch template was deleted while it was used; the controller makes a new one on the next try.',
  ],
  [
    /InvalidIAMInstanceProfile|Invalid IAM Instance Profile/i,
    'The instance profile does not exist or has no role: correct spec.role or spec.instanceProfile.',
  ],
  [
    /Unsupported/,
    'The type is not offered in that zone or with that option: widen the requirements, or drop the option.',
  ],
  [
    /InsufficientInstanceCapacity|UnfulfillableCapacity|InsufficientHostCapacity|InsufficientReservedInstanceCapacity/,
    'EC2 has no such capacity now: allow more types, zones or capacity types in the NodePool.',
  ],
  [
    /OptInRequired|PendingVerification|Blocked/,
    'The account is not enabled for this: see the message, and AWS Support.',
  ],
];

const elsewhere =
  /ServiceLinkedRole|UnauthorizedOperation|AccessDenied|not authorized|InvalidBlockDeviceMapping(?!: (?:Volume of size|Iops|The (?:iops|encrypted|throughput)))|InsufficientFreeAddresses|Client\.InternalError|InvalidKMSKey|RequestLimitExceeded|Throttling|too many calls|i\/o timeout|deadline exceeded/i;
const capacity =
  /InsufficientInstanceCapacity|UnfulfillableCapacity|InsufficientHostCapacity|InsufficientReservedInstanceCapacity|insufficient capacity|MaxFleetCountExceeded/i;

export const launchRejectedByProvider: Failure = {
  id: 'scheduling/launch-rejected-by-provider',
  severity: 'high',
  symptom:
    'No node appears; only the log of the controller, or the condition Launched of the claim, has the error of the fleet.',
  cause: 'EC2 refuses a parameter of the launch',
  fix: 'By the code of the error: quota, subnet, group, image, profile, type.',
  needs: [anyOf(texts('log'), kinds('NodeClaim'))],
  signs: [
    {
      words: [
        'fleet error',
        'launching nodeclaim',
        'creating instance',
        'launchfailed',
        'could not launch node',
        'launching node',
        'creating fleet',
      ],
      pattern:
        /(?:with fleet error\(s\)|creating fleet|launching nodeclaim|creating instance|LaunchFailed|Could not launch node|launching instances?)\b.{0,300}?\b(?<code>[A-Z][A-Za-z]+(?:\.[A-Z][A-Za-z]+)?): (?<message>[^"]{8,200})/,
      unless: new RegExp(`${elsewhere.source}|${capacity.source}|NodeClassNotReady|InsufficientCapacity`, 'i'),
      until: ['launched'],
    },
    // The name of a profile that does not exist, or its ARN where the name is wanted.
    {
      words: ['invalid iam instance profile'],
      pattern:
        /for parameter iamInstanceProfile\.(?:name|arn) is invalid\.? (?<code>Invalid IAM Instance Profile) (?:name|arn)/i,
      unless: /awsmachine|terraform|AWSMachine/i,
      until: ['launched'],
    },
    // A parameter that is wrong stays wrong, whatever capacity there is beside it.
    {
      words: ['invalidparameter'],
      pattern: /with fleet error\(s\), (?:[^"]{0,300}; )?(?<code>InvalidParameter\w*): (?<message>[^"]{8,200})/,
      unless: elsewhere,
      until: ['launched'],
    },
    {
      words: ['vcpulimitexceeded', 'maxspotinstancecountexceeded', 'instancelimitexceeded'],
      pattern: /\b(?<code>VcpuLimitExceeded|MaxSpotInstanceCountExceeded|InstanceLimitExceeded)\b/,
      until: ['launched'],
    },
    // Capacity comes and goes: only where nothing is launched between is it a failure.
    {
      words: ['insufficientinstancecapacity', 'unfulfillablecapacity', 'insufficientreservedinstancecapacity'],
      pattern: /\b(?<code>InsufficientInstanceCapacity|UnfulfillableCapacity|InsufficientReservedInstanceCapacity)\b/,
      until: ['launched'],
      atLeast: 3,
      confidence: 'likely',
      where: ['log', 'asked'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: `EC2 refuses the launch: ${codesOf(sightings).join(', ')}.`,
      fix: fixFor(codesOf(sightings)),
    }),
  ],
  check({ objects }): Found[] {
    const failed = objects.of('NodeClaim').flatMap((claim) => {
      const launched = conditionOf(claim.object, 'Launched');
      const isFailed =
        launched !== undefined &&
        launched.status !== 'True' &&
        /LaunchFailed|Rejected/.test(launched.reason) &&
        !elsewhere.test(launched.message) &&
        !capacity.test(launched.message);
      return isFailed ? [{ claim, launched }] : [];
    });
    if (failed.length === 0) return [];
    const codes = failed.flatMap(
      ({ launched }) => /\b([A-Z][A-Za-z]+(?:\.[A-Z][A-Za-z]+)?):/.exec(launched.message)?.[1] ?? [],
    );
    return [
      {
        confidence: 'certain',
        summary: `EC2 refuses the launch of ${failed
          .map(({ claim }) => claim.name)
          .slice(0, 3)
          .join(', ')}: ${failed[0]?.launched.message.slice(0, 160)}`,
        objects: refsOf(failed.map(({ claim }) => claim)),
        evidence: failed.slice(0, 4).map(({ claim, launched }) => conditionItem(claim, launched)),
        fix: fixFor(codes),
      },
    ];
  },
  // What was never launched cannot register.
  explains: ['registration/undiagnosed-timeout'],
};

const codesOf = (sightings: readonly Sighting[]): string[] => {
  const codes = [...new Set(allCaught(sightings, 'code'))];
  return codes.length === 0 ? ['see the message'] : codes;
};

function fixFor(codes: readonly string[]): string[] {
  const known = codes.flatMap((code) => advice.find(([pattern]) => pattern.test(code))?.[1] ?? []);
  return known.length > 0
    ? [...new Set(known)]
    : [
        'The message of EC2 names the parameter: correct the field of the EC2NodeClass or the requirement of the NodePool that it comes from.',
      ];
}
