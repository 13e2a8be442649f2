import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type EC2NodeClassSpec,
  ec2NodeClassHash,
  ec2NodeClassHashVersion,
  type NodeClaimTemplate,
  nodePoolHash,
  nodePoolHashVersion,
  resolvedAmiFamily,
} from '../index.ts';
import { hashInt64, hashString, hashText } from './structural-hash.ts';

type TemplateSpec = NodeClaimTemplate['spec'];

const template = (
  group: string,
  kind: string,
  spec: Partial<TemplateSpec>,
  metadata: NodeClaimTemplate['metadata'] = {},
): NodeClaimTemplate => ({
  metadata,
  spec: { requirements: [], nodeClassRef: { group, kind, name: 'default' }, ...spec },
});

const kwok = (spec: Partial<TemplateSpec>, metadata?: NodeClaimTemplate['metadata']): NodeClaimTemplate =>
  template('karpenter.kwok.sh', 'KWOKNodeClass', spec, metadata);

describe('hash of a NodePool template', () => {
  test.each([
    ['a test class', template('karpenter.test.sh', 'TestNodeClass', { expireAfter: '720h' }), '15987417032968393143'],
    ['Never leaves no trace', kwok({ expireAfter: 'Never' }), '7428780003907761376'],
    [
      'every field',
      kwok(
        {
          expireAfter: '720h',
          terminationGracePeriod: '300s',
          taints: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }],
          startupTaints: [{ key: 'init', effect: 'NoExecute' }],
        },
        { labels: { team: 'a' }, annotations: { note: 'x' } },
      ),
      '2625375684758371963',
    ],
    ['labels', kwok({ expireAfter: '720h' }, { labels: { team: 'a', tier: 'web' } }), '5187040843980608212'],
    ['no grace at all', kwok({ expireAfter: '720h', terminationGracePeriod: '0s' }), '16848824146983765585'],
    [
      'a taint with its time',
      kwok({
        expireAfter: '720h',
        taints: [{ key: 'a', effect: 'NoSchedule', timeAdded: '2026-01-02T03:04:05Z' }],
      }),
      '11214752619878847857',
    ],
    ['an empty list', kwok({ expireAfter: '720h', taints: [] }), '845502862369909111'],
    ['zero is a value', kwok({ expireAfter: '0s' }), '13546070544088512816'],
  ])('matches the known value: %s', (_, value, hash) => {
    expect(nodePoolHash(value)).toBe(hash);
  });

  test('does not change with the order of labels and taints, nor with requirements', () => {
    const taints: TemplateSpec['taints'] = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'b', value: 'x', effect: 'NoExecute' },
    ];
    const one = kwok({ taints }, { labels: { a: '1', b: '2' } });
    const other = kwok(
      { taints: taints.toReversed(), requirements: [{ key: 'x', operator: 'Exists' }] },
      { labels: { b: '2', a: '1' } },
    );
    expect(nodePoolHash(other)).toBe(nodePoolHash(one));
  });

  test('writing the same duration in other words changes nothing', () => {
    expect(nodePoolHash(kwok({ expireAfter: '30m' }))).toBe(nodePoolHash(kwok({ expireAfter: '1800s' })));
  });

  test('an empty map is a value, an absent one is not', () => {
    expect(nodePoolHash(kwok({}, { labels: {} }))).not.toBe(nodePoolHash(kwok({})));
  });
});

describe('hash of an EC2NodeClass', () => {
  const base: EC2NodeClassSpec = {
    role: 'role-1',
    tags: { 'keyTag-1': 'valueTag-1', 'keyTag-2': 'valueTag-2' },
    context: 'fake-context',
    detailedMonitoring: false,
    associatePublicIPAddress: false,
    metadataOptions: {
      httpEndpoint: 'disabled',
      httpProtocolIPv6: 'disabled',
      httpPutResponseHopLimit: 1,
      httpTokens: 'optional',
    },
    blockDeviceMappings: [
      {
        deviceName: 'map-device-1',
        ebs: {
          deleteOnTermination: false,
          encrypted: false,
          iops: 0,
          kmsKeyID: 'fakeKMSKeyID',
          snapshotID: 'fakeSnapshot',
          throughput: 0,
          volumeSize: '2G',
          volumeType: 'standard',
        },
      },
      { deviceName: 'map-device-2' },
    ],
    userData: 'userdata-test-1',
    amiFamily: 'Custom',
    amiSelectorTerms: [{ id: 'ami-1' }],
    subnetSelectorTerms: [],
    securityGroupSelectorTerms: [],
  };
  const devices = (volumeSize: string) =>
    base.blockDeviceMappings?.map((device) =>
      device.ebs === undefined ? device : { ...device, ebs: { ...device.ebs, volumeSize } },
    ) ?? [];
  const { role: _, ...withoutRole } = base;

  test.each<[string, EC2NodeClassSpec, string]>([
    ['the base', base, '2608468723537941485'],
    ['userData', { ...base, userData: 'userdata-test-2' }, '2153344579995979450'],
    ['detailedMonitoring', { ...base, detailedMonitoring: true }, '11845605438531206428'],
    ['volumeSize', { ...base, blockDeviceMappings: devices('10G') }, '3564293065344858862'],
    ['instanceStorePolicy', { ...base, instanceStorePolicy: 'RAID0' }, '6430637013089544585'],
    ['connectionTracking', { ...base, connectionTracking: { tcpEstablishedTimeout: 300 } }, '12177489405137904098'],
    ['cpuOptions', { ...base, cpuOptions: { nestedVirtualization: 'enabled' } }, '17001101224536964682'],
    ['instanceProfile', { ...withoutRole, instanceProfile: 'test-instance-profile' }, '3585768058063247698'],
  ])('matches the known value: %s', (_, spec, hash) => {
    expect(ec2NodeClassHash(spec, 'test-ca-bundle')).toBe(hash);
  });

  test.each<[string, EC2NodeClassSpec]>([
    ['selector terms', { ...base, subnetSelectorTerms: [{ id: 'subnet-1' }], amiSelectorTerms: [{ name: 'x' }] }],
    ['the order of disks', { ...base, blockDeviceMappings: devices('2G').toReversed() }],
    ['ipPrefixCount', { ...base, ipPrefixCount: 3 }],
    ['a size in other words', { ...base, blockDeviceMappings: devices('2000M') }],
  ])('does not change with %s', (_, spec) => {
    expect(ec2NodeClassHash(spec, 'test-ca-bundle')).toBe('2608468723537941485');
  });

  const small: EC2NodeClassSpec = {
    role: 'r',
    amiFamily: 'AL2023',
    amiSelectorTerms: [{ id: 'ami-1' }],
    subnetSelectorTerms: [],
    securityGroupSelectorTerms: [],
  };
  const kubelet = { registryPullQPS: 10, maxPods: 42, evictionHard: { 'memory.available': '<5%' } };
  test.each<[string, EC2NodeClassSpec, string]>([
    ['nothing set', small, '17004183022854148317'],
    ['an empty kubelet', { ...small, kubelet: {} }, '13441793211035013584'],
    ['kubelet settings as JSON text', { ...small, kubelet }, '1070093320771744782'],
    ['enclaves on', { ...small, enclaveOptions: { enabled: true } }, '17099901109422070959'],
    ['enclaves off', { ...small, enclaveOptions: { enabled: false } }, '16553838491259861325'],
  ])('v6 matches the known value: %s', (_, spec, hash) => {
    expect(ec2NodeClassHash(spec, 'ca')).toBe(hash);
  });

  test('changes with the CA bundle, and with the family an alias stands for', () => {
    const { amiFamily: __, ...unset } = base;
    expect(ec2NodeClassHash(base, 'other')).not.toBe(ec2NodeClassHash(base, 'test-ca-bundle'));
    const alias = { ...unset, amiSelectorTerms: [{ alias: 'al2023@latest' }] };
    expect(ec2NodeClassHash(alias, '')).toBe(ec2NodeClassHash({ ...alias, amiFamily: 'AL2023' }, ''));
  });
});

describe('FNV-1', () => {
  const reference = (bytes: Uint8Array): bigint => {
    let hash = 0xcbf29ce484222325n;
    for (const byte of bytes) hash = BigInt.asUintN(64, hash * 0x100000001b3n) ^ BigInt(byte);
    return hash;
  };

  test('halves compute what 64-bit arithmetic does, on any text and number', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        (text, number) => {
          expect(hashText(hashString(text))).toBe(String(reference(new TextEncoder().encode(text))));
          const bytes = new DataView(new ArrayBuffer(8));
          bytes.setBigInt64(0, number, true);
          expect(hashText(hashInt64(number))).toBe(String(reference(new Uint8Array(bytes.buffer))));
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });
});

test('versions are those of the clusters we take over: only then are hashes compared', () => {
  expect([nodePoolHashVersion, ec2NodeClassHashVersion]).toEqual(['v3', 'v6']);
});

test.each<[Parameters<typeof resolvedAmiFamily>[0], string]>([
  [{ amiSelectorTerms: [{ alias: 'al2@latest' }] }, 'AL2'],
  [{ amiSelectorTerms: [{ alias: 'al2023@latest' }] }, 'AL2023'],
  [{ amiSelectorTerms: [{ alias: 'bottlerocket@latest' }] }, 'Bottlerocket'],
  [{ amiSelectorTerms: [{ alias: 'windows2019@latest' }] }, 'Windows2019'],
  [{ amiSelectorTerms: [{ alias: 'windows2022@latest' }] }, 'Windows2022'],
  [{ amiSelectorTerms: [{ alias: 'windows2025@latest' }] }, 'Windows2025'],
  [{ amiSelectorTerms: [{ alias: 'al2@latest' }], amiFamily: 'Custom' }, 'Custom'],
  [{ amiSelectorTerms: [{ id: 'ami-1' }] }, 'Custom'],
  [{ amiSelectorTerms: [{ id: 'ami-1' }], amiFamily: 'AL2' }, 'AL2'],
])('%j is of family %s', (spec, family) => {
  expect(resolvedAmiFamily(spec)).toBe(family);
});
