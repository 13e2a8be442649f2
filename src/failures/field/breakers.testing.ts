// Ways in which a healthy cluster is broken, each with its one root cause, made so that two of them may meet in one cluster:
// each stays at objects of its own where it can.
import { condition, minutesAgo, object } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { account } from '../healthy.testing.ts';
import {
  add,
  claim,
  event,
  type FieldCluster,
  get,
  type Loose,
  setCondition,
  unregistered,
  waitingPod,
} from './field.testing.ts';

export interface Breaker {
  id: FailureId;
  /** Breakers that share a word change the same thing and do not go together. */
  at: readonly string[];
  breakIt(cluster: FieldCluster): void;
}

const line = (cluster: FieldCluster, error: string): void => {
  cluster.texts['logs/karpenter.log'] +=
    `{"level":"ERROR","time":"2026-03-01T11:59:30.000Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","error":${JSON.stringify(error)}}\n`;
};

const node = (name: string, rest: Loose = {}): Loose => {
  const { metadata = {}, ...fields } = rest;
  return object('Node', name, {
    metadata: {
      creationTimestamp: minutesAgo(25),
      ...metadata,
      labels: { 'karpenter.sh/nodepool': 'default', 'kubernetes.io/os': 'linux', ...metadata.labels },
    },
    ...fields,
  });
};

const daemons = (on: string): object[] =>
  ['aws-node', 'kube-proxy'].map((name) =>
    object(
      'Pod',
      `${name}-${on}`,
      {
        metadata: { ownerReferences: [{ kind: 'DaemonSet', name }], labels: { 'k8s-app': name } },
        spec: { nodeName: on, containers: [{ name }] },
        status: { phase: 'Running', containerStatuses: [{ name, ready: true, restartCount: 0 }] },
      },
      'kube-system',
    ),
  );

const uninitialised = (name: string, on: string, reason: string, message: string): object =>
  claim(
    name,
    26,
    [
      condition('Launched', 'True', '', '', 26),
      condition('Registered', 'True', '', '', 25),
      condition('Initialized', 'Unknown', reason, message, 25),
    ],
    { nodeName: on, providerID: `aws:///us-east-1a/i-0${name.length}ee1111222` },
  );

/** A pool and a class of their own, with the condition that keeps both from being used. */
function pool(cluster: FieldCluster, name: string, type: string, reason: string, message: string): void {
  const own = structuredClone(get(cluster, 'EC2NodeClass', 'default'));
  own.metadata.name = name;
  setCondition(own, type, 'False', reason, message);
  setCondition(own, 'Ready', 'False', 'UnhealthyDependents', `${type}=False`);
  const user = structuredClone(get(cluster, 'NodePool', 'default'));
  user.metadata.name = name;
  user.spec.template.spec.nodeClassRef.name = name;
  setCondition(user, 'NodeClassReady', 'False', reason, message);
  setCondition(user, 'Ready', 'False', 'UnhealthyDependents', 'NodeClassReady=False');
  add(cluster, own, user);
}

export const breakers: readonly Breaker[] = [
  {
    id: 'registration/node-role-not-mapped',
    at: ['joining'],
    breakIt(cluster) {
      add(cluster, unregistered('default-x1'), waitingPod('waits-1'));
      cluster.aws['eks-list-access-entries'].accessEntries = [];
    },
  },
  {
    id: 'iam/node-role-trust-wrong',
    at: [],
    breakIt(cluster) {
      add(cluster, unregistered('default-x2'));
      const { Role } = cluster.aws['iam-get-role-KarpenterNodeRole-prod'];
      Role.AssumeRolePolicyDocument.Statement[0].Principal = { Service: 'eks.amazonaws.com' };
    },
  },
  {
    id: 'ami/none-for-cluster-version',
    at: [],
    breakIt: (cluster) => pool(cluster, 'old', 'AMIsReady', 'AMINotFound', 'AMISelector did not match any AMIs'),
  },
  {
    id: 'net/discovery-tag-missing',
    at: [],
    breakIt: (cluster) =>
      pool(cluster, 'untagged', 'SubnetsReady', 'SubnetsNotFound', 'SubnetSelector did not match any Subnets'),
  },
  {
    id: 'iam/controller-permission-missing',
    at: ['rights'],
    breakIt: (cluster) =>
      pool(
        cluster,
        'refused',
        'ValidationSucceeded',
        'RunInstancesAuthCheckFailed',
        "Controller isn't authorized to call ec2:RunInstances",
      ),
  },
  {
    id: 'iam/spot-service-linked-role-missing',
    at: [],
    breakIt(cluster) {
      line(
        cluster,
        'launching nodeclaim, creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.',
      );
    },
  },
  {
    id: 'iam/pass-role-denied',
    at: ['rights'],
    breakIt(cluster) {
      line(
        cluster,
        `launching nodeclaim, creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::${account}:assumed-role/KarpenterController/1 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::${account}:role/Other because no identity-based policy allows the iam:PassRole action.`,
      );
    },
  },
  {
    id: 'ami/block-device-name-invalid',
    at: [],
    breakIt(cluster) {
      line(
        cluster,
        'launching nodeclaim, creating instance, with fleet error(s), InvalidBlockDeviceMapping: Invalid device name /dev/xvdq',
      );
    },
  },
  {
    id: 'init/startup-taint-not-removed',
    at: [],
    breakIt(cluster) {
      const taints = [{ key: 'node.cilium.io/agent-not-ready', value: 'true', effect: 'NoExecute' }];
      add(
        cluster,
        node('tainted', { spec: { taints }, status: { conditions: [condition('Ready', 'True')] } }),
        ...daemons('tainted'),
        uninitialised(
          'default-tt',
          'tainted',
          'StartupTaintsExist',
          'StartupTaint "node.cilium.io/agent-not-ready=true:NoExecute" still exists',
        ),
      );
    },
  },
  {
    id: 'init/gpu-device-plugin-missing',
    at: [],
    breakIt(cluster) {
      add(
        cluster,
        node('gpu-1', { status: { conditions: [condition('Ready', 'True')], allocatable: {} } }),
        ...daemons('gpu-1'),
        uninitialised(
          'default-gpu',
          'gpu-1',
          'ResourceNotRegistered',
          'Resource "nvidia.com/gpu" was requested but not registered',
        ),
      );
    },
  },
  {
    id: 'disruption/do-not-disrupt-blocks',
    at: [],
    breakIt(cluster) {
      const held = node('held', {
        metadata: {
          creationTimestamp: minutesAgo(60 * 24 * 40),
          labels: { 'karpenter.sh/initialized': 'true', 'node.kubernetes.io/instance-type': 'm5.large' },
        },
        status: { allocatable: { cpu: '2', memory: '7100Mi' }, conditions: [condition('Ready', 'True')] },
      });
      add(
        cluster,
        held,
        ...daemons('held'),
        object(
          'Pod',
          'keeps',
          {
            metadata: {
              creationTimestamp: minutesAgo(60 * 24 * 39),
              annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
            },
            spec: {
              nodeName: 'held',
              containers: [{ name: 'app', resources: { requests: { cpu: '100m', memory: '1Gi' } } }],
            },
            status: { phase: 'Running', containerStatuses: [{ name: 'app', ready: true, restartCount: 0 }] },
          },
          'batch',
        ),
      );
    },
  },
  {
    id: 'interruption/queue-not-configured',
    at: ['queue'],
    breakIt(cluster) {
      const { env } = get(cluster, 'Deployment', 'karpenter').spec.template.spec.containers[0];
      env.find((one: Loose) => one.name === 'INTERRUPTION_QUEUE').value = '';
      get(cluster, 'NodePool', 'default').spec.template.spec.requirements[0].values = ['spot', 'on-demand'];
    },
  },
  {
    id: 'interruption/events-not-delivered',
    at: ['queue'],
    breakIt(cluster) {
      cluster.texts['logs/karpenter.log'] +=
        '{"level":"ERROR","time":"2026-03-01T11:59:40.000Z","controller":"interruption","error":"operation error SQS: GetQueueUrl, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist."}\n';
    },
  },
  {
    id: 'iam/imds-open-to-pods',
    at: [],
    breakIt(cluster) {
      get(cluster, 'EC2NodeClass', 'default').spec.metadataOptions = {
        httpTokens: 'optional',
        httpPutResponseHopLimit: 1,
      };
    },
  },
  {
    id: 'startup/controller-on-managed-node',
    at: ['controller'],
    breakIt(cluster) {
      get(cluster, 'Pod', 'karpenter-5697769d6c-cdwc0').spec.nodeName = 'ip-10-0-0-1.ec2.internal';
    },
  },
  {
    id: 'startup/controller-starved',
    at: [],
    breakIt(cluster) {
      get(cluster, 'Pod', 'karpenter-5697769d6c-cdwc1').status.containerStatuses = [
        {
          name: 'controller',
          ready: true,
          restartCount: 9,
          lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
        },
      ];
    },
  },
  {
    id: 'scheduling/label-without-known-values',
    at: [],
    breakIt(cluster) {
      add(cluster, waitingPod('picky', 15, { nodeSelector: { team: 'blue' } }));
    },
  },
  {
    id: 'scheduling/zone-locked-no-offering',
    at: [],
    breakIt(cluster) {
      add(
        cluster,
        waitingPod('db-0', 15, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }),
        object(
          'PersistentVolumeClaim',
          'data',
          { spec: { volumeName: 'pv-zone' }, status: { phase: 'Bound' } },
          'shop',
        ),
        object('PersistentVolume', 'pv-zone', {
          spec: {
            csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-9' },
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [
                  {
                    matchExpressions: [
                      { key: 'topology.ebs.csi.aws.com/zone', operator: 'In', values: ['us-east-1f'] },
                    ],
                  },
                ],
              },
            },
          },
        }),
      );
    },
  },
  {
    id: 'storage/in-tree-driver-limits-unknown',
    at: [],
    breakIt(cluster) {
      add(
        cluster,
        object('PersistentVolume', 'old-pv', {
          spec: {
            awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1' },
            claimRef: { name: 'c', namespace: 'shop' },
          },
          status: { phase: 'Bound' },
        }),
      );
    },
  },
  {
    id: 'crd/removed-api-version',
    at: [],
    breakIt(cluster) {
      add(cluster, { ...object('Provisioner', 'left', {}), apiVersion: 'karpenter.sh/v1alpha5' });
    },
  },
  {
    id: 'net/max-pods-above-ip-capacity',
    at: [],
    breakIt(cluster) {
      get(cluster, 'EC2NodeClass', 'default').spec.kubelet = { maxPods: 200 };
      add(
        cluster,
        object(
          'Pod',
          'no-address',
          {
            metadata: { creationTimestamp: minutesAgo(15) },
            spec: {
              nodeName: 'ip-10-0-0-1.ec2.internal',
              containers: [{ name: 'app', resources: { requests: { cpu: '1m', memory: '1Mi' } } }],
            },
            status: {
              phase: 'Pending',
              containerStatuses: [{ name: 'app', ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
            },
          },
          'shop',
        ),
        event(
          'no-address',
          'Pod',
          'no-address',
          'FailedCreatePodSandBox',
          'Failed to create pod sandbox: plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
        ),
      );
    },
  },
  {
    id: 'net/subnet-addresses-exhausted',
    at: [],
    breakIt(cluster) {
      for (const subnet of cluster.aws['ec2-describe-subnets'].Subnets) subnet.AvailableIpAddressCount = 0;
    },
  },
  {
    id: 'windows/support-not-enabled',
    at: [],
    breakIt(cluster) {
      add(
        cluster,
        object(
          'Pod',
          'iis',
          {
            metadata: { creationTimestamp: minutesAgo(15) },
            spec: { nodeName: 'win-1', containers: [{ name: 'iis', resources: { requests: { cpu: '1' } } }] },
            status: {
              phase: 'Pending',
              containerStatuses: [{ name: 'iis', ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
            },
          },
          'shop',
        ),
        event(
          'iis',
          'Pod',
          'iis',
          'FailedCreatePodSandBox',
          'plugin type="vpc-bridge" name="vpc" failed (add): failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
        ),
      );
    },
  },
  {
    id: 'crd/conversion-webhook-wrong-target',
    at: [],
    breakIt(cluster) {
      get(cluster, 'CustomResourceDefinition', 'nodeclaims.karpenter.sh').spec.conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: { service: { name: 'karpenter', namespace: 'karpenter', port: 8443 } } },
      };
      add(cluster, object('Service', 'kubernetes', { spec: { ports: [{ port: 443 }] } }, 'default'));
    },
  },
];
