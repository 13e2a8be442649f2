// Further sections of troubleshooting pages and guides: their own words in, the true cause out.
import { expect, test } from 'vitest';
import { diagnoseCase, minutesAgo, object } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { add, claim, event, expectCauses, get, healthy, waitingPod } from './field.testing.ts';

const sections: readonly [string, string, FailureId][] = [
  [
    'page: enable debug logging',
    'kubectl -n karpenter get deploy karpenter -o yaml\n        env:\n        - name: LOG_LEVEL\n          value: info\nno debug logs',
    'startup/debug-output-missing',
  ],
  [
    'page: missing service linked role',
    'AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances',
    'iam/spot-service-linked-role-missing',
  ],
  [
    'page: insufficient node group instances',
    '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"karpenter-7c8f9d6b5-x2x4x"},"error":"incompatible with nodepool \\"default\\", incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool DoesNotExist not in karpenter.sh/nodepool In [default]"}',
    'startup/replicas-exceed-unmanaged-nodes',
  ],
  [
    'page: Helm error when pulling the chart',
    'Error: failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://public.ecr.aws/token/?scope=repository: 403 Forbidden',
    'helm/registry-403',
  ],
  [
    'page: Helm error when installing the CRD chart',
    'Error: UPGRADE FAILED: invalid ownership metadata; annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "karpenter"',
    'helm/crd-ownership-annotation',
  ],
  [
    'page: failed encrypted EBS volume',
    '$ aws ec2 describe-instances --instance-ids i-0abc --query \'Reservations[].Instances[].StateReason\'\n[\n    {\n        "Code": "Client.InternalError",\n        "Message": "Client.InternalError: Client error on launch"\n    }\n]',
    'iam/ebs-kms-key-denied',
  ],
  [
    'page: node is not deleted although it expired',
    '2022-11-01T10:00:00.000Z\tERROR\tcontroller.inflightchecks\tInflight check failed for node, Node has not been initialized {"commit":"x","node":"ip-1"}',
    'init/never-initialised-never-removed',
  ],
  [
    'page: Node Termination Handler',
    '2023/05/01 12:00:00 INF Adding new event to the event store event={"Kind":"REBALANCE_RECOMMENDATION","NodeName":"ip-1"}\n2023/05/01 12:00:01 INF Cordoning the node\n2023/05/01 12:00:01 INF Draining the node',
    'interruption/nth-relaunch-loop',
  ],
  [
    'page: security groups for pods',
    'Warning FailedScheduling 0/3 nodes are available: 3 Insufficient vpc.amazonaws.com/pod-eni\npod stuck in ContainerCreating for 30 minutes',
    'net/security-groups-for-pods-slow-start',
  ],
  [
    'page: topology spread',
    'Failed to schedule pod, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone',
    'scheduling/spread-over-unreachable-domain',
  ],
  [
    'page: nodes after uninstalling',
    '$ helm uninstall karpenter --namespace karpenter\nrelease "karpenter" uninstalled\n$ kubectl delete node ip-10-0-1-1\nnode "ip-10-0-1-1" deleted\n^C\n$ kubectl get node ip-10-0-1-1 -o jsonpath={.metadata.finalizers}\n["karpenter.sh/termination"]',
    'termination/finalizer-after-uninstall',
  ],
  [
    'guide: unable to assume role',
    '{"level":"ERROR","logger":"controller","message":"Unable to assume role"}',
    'iam/pod-identity-association-wrong',
  ],
];

test.each(sections)('%s', (_, text, id) => {
  expect(diagnoseCase({ text }).findings.map((finding) => finding.id)).toEqual([id]);
});

const node = 'ip-10-0-0-1.ec2.internal';

test('guide, pods staying pending: the node class that the pool names is absent', () => {
  const cluster = healthy({ nodes: 0 });
  cluster.objects = cluster.objects.filter(({ kind }) => kind !== 'EC2NodeClass');
  expectCauses(
    { ...add(cluster, waitingPod('web')), none: ['EC2NodeClass'] },
    ['crd/nodepool-not-ready-because-nodeclass'],
    [],
  );
});

test('guide, nodes not consolidating: half-empty nodes and the policy WhenEmpty', () => {
  const cluster = healthy();
  for (const stored of cluster.objects)
    if (stored.kind === 'Node' && stored.metadata.labels['karpenter.sh/nodepool'] !== undefined) {
      stored.metadata.creationTimestamp = minutesAgo(9000);
      stored.status.allocatable = { cpu: '8', memory: '30Gi' };
    }
  get(cluster, 'NodePool', 'default').spec.disruption.consolidationPolicy = 'WhenEmpty';
  expectCauses(cluster, ['disruption/not-consolidating-unexplained']);
});

test('guide, affinity: an application pod on the system node', () => {
  const cluster = healthy();
  get(cluster, 'Node', 'system-0').spec = {
    taints: [{ key: 'CriticalAddonsOnly', value: 'true', effect: 'NoSchedule' }],
  };
  const spec = {
    nodeName: 'system-0',
    tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
    containers: [{ name: 'a', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
  };
  add(cluster, object('Pod', 'app', { spec, status: { phase: 'Running' } }, 'shop'));
  expectCauses(cluster, ['startup/user-pod-on-system-node']);
});

test('guide, its own manifests: one CPU as limit, an open metadata service, a tag of every cluster', () => {
  const cluster = healthy();
  get(cluster, 'NodePool', 'default').spec.limits = { cpu: '1000m', memory: '1000Gi' };
  const nodeClass = get(cluster, 'EC2NodeClass', 'default');
  nodeClass.spec.metadataOptions = { httpPutResponseHopLimit: 2 };
  nodeClass.spec.subnetSelectorTerms = [{ tags: { 'karpenter.sh/discovery': 'true' } }];
  expectCauses(cluster, [
    'scheduling/limit-unit-mistake',
    'iam/imds-open-to-pods',
    'net/discovery-tag-not-cluster-scoped',
  ]);
});

test('page, IP exhaustion in a subnet: pods wait for an address, and the subnet has none', () => {
  const cluster = healthy();
  for (const subnet of cluster.aws['ec2-describe-subnets'].Subnets) subnet.AvailableIpAddressCount = 0;
  const spec = { nodeName: node, containers: [{ name: 'a', resources: { requests: { cpu: '1', memory: '1Gi' } } }] };
  add(
    cluster,
    object(
      'Pod',
      'stuck',
      { metadata: { creationTimestamp: minutesAgo(20) }, spec, status: { phase: 'Pending' } },
      'shop',
    ),
    event(
      'e',
      'Pod',
      'stuck',
      'FailedCreatePodSandBox',
      'plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
    ),
  );
  expectCauses(cluster, ['net/subnet-addresses-exhausted']);
});

test('page, Windows pods unable to resolve DNS: the mapping lacks a group', () => {
  const cluster = healthy({ usesConfigMap: true });
  const nodeClass = get(cluster, 'EC2NodeClass', 'default');
  nodeClass.spec.amiSelectorTerms = [{ alias: 'windows2022@latest' }];
  nodeClass.status.amis = [{ id: 'ami-1', name: 'Windows_Server-2022-English-Core-EKS_Optimized-1.32-2026' }];
  add(cluster, object('ConfigMap', 'amazon-vpc-cni', { data: { 'enable-windows-ipam': 'true' } }, 'kube-system'));
  expectCauses(cluster, ['windows/dns-group-missing']);
});

test('page, unspecified requests: containers without any are killed', () => {
  const cluster = healthy();
  const status = (restartCount: number): object => ({
    phase: 'Running',
    containerStatuses: [
      {
        name: 'a',
        ready: true,
        restartCount,
        ...(restartCount > 0 ? { lastState: { terminated: { reason: 'OOMKilled' } } } : {}),
      },
    ],
  });
  for (const index of [0, 1, 2, 3, 4, 5, 6])
    add(
      cluster,
      object(
        'Pod',
        `fat-${index}`,
        { spec: { nodeName: node, containers: [{ name: 'a' }] }, status: status(index === 0 ? 4 : 0) },
        'shop',
      ),
    );
  expectCauses(cluster, ['scheduling/requests-missing-overpacked']);
});

test('page, deprovisioning: a node that is never initialised is kept', () => {
  const well = ['Launched', 'Registered'].map((type) => ({ type, status: 'True', lastTransitionTime: minutesAgo(90) }));
  const waiting = {
    type: 'Initialized',
    status: 'Unknown',
    reason: 'NodeNotReady',
    message: 'Node status is NotReady',
  };
  const cluster = add(healthy(), claim('default-half', 95, [...well, waiting]));
  expectCauses(cluster, ['init/never-initialised-never-removed']);
});
