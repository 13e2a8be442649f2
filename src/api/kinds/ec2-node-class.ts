// EC2NodeClass: where and how instances are started on AWS. The parts with rules of their own are in files beside this
// one: selector terms, kubelet settings, block devices.
import type * as Type from 'typebox';
import { awsGroup, awsTag, conditionType } from '../names.ts';
import type { ObjectMeta } from '../object-meta.ts';
import {
  flag,
  int32,
  int64,
  listOf,
  mapOf,
  object,
  oneOf,
  optional,
  rule,
  rules,
  text,
  time,
} from '../schema/build.ts';
import type { ValidationRule } from '../schema/structural.ts';
import { nodeClassConditions } from './conditions.ts';
import { ageColumn, conditionColumn, defineKind } from './definition.ts';
import { blockDeviceMappings } from './ec2-block-devices.ts';
import { kubelet } from './ec2-kubelet.ts';
import {
  amiSelectorTerms,
  capacityReservationSelectorTerms,
  placementGroupSelector,
  securityGroupSelectorTerms,
  subnetSelectorTerms,
} from './ec2-selectors.ts';

const amiFamilies = ['AL2', 'AL2023', 'Bottlerocket', 'Custom', 'Windows2019', 'Windows2022', 'Windows2025'] as const;

const enabledOrDisabled = ['enabled', 'disabled'] as const;

/** An alias names its family; a different one beside it would contradict it. */
const aliasFamilyRules: ValidationRule[] = amiFamilies
  .filter((family) => family !== 'Custom')
  .map((family) =>
    rule(
      `!has(self.amiFamily) || self.amiFamily in ['${family}', 'Custom'] || ` +
        `!self.amiSelectorTerms.exists(t, has(t.alias) && t.alias.startsWith('${family.toLowerCase()}@'))`,
      `if set, amiFamily must be '${family}' or 'Custom' when using ${family.startsWith('A') ? 'an' : 'a'} ${family} alias`,
    ),
  );

/** Tags the provider itself sets and finds its instances by. */
const restrictedTags = [awsTag.clusterName, awsTag.nodePool, awsTag.nodeClaim, awsTag.nodeClass];

const tagRules: ValidationRule[] = [
  rule("self.all(k, k != '')", "empty tag keys aren't supported"),
  rule(
    "self.all(k, !k.startsWith('kubernetes.io/cluster'))",
    'tag contains a restricted tag matching kubernetes.io/cluster/',
  ),
  ...restrictedTags.map((tag) => rule(`self.all(k, k != '${tag}')`, `tag contains a restricted tag matching ${tag}`)),
];

const networkInterfaces = listOf(
  'Network interfaces of each instance, instead of those chosen for it.',
  object('A network interface.', {
    networkCardIndex: int32('Network card it is on.', { minimum: 0 }),
    deviceIndex: int32('Place on the card.', { minimum: 0 }),
    interfaceType: oneOf('With IP addresses, or for EFA traffic only.', ['interface', 'efa-only']),
  }),
  {
    maxItems: 150,
    ...rules(
      rule(
        "self.size() == 0 || self.exists(i, i.networkCardIndex == 0 && i.deviceIndex == 0 && i.interfaceType == 'interface')",
        "networkInterfaces must include a primary interface with interfaceType='interface'",
      ),
      rule(
        'self.all(i, self.exists_one(o, o.networkCardIndex == i.networkCardIndex && o.deviceIndex == i.deviceIndex) && ' +
          "(i.interfaceType != 'efa-only' || " +
          "self.exists_one(o, o.interfaceType == 'efa-only' && o.networkCardIndex == i.networkCardIndex)))",
        'networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and can have at most one efa device per network card',
      ),
    ),
  },
);

const metadataOptions = object(
  'How instances reach their metadata.',
  {
    httpEndpoint: optional(oneOf('Whether the endpoint exists.', enabledOrDisabled, { default: 'enabled' })),
    httpProtocolIPv6: optional(oneOf('Whether it has an IPv6 address.', enabledOrDisabled, { default: 'disabled' })),
    httpPutResponseHopLimit: optional(
      int64('How many network hops a token travels; 1 keeps pods away from it.', {
        minimum: 1,
        maximum: 64,
        default: 1,
      }),
    ),
    httpTokens: optional(
      oneOf('Whether a token is needed (IMDSv2).', ['required', 'optional'], { default: 'required' }),
    ),
  },
  {
    default: {
      httpEndpoint: 'enabled',
      httpProtocolIPv6: 'disabled',
      httpPutResponseHopLimit: 1,
      httpTokens: 'required',
    },
  },
);

const connectionTracking = object(
  'How long idle connections are remembered by security groups; launches are kept to Nitro instances.',
  {
    tcpEstablishedTimeout: optional(int32('Seconds for established TCP.', { minimum: 60, maximum: 432_000 })),
    udpStreamTimeout: optional(int32('Seconds for UDP with more than one exchange.', { minimum: 60, maximum: 180 })),
    udpTimeout: optional(int32('Seconds for other UDP.', { minimum: 30, maximum: 60 })),
  },
  rules(
    rule(
      'has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)',
      'at least one of tcpEstablishedTimeout, udpStreamTimeout, or udpTimeout must be set',
    ),
  ),
);

const spec = object(
  'Where and how instances are started.',
  {
    subnetSelectorTerms: subnetSelectorTerms(),
    securityGroupSelectorTerms: securityGroupSelectorTerms(),
    capacityReservationSelectorTerms: optional(capacityReservationSelectorTerms()),
    amiSelectorTerms: amiSelectorTerms(),
    placementGroupSelector: optional(placementGroupSelector()),
    amiFamily: optional(oneOf('How instances are bootstrapped; an alias implies it.', amiFamilies)),
    userData: optional(text("The user's part of the user data.")),
    role: optional(
      text(
        'IAM role of the nodes; an instance profile is made for it.',
        rules(rule("self != ''", 'role cannot be empty')),
      ),
    ),
    instanceProfile: optional(
      text('Instance profile of the nodes.', rules(rule("self != ''", 'instanceProfile cannot be empty'))),
    ),
    tags: optional(
      mapOf('Tags of everything that is created.', text('A value.'), { 'x-kubernetes-validations': tagRules }),
    ),
    kubelet: optional(kubelet()),
    blockDeviceMappings: optional(blockDeviceMappings()),
    instanceStorePolicy: optional(oneOf('What becomes of local disks.', ['RAID0'])),
    networkInterfaces: optional(networkInterfaces),
    detailedMonitoring: optional(flag('Metrics every minute instead of every five.')),
    associatePublicIPAddress: optional(flag('Whether instances get public addresses; unset leaves it to the subnet.')),
    ipPrefixCount: optional(int32('IP prefixes of each network interface.', { minimum: 0 })),
    metadataOptions: optional(metadataOptions),
    connectionTracking: optional(connectionTracking),
    cpuOptions: optional(
      object('Settings of the processor.', {
        nestedVirtualization: optional(oneOf('Whether instances may run virtual machines.', enabledOrDisabled)),
      }),
    ),
    enclaveOptions: optional(
      object('Nitro enclaves of the instances; types without them are left out while they are on.', {
        enabled: flag('Whether instances may run enclaves.'),
      }),
    ),
    context: optional(text('Passed on to EC2 as it is.')),
  },
  rules(
    rule('has(self.role) != has(self.instanceProfile)', "must specify exactly one of ['role', 'instanceProfile']"),
    rule(
      'has(self.amiFamily) || self.amiSelectorTerms.exists(t, has(t.alias))',
      'must specify amiFamily if amiSelectorTerms does not contain an alias',
    ),
    ...aliasFamilyRules,
  ),
);

const status = object('What the selectors found.', {
  subnets: optional(
    listOf(
      'Subnets, those with most free addresses first.',
      object('A subnet.', {
        id: text('Its id.'),
        zone: text('Its zone.'),
        zoneID: optional(text("The zone's id, the same in every account.")),
      }),
    ),
  ),
  securityGroups: optional(
    listOf('Security groups.', object('A security group.', { id: text('Its id.'), name: optional(text('Its name.')) })),
  ),
  amis: optional(
    listOf(
      'Images, the newest first.',
      object('An image and what it can run on.', {
        id: text('Its id.'),
        name: optional(text('Its name.')),
        deprecated: optional(flag('Its owner wants it to be replaced.')),
        requirements: listOf(
          'Requirements an instance type must meet.',
          object('A requirement.', {
            key: text('Label it is about.'),
            operator: text('How the label and the values relate.'),
            values: optional(listOf('Values.', text('A value.'), { 'x-kubernetes-list-type': 'atomic' })),
          }),
        ),
      }),
    ),
  ),
  capacityReservations: optional(
    listOf(
      'Capacity reservations.',
      object('A capacity reservation.', {
        availabilityZone: text('Its zone.'),
        endTime: optional(time('When it ends.')),
        id: text('Its id.', { pattern: '^cr-[0-9a-z]+$' }),
        instanceMatchCriteria: oneOf('Who may use it.', ['open', 'targeted']),
        instanceType: text('Instance type it is for.'),
        ownerID: text('Account it belongs to.', { pattern: '^[0-9]{12}$' }),
        reservationType: optional(oneOf('Its type.', ['default', 'capacity-block'], { default: 'default' })),
        interruptible: optional(flag('It can be taken back.')),
        state: optional(oneOf('Its state.', ['active', 'expiring'], { default: 'active' })),
      }),
    ),
  ),
  instanceProfile: optional(text('Instance profile in use.')),
  conditions: optional(nodeClassConditions()),
});

export const ec2NodeClass = defineKind({
  group: awsGroup,
  version: 'v1',
  kind: 'EC2NodeClass',
  plural: 'ec2nodeclasses',
  shortNames: ['ec2nc', 'ec2ncs'],
  category: 'karpenter',
  namespaced: false,
  specIsOptional: true,
  description: 'Where and how instances are started on AWS.',
  columns: [
    conditionColumn('Ready', conditionType.ready),
    ageColumn,
    { name: 'Role', type: 'string', jsonPath: '.spec.role', wide: true },
  ],
  spec,
  status,
});

export type EC2NodeClassSpec = Type.Static<typeof spec>;

export interface EC2NodeClass {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: EC2NodeClassSpec;
  status?: Type.Static<typeof status>;
}
