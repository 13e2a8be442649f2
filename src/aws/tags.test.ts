import { expect, test } from 'vitest';
import { nodeClass } from './node-class.testing.ts';
import { resourceTags, restrictedTag, tagList, tagMap } from './tags.ts';

test('C17: what is made carries the tags of the class and ours, ours winning; a Name of the user is respected', () => {
  const tags = resourceTags(nodeClass({ tags: { Name: 'mine', team: 'a', 'eks:eks-cluster-name': 'stolen' } }), {
    clusterName: 'demo',
    nodePool: 'pool',
  });
  expect(tags).toEqual({
    Name: 'mine',
    team: 'a',
    'kubernetes.io/cluster/demo': 'owned',
    'karpenter.sh/nodepool': 'pool',
    'eks:eks-cluster-name': 'demo',
    'karpenter.k8s.aws/ec2nodeclass': 'default',
  });
  expect(tagMap(tagList(tags))).toEqual(tags);
  expect(tagMap(undefined)).toEqual({});
});

test.each([
  ['karpenter.sh/nodepool', true],
  ['karpenter.sh/nodeclaim', true],
  ['karpenter.k8s.aws/ec2nodeclass', true],
  ['eks:eks-cluster-name', true],
  ['kubernetes.io/cluster/demo', true],
  ['kubernetes.io/cluster', false],
  ['karpenter.sh/managed', false],
  ['Name', false],
])('%s is a tag only the provider may set: %s', (key, isRestricted) => {
  expect(restrictedTag({ fine: 'x', [key]: 'y' })).toBe(isRestricted ? key : undefined);
});
