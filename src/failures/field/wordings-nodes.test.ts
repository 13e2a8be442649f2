// Wordings from the field, in the places where people meet them: each names its failure.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn, type Where } from './field.testing.ts';

/** Failure, text, and where it may stand. */
const wordings: readonly [FailureId, string, string?][] = [
  [
    'ami/none-for-cluster-version',
    '    message: AMISelector did not match any AMIs\n    reason: AMINotFound\n    status: "False"\n    type: AMIsReady',
    'asked',
  ],
  [
    'ami/none-for-cluster-version',
    'AMIsReady=False UnsupportedAlias: AL2 aliases are no longer supported on EKS 1.33+',
    'asked',
  ],
  [
    'ami/none-for-cluster-version',
    '{"level":"ERROR","message":"Reconciler error","controller":"nodeclass.status","error":"getting amis, failed to discover any AMIs for alias \\"al2@latest\\""}',
    'log,asked',
  ],
  [
    'ami/none-for-cluster-version',
    'operation error SSM: GetParameter, ParameterNotFound: /aws/service/eks/optimized-ami/1.33/amazon-linux-2/recommended/image_id',
    'log,asked',
  ],
  [
    'ami/nodeadm-content-type-warning',
    "[   12.3] cloud-init[1612]: 2025-12-11 20:14:02,112 - __init__.py[WARNING]: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'---'...'",
    'asked',
  ],
  [
    'ami/containerd-config-missing',
    "sed: can't read /etc/eks/containerd/containerd-config.toml: No such file or directory\nExited with error on line 469",
    'asked,node',
  ],
  [
    'ami/containerd-config-missing',
    "[   22.4] cloud-init[2222]: cp: cannot stat '/etc/eks/containerd/containerd-config.toml': No such file or directory\n[   22.5] cloud-init[2222]: Exited with error on line 491",
    'asked,node',
  ],
  ['ami/containerd-config-missing', '/etc/eks/bootstrap.sh: No such file or directory', 'asked,node'],
  [
    'ami/sandbox-image-pull-stuck',
    '● sandbox-image.service - pull sandbox image defined in containerd config.toml\n   Loaded: loaded (/etc/systemd/system/sandbox-image.service; enabled; vendor preset: disabled)\n   Active: activating (start) since Mon 2022-04-11 10:11:12 UTC; 15min ago',
    'asked,node',
  ],
  [
    'ami/sandbox-image-pull-stuck',
    'pull-sandbox-image.sh[3112]: + aws ecr get-login-password --region us-east-1\npull-sandbox-image.sh[3112]: Connect timeout on endpoint URL: "https://api.ecr.us-east-1.amazonaws.com/"',
    'asked,node',
  ],
  [
    'ami/eni-max-pods-entry-missing',
    'No entry for c6i.xlarge in /etc/eks/eni-max-pods.txt. Will attempt to auto-discover value.',
    'asked,node',
  ],
  [
    'ami/eni-max-pods-entry-missing',
    "[   31.1] cloud-init[3355]: No entry for type 'm7i-flex.large' found in /etc/eks/eni-max-pods.txt",
    'asked,node',
  ],
  [
    'ami/swap-blocks-kubelet',
    'kubelet[4001]: E0606 10:11:12.131415    4001 run.go:74] "command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false. /proc/swaps contained: [Filename Type Size Used Priority /dev/xvda3 partition 917500 0 -2]"',
    'asked,node',
  ],
  [
    'ami/block-device-name-invalid',
    'Could not launch node, launching instances, with fleet error(s), InvalidBlockDeviceMapping: Invalid device name /dev/xvda; InvalidBlockDeviceMapping: Invalid device name /dev/xvda',
    'log,asked',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    '{"level":"ERROR","message":"failed launching nodeclaim","NodeClaim":{"name":"bottlerocket-x1"},"error":"creating instance, with fleet error(s), InvalidBlockDeviceMapping: Volume of size 20GB is smaller than snapshot, expect size >= 80GB"}',
    'log,asked',
  ],
  [
    'registration/node-role-not-mapped',
    'kubelet[3112]: E1211 20:14:02.112 3112 kubelet_node_status.go:92] "Unable to register node with API server" err="Unauthorized" node="ip-10-0-1-2.ec2.internal"',
    'asked,node',
  ],
  [
    'registration/node-role-not-mapped',
    'nodeadm[1612]: kubelet: E0101 reflector.go:158] "Unhandled Error" err="failed to list *v1.Node: Unauthorized"\nkubelet: "Failed to contact API server when waiting for CSINode publishing: Unauthorized"',
    'asked,node',
  ],
  [
    'registration/node-role-not-mapped',
    'csi_plugin.go:301] Failed to initialize CSINode: error updating CSINode annotation: timed out waiting for the condition; caused by: Unauthorized\nkubelet_node_status.go:96] "Attempting to register node" node="ip-10-1-1-1"\n"Error getting node" err="node \\"ip-10-1-1-1\\" not found"',
    'asked,node',
  ],
  [
    'registration/node-role-not-mapped',
    'nodes "ip-10-0-1-2.ec2.internal" is forbidden: node "i-0abc1234567890abc" is not allowed to modify node "ip-10-0-1-2.ec2.internal"',
    'asked,node',
  ],
  [
    'registration/node-role-not-mapped',
    'kubelet.service: E0214 kubelet_node_status.go:106] "Unable to register node with API server" err="nodes is forbidden: User \\"arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole/i-0\\" cannot create resource \\"nodes\\" in API group \\"\\" at the cluster scope"',
    'asked,node',
  ],
  [
    'registration/api-server-unreachable',
    'kubelet_node_status.go:92] "Unable to register node with API server" err="Post \\"https://ABC.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\\": dial tcp 10.0.3.4:443: i/o timeout" node="ip-10-0-1-2"',
    'asked,node',
  ],
  [
    'registration/api-server-unreachable',
    'E0101 10:00:00 3112 reflector.go:138] failed to list *v1.Node: Get "https://ABCDEF0123.gr7.eu-west-1.eks.amazonaws.com/api/v1/nodes?limit=500": dial tcp: lookup ABCDEF0123.gr7.eu-west-1.eks.amazonaws.com on 10.0.0.2:53: no such host',
    'asked,node',
  ],
  [
    'registration/api-server-unreachable',
    'kubelet: err="Get \\"https://ABC.sk1.us-west-2.eks.amazonaws.com/apis/storage.k8s.io/v1/csinodes/x\\": tls: failed to verify certificate: x509: certificate signed by unknown authority"',
    'asked,node',
  ],
  [
    'registration/api-server-unreachable',
    'kubelet: err="Get \\"https://ABC.sk1.us-west-2.eks.amazonaws.com/healthz\\": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)"',
    'asked,node',
  ],
  [
    'registration/kubelet-never-posted-status',
    'Conditions:\n  Ready    Unknown   Mon, 11 Apr 2022   Mon, 11 Apr 2022   NodeStatusNeverUpdated   Kubelet never posted node status.',
    'asked,cli',
  ],
  [
    'registration/kubelet-never-posted-status',
    'Lease:              Failed to get lease: leases.coordination.k8s.io "ip-10-0-1-2" not found',
    'asked,cli',
  ],
  [
    'registration/service-endpoints-unreachable',
    'nodeadm: {"level":"error","msg":"operation error EC2: DescribeInstances, exceeded maximum number of attempts, 25, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://ec2.us-east-1.amazonaws.com/\\": dial tcp 54.239.28.168:443: i/o timeout"}',
    'asked,node',
  ],
  [
    'registration/service-endpoints-unreachable',
    'Connect timeout on endpoint URL: "https://eks.us-east-1.amazonaws.com/clusters/prod"',
    'asked,node',
  ],
  [
    'registration/undiagnosed-timeout',
    '{"level":"INFO","message":"terminating due to registration ttl"}\n{"level":"DEBUG","time":"2025-12-11T20:14:02Z","logger":"controller","message":"terminating due to registration ttl","NodeClaim":{"name":"default-kb85v"}}',
    'log,asked',
  ],
  [
    'registration/undiagnosed-timeout',
    'NAME            TYPE       CAPACITY   ZONE         NODE   READY     AGE\ndefault-kb85v   t3.large   on-demand  us-east-1a          Unknown   14m',
    'asked,cli',
  ],
  ['registration/undiagnosed-timeout', 'Registered  Unknown  NodeNotFound  Node not registered with cluster', 'asked'],
  [
    'init/cni-not-initialised',
    'KubeletNotReady              runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
    'asked,cli',
  ],
  [
    'init/cni-not-initialised',
    'containerd[3111]: time="2022-04-11T10:11:12.131415161Z" level=error msg="failed to load cni during init, please check CRI plugin status before setting up network for pods" error="cni config load failed: no network config found in /etc/cni/net.d: cni plugin not initialized: failed to load cni config"',
    'asked',
  ],
  [
    'init/gpu-device-plugin-missing',
    'Initialized  Unknown  ResourceNotRegistered  Resource "nvidia.com/gpu" was requested but not registered',
    'asked',
  ],
  [
    'init/gpu-device-plugin-missing',
    '2023-05-05T10:00:00.000Z	ERROR	controller.inflightchecks	Inflight check failed for node, Expected resource "nvidia.com/gpu" didn\'t register on the node	{"commit": "x", "node": "ip-10"}',
    'log,asked',
  ],
  [
    'init/pod-eni-not-registered',
    '{"level":"ERROR","message":"inflight check failed for node, Expected resource \\"vpc.amazonaws.com/pod-eni\\" didn\'t register on the node"}',
    'log,asked',
  ],
  ['init/pod-eni-not-registered', 'Resource "vpc.amazonaws.com/pod-eni" was requested but not registered', 'asked'],
  [
    'init/startup-taint-not-removed',
    'Initialized  Unknown  StartupTaintsExist  StartupTaint "ebs.csi.aws.com/agent-not-ready:NoExecute" still exists',
    'asked',
  ],
  [
    'init/startup-taint-not-removed',
    '{"level":"ERROR","message":"inflight check failed for node, Startup taint \\"node.cilium.io/agent-not-ready=:NoExecute\\" is still on the node"}',
    'log,asked',
  ],
  [
    'windows/support-not-enabled',
    'plugin type="vpc-bridge" name="vpc" failed (add): failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
    'asked',
  ],
  [
    'windows/support-not-enabled',
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "abc": plugin type=\\"vpc-bridge\\" name=\\"vpc\\" failed (add): failed to parse Kubernetes args: failed to get pod IP address win-webserver: error executing k8s connector: error executing connector binary: exit status 1 with execution error: pod win-webserver does not have label vpc.amazonaws.com/PrivateIPv4Address',
    'asked',
  ],
  [
    'windows/image-host-version-mismatch',
    'Failed to pull image "mcr.microsoft.com/windows/servercore:ltsc2019": rpc error: code = NotFound desc = failed to pull and unpack image "mcr.microsoft.com/windows/servercore:ltsc2019": no match for platform in manifest: not found',
    'asked',
  ],
  [
    'windows/image-host-version-mismatch',
    'The container operating system does not match the host operating system.',
    'asked',
  ],
];

describe.each(wordings)('%s', (id, text, places = 'asked') => {
  test.each(places.split(','))(`is named in ${JSON.stringify(text.slice(0, 60))} (%s)`, (where) => {
    expect(diagnoseCase(evidenceIn(where as Where, text)).findings.map((finding) => finding.id)).toContain(id);
  });
});
