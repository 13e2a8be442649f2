// Healthy clusters in which workloads, leaving nodes or interruptions are broken, and what only looks like it.
import { test } from 'vitest';
import { condition, minutesAgo, object } from '../case.testing.ts';
import {
  add,
  claim,
  event,
  expectCauses,
  type FieldCluster,
  get,
  healthy,
  type Loose,
  waitingPod,
} from './field.testing.ts';

const onNode = (name: string, node: string, rest: Loose = {}, ns = 'shop') =>
  object(
    'Pod',
    name,
    {
      metadata: {
        creationTimestamp: minutesAgo(3000),
        labels: { app: name.split('-')[0] },
        ownerReferences: [{ kind: 'ReplicaSet', name: 'r' }],
        ...rest.metadata,
      },
      spec: {
        nodeName: node,
        containers: [{ name: 'a', resources: { requests: { cpu: '100m', memory: '128Mi' } } }],
        ...rest.spec,
      },
      status: {
        phase: 'Running',
        containerStatuses: [{ name: 'a', ready: true, restartCount: 0 }],
        ...rest.status,
      },
    },
    ns,
  );
const old = (e: FieldCluster, n: string, min = 20000) => {
  get(e, 'Node', n).metadata.creationTimestamp = minutesAgo(min);
  return e;
};
const NODE = 'ip-10-0-0-1.ec2.internal';
test('names disruption/pdb-blocks: pdb never', () => {
  const e = old(healthy(), NODE);
  add(
    e,
    onNode('api-1', NODE),
    object(
      'PodDisruptionBudget',
      'api',
      {
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'api' } } },
        status: { disruptionsAllowed: 0, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1 },
      },
      'shop',
    ),
  );
  expectCauses(e, ['disruption/pdb-blocks']);
});
test('names disruption/pdb-blocks: pdb max 0', () => {
  const e = old(healthy(), NODE);
  add(
    e,
    onNode('api-1', NODE),
    object(
      'PodDisruptionBudget',
      'api',
      {
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'api' } } },
        status: { disruptionsAllowed: 0, expectedPods: 3, currentHealthy: 3, desiredHealthy: 3 },
      },
      'shop',
    ),
  );
  expectCauses(e, ['disruption/pdb-blocks']);
});
test('names disruption/do-not-disrupt-blocks: dnd', () => {
  const e = old(healthy(), NODE);
  add(
    e,
    onNode('batch-1', NODE, {
      metadata: {
        labels: { app: 'batch' },
        annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
        creationTimestamp: minutesAgo(19000),
      },
    }),
  );
  expectCauses(e, ['disruption/do-not-disrupt-blocks']);
});
test('has nothing above low: dnd young', () => {
  const e = healthy();
  add(
    e,
    onNode('batch-1', NODE, {
      metadata: {
        labels: { app: 'batch' },
        annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
        creationTimestamp: minutesAgo(10),
      },
    }),
    event(
      'd',
      'Node',
      NODE,
      'DisruptionBlocked',
      'Node is blocked: Pod "shop/batch-1" has "karpenter.sh/do-not-disrupt" annotation',
    ),
  );
  expectCauses(e, []);
});
test('names disruption/budget-zero-in-force: budget 0 (low)', () => {
  const e = healthy();
  get(e, 'NodePool', 'default').spec.disruption.budgets = [{ nodes: '0' }];
  expectCauses(e, ['disruption/budget-zero-in-force']);
});
test('has nothing above low: consolidateAfter never', () => {
  const e = old(healthy(), NODE);
  get(e, 'NodePool', 'default').spec.disruption.consolidateAfter = 'Never';
  expectCauses(e, []);
});
const leavingNode = (min: number, conds: object[] = []) => [
  object('Node', 'leave.ec2.internal', {
    metadata: {
      creationTimestamp: minutesAgo(9000),
      deletionTimestamp: minutesAgo(min),
      finalizers: ['karpenter.sh/termination'],
      labels: { 'karpenter.sh/nodepool': 'default', 'karpenter.sh/initialized': 'true', 'kubernetes.io/os': 'linux' },
    },
    spec: { providerID: 'aws:///us-east-1a/i-0abcdabcdabcd0001' },
    status: { conditions: [condition('Ready', 'True')] },
  }),
  object('NodeClaim', 'default-leave', {
    metadata: {
      creationTimestamp: minutesAgo(9000),
      deletionTimestamp: minutesAgo(min),
      finalizers: ['karpenter.sh/termination'],
      labels: { 'karpenter.sh/nodepool': 'default' },
    },
    spec: { nodeClassRef: { name: 'default' } },
    status: {
      nodeName: 'leave.ec2.internal',
      providerID: 'aws:///us-east-1a/i-0abcdabcdabcd0001',
      conditions: [
        condition('Launched', 'True'),
        condition('Registered', 'True'),
        condition('Initialized', 'True'),
        ...conds,
      ],
    },
  }),
  onNode(
    'aws-node-leave',
    'leave.ec2.internal',
    { metadata: { ownerReferences: [{ kind: 'DaemonSet', name: 'aws-node' }] } },
    'kube-system',
  ),
  onNode(
    'kube-proxy-leave',
    'leave.ec2.internal',
    { metadata: { ownerReferences: [{ kind: 'DaemonSet', name: 'kube-proxy' }] } },
    'kube-system',
  ),
];
test('names termination/drain-never-completes: drain', () => {
  const e = add(
    healthy(),
    ...leavingNode(300, [condition('Drained', 'Unknown', 'Draining', 'Draining', 300)]),
    onNode('db-0', 'leave.ec2.internal'),
    object(
      'PodDisruptionBudget',
      'db',
      {
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'db' } } },
        status: { disruptionsAllowed: 0, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1 },
      },
      'shop',
    ),
    event(
      'f',
      'Node',
      'leave.ec2.internal',
      'FailedDraining',
      'Failed to drain node, 1 pods are waiting to be evicted',
    ),
  );
  expectCauses(e, ['termination/drain-never-completes']);
});
test('names termination/finalizer-after-uninstall: uninstalled', () => {
  const e = add(healthy(), ...leavingNode(300));
  e.objects = e.objects.filter(
    (o) => !(o.kind === 'Deployment') && !(o.kind === 'Pod' && o.metadata.name.startsWith('karpenter')),
  );
  e.none = ['Deployment'];
  expectCauses(e, ['termination/finalizer-after-uninstall']);
});
test('names termination/finalizer-strip-leaks-instances: leak', () => {
  const e = healthy();
  e.aws['ec2-describe-instances'].Reservations.push({
    Instances: [
      {
        InstanceId: 'i-0deadbeef00000001',
        State: { Name: 'running' },
        LaunchTime: minutesAgo(5000),
        Tags: [
          { Key: 'karpenter.sh/nodepool', Value: 'default' },
          { Key: 'kubernetes.io/cluster/prod', Value: 'owned' },
        ],
      },
    ],
  });
  expectCauses(e, ['termination/finalizer-strip-leaks-instances']);
});
test('has nothing above low: instance of another cluster', () => {
  const e = healthy();
  delete e.cluster.name;
  e.aws['ec2-describe-instances'].Reservations.push({
    Instances: [
      {
        InstanceId: 'i-0deadbeef00000001',
        State: { Name: 'running' },
        LaunchTime: minutesAgo(5000),
        Tags: [
          { Key: 'karpenter.sh/nodepool', Value: 'default' },
          { Key: 'kubernetes.io/cluster/staging', Value: 'owned' },
        ],
      },
    ],
  });
  expectCauses(e, []);
});
test('has nothing above low: instance just launched', () => {
  const e = healthy();
  e.aws['ec2-describe-instances'].Reservations.push({
    Instances: [
      {
        InstanceId: 'i-0deadbeef00000001',
        State: { Name: 'running' },
        LaunchTime: minutesAgo(1),
        Tags: [{ Key: 'karpenter.sh/nodepool', Value: 'default' }],
      },
    ],
  });
  expectCauses(e, []);
});
test('names interruption/queue-not-configured: no queue', () => {
  const e = healthy({ allowsSpot: true });
  const d = get(e, 'Deployment', 'karpenter');
  d.spec.template.spec.containers[0].env = d.spec.template.spec.containers[0].env.filter(
    (x: Loose) => x.name !== 'INTERRUPTION_QUEUE',
  );
  expectCauses(e, ['interruption/queue-not-configured']);
});
test('has nothing above low: no queue on-demand only', () => {
  const e = healthy({ allowsSpot: false });
  const d = get(e, 'Deployment', 'karpenter');
  d.spec.template.spec.containers[0].env = d.spec.template.spec.containers[0].env.filter(
    (x: Loose) => x.name !== 'INTERRUPTION_QUEUE',
  );
  expectCauses(e, []);
});
test('names interruption/events-not-delivered: queue absent', () => {
  const e = healthy({ allowsSpot: true });
  e.refused = {
    'sqs-get-queue-url':
      'An error occurred (AWS.SimpleQueueService.NonExistentQueue) when calling the GetQueueUrl operation: The specified queue does not exist.',
  };
  expectCauses(e, ['interruption/events-not-delivered']);
});
test('has nothing above low: queue refused to collector', () => {
  const e = healthy({ allowsSpot: true });
  e.refused = {
    'sqs-get-queue-attributes':
      '\nAn error occurred (AccessDenied) when calling the GetQueueAttributes operation: User: arn:aws:iam::1:user/x is not authorized',
  };
  expectCauses(e, []);
});
test('names interruption/events-not-delivered: queue without policy', () => {
  const e = healthy({ allowsSpot: true });
  e.aws['sqs-get-queue-attributes'] = {
    Attributes: { QueueArn: 'arn:aws:sqs:us-east-1:111122223333:prod', MessageRetentionPeriod: '300' },
  };
  expectCauses(e, ['interruption/events-not-delivered']);
});
test('names interruption/events-not-delivered: one rule of five', () => {
  const e = healthy({ allowsSpot: true });
  e.aws['sqs-get-queue-attributes'] = {
    Attributes: {
      QueueArn: 'arn:aws:sqs:us-east-1:111122223333:prod',
      Policy: JSON.stringify({
        Statement: [
          {
            Effect: 'Allow',
            Principal: { Service: ['events.amazonaws.com', 'sqs.amazonaws.com'] },
            Action: 'sqs:SendMessage',
            Resource: '*',
          },
        ],
      }),
    },
  };
  e.aws['events-list-rules'] = {
    Rules: [
      {
        Name: 'prod-spot',
        State: 'ENABLED',
        EventPattern: '{"source":["aws.ec2"],"detail-type":["EC2 Spot Instance Interruption Warning"]}',
      },
    ],
  };
  expectCauses(e, ['interruption/events-not-delivered']);
});
test('has nothing above low: five rules', () => {
  const e = healthy({ allowsSpot: true });
  e.aws['sqs-get-queue-attributes'] = {
    Attributes: {
      QueueArn: 'arn:aws:sqs:us-east-1:111122223333:prod',
      Policy: JSON.stringify({
        Statement: [
          {
            Effect: 'Allow',
            Principal: { Service: ['events.amazonaws.com', 'sqs.amazonaws.com'] },
            Action: 'sqs:SendMessage',
            Resource: '*',
          },
        ],
      }),
    },
  };
  e.aws['events-list-rules'] = {
    Rules: [
      'aws.health|AWS Health Event',
      'aws.ec2|EC2 Spot Instance Interruption Warning',
      'aws.ec2|EC2 Instance Rebalance Recommendation',
      'aws.ec2|EC2 Instance State-change Notification',
      'aws.ec2|EC2 Capacity Reservation Instance Interruption Warning',
    ].map((x, i) => ({
      Name: 'r' + i,
      State: 'ENABLED',
      EventPattern: JSON.stringify({ source: [x.split('|')[0]], 'detail-type': [x.split('|')[1]] }),
    })),
  };
  expectCauses(e, []);
});
test('names interruption/nth-relaunch-loop: nth', () => {
  const e = healthy({ allowsSpot: true });
  add(
    e,
    object(
      'DaemonSet',
      'aws-node-termination-handler',
      {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'nth',
                  env: [
                    { name: 'ENABLE_REBALANCE_DRAINING', value: 'true' },
                    { name: 'ENABLE_SPOT_INTERRUPTION_DRAINING', value: 'true' },
                  ],
                },
              ],
            },
          },
        },
      },
      'kube-system',
    ),
  );
  expectCauses(e, ['interruption/nth-relaunch-loop']);
});
test('has nothing above low: nth off', () => {
  const e = healthy({ allowsSpot: true });
  add(
    e,
    object(
      'DaemonSet',
      'aws-node-termination-handler',
      {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'nth',
                  env: [
                    { name: 'ENABLE_REBALANCE_DRAINING', value: 'false' },
                    { name: 'ENABLE_SPOT_INTERRUPTION_DRAINING', value: 'false' },
                  ],
                },
              ],
            },
          },
        },
      },
      'kube-system',
    ),
  );
  expectCauses(e, []);
});
test('names storage/in-tree-driver-limits-unknown: in-tree pv', () => {
  const e = healthy();
  add(
    e,
    object('StorageClass', 'gp2', { provisioner: 'kubernetes.io/aws-ebs' }),
    object('PersistentVolume', 'pv-1', { spec: { awsElasticBlockStore: { volumeID: 'vol-1' } } }),
  );
  expectCauses(e, ['storage/in-tree-driver-limits-unknown']);
});
test('has nothing above low: gp2 class unused (low?)', () => {
  const e = healthy();
  add(e, object('StorageClass', 'gp2', { provisioner: 'kubernetes.io/aws-ebs' }));
  expectCauses(e, []);
});
test('names scheduling/label-without-known-values: label', () => {
  const e = healthy();
  add(
    e,
    waitingPod(
      'w',
      15,
      { nodeSelector: { team: 'blue' } },
      "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.",
    ),
  );
  expectCauses(e, ['scheduling/label-without-known-values']);
});
test('has nothing above low: nodegroup pod', () => {
  const e = healthy();
  add(e, waitingPod('w', 15, { nodeSelector: { 'eks.amazonaws.com/nodegroup': 'system' } }));
  expectCauses(e, []);
});
test('names scheduling/no-instance-type-fits: too large', () => {
  const e = healthy();
  get(e, 'NodePool', 'default').spec.template.spec.requirements.push({
    key: 'node.kubernetes.io/instance-type',
    operator: 'In',
    values: ['m5.large'],
  });
  add(e, waitingPod('w', 15, { containers: [{ name: 'a', resources: { requests: { cpu: '16', memory: '4Gi' } } }] }));
  expectCauses(e, ['scheduling/no-instance-type-fits']);
});
test('names scheduling/zone-locked-no-offering: zone lock', () => {
  const e = healthy();
  add(
    e,
    waitingPod('db-0', 15, { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'd-db-0' } }] }),
    object('PersistentVolumeClaim', 'd-db-0', { spec: { volumeName: 'pv-9' }, status: { phase: 'Bound' } }, 'shop'),
    object('PersistentVolume', 'pv-9', {
      spec: {
        csi: { driver: 'ebs.csi.aws.com' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['us-east-1f'] }] },
            ],
          },
        },
      },
    }),
  );
  expectCauses(e, ['scheduling/zone-locked-no-offering']);
});
test('names scheduling/requests-missing-overpacked: requests missing', () => {
  const e = healthy();
  add(
    e,
    object(
      'Pod',
      'fat-1',
      {
        metadata: { creationTimestamp: minutesAgo(600) },
        spec: { nodeName: NODE, containers: [{ name: 'a' }] },
        status: {
          phase: 'Running',
          containerStatuses: [
            { name: 'a', ready: true, restartCount: 4, lastState: { terminated: { reason: 'OOMKilled' } } },
          ],
        },
      },
      'shop',
    ),
    ...[2, 3, 4, 5, 6, 7].map((i) =>
      object(
        'Pod',
        'fat-' + i,
        {
          metadata: { creationTimestamp: minutesAgo(600) },
          spec: { nodeName: NODE, containers: [{ name: 'a' }] },
          status: { phase: 'Running', containerStatuses: [{ name: 'a', ready: true, restartCount: 0 }] },
        },
        'shop',
      ),
    ),
  );
  expectCauses(e, ['scheduling/requests-missing-overpacked']);
});
test('names scheduling/allocatable-overestimated: overestimated', () => {
  const e = healthy();
  add(
    e,
    claim(
      'default-a9',
      300,
      [
        condition('Launched', 'True'),
        condition('Registered', 'True'),
        condition('Initialized', 'True'),
        condition(
          'ConsistentStateFound',
          'False',
          'ConsistencyCheckFailed',
          'expected 7Gi of resource memory, but found 6.4Gi (91% of expected)',
          100,
        ),
      ],
      { nodeName: NODE },
    ),
  );
  expectCauses(e, ['scheduling/allocatable-overestimated']);
});
const win = (e: FieldCluster) => {
  const nc = get(e, 'EC2NodeClass', 'default');
  nc.spec.amiSelectorTerms = [{ alias: 'windows2022@latest' }];
  nc.status.amis = [{ id: 'ami-1', name: 'Windows_Server-2022-English-Core-EKS_Optimized-1.32-2026' }];
  return e;
};
test('names windows/support-not-enabled: windows ipam', () => {
  const e = win(healthy());
  add(e, object('ConfigMap', 'amazon-vpc-cni', { data: { 'enable-windows-ipam': 'false' } }, 'kube-system'));
  e.aws['eks-describe-access-entry'] = {
    accessEntry: { principalArn: 'arn:aws:iam::111122223333:role/KarpenterNodeRole-prod', type: 'EC2_WINDOWS' },
  };
  expectCauses(e, ['windows/support-not-enabled']);
});
test('names windows/dns-group-missing: windows dns group', () => {
  const e = win(healthy());
  add(e, object('ConfigMap', 'amazon-vpc-cni', { data: { 'enable-windows-ipam': 'true' } }, 'kube-system'));
  e.aws['eks-describe-access-entry'] = {
    accessEntry: { principalArn: 'arn:aws:iam::111122223333:role/KarpenterNodeRole-prod', type: 'EC2_LINUX' },
  };
  expectCauses(e, ['windows/dns-group-missing']);
});
test('names crd/removed-api-version: old provisioner', () => {
  const e = healthy();
  add(e, object('Provisioner', 'default', { apiVersion: 'karpenter.sh/v1alpha5', spec: {} }));
  get({ objects: [e.objects.at(-1)] } as FieldCluster, 'Provisioner', 'default').apiVersion = 'karpenter.sh/v1alpha5';
  expectCauses(e, ['crd/removed-api-version']);
});
test('names crd/nodeclassref-incomplete: ref', () => {
  const e = healthy();
  get(e, 'NodePool', 'default').spec.template.spec.nodeClassRef = { name: 'default' };
  expectCauses(e, ['crd/nodeclassref-incomplete']);
});
test('has nothing above low: crd labels missing by objects', () => {
  const e = healthy();
  const c = get(e, 'CustomResourceDefinition', 'nodepools.karpenter.sh');
  c.metadata.labels = {};
  c.metadata.annotations = {};
  expectCauses(e, []);
});
test('names init/daemonset-selects-legacy-label: legacy label', () => {
  const e = healthy();
  const ds = get(e, 'DaemonSet', 'kube-proxy');
  ds.spec.template.spec.affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'beta.kubernetes.io/os', operator: 'In', values: ['linux'] }] },
        ],
      },
    },
  };
  expectCauses(e, ['init/daemonset-selects-legacy-label']);
});
test('names registration/kubelet-never-posted-status: never posted', () => {
  const e = healthy();
  const n = get(e, 'Node', NODE);
  n.status.conditions = [
    condition('Ready', 'Unknown', 'NodeStatusNeverUpdated', 'Kubelet never posted node status.', 60),
  ];
  expectCauses(e, ['registration/kubelet-never-posted-status']);
});
