// The smallest valid object of each kind, to vary. A field set to undefined is left out.
import type { Manifest } from './case.ts';

const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

const nodeSpec = (fields: object) => ({ requirements: [], nodeClassRef, ...fields });

export const pool = (spec: object = {}, node: object = {}, metadata?: object): Manifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'corpus' },
  spec: {
    template: { ...(metadata === undefined ? {} : { metadata }), spec: nodeSpec(node) },
    ...spec,
  },
});

export const claim = (fields: object = {}): Manifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'corpus' },
  spec: nodeSpec(fields),
});

export const overlay = (fields: object = {}): Manifest => ({
  apiVersion: 'karpenter.sh/v1alpha1',
  kind: 'NodeOverlay',
  metadata: { name: 'corpus' },
  spec: { requirements: [], ...fields },
});

export const buffer = (fields: object = {}): Manifest => ({
  apiVersion: 'autoscaling.x-k8s.io/v1beta1',
  kind: 'CapacityBuffer',
  metadata: { name: 'corpus', namespace: 'default' },
  spec: fields,
});

export const kwokClass = (fields: object = {}): Manifest => ({
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name: 'corpus' },
  spec: fields,
});

export const ec2Class = (fields: object = {}): Manifest => ({
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'corpus' },
  spec: {
    role: 'node',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [{ tags: { Name: 'a' } }],
    securityGroupSelectorTerms: [{ tags: { Name: 'a' } }],
    ...fields,
  },
});

/** An object with a status, for writes to that subresource. */
export const withStatus = (manifest: Manifest, status: unknown): Manifest => ({ ...manifest, status });
