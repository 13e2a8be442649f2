// Lines of public issue reports about Karpenter, its nodes and its installation, as people paste them; labelled before the
// doctor saw them.
import type { FailureId } from '../failure.ts';
import type { Where } from './field.testing.ts';
import { reportsAreRead } from './issue-reports.testing.ts';

const named: readonly [FailureId, Where, string][] = [
  [
    'registration/node-role-not-mapped',
    'asked',
    '<ip>.ec2.internal kubelet[2044]: W0507 06:53:16.311489    2044 reflector.go:569] k8s.io/client-go/informers/factory.go:160: failed to list *v1.CSIDriver: Unauthorized\nMay 07 06:53:16 <ip>.ec2.internal kubelet[2044]: E0507 06:53:16.311530    2044 reflector.go:166] "Unhandled Error" err="k8s.io/client-go/informers/factory.go:160: Failed to watch *v1.CSIDriver: failed to list *v1.CSIDriver: Unauthorized" logger="UnhandledError"',
  ],
  [
    'registration/undiagnosed-timeout',
    'asked',
    'Failed to start nodeadm-co.service - EKS Nodeadm Config\nDependency failed for nodeadm-run.service - EKS Nodeadm Run.\nalso node are reporter as `Node not registered with cluster`, `NodeNotFound` in the `NodeClaim` status',
  ],
  [
    'registration/undiagnosed-timeout',
    'asked',
    'Conditions:\n    Last Transition Time:  2025-02-14T07:15:25Z\n    Message:               object is awaiting reconciliation\n    Observed Generation:   1\n    Reason:                AwaitingReconciliation\n    Status:                Unknown\n    Type:                  Initialized\n    Last Transition Time:  2025-02-14T07:15:25Z\n    Message:               Node not registered with cluster\n    Observed Generation:   1\n    Reason:                NodeNotFound\n    Status:                Unknown\n    Type:                  Registered\n    Last Transition Time:  2025-02-14T07:15:27Z\n    Message:\n    Reason:                Launched\n    Status:                True\n    Type:                  Launched\n  Image ID:                ami-0262a19088a11e248\n  Provider ID:             aws:///ap-south-2b/i-0e593f835ff381a22',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'log',
    '{"level":"ERROR","time":"2023-06-29T10:12:13.101Z","logger":"controller.machine.lifecycle","message":"launching machine, creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient m7g.8xlarge capacity in the Availability Zone you requested (eu-west-1c). Our system will be working on provisioning additional capacity.","commit":"322822a"}\n{"level":"ERROR","time":"2023-06-29T10:22:13.101Z","logger":"controller.machine.lifecycle","message":"launching machine, creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient m7g.8xlarge capacity in the Availability Zone you requested (eu-west-1c). Our system will be working on provisioning additional capacity.","commit":"322822a"}\n{"level":"ERROR","time":"2023-06-29T10:42:13.101Z","logger":"controller.machine.lifecycle","message":"launching machine, creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient m7g.8xlarge capacity in the Availability Zone you requested (eu-west-1c). Our system will be working on provisioning additional capacity.","commit":"322822a"}',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'asked',
    '"launching nodeclaim, creating instance, with fleet error(s), InvalidParameterValue: You cannot specify tags for Spot instances requests if there are no Spot instances requests being created by the request."',
  ],
  [
    'disruption/pdb-blocks',
    'asked',
    'kube-system/karpenter-6465666966-4q49j[controller]: {"level":"ERROR","time":"2024-03-19T02:48:43.312Z","logger":"controller.nodeclaim.consistency","message":"check failed, can\'t drain node, PDB \\"istio-system/istiod\\" is blocking evictions","commit":"2c8f2a5","nodeclaim":"eks-unmanaged-amd64-dcg87"}',
  ],
  [
    'disruption/pdb-blocks',
    'asked',
    '2022-02-25T16:17:31.683Z\tDEBUG\tcontroller.eviction\tDid not to evict pod istio-system/istiod-68dccb79b-ptq4z due to PDB violation.\t{"commit": "fd19ba2"}',
  ],
  [
    'disruption/pdb-blocks',
    'asked',
    'NAME                 MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE\npdb-cloner-service   N/A             0                 0                     69d',
  ],
  [
    'termination/drain-never-completes',
    'asked',
    'Warning  FailedDraining     Failed to drain node, 2 pods are waiting to be evicted\nNormal   DisruptionBlocked  Node is deleting or marked for deletion',
  ],
  [
    'scheduling/label-without-known-values',
    'asked',
    '"{"level":"ERROR","time":"2024-04-03T06:40:04.552Z","logger":"controller.provisioner","message":"Could not schedule pod, incompatible with nodepool \\"default\\", daemonset overhead={\\"cpu\\":\\"675m\\",\\"memory\\":\\"390Mi\\",\\"pods\\":\\"6\\"}, incompatible requirements, label \\"nodegroup\\" does not have known values","commit":"17d6c05","pod":"com-dtv-dcp-dpd/beamacctgetprofilems-green-746d677b76-lghl4"}"',
  ],
  [
    'scheduling/no-instance-type-fits',
    'asked',
    '2022-05-09T20:04:37.981Z\tERROR\tcontroller\tno instance type satisfied resources {"cpu":"1","pods":"1"} and requirements karpenter.sh/provisioner-name In [omo-karpenter], karpenter.sh/capacity-type In [on-demand], kubernetes.io/arch In [amd64], node.kubernetes.io/instance-type In [t3a.medium]',
  ],
  [
    'scheduling/no-instance-type-fits',
    'log',
    '{"level":"ERROR","time":"2024-02-15T11:10:12.564Z","logger":"controller.provisioner","message":"Could not schedule pod, incompatible with nodepool \\"x-master\\", daemonset overhead={\\"cpu\\":\\"480m\\",\\"memory\\":\\"812700032\\",\\"pods\\":\\"5\\"}, no instance type satisfied resources {\\"cpu\\":\\"6480m\\",\\"memory\\":\\"30877471104\\",\\"pods\\":\\"6\\"} and requirements server-role In [x], karpenter.k8s.aws/instance-cpu In [8], karpenter.k8s.aws/instance-family In [m6a], karpenter.sh/capacity-type In [on-demand], topology.kubernetes.io/zone In [eu-west-1a] (no instance type which had enough resources and the required offering met the scheduling requirements)","commit":"17dd42b"}',
  ],
  [
    'scheduling/no-instance-type-fits',
    'asked',
    '  Warning  FailedScheduling  106s (x2 over 6m46s)  karpenter          Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"500m","memory":"640Mi","pods":"5"}, no instance type satisfied resources {"cpu":"29500m","memory":"246400Mi","pods":"6"} and requirements karpenter.k8s.aws/ec2nodeclass In [default], karpenter.sh/capacity-type In [on-demand], karpenter.sh/nodepool In [default], node.kubernetes.io/instance-type In [r5a.8xlarge] (no instance type has enough resources)\n  Warning  FailedScheduling  81s (x2 over 6m47s)   default-scheduler  0/10 nodes are available: 10 Insufficient cpu, 10 Insufficient memory. preemption: 0/10 nodes are available: 10 No preemption victims found for incoming pod.',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'asked',
    '{"level":"ERROR","time":"2024-09-30T12:00:00.000Z","logger":"webhook.ConversionWebhook","message":"Reconcile error","commit":"378e8b0","knative.dev/key":"nodepools.karpenter.sh","duration":"154µs","error":"custom resource \\"nodepools.karpenter.sh\\" isn\'t configured for webhook conversion"}',
  ],
  [
    'crd/conversion-webhook-wrong-target',
    'asked',
    '`{"level":"ERROR","time":"2024-11-14T00:19:11.406Z","logger":"controller","message":"Reconciler error","commit":"490ef94","controller":"nodepool.counter","controllerGroup":"karpenter.sh","controllerKind":"NodePool","NodePool":{"name":"default"},"namespace":"","name":"default","reconcileID":"f9a82097-f452-4a51-8c31-071a7f4adf41","error":"conversion webhook for karpenter.sh/v1beta1, Kind=NodePool failed: the server rejected our request for an unknown reason"}`',
  ],
  [
    'crd/removed-api-version',
    'asked',
    'Failed to watch *v1.NodeClaim: failed to list *v1.NodeClaim: request to convert CR from an invalid group/version: karpenter.sh/v1beta1\nthe karpenter helm chart was upgraded to v1.1.0 but seeing the above error',
  ],
  [
    'crd/removed-api-version',
    'cli',
    'Error: UPGRADE FAILED: cannot patch "ec2nodeclasses.karpenter.k8s.aws" with kind CustomResourceDefinition: CustomResourceDefinition.apiextensions.k8s.io "ec2nodeclasses.karpenter.k8s.aws" is invalid: status.storedVersions[0]: Invalid value: "v1beta1": must appear in spec.versions',
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '{"level":"ERROR","time":"2026-01-10T16:26:41.804Z","logger":"controller","caller":"controller/controller.go:474","message":"Reconciler error","commit":"1ad0d78","controller":"instanceprofile.garbagecollection","namespace":"","name":"","reconcileID":"c21b77ab-9df2-4d77-9afd-208c51bc1d23","aws-error-code":"AccessDenied","aws-operation-name":"ListInstanceProfiles","aws-request-id":"9feb3d6b-17de-47b9-94c1-fe1312ebc017","aws-service-name":"IAM","aws-status-code":403,"error":"listing instance profiles, listing instance profiles, operation error IAM: ListInstanceProfiles, https response error StatusCode: 403, RequestID: 9feb3d6b-17de-47b9-94c1-fe1312ebc017, api error AccessDenied: User: arn:aws:sts::808842816990:assumed-role/karpenter.kube-system.sa.e2e-e2e-kops-aws-karpenter.tests-qd5hli/1768062234299783051 is not authorized to perform: iam:ListInstanceProfiles on resource: arn:aws:iam::808842816990:instance-profile/karpenter/eu-west-1/e2e/ because no identity-based policy allows the iam:ListInstanceProfiles action"}',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    'ERROR instanceprofile.garbagecollection  listing instance profiles ...\n      operation error IAM: ListInstanceProfiles ... StatusCode: 403',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    'You are not authorized to perform this operation. Encoded authorization failure message: HZ_vQJxk2l...\nWhen using Karpenter, the nodes are not being created and the logs says this',
  ],
  [
    'registration/service-endpoints-unreachable',
    'node',
    "[  OK  ] Finished Bottlerocket userdata configuration system.\n         Starting User-specified setting generators...\n[  303.392308] sundog[1343]: Setting generator 'pluto private-dns-name' failed with exit code 1 - stderr: Timed out retrieving private DNS name from EC2: deadline has elapsed\n[FAILED] Failed to start User-specified setting generators",
  ],
  [
    'init/cni-not-initialised',
    'asked',
    'failed to load cni during init, please check CRI plugin status before setting up network for pods" error="cni config load failed: no network config found in /etc/cni/net.d: cni plugin not initialized: failed to load cni config',
  ],
  [
    'ami/containerd-config-missing',
    'asked',
    "/var/lib/cloud/instance/scripts/part-001: line 7: /etc/eks/bootstrap.sh: No such file or directory\nCloud-init v. 20.3-2-g371b392c-0ubuntu1~20.04.1 running 'modules:final' at Fri, 08 Jan 2021 14:01:22 +0000. Up 30.86 seconds.\n2021-01-08 14:01:22,324 - cc_scripts_user.py[WARNING]: Failed to run module scripts-user (scripts in /var/lib/cloud/instance/scripts)",
  ],
  [
    'ami/containerd-config-missing',
    'asked',
    'Kubelet fails with `"command failed" err="failed to parse kubelet flag: unknown flag: --container-runtime"`',
  ],
  [
    'registration/undiagnosed-timeout',
    'asked',
    'Resource handler returned message: "[Issue(Code=NodeCreationFailure, Message=Instances failed to join the kubernetes cluster, ResourceIds=[i-01ffcdfb2f4d5670f, i-0cdaaf8fbe0d3b249])] (Service: null, Status Code: 0, Request ID: null)"',
  ],
  [
    'registration/node-role-not-mapped',
    'asked',
    'Error getting node" err="node \\"ip-192-168-67-130.ec2.internal\\" not found\nFailed to contact API server when waiting for CSINode publishing: Unauthorized',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'asked',
    'panic: failed to setup nodeclaim provider id indexer: no matches for kind "NodeClaim" in version "karpenter.sh/v1"\n\ngoroutine 1 [running]:\ngithub.com/samber/lo.must({0x27de9c0, 0xc000b711c0}, {0xc000a1f9f0, 0x1, 0x1})\n        github.com/samber/lo@v1.46.0/errors.go:51 +0x1bb',
  ],
  [
    'interruption/events-not-delivered',
    'log',
    '{"level":"ERROR","time":"2025-09-08T10:53:02.469Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"interruption","namespace":"","name":"","reconcileID":"1e26ad50","aws-operation-name":"GetQueueUrl","aws-request-id":"3514901e","aws-service-name":"SQS","aws-status-code":400,"error":"creating sqs provider, operation error SQS: GetQueueUrl, https response error StatusCode: 400, RequestID: 3514901e-3130-5978-a080-f12686feab15, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist. (aws-operation-name=GetQueueUrl, aws-service-name=SQS, aws-status-code=400)"}',
  ],
  [
    'interruption/events-not-delivered',
    'asked',
    'ERROR    controller.interruption    getting messages from queue, discovering queue url, fetching queue url, AWS.SimpleQueueService.NonExistentQueue: T\nhe specified queue does not exist for this wsdl version.',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    '{"level":"FATAL","time":"2024-04-11T15:27:17.626Z","logger":"controller","message":"unable to detect the cluster endpoint, failed to resolve cluster endpoint, AccessDeniedException: User: arn:aws:sts::111122223333:assumed-role/worker-iam-role/i-0aaaaaaaaaaaaaaaa is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:us-east-1:111122223333:cluster/ocp","commit":"17dd42b"}',
  ],
  [
    'net/discovery-tag-missing',
    'asked',
    '{"level":"ERROR","time":"2026-04-30T10:42:41.791Z","logger":"controller","message":"failed listing instance types","commit":"d80cb86","controller":"disruption","namespace":"","name":"","reconcileID":"9768d294","nodepool":"my-nodepool","error":"no subnets found"}',
  ],
  [
    'tooling/no-shell-on-node',
    'asked',
    '% aws ssm start-session --target $INSTANCE_ID\n\nAn error occurred (TargetNotConnected) when calling the StartSession operation: i-0ac7b3b5075a6effb is not connected.',
  ],
  [
    'net/discovery-tag-missing',
    'log',
    '2022-02-16T17:58:09.522Z        ERROR   controller.controller.provisioning      Reconciler error        {"commit": "3d0d368", "reconciler group": "karpenter.sh", "reconciler kind": "Provisioner", "name": "default", "namespace": "", "error": "no subnets matched selector map[karpenter.sh/discovery:test-karpenter-sa-9]"}',
  ],
  [
    'net/max-pods-above-ip-capacity',
    'asked',
    '`Warning  FailedCreatePodSandBox  2m47s (x1642 over 6h)  kubelet  (combined from similar events): Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "71ef22cdaf65163adca4c97ed66df6a7cdcdcbe7c011d0ff62a77648cba5b46b": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`',
  ],
  [
    'startup/sts-dns-timeout',
    'log',
    '2022-02-10T10:33:35.421Z\tERROR\tcontroller.controller.provisioning\tReconciler error\t{"commit": "2346ed5", "reconciler group": "karpenter.sh", "reconciler kind": "Provisioner", "name": "workflows-provisioner", "namespace": "", "error": "fetching instance types using ec2.DescribeInstanceTypes, WebIdentityErr: failed to retrieve credentials\\ncaused by: RequestError: send request failed\\ncaused by: Post \\"https://sts.eu-west-1.amazonaws.com/\\": dial tcp: i/o timeout"}',
  ],
  [
    'iam/irsa-trust-subject-mismatch',
    'asked',
    '{"level":"FATAL","time":"2024-01-04T20:42:05.150Z","logger":"controller","message":"Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\\n\\tstatus code: 403, request id: 97ec51e8-f5f8-4aee-bb04-e08f323ebc8a","commit":"a70b39e"}',
  ],
  [
    'disruption/constraints-prevent-consolidation',
    'asked',
    'Normal   Unconsolidatable         8m58s              karpenter        not all pods would schedule, fake-sample-service-usw2-dev2/fake-sample-service-deployment-7fb449d879-q95hj => incompatible with provisioner "custom-provideref", daemonset overhead={"cpu":"490m","memory":"938304768","pods":"9"}, incompatible requirements, key node.kubernetes.io/instancegroup, node.kubernetes.io/instancegroup In [fake] not in node.kubernetes.io/instancegroup In [knodes]',
  ],
  [
    'windows/support-not-enabled',
    'asked',
    'Failed create pod sandbox: rpc error: code = Unknown desc = [failed to set up sandbox container "8e53291f84432583cc8a9e262c7c99295f9b42565a262a5d8cd97656677792e5" network for pod "windows-server-iis-7dcfc7c79b-khh4r": NetworkPlugin cni failed to set up pod "windows-server-iis-7dcfc7c79b-khh4r_default" network: failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
  ],
  [
    'helm/registry-403',
    'cli',
    'history.go:56: [debug] getting history for release karpenter\nRelease "karpenter" does not exist. Installing it now.\ninstall.go:178: [debug] Original chart version: "v0.27.0"\nError: pulling from host public.ecr.aws failed with status code [manifests v0.27.0]: 403 Forbidden',
  ],
  [
    'helm/registry-403',
    'asked',
    'Error: unexpected status from HEAD request to https://public.ecr.aws/v2/karpenter/karpenter/manifests/1.1.0: 403 Forbidden',
  ],
  [
    'helm/registry-403',
    'asked',
    '`Error: could not login to OCI registry "public.ecr.aws": login attempt to https://public.ecr.aws/v2/ failed with status: 403 Forbidden`',
  ],
  [
    'helm/chart-not-found-or-generic-error',
    'asked',
    'Error: unexpected status from HEAD request to https://public.ecr.aws/v2/karpenter/karpenter/manifests/v0.31.0: 400 Bad Request',
  ],
  [
    'helm/oci-needs-newer-client',
    'asked',
    'helm repo add karpenter oci://public.ecr.aws/karpenter/karpenter\nError: looks like "oci://public.ecr.aws/karpenter/karpenter" is not a valid chart repository or cannot be reached: object required',
  ],
  [
    'helm/chart-not-found-or-generic-error',
    'asked',
    'Error: failed to download "oci://public.ecr.aws/karpenter/karpenter" at version "v0.19.2"',
  ],
  [
    'storage/attach-limit-race-at-registration',
    'asked',
    'AttachVolume.Attach failed for volume "pvc-xxxx":\nrpc error: code = Internal desc = Could not attach volume "vol-xxxx" to node "i-xxxx":\noperation error EC2: AttachVolume, api error AttachmentLimitExceeded:\nYou may attach up to 27 devices for this instance type.',
  ],
  [
    'init/gpu-device-plugin-missing',
    'log',
    '2023-04-21T06:05:00.044Z\tINFO\tcontroller.inflightchecks\tInflight check failed for node, Expected resource "nvidia.com/gpu" didn\'t register on the node\t{"commit": "beb0a64-dirty", "node": "ip-172-24-37-21.us-west-2.compute.internal"}\n2023-04-21T06:14:22.629Z\tINFO\tcontroller.inflightchecks\tInflight check failed for node, Expected resource "nvidia.com/gpu" didn\'t register on the node\t{"commit": "beb0a64-dirty", "node": "ip-172-24-33-78.us-west-2.compute.internal"}',
  ],
  [
    'crd/nodeclassref-incomplete',
    'asked',
    '`Failed sync attempt to 1.5.0: one or more objects failed to apply, reason: NodePool.karpenter.sh  [spec.disruption.consolidateAfter: Required value, spec.template.spec.nodeClassRef.group: Required value, spec.template.spec.nodeClassRef.kind: Required value, <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`',
  ],
  [
    'crd/unknown-field',
    'asked',
    'Error from server (BadRequest): error when creating "np.yaml": NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.template.spec.labels"',
  ],
  [
    'crd/consolidate-after-not-allowed-v1beta1',
    'asked',
    'NodePool/nodepool dry-run failed (Invalid): NodePool.karpenter.sh "nodepool" is invalid: [spec.disruption.consolidateAfter: Required value, <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid]',
  ],
  [
    'crd/admission-webhook-unreachable',
    'log',
    '{"level":"ERROR","time":"2024-08-28T06:11:12.000Z","logger":"controller","message":"Reconciler error","commit":"5bdf9c3","controller":"nodeclaim.lifecycle","error":"Internal error occurred: failed calling webhook \\"validation.webhook.karpenter.sh\\": failed to call webhook: the server could not find the requested resource"}\n{"level":"ERROR","time":"2024-08-28T06:21:12.000Z","logger":"controller","message":"Reconciler error","commit":"5bdf9c3","controller":"nodeclaim.lifecycle","error":"Internal error occurred: failed calling webhook \\"validation.webhook.karpenter.sh\\": failed to call webhook: the server could not find the requested resource"}',
  ],
  [
    'crd/admission-webhook-unreachable',
    'asked',
    'We got error: failed to call webhook: Post \\"https://karpenter.karpenter.svc:8443/validate/karpenter.sh?timeout=10s\\": no endpoints available for service \\"karpenter\\" when upgrading from v0.32.3 to v0.34.1.',
  ],
  [
    'startup/kubernetes-permission-missing',
    'log',
    'E1120 08:00:00.000000       1 reflector.go:150] k8s.io/client-go@v0.30.3/tools/cache/reflector.go:232: Failed to watch *v1.Namespace: failed to list *v1.Namespace: namespaces is forbidden: User "system:serviceaccount:karpenter:karpenter" cannot list resource "namespaces" in API group "" at the cluster scope',
  ],
  [
    'registration/unregistered-taint-missing',
    'asked',
    'message: Invariant violated, karpenter.sh/unregistered taint must be present on\n  Karpenter-managed nodes\nobservedGeneration: 1\nreason: UnregisteredTaintNotFound\nstatus: "False"\ntype: Registered',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    'EC2NodeClass fails with: "ec2:RunInstances [...] explicit deny in a service control policy"\napi error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/eks-karpenter-controller-iam-role/1 is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:eu-west-1:111122223333:volume/* with an explicit deny in a service control policy.',
  ],
  [
    'net/subnet-addresses-exhausted',
    'asked',
    "I got subnet ip exhausted which led me to see that the second subnet is not being utilized.\nInsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet 'subnet-0a1b2c3d4e5f' to satisfy the requested number of instances.",
  ],
  [
    'registration/api-server-unreachable',
    'node',
    'Sep 10 18:20:11 ip-10-53-2-43 kubelet[3901]: E0910 18:20:11.120340 3901 reflector.go:138] k8s.io/client-go/informers/factory.go:134: Failed to watch *v1.Node: failed to list *v1.Node: Get "https://504E9A153B3F63259E9F92706.sk1.us-west-2.eks.amazonaws.com/api/v1/nodes?fieldSelector=metadata.name%3Dip-10-53-2-43": dial tcp 10.53.8.7:443: i/o timeout\nSep 10 18:20:41 ip-10-53-2-43 kubelet[3901]: E0910 18:20:41.120340 3901 kubelet_node_status.go:92] "Unable to register node with API server" err="Post \\"https://504E9A153B3F63259E9F92706.sk1.us-west-2.eks.amazonaws.com/api/v1/nodes\\": dial tcp 10.53.8.7:443: i/o timeout" node="ip-10-53-2-43"',
  ],
  [
    'startup/controller-starved',
    'asked',
    'Last State:  Terminated\n  Reason:    OOMKilled\n  Exit Code: 137\nName: karpenter-7f779c9f84-hr868\nLarge scale-up is hanging liveness/readiness probe',
  ],
  ['init/never-initialised-never-removed', 'asked', "Normal  DisruptionBlocked  3m  karpenter  Node isn't initialized"],
  [
    'disruption/not-consolidating-unexplained',
    'asked',
    "  Normal  Unconsolidatable    13m (x86 over 23h)  karpenter  Can't replace with a cheaper node",
  ],
  [
    'disruption/pdb-blocks',
    'asked',
    '  Normal  DisruptionBlocked   26s                 karpenter  Pdb "default/nginx-test-pdb" prevents pod evictions',
  ],
  [
    'registration/undiagnosed-timeout',
    'asked',
    'Nodeclaim does not have an associated node\nNode not registered with cluster\nsudo systemctl status kubelet\n→ inactive (dead)\nsudo systemctl status nodeadm\n→ Unit nodeadm.service could not be found',
  ],
];

const calm: readonly [Where, string][] = [
  [
    'asked',
    'Error: failed to install Karpenter: failed to install Karpenter chart: failed to install chart: create: failed to create: namespaces "karpenter" not found',
  ],
  [
    'asked',
    '`Error: failed to install Karpenter: failed to install Karpenter chart: failed to install chart: failed to install CRD crds/karpenter.sh_provisioners.yaml: customresourcedefinitions.apiextensions.k8s.io is forbidden: User "system:serviceaccount:azdo-buildagents:azdo-buildagents" cannot create resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope',
  ],
  [
    'asked',
    '{"level":"error","message":"Error occured while handling SQS message: SQSError: SQS receive message failed: The specified queue does not exist.\\n    at toSQSError (/opt/server/.yarn/sqs-consumer/dist/errors.js:47:22)","service":"auth:worker"}',
  ],
  [
    'asked',
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "4d0e21b994a06cec32a644f427eb559da250246b2dced95d2a8adffb493532b6": plugin type="cilium-cni" name="cilium" failed (add): unable to allocate IP via local cilium agent: [POST /ipam][502] postIpamFailure range is full',
  ],
  ['asked', '"marking consolidatable"\n"removing consolidatable status condition"'],
  [
    'asked',
    'Warning  FailedCreatePodSandBox  33m  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "d8d59a993d3c": plugin type="vpc-shared-eni" name="vpc" failed (add): hnsCall failed in Win32: The object already exists. (0x1392)',
  ],
  [
    'asked',
    '0/5 nodes are available: 2 node(s) had untolerated taint {CriticalAddonsOnly: true}, 3 node(s) exceed max volume count. preemption: 0/5 nodes are available: 2 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod.',
  ],
  [
    'asked',
    'Warning   FailedAttachVolume   pod/chainlet-77867f88d8-hfx6f   Multi-Attach error for volume "pvc-517fda86-15de-4087-9698-ffc7cc2d8a89" Volume is already used by pod(s) chainlet-77867f88d8-lk9vb',
  ],
  [
    'asked',
    '`{"level":"ERROR","time":"2024-07-31T18:56:27.370Z","logger":"controller","message":"nodepool failed validation","commit":"490ef94","controller":"provisioner","NodePool":{"name":"xxxx"},"error":"invalid key name \\"app.kubernetes.io/managed-by\\": spec.template.metadata.labels\\nlabel app.kubernetes.io/managed-by is restricted"}`',
  ],
  [
    'asked',
    'E0122 03:27:40.000457       1 reflector.go:138] k8s.io/client-go/informers/factory.go:134: Failed to watch *v1.Service: failed to list *v1.Service: services is forbidden: User "system:serviceaccount:kube-system:cluster-autoscaler" cannot list resource "services" in API group "" at the cluster scope',
  ],
  [
    'asked',
    '{"level":"INFO","time":"2024-10-11T17:54:14.294Z","logger":"controller.controller-runtime.metrics","message":"Starting metrics server","commit":"487a6e0"}\n{"level":"INFO","time":"2024-10-11T17:54:15.738Z","logger":"controller","message":"attempting to acquire leader lease karpenter/karpenter-leader-election...","commit":"487a6e0"}\n{"level":"INFO","time":"2024-10-11T17:54:34.342Z","logger":"controller","message":"successfully acquired lease karpenter/karpenter-leader-election","commit":"487a6e0"}',
  ],
  [
    'asked',
    '[ℹ]  waiting for CloudFormation stack "eksctl-do-eks-yaml-karpenter-cluster"\n2024-01-06 05:54:48 [ℹ]  building iamserviceaccount stack "eksctl-do-eks-yaml-karpenter-addon-iamserviceaccount-kube-system-aws-node"\n2024-01-06 05:54:48 [ℹ]  deploying stack "eksctl-do-eks-yaml-karpenter-addon-iamserviceaccount-kube-system-aws-node"',
  ],
  [
    'asked',
    '2022-12-28T21:21:07.891Z\tERROR\twebhook.ValidationWebhook\tReconcile error\t{"commit": "5d61534-dirty", "knative.dev/key": "validation.webhook.karpenter.k8s.aws", "duration": "26.04µs", "error": "secret \\"karpenter-cert\\" is missing \\"ca-cert.pem\\" key"}\n2022-12-28T21:21:09.000Z\tINFO\tcontroller\tlaunched instance\t{"commit": "5d61534-dirty"}',
  ],
  [
    'asked',
    'Failed create pod sandbox: rpc error: code = Unknown desc = failed to start sandbox container for pod "aws-node-8mrzp": Error response from daemon: network host not found',
  ],
];

reportsAreRead(named, calm);
