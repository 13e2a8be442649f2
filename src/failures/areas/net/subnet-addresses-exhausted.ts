// A subnet with an address for the node and none for its pods.
import type { Failure, Found } from '../../failure.ts';
import { listAt, numberAt, textAt } from '../../fields.ts';
import { caught, foundIn } from '../../found.ts';
import { answer, kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

/** Fewer than this do not hold one node with its warm pool of addresses. */
const least = 16;

export const subnetAddressesExhausted: Failure = {
  id: 'net/subnet-addresses-exhausted',
  severity: 'high',
  symptom:
    'Instances launch, or fail with `InsufficientFreeAddressesInSubnet`; pods wait in ContainerCreating for an address.',
  cause: 'The subnet has no addresses left for nodes or for their pods',
  fix: 'Spread over zones, a larger or secondary range, custom networking, IPv6.',
  needs: [kinds('EC2NodeClass'), answer('ec2-describe-subnets')],
  signs: [
    {
      words: [
        'insufficientfreeaddressesinsubnet',
        'insufficient free addresses',
        'insufficientcidrblocks',
        'not enough free addresses',
        'no available ip addresses',
      ],
      pattern:
        /InsufficientFreeAddressesInSubnet|There are not enough free addresses in subnet '?(?<subnet>subnet-\w+)|InsufficientCidrBlocks|(?:subnet|Subnet) (?<subnet2>subnet-\w+).{0,60}(?:insufficient|not enough|no (?:available|free)).{0,20}(?:free )?(?:IP )?addresses|no available IP addresses/i,
      until: ['launched', 'podStarted'],
    },
  ],
  fromText(sightings) {
    const subnet = caught(sightings, 'subnet') ?? caught(sightings, 'subnet2');
    return [
      foundIn(sightings, {
        summary: `The subnet${subnet === undefined ? '' : ` ${subnet}`} has no addresses left.`,
        fix: fixLines,
      }),
    ];
  },
  check({ objects, aws }): Found[] {
    const subnets = aws.items('ec2-describe-subnets');
    return objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
      const own = listAt(nodeClass.object, 'status', 'subnets').map((one) => textAt(one, 'id'));
      const full = subnets.filter(
        ({ item }) =>
          own.includes(textAt(item, 'SubnetId')) && (numberAt(item, 'AvailableIpAddressCount') ?? least) < least,
      );
      if (full.length === 0) return [];
      const all = full.length === own.length;
      return [
        {
          confidence: 'certain',
          summary: `${full.map(({ item }) => `${textAt(item, 'SubnetId')} (${textAt(item, 'AvailabilityZone')}, ${textAt(item, 'AvailableIpAddressCount')} free)`).join(', ')}: too few addresses for a node and its pods${all ? '; no other subnet is selected' : ''}.`,
          objects: [refOf(nodeClass)],
          evidence: full.map(({ item, source }) => ({
            source,
            text: `${textAt(item, 'SubnetId')}: AvailableIpAddressCount ${textAt(item, 'AvailableIpAddressCount')} of ${textAt(item, 'CidrBlock')}`,
          })),
          fix: fixLines,
          key: nodeClass.name,
        },
      ];
    });
  },
  explains: ['scheduling/launch-rejected-by-provider'],
  explainsInText: ['net/max-pods-above-ip-capacity', 'net/trunk-eni-reduces-density'],
};

const fixLines = [
  'Add subnets with room to what spec.subnetSelectorTerms selects (a secondary CIDR: aws ec2 associate-vpc-cidr-block, then aws ec2 create-subnet, tagged for discovery).',
  'Or spread pods over zones (topologySpreadConstraints), or give pods addresses of their own range (custom networking), or IPv6.',
];
