// The same for nodes, credentials, prices and tools.
import type { FailureId } from '../failure.ts';
import type { Where } from './field.testing.ts';
import { reportsAreRead } from './issue-reports.testing.ts';

const named: readonly [FailureId, Where, string][] = [
  [
    'registration/node-role-not-mapped',
    'asked',
    '# On a node that failed to join\njournalctl -u kubelet | grep -i "auth"\nE0612 21:10:45.123456 1234.56789 [kubelet.go:...] Unable to register node with API server: unauthorized',
  ],
  [
    'registration/node-role-not-mapped',
    'node',
    'kubelet[14180]: E0106 06:58:01.678158   14180 reflector.go:178] k8s.io/kubernetes/pkg/kubelet/config/apiserver.go:46: Failed to list *v1.Pod: Unauthorized\nkubelet[14180]: E0106 06:58:02.269813   14180 controller.go:136] failed to ensure node lease exists, will retry in 7s, error: Unauthorized\nkubelet[14180]: E0106 07:00:31.476224   14180 kubelet_node_status.go:92] Unable to register node "ip-xxx-xxx-xxx-xxx.ap-northeast-1.compute.internal" with API server: Unauthorized',
  ],
  [
    'registration/undiagnosed-timeout',
    'asked',
    'Die Worker-Knoten treten dem EKS-Cluster nicht bei, und du erhältst die Fehlermeldung „Instances failed to join the kubernetes cluster“.',
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '{"level":"ERROR","time":"2025-03-10T09:32:36.000Z","logger":"controller","message":"Failed to detect the cluster CIDR","commit":"8fe7d4a","controller":"nodeclass","error":"operation error EKS: DescribeCluster, https response error StatusCode: 403, RequestID: 1, AccessDeniedException: User: arn:aws:sts::111122223333:assumed-role/KarpenterController/1741 is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:us-east-1:111122223333:cluster/generic"}',
  ],
  [
    'net/subnet-addresses-exhausted',
    'asked',
    '{"level":"error","ts":"2021-12-02T03:34:46.067Z","caller":"ipamd/ipamd.go:934","msg":"Failed to allocate a private IP/Prefix addresses on ENI eni-01f879673fc5fd14d: InsufficientFreeAddressesInSubnet: The specified subnet does not have enough free addresses to satisfy the request.\\n\\tstatus code: 400, request id: aeac321e-be9f-4a13-9b2f-e6ef5985689a"}',
  ],
  [
    'net/subnet-addresses-exhausted',
    'asked',
    '{"level":"error","ts":"2022-07-27T13:08:43.900Z","caller":"ipamd/ipamd.go:1003","msg":"Failed to allocate a private IP/Prefix addresses on ENI eni-0efac8c4483ed5794: InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request."}',
  ],
  [
    'iam/pod-identity-association-wrong',
    'log',
    '{"level":"ERROR","time":"2024-09-06T16:17:07.120Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"62a726c","error":"NoCredentialProviders: no valid providers in chain. Deprecated.\\n\\tFor verbose messaging see aws.Config.CredentialsChainVerboseErrors"}',
  ],
  [
    'registration/service-endpoints-unreachable',
    'node',
    'Feb 19 07:56:59 localhost nodeadm[2015]: info init/init.go:171 Fetching instance details..\nFeb 19 07:56:59 localhost nodeadm[2015]: SDK 2026/02/19 07:56:59 DEBUG attempting waiter request, attempt count: 1\nFeb 19 07:57:30 localhost nodeadm[2015]: SDK 2026/02/19 07:57:30 DEBUG retrying request EC2/DescribeInstances, attempt 2\nFeb 19 07:58:01 localhost nodeadm[2015]: SDK 2026/02/19 07:58:01 DEBUG retrying request EC2/DescribeInstances, attempt 3\nFeb 19 07:58:32 localhost nodeadm[2015]: SDK 2026/02/19 07:58:32 DEBUG retrying request EC2/DescribeInstances, attempt 4\nFeb 19 07:59:15 localhost nodeadm[2015]: SDK 2026/02/19 07:59:15 DEBUG retrying request EC2/DescribeInstances, attempt 5\nFeb 19 08:00:05 localhost nodeadm[2015]: SDK 2026/02/19 08:00:05 DEBUG retrying request EC2/DescribeInstances, attempt 6',
  ],
  [
    'ami/containerd-config-missing',
    'asked',
    '> FAILED Failed to start nodeadm-co.service - EKS Nodeadm Config.\n> DEPEND Dependency failed for noderun.service - EKS Nodeadm Run.\n> ERROR: bootstrap.sh has been removed from AL2023-based EKS AMIs.\n> EKS nodes are now initialized by nodeadm.',
  ],
  [
    'ami/containerd-config-missing',
    'node',
    'Sep 09 20:36:28 localhost (nodeadm)[1493]: nodeadm-config.service: Failed to locate executable /usr/bin/nodeadm: Permission denied\nSep 09 20:36:28 localhost (nodeadm)[1493]: nodeadm-config.service: Failed at step EXEC spawning /usr/bin/nodeadm: Permission denied',
  ],
  [
    'interruption/rebalance-not-acted-on',
    'asked',
    'Events:\n  Type    Reason                               Age   From             Message\n  ----    ------                               ----  ----             -------\n  Normal  RegisteredNode                       17m   node-controller  Node ip-10-207-86-246.ec2.internal event: Registered Node ip-10-207-86-246.ec2.internal in Controller\n  Normal  InstanceSpotRebalanceRecommendation  16m   karpenter        Node ip-10-207-86-246.ec2.internal event: A spot rebalance recommendation was triggered for the node',
  ],
  [
    'scheduling/spread-over-unreachable-domain',
    'asked',
    '> {"level":"DEBUG","time":"2024-05-03T06:48:06.528Z","logger":"controller.provisioner","message":"adding requirements derived from pod volumes, [{topology.ebs.csi.aws.com/zone In [eu-central-1c]}]","commit":"17d6c05","pod":"sre/test-5"}\n> incompatible with nodepool \\"sre-amd64\\", daemonset overhead={\\"cpu\\":\\"273m\\",\\"memory\\":\\"1047Mi\\",\\"pods\\":\\"7\\"}, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = eu-central-1c: 1 and 12 other(s), podDomains = topology.kubernetes.io/zone In [eu-central-1c], nodeDomains = topology.kubernetes.io/zone In [eu-central-1c];',
  ],
  [
    'scheduling/spread-over-unreachable-domain',
    'asked',
    'unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = us-east-1a: 1, us-east-1b: 1, us-east-1c: 0, podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone In [us-east-1a us-east-1b])',
  ],
  [
    'termination/finalizer-after-uninstall',
    'asked',
    'helm uninstall karpenter --namespace "${KARPENTER_NAMESPACE}"\nUninstalling Karpenter via helm, cause karpenter control pods to be killed first and there the finalizer on nodes and nodeclaims will never finish.',
  ],
  [
    'iam/ebs-kms-key-denied',
    'asked',
    'State transition reason: Server.InternalError\nState transition reason message: Client.InternalError: Client error on launch',
  ],
  [
    'iam/ebs-kms-key-denied',
    'asked',
    'cloudtrail is still showing: "eventName": "GenerateDataKeyWithoutPlaintext", "errorCode": "AccessDenied", "errorMessage": "User: arn:aws:sts::111122223333:assumed-role/KarpenterController/1 is not authorized to perform: kms:GenerateDataKeyWithoutPlaintext on resource: arn:aws:kms:us-east-1:111122223333:key/abc because no resource-based policy allows the kms:GenerateDataKeyWithoutPlaintext action"',
  ],
  [
    'init/startup-taint-not-removed',
    'asked',
    'Cannot disrupt Node: state node isn\'t initialized\nInitialized Unknown StartupTaintsExist StartupTaint "ebs.csi.aws.com/agent-not-ready:NoExecute" still exists',
  ],
  [
    'pricing/api-unreachable',
    'asked',
    'ERROR   controller.aws.pricing  updating on-demand pricing, RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout; RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout, using existing pricing data from 2022-08-17T00:19:52Z  {"commit": "4b5f953"}',
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '2022-09-05T12:16:18.661Z\tINFO\tcontroller.aws.pricing\tUpdating EC2 pricing information\t{"commit": "3d87474"}\n2022-09-05T12:16:18.813Z\tERROR\tcontroller.aws.pricing\tupdating spot pricing, UnauthorizedOperation: You are not authorized to perform this operation.\n\tstatus code: 403, request id: 8f99fa14-17aa\t{"commit": "3d87474"}',
  ],
  [
    'net/discovery-tag-missing',
    'asked',
    '  Normal  SecurityGroupsReady   38s   karpenter  Status condition transitioned, Type: SecurityGroupsReady, Status: Unknown -> False, Reason: SecurityGroupsNotFound, Message: SecurityGroupSelector did not match any SecurityGroups',
  ],
  [
    'ami/none-for-cluster-version',
    'asked',
    '  Warning  AMIsReady  5s  karpenter  Status condition transitioned, Type: AMIsReady, Status: Unknown -> False, Reason: AMINotFound, Message: AMISelector did not match any AMIs',
  ],
  [
    'scheduling/no-usable-nodepool',
    'asked',
    '{"level":"INFO","time":"2024-11-25T15:00:00.000Z","logger":"controller","message":"no nodepools found","commit":"652e6aa","controller":"provisioner"}\nPods are Pending: default/inflate-66fb68585c-xxxxx',
  ],
  [
    'scheduling/pool-limit-reached',
    'asked',
    'incompatible with provisioner "x86", daemonset overhead={"cpu":"205m","memory":"674Mi","pods":"7"}, all available instance types exceed limits for provisioner: "x86"',
  ],
  [
    'crd/admission-webhook-unreachable',
    'asked',
    '"error": "patching provisioner, Internal error occurred: failed calling webhook "defaulting.webhook.provisioners.karpenter.sh": failed to call webhook: Post "https://karpenter.karpenter.svc:443/default-resource?timeout=10s": x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "karpenter.karpenter.svc")"',
  ],
  [
    'registration/api-server-unreachable',
    'asked',
    'Jul 12 09:00:01 ip-10-0-1-5 kubelet[3000]: E0712 09:00:01.000000 3000 kubelet_node_status.go:92] "Unable to register node with API server" err="Post \\"https://ABCDEF.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\\": x509: certificate signed by unknown authority" node="ip-10-0-1-5.ec2.internal"',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'asked',
    'creating instance, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'asked',
    '2024-03-05 09:42:41 {"level":"ERROR","logger":"controller.nodeclaim.lifecycle","message":"creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded","commit":"2dd7fdc","nodeclaim":"interruptible-gkvns"}',
  ],
  [
    'iam/spot-service-linked-role-missing',
    'asked',
    'launching machine, creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.',
  ],
  [
    'iam/pass-role-denied',
    'asked',
    'User: arn:aws:sts::111122223333:assumed-role/karpenter-controller/1700 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/KarpenterNodeRole-dev because no identity-based policy allows the iam:PassRole action',
  ],
  [
    'iam/oidc-provider-missing',
    'asked',
    '{"level":"ERROR","logger":"controller","message":"ec2 api connectivity check failed","error":"operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 400, RequestID: 1, InvalidIdentityToken: No OpenIDConnect provider found in your account for https://oidc.eks.us-west-2.amazonaws.com/id/ABC"}',
  ],
  [
    'crd/removed-api-version',
    'cli',
    '$ kubectl apply -f provisioner.yaml\nerror: resource mapping not found for name: "default" namespace: "" from "provisioner.yaml": no matches for kind "Provisioner" in version "karpenter.sh/v1alpha5"\nensure CRDs are installed first',
  ],
  [
    'helm/crd-ownership-label',
    'cli',
    'Error: INSTALLATION FAILED: Unable to continue with install: CustomResourceDefinition "nodeclaims.karpenter.sh" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"; annotation validation error: missing key "meta.helm.sh/release-name": must be set to "karpenter-crd"',
  ],
  [
    'helm/version-prefix',
    'cli',
    'Error: failed to perform "FetchReference" on source: public.ecr.aws/karpenter/karpenter:v1.0.6: not found',
  ],
  [
    'tooling/kubeconfig-wrong',
    'cli',
    'E1118 10:00:00.000000   12345 memcache.go:265] couldn\'t get current server API group list: Get "http://localhost:8080/api?timeout=32s": dial tcp 127.0.0.1:8080: connect: connection refused\nThe connection to the server localhost:8080 was refused - did you specify the right host or port?',
  ],
  [
    'tooling/expired-credentials',
    'cli',
    'An error occurred (ExpiredTokenException) when calling the DescribeCluster operation: The security token included in the request is expired',
  ],
  [
    'ami/swap-blocks-kubelet',
    'node',
    'Mar 01 10:00:00 ip-10-0-0-5 kubelet[2001]: E0301 10:00:00.000000 2001 run.go:74] "command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"',
  ],
  [
    'ami/eni-max-pods-entry-missing',
    'node',
    '[   12.3] cloud-init[2211]: No entry for m7i-flex.large in /etc/eks/eni-max-pods.txt. Max pods will not be set',
  ],
  [
    'ami/sandbox-image-pull-stuck',
    'node',
    '● sandbox-image.service - pull sandbox image defined in containerd config.toml\n     Loaded: loaded (/etc/systemd/system/sandbox-image.service; enabled)\n     Active: activating (start) since Fri 2025-01-10 10:01:02 UTC; 14min ago\n   Main PID: 3011 (pull-sandbox-im)\n             └─3050 aws ecr get-login-password --region us-east-1',
  ],
  [
    'windows/image-host-version-mismatch',
    'asked',
    'Failed to pull image "mcr.microsoft.com/windows/servercore/iis": rpc error: code = NotFound desc = failed to pull and unpack image: no match for platform in manifest: not found',
  ],
  [
    'storage/in-tree-driver-limits-unknown',
    'asked',
    '{"level":"ERROR","logger":"controller","message":"PersistentVolume source \'AWSElasticBlockStore\' uses an in-tree storage plugin which is unsupported by Karpenter and is deprecated by Kubernetes. Scale-ups may fail because Karpenter will not discover driver limits.","PersistentVolume":"pvc-1"}',
  ],
  [
    'disruption/do-not-disrupt-blocks',
    'asked',
    'Normal  DisruptionBlocked  5m (x30 over 3h)  karpenter  Cannot disrupt Node: pod "ci/runner-abc" has "karpenter.sh/do-not-disrupt" annotation',
  ],
  [
    'disruption/budget-zero-in-force',
    'asked',
    'Normal  DisruptionBlocked  2m (x12 over 1h)  karpenter  No allowed disruptions for disruption reason Underutilized due to blocking budget',
  ],
  [
    'init/pod-eni-not-registered',
    'asked',
    'controller.inflightchecks\tInflight check failed for node, Expected resource "vpc.amazonaws.com/pod-eni" didn\'t register on the node',
  ],
  [
    'scheduling/allocatable-overestimated',
    'asked',
    '{"level":"ERROR","time":"2025-05-01T00:00:00Z","logger":"controller","message":"consistency error","commit":"1c39126","controller":"nodeclaim.consistency","NodeClaim":{"name":"default-abcde"},"error":"expected 16Gi of resource memory, but found 14Gi (87.5% of expected)"}',
  ],
  [
    'registration/node-role-not-mapped',
    'asked',
    'nodes "ip-10-0-3-4.ec2.internal" is forbidden: node "EC2PrivateDNSName" is not allowed to modify node "ip-10-0-3-4.ec2.internal"',
  ],
  [
    'net/cluster-dns-unreachable-from-node',
    'asked',
    'Pods on the new Karpenter nodes: ;; connection timed out; no servers could be reached\nnslookup kubernetes.default\nServer: 172.20.0.10\n;; communications error to 172.20.0.10#53: timed out',
  ],
  [
    'net/security-groups-for-pods-slow-start',
    'asked',
    '0/12 nodes are available: 12 Insufficient vpc.amazonaws.com/pod-eni. pod waits; node lacks label vpc.amazonaws.com/has-trunk-attached',
  ],
  [
    'init/core-daemonsets-absent',
    'asked',
    'kubectl get pods -A -o wide --field-selector spec.nodeName=ip-10-0-3-4.ec2.internal\nNo resources found',
  ],
  [
    'registration/kubelet-never-posted-status',
    'asked',
    '  Ready            Unknown   Mon, 01 Jan 2024 10:00:00 +0000   NodeStatusNeverUpdated   Kubelet never posted node status.\nLease:              Failed to get lease: leases.coordination.k8s.io "ip-10-0-3-4.ec2.internal" not found',
  ],
];

const calm: readonly [Where, string][] = [
  [
    'asked',
    '{"level":"error","ts":"2023-11-16T10:05:03.920Z","caller":"datastore/data_store.go:682","msg":"DataStore has no available IP/Prefix addresses"}\n{"level":"warn","ts":"2023-11-16T10:06:18.306Z","caller":"ipamd/rpc_handler.go:230","msg":"UnassignPodIPAddress: Failed to find sandbox _migrated-from-cri/83faffebdfb826372e05d2bc67b6a3e8c40dd4b07dd034fafad9f3838aafa985/unknown"}',
  ],
  [
    'asked',
    'time="2025-02-11T22:01:13.354109908Z" level=warning msg="Unable to assign additional IPs to interface, will create new interface" error="operation error EC2: AssignPrivateIpAddresses, https response error StatusCode: 400, RequestID: b7b61722, api error PrivateIpAddressLimitExceeded: Number of private addresses will exceed limit." instanceID=i-085c7a3814c3baae3 subsys=ipam',
  ],
  [
    'asked',
    'This is the POD within the node managed by Karpenter.\nbash-4.2# aws sts get-caller-identity\n\nUnable to locate credentials. You can configure credentials by running "aws configure".',
  ],
  [
    'node',
    'Sep 17 10:05:58 localhost nodeadm[2495]: SDK 2025/09/17 10:05:58 DEBUG attempting waiter request, attempt count: 1\nSep 17 10:05:59 localhost nodeadm[2495]: SDK 2025/09/17 10:05:59 DEBUG retrying request EC2/DescribeInstances, attempt 2\nSep 17 10:06:00 localhost nodeadm[2495]: {"level":"info","ts":1758103560.0,"caller":"init/init.go:171","msg":"Instance details populated"}\nSep 17 10:06:12 localhost kubelet[2700]: I0917 10:06:12.000000 2700 kubelet_node_status.go:75] "Successfully registered node" node="ip-10-0-1-1.ec2.internal"',
  ],
  [
    'asked',
    "0s          Normal    Nominated                 pod/testapp-5f8b56c8fc-w9kgn        Pod should schedule on: nodeclaim/jmeter-amd64-qrr7q\n0s          Warning   FailedScheduling          pod/testapp-5f8b56c8fc-w9kgn        0/19 nodes are available: 1 node(s) had untolerated taint {windowsContainers: true}, 2 node(s) had untolerated taint {eks.amazonaws.com/compute-type: fargate}, 4 node(s) didn't match Pod's node affinity/selector, 4 node(s) didn't match pod anti-affinity rules, 8 node(s) didn't match pod topology spread constraints.",
  ],
  [
    'log',
    '2024-02-09T10:18:10.521Z\tDEBUG\tcontroller.deprovisioning\tadding requirements derived from pod volumes, [{topology.kubernetes.io/zone In [eu-west-1b]} {topology.kubernetes.io/region In [eu-west-1]}]\t{"commit": "74bf29c", "pod": "monitoring/mimir-ingester-zone-b-0"}\n2024-02-09T10:18:10.924Z\tDEBUG\tcontroller.deprovisioning\trelaxing soft constraints for pod since it previously failed to schedule, removing: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]={"weight":10}\t{"commit": "74bf29c", "pod": "monitoring/mimir-gateway-d84dcd5cd-s4jr2"}',
  ],
  [
    'log',
    '{"level":"ERROR","time":"2024-05-30T09:35:18.886Z","logger":"controller.pricing","message":"updating pricing, retreiving on-demand pricing data, RequestCanceled: request context canceled\\ncaused by: context canceled; RequestCanceled: request context canceled\\ncaused by: context canceled","commit":"fb4d75f"}',
  ],
  [
    'asked',
    '  Normal  AMIsReady             38s   karpenter  Status condition transitioned, Type: AMIsReady, Status: Unknown -> True, Reason: AMIsReady\n  Normal  SubnetsReady          38s   karpenter  Status condition transitioned, Type: SubnetsReady, Status: Unknown -> True, Reason: SubnetsReady',
  ],
  [
    'asked',
    'E0612 leaderelection.go:330] error retrieving resource lock kube-system/karpenter-leader-election: Get "https://172.20.0.1:443/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election": context deadline exceeded\nI0612 leaderelection.go:283] failed to renew lease kube-system/karpenter-leader-election: timed out waiting for the condition\n{"level":"INFO","logger":"controller","message":"successfully acquired lease kube-system/karpenter-leader-election"}',
  ],
  [
    'node',
    "[   14.1] cloud-init[2211]: Cloud-init v. 22.2.2 finished at Wed, 10 Sep 2025 12:53:14 +0000. Datasource DataSourceEc2.  Up 20.0 seconds\n[   15.0] __init__.py[WARNING]: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'# Karpenter Generated No'...'",
  ],
  [
    'asked',
    'Failed to pull image "myrepo/app:latest": rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/myrepo/app:latest": no match for platform in manifest: not found',
  ],
  [
    'asked',
    'E0712 09:00:01 kubelet[3000]: "Error getting node" err="node \\"ip-10-0-3-4.ec2.internal\\" not found"\nI0712 09:00:05 kubelet[3000]: "Successfully registered node" node="ip-10-0-3-4.ec2.internal"',
  ],
  [
    'log',
    '{"level":"ERROR","time":"2025-06-01T10:00:00.000Z","logger":"controller","message":"Reconciler error","commit":"1c39126","controller":"nodepool.counter","error":"Operation cannot be fulfilled on nodepools.karpenter.sh \\"default\\": the object has been modified; please apply your changes to the latest version and try again"}\n{"level":"INFO","time":"2025-06-01T10:00:02.000Z","logger":"controller","message":"launched nodeclaim","commit":"1c39126","NodeClaim":{"name":"default-aaaaa"}}\n{"level":"INFO","time":"2025-06-01T10:00:40.000Z","logger":"controller","message":"registered nodeclaim","commit":"1c39126","NodeClaim":{"name":"default-aaaaa"}}\n{"level":"INFO","time":"2025-06-01T10:00:55.000Z","logger":"controller","message":"initialized nodeclaim","commit":"1c39126","NodeClaim":{"name":"default-aaaaa"}}',
  ],
  [
    'log',
    '{"level":"ERROR","time":"2025-06-01T10:00:00.000Z","logger":"controller","message":"failed launching nodeclaim","commit":"1c39126","error":"insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient g5.xlarge capacity in the Availability Zone you requested (us-east-1a)."}\n{"level":"INFO","time":"2025-06-01T10:00:12.000Z","logger":"controller","message":"launched nodeclaim","commit":"1c39126","NodeClaim":{"name":"gpu-bbbbb"},"instance-type":"g5.xlarge","zone":"us-east-1b"}',
  ],
];

reportsAreRead(named, calm);
