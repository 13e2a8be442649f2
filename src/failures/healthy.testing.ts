// Healthy clusters of all sizes and kinds, as evidence: what is normal there (pods that wait for seconds, claims on their way,
// one throttled call, a leader that changed) must never be a finding, and what is broken in one of them must be the only one.
import fc from 'fast-check';
import { type CaseEvidence, condition, minutesAgo, now, object } from './case.testing.ts';

export const account = '111122223333';
const zones = ['us-east-1a', 'us-east-1b', 'us-east-1c'];

export interface HealthyShape {
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
  /** What goes on besides. */
  also: readonly Happening[];
}

const happenings = [
  'fargate',
  'nodeGroups',
  'consolidating',
  'interrupted',
  'draining',
  'fresh',
  'endedPods',
  'blockedForNow',
  'gpu',
  'webhookOfOthers',
  'oldEvents',
  'refusedCollector',
  'mappingsOfOthers',
  'leftoverErrors',
  'volumes',
] as const;
type Happening = (typeof happenings)[number];

export const healthyShape: fc.Arbitrary<HealthyShape> = fc.record({
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
  also: fc.uniqueArray(fc.constantFrom(...happenings), { maxLength: 5 }),
});

const labels = { 'app.kubernetes.io/name': 'karpenter' };
const ready = (...types: string[]): object[] => types.map((type) => condition(type, 'True', type, '', 300));

function objectsOf(given: HealthyShape): object[] {
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

function logOf({ isThrottled }: HealthyShape): string {
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

function accountOf({ usesConfigMap, usesPodIdentity, nodes }: HealthyShape): Record<string, object> {
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

export function healthyCluster(given: HealthyShape): CaseEvidence {
  return {
    now,
    objects: [
      ...objectsOf(given).filter((one) => !given.also.includes('fresh') || !isOfPools(one)),
      ...given.also.flatMap((happening) => objectsWhile[happening]?.() ?? []),
    ],
    ...(given.also.includes('fresh') ? { none: ['NodePool', 'NodeClaim', 'EC2NodeClass'] } : {}),
    ...(given.also.includes('refusedCollector')
      ? {
          refused: {
            'iam-list-instance-profiles':
              'An error occurred (AccessDenied) when calling the ListInstanceProfiles operation: User: arn:aws:iam::111122223333:user/alice is not authorized to perform: iam:ListInstanceProfiles',
            'kms-get-key-policy':
              'An error occurred (ExpiredTokenException) when calling the GetKeyPolicy operation: The security token included in the request is expired',
            'sqs-get-queue-attributes': 'Connect timeout on endpoint URL: "https://sqs.us-east-1.amazonaws.com/"',
          },
        }
      : {}),
    cluster: { name: 'prod', region: 'us-east-1', accountId: account, kubernetesVersion: '1.32' },
    ...(given.hasLogs
      ? {
          texts: {
            'logs/karpenter.log': `${logOf(given)}${given.also.map((happening) => linesWhile[happening] ?? '').join('')}`,
            'nodes/i-0aaaaaaa0/console.txt':
              'containerd: level=error msg="failed to load cni during init" error="no network config found in /etc/cni/net.d: cni plugin not initialized"\n[eks-bootstrap] INFO: complete!\n',
          },
        }
      : {}),
    ...(given.hasAccount ? { aws: accountOf(given.also.includes('fresh') ? { ...given, nodes: 0 } : given) } : {}),
  };
}

const isOfPools = (one: object): boolean => {
  const { kind = '', metadata = {} } = one as {
    kind?: string;
    metadata?: { labels?: Record<string, string>; name?: string };
  };
  if (['NodePool', 'NodeClaim', 'EC2NodeClass'].includes(kind)) return true;
  if (kind === 'Node') return metadata.labels?.['karpenter.sh/nodepool'] !== undefined;
  return kind === 'Pod' && /^(aws-node|kube-proxy|web|burst)-/.test(metadata.name ?? '');
};

const line = (level: string, time: string, message: string, rest = ''): string =>
  `{"level":"${level}","time":"2026-03-01T${time}.000Z","logger":"controller","message":"${message}"${rest}}\n`;

/** Lines of a log that a healthy controller writes. */
const linesWhile: Partial<Record<Happening, string>> = {
  consolidating: [
    line('INFO', '11:40:00', 'disrupting node(s)', ',"reason":"underutilized","decision":"replace"'),
    line('INFO', '11:40:02', 'tainted node', ',"Node":{"name":"ip-10-0-0-1.ec2.internal"}'),
    line('INFO', '11:41:00', 'deleted node'),
    line('INFO', '11:41:30', 'deleted nodeclaim'),
  ].join(''),
  interrupted: [
    line('INFO', '11:42:00', 'initiating delete from interruption message', ',"messageKind":"spot_interrupted"'),
    line('INFO', '11:43:00', 'deleted nodeclaim'),
  ].join(''),
  fresh: [line('INFO', '11:44:00', 'Starting workers'), line('INFO', '11:44:01', 'no nodepools found')].join(''),
  leftoverErrors: [
    line(
      'ERROR',
      '11:00:06',
      'Reconciler error',
      ',"error":"Operation cannot be fulfilled on nodeclaims.karpenter.sh \\"default-a0\\": the object has been modified; please apply your changes to the latest version and try again"',
    ),
    line('ERROR', '11:12:00', 'Reconciler error', ',"error":"etcdserver: leader changed"'),
    line('ERROR', '11:13:00', 'Reconciler error', ',"error":"context deadline exceeded"'),
    line('INFO', '11:50:00', 'launched nodeclaim'),
  ].join(''),
};

const pod = (name: string, namespace: string, rest: object): object => object('Pod', name, rest, namespace);
const wellPod = { phase: 'Running', containerStatuses: [{ name: 'app', ready: true, restartCount: 0 }] };
const event = (name: string, kind: string, about: string, reason: string, message: string, minutes: number): object =>
  object(
    'Event',
    name,
    { reason, message, involvedObject: { kind, name: about }, lastTimestamp: minutesAgo(minutes), type: 'Normal' },
    'default',
  );

/** Objects that a healthy cluster has while this goes on. */
const objectsWhile: Partial<Record<Happening, () => object[]>> = {
  fargate: () => [
    object('Node', 'fargate-ip-10-0-9-9.ec2.internal', {
      metadata: { labels: { 'eks.amazonaws.com/compute-type': 'fargate' } },
      spec: { taints: [{ key: 'eks.amazonaws.com/compute-type', value: 'fargate', effect: 'NoSchedule' }] },
      status: { conditions: ready('Ready') },
    }),
    pod('api-on-fargate', 'serverless', {
      spec: {
        nodeName: 'fargate-ip-10-0-9-9.ec2.internal',
        containers: [{ name: 'app', resources: { requests: { cpu: '250m', memory: '512Mi' } } }],
      },
      status: wellPod,
    }),
  ],
  nodeGroups: () => [
    object('Node', 'group-1.ec2.internal', {
      metadata: {
        creationTimestamp: minutesAgo(9000),
        labels: { 'eks.amazonaws.com/nodegroup': 'batch', 'kubernetes.io/os': 'linux' },
      },
      spec: { providerID: 'aws:///us-east-1a/i-0cccccccc1' },
      status: { conditions: ready('Ready') },
    }),
  ],
  consolidating: () => [
    event('c1', 'Node', 'ip-10-0-0-1.ec2.internal', 'Unconsolidatable', "Can't replace with a cheaper node", 3),
    event('c2', 'NodeClaim', 'default-a0', 'DisruptionTerminating', 'Disrupting NodeClaim: Underutilized/Delete', 2),
  ],
  interrupted: () => [
    event('s1', 'NodeClaim', 'default-gone', 'SpotInterrupted', 'Spot interruption warning was triggered', 40),
    event('s2', 'Node', 'gone.ec2.internal', 'TerminatingOnInterruption', 'Interruption triggered termination', 40),
  ],
  draining: () => [
    object('Node', 'leaving.ec2.internal', {
      metadata: {
        creationTimestamp: minutesAgo(600),
        deletionTimestamp: minutesAgo(1),
        finalizers: ['karpenter.sh/termination'],
        labels: { 'karpenter.sh/nodepool': 'default', 'karpenter.sh/initialized': 'true', 'kubernetes.io/os': 'linux' },
      },
      spec: {
        providerID: 'aws:///us-east-1a/i-0dddddddd1',
        taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }],
      },
      status: { conditions: ready('Ready') },
    }),
    object('NodeClaim', 'default-leaving', {
      metadata: {
        creationTimestamp: minutesAgo(602),
        deletionTimestamp: minutesAgo(1),
        finalizers: ['karpenter.sh/termination'],
        labels: { 'karpenter.sh/nodepool': 'default' },
      },
      spec: { nodeClassRef: { name: 'default' } },
      status: {
        nodeName: 'leaving.ec2.internal',
        providerID: 'aws:///us-east-1a/i-0dddddddd1',
        conditions: [
          ...ready('Launched', 'Registered', 'Initialized'),
          condition('Drained', 'Unknown', 'Draining', 'Draining', 1),
        ],
      },
    }),
    ...['aws-node', 'kube-proxy'].map((name) =>
      pod(`${name}-leaving`, 'kube-system', {
        metadata: { ownerReferences: [{ kind: 'DaemonSet', name }] },
        spec: { nodeName: 'leaving.ec2.internal', containers: [{ name }] },
        status: wellPod,
      }),
    ),
    event(
      'd1',
      'Node',
      'leaving.ec2.internal',
      'FailedDraining',
      'Failed to drain node, 3 pods are waiting to be evicted',
      0.5,
    ),
  ],
  endedPods: () => [
    pod('nightly-1', 'batch', {
      metadata: { ownerReferences: [{ kind: 'Job', name: 'nightly' }] },
      spec: { containers: [{ name: 'app' }] },
      status: { phase: 'Succeeded' },
    }),
  ],
  blockedForNow: () => [
    object(
      'PodDisruptionBudget',
      'api',
      {
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'api' } } },
        status: { disruptionsAllowed: 0, expectedPods: 3, currentHealthy: 2, desiredHealthy: 2 },
      },
      'shop',
    ),
  ],
  gpu: () => [object('DaemonSet', 'nvidia-device-plugin-daemonset', { spec: {} }, 'kube-system')],
  webhookOfOthers: () => [
    object('CustomResourceDefinition', 'certificates.cert-manager.io', {
      spec: {
        versions: [{ name: 'v1', served: true, storage: true }],
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { service: { name: 'cert-manager-webhook', namespace: 'cert-manager' } } },
        },
      },
    }),
  ],
  oldEvents: () => [
    event(
      'o1',
      'Pod',
      'long-gone',
      'FailedScheduling',
      'Failed to schedule pod, incompatible with nodepool "default", no instance type met the scheduling requirements or had a required offering',
      50,
    ),
    event('o2', 'NodeClaim', 'default-gone2', 'InsufficientCapacityError', 'NodeClaim default-gone2 event: x', 55),
  ],
  mappingsOfOthers: () => [
    object('ConfigMap', 'kube-root-ca.crt', { data: { 'ca.crt': 'x' } }, 'kube-system'),
    object('ServiceAccount', 'aws-load-balancer-controller', {}, 'kube-system'),
  ],
  volumes: () => [
    object('StorageClass', 'gp3', { metadata: {}, provisioner: 'ebs.csi.aws.com' }),
    object('PersistentVolume', 'pvc-1', {
      spec: {
        csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [{ key: 'topology.ebs.csi.aws.com/zone', operator: 'In', values: ['us-east-1a'] }],
              },
            ],
          },
        },
      },
    }),
  ],
};
