// Healthy clusters in which pools, classes and claims are broken: exactly the root causes are named, and what follows from them is folded.
import { test } from 'vitest';
import { condition, minutesAgo, object } from '../case.testing.ts';
import {
  add,
  claim,
  event,
  expectCauses,
  get,
  healthy,
  type Loose,
  setCondition,
  unregistered,
  waitingPod,
} from './field.testing.ts';

const T = 'registration/undiagnosed-timeout';
test('has nothing above low: healthy', () => {
  const e = healthy();
  expectCauses(e, []);
});
test('names registration/undiagnosed-timeout: role unmapped', () => {
  const e = add(
    healthy({ nodes: 0 }),
    unregistered('default-x1'),
    unregistered('default-x2'),
    unregistered('default-x3'),
    waitingPod('web-a'),
  );
  e.aws['eks-list-access-entries'].accessEntries = [];
  expectCauses(e, ['registration/node-role-not-mapped'], [T]);
});
test('names registration/undiagnosed-timeout: mapped by configmap: undiagnosed only', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('web-a'));
  e.aws['eks-list-access-entries'].accessEntries = [];
  get(e, 'ConfigMap', 'aws-auth').data.mapRoles =
    '- rolearn: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod\n  username: system:node:{{EC2PrivateDNSName}}\n  groups: [system:bootstrappers, system:nodes]\n';
  expectCauses(e, [T]);
});
test('names registration/undiagnosed-timeout: STANDARD entry', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'));
  e.aws['eks-describe-access-entry'] = {
    accessEntry: { principalArn: 'arn:aws:iam::111122223333:role/KarpenterNodeRole-prod', type: 'STANDARD' },
  };
  expectCauses(e, ['registration/node-role-not-mapped'], [T]);
});
test('names registration/undiagnosed-timeout: instance profile in aws-auth', () => {
  const e = add(healthy({ nodes: 0, usesConfigMap: true }), unregistered('default-x1'));
  get(e, 'ConfigMap', 'aws-auth').data.mapRoles =
    '- rolearn: arn:aws:iam::111122223333:instance-profile/KarpenterNodeRole-prod\n  username: system:node:{{EC2PrivateDNSName}}\n  groups: [system:bootstrappers, system:nodes]\n';
  expectCauses(e, ['registration/node-role-not-mapped'], [T]);
});
test('names registration/undiagnosed-timeout: wrong username', () => {
  const e = add(healthy({ nodes: 0, usesConfigMap: true }), unregistered('default-x1'));
  get(e, 'ConfigMap', 'aws-auth').data.mapRoles =
    '- rolearn: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod\n  username: admin\n  groups: [system:masters]\n';
  expectCauses(e, ['registration/node-role-not-mapped'], [T]);
});
const notReadyNode = (name: string, msg: string) =>
  object('Node', name, {
    metadata: {
      creationTimestamp: minutesAgo(25),
      labels: { 'karpenter.sh/nodepool': 'default', 'kubernetes.io/os': 'linux' },
    },
    spec: { providerID: 'aws:///us-east-1a/i-0eee11112222' },
    status: { conditions: [condition('Ready', 'False', 'KubeletNotReady', msg, 25)] },
  });
const cni =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';
const uninit = (name: string, node: string, reason: string, msg: string) =>
  claim(
    name,
    26,
    [
      condition('Launched', 'True', '', '', 26),
      condition('Registered', 'True', '', '', 25),
      condition('Initialized', 'Unknown', reason, msg, 25),
    ],
    { nodeName: node, providerID: 'aws:///us-east-1a/i-0eee11112222' },
  );
const dsPod = (ds: string, node: string) =>
  object(
    'Pod',
    `${ds}-${node}`,
    {
      metadata: { ownerReferences: [{ kind: 'DaemonSet', name: ds }], labels: { 'k8s-app': ds } },
      spec: { nodeName: node, containers: [{ name: ds }] },
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: ds, ready: false, restartCount: 5, state: { waiting: { reason: 'CrashLoopBackOff' } } },
        ],
      },
    },
    'kube-system',
  );
test('names init/cni-not-initialised and init/never-initialised-never-removed: cni policy missing', () => {
  const e = add(
    healthy(),
    notReadyNode('bad.ec2.internal', cni),
    uninit('default-bad', 'bad.ec2.internal', 'NodeNotReady', 'Node status is NotReady'),
    dsPod('aws-node', 'bad.ec2.internal'),
    dsPod('kube-proxy', 'bad.ec2.internal'),
  );
  e.aws['iam-list-attached-role-policies-KarpenterNodeRole-prod'].AttachedPolicies = [
    'AmazonEKSWorkerNodePolicy',
    'AmazonEC2ContainerRegistryPullOnly',
    'AmazonSSMManagedInstanceCore',
  ].map((PolicyName) => ({ PolicyName, PolicyArn: `arn:aws:iam::aws:policy/${PolicyName}` }));
  expectCauses(
    e,
    ['iam/node-role-policies-missing'],
    ['init/cni-not-initialised', 'init/never-initialised-never-removed'],
  );
});
test('names init/never-initialised-never-removed: cni alone', () => {
  const e = add(
    healthy(),
    notReadyNode('bad.ec2.internal', cni),
    uninit('default-bad', 'bad.ec2.internal', 'NodeNotReady', 'Node status is NotReady'),
    dsPod('aws-node', 'bad.ec2.internal'),
    dsPod('kube-proxy', 'bad.ec2.internal'),
  );
  expectCauses(e, ['init/cni-not-initialised'], ['init/never-initialised-never-removed']);
});
test('names init/cni-not-initialised and init/never-initialised-never-removed: ds absent', () => {
  const e = add(
    healthy(),
    notReadyNode('bad.ec2.internal', cni),
    uninit('default-bad', 'bad.ec2.internal', 'NodeNotReady', 'Node status is NotReady'),
  );
  e.objects.find((o) => o.kind === 'DaemonSet' && o.metadata.name === 'aws-node').spec.template.spec.tolerations = [];
  e.objects.at(-2).spec.taints = [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }];
  expectCauses(
    e,
    ['init/core-daemonsets-absent'],
    ['init/cni-not-initialised', 'init/never-initialised-never-removed'],
  );
});
const readyNode = (name: string, rest: Loose = {}) =>
  object('Node', name, {
    metadata: {
      creationTimestamp: minutesAgo(25),
      labels: { 'karpenter.sh/nodepool': 'default', 'kubernetes.io/os': 'linux' },
    },
    spec: { providerID: 'aws:///us-east-1a/i-0eee11112222' },
    status: { conditions: [condition('Ready', 'True', 'KubeletReady', '', 24)] },
    ...rest,
  });
const okDs = (node: string) =>
  ['aws-node', 'kube-proxy'].map((ds) =>
    object(
      'Pod',
      `${ds}-${node}`,
      {
        metadata: { ownerReferences: [{ kind: 'DaemonSet', name: ds }] },
        spec: { nodeName: node, containers: [{ name: ds }] },
        status: { phase: 'Running', containerStatuses: [{ name: ds, ready: true, restartCount: 0 }] },
      },
      'kube-system',
    ),
  );
test('names init/never-initialised-never-removed: gpu', () => {
  const e = add(
    healthy(),
    readyNode('gpu.ec2.internal'),
    ...okDs('gpu.ec2.internal'),
    uninit(
      'default-gpu',
      'gpu.ec2.internal',
      'ResourceNotRegistered',
      'Resource "nvidia.com/gpu" was requested but not registered',
    ),
  );
  expectCauses(e, ['init/gpu-device-plugin-missing'], ['init/never-initialised-never-removed']);
});
test('names init/never-initialised-never-removed: startup taint', () => {
  const e = add(
    healthy(),
    readyNode('t.ec2.internal'),
    ...okDs('t.ec2.internal'),
    uninit(
      'default-t',
      't.ec2.internal',
      'StartupTaintsExist',
      'StartupTaint "ebs.csi.aws.com/agent-not-ready:NoExecute" still exists',
    ),
  );
  expectCauses(e, ['init/startup-taint-not-removed'], ['init/never-initialised-never-removed']);
});
test('names init/never-initialised-never-removed: pod eni', () => {
  const e = add(
    healthy(),
    readyNode('t.ec2.internal'),
    ...okDs('t.ec2.internal'),
    uninit(
      'default-t',
      't.ec2.internal',
      'ResourceNotRegistered',
      'Resource "vpc.amazonaws.com/pod-eni" was requested but not registered',
    ),
  );
  expectCauses(e, ['init/pod-eni-not-registered'], ['init/never-initialised-never-removed']);
});
test('names crd/nodepool-not-ready-because-nodeclass and scheduling/no-usable-nodepool: al2 on 1.33', () => {
  const e = healthy({ nodes: 0 });
  const nc = get(e, 'EC2NodeClass', 'default');
  nc.spec.amiSelectorTerms = [{ alias: 'al2@latest' }];
  nc.status.amis = [];
  setCondition(nc, 'AMIsReady', 'False', 'AMINotFound', 'AMISelector did not match any AMIs');
  setCondition(nc, 'Ready', 'False', 'UnhealthyDependents', 'AMIsReady=False');
  const np = get(e, 'NodePool', 'default');
  setCondition(np, 'NodeClassReady', 'False', 'AMINotFound', 'AMIsReady=False, AMISelector did not match any AMIs');
  setCondition(np, 'Ready', 'False', 'UnhealthyDependents', 'NodeClassReady=False');
  e.cluster.kubernetesVersion = '1.33';
  e.aws['eks-describe-cluster'].cluster.version = '1.33';
  add(e, waitingPod('web-a'));
  expectCauses(
    e,
    ['ami/none-for-cluster-version'],
    ['crd/nodepool-not-ready-because-nodeclass', 'scheduling/no-usable-nodepool'],
  );
});
test('names crd/nodepool-not-ready-because-nodeclass and scheduling/no-usable-nodepool: subnets', () => {
  const e = healthy({ nodes: 0 });
  const nc = get(e, 'EC2NodeClass', 'default');
  nc.status.subnets = [];
  setCondition(nc, 'SubnetsReady', 'False', 'SubnetsNotFound', 'SubnetSelector did not match any Subnets');
  setCondition(nc, 'Ready', 'False', 'UnhealthyDependents', 'SubnetsReady=False');
  const np = get(e, 'NodePool', 'default');
  setCondition(np, 'NodeClassReady', 'False', 'SubnetsNotFound', 'SubnetsReady=False');
  setCondition(np, 'Ready', 'False', 'UnhealthyDependents', 'NodeClassReady=False');
  add(e, waitingPod('web-a'));
  expectCauses(
    e,
    ['net/discovery-tag-missing'],
    ['crd/nodepool-not-ready-because-nodeclass', 'scheduling/no-usable-nodepool'],
  );
});
test('names crd/nodepool-not-ready-because-nodeclass and scheduling/no-usable-nodepool: auth check', () => {
  const e = healthy({ nodes: 0 });
  const nc = get(e, 'EC2NodeClass', 'default');
  setCondition(
    nc,
    'ValidationSucceeded',
    'False',
    'RunInstancesAuthCheckFailed',
    "Controller isn't authorized to call ec2:RunInstances",
  );
  setCondition(nc, 'Ready', 'False', 'UnhealthyDependents', 'x');
  const np = get(e, 'NodePool', 'default');
  setCondition(np, 'NodeClassReady', 'False', 'RunInstancesAuthCheckFailed', 'x');
  setCondition(np, 'Ready', 'False', 'UnhealthyDependents', 'x');
  add(e, waitingPod('web-a'));
  expectCauses(
    e,
    ['iam/controller-permission-missing'],
    ['crd/nodepool-not-ready-because-nodeclass', 'scheduling/no-usable-nodepool'],
  );
});
test('names scheduling/no-usable-nodepool: class absent', () => {
  const e = healthy({ nodes: 0 });
  e.objects = e.objects.filter((o) => o.kind !== 'EC2NodeClass');
  e.none = ['EC2NodeClass'];
  const np = get(e, 'NodePool', 'default');
  setCondition(np, 'NodeClassReady', 'False', 'NodeClassNotFound', 'NodeClass not found on cluster');
  setCondition(np, 'Ready', 'False', 'UnhealthyDependents', 'x');
  add(e, waitingPod('web-a'));
  expectCauses(e, ['crd/nodepool-not-ready-because-nodeclass'], ['scheduling/no-usable-nodepool']);
});
test('names scheduling/no-usable-nodepool: no pools', () => {
  const e = healthy({ nodes: 0 });
  e.objects = e.objects.filter((o) => o.kind !== 'EC2NodeClass' && o.kind !== 'NodePool');
  e.none = ['EC2NodeClass', 'NodePool', 'NodeClaim'];
  add(e, waitingPod('web-a'));
  expectCauses(e, ['scheduling/no-usable-nodepool']);
});
test('has nothing above low: no pools but pod wants node group', () => {
  const e = healthy({ nodes: 0 });
  e.objects = e.objects.filter((o) => o.kind !== 'EC2NodeClass' && o.kind !== 'NodePool');
  e.none = ['EC2NodeClass', 'NodePool', 'NodeClaim'];
  add(
    e,
    waitingPod(
      'web-a',
      15,
      { nodeSelector: { 'eks.amazonaws.com/nodegroup': 'system' } },
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
    ),
  );
  expectCauses(e, []);
});
test('names crd/nodepool-not-ready-because-nodeclass and scheduling/no-usable-nodepool: two classes two causes', () => {
  const e = healthy({ nodes: 0 });
  const nc = get(e, 'EC2NodeClass', 'default');
  nc.spec.amiSelectorTerms = [{ alias: 'al2@latest' }];
  nc.status.amis = [];
  setCondition(nc, 'AMIsReady', 'False', 'AMINotFound', 'AMISelector did not match any AMIs');
  const np = get(e, 'NodePool', 'default');
  setCondition(np, 'NodeClassReady', 'False', 'AMINotFound', 'x');
  setCondition(np, 'Ready', 'False', 'x', 'x');
  const nc2 = structuredClone(get(healthy(), 'EC2NodeClass', 'default'));
  nc2.metadata.name = 'gpu';
  nc2.status.subnets = [];
  setCondition(nc2, 'SubnetsReady', 'False', 'SubnetsNotFound', 'SubnetSelector did not match any Subnets');
  const np2 = structuredClone(get(healthy(), 'NodePool', 'default'));
  np2.metadata.name = 'gpu';
  np2.spec.template.spec.nodeClassRef.name = 'gpu';
  setCondition(np2, 'NodeClassReady', 'False', 'SubnetsNotFound', 'x');
  setCondition(np2, 'Ready', 'False', 'x', 'x');
  add(e, nc2, np2, waitingPod('w'));
  e.cluster.kubernetesVersion = '1.33';
  expectCauses(
    e,
    ['ami/none-for-cluster-version', 'net/discovery-tag-missing'],
    ['crd/nodepool-not-ready-because-nodeclass', 'scheduling/no-usable-nodepool'],
  );
});
const launchFail = (msg: string, reason = 'LaunchFailed') =>
  claim(
    'default-l1',
    20,
    [
      condition('Launched', 'Unknown', reason, msg, 20),
      condition('Registered', 'Unknown', 'AwaitingReconciliation', 'object is awaiting reconciliation', 20),
      condition('Initialized', 'Unknown', 'AwaitingReconciliation', '', 20),
    ],
    { providerID: '' },
  );
test('has nothing above low: block device', () => {
  const e = add(
    healthy(),
    launchFail('creating instance, with fleet error(s), InvalidBlockDeviceMapping: Invalid device name /dev/xvda'),
    waitingPod('w'),
  );
  expectCauses(e, ['ami/block-device-name-invalid'], []);
});
test('has nothing above low: slr', () => {
  const e = add(
    healthy(),
    launchFail(
      'creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.',
      'SpotSLRCreationFailed',
    ),
    waitingPod('w'),
  );
  expectCauses(e, ['iam/spot-service-linked-role-missing'], []);
});
test('has nothing above low: launch rejected', () => {
  const e = add(
    healthy(),
    launchFail('creating instance, with fleet error(s), InvalidParameterCombination: x'),
    waitingPod('w'),
  );
  expectCauses(e, ['scheduling/launch-rejected-by-provider'], []);
});
test('has nothing above low: passrole', () => {
  const e = add(
    healthy(),
    launchFail(
      'creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterController/1 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod because no identity-based policy allows the iam:PassRole action',
    ),
    waitingPod('w'),
  );
  expectCauses(e, ['iam/pass-role-denied'], []);
});
test('has nothing above low: addresses', () => {
  const e = add(
    healthy(),
    launchFail(
      "creating instance, with fleet error(s), InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet 'subnet-us-east-1a' to satisfy the requested number of instances.",
    ),
    waitingPod('w'),
  );
  expectCauses(e, ['net/subnet-addresses-exhausted'], []);
});
test('has nothing above low: subnets full', () => {
  const e = healthy();
  e.aws['ec2-describe-subnets'].Subnets.forEach((s: Loose) => (s.AvailableIpAddressCount = 2));
  expectCauses(e, ['net/subnet-addresses-exhausted'], []);
});
test('has nothing above low: ICE is not a finding', () => {
  const e = add(
    healthy(),
    claim(
      'default-u1',
      20,
      [condition('Launched', 'Unknown', 'InsufficientCapacityError', 'insufficient capacity', 0.3)],
      { providerID: '' },
    ),
    waitingPod('w', 1),
  );
  expectCauses(e, [], []);
});
test('names scheduling/pool-limit-reached: limit unit', () => {
  const e = healthy({ nodes: 0 });
  get(e, 'NodePool', 'default').spec.limits = { cpu: '1000m', memory: '1000Gi' };
  get(e, 'NodePool', 'default').status.resources = { cpu: '0' };
  add(
    e,
    waitingPod('w'),
    event(
      'e9',
      'Pod',
      'w',
      'FailedScheduling',
      'Failed to schedule pod, all available instance types exceed limits for nodepool: "default"',
    ),
  );
  expectCauses(e, ['scheduling/limit-unit-mistake'], ['scheduling/pool-limit-reached']);
});
test('has nothing above low: limit reached', () => {
  const e = healthy();
  get(e, 'NodePool', 'default').spec.limits = { cpu: '6' };
  get(e, 'NodePool', 'default').status.resources = { cpu: '6' };
  add(
    e,
    waitingPod('w'),
    event(
      'e9',
      'Pod',
      'w',
      'FailedScheduling',
      'Failed to schedule pod, all available instance types exceed limits for nodepool: "default"',
    ),
  );
  expectCauses(e, ['scheduling/pool-limit-reached'], []);
});
test('has nothing above low: limit reached and no pod waits', () => {
  const e = healthy();
  get(e, 'NodePool', 'default').spec.limits = { cpu: '6' };
  get(e, 'NodePool', 'default').status.resources = { cpu: '6' };
  expectCauses(e, [], []);
});
