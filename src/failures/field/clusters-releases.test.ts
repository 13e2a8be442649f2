// Clusters of other releases: what is right there must not be held against them, and what they left behind must be seen.
import { describe, test } from 'vitest';
import { minutesAgo, object } from '../case.testing.ts';
import { add, expectCauses, type FieldCluster, get, healthy, unregistered, waitingPod } from './field.testing.ts';

const imageOf = (cluster: FieldCluster, tag: string): void => {
  const [container] = get(cluster, 'Deployment', 'karpenter').spec.template.spec.containers;
  container.image = `public.ecr.aws/karpenter/controller:${tag}`;
};

function beta(tag: string): FieldCluster {
  const cluster = healthy();
  imageOf(cluster, tag);
  for (const stored of cluster.objects) {
    if (['NodePool', 'NodeClaim'].includes(stored.kind)) stored.apiVersion = 'karpenter.sh/v1beta1';
    if (stored.kind === 'CustomResourceDefinition') {
      stored.spec.versions = [{ name: 'v1beta1', served: true, storage: true }];
      stored.status.storedVersions = ['v1beta1'];
    }
  }
  const nodeClass = get(cluster, 'EC2NodeClass', 'default');
  nodeClass.apiVersion = 'karpenter.k8s.aws/v1beta1';
  delete nodeClass.spec.amiSelectorTerms;
  nodeClass.spec.amiFamily = 'AL2023';
  const pool = get(cluster, 'NodePool', 'default');
  pool.spec.disruption = { consolidationPolicy: 'WhenUnderutilized', expireAfter: '720h' };
  pool.spec.template.spec.nodeClassRef = {
    apiVersion: 'karpenter.k8s.aws/v1beta1',
    kind: 'EC2NodeClass',
    name: 'default',
  };
  return cluster;
}

describe('v1beta1', () => {
  test('is right for 0.37', () => expectCauses(beta('0.37.0@sha256:aa'), []));

  test('is refused by its own rule where consolidateAfter stands beside WhenUnderutilized', () => {
    const cluster = beta('0.37.0');
    get(cluster, 'NodePool', 'default').spec.disruption.consolidateAfter = '30s';
    expectCauses(cluster, ['crd/consolidate-after-not-allowed-v1beta1']);
  });

  test('definitions are too old for 1.3, which explains the objects', () =>
    expectCauses(beta('1.3.0'), ['startup/crd-missing-or-mismatched'], ['crd/removed-api-version']));
});

test('a conversion webhook that answers is right for 1.0', () => {
  const cluster = healthy();
  imageOf(cluster, '1.0.6');
  for (const stored of cluster.objects)
    if (stored.kind === 'CustomResourceDefinition') {
      stored.spec.versions = ['v1beta1', 'v1'].map((name) => ({ name, served: true, storage: name === 'v1' }));
      stored.spec.conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: { service: { name: 'karpenter', namespace: 'kube-system', port: 8443 } } },
      };
    }
  add(
    cluster,
    object('Service', 'karpenter', { spec: { ports: [{ port: 8080 }, { port: 8443 }] } }, 'kube-system'),
    object(
      'EndpointSlice',
      'karpenter-x',
      {
        metadata: { labels: { 'kubernetes.io/service-name': 'karpenter' } },
        endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      },
      'kube-system',
    ),
  );
  expectCauses(cluster, []);
});

test('Provisioner and AWSNodeTemplate are right for 0.31', () => {
  const cluster = healthy({ nodes: 0 });
  imageOf(cluster, 'v0.31.3');
  const gone = ['NodePool', 'NodeClaim', 'EC2NodeClass', 'CustomResourceDefinition'];
  cluster.objects = cluster.objects.filter(({ kind }) => !gone.includes(kind));
  const metadata = { name: 'default', creationTimestamp: minutesAgo(9999) };
  const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }];
  add(
    cluster,
    { apiVersion: 'karpenter.sh/v1alpha5', kind: 'Provisioner', metadata, spec: { requirements } },
    { apiVersion: 'karpenter.k8s.aws/v1alpha1', kind: 'AWSNodeTemplate', metadata, spec: {} },
  );
  expectCauses(cluster, []);
});

test('a Provisioner that a migration left behind is named', () => {
  const metadata = { name: 'old', creationTimestamp: minutesAgo(9999) };
  const cluster = add(healthy(), { apiVersion: 'karpenter.sh/v1alpha5', kind: 'Provisioner', metadata, spec: {} });
  expectCauses(cluster, ['crd/removed-api-version']);
});

test('two causes at one role are two findings, and what follows from both is folded', () => {
  const cluster = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('web'));
  cluster.aws['eks-list-access-entries'].accessEntries = [];
  cluster.aws['iam-list-attached-role-policies-KarpenterNodeRole-prod'].AttachedPolicies = [
    { PolicyName: 'AmazonSSMManagedInstanceCore' },
  ];
  expectCauses(
    cluster,
    ['registration/node-role-not-mapped', 'iam/node-role-policies-missing'],
    ['registration/undiagnosed-timeout'],
  );
});
