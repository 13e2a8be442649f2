// No crying wolf: two hundred healthy clusters of all sizes, some of them scaling right now, have no finding above low. What
// is normal there: pods that wait for seconds, claims on their way, one throttled call, a leader that changed, a node whose
// network comes up in its first seconds.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { condition, diagnoseCase, minutesAgo, now, object } from './case.testing.ts';

const account = '111122223333';
const zones = ['us-east-1a', 'us-east-1b', 'us-east-1c'];

interface Shape {
  nodes: number;
  joining: number;
  waiting: number;
  usesPodIdentity: boolean;
  usesConfigMap: boolean;
  allowsSpot: boolean;
  family: 'al2023' | 'bottlerocket' | 'al2';
  isThrottled: boolean;
  hasLogs: boolean;
  hasAccount: boolean;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  nodes: fc.integer({ min: 1, max: 12 }),
  joining: fc.integer({ min: 0, max: 3 }),
  waiting: fc.integer({ min: 0, max: 5 }),
  usesPodIdentity: fc.boolean(),
  usesConfigMap: fc.boolean(),
  allowsSpot: fc.boolean(),
  family: fc.constantFrom('al2023', 'bottlerocket', 'al2'),
  isThrottled: fc.boolean(),
  hasLogs: fc.boolean(),
  hasAccount: fc.boolean(),
});

const labels = { 'app.kubernetes.io/name': 'karpenter' };
const ready = (...types: string[]): object[] => types.map((type) => condition(type, 'True', type, '', 300));

function objectsOf(given: Shape): object[] {
  const { nodes, joining, waiting, family } = given;
  const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  const nodeName = (index: number): string => `ip-10-0-${index}-1.ec2.internal`;
  const running = (name: string, node: string, owner: string, namespace: string): object =>
    object(
      'Pod',
      name,
      {
        metadata: {
          labels: namespace === 'kube-system' && name.startsWith('karpenter') ? labels : { app: owner },
          ownerReferences: [{ kind: owner, name: owner.toLowerCase() }],
        },
        spec: {
          nodeName: node,
          containers: [{ name: 'app', resources: { requests: { cpu: '100m', memory: '128Mi' } } }],
        },
        status: { phase: 'Running', conditions: ready('Ready'), containerStatuses: [{ ready: true, restartCount: 0 }] },
      },
      namespace,
    );
  return [
    object(
      'Deployment',
      'karpenter',
      {
        metadata: { labels },
        spec: {
          replicas: 2,
          template: {
            spec: {
              serviceAccountName: 'karpenter',
              dnsPolicy: 'ClusterFirst',
              containers: [
                {
                  name: 'controller',
                  image: 'public.ecr.aws/karpenter/controller:1.8.3@sha256:aa',
                  env: [
                    { name: 'CLUSTER_NAME', value: 'prod' },
                    { name: 'INTERRUPTION_QUEUE', value: 'prod' },
                    { name: 'LOG_LEVEL', value: 'info' },
                  ],
                  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } },
                },
              ],
            },
          },
        },
        status: { replicas: 2, availableReplicas: 2 },
      },
      'kube-system',
    ),
    object(
      'ServiceAccount',
      'karpenter',
      {
        metadata: {
          annotations: given.usesPodIdentity
            ? {}
            : { 'eks.amazonaws.com/role-arn': `arn:aws:iam::${account}:role/KarpenterController` },
        },
      },
      'kube-system',
    ),
    object('NodePool', 'default', {
      spec: {
        limits: { cpu: '1000' },
        disruption: {
          consolidationPolicy: 'WhenEmptyOrUnderutilized',
          consolidateAfter: '1m',
          budgets: [{ nodes: '10%' }],
        },
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
            expireAfter: '720h',
            requirements: [
              {
                key: 'karpenter.sh/capacity-type',
                operator: 'In',
                values: given.allowsSpot ? ['spot', 'on-demand'] : ['on-demand'],
              },
              { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
            ],
          },
        },
      },
      status: {
        resources: { cpu: String(2 * nodes) },
        conditions: ready('NodeClassReady', 'ValidationSucceeded', 'Ready'),
      },
    }),
    object('EC2NodeClass', 'default', {
      spec: {
        role: 'KarpenterNodeRole-prod',
        amiSelectorTerms: [{ alias: `${family}@v20260101` }],
        subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'prod' } }],
        securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'prod' } }],
        metadataOptions: { httpTokens: 'required', httpPutResponseHopLimit: 1 },
      },
      status: {
        subnets: zones.map((zone) => ({ id: `subnet-${zone}`, zone })),
        securityGroups: [{ id: 'sg-cluster' }],
        amis: [{ id: 'ami-0a1b2c3d4e5f60718', name: `amazon-eks-node-${family}-x86_64-standard-1.32-v20260101` }],
        conditions: ready(
          'AMIsReady',
          'SubnetsReady',
          'SecurityGroupsReady',
          'InstanceProfileReady',
          'ValidationSucceeded',
          'Ready',
        ),
      },
    }),
    ...range(2).flatMap((index) => [
      object('Node', `system-${index}`, {
        metadata: { labels: { 'eks.amazonaws.com/nodegroup': 'system' } },
        status: { nodeInfo: { kubeletVersion: 'v1.32.9-eks-ecaa3a6' }, conditions: ready('Ready') },
      }),
      running(`karpenter-5697769d6c-cdwc${index}`, `system-${index}`, 'ReplicaSet', 'kube-system'),
      running(`coredns-5697769d6c-aaaa${index}`, `system-${index}`, 'ReplicaSet', 'kube-system'),
    ]),
    ...['aws-node', 'kube-proxy', ...(given.usesPodIdentity ? ['eks-pod-identity-agent'] : [])].map((name) =>
      object(
        'DaemonSet',
        name,
        {
          spec: {
            template: {
              spec: {
                tolerations: [{ operator: 'Exists' }],
                containers: [{ name, env: [{ name: 'ENABLE_POD_ENI', value: 'false' }] }],
              },
            },
          },
        },
        'kube-system',
      ),
    ),
    ...range(nodes).flatMap((index) => [
      object('Node', nodeName(index), {
        metadata: {
          creationTimestamp: minutesAgo(300),
          labels: {
            'karpenter.sh/nodepool': 'default',
            'karpenter.sh/initialized': 'true',
            'kubernetes.io/os': 'linux',
            'node.kubernetes.io/instance-type': 'm5.large',
          },
        },
        spec: { providerID: `aws:///us-east-1a/i-0aaaaaaa${index}` },
        status: { allocatable: { memory: '7100Mi' }, conditions: ready('Ready') },
      }),
      object('NodeClaim', `default-a${index}`, {
        metadata: { creationTimestamp: minutesAgo(302), labels: { 'karpenter.sh/nodepool': 'default' } },
        spec: { nodeClassRef: { name: 'default' } },
        status: {
          nodeName: nodeName(index),
          providerID: `aws:///us-east-1a/i-0aaaaaaa${index}`,
          allocatable: { memory: '6903Mi' },
          conditions: ready('Launched', 'Registered', 'Initialized', 'Ready'),
        },
      }),
      running(`aws-node-x${index}`, nodeName(index), 'DaemonSet', 'kube-system'),
      running(`kube-proxy-x${index}`, nodeName(index), 'DaemonSet', 'kube-system'),
      running(`web-${index}`, nodeName(index), 'ReplicaSet', 'shop'),
    ]),
    // On their way since half a minute.
    ...range(joining).map((index) =>
      object('NodeClaim', `default-j${index}`, {
        metadata: { creationTimestamp: minutesAgo(0.7), labels: { 'karpenter.sh/nodepool': 'default' } },
        spec: { nodeClassRef: { name: 'default' } },
        status: {
          providerID: `aws:///us-east-1a/i-0bbbbbbb${index}`,
          conditions: [
            condition('Launched', 'True', '', '', 0.5),
            condition('Registered', 'Unknown', 'NodeNotFound', 'Node not registered with cluster', 0.5),
            condition('Initialized', 'Unknown', 'NodeNotFound', 'Node not registered with cluster', 0.5),
          ],
        },
      }),
    ),
    ...range(waiting).map((index) =>
      object(
        'Pod',
        `burst-${index}`,
        {
          metadata: { creationTimestamp: minutesAgo(0.5) },
          spec: { containers: [{ name: 'app', resources: { requests: { cpu: '1' } } }] },
          status: {
            phase: 'Pending',
            conditions: [
              condition('PodScheduled', 'False', 'Unschedulable', '0/5 nodes are available: 5 Insufficient cpu.', 0.5),
            ],
          },
        },
        'shop',
      ),
    ),
    object(
      'PodDisruptionBudget',
      'web',
      {
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
        status: { disruptionsAllowed: 1, expectedPods: 3, currentHealthy: 3, desiredHealthy: 2 },
      },
      'shop',
    ),
    ...['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh', 'ec2nodeclasses.karpenter.k8s.aws'].map((name) =>
      object('CustomResourceDefinition', name, {
        metadata: {
          labels: { 'app.kubernetes.io/managed-by': 'Helm' },
          annotations: {
            'meta.helm.sh/release-name': 'karpenter-crd',
            'meta.helm.sh/release-namespace': 'kube-system',
          },
        },
        spec: { versions: [{ name: 'v1', served: true, storage: true }], conversion: { strategy: 'None' } },
        status: { storedVersions: ['v1'] },
      }),
    ),
    object(
      'ConfigMap',
      'aws-auth',
      {
        data: {
          mapRoles: given.usesConfigMap
            ? `- rolearn: arn:aws:iam::${account}:role/KarpenterNodeRole-prod\n  username: system:node:{{EC2PrivateDNSName}}\n  groups:\n  - system:bootstrappers\n  - system:nodes\n`
            : '',
        },
      },
      'kube-system',
    ),
    object(
      'Event',
      'e1',
      {
        reason: 'FailedCreatePodSandBox',
        message:
          'Failed to create pod sandbox: plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
        involvedObject: { kind: 'Pod', name: 'web-0', namespace: 'shop' },
        lastTimestamp: minutesAgo(290),
      },
      'shop',
    ),
  ];
}

function logOf({ isThrottled }: Shape): string {
  return [
    '{"level":"INFO","time":"2026-03-01T11:00:00.000Z","logger":"controller","message":"attempting to acquire leader lease kube-system/karpenter-leader-election..."}',
    '{"level":"INFO","time":"2026-03-01T11:00:05.000Z","logger":"controller","message":"successfully acquired lease kube-system/karpenter-leader-election"}',
    ...(isThrottled
      ? [
          '{"level":"ERROR","time":"2026-03-01T11:10:00.000Z","message":"Reconciler error","error":"describing instances, operation error EC2: DescribeInstances, https response error StatusCode: 503, RequestID: 1, api error RequestLimitExceeded: Request limit exceeded."}',
        ]
      : []),
    '{"level":"ERROR","time":"2026-03-01T11:20:00.000Z","message":"failed launching nodeclaim","error":"insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient m5.large capacity in the Availability Zone you requested"}',
    '{"level":"INFO","time":"2026-03-01T11:20:04.000Z","message":"launched nodeclaim","NodeClaim":{"name":"default-a0"}}',
    '{"level":"INFO","time":"2026-03-01T11:21:00.000Z","message":"registered nodeclaim"}',
    '',
  ].join('\n');
}

function accountOf({ usesConfigMap, usesPodIdentity, nodes }: Shape): Record<string, object> {
  return {
    'eks-describe-cluster': {
      cluster: {
        name: 'prod',
        version: '1.32',
        arn: `arn:aws:eks:us-east-1:${account}:cluster/prod`,
        accessConfig: { authenticationMode: usesConfigMap ? 'CONFIG_MAP' : 'API_AND_CONFIG_MAP' },
        resourcesVpcConfig: { vpcId: 'vpc-1', clusterSecurityGroupId: 'sg-cluster', endpointPrivateAccess: true },
      },
    },
    'eks-list-access-entries': {
      accessEntries: usesConfigMap ? [] : [`arn:aws:iam::${account}:role/KarpenterNodeRole-prod`],
    },
    'eks-list-pod-identity-associations': {
      associations: usesPodIdentity ? [{ namespace: 'kube-system', serviceAccount: 'karpenter' }] : [],
    },
    'ec2-describe-subnets': {
      Subnets: zones.map((zone) => ({
        SubnetId: `subnet-${zone}`,
        VpcId: 'vpc-1',
        AvailabilityZone: zone,
        AvailableIpAddressCount: 240,
        CidrBlock: '10.0.0.0/24',
      })),
    },
    'ec2-describe-security-groups': {
      SecurityGroups: [
        { GroupId: 'sg-cluster', IpPermissions: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: 'sg-cluster' }] }] },
      ],
    },
    'ec2-describe-instances': {
      Reservations: Array.from({ length: nodes }, (_, index) => ({
        Instances: [
          {
            InstanceId: `i-0aaaaaaa${index}`,
            State: { Name: 'running' },
            Tags: [{ Key: 'karpenter.sh/nodepool', Value: 'default' }],
            SecurityGroups: [{ GroupId: 'sg-cluster' }],
          },
        ],
      })),
    },
    'iam-list-attached-role-policies-KarpenterNodeRole-prod': {
      AttachedPolicies: [
        'AmazonEKSWorkerNodePolicy',
        'AmazonEC2ContainerRegistryPullOnly',
        'AmazonEKS_CNI_Policy',
        'AmazonSSMManagedInstanceCore',
      ].map((PolicyName) => ({ PolicyName })),
    },
    'iam-get-role-KarpenterNodeRole-prod': {
      Role: {
        RoleName: 'KarpenterNodeRole-prod',
        Arn: `arn:aws:iam::${account}:role/KarpenterNodeRole-prod`,
        AssumeRolePolicyDocument: {
          Statement: [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }],
        },
      },
    },
  };
}

test('two hundred healthy clusters have no finding above low', () => {
  fc.assert(
    fc.property(shape, (given) => {
      const { findings } = diagnoseCase({
        now,
        objects: objectsOf(given),
        cluster: { name: 'prod', region: 'us-east-1', accountId: account, kubernetesVersion: '1.32' },
        ...(given.hasLogs
          ? {
              texts: {
                'logs/karpenter.log': logOf(given),
                'nodes/i-0aaaaaaa0/console.txt':
                  'containerd: level=error msg="failed to load cni during init" error="no network config found in /etc/cni/net.d: cni plugin not initialized"\n[eks-bootstrap] INFO: complete!\n',
              },
            }
          : {}),
        ...(given.hasAccount ? { aws: accountOf(given) } : {}),
      });
      expect(findings.filter(({ severity }) => severity !== 'low')).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
