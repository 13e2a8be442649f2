// Clusters after a migration that stopped half-way, and keys that launches may not use: the one thing to change, among what
// is right and what only follows from it.
import { describe, expect, test } from 'vitest';
import { condition, diagnoseCase, minutesAgo, object } from '../case.testing.ts';
import { add, expectCauses, type FieldCluster, get, healthy, waitingPod } from './field.testing.ts';

const webhook = (namespace: string, failurePolicy = 'Fail'): object =>
  object('ValidatingWebhookConfiguration', 'validation.webhook.karpenter.sh', {
    webhooks: [
      {
        name: 'validation.webhook.karpenter.sh',
        failurePolicy,
        clientConfig: { service: { name: 'karpenter', namespace, port: 8443 } },
      },
    ],
  });
const service = (namespace: string, port: number): object =>
  object('Service', 'karpenter', { spec: { ports: [{ port }] } }, namespace);
const binding = (name: string, namespace: string, account = name): object =>
  object('ClusterRoleBinding', name, {
    roleRef: { name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  });
const ofCluster = Array.from({ length: 25 }, (_, index) => binding(`system:controller:c${index}`, 'kube-system'));

describe('admission webhooks', () => {
  test('of an older release that nothing answers', () =>
    expectCauses(add(healthy(), webhook('karpenter'), service('kube-system', 8080)), [
      'crd/admission-webhook-unreachable',
    ]));
  test('that the API server does without', () =>
    expectCauses(add(healthy(), webhook('karpenter', 'Ignore'), service('kube-system', 8080)), []));
  test('that answer', () => expectCauses(add(healthy(), webhook('kube-system'), service('kube-system', 8443)), []));
});

describe('rights in Kubernetes', () => {
  test('that are bound to the namespace of before', () =>
    expectCauses(add(healthy(), ...ofCluster, binding('karpenter', 'karpenter')), [
      'startup/kubernetes-permission-missing',
    ]));
  test('that are bound, with those of before still there', () =>
    expectCauses(
      add(healthy(), ...ofCluster, binding('karpenter', 'kube-system'), binding('old', 'karpenter', 'karpenter')),
      [],
    ));
  test('of which only others were collected', () =>
    expectCauses(add(healthy(), binding('prometheus', 'monitoring')), []));
});

test('old objects that a release does not read are why there is no pool', () => {
  const cluster = healthy();
  cluster.objects = cluster.objects.filter(({ kind }) => !['NodePool', 'NodeClaim', 'EC2NodeClass'].includes(kind));
  add(cluster, { ...object('Provisioner', 'default'), apiVersion: 'karpenter.sh/v1alpha5' }, waitingPod('api'));
  expectCauses({ ...cluster, none: ['NodePool', 'NodeClaim', 'EC2NodeClass'] }, ['crd/removed-api-version']);
});

test('a node without the taint of unregistered nodes', () => {
  const cluster = healthy();
  const missing = 'karpenter.sh/unregistered taint must be present on Karpenter-managed nodes';
  const claim = object('NodeClaim', 'default-0t0t0', {
    metadata: { creationTimestamp: minutesAgo(12), labels: { 'karpenter.sh/nodepool': 'default' } },
    spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } },
    status: {
      providerID: 'aws:///us-east-1a/i-0ccccccccccccccc1',
      conditions: [
        condition('Launched', 'True', 'Launched', '', 12),
        condition('Registered', 'False', 'UnregisteredTaintNotFound', missing, 11),
      ],
    },
  });
  expectCauses(add(cluster, claim), ['registration/unregistered-taint-missing']);
});

describe('the key of volumes', () => {
  const key = 'arn:aws:kms:us-east-1:111122223333:key/0a1b';
  const encrypted = (statement: object): FieldCluster => {
    const cluster = healthy();
    get(cluster, 'EC2NodeClass', 'default').spec.blockDeviceMappings = [
      { deviceName: '/dev/xvda', ebs: { kmsKeyID: key } },
    ];
    cluster.aws['kms-get-key-policy-0a1b'] = { Policy: JSON.stringify({ Statement: [statement] }) };
    return cluster;
  };
  const allow = (AWS: string, rest: object = {}): object => ({
    Sid: 'use',
    Effect: 'Allow',
    Principal: { AWS },
    Action: 'kms:*',
    Resource: '*',
    ...rest,
  });
  const through = (service: string): object => ({ Condition: { StringEquals: { 'kms:ViaService': service } } });

  test.each<[string, object]>([
    ['is for administrators alone', allow('arn:aws:iam::111122223333:role/Admin')],
    ['is for EC2 of another region', allow('*', through('ec2.eu-west-1.amazonaws.com'))],
    ['is for another account', allow('arn:aws:iam::999988887777:root')],
    ['lets the account only look', allow('arn:aws:iam::111122223333:root', { Action: ['kms:Describe*', 'kms:List*'] })],
  ])('%s', (_, statement) => expectCauses(encrypted(statement), ['iam/ebs-kms-key-denied']));

  test.each<[string, object]>([
    ['leaves the decision to IAM', allow('arn:aws:iam::111122223333:root')],
    ['is for all who come through EC2', allow('*', through('ec2.us-east-1.amazonaws.com'))],
    [
      'has a condition that is unknown from here',
      allow('*', { Condition: { StringEquals: { 'aws:PrincipalOrgID': 'o-1' } } }),
    ],
    ['names someone by a unique id', allow('AROAEXAMPLEID')],
  ])('%s: nothing is found', (_, statement) => expectCauses(encrypted(statement), []));

  test('whose policy may not be read is not judged, and what that needs is said', () => {
    const cluster = encrypted({});
    delete cluster.aws['kms-get-key-policy-0a1b'];
    const refusal = 'An error occurred (AccessDeniedException) when calling the GetKeyPolicy operation: not you';
    const { findings, checks } = diagnoseCase({ ...cluster, refused: { 'kms-get-key-policy-0a1b': refusal } });
    expect(findings.filter(({ severity }) => severity !== 'low')).toEqual([]);
    expect(checks).toContainEqual({
      id: 'iam/ebs-kms-key-denied',
      outcome: 'not made',
      needs: 'kms:GetKeyPolicy, or aws/kms-get-key-policy.json',
    });
  });
});
