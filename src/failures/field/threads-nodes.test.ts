// Lines of public threads about nodes that do not come, pods that wait and nodes that stay, with what people write around them;
// labelled before the doctor saw them.
import type { FailureId } from '../failure.ts';
import type { Where } from './field.testing.ts';
import { reportsAreRead } from './issue-reports.testing.ts';

const named: readonly [FailureId, Where, string][] = [
  [
    'ami/none-for-cluster-version',
    'asked',
    'Message: Failed to resolve AMIs / AMISelector did not match any AMIs\n    Observed Generation:   2\n    Reason:                AMINotFound\n    Status:                False\n    Type:                  AMIsReady',
  ],
  [
    'ami/none-for-cluster-version',
    'log',
    '{"level":"ERROR","time":"2026-03-18T07:07:10.902Z","logger":"controller","message":"Reconciler error","controller":"nodeclass","EC2NodeClass":{"name":"legacy"},"error":"getting amis, getting AMI queries, failed to discover AMIs for alias \\"al2@v20250920\\""}',
  ],
  [
    'ami/containerd-config-missing',
    'node',
    'FAILED Failed to start nodeadm-co.service - EKS Nodeadm Config.\nDEPEND Dependency failed for noderun.service - EKS Nodeadm Run.\nERROR: bootstrap.sh has been removed from AL2023-based EKS AMIs.\nEKS nodes are now initialized by nodeadm.\nTo migrate your user data, see:\n    https://awslabs.github.io/amazon-eks-ami/nodeadm/',
  ],
  [
    'ami/sandbox-image-pull-stuck',
    'node',
    'Feb 11 03:13:02 ip-10-4-2-9 containerd[2201]: time="2026-02-11T03:13:02.11Z" level=error msg="RunPodSandbox for &PodSandboxMetadata{Name:aws-node-8mrzp,} failed, error" error="failed to get sandbox image \\"602401143452.dkr.ecr.eu-south-2.amazonaws.com/eks/pause:3.5\\": failed to pull image: failed to do request: Head \\"https://602401143452.dkr.ecr.eu-south-2.amazonaws.com/v2/eks/pause/manifests/3.5\\": dial tcp 52.46.1.9:443: i/o timeout"',
  ],
  [
    'ami/eni-max-pods-entry-missing',
    'node',
    "+ MAX_PODS_FILE=/etc/eks/eni-max-pods.txt\n+ [[ -z '' ]]\nNo entry for c8g.4xlarge in /etc/eks/eni-max-pods.txt\nExited with error on line 534",
  ],
  [
    'ami/swap-blocks-kubelet',
    'node',
    'Jul 01 10:11:45 ip-10-0-2-2 kubelet[3011]: E0701 10:11:45.112 3011 run.go:72] "command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false. /proc/swaps contained: [Filename Type Size Used Priority /dev/xvda3 partition 917500 0 -2]"',
  ],
  [
    'ami/block-device-name-invalid',
    'log',
    '{"level":"ERROR","time":"2025-06-07T10:12:13.101Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"win-9kq2t"},"error":"launching nodeclaim, creating instance, creating fleet request, InvalidBlockDeviceMapping: The device \'/dev/xvda\' is used in more than one block-device mapping"}',
  ],
  [
    'registration/node-role-not-mapped',
    'node',
    'Feb 18 12:46:16 ip-10-0-1-229.us-west-2.compute.internal kubelet[4015]: E0218 12:46:16.432412    4015 kubelet_node_status.go:103] Unable to register node "ip-10-0-1-229.us-west-2.compute.internal" with API server: Unauthorized\nFeb 18 12:46:16 ip-10-0-1-229.us-west-2.compute.internal kubelet[4015]: E0218 12:46:16.432478    4015 reflector.go:205] k8s.io/kubernetes/pkg/kubelet/kubelet.go:464: Failed to list *v1.Node: Unauthorized\nMar 19 14:01:03 ip-172-18-14-119 kubelet: W0319 14:01:03.269962    3780 cni.go:172] Unable to update cni config: No networks found in /etc/cni/net.d',
  ],
  [
    'registration/node-role-not-mapped',
    'node',
    'May 10 09:26:40 ip-10-1-1-4 kubelet[1046]: E0510 09:26:40.763688    1046 kubelet_node_status.go:92] "Unable to register node with API server" err="nodes is forbidden: User \\"system:anonymous\\" cannot create resource \\"nodes\\" in API group \\"\\" at the cluster scope" node="ip-10-1-1-4"',
  ],
  [
    'registration/api-server-unreachable',
    'node',
    'Mar 02 08:00:41 ip-10-9-4-1.eu-north-1.compute.internal kubelet[2120]: E0302 08:00:41.201 2120 kubelet_node_status.go:107] "Unable to register node with API server" err="Post \\"https://A1B2C3D4.gr7.eu-north-1.eks.amazonaws.com/api/v1/nodes\\": dial tcp 10.9.1.77:443: i/o timeout" node="ip-10-9-4-1.eu-north-1.compute.internal"\nMar 02 08:00:45 ip-10-9-4-1.eu-north-1.compute.internal kubelet[2120]: E0302 08:00:45.201 2120 controller.go:145] "Failed to ensure lease exists, will retry" err="Get \\"https://A1B2C3D4.gr7.eu-north-1.eks.amazonaws.com/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/ip-10-9-4-1?timeout=10s\\": context deadline exceeded" interval="7s"',
  ],
  [
    'registration/api-server-unreachable',
    'node',
    'kubelet[1849]: E0912 22:47:21.1 1849 reflector.go:138] k8s.io/client-go/informers/factory.go:134: Failed to watch *v1.Node: Get "https://BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes?limit=500": dial tcp: lookup BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com on 10.50.0.2:53: no such host\nkubelet[1849]: E0912 22:47:27.562891    1849 kubelet.go:2451] "Error getting node" err="node \\"ip-10-50-182-117.ec2.internal\\" not found"',
  ],
  [
    'registration/service-endpoints-unreachable',
    'node',
    'Sep 17 10:05:58 localhost nodeadm[2495]: {"level":"info","ts":1758103558.3896208,"caller":"init/init.go:157","msg":"Fetching instance details.."}\nSep 17 10:05:58 localhost nodeadm[2495]: SDK 2025/09/17 10:05:58 DEBUG attempting waiter request, attempt count: 1\nSep 17 10:06:36 localhost nodeadm[2495]: {"level":"fatal","ts":1758103596.1,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"operation error EC2: DescribeInstances, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://ec2.eu-west-2.amazonaws.com/\\": dial tcp 52.56.93.10:443: i/o timeout"}',
  ],
  [
    'registration/undiagnosed-timeout',
    'cli',
    '$ kubectl get nodeclaims\nNAME            TYPE         CAPACITY   ZONE         NODE   READY     AGE\ndefault-2wjhl   m6i.large    spot       us-east-1b          Unknown   11m\ndefault-q9xmt   m6a.xlarge   spot       us-east-1a          Unknown   11m',
  ],
  [
    'registration/kubelet-never-posted-status',
    'cli',
    'Conditions:\n  Type             Status    LastHeartbeatTime                 LastTransitionTime                Reason                    Message\n  MemoryPressure   Unknown   Tue, 22 Feb 2022 08:03:34 +0000   Tue, 22 Feb 2022 08:04:41 +0000   NodeStatusNeverUpdated    Kubelet never posted node status.\n  Ready            Unknown   Tue, 22 Feb 2022 08:03:34 +0000   Tue, 22 Feb 2022 08:04:41 +0000   NodeStatusNeverUpdated    Kubelet never posted node status.',
  ],
  [
    'init/gpu-device-plugin-missing',
    'log',
    '2023-04-21T06:05:00.044Z\tINFO\tcontroller.inflightchecks\tInflight check failed for node, Expected resource "nvidia.com/gpu" didn\'t register on the node\t{"commit": "beb0a64-dirty", "node": "ip-172-24-37-21.us-west-2.compute.internal"}',
  ],
  [
    'init/gpu-device-plugin-missing',
    'asked',
    '    Last Transition Time:  2026-04-22T09:46:42Z\n    Message:               Resource "aws.amazon.com/neuron" was requested but not registered\n    Reason:                ResourceNotRegistered\n    Status:                Unknown\n    Type:                  Initialized',
  ],
  [
    'init/startup-taint-not-removed',
    'asked',
    'Conditions:\n    Last Transition Time:  2025-07-01T09:46:42Z\n    Message:               StartupTaint "node.cilium.io/agent-not-ready:NoExecute" still exists\n    Reason:                StartupTaintsExist\n    Status:                Unknown\n    Type:                  Initialized\n    Type:                  Registered\n    Status:                True',
  ],
  [
    'registration/unregistered-taint-missing',
    'asked',
    '      message: Invariant violated, karpenter.sh/unregistered taint must be present on Karpenter-managed nodes\n      reason: UnregisteredTaintNotFound\n      status: "False"\n      type: Registered',
  ],
  [
    'scheduling/no-instance-type-fits',
    'log',
    '2022-05-09T20:04:37.981Z\tERROR\tcontroller.provisioning\tCould not schedule pod, incompatible with provisioner "internal-services", no instance type satisfied resources {"cpu":"7","github.com/fuse":"4","memory":"8692Mi","pods":"1"} and requirements node.kubernetes.io/instance-type In [m5d.2xlarge m5d.4xlarge m5d.xlarge], topology.kubernetes.io/zone In [eu-central-1a eu-central-1b], kubernetes.io/os In [linux]\t{"commit": "27a51c0", "pod": "ci/runner-wyassimf"}',
  ],
  [
    'scheduling/no-instance-type-fits',
    'log',
    '{"level":"ERROR","time":"2023-11-28T07:49:22.662Z","logger":"controller.provisioner","message":"Could not schedule pod, incompatible with nodepool \\"arm-instance-store\\", daemonset overhead={\\"cpu\\":\\"180m\\",\\"memory\\":\\"504Mi\\",\\"pods\\":\\"4\\"}, did not tolerate arch=arm64:NoSchedule; incompatible with nodepool \\"x86-instance-store\\", daemonset overhead={\\"cpu\\":\\"180m\\",\\"memory\\":\\"504Mi\\",\\"pods\\":\\"4\\"}, no instance type satisfied resources {\\"cpu\\":\\"280m\\",\\"memory\\":\\"760Mi\\",\\"pods\\":\\"5\\"} and requirements karpenter.k8s.aws/instance-category In [c hpc m r x and 1 others], karpenter.k8s.aws/instance-local-nvme Exists >45, karpenter.sh/capacity-type In [on-demand spot], kubernetes.io/arch In [amd64] (no instance type has enough resources)"}',
  ],
  [
    'scheduling/pool-limit-reached',
    'log',
    '{"level":"ERROR","time":"2025-03-03T07:49:22.662Z","logger":"controller","message":"could not schedule pod","Pod":{"name":"web-7","namespace":"shop"},"error":"all available instance types exceed limits for nodepool: \\"default\\"; incompatible with nodepool \\"gpu\\", did not tolerate taint (taint=nvidia.com/gpu:NoSchedule)"}',
  ],
  [
    'scheduling/label-without-known-values',
    'log',
    '{"level":"DEBUG","time":"2025-03-03T07:49:22.662Z","logger":"controller","message":"ignoring pod, label node.example.com/tier is restricted"}\n{"level":"ERROR","time":"2025-03-03T07:49:23.662Z","logger":"controller","message":"could not schedule pod","Pod":{"name":"etl-7","namespace":"data"},"error":"incompatible with nodepool \\"default\\", daemonset overhead={}, incompatible requirements, label \\"workload-tier\\" does not have known values (typo of \\"workload-tiers\\"?)"}',
  ],
  [
    'scheduling/no-usable-nodepool',
    'log',
    '{"level":"INFO","time":"2024-11-25T15:10:01.001Z","logger":"controller","message":"found provisionable pod(s)","controller":"provisioner","Pods":"shop/web-1"}\n{"level":"INFO","time":"2024-11-25T15:10:01.002Z","logger":"controller","message":"no nodepools found","commit":"652e6aa","controller":"provisioner"}\n{"level":"INFO","time":"2024-11-25T15:10:11.002Z","logger":"controller","message":"no nodepools found","commit":"652e6aa","controller":"provisioner"}',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'log',
    '{"level":"ERROR","time":"2024-06-27T16:59:02.890Z","logger":"controller","message":"Reconciler error","commit":"17dd42b","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"rce-compute-spot-rpw6z"},"error":"launching nodeclaim, creating instance, with fleet error(s), InvalidFleetConfiguration: Your requested instance type (r5d.4xlarge) is not supported in your requested Availability Zone (us-east-1-dfw-1a)."}',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'log',
    '{"level":"ERROR","time":"2025-10-01T10:00:00.001Z","logger":"controller","message":"failed launching nodeclaim","NodeClaim":{"name":"gpu-84dqz"},"error":"creating instance, insufficient capacity, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."}\n{"level":"ERROR","time":"2025-10-01T10:05:00.001Z","logger":"controller","message":"failed launching nodeclaim","NodeClaim":{"name":"gpu-2fdqz"},"error":"creating instance, insufficient capacity, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to."}',
  ],
  [
    'net/subnet-addresses-exhausted',
    'log',
    '2023-02-09T10:11:12.113Z ERROR   controller.provisioner  launching machine, creating cloud provider instance, creating instance, with fleet error(s), InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet \'subnet-0783288fba3453a60\' to satisfy the requested number of instances.        {"commit": "5a7faa0-dirty"}',
  ],
  [
    'net/max-pods-above-ip-capacity',
    'asked',
    'Warning  FailedCreatePodSandBox  2m47s (x1642 over 6h)  kubelet  (combined from similar events): Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "71ef22cdaf65163adca4c97ed66df6a7cdcdcbe7c011d0ff62a77648cba5b46b": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
  ],
  [
    'net/discovery-tag-missing',
    'log',
    '{"level":"ERROR","time":"2026-04-30T10:42:41.791Z","logger":"controller","message":"failed listing instance types","commit":"d80cb86","controller":"disruption","nodepool":"my-nodepool","error":"no subnets found"}',
  ],
  [
    'net/discovery-tag-missing',
    'asked',
    '  Normal  SecurityGroupsReady  38s  karpenter  Status condition transitioned, Type: SecurityGroupsReady, Status: Unknown -> False, Reason: SecurityGroupsNotFound, Message: SecurityGroupSelector did not match any SecurityGroups',
  ],
  [
    'windows/support-not-enabled',
    'asked',
    '(combined from similar events): Failed to create  pod sandbox: rpc error: code = Unknown desc = failed to set up sandbox  container  "8a2086cd088b154bf32710ad159e34ff"  network for pod "platform-api-c6f7c5fcd-vzc52": networkPlugin cni failed  to set up pod "platform-api-c6f7c5fcd-vzc52_uk-platform-test" network:  failed to parse Kubernetes args: pod does not have label  vpc.amazonaws.com/PrivateIPv4Address',
  ],
  [
    'disruption/do-not-disrupt-blocks',
    'asked',
    '{"eventNamespace":"default","involvedObject":{"kind":"Node","name":"ip-172-31-6-136.eu-central-1.compute.internal"},"reason":"DisruptionBlocked","eventMessage":"Cannot disrupt Node: Pod \\"default/cdp-default-2ekrbha7wakskum3uuw492ts4y\\" has \\"karpenter.sh/do-not-disrupt\\" annotation","source":{"component":"karpenter"},"count":1,"type":"Normal"}',
  ],
  [
    'disruption/pdb-blocks',
    'asked',
    '{"level":"ERROR","logger":"controller.nodeclaim.consistency","message":"check failed, can\'t drain node, PDB \\"prometheus-scale/prometheus-scale-prometheus\\" is blocking evictions"}',
  ],
  [
    'termination/finalizer-after-uninstall',
    'cli',
    '$ helm uninstall karpenter -n karpenter\nrelease "karpenter" uninstalled\n$ kubectl delete nodeclaims --all\nnodeclaim.karpenter.sh "infra-4swmq" deleted\nnodeclaim.karpenter.sh "infra-gp9d4" deleted\n^C\n$ kubectl get nodeclaim infra-4swmq -o jsonpath=\'{.metadata.deletionTimestamp} {.metadata.finalizers}\'\n2024-09-03T10:11:12Z ["karpenter.sh/termination"]',
  ],
  [
    'registration/node-role-not-mapped',
    'asked',
    'EKS 1.33 に上げたらノードが参加しません。Karpenter 1.8 です。コンソールに以下が出ています:\n[    8.122] cloud-init[1582]: 2026-01-12 08:01:01,101 - __init__.py[WARNING]: Unhandled unknown content-type (application/node.eks.aws) userdata\nノードに SSM で入って journalctl を見ると\nJan 12 08:03:10 ip-10-3-9-1.ap-northeast-1.compute.internal kubelet[1701]: E0112 08:03:10.001 1701 kubelet_node_status.go:107] "Unable to register node with API server" err="Unauthorized" node="ip-10-3-9-1.ap-northeast-1.compute.internal"\n原因は何でしょうか？',
  ],
  [
    'init/cni-not-initialised',
    'node',
    'Apr 13 12:24:01 ip-10-0-9-4 kubelet[2001]: E0413 12:24:01.1 2001 kubelet.go:3008] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"\nApr 13 12:24:11 ip-10-0-9-4 kubelet[2001]: I0413 12:24:11.1 2001 kubelet_node_status.go:79] "Successfully registered node" node="ip-10-0-9-4"\nApr 13 12:34:31 ip-10-0-9-4 kubelet[2001]: E0413 12:34:31.1 2001 kubelet.go:3008] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"\nApr 13 12:44:31 ip-10-0-9-4 kubelet[2001]: E0413 12:44:31.1 2001 kubelet.go:3008] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'log',
    '{"level":"ERROR","time":"2026-03-18T07:07:10.902Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"gp-1"},"error":"launching nodeclaim, creating instance, creating fleet request, InvalidParameterCombination: The parameter GroupName within placement information cannot be specified when instanceInterruptionBehavior is set to \'stop\'."}\n{"level":"ERROR","time":"2026-03-18T07:09:10.902Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"gp-2"},"error":"launching nodeclaim, creating instance, creating fleet request, InvalidParameterCombination: The parameter GroupName within placement information cannot be specified when instanceInterruptionBehavior is set to \'stop\'."}',
  ],
  [
    'registration/service-endpoints-unreachable',
    'node',
    '[   61.201133] cloud-init[1672]: Connect timeout on endpoint URL: "https://eks.eu-central-2.amazonaws.com/clusters/prod"\n[   61.301133] cloud-init[1672]: Exited with error on line 341',
  ],
  [
    'ami/sandbox-image-pull-stuck',
    'node',
    '● sandbox-image.service - pull sandbox image defined in containerd config.toml\n   Loaded: loaded (/etc/systemd/system/sandbox-image.service; enabled; vendor preset: disabled)\n   Active: activating (start) since Wed 2022-04-06 08:21:36 UTC; 27min ago\n Main PID: 4134 (bash)\n   CGroup: /system.slice/sandbox-image.service\n           ├─4134 bash /etc/eks/containerd/pull-sandbox-image.sh\n           └─4189 /usr/bin/python2 /usr/bin/aws ecr get-login-password --region eu-west-1',
  ],
  [
    'ami/containerd-config-missing',
    'node',
    "sed: can't read /etc/eks/containerd/containerd-config.toml: No such file or directory\nExited with error on line 469\n[  OK  ] Started Execute cloud user/final scripts.",
  ],
  [
    'ami/containerd-config-missing',
    'node',
    "[    8.684272] early-boot-config[1650]: Error PATCHing '/settings?tx=bottlerocket-launch': Status 400 when PATCHing /settings?tx=bottlerocket-launch: Json deserialize error: invalid type: integer 1048576, expected a string at line 1 column 81\n[FAILED] Failed to start Bottlerocket userdata configuration system.\nSee 'systemctl status early-boot-config.service' for details.",
  ],
  [
    'net/cluster-dns-unreachable-from-node',
    'asked',
    'Pods on the new karpenter nodes time out: \n/ # nslookup kubernetes.default\n;; connection timed out; no servers could be reached\n/ # ping -c1 10.0.41.7   (coredns pod on a node of the managed group)\n1 packets transmitted, 0 received, 100% packet loss\nPods on the managed node group resolve fine. The karpenter nodes have sg-0aa, the group has sg-0bb.',
  ],
  [
    'net/security-groups-for-pods-slow-start',
    'asked',
    'Warning  FailedScheduling  3m  default-scheduler  0/6 nodes are available: 6 Insufficient vpc.amazonaws.com/pod-eni.\nNormal   Nominated  28m  karpenter  Pod should schedule on: nodeclaim/default-x1\nNode ip-10-0-1-1 has no label vpc.amazonaws.com/has-trunk-attached; pods with security groups stay ContainerCreating for half an hour',
  ],
  [
    'windows/image-host-version-mismatch',
    'asked',
    'Failed to pull image "mcr.microsoft.com/dotnet/framework/aspnet:4.8-windowsservercore-ltsc2019": rpc error: code = NotFound desc = failed to pull and unpack image: no match for platform in manifest sha256:7c: not found',
  ],
  [
    'windows/image-host-version-mismatch',
    'asked',
    'hcs::CreateComputeSystem 3f1a: The container operating system does not match the host operating system.',
  ],
  [
    'storage/attach-limit-race-at-registration',
    'asked',
    'Warning  FailedAttachVolume  44s (x9 over 3m)  attachdetach-controller  AttachVolume.Attach failed for volume "pvc-9" : rpc error: code = Internal desc = Could not attach volume "vol-0a" to node "i-0b": attachment of disk "vol-0a" failed, expected device to be attached but was attaching\nStorageClass gp3 uses ebs.csi.aws.com',
  ],
  [
    'disruption/not-consolidating-unexplained',
    'asked',
    "Normal  Unconsolidatable  2m (x40 over 11h)  karpenter  SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
  ],
  [
    'disruption/not-consolidating-unexplained',
    'asked',
    "Normal   Unconsolidatable  4m  karpenter  Can't replace with a cheaper node",
  ],
  [
    'termination/drain-never-completes',
    'asked',
    'Warning  FailedDraining  2m (x98 over 3h)  karpenter  Failed to drain node, 3 pods are waiting to be evicted',
  ],
  [
    'termination/finalizer-strip-leaks-instances',
    'cli',
    '$ kubectl get nodes -o name | xargs -I{} kubectl patch {} -p \'{"metadata":{"finalizers":null}}\' --type=merge\nnode/ip-10-0-1-1.ec2.internal patched\n$ kubectl get nodes\nNo resources found\n$ aws ec2 describe-instances --filters Name=tag-key,Values=karpenter.sh/nodepool --query \'Reservations[].Instances[].[InstanceId,State.Name]\' --output text\ni-0aa11bb22cc33dd44\trunning',
  ],
  [
    'scheduling/spread-over-unreachable-domain',
    'asked',
    'could not schedule pod: incompatible with nodepool "apps", daemonset overhead={"cpu":"180m","pods":"5"}, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = eu-west-1a:2, eu-west-1b:2, eu-west-1c:0, podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone In [eu-west-1a eu-west-1b])',
  ],
  [
    'scheduling/pool-limit-reached',
    'asked',
    '0/5 nodes are available; karpenter: Failed to schedule pod, all available instance types exceed limits for nodepool: "batch"',
  ],
  [
    'scheduling/allocatable-overestimated',
    'asked',
    'Warning  FailedConsistencyCheck  3m  karpenter  expected 8Gi of resource memory, but found 7100Mi (88.8% of expected)',
  ],
  [
    'scheduling/no-instance-type-fits',
    'asked',
    'Warning  FailedScheduling  13s (x7 over 2m)  karpenter  Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"455m","memory":"664Mi","pods":"7"}, no instance type which had enough resources and the required offering met the scheduling requirements',
  ],
  [
    'registration/node-role-not-mapped',
    'cli',
    '$ aws eks list-access-entries --cluster-name prod --query accessEntries --output text\narn:aws:iam::111122223333:role/AWSReservedSSO_Admin\n$ kubectl get nodeclaim\nNAME            TYPE        CAPACITY    ZONE         NODE   READY     AGE\ndefault-2wjhl   m6i.large   on-demand   us-east-1b          Unknown   13m\n$ aws ec2 get-console-output --instance-id i-0aaa --latest --output text | tail -2\n[   20.1] kubelet[1710]: E0411 10:01:02.120 1710 kubelet_node_status.go:107] "Unable to register node with API server" err="Unauthorized" node="ip-10-1-2-3.ec2.internal"',
  ],
  [
    'registration/node-role-not-mapped',
    'asked',
    'eks-bootstrap INFO: complete!\n...\nFailed to contact API server when waiting for CSINode publishing: Unauthorized\nFailed to contact API server when waiting for CSINode publishing: Unauthorized\nkein Node sichtbar mit kubectl get nodes, Instanz läuft aber',
  ],
  [
    'registration/node-role-not-mapped',
    'node',
    'Apr 02 10:10:10 ip-10-0-7-7 kubelet[1999]: E0402 10:10:10.1 1999 kubelet_node_status.go:544] "Error updating node status, will retry" err="error getting node \\"ip-10-0-7-7\\": nodes \\"ip-10-0-7-7\\" is forbidden: User \\"system:node:i-0abc\\" cannot get resource \\"nodes\\" in API group \\"\\" at the cluster scope: node \'i-0abc\' cannot read \'ip-10-0-7-7\', only its own Node object"',
  ],
  [
    'registration/api-server-unreachable',
    'node',
    'Apr 02 10:10:10 ip-10-0-7-7 kubelet[1999]: E0402 10:10:10.1 1999 kubelet_node_status.go:107] "Unable to register node with API server" err="Post \\"https://AAAA.yl4.us-east-1.eks.amazonaws.com/api/v1/nodes\\": tls: failed to verify certificate: x509: certificate signed by unknown authority" node="ip-10-0-7-7"',
  ],
  [
    'ami/containerd-config-missing',
    'node',
    '[   17.2] cloud-init[1811]: /var/lib/cloud/instance/scripts/part-001: line 9: /etc/eks/bootstrap.sh: No such file or directory\n[   17.4] cloud-init[1811]: 2026-02-02 02:02:02,222 - util.py[WARNING]: Failed running /var/lib/cloud/instance/scripts/part-001 [127]',
  ],
  [
    'init/gpu-device-plugin-missing',
    'cli',
    '$ kubectl describe node ip-10-0-3-3.ec2.internal | grep -A8 Allocatable\nAllocatable:\n  cpu:                3920m\n  memory:             14966Mi\n  nvidia.com/gpu:     0\n  pods:               29\n$ kubectl describe nodeclaim gpu-x1 | grep -i registered\n    Message:               Resource "nvidia.com/gpu" was requested but not registered',
  ],
  [
    'init/startup-taint-not-removed',
    'cli',
    '$ kubectl describe nodeclaim default-9xk2t | tail -8\n  Normal  Unconsolidatable  4m  karpenter  Node isn\'t initialized\nConditions:\n    Message:               StartupTaint "ebs.csi.aws.com/agent-not-ready:NoExecute" still exists\n    Reason:                StartupTaintsExist\n    Status:                Unknown\n    Type:                  Initialized',
  ],
  [
    'scheduling/limit-unit-mistake',
    'asked',
    'spec:\n  limits:\n    cpu: 2000m\n    memory: 4Gi\nkubectl describe: all available instance types exceed limits for nodepool: "default"',
  ],
  [
    'scheduling/no-usable-nodepool',
    'log',
    '{"level":"ERROR","time":"2026-04-01T10:00:00.000Z","logger":"controller","message":"skipping, nodepool requirements filtered out all instance types","commit":"1ad0d78","controller":"provisioner","NodePool":{"name":"default"}}\n{"level":"INFO","time":"2026-04-01T10:00:00.001Z","logger":"controller","message":"no dynamic nodepools found","controller":"provisioner"}\n{"level":"INFO","time":"2026-04-01T10:10:00.001Z","logger":"controller","message":"no dynamic nodepools found","controller":"provisioner"}',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'log',
    '{"level":"ERROR","time":"2026-04-01T10:00:00.000Z","logger":"controller","message":"failed launching nodeclaim","NodeClaim":{"name":"a-1"},"error":"creating instance, creating fleet request, operation error EC2: CreateFleet, https response error StatusCode: 400, RequestID: 1, api error InvalidParameterValue: Invalid IAM Instance Profile name"}\n{"level":"ERROR","time":"2026-04-01T10:05:00.000Z","logger":"controller","message":"failed launching nodeclaim","NodeClaim":{"name":"a-2"},"error":"creating instance, creating fleet request, operation error EC2: CreateFleet, https response error StatusCode: 400, RequestID: 2, api error InvalidParameterValue: Invalid IAM Instance Profile name"}',
  ],
  [
    'net/discovery-tag-missing',
    'asked',
    '{"level":"ERROR","time":"2026-04-01T10:00:00.000Z","logger":"controller","message":"Reconciler error","controller":"nodeclass","EC2NodeClass":{"name":"default"},"error":"no security groups exist given constraints"}',
  ],
  [
    'disruption/pdb-blocks',
    'cli',
    '$ kubectl drain ip-10-0-1-1 --ignore-daemonsets\nevicting pod shop/cache-0\nerror when evicting pods/"cache-0" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the pod\'s disruption budget.\nerror when evicting pods/"cache-0" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the pod\'s disruption budget.',
  ],
  [
    'disruption/budget-zero-in-force',
    'asked',
    'Normal  DisruptionBlocked  3m (x30 over 10h)  karpenter  No allowed disruptions for disruption reason Underutilized due to blocking budget',
  ],
  [
    'termination/drain-never-completes',
    'log',
    '{"level":"DEBUG","time":"2026-04-01T10:00:00.000Z","logger":"controller","message":"waiting on drain","Node":{"name":"ip-1"}}\nWarning FailedDraining 3m (x300 over 10h) karpenter Failed to drain node, 2 pods are waiting to be evicted',
  ],
  [
    'storage/in-tree-driver-limits-unknown',
    'log',
    '{"level":"ERROR","time":"2026-04-01T10:00:00.000Z","logger":"controller","message":"PersistentVolume source \'AWSElasticBlockStore\' uses an in-tree storage plugin which is unsupported by Karpenter and is currently being deprecated by Kubernetes. Scale-ups may fail because Karpenter will not discover driver limits.","PersistentVolume":{"name":"pv-1"}}',
  ],
];

const calm: readonly [Where, string][] = [
  [
    'asked',
    'Release "karpenter" has been upgraded. Happy Helming!\nNAME: karpenter\nLAST DEPLOYED: Tue Feb  3 10:11:12 2026\nNAMESPACE: kube-system\nSTATUS: deployed\nREVISION: 7\nTEST SUITE: None',
  ],
  ['asked', 'Error from server (NotFound): deployments.apps "frontend" not found'],
  ['cli', 'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress'],
  [
    'log',
    '2026-02-01T01:00:00Z ERROR checkout payment declined status=403 forbidden user=42\njava.net.SocketTimeoutException: connect timed out\n\tat java.base/java.net.PlainSocketImpl.socketConnect(Native Method)\n\tat com.acme.Checkout.pay(Checkout.java:88)',
  ],
  [
    'log',
    "I0201 01:00:00.1 1 event.go:377] Event(v1.ObjectReference{Kind:\"Pod\"}): type: 'Warning' reason: 'FailedScheduling' 0/3 nodes are available: 3 Insufficient cpu.\nI0201 01:00:45.1 1 event.go:377] Event(v1.ObjectReference{Kind:\"Pod\"}): type: 'Normal' reason: 'Scheduled' Successfully assigned shop/web-1 to ip-10-0-1-1",
  ],
  [
    'log',
    '{"level":"INFO","time":"2026-04-01T09:59:00.000Z","logger":"controller","message":"created nodeclaim","NodeClaim":{"name":"x-1"}}\n{"level":"ERROR","time":"2026-04-01T10:00:00.000Z","logger":"controller","message":"could not schedule pod","Pod":{"name":"a","namespace":"b"},"error":"no instance type has enough resources"}\n{"level":"INFO","time":"2026-04-01T10:00:30.000Z","logger":"controller","message":"found provisionable pod(s)","Pods":"b/a"}\n{"level":"INFO","time":"2026-04-01T10:00:31.000Z","logger":"controller","message":"launched nodeclaim","NodeClaim":{"name":"x-2"}}\n{"level":"INFO","time":"2026-04-01T10:01:31.000Z","logger":"controller","message":"initialized nodeclaim","NodeClaim":{"name":"x-2"}}',
  ],
];

reportsAreRead(named, calm);
