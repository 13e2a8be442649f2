import { expect, test } from 'vitest';
import { AwsAnswers } from './aws-answers.ts';
import { object } from './case.testing.ts';
import { evidenceOf } from './evidence.ts';
import { controllerNamespace, isEnvHidden, named, nodeRoles, roleArn } from './facts.ts';
import { numberAt, textsAt } from './fields.ts';
import { answer, never } from './needs.ts';
import { annotationsOf, Objects } from './objects.ts';

const objects = new Objects();
objects.add(object('EC2NodeClass', 'a', { spec: { role: 'nodes' } }), 'a.yaml');
objects.add(object('EC2NodeClass', 'b', { spec: { instanceProfile: 'profile-1' } }), 'b.yaml');
objects.add(object('Deployment', 'karpenter', {}, 'kube-system'), 'd.yaml');
const aws = new AwsAnswers();
aws.add(
  'iam-get-instance-profile-x',
  { InstanceProfile: { InstanceProfileName: 'profile-1', Roles: [{ RoleName: 'others' }] } },
  'p.json',
);
aws.addRefusal('sqs-get-queue-url', 'An error occurred (AccessDenied) when calling the GetQueueUrl operation', 'q.err');
aws.addRefusal('iam-get-role-x', 'An error occurred (NoSuchEntity) when calling the GetRole operation: …', 'r.err');
const evidence = evidenceOf({ objects, aws, cluster: { accountId: '111122223333', region: 'us-east-1' } });

test('roles of nodes are found in classes and in the profiles they name', () => {
  expect(nodeRoles(evidence).map(({ role }) => role)).toEqual(['nodes', 'others']);
  expect(roleArn(evidence, 'nodes')).toBe('arn:aws:iam::111122223333:role/nodes');
  expect(roleArn(evidenceOf({}), 'nodes')).toContain('$(aws sts get-caller-identity');
  expect(controllerNamespace(evidence)).toBe('kube-system');
});

test('a refusal that is about the person who asked answers nothing', () => {
  expect(answer('sqs-get-queue-url').isMet(evidence)).toBe(false);
  expect(answer('iam-get-role').isMet(evidence)).toBe(true);
  expect(answer('iam-get-role').what).toBe('iam:GetRole, or aws/iam-get-role.json');
  expect(never('a shell').isMet(evidence)).toBe(false);
});

test('fields of any type are read without an exception', () => {
  expect(numberAt({ a: '4' }, 'a')).toBe(4);
  expect(numberAt({ a: 'x' }, 'a')).toBeUndefined();
  expect(textsAt({ a: 'one' }, 'a')).toEqual(['one']);
  expect(textsAt({ a: ['one', 2] }, 'a')).toEqual(['one']);
  expect(annotationsOf({ metadata: [] })).toEqual({});
  expect(isEnvHidden({ env: [{ name: 'A', valueFrom: {} }] }, 'A')).toBe(true);
  expect(named([{ name: 'a' }, { name: 'b' }, { name: 'c' }], 2)).toBe('a, b and 1 more');
});
