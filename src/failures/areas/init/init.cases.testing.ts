// Cases of init/.
import { condition, type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const node = (ready: object, minutes = 30): object =>
  object('Node', 'ip-10-0-0-1', {
    metadata: { creationTimestamp: minutesAgo(minutes), labels: { 'karpenter.sh/nodepool': 'default' } },
    status: { conditions: [ready] },
  });
const daemon = (name: string, spec: object = { tolerations: [{ operator: 'Exists' }] }): object =>
  object('DaemonSet', name, { spec: { template: { spec } } }, 'kube-system');
const pod = (name: string): object =>
  object('Pod', name, { spec: { nodeName: 'ip-10-0-0-1' }, status: { phase: 'Running' } }, 'kube-system');
const claim = (reason: string, message: string, minutes = 30): object =>
  object('NodeClaim', 'default-abcde', {
    metadata: { labels: { 'karpenter.sh/nodepool': 'default' } },
    status: {
      nodeName: 'ip-10-0-0-1',
      providerID: 'aws:///us-east-1a/i-1',
      conditions: [
        condition('Launched', 'True'),
        condition('Registered', 'True', '', '', minutes),
        condition('Initialized', 'Unknown', reason, message, minutes),
      ],
    },
  });
const notReady = condition(
  'Ready',
  'False',
  'KubeletNotReady',
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
);
const gpu = 'Resource "nvidia.com/gpu" was requested but not registered';
const line =
  'Apr 23 05:26:38 ip-10-10-11-100 containerd: time="2022-04-23T05:26:38.814171952Z" level=error msg="failed to load cni during init, please check CRI plugin status before setting up network for pods" error="cni config load failed: no network config found in /etc/cni/net.d: cni plugin not initialized: failed to load cni config"\n';

export const initCases: readonly FailureCase[] = [
  {
    id: 'init/core-daemonsets-absent',
    name: 'a node without the plugin',
    now,
    objects: [node(notReady), daemon('aws-node', {}), daemon('kube-proxy'), pod('kube-proxy-x')],
    confidence: 'certain',
    fix: ['patch daemonset aws-node'],
  },
  {
    id: 'init/core-daemonsets-absent',
    name: 'a node without both',
    now,
    objects: [node(condition('Ready', 'True')), daemon('aws-node'), daemon('kube-proxy')],
    none: ['Pod'],
  },
  {
    id: 'init/core-daemonsets-absent',
    name: 'a node of seconds ago',
    nearMiss: true,
    now,
    objects: [node(notReady, 0.5), daemon('aws-node'), daemon('kube-proxy')],
    none: ['Pod'],
  },
  {
    id: 'init/daemonset-selects-legacy-label',
    name: 'an affinity',
    objects: [
      daemon('kube-proxy', {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'beta.kubernetes.io/os', operator: 'In', values: ['linux'] }] },
              ],
            },
          },
        },
      }),
    ],
    confidence: 'certain',
  },
  {
    id: 'init/daemonset-selects-legacy-label',
    name: 'a manifest',
    text: '        - matchExpressions:\n          - key: beta.kubernetes.io/os\n            operator: In\n            values:\n            - linux',
  },
  {
    id: 'init/daemonset-selects-legacy-label',
    name: 'the labels of a node',
    nearMiss: true,
    text: 'Labels:             beta.kubernetes.io/arch=amd64\n                    beta.kubernetes.io/os=linux\n                    kubernetes.io/os=linux',
  },
  {
    id: 'init/cni-not-initialised',
    name: 'a node that stays NotReady',
    now,
    objects: [node(notReady), object('EC2NodeClass', 'default', { spec: { role: 'nodes' } })],
    confidence: 'certain',
    fix: ['--role-name nodes'],
  },
  {
    id: 'init/cni-not-initialised',
    name: 'a line of the kubelet',
    text: 'KubeletNotReady runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
  },
  {
    id: 'init/cni-not-initialised',
    name: 'a journal that goes on with it',
    texts: { 'nodes/i-0abc12345678/journal.txt': line.repeat(8) },
  },
  {
    id: 'init/cni-not-initialised',
    name: "a node's first seconds",
    nearMiss: true,
    now,
    objects: [node(notReady, 0.5)],
    texts: { 'nodes/i-0abc12345678/journal.txt': line },
  },
  {
    id: 'init/cni-not-initialised',
    name: 'a start that came right',
    nearMiss: true,
    texts: {
      'nodes/i-0abc12345678/kubelet.log': `${line.repeat(8)}I0423 05:27:10.000000 kubelet_node_status.go:581] "Recording event message for node" node="ip-10-10-11-100" event="NodeReady"\n`,
    },
  },
  {
    id: 'init/gpu-device-plugin-missing',
    name: 'a claim that waits',
    now,
    objects: [claim('ResourceNotRegistered', gpu)],
    none: ['DaemonSet'],
    confidence: 'certain',
    fix: ['nvidia-device-plugin'],
  },
  {
    id: 'init/gpu-device-plugin-missing',
    name: 'an in-flight check',
    text: 'ERROR controller.inflightchecks Inflight check failed for node, Expected resource "nvidia.com/gpu" didn\'t register on the node',
  },
  {
    id: 'init/gpu-device-plugin-missing',
    name: 'a claim of a minute ago',
    nearMiss: true,
    now,
    objects: [claim('ResourceNotRegistered', gpu, 1)],
    none: ['DaemonSet'],
  },
  {
    id: 'init/pod-eni-not-registered',
    name: 'a line of the log',
    text: 'inflight check failed for node, Expected resource "vpc.amazonaws.com/pod-eni" didn\'t register on the node',
    confidence: 'certain',
    fix: ['ENABLE_POD_ENI=true'],
  },
  {
    id: 'init/pod-eni-not-registered',
    name: 'a claim that waits',
    now,
    objects: [claim('ResourceNotRegistered', 'Resource "vpc.amazonaws.com/pod-eni" was requested but not registered')],
  },
  {
    id: 'init/pod-eni-not-registered',
    name: 'another resource',
    nearMiss: true,
    instead: 'init/gpu-device-plugin-missing',
    now,
    objects: [claim('ResourceNotRegistered', gpu)],
  },
  {
    id: 'init/startup-taint-not-removed',
    name: 'a claim that waits',
    now,
    objects: [claim('StartupTaintsExist', 'StartupTaint "node.cilium.io/agent-not-ready=true:NoExecute" still exists')],
    confidence: 'certain',
    fix: ['node.cilium.io/agent-not-ready', 'NodePool default'],
  },
  {
    id: 'init/startup-taint-not-removed',
    name: 'a condition that someone pasted',
    text: '  - lastTransitionTime: "2026-01-01T00:00:00Z"\n    message: StartupTaint "ebs.csi.aws.com/agent-not-ready:NoExecute" still exists\n    reason: StartupTaintsExist\n    status: Unknown\n    type: Initialized',
  },
  {
    id: 'init/startup-taint-not-removed',
    name: 'a taint of a minute ago',
    nearMiss: true,
    now,
    objects: [
      claim('StartupTaintsExist', 'StartupTaint "node.cilium.io/agent-not-ready=true:NoExecute" still exists', 1),
    ],
  },
  {
    id: 'init/never-initialised-never-removed',
    name: 'a claim of an hour',
    now,
    objects: [claim('NodeNotReady', 'Node status is NotReady', 60)],
    confidence: 'certain',
    fix: ['default-abcde'],
  },
  {
    id: 'init/never-initialised-never-removed',
    name: 'an event of disruption',
    text: "Normal  DisruptionBlocked  2m  karpenter  Cannot disrupt Node: state node isn't initialized",
  },
  {
    id: 'init/never-initialised-never-removed',
    name: 'a claim with a cause of its own',
    nearMiss: true,
    instead: 'init/startup-taint-not-removed',
    now,
    objects: [claim('StartupTaintsExist', 'StartupTaint "x:NoExecute" still exists', 60)],
  },
];
