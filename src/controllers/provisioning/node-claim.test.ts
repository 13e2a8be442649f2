import { describe, expect, test } from 'vitest';
import type { NodePool } from '../../api/index.ts';
import type { InstanceTypeSpec, PlannedNode } from '../../core/index.ts';
import { nodeClaimFor } from './node-claim.ts';

const pool = {
  metadata: { name: 'default', uid: 'pool-uid' },
  spec: {
    template: {
      metadata: { labels: { tier: 'web' }, annotations: { note: 'x' } },
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'fast' },
        requirements: [],
        taints: [{ key: 'dedicated', value: 'a', effect: 'NoSchedule' }],
        startupTaints: [{ key: 'init', effect: 'NoExecute' }],
        expireAfter: '720h',
        terminationGracePeriod: '5m',
      },
    },
  },
} as unknown as NodePool;

const offering = (capacity: string) => ({
  requirements: [
    { key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: [capacity] },
    { key: 'topology.kubernetes.io/zone', operator: 'In' as const, values: ['a'] },
  ],
  price: 1,
  available: true,
});
const type = (name: string, ...capacity: string[]): InstanceTypeSpec => ({
  name,
  requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] }],
  capacity: { cpu: '4' },
  offerings: capacity.map(offering),
});
const planned: PlannedNode = {
  name: 'default-1',
  nodePool: 'default',
  instanceTypes: ['small', 'large'],
  chosen: { instanceType: 'small', zone: 'a', capacityType: 'spot', pricePerHour: 1 },
  requirements: [
    { key: 'team', operator: 'In', values: ['blue'] },
    { key: 'node.kubernetes.io/instance-type', operator: 'Exists', minValues: 2 },
    { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand', 'spot'] },
  ],
  requests: { cpu: '1100m', pods: '3' },
  annotations: { 'karpenter.sh/nodeclaim-min-values-relaxed': 'false' },
  pods: ['shop/web-1'],
};
const claim = nodeClaimFor(planned, {
  pool,
  instanceTypes: [type('small', 'spot'), type('large', 'on-demand', 'spot'), type('other', 'reserved')],
  facts: { nodeClasses: ['KWOKNodeClass.karpenter.kwok.sh'], wellKnownLabels: [] },
});

describe('the NodeClaim of a planned node', () => {
  test('is named after its pool and owned by it, without being controlled', () => {
    expect(claim.metadata.generateName).toBe('default-');
    expect(claim.metadata.ownerReferences).toEqual([
      { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', uid: 'pool-uid', blockOwnerDeletion: true },
    ]);
  });

  test('carries template labels, pool, node class and resolved custom requirements, but no well-known ones', () => {
    expect(claim.metadata.labels).toEqual({
      tier: 'web',
      team: 'blue',
      'karpenter.sh/nodepool': 'default',
      'karpenter.kwok.sh/kwoknodeclass': 'fast',
    });
  });

  test('carries the template’s annotations, the pool’s hash and what the plan adds', () => {
    expect(claim.metadata.annotations).toMatchObject({
      note: 'x',
      'karpenter.sh/nodepool-hash': expect.stringMatching(/^\d+$/),
      'karpenter.sh/nodepool-hash-version': 'v3',
      'karpenter.sh/nodeclaim-min-values-relaxed': 'false',
    });
  });

  test('lists the plan’s instance types with minValues kept, and the capacity types they are available as', () => {
    expect(claim.spec.requirements).toEqual([
      { key: 'team', operator: 'In', values: ['blue'] },
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['small', 'large'], minValues: 2 },
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand', 'spot'] },
    ]);
  });

  test('takes taints, startup taints, node class, expiry and grace period from the template', () => {
    expect(claim.spec).toMatchObject({
      taints: [{ key: 'dedicated', value: 'a', effect: 'NoSchedule' }],
      startupTaints: [{ key: 'init', effect: 'NoExecute' }],
      nodeClassRef: { name: 'fast' },
      expireAfter: '720h',
      terminationGracePeriod: '5m',
      resources: { requests: { cpu: '1100m', pods: '3' } },
    });
  });
});
