// What people paste in forums and issue trackers, and lines that only look like trouble: exactly these causes are named.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn } from './field.testing.ts';

/** The causes, none where nothing is wrong, and the text. */
const texts: readonly [readonly FailureId[], string][] = [
  [
    ['registration/node-role-not-mapped'],
    'If I use SSM to connect to the EC2 instance, kubelet shows\nMay 07 06:53:16 ip-10-0-3-17.ec2.internal kubelet[2044]: W0507 06:53:16.311489    2044 reflector.go:569] k8s.io/client-go/informers/factory.go:160: failed to list *v1.CSIDriver: Unauthorized\nMay 07 06:53:16 ip-10-0-3-17.ec2.internal kubelet[2044]: E0507 06:53:16.311530    2044 reflector.go:166] "Unhandled Error" err="k8s.io/client-go/informers/factory.go:160: Failed to watch *v1.CSIDriver: failed to list *v1.CSIDriver: Unauthorized" logger="UnhandledError"\nMay 07 06:53:17 ip-10-0-3-17.ec2.internal kubelet[2044]: E0507 06:53:17.001123    2044 kubelet_node_status.go:108] "Unable to register node with API server" err="Unauthorized" node="ip-10-0-3-17.ec2.internal"',
  ],
  [
    ['registration/node-role-not-mapped'],
    'Dec 10 12:37:42 ip-111-22-33-44.ec2.internal kubelet[2239]: I1210 12:37:42.998722    2239 kubelet_node_status.go:73] "Attempting to register node" node="ip-111-22-33-44.ec2.internal"\nDec 10 12:37:43 ip-111-22-33-44.ec2.internal kubelet[2239]: E1210 12:37:43.000051    2239 kubelet_node_status.go:96] "Unable to register node with API server" err="nodes \\"ip-111-22-33-44.ec2.internal\\" is forbidden: node \\"i-0ed67a34f87240f5c\\" is not allowed to modify node \\"ip-111-22-33-44.ec2.internal\\"" node="ip-111-22-33-44.ec2.internal"\nDec 10 12:37:49 ip-111-22-33-44.ec2.internal kubelet[2239]: E1210 12:37:49.990470    2239 controller.go:145] "Failed to ensure lease exists, will retry" err="leases.coordination.k8s.io \\"ip-111-22-33-44.ec2.internal\\" is forbidden: User \\"system:node:i-0ed67a34f87240f5c\\" cannot get resource \\"leases\\" in API group \\"coordination.k8s.io\\" in the namespace \\"kube-node-lease\\": can only access node lease with the same name as the requesting node" interval="7s"',
  ],
  [
    ['registration/node-role-not-mapped'],
    'ワーカーノードがクラスターに参加しません。kubelet のログは以下の通りです。\nFeb 18 12:46:16 ip-10-0-1-229.us-west-2.compute.internal kubelet[4015]: E0218 12:46:16.432478    4015 reflector.go:205] k8s.io/kubernetes/pkg/kubelet/kubelet.go:464: Failed to list *v1.Node: Unauthorized\nFeb 18 12:46:16 ip-10-0-1-229.us-west-2.compute.internal kubelet[4015]: E0218 12:46:16.626065    4015 reflector.go:205] k8s.io/kubernetes/pkg/kubelet/config/apiserver.go:47: Failed to list *v1.Pod: Unauthorized',
  ],
  [
    ['registration/api-server-unreachable'],
    'Oct 21 14:02:44 ip-172-31-40-9 kubelet[1822]: E1021 14:02:44.518 1822 controller.go:146] "Failed to ensure lease exists, will retry" err="Get \\"https://77AA66BB55CC44DD33EE22FF11009988.yl4.ap-southeast-1.eks.amazonaws.com/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/ip-172-31-40-9?timeout=10s\\": dial tcp: lookup 77AA66BB55CC44DD33EE22FF11009988.yl4.ap-southeast-1.eks.amazonaws.com on 172.31.0.2:53: no such host" interval="7s"\nwe rebuilt the cluster last week but karpenter still has the old endpoint configured',
  ],
  [
    ['registration/service-endpoints-unreachable'],
    "[  OK  ] Finished Bottlerocket userdata configuration system.\n         Starting User-specified setting generators...\n         Unmounting EFI System Partition Automount...\n[  OK  ] Unmounted EFI System Partition Automount.\n[  303.392308] sundog[1343]: Setting generator 'pluto private-dns-name' failed with exit code 1 - stderr: Timed out retrieving private DNS name from EC2: deadline has elapsed\n[FAILED] Failed to start User-specified setting generators",
  ],
  [
    ['registration/service-endpoints-unreachable'],
    'Feb 19 07:56:59 localhost nodeadm[2015]: info init/init.go:171 Fetching instance details..\nFeb 19 07:56:59 localhost nodeadm[2015]: SDK 2026/02/19 07:56:59 DEBUG attempting waiter request, attempt count: 1\nFeb 19 07:57:30 localhost nodeadm[2015]: SDK 2026/02/19 07:57:30 DEBUG retrying request EC2/DescribeInstances, attempt 2\nFeb 19 07:58:01 localhost nodeadm[2015]: SDK 2026/02/19 07:58:01 DEBUG retrying request EC2/DescribeInstances, attempt 3\nFeb 19 07:59:15 localhost nodeadm[2015]: SDK 2026/02/19 07:59:15 DEBUG retrying request EC2/DescribeInstances, attempt 5\nFeb 19 08:04:22 localhost nodeadm[2015]: fatal nodeadm/main.go:36 Command failed {"error": "operation error EC2: DescribeInstances, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://ec2.ap-south-1.amazonaws.com/\\": dial tcp 3.7.12.9:443: i/o timeout"}',
  ],
  [
    [],
    'Sep 17 10:05:58 localhost nodeadm[2495]: {"level":"info","ts":1758103558.3770657,"caller":"init/init.go:70","msg":"Enriching configuration.."}\nSep 17 10:05:58 localhost nodeadm[2495]: {"level":"info","ts":1758103558.3896208,"caller":"init/init.go:157","msg":"Fetching instance details.."}\nSep 17 10:05:58 localhost nodeadm[2495]: SDK 2025/09/17 10:05:58 DEBUG attempting waiter request, attempt count: 1\nSep 17 10:05:59 localhost nodeadm[2495]: SDK 2025/09/17 10:05:59 DEBUG retrying request EC2/DescribeInstances, attempt 2\nSep 17 10:06:00 localhost nodeadm[2495]: {"level":"info","ts":1758103560.11,"caller":"init/init.go:162","msg":"Instance details populated","details":{"id":"i-0aa","region":"eu-west-1"}}\nSep 17 10:06:03 localhost nodeadm[2495]: {"level":"info","ts":1758103563.51,"caller":"init/init.go:114","msg":"done!","duration":5.2}',
  ],
  [
    ['startup/sts-dns-timeout'],
    'panic: operation error EC2: DescribeInstanceTypes, https response error StatusCode: 0, RequestID: , request send failed, Post "https://ec2.eu-central-1.amazonaws.com/": dial tcp: lookup ec2.eu-central-1.amazonaws.com on 172.20.0.10:53: read udp 10.1.4.9:45012->172.20.0.10:53: read: connection refused\n\ngoroutine 1 [running]:\ngithub.com/samber/lo.must({0x3de6bc0, 0xc000a009c0}, {0x0, 0x0, 0x0})\n\tgithub.com/samber/lo@v1.50.0/errors.go:53 +0x1df',
  ],
  [
    ['iam/pod-identity-association-wrong'],
    'panic: operation error ec2imds: GetRegion, canceled, context deadline exceeded (aws-operation-name=, aws-service-name=)\n\ngoroutine 1 [running]:\ngithub.com/samber/lo.must({0x3de6bc0, 0xc000a009c0}, {0x0, 0x0, 0x0})\n\tgithub.com/samber/lo@v1.50.0/errors.go:53 +0x1df\ngithub.com/aws/karpenter-provider-aws/pkg/operator.NewOperator({0x476e650, 0xc000582f60}, 0xc0007bae80)\n\tgithub.com/aws/karpenter-provider-aws/pkg/operator/operator.go:121 +0x669\nmain.main()\n\tgithub.com/aws/karpenter-provider-aws/cmd/controller/main.go:31 +0x2a',
  ],
  [
    ['iam/pod-identity-association-wrong'],
    '{"level":"ERROR","time":"2024-09-06T16:17:07.120Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"62a726c","error":"NoCredentialProviders: no valid providers in chain. Deprecated.\\n\\tFor verbose messaging see aws.Config.CredentialsChainVerboseErrors"}',
  ],
  [
    ['iam/controller-permission-missing'],
    '{"level":"ERROR","time":"2024-11-12T16:46:59.426Z","logger":"controller","message":"Reconciler error","commit":"fb4d75f","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-w2zlj"},"namespace":"","name":"default-w2zlj","reconcileID":"7a1e88bc-1169-4e4a-a4db-4ff689f2bd59","error":"launching nodeclaim, creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::123456789012:assumed-role/karpeter-controller-role/1731429849551905269 is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-east-2:123456789012:instance/* with an explicit deny in a service control policy. Encoded authorization failure message: g4oZPBqZ4Bni8dE5dGjxYTnOZ"}',
  ],
  [
    ['iam/controller-permission-missing'],
    '2022-09-05T12:16:18.813Z\tERROR\tcontroller.aws.pricing\tupdating spot pricing, UnauthorizedOperation: You are not authorized to perform this operation.\n\tstatus code: 403, request id: 8f99fa14-17aa-4a11-9d8e-000000000000, using existing pricing data from 2022-08-17T00:19:52Z\t{"commit": "3d87474"}',
  ],
  [
    [],
    'Error: INSTALLATION FAILED: rendered manifests contain a resource that already exists. Unable to continue with install: CustomResourceDefinition "certificaterequests.cert-manager.io" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"; annotation validation error: missing key "meta.helm.sh/release-name": must be set to "release-oncall"',
  ],
  [
    ['helm/crd-ownership-annotation'],
    'Error: UPGRADE FAILED: Unable to continue with update: CustomResourceDefinition "nodepools.karpenter.sh" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; annotation validation error: key "meta.helm.sh/release-name" must equal "karpenter-crd": current value is "karpenter"',
  ],
  [
    ['helm/registry-403'],
    '╷\n│ Error: OCI Registry Login Failed\n│\n│   with module.eks-cluster.helm_release.karpenter[0],\n│   on ../../../modules/resources/aws/eks-cluster/karpenter.tf line 88, in resource "helm_release" "karpenter":\n│   88: resource "helm_release" "karpenter" {\n│\n│ Failed to log in to OCI registry "oci://public.ecr.aws/karpenter": could not login to OCI registry "public.ecr.aws": login attempt to https://public.ecr.aws/v2/ failed with status: 403 Forbidden',
  ],
  [
    ['crd/consolidation-policy-renamed'],
    'The NodePool "default" is invalid: \n* spec.disruption.consolidationPolicy: Unsupported value: "WhenUnderutilized": supported values: "WhenEmpty", "WhenEmptyOrUnderutilized"\n* spec.disruption.consolidateAfter: Required value\n* <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ],
  [
    ['crd/nodeclassref-incomplete'],
    'Failed sync attempt to 1.5.0: one or more objects failed to apply, reason: NodePool.karpenter.sh  [spec.disruption.consolidateAfter: Required value, spec.template.spec.nodeClassRef.group: Required value, spec.template.spec.nodeClassRef.kind: Required value, <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
  ],
  [
    ['crd/unknown-field'],
    'one or more objects failed to apply, reason: admission webhook "defaulting.webhook.provisioners.karpenter.sh" denied the request: mutation failed: cannot decode incoming new object: json: unknown field "consolidation"',
  ],
  [
    ['crd/conversion-webhook-wrong-target'],
    '{"level":"ERROR","time":"2024-11-14T00:19:11.406Z","logger":"controller","message":"Reconciler error","commit":"490ef94","controller":"nodepool.counter","controllerGroup":"karpenter.sh","controllerKind":"NodePool","NodePool":{"name":"default"},"namespace":"","name":"default","reconcileID":"f9a82097-f452-4a51-8c31-071a7f4adf41","error":"conversion webhook for karpenter.sh/v1beta1, Kind=NodePool failed: the server rejected our request for an unknown reason"}',
  ],
  [
    [],
    '│ Error: default failed to run apply: error when creating "/tmp/102807832kubectl_manifest.yaml": Internal error occurred: failed calling webhook "mpod.elbv2.k8s.aws": failed to call webhook: Post "https://aws-load-balancer-webhook-service.kube-system.svc:443/mutate-v1-pod?timeout=10s": no endpoints available for service "aws-load-balancer-webhook-service"',
  ],
  [
    ['scheduling/pool-limit-reached'],
    '2023-11-16T15:11:49.499Z\tDEBUG\tcontroller.provisioner\t445 out of 613 instance types were excluded because they would breach provisioner limits\t{"commit": "dc3af1a"}\n2023-11-16T15:11:49.499Z\tERROR\tcontroller.provisioner\tCould not schedule pod, all available instance types exceed provisioner limits; incompatible with provisioner "eng-eck-logs-warm-c", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-central-1b] not in topology.kubernetes.io/zone In [eu-central-1c]\t{"commit": "dc3af1a", "pod": "eck/logs-warm-2"}',
  ],
  [
    [],
    'Events:\n  Type     Reason                  Age    From                     Message\n  ----     ------                  ----   ----                     -------\n  Normal   Scheduled               6m41s  default-scheduler        Successfully assigned c-test/test-comp-6f976589cc-29zt4 to ip-10-65-141-46.eu-central-1.compute.internal\n  Normal   SecurityGroupRequested  6m41s  vpc-resource-controller  Pod will get the following Security Groups [sg-0aeda9da2b88222e2]\n  Warning  FailedCreatePodSandBox  6m40s  kubelet                  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0b8b83755004d7dfbe839f0db315a4775f4f41e683695f6d24d6cb8f5a1902bc": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container\n  Normal   ResourceAllocated       6m39s  vpc-resource-controller  Allocated [{"eniId":"eni-0aa"}] to the pod\n  Normal   Pulled                  6m26s  kubelet                  Container image "test:1" already present on machine\n  Normal   Created                 6m26s  kubelet                  Created container: test\n  Normal   Started                 6m26s  kubelet                  Started container test',
  ],
  [
    [],
    'Warning  Failed  12s (x3 over 55s)  kubelet  Failed to pull image "ghcr.io/acme/api:1.4.2": rpc error: code = NotFound desc = failed to pull and unpack image "ghcr.io/acme/api:1.4.2": no match for platform in manifest: not found\n(the node is arm64 and the image is only built for amd64)',
  ],
  [
    ['iam/ebs-kms-key-denied'],
    '{"eventSource":"kms.amazonaws.com","eventName":"GenerateDataKeyWithoutPlaintext","errorCode":"AccessDenied","errorMessage":"User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole/1681470000 is not authorized to perform: kms:GenerateDataKeyWithoutPlaintext on resource: arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab because no resource-based policy allows the kms:GenerateDataKeyWithoutPlaintext action","userAgent":"ec2-frontend-api.amazonaws.com"}',
  ],
  [
    ['ami/sandbox-image-pull-stuck'],
    'Aug 12 10:00:00 ip-10-9-9-9 systemd[1]: sandbox-image.service: start operation timed out. Terminating.\nAug 12 10:00:00 ip-10-9-9-9 pull-sandbox-image.sh[2965]: Could not connect to the endpoint URL: "https://api.ecr.eu-central-1.amazonaws.com/"',
  ],
  [
    ['iam/node-role-policies-missing'],
    'Failed to pull image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.10": failed to pull and unpack image: failed to resolve reference: pull access denied, repository does not exist or may require authorization: authorization failed: User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole-prod/i-0ffff is not authorized to perform: ecr:GetAuthorizationToken on resource: * because no identity-based policy allows the ecr:GetAuthorizationToken action',
  ],
  [
    [],
    '  Warning  FailedDraining  4s  karpenter  Failed to drain node, 3 pods are waiting to be evicted\n  Normal   DisruptionTerminating  9s  karpenter  Disrupting Node: Underutilized/Delete',
  ],
  [
    [],
    'AsyncAws\\Core\\Exception\\Http\\ClientException · HTTP 403 returned for "https://sqs.eu-west-1.amazonaws.com/". Code: AccessDeniedException Message: User: arn:aws:sts::444455556666:assumed-role/eks-hms-app/i-00000000000000000 is not authorized to perform: sqs:sendmessage on resource: arn:aws:sqs:eu-west-1:444455556666:orders because no identity-based policy allows the sqs:sendmessage action',
  ],
  [
    ['registration/service-endpoints-unreachable'],
    "[  306.326441] pluto[1534]: Timed out retrieving private DNS name from EC2: deadline has elapsed\n[FAILED] Failed to start Generate additional settings for Kubernetes.\nSee 'systemctl status pluto.service' for details.\n[DEPEND] Dependency failed for Bottlerocket final configuration complete.",
  ],
  [
    ['registration/node-role-not-mapped'],
    '<b>journalctl -u kubelet</b>: &quot;Unable to register node with API server&quot; err=&quot;Unauthorized&quot; node=&quot;ip-10-20-30-40.eu-north-1.compute.internal&quot;',
  ],
  [
    [],
    'Jun 11 10:00:00 ip-10-1-1-1 kubelet[1200]: E0611 10:00:00.100 1200 kubelet_node_status.go:96] "Unable to register node with API server" err="Unauthorized" node="ip-10-1-1-1.ec2.internal"\nJun 11 10:00:03 ip-10-1-1-1 kubelet[1200]: I0611 10:00:03.300 1200 kubelet_node_status.go:78] "Successfully registered node" node="ip-10-1-1-1.ec2.internal"',
  ],
  [
    [],
    '{"level":"INFO","time":"2026-02-02T02:02:02.002Z","logger":"controller","message":"k8s.io/client-go@v0.33.0/tools/cache/reflector.go:243: watch of *v1.Node ended with: an error on the server (\\"unable to decode an event from the watch stream: http2: client connection lost\\") has prevented the request from succeeding","commit":"aaa"}\n{"level":"INFO","time":"2026-02-02T02:02:05.002Z","logger":"controller","message":"found provisionable pod(s)","commit":"aaa","Pods":"a/b"}\n{"level":"INFO","time":"2026-02-02T02:02:06.002Z","logger":"controller","message":"created nodeclaim","commit":"aaa","NodeClaim":{"name":"x"}}\n{"level":"INFO","time":"2026-02-02T02:02:08.002Z","logger":"controller","message":"launched nodeclaim","commit":"aaa","NodeClaim":{"name":"x"}}\n{"level":"INFO","time":"2026-02-02T02:02:38.002Z","logger":"controller","message":"registered nodeclaim","commit":"aaa","NodeClaim":{"name":"x"}}',
  ],
  [
    [],
    '{"level":"ERROR","message":"lookup ec2.eu-west-1.amazonaws.com on 10.100.0.10:53: no such host","app":"inventory-service","trace":"java.net.UnknownHostException"}',
  ],
  [
    ['iam/irsa-trust-subject-mismatch'],
    'An error occurred (AccessDenied) when calling the AssumeRoleWithWebIdentity operation: Not authorized to perform sts:AssumeRoleWithWebIdentity\nkarpenter controller pod, namespace kube-system, EKS 1.31',
  ],
  [
    ['iam/pod-identity-association-wrong'],
    '{"level":"ERROR","time":"2026-03-01T08:08:08.000Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"b7a1f11","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, failed to load credentials, : [5cbd0a1e]: (AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role., fault: client"}',
  ],
  [
    ['iam/pass-role-denied'],
    "│ Error: creating IAM instance profile... no that's fine. The NodeClaim says:\n│   Message: Error creating instance, operation error EC2: CreateFleet, https response error StatusCode: 403, RequestID: 77, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::444455556666:assumed-role/k/1 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::444455556666:role/eks/nodes/karpenter-node with an explicit deny in a permissions boundary",
  ],
  [
    ['crd/unknown-field'],
    'error: error validating "np.yaml": error validating data: ValidationError(NodePool.spec.template.spec): unknown field "kubelet" in sh.karpenter.v1.NodePool.spec.template.spec; if you choose to ignore these errors, turn validation off with --validate=false',
  ],
  [
    ['crd/removed-api-version'],
    'ComparisonError: Failed to load live state: failed to get cluster info: error synchronizing cache state: failed to sync cluster: the server could not find the requested resource: no matches for kind "NodeClaim" in version "karpenter.sh/v1beta1"',
  ],
  [
    ['crd/conversion-webhook-wrong-target'],
    'Warning: unable to list nodeclaims: conversion webhook for karpenter.sh/v1beta1, Kind=NodeClaim failed: Post "https://karpenter.kube-system.svc:8443/conversion/karpenter.sh?timeout=30s": dial tcp 172.20.97.97:8443: connect: connection refused',
  ],
  [
    ['scheduling/launch-rejected-by-provider'],
    'MaxSpotInstanceCountExceeded: Max spot instance count exceeded\n{"level":"ERROR","time":"2024-03-05T14:42:41.000Z","logger":"controller.nodeclaim.lifecycle","message":"creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded","nodeclaim":"interruptible-gkvns"}\n{"level":"ERROR","time":"2024-03-05T14:52:41.000Z","logger":"controller.nodeclaim.lifecycle","message":"creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded","nodeclaim":"interruptible-2kvns"}\n{"level":"ERROR","time":"2024-03-05T15:02:41.000Z","logger":"controller.nodeclaim.lifecycle","message":"creating instance, insufficient capacity, with fleet error(s), MaxSpotInstanceCountExceeded: Max spot instance count exceeded","nodeclaim":"interruptible-3kvns"}',
  ],
  [
    ['iam/ebs-kms-key-denied'],
    '{"StateReason":{"Code":"Client.InvalidKMSKey.InvalidState","Message":"Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"},"State":{"Name":"terminated"}}',
  ],
  [
    ['windows/image-host-version-mismatch'],
    'Failed to pull image "mcr.microsoft.com/windows/nanoserver:1809": rpc error: code = Unknown desc = hcsshim::PrepareLayer failed: a Windows version 10.0.17763-based image is incompatible with a 10.0.20348 host',
  ],
  [
    [],
    'State:          Waiting\n  Reason:       CrashLoopBackOff\nLast State:     Terminated\n  Reason:       OOMKilled\n  Exit Code:    137\n(kubectl describe pod payments-api-844dcb6ff9-abcde -n shop)',
  ],
  [
    ['init/gpu-device-plugin-missing'],
    '{"level":"DEBUG","time":"2023-12-01T00:00:00.000Z","logger":"controller.nodeclaim.consistency","message":"check failed, expected resource \\"nvidia.com/gpu\\" didn\'t register on the node","node":"ip-10-1-1-1.ec2.internal"}',
  ],
  [
    ['ami/none-for-cluster-version'],
    '{"level":"ERROR","time":"2026-04-30T10:42:41.791Z","logger":"controller","message":"Reconciler error","controller":"nodeclass","EC2NodeClass":{"name":"al2"},"error":"getting amis, failed to discover any AMIs for alias \\"al2@latest\\", no amis found for kubernetes version 1.33"}',
  ],
  [
    ['pricing/api-unreachable'],
    'ERROR\tcontroller.aws.pricing\tupdating on-demand pricing, UnrecognizedClientException: The security token included in the request is invalid\n\tstatus code: 400, request id: ; using existing pricing data from 2023-02-27T15:52:29Z\t{"commit": ""}',
  ],
  [
    ['tooling/kubeconfig-wrong'],
    'Unable to connect to the server: dial tcp: lookup 0A1B2C.gr7.us-east-1.eks.amazonaws.com on 192.168.1.1:53: no such host',
  ],
  [
    ['termination/finalizer-after-uninstall'],
    'helm uninstall 後、ノードが削除できません。\n$ kubectl delete node ip-10-0-1-1.ec2.internal\nnode "ip-10-0-1-1.ec2.internal" deleted\n^C (hangs)\n$ kubectl get node ip-10-0-1-1.ec2.internal -o jsonpath=\'{.metadata.finalizers} {.metadata.deletionTimestamp}\'\n["karpenter.sh/termination"] 2026-02-03T04:05:06Z\n$ kubectl get deploy -A | grep karpenter\n$',
  ],
  [
    ['iam/node-role-policies-missing'],
    'Oct 10 10:10:10 ip-10-3-3-3 nodeadm[1499]: {"level":"fatal","ts":1760000000.1,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"operation error EC2: DescribeInstances, https response error StatusCode: 403, RequestID: 5, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::444455556666:assumed-role/KarpenterNodeRole-x/i-0aa is not authorized to perform: ec2:DescribeInstances because no identity-based policy allows the ec2:DescribeInstances action"}',
  ],
  [
    ['iam/node-role-trust-wrong'],
    'nodeadm[1499]: {"level":"fatal","msg":"Command failed","error":"operation error EC2: DescribeInstances, get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, http response error StatusCode: 404, request to EC2 IMDS failed"}',
  ],
  [
    ['crd/removed-api-version'],
    'The CustomResourceDefinition "ec2nodeclasses.karpenter.k8s.aws" is invalid: status.storedVersions[0]: Invalid value: "v1beta1": must appear in spec.versions\nThe CustomResourceDefinition "nodeclaims.karpenter.sh" is invalid: status.storedVersions[0]: Invalid value: "v1beta1": must appear in spec.versions',
  ],
  [
    ['crd/removed-api-version'],
    'Failed to watch *v1.NodeClaim: failed to list *v1.NodeClaim: request to convert CR from an invalid group/version: karpenter.sh/v1beta1',
  ],
  [
    [],
    'error: upgrade crds failed: CustomResourceDefinition.apiextensions.k8s.io "configconstraints.apps.kubeblocks.io" is invalid: status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions',
  ],
  [
    ['net/discovery-tag-not-cluster-scoped'],
    '2023-02-13T10:21:47.282Z        ERROR    controller.provisioner  Provisioning failed, launching machine, creating cloud provider machine, with fleet error(s), InvalidParameter: Security group sg-0aaaaaaaaaaaaaaaa and subnet subnet-0bbbbbbbbbbbbbbbb belong to different networks.      {"commit": "8c27519-dirty"}',
  ],
  [
    ['scheduling/zone-locked-no-offering'],
    '{\n"level": "ERROR",\n"message": "could not schedule pod",\n"error": "no instance type has the required offering, requirements=karpenter.sh/capacity-type In [spot], node.kubernetes.io/instance-type In [r7i.xlarge r7i.2xlarge], topology.kubernetes.io/zone In [ap-northeast-2a], resources={\\"cpu\\":\\"1\\"}"\n}\n핵심 에러: no instance type has the required offering',
  ],
  [
    ['ami/sandbox-image-pull-stuck'],
    '> Feb 15 19:20:14 ip-10-9-177-41 systemd: sandbox-image.service: main process exited, code=exited, status=2/INVALIDARGUMENT\n> Feb 15 19:20:14 ip-10-9-177-41 systemd: Failed to start pull sandbox image defined in containerd config.toml.\n> Feb 15 19:20:14 ip-10-9-177-41 systemd: Unit sandbox-image.service entered failed state.',
  ],
  [
    ['windows/dns-group-missing'],
    'PS C:\\kube\\Apps> kubectl exec -i -t dnsutils -- nslookup www.google.com\nServer:         10.100.0.10\nAddress:        10.100.0.10#53\nName:   www.google.com\nAddress: 142.251.167.147\nNSLOOKUP from a Windows Pod (DNS server is not found)\nPS C:\\kube\\Apps> kubectl exec -i -t win-2022-699fbdf69d-rtdlr -- nslookup www.google.com\nServer:  UnKnown\nAddress:  10.100.0.10\nDNS request timed out.\n    timeout was 2 seconds.',
  ],
  [
    ['crd/nodepool-not-ready-because-nodeclass'],
    '  - lastTransitionTime: "2026-07-13T20:49:06Z"\n    message: Instance profile "not-a-real-profile" not found\n    observedGeneration: 1\n    reason: InstanceProfileNotFound\n    status: "False"\n    type: ValidationSucceeded\n  - lastTransitionTime: "2026-07-13T20:49:06Z"\n    message: ValidationSucceeded=False\n    observedGeneration: 1\n    reason: UnhealthyDependents\n    status: "False"\n    type: Ready',
  ],
  [
    ['scheduling/launch-rejected-by-provider'],
    '│ {"level":"ERROR","time":"2024-12-09T14:48:32.537Z","logger":"controller","message":"Reconciler error","commit":"0a85efb","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter ││ .sh","controllerKind":"NodeClaim","NodeClaim":{"name":"general-apps-nodepool-vpmpg"},"reconcileID":"82ae0ec6-d802-457c-9fee-049d2f19 ││ e4aa","error":"launching nodeclaim, creating instance, InvalidParameterValue: Value (KarpenterNodeInstanceProfile-experimental-us-east-2-1) for parameter iamInstanceProfile.name is inv ││ alid. Invalid IAM Instance Profile name"}',
  ],
  [
    ['crd/conversion-webhook-wrong-target'],
    '{"level":"ERROR","time":"2024-09-24T10:10:10.000Z","logger":"controller","message":"Reconciler error","error":"conversion webhook for karpenter.k8s.aws/v1beta1, Kind=EC2NodeClass failed: Post \\"https://karpenter.kube-system.svc:8443/conversion/karpenter.k8s.aws?timeout=30s\\": tls: failed to verify certificate: x509: certificate signed by unknown authority"}',
  ],
  [
    [],
    'I0913 controller.go:200] custom resource definition "nodepools.karpenter.sh" was updated\n$ helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd --version 1.6.2 -n kube-system\nRelease "karpenter-crd" has been upgraded. Happy Helming!\nSTATUS: deployed',
  ],
  [
    ['helm/chart-not-found-or-generic-error'],
    'Error: failed to do request: Head "https://public.ecr.aws/v2/karpenter/karpenter/manifests/1.8.1": dial tcp: lookup public.ecr.aws on 10.1.1.1:53: no such host',
  ],
  [
    ['disruption/consolidation-thrash'],
    '{"level":"INFO","time":"2025-09-26T10:00:00.000Z","logger":"controller","message":"disrupting node(s)","reason":"underutilized","decision":"replace","disrupted-node-count":1,"replacement-node-count":1,"disrupted-nodes":[{"Node":{"name":"ip-10-0-0-1"},"NodeClaim":{"name":"d-1"},"capacity-type":"on-demand","instance-type":"c6a.xlarge"}],"replacement-nodes":[{"capacity-type":"on-demand","instance-types":"c6a.xlarge"}]}\n{"level":"INFO","time":"2025-09-26T10:06:00.000Z","logger":"controller","message":"disrupting node(s)","reason":"underutilized","decision":"replace","disrupted-node-count":1,"replacement-node-count":1,"disrupted-nodes":[{"Node":{"name":"ip-10-0-0-2"},"NodeClaim":{"name":"d-2"},"capacity-type":"on-demand","instance-type":"c6a.xlarge"}],"replacement-nodes":[{"capacity-type":"on-demand","instance-types":"c6a.xlarge"}]}\n{"level":"INFO","time":"2025-09-26T10:12:00.000Z","logger":"controller","message":"disrupting node(s)","reason":"underutilized","decision":"replace","disrupted-node-count":1,"replacement-node-count":1,"disrupted-nodes":[{"Node":{"name":"ip-10-0-0-3"},"NodeClaim":{"name":"d-3"},"capacity-type":"on-demand","instance-type":"c6a.xlarge"}],"replacement-nodes":[{"capacity-type":"on-demand","instance-types":"c6a.xlarge"}]}\n{"level":"INFO","time":"2025-09-26T10:18:00.000Z","logger":"controller","message":"disrupting node(s)","reason":"underutilized","decision":"replace","disrupted-node-count":1,"replacement-node-count":1,"disrupted-nodes":[{"Node":{"name":"ip-10-0-0-4"},"NodeClaim":{"name":"d-4"},"capacity-type":"on-demand","instance-type":"c6a.xlarge"}],"replacement-nodes":[{"capacity-type":"on-demand","instance-types":"c6a.xlarge"}]}\n{"level":"INFO","time":"2025-09-26T10:24:00.000Z","logger":"controller","message":"disrupting node(s)","reason":"underutilized","decision":"replace","disrupted-node-count":1,"replacement-node-count":1,"disrupted-nodes":[{"Node":{"name":"ip-10-0-0-5"},"NodeClaim":{"name":"d-5"},"capacity-type":"on-demand","instance-type":"c6a.xlarge"}],"replacement-nodes":[{"capacity-type":"on-demand","instance-types":"c6a.xlarge"}]}',
  ],
  [
    [],
    '{"level":"INFO","time":"2025-09-26T10:00:00.000Z","logger":"controller","message":"disrupting node(s)","reason":"empty","decision":"delete","disrupted-node-count":1,"replacement-node-count":0}\n{"level":"INFO","time":"2025-09-26T14:06:00.000Z","logger":"controller","message":"disrupting node(s)","reason":"drifted","decision":"replace","disrupted-node-count":1,"replacement-node-count":1}',
  ],
  [
    ['net/security-groups-for-pods-slow-start'],
    'Unsupported: The instance type r8a.xlarge is not supported yet by the vpc resource controller\nFailedScheduling: 0/3 nodes are available: 3 Insufficient vpc.amazonaws.com/pod-eni',
  ],
  [
    ['interruption/queue-not-configured'],
    'Karpenter env:\n      INTERRUPTION_QUEUE:\n      CLUSTER_NAME: prod\nNodePool requirements: karpenter.sh/capacity-type In ["spot"]\nPods on spot nodes are killed without drain, 2 minute warning is ignored',
  ],
  [
    ['startup/controller-on-managed-node'],
    '$ kubectl get pods -n kube-system -o wide | grep karpenter\nkarpenter-7d9c6b5f4-abcde  1/1 Running 0 3h 10.0.5.5 ip-10-0-5-5.ec2.internal\n$ kubectl get node ip-10-0-5-5.ec2.internal --show-labels\nip-10-0-5-5.ec2.internal Ready <none> 3h v1.33 karpenter.sh/nodepool=default,karpenter.sh/capacity-type=spot',
  ],
  [
    ['crd/ami-selector-required'],
    'EC2NodeClass.karpenter.k8s.aws "default" is invalid: spec: Invalid value: "object": must specify amiSelectorTerms',
  ],
  [
    [],
    '# our runbook\nIf nodes do not join check: aws-auth, security groups, AmazonEKS_CNI_Policy, subnets tagged karpenter.sh/discovery, spot service linked role.\nEverything was green today.',
  ],
  [
    ['registration/node-role-not-mapped'],
    'aws-iam-authenticator log (CloudWatch): level=warning msg="access denied" error="Identity is not mapped" arn="arn:aws:iam::111122223333:role/team/karpenter-node"',
  ],
  [
    [],
    'User: arn:aws:iam::111122223333:user/alice is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:eu-west-1:111122223333:cluster/prod',
  ],
  [
    ['startup/crd-missing-or-mismatched'],
    '{"level":"ERROR","time":"2025-11-11T11:11:11.111Z","logger":"controller","message":"k8s.io/client-go@v0.34.0/tools/cache/reflector.go:290: Failed to watch *v1alpha1.NodeOverlay: failed to list *v1alpha1.NodeOverlay: the server could not find the requested resource (get nodeoverlays.karpenter.sh)","commit":"1234567"}',
  ],
  [
    ['iam/spot-service-linked-role-missing'],
    'A service-linked role for EC2 Spot does not exist: aws iam get-role --role-name AWSServiceRoleForEC2Spot\nAn error occurred (NoSuchEntity) when calling the GetRole operation: The role with name AWSServiceRoleForEC2Spot cannot be found.',
  ],
  [
    ['scheduling/zone-locked-no-offering'],
    'Warning  FailedScheduling  karpenter  Failed to schedule pod, no nodepool matched pod; node(s) had volume node affinity conflict (PersistentVolume=pvc-1, zone eu-west-1c), incompatible with nodepool "default", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-west-1c] not in topology.kubernetes.io/zone In [eu-west-1a eu-west-1b]',
  ],
  [
    [],
    '{"level":"DEBUG","time":"2026-01-01T00:00:00.000Z","logger":"controller","message":"removing offering from offerings","reason":"InsufficientInstanceCapacity","instance-type":"p5.48xlarge","zone":"us-east-1a","capacity-type":"spot","ttl":"3m0s"}\n{"level":"INFO","time":"2026-01-01T00:00:05.000Z","logger":"controller","message":"launched nodeclaim"}',
  ],
  [
    ['registration/undiagnosed-timeout'],
    'NAME            TYPE        CAPACITY   ZONE         NODE   READY     AGE\ndefault-7k2bc   m5.large    spot       us-east-1a          Unknown   14m\ndefault-x8dwq   m5.large    spot       us-east-1b          Unknown   14m',
  ],
  [
    ['storage/in-tree-driver-limits-unknown'],
    'storageclass gp2 provisioner: kubernetes.io/aws-ebs\nWarning FailedAttachVolume AttachVolume.Attach failed for volume "pvc-3": expected device to be attached but was attaching',
  ],
  [
    ['helm/registry-403'],
    'failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://public.ecr.aws/token/?scope=repository%3Akarpenter%2Fkarpenter%3Apull&service=public.ecr.aws: 403 Forbidden',
  ],
  [
    [],
    'E1118 cluster-autoscaler: failed to fix node group sizes: AccessDenied: User: arn:aws:sts::1:assumed-role/cluster-autoscaler/x is not authorized to perform: autoscaling:SetDesiredCapacity',
  ],
  [
    ['startup/replicas-exceed-unmanaged-nodes'],
    '{"level":"ERROR","time":"2025-12-01T10:00:00.000Z","logger":"controller","message":"could not schedule pod","Pod":{"name":"karpenter-7f6d4c5b9-k2v8x","namespace":"kube-system"},"error":"incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool DoesNotExist not in karpenter.sh/nodepool In [default]"}',
  ],
  [
    ['storage/attach-limit-race-at-registration'],
    '$ kubectl get sc\nNAME            PROVISIONER             RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE\ngp2             kubernetes.io/aws-ebs   Delete          WaitForFirstConsumer   false                  400d\ngp3 (default)   ebs.csi.aws.com         Delete          WaitForFirstConsumer   true                   300d\nWarning FailedAttachVolume AttachVolume.Attach failed for volume "pvc-3": rpc error: code = Internal desc = Could not attach volume "vol-1" to node "i-1": AttachmentLimitExceeded',
  ],
  [
    [],
    'NAME            PROVISIONER             RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE\ngp2 (default)   kubernetes.io/aws-ebs   Delete          WaitForFirstConsumer   false                  400d',
  ],
];

describe('a text from a forum or an issue tracker', () => {
  test.each(texts)('%j', (causes, text) => {
    const { findings } = diagnoseCase(evidenceIn('asked', text));
    const seen = findings.filter(({ confidence, harmless }) => confidence !== 'possible' && harmless !== true);
    expect(seen.map(({ id }) => id).sort()).toEqual([...causes].sort());
  });
});
