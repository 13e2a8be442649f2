import { describe, expect, test } from 'vitest';
import type { EC2NodeClass, NodeClaim } from '../../api/index.ts';
import { type } from '../instance-types/instance-types.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { type DriftInstance, type DriftQuestion, driftReason } from './drift.ts';

const hash = 'karpenter.k8s.aws/ec2nodeclass-hash';
const version = `${hash}-version`;
const stamped = { [hash]: '1', [version]: 'v5' };
const amd64 = [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }];

const status: NonNullable<EC2NodeClass['status']> = {
  amis: [{ id: 'ami-1', requirements: amd64 }],
  subnets: [{ id: 'subnet-1', zone: 'us-east-1a' }],
  securityGroups: [{ id: 'sg-1' }, { id: 'sg-2' }],
  capacityReservations: [
    {
      id: 'cr-1',
      availabilityZone: 'us-east-1a',
      instanceMatchCriteria: 'targeted',
      instanceType: 'm5.large',
      ownerID: '123456789012',
    },
  ],
};
const instance: DriftInstance = { securityGroupIds: ['sg-2', 'sg-1'], subnetId: 'subnet-1' };

const claimOf = (
  over: { labels?: Record<string, string>; annotations?: Record<string, string>; imageID?: string } = {},
) =>
  ({
    metadata: {
      name: 'a',
      labels: { 'node.kubernetes.io/instance-type': 'm5.large', ...over.labels },
      annotations: over.annotations ?? stamped,
    },
    spec: {},
    status: { imageID: over.imageID ?? 'ami-1' },
  }) as unknown as NodeClaim;

const classOf = (over: EC2NodeClass['status'] = {}, annotations: Record<string, string> = stamped) =>
  nodeClass({}, { metadata: { annotations }, status: { ...status, ...over } });

const ask = (over: Partial<DriftQuestion> & { found?: DriftInstance; now?: DriftInstance } = {}) =>
  driftReason({
    claim: claimOf(),
    nodeClass: classOf(),
    instanceType: (name) => (name === 'm5.large' ? type(name) : undefined),
    instance: async ({ fresh }) => (fresh ? (over.now ?? over.found ?? instance) : (over.found ?? instance)),
    ...over,
  });

describe('what has drifted', () => {
  test.each<[string | undefined, Parameters<typeof ask>[0]]>([
    [undefined, {}],
    ['AMIDrift', { claim: claimOf({ imageID: 'ami-0' }) }],
    ['SecurityGroupDrift', { found: { ...instance, securityGroupIds: ['sg-1'] } }],
    ['SecurityGroupDrift', { found: { ...instance, securityGroupIds: ['sg-1', 'sg-2', 'sg-3'] } }],
    ['SubnetDrift', { found: { ...instance, subnetId: 'subnet-0' } }],
    [undefined, { found: { ...instance, capacityReservationId: 'cr-1' } }],
    ['CapacityReservationDrift', { found: { ...instance, capacityReservationId: 'cr-0' } }],
    ['PlacementGroupDrift', { placementGroupId: 'pg-1' }],
    ['PlacementGroupDrift', { claim: claimOf({ labels: { 'karpenter.k8s.aws/placement-group-id': 'pg-1' } }) }],
    [
      undefined,
      { claim: claimOf({ labels: { 'karpenter.k8s.aws/placement-group-id': 'pg-1' } }), placementGroupId: 'pg-1' },
    ],
    [
      'NodeClassDrift',
      { claim: claimOf({ annotations: { ...stamped, [hash]: '2' }, imageID: 'ami-0' }), placementGroupId: 'pg-1' },
    ],
  ])('%s', async (reason, question) => {
    expect(await ask(question)).toBe(reason);
  });
});

test('an image that no longer maps to the instance type', async () => {
  const arm64 = [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }];
  expect(await ask({ nodeClass: classOf({ amis: [{ id: 'ami-1', requirements: arm64 }] }) })).toBe('AMIDrift');
});

test('an instance that fell back to on-demand has not drifted, whatever was remembered', async () => {
  expect(await ask({ found: { ...instance, capacityReservationId: 'cr-0' }, now: instance })).toBeUndefined();
});

describe('hashes are only compared when both sides have both annotations of one version', () => {
  test.each([
    [stamped, { [hash]: '2' }],
    [stamped, { [version]: 'v5' }],
    [stamped, {}],
    [{ [hash]: '1' }, { ...stamped, [hash]: '2' }],
    [{}, { ...stamped, [hash]: '2' }],
    [stamped, { [hash]: '2', [version]: 'v4' }],
  ])('%j against %j is not drift', async (ofClass, ofClaim) => {
    expect(
      await ask({ nodeClass: classOf({}, ofClass as never), claim: claimOf({ annotations: ofClaim }) }),
    ).toBeUndefined();
  });
});

describe('what cannot be known is an error', () => {
  const without = (key: 'amis' | 'subnets' | 'securityGroups') => classOf({ [key]: [] });
  test.each<[string, Parameters<typeof ask>[0], RegExp]>([
    [
      'no type label',
      { claim: claimOf({ labels: { 'node.kubernetes.io/instance-type': undefined as never } }) },
      /no label/,
    ],
    ['an unknown type', { claim: claimOf({ labels: { 'node.kubernetes.io/instance-type': 'x1.gone' } }) }, /x1\.gone/],
    ['no image id', { claim: claimOf({ imageID: '' }) }, /names no image/],
    ['no images', { nodeClass: without('amis') }, /no images/],
    ['no subnets', { nodeClass: without('subnets') }, /no subnets/],
    ['no security groups', { nodeClass: without('securityGroups') }, /no security groups/],
    [
      'a placement group no one looked up yet',
      {
        claim: claimOf({ labels: { 'karpenter.k8s.aws/placement-group-id': 'pg-1' } }),
        isPlacementGroupUnknown: true,
      },
      /placement group was not looked up/,
    ],
    ['no instance', { instance: () => Promise.reject(new Error('it is gone')) }, /it is gone/],
  ])('%s', async (_, question, message) => {
    await expect(ask(question)).rejects.toThrow(message);
  });
});
