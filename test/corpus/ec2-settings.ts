// EC2NodeClass: everything in its spec but selectors and the kubelet.
import { accept, type CorpusCase, each, reject, shown, underRule } from './case.ts';
import { ec2Class } from './objects.ts';

const eitherOr = "must specify exactly one of ['role', 'instanceProfile']";
const byProfile = (fields: object = {}) => ec2Class({ role: undefined, instanceProfile: 'profile', ...fields });

const identityCases: CorpusCase[] = underRule(
  'role and instanceProfile',
  accept('role', ec2Class()),
  accept('instanceProfile', byProfile()),
  reject('both', ec2Class({ instanceProfile: 'profile' }), 'spec', eitherOr),
  reject('neither', ec2Class({ role: undefined }), 'spec', eitherOr),
  reject('an empty role', ec2Class({ role: '' }), 'spec.role', 'role cannot be empty'),
  reject(
    'an empty profile',
    byProfile({ instanceProfile: '' }),
    'spec.instanceProfile',
    'instanceProfile cannot be empty',
  ),
  accept('role changed', ec2Class({ role: 'other' }), { update: ec2Class() }),
  accept('role replaced by a profile', byProfile(), { update: ec2Class() }),
  accept('profile replaced by a role', ec2Class(), { update: byProfile() }),
  accept('no EC2NodeClass spec', { ...ec2Class(), spec: undefined }),
  reject('an empty EC2NodeClass spec', { ...ec2Class(), spec: {} }, 'spec.subnetSelectorTerms', 'Required value'),
);

const tags = (map: Record<string, unknown>) => ec2Class({ tags: map });
const restricted = (key: string): string => `tag contains a restricted tag matching ${key}`;

const tagCases: CorpusCase[] = underRule(
  'tags',
  accept('no tags', tags({})),
  ...each(['Name', 'karpenter.sh/custom-key', 'karpenter.sh/managed', 'kubernetes.io/role/key'], (key) =>
    accept(`tag ${key}`, tags({ [key]: 'v' })),
  ),
  accept('an empty tag value', tags({ a: '' })),
  reject('an empty tag key', tags({ '': 'v' }), 'spec.tags', "empty tag keys aren't supported"),
  ...each(['kubernetes.io/cluster/demo', 'kubernetes.io/cluster', 'kubernetes.io/clusterx'], (key) =>
    reject(`tag ${key}`, tags({ [key]: 'owned' }), 'spec.tags', restricted('kubernetes.io/cluster/')),
  ),
  ...each(
    ['eks:eks-cluster-name', 'karpenter.sh/nodepool', 'karpenter.sh/nodeclaim', 'karpenter.k8s.aws/ec2nodeclass'],
    (key) => reject(`tag ${key}`, tags({ a: 'b', [key]: 'v' }), 'spec.tags', restricted(key)),
  ),
  reject('a tag that is a number', tags({ a: 5 }), 'spec.tags.a', 'must be of type string'),
);

const disks = (...blockDeviceMappings: unknown[]) => ec2Class({ blockDeviceMappings });
const disk = (ebs: object) => disks({ deviceName: '/dev/xvda', ebs });
const ebsAt = 'spec.blockDeviceMappings[0].ebs';
const size = (volumeSize: unknown) => disk({ volumeSize });

const diskCases: CorpusCase[] = underRule(
  'block devices',
  accept('no disks', disks()),
  accept(
    'a disk with everything',
    disk({
      deleteOnTermination: true,
      encrypted: true,
      iops: 3000,
      kmsKeyID: 'k',
      snapshotID: 's',
      throughput: 125,
      volumeInitializationRate: 100,
      volumeSize: '20Gi',
      volumeType: 'gp3',
    }),
  ),
  accept('a disk without a volume', disks({ deviceName: '/dev/xvdb' })),
  accept(
    'one root volume and others',
    disks(
      { deviceName: 'a', rootVolume: true, ebs: { volumeSize: '20Gi' } },
      { deviceName: 'b', rootVolume: false, ebs: { volumeSize: '20Gi' } },
      { deviceName: 'c', ebs: { volumeSize: '20Gi' } },
    ),
  ),
  reject(
    'two root volumes',
    disks({ deviceName: 'a', rootVolume: true }, { deviceName: 'b', rootVolume: true }),
    'spec.blockDeviceMappings',
    'must have only one blockDeviceMappings with rootVolume',
  ),
  accept('50 disks', disks(...Array.from({ length: 50 }, (_, i) => ({ deviceName: `d${i}` })))),
  reject(
    '51 disks',
    disks(...Array.from({ length: 51 }, (_, i) => ({ deviceName: `d${i}` }))),
    'spec.blockDeviceMappings',
    'must have at most 50 items',
  ),
  accept('a snapshot without a size', disk({ snapshotID: 's' })),
  reject('neither snapshot nor size', disk({ volumeType: 'gp3' }), ebsAt, 'snapshotID or volumeSize must be defined'),
  ...each(['standard', 'io1', 'io2', 'gp2', 'sc1', 'st1', 'gp3'], (volumeType) =>
    accept(`volume type ${volumeType}`, disk({ volumeSize: '20Gi', volumeType })),
  ),
  reject(
    'volume type gp4',
    disk({ volumeSize: '20Gi', volumeType: 'gp4' }),
    `${ebsAt}.volumeType`,
    'Unsupported value',
  ),
  ...each(['1Gi', '59000Gi', '1G', '64000G', '1Ti', '57Ti', '58Ti', '1T', '64T', '50T', 'Ti', 'T'], (value) =>
    accept(`volume size ${value}`, size(value)),
  ),
  ...each(['0Gi', '59001Gi', '64001G', '59Ti', '19Ti', '65T', '100T', '1m', '1M', '1', '', '1.5Gi', 'big'], (value) =>
    reject(`volume size ${shown(value)}`, size(value), `${ebsAt}.volumeSize`, 'should match'),
  ),
  reject('volume size as a number', size(20), `${ebsAt}.volumeSize`, 'must be of type string'),
  ...each([100, 300], (volumeInitializationRate) =>
    accept(`initialization rate ${volumeInitializationRate}`, disk({ snapshotID: 's', volumeInitializationRate })),
  ),
  reject(
    'initialization rate 99',
    disk({ snapshotID: 's', volumeInitializationRate: 99 }),
    `${ebsAt}.volumeInitializationRate`,
    'should be greater than or equal to 100',
  ),
  reject(
    'initialization rate 301',
    disk({ snapshotID: 's', volumeInitializationRate: 301 }),
    `${ebsAt}.volumeInitializationRate`,
    'should be less than or equal to 300',
  ),
  reject(
    'initialization rate without a snapshot',
    disk({ volumeSize: '20Gi', volumeInitializationRate: 100 }),
    ebsAt,
    'snapshotID must be set when volumeInitializationRate is set',
  ),
  reject(
    'initialization rate with an empty snapshot',
    disk({ snapshotID: '', volumeInitializationRate: 100 }),
    ebsAt,
    'snapshotID must be set when volumeInitializationRate is set',
  ),
);

const card = (networkCardIndex: number, deviceIndex: number, interfaceType = 'interface') => ({
  networkCardIndex,
  deviceIndex,
  interfaceType,
});
const network = (...networkInterfaces: unknown[]) => ec2Class({ networkInterfaces });
const networkAt = 'spec.networkInterfaces';
const noDuplicates =
  'networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and can have at most one efa device per network card';
const primary = "networkInterfaces must include a primary interface with interfaceType='interface'";

const networkCases: CorpusCase[] = underRule(
  'network interfaces',
  accept('no interfaces', network()),
  accept('a primary interface', network(card(0, 0))),
  accept(
    'a primary and EFA on several cards',
    network(card(0, 0), card(0, 1, 'efa-only'), card(1, 1, 'efa-only'), card(2, 1, 'efa-only')),
  ),
  accept('150 interfaces', network(...Array.from({ length: 150 }, (_, i) => card(i, 0)))),
  reject(
    '151 interfaces',
    network(...Array.from({ length: 151 }, (_, i) => card(i, 0))),
    networkAt,
    'must have at most 150 items',
  ),
  reject('another type', network(card(0, 0, 'efa')), `${networkAt}[0].interfaceType`, 'Unsupported value: "efa"'),
  reject(
    'a negative card',
    network(card(0, 0), card(-1, 0)),
    `${networkAt}[1].networkCardIndex`,
    'should be greater than or equal to 0',
  ),
  reject(
    'a negative device',
    network(card(0, 0), card(0, -1)),
    `${networkAt}[1].deviceIndex`,
    'should be greater than or equal to 0',
  ),
  reject('the same place twice', network(card(0, 0), card(1, 1), card(1, 1)), networkAt, noDuplicates),
  reject(
    'two EFA on one card',
    network(card(0, 0), card(1, 1, 'efa-only'), card(1, 2, 'efa-only')),
    networkAt,
    noDuplicates,
  ),
  reject('no primary', network(card(1, 0)), networkAt, primary),
  reject('a primary for EFA only', network(card(0, 0, 'efa-only')), networkAt, primary),
  ...each(['networkCardIndex', 'deviceIndex', 'interfaceType'], (field) =>
    reject(
      `an interface without ${field}`,
      network({ ...card(0, 0), [field]: undefined }),
      `${networkAt}[0].${field}`,
      'Required value',
    ),
  ),
);

const imds = (fields: unknown) => ec2Class({ metadataOptions: fields });
const imdsAt = 'spec.metadataOptions';

const metadataCases: CorpusCase[] = underRule(
  'metadata options',
  accept('metadata options unset', ec2Class(), {
    stored: {
      [imdsAt]: {
        httpEndpoint: 'enabled',
        httpProtocolIPv6: 'disabled',
        httpPutResponseHopLimit: 1,
        httpTokens: 'required',
      },
    },
  }),
  accept('metadata options in part', imds({ httpTokens: 'optional' }), {
    stored: {
      [imdsAt]: {
        httpEndpoint: 'enabled',
        httpProtocolIPv6: 'disabled',
        httpPutResponseHopLimit: 1,
        httpTokens: 'optional',
      },
    },
  }),
  accept(
    'other metadata options',
    imds({
      httpEndpoint: 'disabled',
      httpProtocolIPv6: 'enabled',
      httpPutResponseHopLimit: 64,
      httpTokens: 'optional',
    }),
  ),
  ...each(['httpEndpoint', 'httpProtocolIPv6', 'httpTokens'], (field) =>
    reject(`${field} on`, imds({ [field]: 'on' }), `${imdsAt}.${field}`, 'Unsupported value: "on"'),
  ),
  ...each([0, -5], (httpPutResponseHopLimit) =>
    reject(
      `hop limit ${httpPutResponseHopLimit}`,
      imds({ httpPutResponseHopLimit }),
      `${imdsAt}.httpPutResponseHopLimit`,
      'should be greater than or equal to 1',
    ),
  ),
  reject(
    'hop limit 65',
    imds({ httpPutResponseHopLimit: 65 }),
    `${imdsAt}.httpPutResponseHopLimit`,
    'should be less than or equal to 64',
  ),
);

const tracking = (fields: object) => ec2Class({ connectionTracking: fields });
const bounds: [string, number, number][] = [
  ['tcpEstablishedTimeout', 60, 432_000],
  ['udpStreamTimeout', 60, 180],
  ['udpTimeout', 30, 60],
];

const trackingCases: CorpusCase[] = underRule(
  'connection tracking',
  reject(
    'no timeout',
    tracking({}),
    'spec.connectionTracking',
    'at least one of tcpEstablishedTimeout, udpStreamTimeout, or udpTimeout must be set',
  ),
  accept('all timeouts', tracking({ tcpEstablishedTimeout: 300, udpStreamTimeout: 120, udpTimeout: 45 })),
  ...bounds.flatMap(([field, least, most]) => [
    accept(`${field} ${least}`, tracking({ [field]: least })),
    accept(`${field} ${most}`, tracking({ [field]: most })),
    reject(
      `${field} ${least - 1}`,
      tracking({ [field]: least - 1 }),
      `spec.connectionTracking.${field}`,
      `should be greater than or equal to ${least}`,
    ),
    reject(
      `${field} ${most + 1}`,
      tracking({ [field]: most + 1 }),
      `spec.connectionTracking.${field}`,
      `should be less than or equal to ${most}`,
    ),
  ]),
);

const otherCases: CorpusCase[] = underRule(
  'other EC2NodeClass fields',
  accept(
    'all plain fields',
    ec2Class({
      userData: '#!/bin/sh',
      detailedMonitoring: true,
      associatePublicIPAddress: false,
      ipPrefixCount: 0,
      context: 'c',
      instanceStorePolicy: 'RAID0',
    }),
  ),
  reject(
    'ipPrefixCount -1',
    ec2Class({ ipPrefixCount: -1 }),
    'spec.ipPrefixCount',
    'should be greater than or equal to 0',
  ),
  reject(
    'instanceStorePolicy RAID1',
    ec2Class({ instanceStorePolicy: 'RAID1' }),
    'spec.instanceStorePolicy',
    'Unsupported value: "RAID1"',
  ),
  reject(
    'detailedMonitoring in words',
    ec2Class({ detailedMonitoring: 'yes' }),
    'spec.detailedMonitoring',
    'must be of type boolean',
  ),
);

const processorCases: CorpusCase[] = underRule(
  'cpuOptions and enclaveOptions',
  ...each([true, false], (enabled) =>
    accept(`enclaves ${enabled}`, ec2Class({ enclaveOptions: { enabled } }), {
      stored: { 'spec.enclaveOptions.enabled': enabled },
    }),
  ),
  reject(
    'enclaveOptions without enabled',
    ec2Class({ enclaveOptions: {} }),
    'spec.enclaveOptions.enabled',
    'Required value',
  ),
  ...each([{}, { nestedVirtualization: 'enabled' }, { nestedVirtualization: 'disabled' }], (cpuOptions) =>
    accept(`cpuOptions ${shown(cpuOptions)}`, ec2Class({ cpuOptions })),
  ),
  reject(
    'nestedVirtualization on',
    ec2Class({ cpuOptions: { nestedVirtualization: 'on' } }),
    'spec.cpuOptions.nestedVirtualization',
    'Unsupported value: "on"',
  ),
);

export const ec2SettingCases: CorpusCase[] = [
  ...identityCases,
  ...tagCases,
  ...diskCases,
  ...networkCases,
  ...metadataCases,
  ...trackingCases,
  ...processorCases,
  ...otherCases,
];
