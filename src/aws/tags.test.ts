import { expect, test } from 'vitest';
import { nodeClass } from './node-class.testing.ts';
import { resourceTags, restrictedTag, tagList, tagMap, tagProblem } from './tags.ts';

test('what is made carries the tags of the class and ours, ours winning; a Name of the user is respected', () => {
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

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`tag-${index}`, '']));

test.each<[string, Record<string, string>, RegExp]>([
  ['ordinary', { Name: 'mine', 'team/é': '', [`k${'x'.repeat(127)}`]: 'v'.repeat(256) }, /^$/],
  ['as many as fit beside ours', many(44), /^$/],
  ['too many', many(45), /45 tags/],
  ['reserved', { 'aws:own': 'x' }, /"aws:own" begins with aws:, which AWS keeps for itself/],
  ['reserved in capitals', { 'AWS:own': 'x' }, /"AWS:own" begins/],
  ['a long key', { ['k'.repeat(129)]: '' }, /"k{20}…" is longer than 128 characters/],
  ['a long value', { k: 'v'.repeat(257) }, /the value of "k" is longer than 256 characters/],
  ['characters counted as AWS does', { k: '\u{1f600}'.repeat(256) }, /^$/],
])('tags AWS would refuse are found before it is asked: %s', (_, tags, problem) => {
  expect(tagProblem({ tags }) ?? '').toMatch(problem);
});

test('tags of a class with a role also go to IAM, which takes fewer characters', () => {
  for (const tags of [{ 'a(b)': '' }, { a: 'b*' }] as Record<string, string>[]) {
    expect(tagProblem({ tags })).toBeUndefined();
    expect(tagProblem({ tags, role: 'node' })).toMatch(/"a.*" has characters that IAM refuses/);
  }
  expect(tagProblem({ tags: { 'Größe 1_.:/=+-@': 'ß' }, role: 'node' })).toBeUndefined();
});
